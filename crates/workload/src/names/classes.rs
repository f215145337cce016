//! The classes of names of a stream, and how many names each has.

use super::ring::Ring;
use super::{NameClass, NameLoad};
use crate::mix::BLOCK;
use crate::op::OpKind;

/// Overlapping operations per queue depth. With a window of one queue depth, each operation would wait
/// for the slowest of those before it.
const WINDOW_PER_DEPTH: u64 = 4;
/// Originals are one for each of this many hard links at least: file systems limit links to a file.
const LINKS_PER_ORIGINAL: u64 = 1_000;
/// Classes other than files have one name for each of this many files, if that is enough.
const FILES_PER_OTHER: u64 = 10;

/// The names of each class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Classes {
    pub(super) files: Ring,
    pub(super) moved: Ring,
    pub(super) links: Ring,
    pub(super) symlinks: Ring,
    pub(super) made: Ring,
    /// Originals belong to no lane, because no operation changes them.
    pub(super) originals: u64,
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

impl Population {
    /// All names.
    pub const fn total(&self) -> u64 {
        self.files + self.originals + self.moved + self.links + self.symlinks + self.made
    }
}

impl Classes {
    /// The classes of a load for `lanes` lanes with `queue_depth` each.
    pub(super) fn of(load: &NameLoad, lanes: u32, queue_depth: u32) -> Classes {
        use OpKind::{Copy, Create, Link, Mkdir, Readlink, Rename, Symlink};
        let mix = &load.mix;
        let (lanes, overlap) = (u64::from(lanes.max(1)), overlap(queue_depth));
        let others = load.tree.files.div_ceil(FILES_PER_OTHER);
        let ring = |adds: u64, is_used: bool| {
            let names = others.max(lanes * Ring::population_min(adds, overlap));
            Ring { names: if is_used { names } else { 0 }, lanes, adds, overlap }
        };
        let of = |kind: OpKind| ring(mix.permille(kind), mix.permille(kind) > 0);
        let links = of(Link);
        let symlinks = ring(mix.permille(Symlink), mix.sum(&[Symlink, Readlink]) > 0);
        let refers = links.names > 0 || symlinks.names > 0 || mix.permille(Copy) > 0;
        let originals = others.max(links.numbers().div_ceil(LINKS_PER_ORIGINAL));
        let adds = mix.sum(&[Create, Copy]);
        Classes {
            files: Ring { names: load.tree.files, lanes, adds, overlap },
            moved: of(Rename),
            links,
            symlinks,
            made: of(Mkdir),
            originals: if refers { originals } else { 0 },
        }
    }

    /// The sequences of a class; `None` for classes that do not belong to lanes.
    pub(super) const fn ring(&self, class: NameClass) -> Option<&Ring> {
        match class {
            NameClass::File => Some(&self.files),
            NameClass::Moved => Some(&self.moved),
            NameClass::Link => Some(&self.links),
            NameClass::Symlink => Some(&self.symlinks),
            NameClass::Made => Some(&self.made),
            NameClass::Original | NameClass::Missing | NameClass::Directory => None,
        }
    }

    /// Names of each class that exist at the start.
    pub(super) const fn population(&self) -> Population {
        Population {
            files: self.files.names,
            originals: self.originals,
            moved: self.moved.names,
            links: self.links.names,
            symlinks: self.symlinks.names,
            made: self.made.names,
        }
    }

    /// All numbers of names are below this.
    pub(super) fn numbers_max(&self) -> u64 {
        let rings = [self.files, self.moved, self.links, self.symlinks, self.made];
        rings.iter().map(Ring::numbers).fold(self.originals, u64::max)
    }
}

/// Blocks within which operations of a lane with `queue_depth` overlap; 0 for a queue depth of 0, whose
/// operations do not overlap.
pub(super) const fn overlap(queue_depth: u32) -> u64 {
    (queue_depth as u64 * WINDOW_PER_DEPTH).div_ceil(BLOCK as u64)
}

/// Files that operations which can overlap change.
pub(super) const fn changing(adds: u64, changes: u64, overlap: u64) -> u64 {
    if changes == 0 { 0 } else { 2 * overlap * adds + (2 * overlap + 1) * changes }
}
