//! Splits one direction of a connection into RPC messages of which only the first bytes are kept.
//!
//! Bytes that the capture lacks at the end of a packet are skipped by their number. After a gap, and
//! in a stream whose begin was not captured, the next message is found by the constant fields of its
//! header (RFC 5531, sections 9 and 11).

use nfs3::procedure::NFS_PROGRAM;
use nfs3::record::LAST_FRAGMENT;

/// First bytes of a message that are kept: more than the header of a WRITE, whose credential and handle
/// have at most 464 bytes.
const HEAD_MAX: usize = 1024;
/// The longest message; larger ones are not NFS.
const MESSAGE_MAX: u64 = 8 << 20;
/// Bytes of a header that is recognised.
const SIGNATURE: usize = 28;
/// The shortest message.
const MESSAGE_MIN: u32 = 24;

/// A message.
#[derive(Debug)]
pub(super) struct Message<'a> {
    /// Its first bytes without the record mark.
    pub(super) head: &'a [u8],
    /// When its first and its last byte were captured.
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
}

/// One direction of a connection.
#[derive(Debug, Default)]
pub(super) struct Messages {
    state: State,
    head: Vec<u8>,
    length: u64,
    begin_ns: u64,
    /// Whether bytes of the head are missing.
    has_hole: bool,
}

#[derive(Debug)]
enum State {
    /// The next message is unknown; has the last bytes.
    Searching(Vec<u8>),
    /// Bytes of a record mark.
    Mark(Vec<u8>),
    /// Bytes of a fragment that are still to come.
    Fragment { left: u32, is_last: bool },
}

impl Default for State {
    fn default() -> State {
        State::Searching(Vec::new())
    }
}

impl Messages {
    /// The next byte is the first of a connection.
    pub(super) fn start(&mut self) {
        self.clear();
        self.state = State::Mark(Vec::new());
    }

    /// Bytes are missing, or the last message was not one: search for the next.
    pub(super) fn lose(&mut self) {
        self.clear();
        self.state = State::Searching(Vec::new());
    }

    fn clear(&mut self) {
        self.head.clear();
        (self.length, self.has_hole) = (0, false);
    }

