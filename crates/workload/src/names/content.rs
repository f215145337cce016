//! Sizes and contents of files: a function of the positions of their names.
//!
//! Changes of content (append, truncate, whole-file write) take the files in turn: the change in slot `s`
//! of block `b` is on the file at `(b changes + s) mod n` of the `n` that are stable in the block. So the
//! changes of a file are the solutions of one congruence, and its size and version follow from its
//! position, without a memory of the changes.

use super::classes::{Classes, changing};
use super::size::FileSizes;
use super::{Name, NameClass, NameLoad};
use crate::op::OpKind;
use crate::random;

/// The content of a file: the same key and version give the same bytes at each offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The file, whatever its name is.
    pub key: u64,
    /// Which whole-file write was the last, from 1; 0 before the first.
    pub version: u64,
}

/// What the files of a stream contain.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    classes: Classes,
    sizes: FileSizes,
    append_bytes: u32,
    lanes: u64,
    /// Files that a block creates; those of the other operations that add files are copies.
    creates: u64,
    appends: u64,
    truncates: u64,
    writes: u64,
    order_seed: u64,
    first_seed: u64,
    created_seed: u64,
    copied_seed: u64,
    original_seed: u64,
    moved_seed: u64,
}

/// A change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// Its number in the order of blocks and slots.
    number: u64,
    /// Its block.
    pub(super) block: u64,
    /// Its rank among the changes of the block: appends first, then truncates, then writes.
    pub(super) rank: u64,
}

impl Contents {
    /// The contents of a load.
    ///
    /// * `order_seed` - of the order of operations, from which the order of changes follows
    pub(super) fn of(
        load: &NameLoad,
        classes: Classes,
        order_seed: u64,
        data_seed: u64,
    ) -> Contents {
        let permille = |kind| load.mix.permille(kind);
        let seed = |purpose| random::derive(random::derive(data_seed, 0xF_11E5), purpose);
        Contents {
            classes,
            sizes: FileSizes::new(&load.tree.sizes),
            append_bytes: load.append_bytes,
            lanes: classes.files.lanes,
            creates: permille(OpKind::Create),
            appends: permille(OpKind::Append),
            truncates: permille(OpKind::Truncate),
            writes: permille(OpKind::WriteFile),
            order_seed: random::derive(order_seed, 0x51_0F),
            first_seed: seed(0),
            created_seed: seed(1),
            copied_seed: seed(2),
            original_seed: seed(3),
            moved_seed: seed(4),
        }
    }

    /// Bytes that an append adds.
    pub(super) const fn append_bytes(&self) -> u32 {
        self.append_bytes
    }

    /// Files that a block creates without copying.
    pub(super) const fn creates(&self) -> u64 {
        self.creates
    }

    /// Size and content of the file at `position` before any change of its content.
    #[inline]
    pub(super) fn new_file(&self, lane: u32, position: u64) -> (u32, Content) {
        self.file_of(self.key(lane, position))
    }

    /// Size and content of a file that is never changed: an original, or the file that had the moved
    /// name `number` at the start.
    pub(super) fn fixed_file(&self, name: Name) -> (u32, Content) {
        self.file_of(self.fixed_key(name))
    }

    #[inline]
    fn file_of(&self, key: u64) -> (u32, Content) {
        (self.sizes.size_bytes(key), Content { key, version: 0 })
    }

    /// The key of the file at `position`: that of the copied file for a copy.
    fn key(&self, lane: u32, position: u64) -> u64 {
        let files = &self.classes.files;
        let Some(added) = position.checked_sub(files.population(lane)) else {
            return random::at(self.first_seed, files.number(lane, position));
        };
        if self.creates < files.adds && added % files.adds >= self.creates {
            let number = self.copied(lane, position);
            return self.fixed_key(Name { class: NameClass::Original, number });
        }
        random::at(self.created_seed, position * self.lanes + u64::from(lane))
    }

    fn fixed_key(&self, name: Name) -> u64 {
        let seed = match name.class {
            NameClass::Moved => self.moved_seed,
            _ => self.original_seed,
        };
        random::at(seed, name.number)
    }

    /// Which original the copy at `position` is made from.
    pub(super) fn copied(&self, lane: u32, position: u64) -> u64 {
        let bits = random::at(self.copied_seed, position * self.lanes + u64::from(lane));
        random::below(bits, self.classes.originals)
    }

    /// The original that a hard or symbolic link refers to.
    pub(super) const fn referred(&self, link: Name) -> Name {
        let originals = if self.classes.originals > 0 { self.classes.originals } else { 1 };
        Name { class: NameClass::Original, number: link.number % originals }
    }

    /// Changes in a block.
    #[inline]
    const fn changes(&self) -> u64 {
        self.appends + self.truncates + self.writes
    }

