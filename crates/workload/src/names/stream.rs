//! The operations on names of a stream: a pure function of (seed, lane, step), without state.
//!
//! The operations of each lane are split into blocks of 1,000, as in [`crate::mix`]. A permutation
//! gives each operation of a block an image; the image selects its kind and its rank among those of
//! its kind. The rank selects what is added, removed or changed; random bits select what is only read.
//!
//! Changes of content (append, truncate, whole-file write) take the files in turn: change `t` of a lane
//! is on the file at `t mod n` of the `n` that are stable in its block. So the changes of a file are the
//! solutions of one congruence, and its size and version follow from its position alone.

use super::ring::Ring;
use super::size::FileSizes;
use super::tree::NameTree;
use super::{Name, NameClass, NameLoad};
use crate::mix::{BLOCK, permute_block};
use crate::op::{Op, OpKind};
use crate::random;
use crate::run::Stream;

/// Overlapping operations per queue depth. With a window of one queue depth, each operation would wait
/// for the slowest of those before it.
const WINDOW_PER_DEPTH: u64 = 4;
/// Originals are one for each of this many hard links at least: file systems limit links to a file.
const LINKS_PER_ORIGINAL: u64 = 1_000;
/// Classes other than files have one name for each of this many files, if that is enough.
const FILES_PER_OTHER: u64 = 10;

/// The operations on names of one stream.
#[derive(Clone, Debug)]
pub struct NameStream {
    tree: NameTree,
    sizes: FileSizes,
    lanes: u64,
    /// Blocks within which operations of a lane can overlap.
    overlap: u64,
    kinds: Box<[OpKind]>,
    first_image: [u16; OpKind::COUNT],
    order_seed: u64,
    choice_seed: u64,
    content_seed: u64,
    append_bytes: u32,
    pub(super) files: Ring,
    pub(super) moved: Ring,
    pub(super) links: Ring,
    pub(super) symlinks: Ring,
    pub(super) made: Ring,
    originals: u64,
    creates: u64,
    appends: u64,
    truncates: u64,
    writes: u64,
}

/// One operation on names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameOp {
    /// Its number in the stream: `i = step * lanes + lane`.
    pub index: u64,
    /// Its kind.
    pub kind: OpKind,
    /// What it acts on: the old name for a rename, the existing file for a link and a copy, the new name
    /// for a symbolic link, a directory of the tree for readdir and statfs.
    pub name: Name,
    /// The new name of a rename, link and copy; the name whose leaf is the text of a symbolic link.
    pub other: Option<Name>,
    /// Where an append starts; the new size for a truncate.
    pub offset_bytes: u64,
    /// Bytes read or written; 0 for kinds that move no data.
    pub size_bytes: u32,
    /// What is written, or what a read returns.
    pub content: Content,
}

/// The content of a file: the same key and version give the same bytes at each offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The file, whatever its name is.
    pub key: u64,
    /// Which whole-file write was the last, from 1; 0 before the first.
    pub version: u64,
}

/// Names of each class that exist at the start, over all lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Population {
    /// Files that are created, changed and removed.
    pub files: u64,
    /// Files that are never changed.
    pub originals: u64,
    /// Files that are only renamed.
    pub moved: u64,
    /// Hard links.
    pub links: u64,
    /// Symbolic links.
    pub symlinks: u64,
    /// Directories that are created and removed.
    pub made: u64,
}

/// Why the operations of a stream cannot be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameProblem {
    /// More or fewer names are removed than added.
    Unbalanced {
        /// Names that 1,000 operations add.
        added: u64,
        /// Names that 1,000 operations remove.
        removed: u64,
        /// Whether they are directories (mkdir, rmdir).
        are_directories: bool,
    },
    /// Files only grow: appends without an operation that ends their growth.
    OnlyGrows,
    /// Too few files for the operations that can overlap.
    TooFewFiles {
        /// The smallest number of files, over all lanes.
        files_min: u64,
    },
}

