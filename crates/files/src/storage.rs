//! The seam to storage that outlives the process: who keeps a volume on disk implements
//! [`Storage`]; this crate touches no file itself.
//!
//! The tree stays in memory. Of each change of it a record is handed to the storage, which appends
//! it to a journal; the data of regular files is the storage's alone, and only which blocks of a
//! file were written is remembered here. Nothing a client was told is safe may be lost, so:
//!
//! 1. A procedure changes the tree in memory, and data through [`Storage::write`].
//! 2. [`FileSystem::sync`](crate::FileSystem::sync) hands over the records of all that changed
//!    since its last call as one unit, and returns when what was promised is safe.
//! 3. Only then may the replies be sent.
//!
//! Where one thing may be seen on disk before another, the order is this. Data is safe before the
//! records that tell of it. A shorter size is safe in the journal before data is cut off, and data
//! of a removed file is given up only after the record of its removal is safe: so no crash leaves
//! a file without data that it still has.

use std::fmt;

use crate::{BLOCK_BYTES, Error};

/// The data of one regular file, for as long as that file exists: a number is never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataId {
    /// Inode number.
    pub fileid: u64,
    /// Which of the inodes that had this number.
    pub generation: u32,
}

/// What is known of the data of a file that a storage may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The file's size in bytes.
    pub size: u64,
    /// Data of it was promised to be safe, so that a storage without any has lost it.
    pub is_promised: bool,
}

/// Keeps data and records. Its errors are those of the procedures: [`Error::NoSpc`],
/// [`Error::Io`], and [`Error::Jukebox`] where nothing was done and trying again may succeed. It is
/// called by one file system alone.
pub trait Storage: fmt::Debug + Send + Sync {
    /// Fills `into` with the bytes at `offset`, zeros where there are none, and returns how many
    /// are right: less than all of them, but at least one, where the next is damaged.
    fn read(&self, data: DataId, offset: u64, into: &mut [u8]) -> Result<usize, Error>;

    /// Stores bytes; what was not there before them is zeros. With `stable` they are safe when
    /// the next [`Storage::append`] that is `durable` returns.
    fn write(&self, data: DataId, offset: u64, bytes: &[u8], stable: bool) -> Result<(), Error>;

    /// Opens what a [`Storage::cut`] needs that must not fail for want of it.
    fn open(&self, data: DataId) -> Result<(), Error>;

    /// Gives up everything from `size` on, safely.
    fn cut(&self, data: DataId, size: u64) -> Result<(), Error>;

    /// Makes everything written safe.
    fn commit(&self, data: DataId) -> Result<(), Error>;

    /// Gives up all of it, once the records that are appended next are safe.
    fn forget(&self, data: DataId);

    /// Keeps records as one unit: after a crash either all of them are there or none. With
    /// `durable` they are safe when it returns, and stable data too.
    fn append(&self, records: &[u8], durable: bool) -> Result<(), Error>;

    /// Keeps these units, which are the whole tree, instead of all that there were before. Where
    /// that cannot be done now, but all that there were are kept on, it is no error.
    fn replace(&self, units: &mut dyn Iterator<Item = Vec<u8>>) -> Result<(), Error>;

    /// Whether so much was appended that [`Storage::replace`] is worth its time.
    fn wants_replacing(&self) -> bool;

    /// Whether the call before this one failed because the storage has no room, as opposed to a
    /// limit of the volume.
    fn is_full(&self) -> bool;

    /// [`Error::NoSpc`] if there may be no room for another record. Asked before something new is
    /// made; removing goes on as long as it can.
    fn room(&self) -> Result<(), Error>;
}

/// The blocks of a file that were written, as ranges: what `used` and the quota count of data
/// that lies in a storage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extents {
    /// `ranges[first block] = first block after`; neither touching nor overlapping.
    ranges: std::collections::BTreeMap<u64, u64>,
    blocks: u64,
}

