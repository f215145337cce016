//! A regular file: its current bytes, and those that a restart would restore.
//!
//! RFC 1813, section 4.8: a server may lose data that was written UNSTABLE and not yet committed.
//! To simulate this for tests of clients, a copy of each 4 KiB block is kept (its stable image)
//! before an unstable write changes it, until COMMIT or the limit on such copies. Stable writes
//! also change the stable image, so a restart loses exactly the bytes that were only written
//! unstably.

use std::collections::BTreeMap;

use crate::extents::Extents;
use crate::piece::Pieces;
use crate::sparse::{BLOCK_BYTES, Cost, Sparse};
use crate::write_buffer::WriteBuffer;

/// The stable image of a block: its bytes, or `None` for a hole.
type Image = Option<Box<[u8]>>;

/// The state of a file on stable storage, as far as it differs from the current state.
#[derive(Clone, Debug)]
struct Stable {
    size: u64,
    /// `images[block]`
    images: BTreeMap<u64, Image>,
}

/// A regular file.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    bytes: Sparse,
    size: u64,
    /// Written blocks of data in a storage. `bytes` is then empty.
    stored: Extents,
    /// True once a storage received data of this file.
    pub(crate) is_in_storage: bool,
    /// True once some data in the storage was acknowledged as durable.
    pub(crate) has_durable_data: bool,
    /// True if the storage lost the data and the written ranges are unknown.
    pub(crate) is_data_lost: bool,
    /// `None` if everything is stable.
    stable: Option<Box<Stable>>,
    /// The verifier of the EXCLUSIVE CREATE.
    pub(crate) exclusive: Option<[u8; 8]>,
}

/// The blocks of a range of at least one byte.
fn blocks(offset: u64, length: u64) -> std::ops::RangeInclusive<u64> {
    offset / BLOCK_BYTES..=(offset + length - 1) / BLOCK_BYTES
}

impl File {
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn usage(&self) -> Cost {
        let memory = self.bytes.usage();
        Cost {
            blocks: memory.blocks + self.stored.blocks(),
            memory_bytes: memory.memory_bytes + self.stored.memory_bytes(),
        }
    }

    pub(crate) fn memory_usage(&self) -> Cost {
        self.bytes.usage()
    }

    /// Additional use of quota and memory by a write to a storage.
    pub(crate) fn cost_of_storing(&self, offset: u64, length: u64) -> Cost {
        let (blocks, memory_bytes) = self.stored.cost_of(offset, length);
        Cost { blocks, memory_bytes }
    }

    /// Whether a storage has data in a range, or may have lost it.
    pub(crate) fn is_stored(&self, offset: u64, length: u64) -> bool {
        self.is_data_lost || self.stored.any(offset, length)
    }

    /// Adds a range that was written to a storage.
    pub(crate) fn add_stored(&mut self, offset: u64, length: u64) {
        self.stored.add(offset, length);
        self.size = self.size.max(offset + length);
    }

    pub(crate) fn cost_of_write(&self, offset: u64, length: u64) -> Cost {
        self.bytes.cost_of_write(offset, length)
    }

    /// Blocks whose stable image is kept.
    pub(crate) fn unstable_blocks(&self) -> u64 {
        self.stable.as_ref().map_or(0, |stable| stable.images.len() as u64)
    }

    /// How many stable images an unstable write of this range would add.
    pub(crate) fn newly_unstable(&self, offset: u64, length: u64) -> u64 {
        let range = blocks(offset, length);
        let all = range.end() - range.start() + 1;
        match &self.stable {
            Some(stable) => all - stable.images.range(range).count() as u64,
            None => all,
        }
    }

