//! The operations on names of a stream: a pure function of (seed, lane, step), without state.
//!
//! The operations of each lane are split into blocks of 1,000, as in [`crate::mix`]. A permutation
//! gives each operation of a block an image; the image selects its kind and its rank among those of
//! its kind. The rank selects what is added, removed or changed; random bits select what is only read.

use super::classes::{Classes, Population, overlap};
use super::content::{Content, Contents};
use super::ring::Ring;
use super::tree::NameTree;
use super::{Name, NameClass, NameLoad};
use crate::mix::{BLOCK, permute_block};
use crate::op::{Op, OpKind};
use crate::random;
use crate::run::Stream;

/// The operations on names of one stream.
#[derive(Clone, Debug)]
pub struct NameStream {
    tree: NameTree,
    pub(super) classes: Classes,
    pub(super) contents: Contents,
    lanes: u64,
    window_steps: u64,
    /// The kind for each image.
    kinds: Box<[OpKind]>,
    /// The first image of each kind.
    first_image: [u16; OpKind::COUNT],
    order_seed: u64,
    choice_seed: u64,
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
        let (kinds, first_image) = load.mix.table();
        let classes = Classes::of(load, lanes, queue_depth);
        let order_seed = random::derive(seed, 0x313);
        NameStream {
            tree: NameTree::new(&load.tree),
            classes,
            contents: Contents::of(load, classes, order_seed, data_seed),
            lanes: u64::from(lanes.max(1)),
            window_steps: overlap(queue_depth) * u64::from(BLOCK),
            kinds,
            first_image,
            order_seed,
            choice_seed: random::derive(seed, 0x9_1ACE),
        }
    }

    /// The paths of the names.
    pub fn tree(&self) -> &NameTree {
        &self.tree
    }

    /// Names of each class that exist at the start.
    pub fn population(&self) -> Population {
        self.classes.population()
    }

    /// Step `s` of a lane is sent only when all of its steps up to `s - window` are done.
    pub fn window_steps(&self) -> u64 {
        self.window_steps
    }

    /// The lane whose operations use `name`; `None` for originals, which no operation changes, and
    /// for names that the stream does not use.
    pub fn lane_of(&self, name: Name) -> Option<u32> {
        self.classes.ring(name.class)?.owner(name.number).map(|(lane, _)| lane)
    }

    /// The operation with number `index`.
    #[inline]
    pub fn at(&self, index: u64) -> NameOp {
        self.op((index % self.lanes) as u32, index / self.lanes)
    }

    /// The operation of step `step` (from 0) of worker `lane` (from 0).
    pub fn op(&self, lane: u32, step: u64) -> NameOp {
        let index = step * self.lanes + u64::from(lane);
        let block = step / u64::from(BLOCK);
        let image = self.image(lane, block, (step % u64::from(BLOCK)) as u32);
        let kind = self.kinds[image as usize];
        let mut op = NameOp {
            index,
            kind,
            name: Name::directory(0),
            other: None,
            offset_bytes: 0,
            size_bytes: 0,
            content: Content::default(),
        };
        let rank = u64::from(image) - u64::from(self.first_image[kind as usize]);
        let draw = Draw { lane, block, rank, bits: random::at(self.choice_seed, index) };
        match kind {
            OpKind::Create | OpKind::Copy => self.create(draw, &mut op),
            OpKind::Append | OpKind::Truncate | OpKind::WriteFile => self.change(draw, &mut op),
            OpKind::Unlink => op.name = self.unlinked(draw),
            OpKind::Rename => {
                let moved = &self.classes.moved;
                op.name = draw.name(NameClass::Moved, moved, moved.removed(block, rank));
                op.other = Some(draw.name(NameClass::Moved, moved, moved.added(lane, block, rank)));
            }
            OpKind::Link => {
                let links = &self.classes.links;
                let new = draw.name(NameClass::Link, links, links.added(lane, block, rank));
                (op.name, op.other) = (self.contents.referred(new), Some(new));
            }
            OpKind::Symlink | OpKind::Readlink => {
                let symlinks = &self.classes.symlinks;
                let position = match kind {
                    OpKind::Symlink => symlinks.added(lane, block, rank),
                    _ => {
                        let (first, count) = symlinks.stable(lane, block);
                        first + random::below(draw.bits, count)
                    }
                };
                op.name = draw.name(NameClass::Symlink, symlinks, position);
                op.other = Some(self.contents.referred(op.name));
            }
            OpKind::Mkdir | OpKind::Rmdir => {
                let made = &self.classes.made;
                let position = match kind {
                    OpKind::Mkdir => made.added(lane, block, rank),
                    _ => made.removed(block, rank),
                };
                op.name = draw.name(NameClass::Made, made, position);
            }
            OpKind::Readdir | OpKind::Readdirplus => {
                op.name = Name::directory(random::below(draw.bits, self.tree.directories()));
            }
            OpKind::LookupMissing => {
                let number = random::below(draw.bits, self.classes.files.names);
                op.name = Name { class: NameClass::Missing, number };
            }
            OpKind::Open
            | OpKind::Stat
            | OpKind::Access
            | OpKind::Setattr
            | OpKind::Lookup
            | OpKind::ReadFile => self.use_file(draw, &mut op),
            // On the root; a mix has none on files at an offset.
            OpKind::Statfs | OpKind::Read | OpKind::Write | OpKind::Fsync => {}
        }
        op
    }

    fn create(&self, draw: Draw, op: &mut NameOp) {
        let Draw { lane, block, rank, .. } = draw;
        let files = &self.classes.files;
        let is_copy = op.kind == OpKind::Copy;
        let rank = if is_copy { self.contents.creates() + rank } else { rank };
        let position = files.added(lane, block, rank);
        let new = draw.name(NameClass::File, files, position);
        if is_copy {
            let number = self.contents.copied(lane, position);
            (op.name, op.other) = (Name { class: NameClass::Original, number }, Some(new));
        } else {
            op.name = new;
        }
        (op.size_bytes, op.content) = self.contents.new_file(lane, position);
    }

    fn unlinked(&self, draw: Draw) -> Name {
        let Classes { files, links, symlinks, .. } = &self.classes;
        let Draw { block, rank, .. } = draw;
        if rank < files.adds {
            return draw.name(NameClass::File, files, files.removed(block, rank));
        }
        let rank = rank - files.adds;
        if rank < links.adds {
            return draw.name(NameClass::Link, links, links.removed(block, rank));
        }
        draw.name(NameClass::Symlink, symlinks, symlinks.removed(block, rank - links.adds))
    }

    fn change(&self, draw: Draw, op: &mut NameOp) {
        let Draw { lane, block, rank, .. } = draw;
        let contents = &self.contents;
        let (position, change) = contents.change(lane, block, op.kind, rank);
        op.name = draw.name(NameClass::File, &self.classes.files, position);
        let (size_bytes, content) = contents.before(lane, position, &change);
        op.content = content;
        match op.kind {
            OpKind::Append => {
                (op.offset_bytes, op.size_bytes) = (size_bytes, contents.append_bytes());
            }
            OpKind::Truncate => op.offset_bytes = contents.new_file(lane, position).0.into(),
            _ => {
                op.size_bytes = contents.new_file(lane, position).0;
                op.content = Contents::written(content.key, &change);
            }
        }
    }

    fn use_file(&self, draw: Draw, op: &mut NameOp) {
        let Draw { lane, block, bits, .. } = draw;
        let position = self.contents.unchanged(lane, block, bits);
        op.name = draw.name(NameClass::File, &self.classes.files, position);
        if op.kind == OpKind::ReadFile {
            let end = self.contents.first_change(block);
            let (size_bytes, content) = self.contents.file(lane, position, end, |_| true);
            // Files that grow beyond 4 GiB are read up to there.
            op.size_bytes = u32::try_from(size_bytes).unwrap_or(u32::MAX);
            op.content = content;
        }
    }

    /// The image of operation `within` of a block.
    #[inline]
    pub(super) fn image(&self, lane: u32, block: u64, within: u32) -> u32 {
        let key = random::at(self.order_seed, block * self.lanes + u64::from(lane));
        permute_block(key, within)
    }

    /// The image of the operation of `kind` with this rank among those of its kind.
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
    pub fn referred(&self, link: Name) -> Name {
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
        let creates = self.contents.creates();
        match class {
            NameClass::File if rank < creates => self.image_of(OpKind::Create, rank),
            NameClass::File => self.image_of(OpKind::Copy, rank - creates),
            NameClass::Moved => self.image_of(OpKind::Rename, rank),
            NameClass::Link => self.image_of(OpKind::Link, rank),
            NameClass::Symlink => self.image_of(OpKind::Symlink, rank),
            _ => self.image_of(OpKind::Mkdir, rank),
        }
    }

    /// The image of the operation that removes name `rank` of a block from `class`.
    pub(super) fn removing(&self, class: NameClass, rank: u64) -> u64 {
        let unlinks_before = match class {
            NameClass::File => 0,
            NameClass::Link => self.classes.files.adds,
            NameClass::Symlink => self.classes.files.adds + self.classes.links.adds,
            NameClass::Moved => return self.image_of(OpKind::Rename, rank),
            _ => return self.image_of(OpKind::Rmdir, rank),
        };
        self.image_of(OpKind::Unlink, unlinks_before + rank)
    }
}

/// What selects the names of one operation.
#[derive(Clone, Copy)]
struct Draw {
    lane: u32,
    block: u64,
    /// Its rank among the operations of its kind in the block.
    rank: u64,
    /// Random bits.
    bits: u64,
}

impl Draw {
    fn name(self, class: NameClass, ring: &Ring, position: u64) -> Name {
        Name { class, number: ring.number(self.lane, position) }
    }
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