    /// The number of the first change of a block. Numbers count the added files too, because these move
    /// the files that are changed.
    #[inline]
    pub(super) const fn first_change(&self, block: u64) -> u64 {
        block * (self.changes() + self.classes.files.adds)
    }

    /// The slot of the first change of a block: random, so that a file does not always have changes of
    /// the same kind.
    #[inline]
    fn shift(&self, lane: u32, block: u64) -> u64 {
        let bits = random::at(self.order_seed, block * self.lanes + u64::from(lane));
        random::below(bits, self.changes())
    }

    /// The operation of `kind` with `rank` among those of its kind in `block`: the position of the file
    /// that it changes, and the change.
    pub(super) fn change(&self, lane: u32, block: u64, kind: OpKind, rank: u64) -> (u64, Change) {
        let rank = match kind {
            OpKind::Append => rank,
            OpKind::Truncate => self.appends + rank,
            _ => self.appends + self.truncates + rank,
        };
        let slot = (rank + self.shift(lane, block)) % self.changes();
        let (first, count) = self.classes.files.stable(lane, block);
        let position = first + (block * self.changes() + slot) % count;
        (position, Change { number: self.first_change(block) + slot, block, rank })
    }

    /// The kind of the change with this rank, and its rank among those of its kind.
    pub(super) const fn kind_of_change(&self, rank: u64) -> (OpKind, u64) {
        if rank < self.appends {
            (OpKind::Append, rank)
        } else if rank < self.appends + self.truncates {
            (OpKind::Truncate, rank - self.appends)
        } else {
            (OpKind::WriteFile, rank - self.appends - self.truncates)
        }
    }

    /// The position of a random file that no operation changes which can overlap with those of
    /// `block`.
    pub(super) fn unchanged(&self, lane: u32, block: u64, bits: u64) -> u64 {
        let files = &self.classes.files;
        let (first, count) = files.stable(lane, block);
        let changes = self.changes();
        if changes == 0 {
            return first + random::below(bits, count);
        }
        // The changes of the blocks around this one are on neighbouring files; behind the last of them.
        let behind = (block + files.overlap + 1) * changes + files.overlap * files.adds;
        let rest = count - changing(files.adds, changes, files.overlap);
        first + (behind + random::below(bits, rest)) % count
    }

    /// Size and content of the file at `position` before `change`.
    pub(super) fn before(&self, lane: u32, position: u64, change: &Change) -> (u64, Content) {
        self.file(lane, position, change.number, |_| true)
    }

    /// The content that a whole-file write gives to a file of this key.
    pub(super) const fn written(key: u64, change: &Change) -> Content {
        Content { key, version: change.number + 1 }
    }

    /// Size and content of the file at `position` after those changes with a number below `end` that
    /// `is_done`.
    pub(super) fn file(
        &self,
        lane: u32,
        position: u64,
        end: u64,
        is_done: impl Fn(&Change) -> bool,
    ) -> (u64, Content) {
        let (new_bytes, new) = self.new_file(lane, position);
        let size = |appended: u64| u64::from(new_bytes) + appended * u64::from(self.append_bytes);
        let (mut appended, mut is_cut) = (0, false);
        for change in self.changes_of(lane, position, end).filter(is_done) {
            match self.kind_of_change(change.rank).0 {
                OpKind::WriteFile => {
                    return (size(appended), Self::written(new.key, &change));
                }
                OpKind::Append if !is_cut => appended += 1,
                OpKind::Append => {}
                // Truncates and writes restore the size of the new file.
                _ => is_cut = true,
            }
            if is_cut && self.writes == 0 {
                break;
            }
        }
        (size(appended), new)
    }

    /// The changes of the file at `position` with a number below `end`, the last one first.
    ///
    /// Slot `s` of block `b` changes position `(b + overlap + 1) adds + (b changes + s) mod count`. So
    /// `b (adds + changes) + s` is `position - (overlap + 1) adds` plus a multiple of `count`, and each
    /// multiple gives at most one block and slot.
    fn changes_of(&self, lane: u32, position: u64, end: u64) -> impl Iterator<Item = Change> {
        let (first, count) = self.classes.files.stable(lane, 0);
        let (adds, changes) = (self.classes.files.adds, self.changes());
        let offset = position.checked_sub(first).filter(|offset| *offset < end && changes > 0);
        let multiples = offset.map_or(0, |offset| (end - offset).div_ceil(count));
        let offset = offset.unwrap_or(0);
        let per_block = adds + changes;
        (0..multiples)
            .rev()
            .map(move |multiple| {
                let number = offset + multiple * count;
                (number, number / per_block, number % per_block)
            })
            // Earlier, the file is not among the stable ones.
            .take_while(move |(_, block, _)| block * adds + count > offset)
            .filter(move |(_, block, slot)| *slot < changes && block * adds <= offset)
            .map(move |(number, block, slot)| {
                let rank = (slot + changes - self.shift(lane, block)) % changes;
                Change { number, block, rank }
            })
    }
}