    /// The bytes of a range within the file.
    pub(crate) fn pieces(&self, offset: u64, length: u64) -> Pieces<'_> {
        Pieces::of(&self.bytes, offset, length)
    }

    /// Writes data that a restart loses.
    pub(crate) fn write_unstable(&mut self, offset: u64, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        let size = self.size;
        let stable =
            self.stable.get_or_insert_with(|| Box::new(Stable { size, images: BTreeMap::new() }));
        for block in blocks(offset, data.len() as u64) {
            stable.images.entry(block).or_insert_with(|| self.bytes.block(block).map(Box::from));
        }
        self.bytes.write(offset, data);
        self.size = self.size.max(offset + data.len() as u64);
    }

    /// Writes data that a restart keeps.
    pub(crate) fn write_stable(&mut self, offset: u64, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        let end = offset + data.len() as u64;
        if let Some(stable) = &mut self.stable {
            stable.size = stable.size.max(end);
            for (block, image) in stable.images.range_mut(blocks(offset, data.len() as u64)) {
                let start = block * BLOCK_BYTES;
                let from = offset.max(start);
                let to = end.min(start + BLOCK_BYTES);
                let image =
                    image.get_or_insert_with(|| vec![0; BLOCK_BYTES as usize].into_boxed_slice());
                image[(from - start) as usize..(to - start) as usize]
                    .copy_from_slice(&data[(from - offset) as usize..(to - offset) as usize]);
            }
        }
        self.bytes.write(offset, data);
        self.size = self.size.max(end);
    }

    /// Writes the data of a complete buffer to a file of which everything is stable.
    pub(crate) fn write_buffered(&mut self, data: &mut WriteBuffer) {
        debug_assert!(self.stable.is_none(), "stable images need the data in one piece");
        let end = data.offset() + data.len();
        self.bytes.write_buffered(data);
        self.size = self.size.max(end);
    }

    /// Sets the size, stably: a server must not lose a SETATTR.
    pub(crate) fn set_size(&mut self, size: u64) {
        if size < self.size {
            self.bytes.truncate(size);
            self.stored.truncate(size);
        }
        self.size = size;
        if let Some(stable) = &mut self.stable {
            stable.images.split_off(&size.div_ceil(BLOCK_BYTES));
            let inside = (size % BLOCK_BYTES) as usize;
            if inside > 0
                && let Some(Some(image)) = stable.images.get_mut(&(size / BLOCK_BYTES))
            {
                image[inside..].fill(0);
            }
            stable.size = size;
            if stable.images.is_empty() {
                self.stable = None;
            }
        }
    }

    /// Makes the blocks of a range stable; `length` 0 means up to the end.
    pub(crate) fn commit(&mut self, offset: u64, length: u64) {
        let Some(stable) = &mut self.stable else { return };
        let end = if length == 0 { u64::MAX } else { offset.saturating_add(length) };
        let last = (end - 1) / BLOCK_BYTES;
        let mut after = stable.images.split_off(&(offset / BLOCK_BYTES));
        let rest = after.split_off(&(last + 1));
        if let Some((block, _)) = after.last_key_value() {
            stable.size = stable.size.max(self.size.min((block + 1) * BLOCK_BYTES));
        }
        stable.images.extend(rest);
        if stable.images.is_empty() {
            // The last block of the file was committed now or earlier.
            debug_assert_eq!(stable.size, self.size);
            self.stable = None;
        }
    }

    /// Restores the stable state; true if that changes the file.
    pub(crate) fn restart(&mut self) -> bool {
        let Some(stable) = self.stable.take() else { return false };
        for (block, image) in stable.images {
            match image {
                Some(image) => self.bytes.write(block * BLOCK_BYTES, &image),
                None => self.bytes.punch(block),
            }
        }
        self.size = stable.size;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(file: &File) -> Vec<u8> {
        file.pieces(0, file.size()).collect::<Vec<_>>().concat()
    }

    #[test]
    fn a_stable_write_into_an_uncommitted_block_survives_and_its_neighbours_do_not() {
        let mut file = File::default();
        file.write_stable(0, b"aaaaaa");
        file.write_unstable(0, b"bbbbbbbb");
        file.write_stable(2, b"cc");
        assert_eq!(text(&file), b"bbccbbbb");
        assert!(file.restart());
        assert_eq!(text(&file), b"aaccaa");
        assert!(!file.restart());
    }

    #[test]
    fn a_restart_frees_the_blocks_of_an_unstable_write() {
        let mut file = File::default();
        file.write_unstable(1 << 30, &[1; 10_000]);
        assert_eq!(file.usage().blocks, 3);
        file.restart();
        assert_eq!((file.usage(), file.size()), (Cost::default(), 0));
    }

    proptest! {
        /// Compares with two vectors: the current state and the stable state.
        #[test]
        fn a_restart_keeps_exactly_the_data_that_was_written_stably_or_committed(
            steps in proptest::collection::vec(
                (0..6u8, 0..40_000u64, 0..20_000u64, 1..=255u8), 1..40)
        ) {
            let mut file = File::default();
            let mut bytes: Vec<u8> = Vec::new();
            let mut stable_bytes: Vec<u8> = Vec::new();
            let put = |to: &mut Vec<u8>, offset: u64, length: u64, fill: u8| {
                if length > 0 {
                    let (from, end) = (offset as usize, (offset + length) as usize);
                    to.resize(to.len().max(end), 0);
                    to[from..end].fill(fill);
                }
            };
            for (what, offset, length, fill) in steps {
                match what {
                    0 | 1 => {
                        file.write_unstable(offset, &vec![fill; length as usize]);
                        put(&mut bytes, offset, length, fill);
                    }
                    2 => {
                        file.write_stable(offset, &vec![fill; length as usize]);
                        put(&mut bytes, offset, length, fill);
                        put(&mut stable_bytes, offset, length, fill);
                    }
                    3 => {
                        file.set_size(offset);
                        bytes.resize(offset as usize, 0);
                        stable_bytes.resize(offset as usize, 0);
                    }
                    4 => {
                        // The whole file, because a range is extended to blocks.
                        file.commit(0, 0);
                        stable_bytes.clone_from(&bytes);
                    }
                    _ => {
                        file.restart();
                        bytes.clone_from(&stable_bytes);
                    }
                }
                prop_assert!(text(&file) == bytes);
            }
            file.restart();
            prop_assert!(text(&file) == stable_bytes);
            let beyond = file.pieces(file.size(), 100_000).collect::<Vec<_>>().concat();
            prop_assert!(beyond.iter().all(|byte| *byte == 0));
        }

        #[test]
        fn a_committed_range_survives_a_restart(
            writes in proptest::collection::vec((0..40_000u64, 1..9_000u64, 1..=255u8), 1..10),
            offset in 0..50_000u64,
            length in 0..30_000u64,
        ) {
            let mut file = File::default();
            for (offset, length, fill) in writes {
                file.write_unstable(offset, &vec![fill; length as usize]);
            }
            let before = text(&file);
            file.commit(offset, length);
            prop_assert!(text(&file) == before);
            file.restart();
            let after = text(&file);
            let end = if length == 0 { before.len() } else { (offset + length) as usize };
            for (at, byte) in before.iter().enumerate().take(end).skip(offset as usize) {
                prop_assert_eq!(after.get(at).copied().unwrap_or(0), *byte);
            }
        }
    }
}