impl Population {
    /// All names.
    pub const fn total(&self) -> u64 {
        self.files + self.originals + self.moved + self.links + self.symlinks + self.made
    }
}

impl NameLoad {
    /// The first problem of this load for `workers` workers with `queue_depth` each.
    pub fn problem(&self, workers: u32, queue_depth: u32) -> Option<NameProblem> {
        use OpKind::{
            Append, Copy, Create, Link, Mkdir, Rmdir, Symlink, Truncate, Unlink, WriteFile,
        };
        let mix = &self.mix;
        let balances = [
            (mix.sum(&[Create, Copy, Link, Symlink]), mix.permille(Unlink), false),
            (mix.permille(Mkdir), mix.permille(Rmdir), true),
        ];
        for (added, removed, are_directories) in balances {
            if added != removed {
                return Some(NameProblem::Unbalanced { added, removed, are_directories });
            }
        }
        if mix.permille(Append) > 0 && mix.sum(&[Truncate, WriteFile, Create, Copy]) == 0 {
            return Some(NameProblem::OnlyGrows);
        }
        let files_min = u64::from(workers) * self.files_of_lane_min(overlap(queue_depth));
        (self.tree.files < files_min).then_some(NameProblem::TooFewFiles { files_min })
    }

    /// The smallest number of files of a lane: those that are added, removed and changed by operations
    /// that can overlap, and one to read.
    fn files_of_lane_min(&self, overlap: u64) -> u64 {
        let adds = self.mix.sum(&[OpKind::Create, OpKind::Copy]);
        let changes = self.mix.sum(&[OpKind::Append, OpKind::Truncate, OpKind::WriteFile]);
        Ring::population_min(adds, overlap) + changing(adds, changes, overlap)
    }
}

/// Blocks within which operations of a lane with `queue_depth` overlap.
const fn overlap(queue_depth: u32) -> u64 {
    (queue_depth as u64 * WINDOW_PER_DEPTH).div_ceil(BLOCK as u64)
}

/// Files that operations which can overlap change.
const fn changing(adds: u64, changes: u64, overlap: u64) -> u64 {
    if changes == 0 { 0 } else { 2 * overlap * adds + (2 * overlap + 1) * changes }
}

impl NameStream {
    /// Prepares the operations of a stream; `None` if it has none on names. `stream.workers` is the
    /// number of lanes.
    ///
    /// * `seed` - of the run: order and choice of operations
    /// * `data_seed` - of the plan: sizes and contents, which do not depend on the run
    pub fn new(stream: &Stream, seed: u64, data_seed: u64) -> Option<NameStream> {
        let load = stream.names.as_ref()?;
        let seed = stream.seed(seed);
        Some(NameStream::of(load, stream.workers, stream.queue_depth, seed, data_seed))
    }

    /// The operations of a load for `lanes` lanes with `queue_depth` each.
    pub fn of(
        load: &NameLoad,
        lanes: u32,
        queue_depth: u32,
        seed: u64,
        data_seed: u64,
    ) -> NameStream {
        use OpKind::{Append, Copy, Create, Link, Mkdir, Readlink, Rename, Symlink, Truncate};
        let mix = &load.mix;
        let (kinds, first_image) = mix.table();
        let (lanes, overlap) = (u64::from(lanes.max(1)), overlap(queue_depth));
        let files = load.tree.files;
        let others = files.div_ceil(FILES_PER_OTHER);
        let ring = |adds: u64, is_used: bool| {
            let names = others.max(lanes * Ring::population_min(adds, overlap));
            Ring { names: if is_used { names } else { 0 }, lanes, adds, overlap }
        };
        let of = |kind: OpKind| ring(mix.permille(kind), mix.permille(kind) > 0);
        let links = of(Link);
        let symlinks = ring(mix.permille(Symlink), mix.sum(&[Symlink, Readlink]) > 0);
        let refers = links.names > 0 || symlinks.names > 0 || mix.permille(Copy) > 0;
        let originals = others.max(links.numbers().div_ceil(LINKS_PER_ORIGINAL));
        NameStream {
            tree: NameTree::new(&load.tree),
            sizes: FileSizes::new(&load.tree.sizes),
            lanes,
            overlap,
            kinds,
            first_image,
            order_seed: random::derive(seed, 0x313),
            choice_seed: random::derive(seed, 0x9_1ACE),
            content_seed: random::derive(data_seed, 0xF_11E5),
            append_bytes: load.append_bytes,
            files: Ring { names: files, lanes, adds: mix.sum(&[Create, Copy]), overlap },
            moved: of(Rename),
            links,
            symlinks,
            made: of(Mkdir),
            originals: if refers { originals } else { 0 },
            creates: mix.permille(Create),
            appends: mix.permille(Append),
            truncates: mix.permille(Truncate),
            writes: mix.permille(OpKind::WriteFile),
        }
    }

