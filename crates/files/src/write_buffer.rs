//! The data of a large WRITE, received into chunks that the file takes over without a copy.
//!
//! For: a server that knows offset and length of a WRITE before its data has arrived. It receives
//! the data into a [`WriteBuffer`], which is laid out like the file: a chunk for each chunk of the
//! file that the WRITE touches. [`FileSystem::write_buffered`](crate::FileSystem::write_buffered)
//! exchanges whole chunks with the file and copies the parts of others, so no reader sees part of
//! the data before. The chunks that the file used before return to the [`ChunkPool`], and
//! overwriting a file neither allocates nor touches new pages. Not for: receiving, or checks of the
//! WRITE, which follow when all its data has arrived.

use std::io::IoSliceMut;
use std::sync::Arc;

use crate::sparse::{CHUNK, CHUNK_BYTES, Part, ZEROS};

/// Most chunks that the pool keeps, 4 MiB: the data of four WRITEs of 1 MiB.
const KEPT_CHUNKS: usize = 64;

/// Most slices of [`WriteBuffer::unfilled`] for a WRITE of `bytes`: one for each chunk it touches.
#[must_use]
pub const fn slices_max(bytes: usize) -> usize {
    bytes.div_ceil(CHUNK) + 1
}

/// Chunks that no file uses, for the data of WRITEs to come.
#[derive(Debug, Default)]
pub struct ChunkPool {
    free: Vec<Arc<[u8]>>,
}

impl ChunkPool {
    /// A chunk with any content that nothing else refers to.
    fn take(&mut self) -> Arc<[u8]> {
        self.free.pop().unwrap_or_else(|| Arc::from(&ZEROS[..]))
    }

    /// Keeps a chunk, unless it is too short, a reply refers to it, or the pool is full.
    fn give(&mut self, mut chunk: Arc<[u8]>) {
        let is_usable = chunk.len() == CHUNK && Arc::get_mut(&mut chunk).is_some();
        if is_usable && self.free.len() < KEPT_CHUNKS {
            self.free.push(chunk);
        }
    }
}

/// The data of one WRITE while it is received. An empty one uses no chunk.
#[derive(Debug, Default)]
pub struct WriteBuffer {
    /// Of the WRITE, in bytes from the beginning of the file.
    offset: u64,
    /// Bytes of the WRITE.
    length: u64,
    /// Bytes of its data received so far.
    received: u64,
    /// The chunks that the WRITE touches, from the first to the one with the last received byte.
    /// Each byte has the position that it will have in the file's chunk.
    pub(crate) chunks: Vec<Arc<[u8]>>,
}

impl WriteBuffer {
    /// Whether buffering saves a copy: a WRITE of `length` bytes at `offset` covers a whole chunk.
    #[must_use]
    pub fn is_worthwhile(offset: u64, length: u64) -> bool {
        let end = offset.checked_add(length).filter(|end| *end <= i64::MAX as u64);
        let first_whole = offset.div_ceil(CHUNK_BYTES);
        end.is_some_and(|end| first_whole < end / CHUNK_BYTES)
    }

    /// The first offset in a file at which a WRITE is laid out as at `offset`.
    #[must_use]
    pub const fn layout_of(offset: u64) -> u64 {
        offset % CHUNK_BYTES
    }

    /// Starts with a WRITE.
    ///
    /// # Panics
    /// If the buffer is not empty, or the WRITE is not [worthwhile](WriteBuffer::is_worthwhile).
    pub fn begin(&mut self, offset: u64, length: u64) {
        assert!(self.is_empty(), "the previous WRITE was cleared");
        assert!(WriteBuffer::is_worthwhile(offset, length), "{length} bytes at {offset}");
        (self.offset, self.length) = (offset, length);
    }

