//! Memory for direct I/O without `unsafe`: a vector with room to start at an aligned byte.

/// Direct I/O requires at most the alignment of a logical sector; a page is sufficient everywhere.
const ALIGN_BYTES: usize = 4096;

/// A page-aligned buffer.
#[derive(Debug)]
pub(crate) struct AlignedBuffer {
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

impl AlignedBuffer {
    /// `len` zeroed bytes.
    pub(crate) fn new(len: usize) -> AlignedBuffer {
        let memory = vec![0; len + ALIGN_BYTES];
        let start = memory.as_ptr().align_offset(ALIGN_BYTES);
        AlignedBuffer { memory, start, len }
    }

    /// The aligned bytes.
    pub(crate) fn as_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_is_page_aligned() {
        for len in [1, 512, 4096, 1 << 20] {
            let mut buffer = AlignedBuffer::new(len);
            let bytes = buffer.as_mut();
            assert_eq!((bytes.as_ptr().addr() % 4096, bytes.len()), (0, len));
        }
    }
}