    /// The paths of the names.
    pub fn tree(&self) -> &NameTree {
        &self.tree
    }

    /// Names of each class that exist at the start.
    pub fn population(&self) -> Population {
        Population {
            files: self.files.names,
            originals: self.originals,
            moved: self.moved.names,
            links: self.links.names,
            symlinks: self.symlinks.names,
            made: self.made.names,
        }
    }

    /// Step `s` of a lane is sent only when all of its steps up to `s - window` are done.
    pub fn window_steps(&self) -> u64 {
        self.overlap * u64::from(BLOCK)
    }

    /// The operation with number `index`.
    #[inline]
    pub fn at(&self, index: u64) -> NameOp {
        self.op((index % self.lanes) as u32, index / self.lanes)
    }

    /// The operation of step `step` (from 0) of worker `lane` (from 0).
    pub fn op(&self, lane: u32, step: u64) -> NameOp {
        use NameClass::{File, Link as HardLink, Made, Missing, Moved, Original, Symlink as Soft};
        let index = step * self.lanes + u64::from(lane);
        let block = step / u64::from(BLOCK);
        let image = permute_block(self.order_key(lane, block), (step % u64::from(BLOCK)) as u32);
        let kind = self.kinds[image as usize];
        let rank = u64::from(image) - u64::from(self.first_image[kind as usize]);
        let bits = random::at(self.choice_seed, index);
        let name =
            |class, ring: &Ring, position| Name { class, number: ring.number(lane, position) };
        let (files, symlinks) = (&self.files, &self.symlinks);
        let mut op = NameOp {
            index,
            kind,
            name: Name::directory(0),
            other: None,
            offset_bytes: 0,
            size_bytes: 0,
            content: Content::default(),
        };
        match kind {
            OpKind::Create => {
                let position = files.added(lane, block, rank);
                op.name = name(File, files, position);
                self.write_new(lane, position, &mut op);
            }
            OpKind::Copy => {
                let position = files.added(lane, block, self.creates + rank);
                op.name = Name { class: Original, number: self.copied(lane, position) };
                op.other = Some(name(File, files, position));
                self.write_new(lane, position, &mut op);
            }
            OpKind::Unlink => {
                let (of_files, of_links) = (files.adds, self.links.adds);
                op.name = if rank < of_files {
                    name(File, files, files.removed(block, rank))
                } else if rank < of_files + of_links {
                    name(HardLink, &self.links, self.links.removed(block, rank - of_files))
                } else {
                    name(Soft, symlinks, symlinks.removed(block, rank - of_files - of_links))
                };
            }
            OpKind::Rename => {
                let from = self.moved.removed(block, rank);
                op.name = name(Moved, &self.moved, from);
                op.other = Some(name(Moved, &self.moved, from + self.moved.population(lane)));
            }
            OpKind::Link => {
                let new = name(HardLink, &self.links, self.links.added(lane, block, rank));
                op.name = self.referred(new);
                op.other = Some(new);
            }
            OpKind::Symlink => {
                op.name = name(Soft, symlinks, symlinks.added(lane, block, rank));
                op.other = Some(self.referred(op.name));
            }
            OpKind::Readlink => {
                let (first, count) = symlinks.stable(lane, block);
                op.name = name(Soft, symlinks, first + random::below(bits, count));
                op.other = Some(self.referred(op.name));
            }
            OpKind::Mkdir => op.name = name(Made, &self.made, self.made.added(lane, block, rank)),
            OpKind::Rmdir => op.name = name(Made, &self.made, self.made.removed(block, rank)),
            OpKind::Readdir | OpKind::Readdirplus => {
                op.name = Name::directory(random::below(bits, self.tree.directories()));
            }
            OpKind::LookupMissing => {
                op.name = Name { class: Missing, number: random::below(bits, files.names) };
            }
            OpKind::Append | OpKind::Truncate | OpKind::WriteFile => {
                let rank = match kind {
                    OpKind::Append => rank,
                    OpKind::Truncate => self.appends + rank,
                    _ => self.appends + self.truncates + rank,
                };
                let slot = (rank + self.shift(lane, block)) % self.changes();
                let position = self.changed(lane, block, slot);
                op.name = name(File, files, position);
                self.change(lane, position, self.change_number(block, slot), &mut op);
            }
            OpKind::Open | OpKind::Stat | OpKind::Access | OpKind::Setattr | OpKind::Lookup => {
                op.name = name(File, files, self.unchanged(lane, block, bits));
            }
            OpKind::ReadFile => {
                let position = self.unchanged(lane, block, bits);
                op.name = name(File, files, position);
                let (size_bytes, content) =
                    self.file(lane, position, self.change_number(block, 0), |_, _| true);
                (op.size_bytes, op.content) = (cut(size_bytes), content);
            }
            // On the root; a mix has none on files at an offset.
            OpKind::Statfs | OpKind::Read | OpKind::Write | OpKind::Fsync => {}
        }
        op
    }