    /// Whether it has no WRITE.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Where the WRITE begins in the file, in bytes.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Bytes of the WRITE, received or not.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Bytes that were not received yet.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.length - self.received
    }

    /// Fills `slices` from the front with memory for the missing bytes, and returns how many slices
    /// it filled. [`WriteBuffer::filled`] must follow.
    pub fn unfilled<'a>(
        &'a mut self,
        pool: &mut ChunkPool,
        slices: &mut [IoSliceMut<'a>],
    ) -> usize {
        let (at, missing) = (self.offset + self.received, self.missing());
        let first = (at / CHUNK_BYTES - self.offset / CHUNK_BYTES) as usize;
        let count = Part::of(at, missing).count().min(slices.len());
        while self.chunks.len() < first + count {
            self.chunks.push(pool.take());
        }
        let chunks = self.chunks[first..].iter_mut();
        for ((chunk, part), slice) in chunks.zip(Part::of(at, missing)).zip(slices) {
            let bytes = Arc::get_mut(chunk).expect("nothing else refers to a buffer's chunk");
            *slice = IoSliceMut::new(&mut bytes[part.from..part.to]);
        }
        count
    }

    /// The first `count` missing bytes were received into the memory of [`WriteBuffer::unfilled`].
    ///
    /// # Panics
    /// If fewer are missing.
    pub fn filled(&mut self, count: u64, pool: &mut ChunkPool) {
        assert!(count <= self.missing(), "no more than the WRITE's bytes are received");
        self.received += count;
        // Memory that is only announced stays in the pool.
        let end = (self.offset + self.received).div_ceil(CHUNK_BYTES);
        let used = if self.received == 0 { 0 } else { end - self.offset / CHUNK_BYTES };
        self.chunks.drain(used as usize..).for_each(|chunk| pool.give(chunk));
    }

    /// Takes missing bytes from the front of `input`, by copying them.
    pub fn fill(&mut self, input: &mut &[u8], pool: &mut ChunkPool) {
        while self.missing() > 0 && !input.is_empty() {
            let mut next = [IoSliceMut::new(&mut [])];
            self.unfilled(pool, &mut next);
            let count = next[0].len().min(input.len());
            let (bytes, rest) = input.split_at(count);
            next[0][..count].copy_from_slice(bytes);
            *input = rest;
            self.filled(count as u64, pool);
        }
    }

    /// Takes the data that `other` has received, if nothing was received here and both WRITEs are
    /// laid out alike. Returns whether it did.
    pub fn take_received(&mut self, other: &mut WriteBuffer) -> bool {
        let layout = |one: &WriteBuffer| (one.length, WriteBuffer::layout_of(one.offset));
        let is_same = self.received == 0 && layout(self) == layout(other);
        if is_same {
            std::mem::swap(&mut self.chunks, &mut other.chunks);
            std::mem::swap(&mut self.received, &mut other.received);
        }
        is_same
    }

    /// The received data, in order.
    pub fn received(&self) -> impl Iterator<Item = &[u8]> {
        let parts = self.chunks.iter().zip(Part::of(self.offset, self.received));
        parts.map(|(chunk, part)| &chunk[part.from..part.to])
    }

    /// Empties the buffer; its chunks return to the pool.
    pub fn clear(&mut self, pool: &mut ChunkPool) {
        self.chunks.drain(..).for_each(|chunk| pool.give(chunk));
        (self.offset, self.length, self.received) = (0, 0, 0);
    }

    /// The parts of the file's chunks that the WRITE covers.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part> + use<> {
        Part::of(self.offset, self.length)
    }

    /// The data in one piece, for storages.
    pub(crate) fn to_vec(&self) -> Vec<u8> {
        self.received().flatten().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::piece::Pieces;
    use crate::sparse::Sparse;
    use proptest::prelude::*;

    const LENGTH: u64 = 6 * CHUNK_BYTES;

    fn all(sparse: &Sparse) -> Vec<u8> {
        Pieces::of(sparse, 0, LENGTH).collect::<Vec<_>>().concat()
    }

    /// A buffer with the WRITE of `data`.
    fn filled(offset: u64, mut data: &[u8], pool: &mut ChunkPool) -> WriteBuffer {
        let mut buffer = WriteBuffer::default();
        buffer.begin(offset, data.len() as u64);
        buffer.fill(&mut data, pool);
        buffer
    }

    #[test]
    fn a_write_is_worthwhile_if_it_covers_a_whole_chunk() {
        let chunk = CHUNK_BYTES;
        for (offset, length, expected) in [
            (0, chunk, true),
            (0, chunk - 1, false),
            (1, chunk, false),
            (1, 2 * chunk - 1, true),
            (1, 2 * chunk - 2, false),
            (3 * chunk, 0, false),
            (i64::MAX as u64 - chunk, chunk, false),
            (i64::MAX as u64 + 1 - 2 * chunk, chunk, true),
            (i64::MAX as u64 + 1 - 2 * chunk, 2 * chunk, false),
            (u64::MAX - 5, 5 * chunk, false),
        ] {
            let actual = WriteBuffer::is_worthwhile(offset, length);
            assert_eq!(actual, expected, "{length} bytes at {offset}");
        }
    }

    #[test]
    fn whole_chunks_are_exchanged_with_the_file() {
        let (mut sparse, mut pool) = (Sparse::default(), ChunkPool::default());
        sparse.write(0, &[7; 3 * CHUNK]);
        let address = |sparse: &Sparse, number| sparse.chunk(number).map(|bytes| bytes.as_ptr());
        let before = [0, 1, 2].map(|number| address(&sparse, number));
        let mut buffer = filled(CHUNK_BYTES - 1, &[9; 1 + CHUNK + 1], &mut pool);
        let received = buffer.chunks[1].as_ptr();
        sparse.write_buffered(&mut buffer);
        let after = [0, 1, 2].map(|number| address(&sparse, number));
        assert_eq!(after, [before[0], Some(received), before[2]]);
        let expected = [&[7; CHUNK - 1][..], &[9; CHUNK + 2], &[7; CHUNK - 1]].concat();
        assert_eq!(all(&sparse)[..3 * CHUNK], expected);
        buffer.clear(&mut pool);
        assert!(pool.free.iter().any(|chunk| Some(chunk.as_ptr()) == before[1]));
        assert_eq!(pool.free.len(), 3);
    }

    #[test]
    fn a_chunk_that_a_reply_shares_is_left_to_the_reply() {
        let (mut sparse, mut pool) = (Sparse::default(), ChunkPool::default());
        sparse.write(0, &[7; CHUNK]);
        let piece = Pieces::of(&sparse, 0, CHUNK_BYTES).next().unwrap();
        let mut buffer = filled(0, &[9; CHUNK], &mut pool);
        sparse.write_buffered(&mut buffer);
        buffer.clear(&mut pool);
        assert_eq!((pool.free.len(), &piece[..]), (0, &[7; CHUNK][..]));
        assert_eq!(all(&sparse)[..CHUNK], [9; CHUNK]);
    }

    #[test]
    fn memory_for_bytes_that_do_not_arrive_returns_to_the_pool() {
        let (mut buffer, mut pool) = (WriteBuffer::default(), ChunkPool::default());
        buffer.begin(100, LENGTH);
        let mut slices = [(); 8].map(|()| IoSliceMut::new(&mut []));
        assert_eq!(buffer.unfilled(&mut pool, &mut slices), 7);
        buffer.filled(0, &mut pool);
        assert_eq!((buffer.chunks.len(), pool.free.len()), (0, 7));
        for (count, chunks) in [(1, 1), (CHUNK_BYTES - 101, 1), (1, 2), (2 * CHUNK_BYTES, 4)] {
            let mut slices = [(); 8].map(|()| IoSliceMut::new(&mut []));
            buffer.unfilled(&mut pool, &mut slices);
            buffer.filled(count, &mut pool);
            assert_eq!((buffer.chunks.len(), pool.free.len()), (chunks, 7 - chunks));
        }
        buffer.clear(&mut pool);
        assert_eq!((buffer.is_empty(), pool.free.len()), (true, 7));
    }

    #[test]
    fn the_pool_keeps_a_bounded_number_of_chunks() {
        let mut pool = ChunkPool::default();
        (0..2 * KEPT_CHUNKS).for_each(|_| pool.give(Arc::from(&ZEROS[..])));
        assert_eq!(pool.free.len(), KEPT_CHUNKS);
        pool.give(Arc::from(&ZEROS[..4096]));
        assert_eq!(pool.take().len(), CHUNK);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// The bytes of both, how they are received, and what uses quota and memory.
        #[test]
        fn a_buffered_write_equals_a_copied_one(
            writes in proptest::collection::vec(
                (0..2 * CHUNK_BYTES, 0..3 * CHUNK_BYTES, any::<bool>(), 1..=255u8), 1..8),
            piece in 1..100_000usize,
        ) {
            let (mut copied, mut buffered) = (Sparse::default(), Sparse::default());
            let (mut pool, mut shared) = (ChunkPool::default(), Vec::new());
            let mut buffer = WriteBuffer::default();
            for (offset, length, is_aligned, fill) in writes {
                let offset = if is_aligned { offset / CHUNK_BYTES * CHUNK_BYTES } else { offset };
                let data: Vec<u8> = (0..length).map(|at| (at as u8).wrapping_mul(fill)).collect();
                copied.write(offset, &data);
                if fill % 3 == 0 {
                    shared.push((Pieces::of(&buffered, 0, LENGTH).collect::<Vec<_>>(), all(&buffered)));
                }
                if WriteBuffer::is_worthwhile(offset, length) {
                    buffer.begin(offset, length);
                    for (number, mut part) in data.chunks(piece).enumerate() {
                        if number % 2 == 0 {
                            buffer.fill(&mut part, &mut pool);
                            continue;
                        }
                        let mut slices = [(); 8].map(|()| IoSliceMut::new(&mut []));
                        let count = buffer.unfilled(&mut pool, &mut slices);
                        let received = part.len() as u64;
                        for slice in &mut slices[..count] {
                            let (now, rest) = part.split_at(slice.len().min(part.len()));
                            slice[..now.len()].copy_from_slice(now);
                            part = rest;
                        }
                        buffer.filled(received, &mut pool);
                    }
                    prop_assert_eq!((buffer.missing(), buffer.to_vec() == data), (0, true));
                    let cost = buffered.cost_of_write(offset, length);
                    let before = buffered.usage();
                    buffered.write_buffered(&mut buffer);
                    buffer.clear(&mut pool);
                    prop_assert_eq!(buffered.usage().blocks, before.blocks + cost.blocks);
                    let memory_bytes = before.memory_bytes + cost.memory_bytes;
                    prop_assert_eq!(buffered.usage().memory_bytes, memory_bytes);
                } else {
                    buffered.write(offset, &data);
                }
                prop_assert_eq!(buffered.usage(), copied.usage());
                prop_assert!(all(&buffered) == all(&copied));
                for (pieces, bytes) in &shared {
                    prop_assert!(pieces.concat() == *bytes, "a reply keeps the bytes it read");
                }
            }
        }
    }
}