/// What the memory budget is charged for a range: its part of a node of the map.
const RANGE_BYTES: u64 = 32;

impl Extents {
    pub(crate) fn blocks(&self) -> u64 {
        self.blocks
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        self.ranges.len() as u64 * RANGE_BYTES
    }

    /// Blocks of a range of bytes that are in it already.
    fn covered(&self, first: u64, after: u64) -> u64 {
        let before = self.ranges.range(..first).next_back();
        let inside = self.ranges.range(first..after);
        before
            .into_iter()
            .chain(inside)
            .map(|(from, to)| (*to).min(after).saturating_sub((*from).max(first)))
            .sum()
    }

    /// Whether anything was written in a range of bytes.
    pub(crate) fn any(&self, offset: u64, length: u64) -> bool {
        let (first, after) = blocks(offset, length);
        self.covered(first, after) > 0
    }

    /// Blocks that writing these bytes would add, and memory.
    pub(crate) fn cost_of(&self, offset: u64, length: u64) -> (u64, u64) {
        let (first, after) = blocks(offset, length);
        let more = after - first - self.covered(first, after);
        (more, if more > 0 { RANGE_BYTES } else { 0 })
    }

    /// Adds the blocks that these bytes touch.
    pub(crate) fn add(&mut self, offset: u64, length: u64) {
        let (mut first, mut after) = blocks(offset, length);
        self.blocks += after - first - self.covered(first, after);
        if let Some((from, to)) = self.ranges.range(..=first).next_back().map(|(f, t)| (*f, *t))
            && to >= first
        {
            if to >= after {
                return;
            }
            first = from;
        }
        while let Some((from, to)) = self.ranges.range(first..=after).next().map(|(f, t)| (*f, *t))
        {
            after = after.max(to);
            self.ranges.remove(&from);
        }
        self.ranges.insert(first, after);
    }

    /// Takes away every block that begins at `size` or after it.
    pub(crate) fn cut(&mut self, size: u64) {
        let end = size.div_ceil(BLOCK_BYTES);
        for (from, to) in self.ranges.split_off(&end) {
            self.blocks -= to - from;
        }
        if let Some(mut last) = self.ranges.last_entry()
            && *last.get() > end
        {
            self.blocks -= *last.get() - end;
            *last.get_mut() = end;
        }
    }
}

/// First block of at least one byte, and the first after them.
fn blocks(offset: u64, length: u64) -> (u64, u64) {
    (offset / BLOCK_BYTES, (offset + length).div_ceil(BLOCK_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_agree_with_a_list_of_blocks_and_costs_are_told_beforehand(
            steps in proptest::collection::vec((0..4u8, 0..400_000u64, 1..60_000u64), 1..60)
        ) {
            let mut extents = Extents::default();
            let mut written = [false; 120];
            for (what, offset, length) in steps {
                let (first, after) = (offset / 4096, (offset + length).div_ceil(4096));
                let inside = &mut written[first as usize..after as usize];
                prop_assert_eq!(extents.any(offset, length), inside.contains(&true));
                if what == 0 {
                    extents.cut(offset);
                    written[offset.div_ceil(4096) as usize..].fill(false);
                } else {
                    let more = inside.iter().filter(|block| !**block).count() as u64;
                    let (cost, memory) = extents.cost_of(offset, length);
                    prop_assert_eq!(cost, more);
                    let before = extents.memory_bytes();
                    extents.add(offset, length);
                    prop_assert!(extents.memory_bytes() <= before + memory);
                    inside.fill(true);
                }
                let count = written.iter().filter(|block| **block).count() as u64;
                prop_assert_eq!(extents.blocks(), count);
                let ranges: Vec<(u64, u64)> =
                    extents.ranges.iter().map(|(from, to)| (*from, *to)).collect();
                prop_assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
                let sum: u64 = ranges.iter().map(|(from, to)| to - from).sum();
                prop_assert_eq!(sum, count);
            }
        }
    }
}