    /// The key of a block's order, as in [`crate::mix`].
    #[inline]
    fn order_key(&self, lane: u32, block: u64) -> u64 {
        random::at(self.order_seed, block * self.lanes + u64::from(lane))
    }

    /// The image of operation `within` of a block.
    pub(super) fn image(&self, lane: u32, block: u64, within: u32) -> u32 {
        permute_block(self.order_key(lane, block), within)
    }

    /// The image of the operation of `kind` with this rank.
    pub(super) fn image_of(&self, kind: OpKind, rank: u64) -> u64 {
        u64::from(self.first_image[kind as usize]) + rank
    }

    fn write_new(&self, lane: u32, position: u64, op: &mut NameOp) {
        let key = self.key(lane, position);
        op.size_bytes = self.sizes.size_bytes(key);
        op.content = Content { key, version: 0 };
    }

    /// The key of the file at `position`: that of the copied file for a copy.
    fn key(&self, lane: u32, position: u64) -> u64 {
        let population = self.files.population(lane);
        if position < population {
            return random::at(self.content_seed, self.files.number(lane, position));
        }
        if self.is_copy(population, position) {
            return self.fixed_key(Name {
                class: NameClass::Original,
                number: self.copied(lane, position),
            });
        }
        let seed = random::derive(self.content_seed, 1);
        random::at(seed, position * self.lanes + u64::from(lane))
    }

    #[inline]
    fn is_copy(&self, population: u64, position: u64) -> bool {
        self.creates < self.files.adds && (position - population) % self.files.adds >= self.creates
    }

    /// Which original the copy at `position` is made from.
    fn copied(&self, lane: u32, position: u64) -> u64 {
        let bits = random::at(
            random::derive(self.content_seed, 2),
            position * self.lanes + u64::from(lane),
        );
        random::below(bits, self.originals)
    }

    /// The key of a file that is never changed: an original, or the file that had the moved name
    /// `number` at the start.
    fn fixed_key(&self, name: Name) -> u64 {
        random::at(random::derive(self.content_seed, 8 + name.class as u64), name.number)
    }

