//! Record marking: splits a byte stream, received in pieces of any size, into RPC messages.
//!
//! A record that arrives complete in one fragment is returned in place. Others are assembled in a
//! buffer that grows with the received bytes, never with the announced length.
//!
//= https://www.rfc-editor.org/rfc/rfc5531#section-11
//# The number encodes two values -- a boolean which indicates whether the fragment is the last
//# fragment of the record (bit value 1 implies the fragment is the last fragment) and a 31-bit
//# unsigned binary value which is the length in bytes of the fragment's data.

use crate::xdr::Writer;

/// Bit of the mark: last fragment of the record.
pub const LAST_FRAGMENT: u32 = 1 << 31;

/// Size of a mark in bytes.
pub const MARK_BYTES: usize = 4;

/// Maximum number of empty fragments in a record. RFC 5531 allows them and known peers send none.
/// Without a limit, an endless record of empty fragments would use a whole processor.
pub const EMPTY_FRAGMENTS_MAX: usize = 16;

/// An invalid record. The start of the next one is unknown, so the connection must be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// It is longer than allowed.
    #[error("received a record of at least {length_bytes} bytes; the maximum is {max_bytes}")]
    TooLong {
        /// The length so far, including the announced fragment.
        length_bytes: u64,
        /// The maximum.
        max_bytes: usize,
    },
    /// It has more than [`EMPTY_FRAGMENTS_MAX`] empty fragments.
    #[error("received a record with more than {EMPTY_FRAGMENTS_MAX} empty fragments")]
    EmptyFragments,
}

/// The mark of a record that is sent as one fragment.
///
/// # Panics
/// The record has 2 GiB or more.
#[must_use]
pub fn mark(record_bytes: usize) -> u32 {
    let length = u32::try_from(record_bytes).expect("a record is shorter than 2 GiB");
    assert!(length < LAST_FRAGMENT, "a record is shorter than 2 GiB");
    LAST_FRAGMENT | length
}

/// Begins a message with space for its mark; returns its position for [`end_record`].
pub(crate) fn begin_record(bytes: &mut Vec<u8>) -> usize {
    let start = bytes.len();
    Writer::new(bytes).u32(0);
    start
}

/// Ends a message that begins at `start` in `bytes`, and that continues with a payload of
/// `payload_bytes` (including padding).
pub(crate) fn end_record(bytes: &mut [u8], start: usize, payload_bytes: usize) {
    let body = bytes.len() - start - MARK_BYTES;
    bytes[start..start + MARK_BYTES].copy_from_slice(&mark(body + payload_bytes).to_be_bytes());
}

/// Assembles records.
#[derive(Debug)]
pub struct RecordReader {
    max_bytes: usize,
    /// The received part of an incomplete record.
    buffer: Vec<u8>,
    /// The received part of a mark.
    mark: [u8; MARK_BYTES],
    mark_len: usize,
    /// Missing bytes of the current fragment.
    fragment_left: usize,
    fragment_is_last: bool,
    /// Empty fragments of the current record so far.
    empty_fragments: usize,
    /// Whether `buffer` contains a record that was returned.
    is_returned: bool,
    /// A larger buffer is freed after its record was read.
    kept_bytes: usize,
}

impl RecordReader {
    /// Default of `kept_bytes`.
    const KEPT_BYTES: usize = 2 << 20;

    /// A reader for a new stream whose records have at most `max_bytes`.
    #[must_use]
    pub fn new(max_bytes: usize) -> RecordReader {
        RecordReader {
            max_bytes,
            buffer: Vec::new(),
            mark: [0; MARK_BYTES],
            mark_len: 0,
            fragment_left: 0,
            fragment_is_last: false,
            empty_fragments: 0,
            is_returned: false,
            kept_bytes: Self::KEPT_BYTES,
        }
    }

    /// Allocates the memory for the longest record, and keeps it.
    pub fn reserve(&mut self) {
        self.buffer.reserve(self.max_bytes);
        self.kept_bytes = usize::MAX;
    }

    /// Starts a new stream; drops an incomplete record.
    pub fn reset(&mut self) {
        self.buffer.clear();
        self.mark_len = 0;
        self.fragment_left = 0;
        self.fragment_is_last = false;
        self.empty_fragments = 0;
        self.is_returned = false;
    }

