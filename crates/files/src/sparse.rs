//! The bytes of one file in memory. Holes use no memory.
//!
//! A map from the number of a 64 KiB chunk to its bytes. A chunk is only as long as its highest
//! written block requires (4, 8, 16, 32 or 64 KiB), so that a hundred thousand small files do not
//! use 64 KiB each. Each chunk knows which of its sixteen 4 KiB blocks are written; `used` and the
//! quota count these. Written zeros are data, not a hole.
//!
//! Invariant: a byte that was never written, or was truncated, is zero in memory.
//!
//! Replies share the bytes of a chunk (`piece`). A change of a shared chunk copies it first and
//! leaves the old bytes to the replies. The data of large WRITEs arrives in whole chunks, which
//! replace those of the file (`write_buffer`).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use crate::write_buffer::WriteBuffer;

/// Size of the blocks in which written data is counted.
pub const BLOCK_BYTES: u64 = 4096;

const BLOCK: usize = BLOCK_BYTES as usize;
const BLOCKS: usize = 16;
pub(crate) const CHUNK: usize = BLOCK * BLOCKS;
pub(crate) const CHUNK_BYTES: u64 = CHUNK as u64;

/// The content of a hole.
pub(crate) static ZEROS: [u8; CHUNK] = [0; CHUNK];

/// Use of the quota in blocks, and of memory in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) blocks: u64,
    pub(crate) memory_bytes: u64,
}

#[derive(Clone, Debug)]
struct Chunk {
    /// Its length is a power of two of blocks, at most `CHUNK`.
    bytes: Arc<[u8]>,
    /// Bit `i` is set if block `i` was written.
    written: u16,
}

impl Chunk {
    /// Length in bytes of a chunk whose highest written block is `highest`.
    fn length(highest: usize) -> usize {
        (highest + 1).next_power_of_two() * BLOCK
    }

    fn resize(&mut self, length: usize) {
        if self.bytes.len() == length {
            return;
        }
        if length < self.bytes.len() {
            self.bytes = Arc::from(&self.bytes[..length]);
        } else {
            self.bytes = zeros_but(length, 0, &self.bytes);
        }
    }

    /// Writes at `from`. Copies the chunk first if a reply shares it, unless all of it is
    /// overwritten.
    fn put(&mut self, from: usize, data: &[u8]) {
        if data.len() == self.bytes.len() && Arc::get_mut(&mut self.bytes).is_none() {
            self.bytes = Arc::from(data);
        } else {
            Arc::make_mut(&mut self.bytes)[from..from + data.len()].copy_from_slice(data);
        }
    }

    fn clear(&mut self, from: usize, to: usize) {
        Arc::make_mut(&mut self.bytes)[from..to].fill(0);
    }

    /// Frees the memory above the highest written block.
    fn shrink(&mut self) {
        let highest = BLOCKS - 1 - self.written.leading_zeros() as usize;
        self.resize(Chunk::length(highest));
    }
}

/// Zeros, except for `data` at `from`.
fn zeros_but(length: usize, from: usize, data: &[u8]) -> Arc<[u8]> {
    if data.len() == length {
        return Arc::from(data);
    }
    let mut bytes: Arc<[u8]> = Arc::from(&ZEROS[..length]);
    if let Some(bytes) = Arc::get_mut(&mut bytes) {
        bytes[from..from + data.len()].copy_from_slice(data);
    }
    bytes
}

/// The part of a chunk that a range covers, in bytes from the chunk's start.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    /// The chunk's number.
    pub(crate) chunk: u64,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

impl Part {
    /// The parts of `length` bytes at `offset`, in order.
    pub(crate) fn of(offset: u64, length: u64) -> impl Iterator<Item = Part> {
        let end = offset + length;
        let mut at = offset;
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let chunk = at / CHUNK_BYTES;
            let from = (at % CHUNK_BYTES) as usize;
            let to = (end - chunk * CHUNK_BYTES).min(CHUNK_BYTES) as usize;
            at = (chunk + 1) * CHUNK_BYTES;
            Some(Part { chunk, from, to })
        })
    }

    /// The bits of its blocks.
    fn mask(self) -> u16 {
        let first = self.from / BLOCK;
        let last = (self.to - 1) / BLOCK;
        (u16::MAX << first) & (u16::MAX >> (BLOCKS - 1 - last))
    }

    fn is_whole(self) -> bool {
        (self.from, self.to) == (0, CHUNK)
    }

    fn length_needed(self) -> usize {
        Chunk::length((self.to - 1) / BLOCK)
    }
}

/// The bytes of one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sparse {
    chunks: BTreeMap<u64, Chunk>,
    /// Sum over the chunks.
    usage: Cost,
}

impl Sparse {
    pub(crate) fn usage(&self) -> Cost {
        self.usage
    }

    /// Additional use of quota and memory by writing `length` bytes at `offset`.
    pub(crate) fn cost_of_write(&self, offset: u64, length: u64) -> Cost {
        let mut more = Cost::default();
        for part in Part::of(offset, length) {
            let (written, allocated) = match self.chunks.get(&part.chunk) {
                Some(chunk) => (chunk.written, chunk.bytes.len()),
                None => (0, 0),
            };
            more.blocks += u64::from((part.mask() & !written).count_ones());
            more.memory_bytes += part.length_needed().saturating_sub(allocated) as u64;
        }
        more
    }