    /// Size and content of a file that is never changed.
    pub(super) fn fixed_file(&self, name: Name) -> (u64, Content) {
        let key = self.fixed_key(name);
        (u64::from(self.sizes.size_bytes(key)), Content { key, version: 0 })
    }

    /// The original that a hard or symbolic link refers to.
    pub(super) fn referred(&self, link: Name) -> Name {
        Name { class: NameClass::Original, number: link.number % self.originals.max(1) }
    }

    /// Changes of content in a block.
    #[inline]
    const fn changes(&self) -> u64 {
        self.appends + self.truncates + self.writes
    }

    /// The number of a change in the order of blocks and slots. It counts the added files too, because
    /// these move the files that are changed.
    #[inline]
    pub(super) const fn change_number(&self, block: u64, slot: u64) -> u64 {
        block * (self.changes() + self.files.adds) + slot
    }

    /// Which slot the first change of a block has: random, so that a file does not always have changes
    /// of the same kind.
    #[inline]
    fn shift(&self, lane: u32, block: u64) -> u64 {
        random::below(random::mix64(self.order_key(lane, block)), self.changes())
    }

    /// The position of the file that the change in `slot` of `block` changes.
    fn changed(&self, lane: u32, block: u64, slot: u64) -> u64 {
        let (first, count) = self.files.stable(lane, block);
        first + (block * self.changes() + slot) % count
    }

    /// The position of a random file that no operation changes which can overlap with those of
    /// `block`.
    fn unchanged(&self, lane: u32, block: u64, bits: u64) -> u64 {
        let (first, count) = self.files.stable(lane, block);
        let (adds, changes) = (self.files.adds, self.changes());
        if changes == 0 {
            return first + random::below(bits, count);
        }
        // The changes of the blocks around this one are on neighbouring files; behind the last of them.
        let behind = block * changes + (self.overlap + 1) * changes + self.overlap * adds;
        let rest = count - changing(adds, changes, self.overlap);
        first + (behind + random::below(bits, rest)) % count
    }

    fn change(&self, lane: u32, position: u64, number: u64, op: &mut NameOp) {
        let (size_bytes, content) = self.file(lane, position, number, |_, _| true);
        let whole = self.sizes.size_bytes(content.key);
        op.content = content;
        match op.kind {
            OpKind::Append => (op.offset_bytes, op.size_bytes) = (size_bytes, self.append_bytes),
            OpKind::Truncate => op.offset_bytes = u64::from(whole),
            _ => {
                op.size_bytes = whole;
                op.content.version = number + 1;
            }
        }
    }

    /// Size and content of the file at `position` before change `before`, of the changes that
    /// `is_done` (block, rank).
    pub(super) fn file(
        &self,
        lane: u32,
        position: u64,
        before: u64,
        is_done: impl Fn(u64, u64) -> bool,
    ) -> (u64, Content) {
        let key = self.key(lane, position);
        let whole = u64::from(self.sizes.size_bytes(key));
        let (mut size_bytes, mut version) = (None, 0);
        let mut appended = 0;
        for (number, block, rank) in self.changes_of(lane, position, before) {
            if !is_done(block, rank) {
                continue;
            }
            if rank < self.appends {
                appended += u64::from(size_bytes.is_none());
            } else {
                size_bytes = size_bytes.or(Some(whole + appended * u64::from(self.append_bytes)));
                if rank >= self.appends + self.truncates {
                    version = number + 1;
                    break;
                }
            }
            if size_bytes.is_some() && self.writes == 0 {
                break;
            }
        }
        let grown = whole + appended * u64::from(self.append_bytes);
        (size_bytes.unwrap_or(grown), Content { key, version })
    }