    /// Takes bytes from the front of `input` until a record is complete. `None`: all bytes were
    /// taken and more are needed.
    ///
    /// # Errors
    /// The record is too long or has too many empty fragments. The stream cannot be used any more.
    pub fn next<'a, 'i: 'a>(
        &'a mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<&'a [u8]>, RecordError> {
        if self.is_returned {
            self.is_returned = false;
            self.buffer.clear();
            if self.buffer.capacity() > self.kept_bytes {
                self.buffer = Vec::new();
            }
        }
        loop {
            if self.fragment_left == 0 && !self.take_mark(input)? {
                return Ok(None);
            }
            let is_complete = self.fragment_is_last && self.fragment_left <= input.len();
            if is_complete && self.buffer.is_empty() {
                let (record, rest) = input.split_at(self.fragment_left);
                *input = rest;
                self.fragment_left = 0;
                return Ok(Some(record));
            }
            let (part, rest) = input.split_at(self.fragment_left.min(input.len()));
            *input = rest;
            self.buffer.extend_from_slice(part);
            self.fragment_left -= part.len();
            if self.fragment_left > 0 {
                return Ok(None);
            }
            if self.fragment_is_last {
                self.is_returned = true;
                return Ok(Some(&self.buffer));
            }
        }
    }

    /// The received part of an incomplete record, and how many bytes of it are missing; `None` if
    /// no record is incomplete or its length is not known yet.
    pub(crate) fn incomplete(&self) -> Option<(&[u8], usize)> {
        let is_incomplete = self.fragment_is_last && self.fragment_left > 0;
        is_incomplete.then_some((&self.buffer[..], self.fragment_left))
    }

    /// Leaves the missing bytes of an incomplete record to the caller, who takes them from the
    /// stream before calling [`RecordReader::next`] again. Returns the received part.
    pub(crate) fn detach(&mut self) -> &[u8] {
        debug_assert!(self.incomplete().is_some(), "only an incomplete record is detached");
        self.fragment_left = 0;
        self.is_returned = true;
        &self.buffer
    }

    /// The received part of the record that was detached last.
    pub(crate) fn detached(&self) -> &[u8] {
        debug_assert!(self.is_returned, "a record is detached");
        &self.buffer
    }

    /// Whether the next byte of the stream begins a record.
    pub(crate) fn is_between_records(&self) -> bool {
        self.fragment_left == 0
            && self.mark_len == 0
            && (self.is_returned || self.buffer.is_empty())
    }

