//! Record marking: whole RPC messages out of a stream of bytes that arrives in any pieces.
//!
//! A record that arrives whole and in one fragment is handed out where it lies; others are put
//! together in one buffer that grows with the bytes received, never with the length announced.
//!
//= https://www.rfc-editor.org/rfc/rfc5531#section-11
//# The number encodes two values -- a boolean which indicates whether the fragment is the last
//# fragment of the record (bit value 1 implies the fragment is the last fragment) and a 31-bit
//# unsigned binary value which is the length in bytes of the fragment's data.

use crate::xdr::Writer;

/// The bit of the mark that says: last fragment.
pub const LAST_FRAGMENT: u32 = 1 << 31;

/// The bytes of a mark.
pub const MARK_BYTES: usize = 4;

/// Empty fragments that a record may have. RFC 5531 does not forbid them and known peers send none;
/// without a limit a record of nothing else never ends, and reading it takes a whole processor.
pub const EMPTY_FRAGMENTS_MAX: usize = 16;

/// A record that is not read: there is no way to find the next one, so the connection must be
/// closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// It is longer than allowed.
    #[error("a record of {length_bytes} bytes or more arrived, the most allowed is {max_bytes}")]
    TooLong {
        /// The length so far, with the fragment that was announced.
        length_bytes: u64,
        /// The most allowed.
        max_bytes: usize,
    },
    /// It has more than [`EMPTY_FRAGMENTS_MAX`] empty fragments.
    #[error("a record with more than {EMPTY_FRAGMENTS_MAX} empty fragments arrived")]
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

/// Begins a message: room for its mark. Returns where, for [`end_record`].
pub(crate) fn begin_record(bytes: &mut Vec<u8>) -> usize {
    let start = bytes.len();
    Writer::new(bytes).u32(0);
    start
}

/// Ends a message that began at `start`, of which `payload_bytes` (with padding) will be sent
/// after what stands in `bytes`.
pub(crate) fn end_record(bytes: &mut [u8], start: usize, payload_bytes: usize) {
    let body = bytes.len() - start - MARK_BYTES;
    bytes[start..start + MARK_BYTES].copy_from_slice(&mark(body + payload_bytes).to_be_bytes());
}

/// Puts records together.
#[derive(Debug)]
pub struct RecordReader {
    max_bytes: usize,
    /// The part of a record that is not whole yet.
    buffer: Vec<u8>,
    /// The bytes of the mark so far.
    mark: [u8; MARK_BYTES],
    mark_len: usize,
    /// What the present fragment still lacks.
    fragment_left: usize,
    fragment_is_last: bool,
    /// Empty fragments of the present record so far.
    empty_fragments: usize,
    /// Whether `buffer` holds a record that was handed out.
    handed_out: bool,
    /// A buffer beyond this is given back once the record was read.
    kept_bytes: usize,
}

impl RecordReader {
    /// Buffers of records beyond this are given back once the record was read.
    const KEPT_BYTES: usize = 2 << 20;

    /// A reader at the beginning of a stream whose records have at most `max_bytes`.
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
            handed_out: false,
            kept_bytes: Self::KEPT_BYTES,
        }
    }

    /// Takes the memory for the longest record at once and keeps it.
    pub fn reserve(&mut self) {
        self.buffer.reserve(self.max_bytes);
        self.kept_bytes = usize::MAX;
    }

    /// Forgets a record that is not whole: the stream begins anew.
    pub fn reset(&mut self) {
        self.buffer.clear();
        self.mark_len = 0;
        self.fragment_left = 0;
        self.fragment_is_last = false;
        self.empty_fragments = 0;
        self.handed_out = false;
    }

    /// Takes bytes from the front of `input` until a record is whole. `None`: all was taken and
    /// more is needed.
    ///
    /// # Errors
    /// The record is longer than allowed, or has too many empty fragments; the stream is of no use
    /// after that.
    pub fn next<'a, 'i: 'a>(
        &'a mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<&'a [u8]>, RecordError> {
        if self.handed_out {
            self.handed_out = false;
            self.buffer.clear();
            if self.buffer.capacity() > self.kept_bytes {
                self.buffer = Vec::new();
            }
        }
        loop {
            if self.fragment_left == 0 && !self.take_mark(input)? {
                return Ok(None);
            }
            let whole = self.fragment_is_last && self.fragment_left <= input.len();
            if whole && self.buffer.is_empty() {
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
                self.handed_out = true;
                return Ok(Some(&self.buffer));
            }
        }
    }

    /// Reads the mark of the next fragment; false when it is not whole.
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
    fn records_are_the_same_however_the_stream_is_cut() {
        let expected = [vec![1, 2], vec![3, 4, 5], vec![], vec![9], vec![6]];
        for piece in 1..=STREAM.len() {
            assert_eq!(records(STREAM, piece, 3).unwrap(), expected, "pieces of {piece}");
        }
    }

    #[test]
    fn a_whole_record_is_handed_out_where_it_lies() {
        let mut reader = RecordReader::new(8);
        let mut input = &STREAM[..6];
        let record = reader.next(&mut input).unwrap().unwrap();
        assert_eq!(record.as_ptr(), STREAM[4..].as_ptr());
    }

    #[test]
    fn a_record_that_is_too_long_is_refused_by_its_announcement() {
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
    fn a_record_has_a_limited_number_of_empty_fragments_however_the_stream_is_cut() {
        // The count begins anew with each record.
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
    fn an_announced_length_costs_nothing_before_its_bytes_arrive() {
        let mut reader = RecordReader::new(1 << 30);
        let mut input: &[u8] = &[0xbf, 0xff, 0xff, 0xff, 1, 2, 3];
        assert_eq!(reader.next(&mut input), Ok(None));
        assert!(reader.buffer.capacity() <= 64, "{}", reader.buffer.capacity());
    }

    #[test]
    fn the_memory_of_a_huge_record_is_given_back() {
        let mut reader = RecordReader::new(1 << 24);
        let length = RecordReader::KEPT_BYTES + 1;
        assert_eq!(reader.next(&mut &mark(length).to_be_bytes()[..]), Ok(None));
        assert_eq!(reader.next(&mut &vec![7; length - 1][..]), Ok(None));
        assert_eq!(reader.next(&mut &[7][..]).unwrap().unwrap().len(), length);
        assert_eq!(reader.next(&mut &[][..]), Ok(None));
        assert_eq!(reader.buffer.capacity(), 0);
    }

    #[test]
    fn memory_that_was_reserved_is_kept() {
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
    fn after_a_reset_the_stream_begins_anew() {
        let mut reader = RecordReader::new(8);
        assert_eq!(reader.next(&mut &[0x80, 0, 0, 5, 1][..]), Ok(None));
        reader.reset();
        assert_eq!(reader.next(&mut &[0x80, 0, 0, 1, 7][..]), Ok(Some(&[7][..])));
    }
}