    /// The changes of the file at `position` before change `before`, the last one first: number, block
    /// and rank.
    ///
    /// Slot `s` of block `b` changes position `(b + overlap + 1) adds + (b changes + s) mod count`. So
    /// `b (adds + changes) + s` is `position - (overlap + 1) adds` plus a multiple of `count`, and each
    /// multiple gives at most one block and slot.
    fn changes_of(
        &self,
        lane: u32,
        position: u64,
        before: u64,
    ) -> impl Iterator<Item = (u64, u64, u64)> {
        let (first, count) = self.files.stable(lane, 0);
        let (adds, changes) = (self.files.adds, self.changes());
        let offset = position.checked_sub(first);
        let above =
            |offset: u64| if before > offset { (before - offset).div_ceil(count) } else { 0 };
        let multiples = match offset {
            Some(offset) if changes > 0 && count > 0 => (0..above(offset)).rev(),
            _ => (0..0).rev(),
        };
        let offset = offset.unwrap_or(0);
        multiples
            .map(move |multiple| {
                let number = offset + multiple * count;
                let per_block = adds + changes;
                (number, number / per_block, number % per_block)
            })
            // Blocks in which the file is not stable yet.
            .take_while(move |(_, block, _)| block * adds + count > offset)
            .filter(move |(_, block, slot)| *slot < changes && block * adds <= offset)
            .map(move |(number, block, slot)| {
                (number, block, (slot + changes - self.shift(lane, block)) % changes)
            })
    }

    /// The class of names with this sequence of positions.
    pub(super) fn ring(&self, class: NameClass) -> Option<&Ring> {
        match class {
            NameClass::File => Some(&self.files),
            NameClass::Moved => Some(&self.moved),
            NameClass::Link => Some(&self.links),
            NameClass::Symlink => Some(&self.symlinks),
            NameClass::Made => Some(&self.made),
            NameClass::Original | NameClass::Missing | NameClass::Directory => None,
        }
    }

    /// Whether `name` is an original.
    pub(super) fn is_original(&self, name: Name) -> bool {
        name.class == NameClass::Original && name.number < self.originals
    }

    /// The lane whose operations use `name`; `None` for originals, which no operation changes, and
    /// for names that the stream does not use.
    pub fn lane_of(&self, name: Name) -> Option<u32> {
        self.ring(name.class)?.owner(name.number).map(|(lane, _)| lane)
    }

    /// The image of the operation that adds name `rank` of a block to `class`.
    pub(super) fn adding(&self, class: NameClass, rank: u64) -> u64 {
        match class {
            NameClass::File if rank < self.creates => self.image_of(OpKind::Create, rank),
            NameClass::File => self.image_of(OpKind::Copy, rank - self.creates),
            NameClass::Moved => self.image_of(OpKind::Rename, rank),
            NameClass::Link => self.image_of(OpKind::Link, rank),
            NameClass::Symlink => self.image_of(OpKind::Symlink, rank),
            _ => self.image_of(OpKind::Mkdir, rank),
        }
    }

    /// The image of the operation that removes name `rank` of a block from `class`.
    pub(super) fn removing(&self, class: NameClass, rank: u64) -> u64 {
        let unlink = |before: u64| self.image_of(OpKind::Unlink, before + rank);
        match class {
            NameClass::File => unlink(0),
            NameClass::Link => unlink(self.files.adds),
            NameClass::Symlink => unlink(self.files.adds + self.links.adds),
            NameClass::Moved => self.image_of(OpKind::Rename, rank),
            _ => self.image_of(OpKind::Rmdir, rank),
        }
    }

    /// The image of change `rank` of a block.
    pub(super) fn changing_image(&self, rank: u64) -> u64 {
        let writes_from = self.appends + self.truncates;
        if rank < self.appends {
            self.image_of(OpKind::Append, rank)
        } else if rank < writes_from {
            self.image_of(OpKind::Truncate, rank - self.appends)
        } else {
            self.image_of(OpKind::WriteFile, rank - writes_from)
        }
    }
}

/// Sizes that grow beyond 4 GiB are read up to there.
fn cut(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

impl NameOp {
    /// The same operation for the engine, which finds the names by its index.
    #[inline]
    pub const fn op(&self) -> Op {
        Op {
            index: self.index,
            offset_bytes: self.offset_bytes,
            size_bytes: self.size_bytes,
            file: 0,
            kind: self.kind,
        }
    }
}