    /// Reads the mark of the next fragment; returns false if it is incomplete.
    fn take_mark(&mut self, input: &mut &[u8]) -> Result<bool, RecordError> {
        let part = input.len().min(MARK_BYTES - self.mark_len);
        let (bytes, rest) = input.split_at(part);
        self.mark[self.mark_len..self.mark_len + part].copy_from_slice(bytes);
        self.mark_len += part;
        *input = rest;
        if self.mark_len < MARK_BYTES {
            return Ok(false);
        }
        self.mark_len = 0;
        let mark = u32::from_be_bytes(self.mark);
        let length_bytes = u64::from(mark & !LAST_FRAGMENT) + self.buffer.len() as u64;
        match usize::try_from(length_bytes) {
            Ok(length) if length <= self.max_bytes => {
                self.fragment_left = length - self.buffer.len();
                self.fragment_is_last = mark & LAST_FRAGMENT != 0;
                if self.fragment_is_last {
                    self.empty_fragments = 0;
                } else if self.fragment_left == 0 {
                    self.empty_fragments += 1;
                    if self.empty_fragments > EMPTY_FRAGMENTS_MAX {
                        return Err(RecordError::EmptyFragments);
                    }
                }
                Ok(true)
            }
            _ => Err(RecordError::TooLong { length_bytes, max_bytes: self.max_bytes }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `stream` in pieces of `piece` bytes.
    fn records(stream: &[u8], piece: usize, max: usize) -> Result<Vec<Vec<u8>>, RecordError> {
        let mut reader = RecordReader::new(max);
        let mut found = Vec::new();
        for mut input in stream.chunks(piece) {
            while let Some(record) = reader.next(&mut input)? {
                found.push(record.to_vec());
            }
        }
        Ok(found)
    }

    const STREAM: &[u8] = &[
        0x80, 0, 0, 2, 1, 2, // one fragment
        0, 0, 0, 1, 3, 0, 0, 0, 0, 0x80, 0, 0, 2, 4, 5, // three, one of them empty
        0x80, 0, 0, 0, // an empty record
        0, 0, 0, 1, 9, 0x80, 0, 0, 0, // an empty last fragment
        0x80, 0, 0, 1, 6,
    ];

    #[test]
    fn records_do_not_depend_on_how_the_stream_is_split() {
        let expected = [vec![1, 2], vec![3, 4, 5], vec![], vec![9], vec![6]];
        for piece in 1..=STREAM.len() {
            assert_eq!(records(STREAM, piece, 3).unwrap(), expected, "pieces of {piece}");
        }
    }

    #[test]
    fn a_complete_record_is_returned_in_place() {
        let mut reader = RecordReader::new(8);
        let mut input = &STREAM[..6];
        let record = reader.next(&mut input).unwrap().unwrap();
        assert_eq!(record.as_ptr(), STREAM[4..].as_ptr());
    }

    #[test]
    fn a_record_that_is_too_long_is_refused_by_its_announced_length() {
        let error = RecordError::TooLong { length_bytes: 3, max_bytes: 2 };
        assert_eq!(records(STREAM, 7, 2), Err(error));
    }

    /// `count` empty fragments, then one byte in the last.
    fn with_empty_fragments(count: usize) -> Vec<u8> {
        let mut stream = [0; MARK_BYTES].repeat(count);
        stream.extend_from_slice(&[0x80, 0, 0, 1, 7]);
        stream
    }

    #[test]
    fn the_number_of_empty_fragments_in_a_record_is_limited() {
        // The limit applies to each record.
        let most = with_empty_fragments(EMPTY_FRAGMENTS_MAX).repeat(3);
        let endless = with_empty_fragments(EMPTY_FRAGMENTS_MAX + 1);
        for piece in [1, 3, 4, 5, 1000] {
            assert_eq!(records(&most, piece, 8).unwrap(), [[7], [7], [7]]);
            assert_eq!(records(&endless, piece, 8), Err(RecordError::EmptyFragments));
        }
        let mut reader = RecordReader::new(8);
        assert_eq!(reader.next(&mut &[0; MARK_BYTES * EMPTY_FRAGMENTS_MAX][..]), Ok(None));
        reader.reset();
        assert_eq!(reader.next(&mut &most[..]), Ok(Some(&[7][..])));
    }

    #[test]
    fn an_announced_length_allocates_nothing_before_its_bytes_arrive() {
        let mut reader = RecordReader::new(1 << 30);
        let mut input: &[u8] = &[0xbf, 0xff, 0xff, 0xff, 1, 2, 3];
        assert_eq!(reader.next(&mut input), Ok(None));
        assert!(reader.buffer.capacity() <= 64, "{}", reader.buffer.capacity());
    }

    #[test]
    fn the_memory_of_a_huge_record_is_freed() {
        let mut reader = RecordReader::new(1 << 24);
        let length = RecordReader::KEPT_BYTES + 1;
        assert_eq!(reader.next(&mut &mark(length).to_be_bytes()[..]), Ok(None));
        assert_eq!(reader.next(&mut &vec![7; length - 1][..]), Ok(None));
        assert_eq!(reader.next(&mut &[7][..]).unwrap().unwrap().len(), length);
        assert_eq!(reader.next(&mut &[][..]), Ok(None));
        assert_eq!(reader.buffer.capacity(), 0);
    }

    #[test]
    fn reserved_memory_is_kept() {
        let length = RecordReader::KEPT_BYTES + 1;
        let mut reader = RecordReader::new(length);
        reader.reserve();
        let memory = reader.buffer.as_ptr();
        assert_eq!(reader.next(&mut &mark(length).to_be_bytes()[..]), Ok(None));
        assert_eq!(reader.next(&mut &vec![7; length - 1][..]), Ok(None));
        assert_eq!(reader.next(&mut &[7][..]).unwrap().unwrap().as_ptr(), memory);
        assert_eq!(reader.next(&mut &[][..]), Ok(None));
        assert_eq!((reader.buffer.as_ptr(), reader.buffer.capacity() >= length), (memory, true));
    }

    #[test]
    fn the_missing_bytes_of_a_detached_record_are_not_expected() {
        let mut reader = RecordReader::new(16);
        assert_eq!(reader.next(&mut &[0, 0, 0, 1, 7][..]), Ok(None));
        assert_eq!((reader.incomplete(), reader.is_between_records()), (None, false));
        assert_eq!(reader.next(&mut &[0x80, 0, 0][..]), Ok(None));
        assert_eq!((reader.incomplete(), reader.is_between_records()), (None, false));
        assert_eq!(reader.next(&mut &[5, 8, 9][..]), Ok(None));
        assert_eq!(reader.incomplete(), Some((&[7, 8, 9][..], 3)));
        assert_eq!(reader.detach(), [7, 8, 9]);
        assert_eq!((reader.incomplete(), reader.is_between_records()), (None, true));
        assert_eq!(reader.detached(), [7, 8, 9]);
        assert_eq!(reader.next(&mut &[0x80, 0, 0, 1, 7][..]), Ok(Some(&[7][..])));
        assert_eq!((reader.incomplete(), reader.is_between_records()), (None, true));
    }

    #[test]
    fn a_reset_starts_a_new_stream() {
        let mut reader = RecordReader::new(8);
        assert_eq!(reader.next(&mut &[0x80, 0, 0, 5, 1][..]), Ok(None));
        reader.reset();
        assert_eq!(reader.next(&mut &[0x80, 0, 0, 1, 7][..]), Ok(Some(&[7][..])));
    }
}