    /// Writes bytes, copying each once.
    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) {
        let mut rest = data;
        for part in Part::of(offset, data.len() as u64) {
            let (data, later) = rest.split_at(part.to - part.from);
            rest = later;
            self.write_part(part, data);
        }
    }

    fn write_part(&mut self, part: Part, data: &[u8]) {
        let chunk = match self.chunks.entry(part.chunk) {
            Entry::Vacant(vacant) => {
                let length = part.length_needed();
                self.usage.blocks += u64::from(part.mask().count_ones());
                self.usage.memory_bytes += length as u64;
                let bytes = zeros_but(length, part.from, data);
                vacant.insert(Chunk { bytes, written: part.mask() });
                return;
            }
            Entry::Occupied(occupied) => occupied.into_mut(),
        };
        let before = chunk.bytes.len();
        if part.length_needed() > before {
            chunk.resize(part.length_needed());
            self.usage.memory_bytes += (chunk.bytes.len() - before) as u64;
        }
        self.usage.blocks += u64::from((part.mask() & !chunk.written).count_ones());
        chunk.written |= part.mask();
        chunk.put(part.from, data);
    }

    /// Writes the data of a complete buffer: takes over its whole chunks, and copies the others.
    /// Leaves the chunks in the buffer that are not used any more.
    pub(crate) fn write_buffered(&mut self, buffer: &mut WriteBuffer) {
        let mut parts = buffer.parts();
        buffer.chunks.retain_mut(|bytes| {
            let part = parts.next().expect("a complete buffer has a chunk for each part");
            if part.is_whole() {
                return self.exchange(part.chunk, bytes);
            }
            self.write_part(part, &bytes[part.from..part.to]);
            true
        });
    }

    /// Makes `bytes` the content of a chunk. Returns whether the chunk existed; `bytes` is then its
    /// former content.
    fn exchange(&mut self, number: u64, bytes: &mut Arc<[u8]>) -> bool {
        match self.chunks.entry(number) {
            Entry::Vacant(vacant) => {
                self.usage.blocks += BLOCKS as u64;
                self.usage.memory_bytes += CHUNK_BYTES;
                vacant.insert(Chunk { bytes: Arc::clone(bytes), written: u16::MAX });
                false
            }
            Entry::Occupied(occupied) => {
                let chunk = occupied.into_mut();
                self.usage.blocks += u64::from(chunk.written.count_zeros());
                self.usage.memory_bytes += CHUNK_BYTES - chunk.bytes.len() as u64;
                chunk.written = u16::MAX;
                std::mem::swap(&mut chunk.bytes, bytes);
                true
            }
        }
    }

    /// Removes everything from `size` on.
    pub(crate) fn truncate(&mut self, size: u64) {
        let first_removed = size.div_ceil(CHUNK_BYTES);
        for (_, chunk) in self.chunks.split_off(&first_removed) {
            self.usage.blocks -= u64::from(chunk.written.count_ones());
            self.usage.memory_bytes -= chunk.bytes.len() as u64;
        }
        let inside = (size % CHUNK_BYTES) as usize;
        if inside == 0 {
            return;
        }
        let number = size / CHUNK_BYTES;
        if let Some(chunk) = self.chunks.get_mut(&number) {
            if inside < chunk.bytes.len() {
                chunk.clear(inside, chunk.bytes.len());
            }
            let mask = (1u32 << inside.div_ceil(BLOCK)) - 1;
            self.keep(number, mask as u16);
        }
    }

    /// The bytes of block `index`, if it is written.
    pub(crate) fn block(&self, index: u64) -> Option<&[u8]> {
        let chunk = self.chunks.get(&(index / BLOCKS as u64))?;
        let inside = (index % BLOCKS as u64) as usize;
        (chunk.written & 1 << inside != 0).then(|| &chunk.bytes[inside * BLOCK..][..BLOCK])
    }

    /// Makes block `index` a hole.
    pub(crate) fn punch(&mut self, index: u64) {
        let number = index / BLOCKS as u64;
        let inside = (index % BLOCKS as u64) as usize;
        if let Some(chunk) = self.chunks.get_mut(&number)
            && chunk.written & 1 << inside != 0
        {
            chunk.clear(inside * BLOCK, (inside + 1) * BLOCK);
            self.keep(number, !(1 << inside));
        }
    }

    /// Keeps only the blocks in `mask` of a chunk. The other blocks are already zero.
    fn keep(&mut self, number: u64, mask: u16) {
        let Some(chunk) = self.chunks.get_mut(&number) else { return };
        let before = chunk.bytes.len();
        self.usage.blocks -= u64::from((chunk.written & !mask).count_ones());
        chunk.written &= mask;
        if chunk.written == 0 {
            self.usage.memory_bytes -= before as u64;
            self.chunks.remove(&number);
        } else {
            chunk.shrink();
            self.usage.memory_bytes -= (before - chunk.bytes.len()) as u64;
        }
    }

    /// The bytes of a chunk, at least up to its highest written block.
    pub(crate) fn chunk(&self, number: u64) -> Option<&Arc<[u8]>> {
        self.chunks.get(&number).map(|chunk| &chunk.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::piece::{Piece, Pieces};
    use proptest::prelude::*;

    fn all(sparse: &Sparse, offset: u64, length: u64) -> Vec<u8> {
        Pieces::of(sparse, offset, length).collect::<Vec<_>>().concat()
    }

    #[test]
    fn a_small_file_uses_one_block_and_a_full_chunk_64_kib() {
        let mut sparse = Sparse::default();
        sparse.write(10, b"abc");
        assert_eq!(sparse.usage(), Cost { blocks: 1, memory_bytes: 4096 });
        sparse.write(0, &[1; CHUNK]);
        assert_eq!(sparse.usage(), Cost { blocks: 16, memory_bytes: 65536 });
    }

    #[test]
    fn written_zeros_are_not_a_hole() {
        let mut sparse = Sparse::default();
        sparse.write(0, &[0; 8192]);
        assert_eq!(sparse.usage().blocks, 2);
    }

    #[test]
    fn a_range_is_read_as_one_piece_for_each_chunk_and_hole() {
        let mut sparse = Sparse::default();
        sparse.write(0, &[7; CHUNK]);
        sparse.write(2 * CHUNK_BYTES, &[9; 100]);
        let lengths: Vec<usize> = Pieces::of(&sparse, CHUNK_BYTES - 10, CHUNK_BYTES + 10 + 5000)
            .map(|p| p.len())
            .collect();
        assert_eq!(lengths, [10, CHUNK, 4096, 904]);
    }

    #[test]
    fn a_write_copies_only_chunks_that_a_piece_shares() {
        let mut sparse = Sparse::default();
        sparse.write(0, &[7; 2 * CHUNK]);
        let address = |sparse: &Sparse, number| sparse.chunk(number).map(|bytes| bytes.as_ptr());
        let (first, second) = (address(&sparse, 0), address(&sparse, 1));
        let piece = Pieces::of(&sparse, 10, 20).next().unwrap();
        sparse.write(0, &[9; 2 * CHUNK]);
        assert_ne!(address(&sparse, 0), first);
        assert_eq!(address(&sparse, 1), second, "written in place");
        assert_eq!(&piece[..], &[7; 20]);
        drop(piece);
        let copied = address(&sparse, 0);
        sparse.write(5, &[1; 100]);
        assert_eq!(address(&sparse, 0), copied, "no longer shared");
    }

    proptest! {
        #[test]
        fn writes_truncations_and_holes_equal_a_vector_and_costs_are_predicted(
            steps in proptest::collection::vec(
                (0..4u8, 0..150_000u64, 1..90_000u64, any::<u8>()), 1..20)
        ) {
            let mut sparse = Sparse::default();
            let mut bytes = vec![0u8; 250_000];
            let mut written = [false; 250_000 / BLOCK + 1];
            let mut shared: Vec<(Vec<Piece>, Vec<u8>)> = Vec::new();
            for (what, offset, length, fill) in steps {
                shared.push((Pieces::of(&sparse, 0, 250_000).collect(), bytes.clone()));
                if offset % 3 == 0 {
                    shared.clear();
                }
                match what {
                    0 | 1 => {
                        let more = sparse.cost_of_write(offset, length);
                        let before = sparse.usage();
                        sparse.write(offset, &vec![fill; length as usize]);
                        prop_assert_eq!(sparse.usage().blocks, before.blocks + more.blocks);
                        prop_assert_eq!(
                            sparse.usage().memory_bytes,
                            before.memory_bytes + more.memory_bytes
                        );
                        bytes[offset as usize..(offset + length) as usize].fill(fill);
                        let last = (offset + length - 1) / BLOCK_BYTES;
                        for block in offset / BLOCK_BYTES..=last {
                            written[block as usize] = true;
                        }
                    }
                    2 => {
                        sparse.truncate(offset);
                        bytes[offset as usize..].fill(0);
                        for block in offset.div_ceil(BLOCK_BYTES)..written.len() as u64 {
                            written[block as usize] = false;
                        }
                    }
                    _ => {
                        let block = offset / BLOCK_BYTES;
                        sparse.punch(block);
                        bytes[block as usize * BLOCK..][..BLOCK].fill(0);
                        written[block as usize] = false;
                    }
                }
                let blocks = written.iter().filter(|block| **block).count() as u64;
                prop_assert_eq!(sparse.usage().blocks, blocks);
                let memory: u64 = sparse.chunks.values().map(|c| c.bytes.len() as u64).sum();
                prop_assert_eq!(sparse.usage().memory_bytes, memory);
                for (index, block) in written.iter().enumerate() {
                    prop_assert_eq!(sparse.block(index as u64).is_some(), *block);
                }
                prop_assert!(all(&sparse, 0, 250_000) == bytes);
                for (pieces, bytes) in &shared {
                    prop_assert!(pieces.concat() == *bytes, "a reply keeps the bytes it read");
                }
            }
        }
    }
}
