//! WRITEs that are expected to follow in the stream of a connection.
//!
//! For: receiving several WRITEs by one system call, each with its data in place. Clients that write
//! a file send WRITEs with heads and data of equal lengths. After some of them, the memory for the
//! next bytes of the stream is that of the next heads and of the next data, in turn. If the calls are
//! different ones, their bytes are processed like other input, which copies them as if they had been
//! received into a buffer.

use std::io::IoSliceMut;

use files::{ChunkPool, WriteBuffer, slices_max};
use nfs3::server::IncompleteWrite;

/// Most bytes of the data of the WRITEs that are expected together.
const BYTES_MAX: usize = 1 << 20;

/// Most slices of the WRITEs that are expected together: enough for 16 of 64 KiB.
pub(super) const SLICES_MAX: usize = 16 * (1 + slices_max(BYTES_MAX / 16));

/// How many WRITEs are expected, and what is equal in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ExpectedWrites {
    /// How many follow in one read.
    count: usize,
    /// Bytes of each call before its data.
    head_bytes: usize,
    /// Bytes of data of each.
    length: usize,
    /// Where a WRITE with the same layout begins in a file.
    offset: u64,
}

impl ExpectedWrites {
    /// The head of a WRITE was received. If it equals the previous one, another is expected.
    pub(super) fn add(&mut self, write: &IncompleteWrite) {
        let IncompleteWrite { offset, length, head: head_bytes, .. } = *write;
        let offset = WriteBuffer::layout_of(offset);
        let next = ExpectedWrites { count: self.count, head_bytes, length, offset };
        let count = if *self == next { self.count.max(1) } else { 0 };
        *self = ExpectedWrites { count, ..next };
    }

    /// `received` of the expected WRITEs were received by one read. `is_other`: another call followed.
    pub(super) fn adjust(&mut self, received: usize, is_other: bool) {
        if is_other {
            self.count = 0;
        } else if received > 0 {
            // Twice as many, so that those that follow a little later need no more reads.
            self.count = 2 * received;
        }
    }

    /// How many WRITEs are expected after `missing` bytes of another.
    fn count_after(&self, missing: usize) -> usize {
        let fit = BYTES_MAX.saturating_sub(missing).checked_div(self.length).unwrap_or(0);
        self.count.min(fit).min(SLICES_MAX / (1 + slices_max(self.length)))
    }
}

/// Memory for expected WRITEs, used by one connection at a time.
#[derive(Debug, Default)]
pub(super) struct ExpectedMemory {
    /// The heads of all, one after the other.
    heads: Vec<u8>,
    head_bytes: usize,
    /// Their data; as many are used as there are heads.
    buffers: Vec<WriteBuffer>,
}

impl ExpectedMemory {
    /// Fills `slices` with memory for the WRITEs that are expected after `missing` bytes of another, and
    /// returns how many slices it filled.
    pub(super) fn fill<'a>(
        &'a mut self,
        expected: &ExpectedWrites,
        missing: usize,
        pool: &mut ChunkPool,
        slices: &mut [IoSliceMut<'a>],
    ) -> usize {
        let count = expected.count_after(missing);
        self.head_bytes = expected.head_bytes;
        self.heads.resize(count * self.head_bytes, 0);
        if self.buffers.len() < count {
            self.buffers.resize_with(count, WriteBuffer::default);
        }
        let mut filled = 0;
        for (head, buffer) in
            self.heads.chunks_mut(expected.head_bytes.max(1)).zip(&mut self.buffers)
        {
            slices[filled] = IoSliceMut::new(head);
            buffer.begin(expected.offset, expected.length as u64);
            filled += 1 + buffer.unfilled(pool, &mut slices[filled + 1..]);
        }
        filled
    }

    /// Whether slices of the memory were handed out since it was cleared.
    pub(super) fn is_in_use(&self) -> bool {
        !self.heads.is_empty()
    }

    /// The first `count` bytes of the memory were received. Frees the chunks of the others.
    pub(super) fn filled(&mut self, mut count: usize, pool: &mut ChunkPool) {
        let mut heads_received = 0;
        for (head, buffer) in self.heads.chunks(self.head_bytes.max(1)).zip(&mut self.buffers) {
            let head = head.len().min(count);
            let data = buffer.missing().min((count - head) as u64);
            buffer.filled(data, pool);
            heads_received += head;
            count -= head + data as usize;
        }
        self.heads.truncate(heads_received);
    }

    /// What was received: heads, each with its data.
    pub(super) fn received(&mut self) -> impl Iterator<Item = (&[u8], &mut WriteBuffer)> {
        self.heads.chunks(self.head_bytes.max(1)).zip(&mut self.buffers)
    }

    /// Frees the chunks that no WRITE took.
    pub(super) fn clear(&mut self, pool: &mut ChunkPool) {
        self.heads.clear();
        self.buffers.iter_mut().for_each(|buffer| buffer.clear(pool));
    }
}