    /// Takes bytes; `each` gets every message that they end, and returns whether it was one.
    pub(super) fn receive(
        &mut self,
        mut bytes: &[u8],
        time_ns: u64,
        each: &mut impl FnMut(Message<'_>) -> bool,
    ) {
        while !bytes.is_empty() {
            match &mut self.state {
                State::Searching(tail) => {
                    tail.extend_from_slice(bytes);
                    let Some(at) = tail.windows(SIGNATURE).position(is_header) else {
                        let keep = tail.len().min(SIGNATURE - 1);
                        tail.drain(..tail.len() - keep);
                        return;
                    };
                    let rest = tail.split_off(at);
                    self.start();
                    return self.receive(&rest, time_ns, each);
                }
                State::Mark(mark) => {
                    if mark.is_empty() && self.length == 0 {
                        self.begin_ns = time_ns;
                    }
                    let (part, rest) = bytes.split_at(bytes.len().min(4 - mark.len()));
                    mark.extend_from_slice(part);
                    bytes = rest;
                    if let Some(mark) = mark.first_chunk::<4>() {
                        let mark = u32::from_be_bytes(*mark);
                        self.begin_fragment(mark, time_ns, each);
                    }
                }
                State::Fragment { left, .. } => {
                    let (part, rest) = bytes.split_at(bytes.len().min(*left as usize));
                    let room = HEAD_MAX.saturating_sub(self.head.len());
                    if !self.has_hole {
                        self.head.extend_from_slice(&part[..part.len().min(room)]);
                    }
                    *left -= part.len() as u32;
                    bytes = rest;
                    self.end_fragment(time_ns, each);
                }
            }
        }
    }

    /// Passes over bytes that were not captured.
    pub(super) fn skip(
        &mut self,
        mut count: usize,
        time_ns: u64,
        each: &mut impl FnMut(Message<'_>) -> bool,
    ) {
        while count > 0 {
            match &mut self.state {
                State::Searching(_) => return,
                // The mark is missing.
                State::Mark(_) => return self.lose(),
                State::Fragment { left, .. } => {
                    let part = count.min(*left as usize);
                    *left -= part as u32;
                    count -= part;
                    self.has_hole |= part > 0;
                    self.end_fragment(time_ns, each);
                }
            }
        }
    }

    fn begin_fragment(
        &mut self,
        mark: u32,
        time_ns: u64,
        each: &mut impl FnMut(Message<'_>) -> bool,
    ) {
        let (left, is_last) = (mark & !LAST_FRAGMENT, mark & LAST_FRAGMENT != 0);
        self.length += u64::from(left);
        if self.length > MESSAGE_MAX || (is_last && self.length < u64::from(MESSAGE_MIN)) {
            return self.lose();
        }
        self.state = State::Fragment { left, is_last };
        self.end_fragment(time_ns, each);
    }

    fn end_fragment(&mut self, time_ns: u64, each: &mut impl FnMut(Message<'_>) -> bool) {
        let State::Fragment { left: 0, is_last } = self.state else { return };
        self.state = State::Mark(Vec::new());
        if !is_last {
            return;
        }
        let message = Message { head: &self.head, begin_ns: self.begin_ns, end_ns: time_ns };
        let is_message = each(message);
        self.clear();
        if !is_message {
            self.lose();
        }
    }
}

/// Whether a record mark and the header of a call of NFS follow, or of a reply that was performed.
fn is_header(bytes: &[u8]) -> bool {
    let word = |at: usize| {
        let bytes = bytes.get(at * 4..).and_then(|rest| rest.first_chunk::<4>());
        bytes.map_or(u32::MAX, |bytes| u32::from_be_bytes(*bytes))
    };
    let mark = word(0);
    let length = mark & !LAST_FRAGMENT;
    let is_mark = mark & LAST_FRAGMENT != 0 && (MESSAGE_MIN..=MESSAGE_MAX as u32).contains(&length);
    let is_call = [word(2), word(3), word(4)] == [0, 2, NFS_PROGRAM];
    let is_reply = [word(2), word(3), word(4), word(5), word(6)] == [1, 0, 0, 0, 0];
    is_mark && (is_call || is_reply)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of a call of NFS with this many bytes.
    fn call(length: usize) -> Vec<u8> {
        let mark = LAST_FRAGMENT | length as u32;
        let words = [mark, 7, 0, 2, NFS_PROGRAM, 3, 6];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        bytes.resize(4 + length, 0xee);
        bytes
    }

    fn heads(messages: &mut Messages, bytes: &[u8]) -> Vec<usize> {
        let mut heads = Vec::new();
        messages.receive(bytes, 5, &mut |message| {
            heads.push(message.head.len());
            true
        });
        heads
    }

    #[test]
    fn only_the_first_bytes_of_a_message_are_kept() {
        let mut messages = Messages::default();
        messages.start();
        let bytes = [call(100), call(5000), call(48)].concat();
        let mut found = Vec::new();
        for part in bytes.chunks(7) {
            found.extend(heads(&mut messages, part));
        }
        assert_eq!(found, [100, HEAD_MAX, 48]);
    }

    #[test]
    fn a_stream_without_its_begin_is_read_from_the_next_message() {
        let mut messages = Messages::default();
        let bytes = [vec![0x80; 101], call(60), call(64)].concat();
        let mut found = Vec::new();
        for part in bytes.chunks(13) {
            found.extend(heads(&mut messages, part));
        }
        assert_eq!(found, [60, 64]);
    }

    #[test]
    fn bytes_that_were_not_captured_are_passed_over() {
        let mut messages = Messages::default();
        messages.start();
        let long = call(5000);
        let mut found = heads(&mut messages, &long[..104]);
        messages.skip(4900, 6, &mut |message| {
            found.push(message.head.len());
            true
        });
        found.extend(heads(&mut messages, &call(32)));
        assert_eq!(found, [100, 32]);
    }

    #[test]
    fn a_message_in_fragments_is_one() {
        let whole = call(60);
        let mut bytes = vec![0, 0, 0, 20];
        bytes.extend(&whole[4..24]);
        bytes.extend((LAST_FRAGMENT | 40).to_be_bytes());
        bytes.extend(&whole[24..]);
        let mut messages = Messages::default();
        messages.start();
        assert_eq!(heads(&mut messages, &bytes), [60]);
    }
}
