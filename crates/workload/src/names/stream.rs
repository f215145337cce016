//! The operations on names of a stream: a pure function of (seed, lane, step), without state.
//!
//! The operations of each lane are split into blocks of 1,000, as in [`crate::mix`]. A permutation
//! gives each operation of a block an image; the image selects its kind and its rank among those of
//! its kind. The rank selects what is added, removed or changed; random bits select what is only read.
//!
//! If the lanes are users, a block is a scenario, whose operations have the stated order.

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
    /// Operations of a block.
    block: u64,
    window_steps: u64,
    /// The image of each operation of a scenario; `None` for blocks in random order.
    scenario: Option<Box<[u16]>>,
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
    /// Prepares the operations of a stream; `None` if it has none on names. The lanes are its workers,
    /// or its users.
    ///
    /// * `seed` - of the run: order and choice of operations
    /// * `data_seed` - of the plan: sizes and contents, which do not depend on the run
    pub fn new(stream: &Stream, seed: u64, data_seed: u64) -> Option<NameStream> {
        let load = stream.names.as_ref()?;
        let seed = stream.seed(seed);
        let (lanes, queue_depth) = stream.name_lanes();
        Some(NameStream::of(load, lanes, queue_depth, seed, data_seed))
    }

    /// The operations of a load for `lanes` lanes with `queue_depth` each: 0 for users, whose operations
    /// do not overlap.
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
        let scenario = load.scenario.as_ref().map(|scenario| {
            let mut next = first_image;
            let image = |kind: OpKind| {
                let image = next[kind as usize];
                next[kind as usize] += 1;
                image
            };
            scenario.kinds().map(image).collect()
        });
        NameStream {
            tree: NameTree::new(&load.tree),
            classes,
            contents: Contents::of(load, classes, order_seed, data_seed),
            lanes: u64::from(lanes.max(1)),
            block: kinds.len().max(1) as u64,
            window_steps: overlap(queue_depth) * u64::from(BLOCK),
            scenario,
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

    /// Operations of a block: 1,000, or those of a user's scenario.
    pub const fn block(&self) -> u64 {
        self.block
    }

    /// Step `s` of a lane is sent only when all of its steps up to `s - window` are done. 0 for users, each
    /// of whom has at most one operation in flight.
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

    /// The operation of step `step` (from 0) of the worker or user `lane` (from 0).
    pub fn op(&self, lane: u32, step: u64) -> NameOp {
        let index = step * self.lanes + u64::from(lane);
        let block = step / self.block;
        let image = self.image(lane, block, (step % self.block) as u32);
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
        if let Some(images) = &self.scenario {
            return images[within as usize].into();
        }
        let key = random::at(self.order_seed, block * self.lanes + u64::from(lane));
        permute_block(key, within)
    }

    /// The image of the operation of `kind` with this rank among those of its kind.
    pub(super) fn image_of(&self, kind: OpKind, rank: u64) -> u64 {
        u64::from(self.first_image[kind as usize]) + rank
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
