//! Limits of a volume: the quota, the memory budget, and the number of inodes.
//!
//! The quota limits the written 4 KiB blocks of regular files and may change at any time. If it is
//! below the used size, new blocks are refused and nothing is removed. The memory budget limits
//! chunks of data plus a fixed charge for each inode and name. Stable images of uncommitted data
//! have a separate limit.

use crate::Error;
use crate::sparse::{BLOCK_BYTES, Cost};

/// Charge of an inode to the memory budget.
pub(crate) const INODE_BYTES: u64 = 256;

/// Limits, and their current use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Space {
    pub(crate) quota_bytes: u64,
    pub(crate) memory_bytes_max: u64,
    pub(crate) inodes_max: u64,
    pub(crate) used_blocks: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) inodes: u64,
}

impl Space {
    pub(crate) fn used_bytes(&self) -> u64 {
        self.used_blocks * BLOCK_BYTES
    }

    /// Whether additional data fits. Only growth is refused: overwriting stays possible if the
    /// quota is below the used size.
    pub(crate) fn admit(&self, more: Cost) -> Result<(), Error> {
        let used = self.used_bytes().saturating_add(more.blocks.saturating_mul(BLOCK_BYTES));
        if more.blocks > 0 && used > self.quota_bytes {
            return Err(Error::DQuot);
        }
        let memory = self.memory_bytes.saturating_add(more.memory_bytes);
        if more.memory_bytes > 0 && memory > self.memory_bytes_max {
            return Err(Error::NoSpc);
        }
        Ok(())
    }

    /// Whether another inode with `bytes` of names and link target fits.
    pub(crate) fn admit_inode(&self, bytes: u64) -> Result<(), Error> {
        if self.inodes >= self.inodes_max {
            return Err(Error::NoSpc);
        }
        self.admit(Cost { blocks: 0, memory_bytes: INODE_BYTES + bytes })
    }

    /// Replaces one object's use before a change by that after it.
    pub(crate) fn change(&mut self, before: Cost, after: Cost) {
        self.used_blocks = self.used_blocks + after.blocks - before.blocks;
        self.memory_bytes = self.memory_bytes + after.memory_bytes - before.memory_bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> Space {
        Space {
            quota_bytes: 2 * BLOCK_BYTES,
            memory_bytes_max: 10_000,
            inodes_max: 2,
            used_blocks: 0,
            memory_bytes: 0,
            inodes: 0,
        }
    }

    #[test]
    fn the_last_block_of_the_quota_fits_and_the_next_does_not() {
        let cost = |blocks| Cost { blocks, memory_bytes: 0 };
        let mut space = space();
        assert_eq!(space.admit(cost(2)), Ok(()));
        assert_eq!(space.admit(cost(3)), Err(Error::DQuot));
        space.change(cost(0), cost(2));
        assert_eq!(space.admit(cost(1)), Err(Error::DQuot));
        space.quota_bytes = 0;
        assert_eq!(space.admit(cost(0)), Ok(()), "overwriting stays possible");
    }

    #[test]
    fn the_last_byte_of_memory_and_the_last_inode_fit_and_the_next_do_not() {
        let mut space = space();
        assert_eq!(space.admit(Cost { blocks: 0, memory_bytes: 10_000 }), Ok(()));
        assert_eq!(space.admit(Cost { blocks: 0, memory_bytes: 10_001 }), Err(Error::NoSpc));
        assert_eq!(space.admit_inode(10_000 - INODE_BYTES), Ok(()));
        space.inodes = 2;
        assert_eq!(space.admit_inode(0), Err(Error::NoSpc));
    }
}
