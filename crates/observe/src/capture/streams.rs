//! Puts the segments of every connection in order.

use std::collections::BTreeMap;

use super::frame::{End, Segment};
use super::messages::{Message, Messages};
use crate::error::Position;

/// Directions of connections that are kept.
const STREAMS_MAX: usize = 8192;
/// Bytes of a direction that wait for an earlier segment. Beyond, the segment is not in the capture.
const WAITING_MAX: usize = 1 << 20;

/// A message with its connection.
pub(super) struct Received<'a> {
    pub(super) from: End,
    pub(super) to: End,
    pub(super) at: Position,
    pub(super) message: Message<'a>,
}

/// Every direction of every connection.
#[derive(Debug, Default)]
pub(super) struct Streams {
    streams: BTreeMap<(End, End), Stream>,
    /// Segments that the capture lacks.
    pub(super) gaps: u64,
}

#[derive(Debug, Default)]
struct Stream {
    /// The sequence number of the next byte; `None` before the first segment.
    next: Option<u32>,
    /// The same as a number that does not wrap.
    position: u64,
    /// Segments after a missing one, by their position.
    waiting: BTreeMap<u64, Part>,
    waiting_bytes: usize,
    messages: Messages,
}

#[derive(Debug)]
struct Part {
    data: Vec<u8>,
    missing: usize,
    time_ns: u64,
    at: Position,
}

impl Streams {
    /// Takes a segment; `each` gets the messages that it ends, and returns whether each was one.
    pub(super) fn receive(
        &mut self,
        segment: &Segment<'_>,
        at: Position,
        each: &mut impl FnMut(Received<'_>) -> bool,
    ) {
        let key = (segment.from, segment.to);
        if !self.streams.contains_key(&key) && self.streams.len() >= STREAMS_MAX {
            return;
        }
        let stream = self.streams.entry(key).or_default();
        if segment.is_syn {
            *stream = Stream { next: Some(segment.sequence.wrapping_add(1)), ..Stream::default() };
            stream.messages.start();
            return;
        }
        if segment.data.is_empty() && segment.missing == 0 {
            return;
        }
        let next = *stream.next.get_or_insert(segment.sequence);
        // Sequence numbers are compared modulo 2^32.
        let ahead = i64::from(segment.sequence.wrapping_sub(next) as i32);
        let part = |data: &[u8], missing| Part {
            data: data.to_vec(),
            missing,
            time_ns: segment.time_ns,
            at,
        };
        if ahead > 0 {
            let position = stream.position + ahead as u64;
            stream.waiting_bytes += segment.data.len();
            stream.waiting.entry(position).or_insert_with(|| part(segment.data, segment.missing));
            if stream.waiting_bytes > WAITING_MAX {
                self.gaps += 1;
                stream.pass_gap(key, each);
            }
            return;
        }
        let (data, missing) = rest(segment.data, segment.missing, ahead.unsigned_abs());
        stream.take(key, data, missing, segment.time_ns, at, each);
        stream.take_waiting(key, each);
    }

    /// Reads what waits for segments that never came.
    pub(super) fn finish(&mut self, each: &mut impl FnMut(Received<'_>) -> bool) {
        for (key, stream) in &mut self.streams {
            while !stream.waiting.is_empty() {
                self.gaps += 1;
                stream.pass_gap(*key, each);
            }
        }
    }
}

/// What follows the first `seen` bytes of a segment: a retransmission may have new bytes at its end.
fn rest(data: &[u8], missing: usize, seen: u64) -> (&[u8], usize) {
    let seen = usize::try_from(seen).unwrap_or(usize::MAX);
    match data.get(seen..) {
        Some(rest) => (rest, missing),
        None => (&[], missing.saturating_sub(seen - data.len())),
    }
}

impl Stream {
    fn take(
        &mut self,
        (from, to): (End, End),
        data: &[u8],
        missing: usize,
        time_ns: u64,
        at: Position,
        each: &mut impl FnMut(Received<'_>) -> bool,
    ) {
        let length = data.len() + missing;
        self.position += length as u64;
        self.next = self.next.map(|next| next.wrapping_add(length as u32));
        let mut each = |message: Message<'_>| each(Received { from, to, at, message });
        self.messages.receive(data, time_ns, &mut each);
        self.messages.skip(missing, time_ns, &mut each);
    }

    /// Takes the waiting segments that are next.
    fn take_waiting(&mut self, key: (End, End), each: &mut impl FnMut(Received<'_>) -> bool) {
        while let Some(entry) = self.waiting.first_entry() {
            let position = *entry.key();
            if position > self.position {
                return;
            }
            let part = entry.remove();
            self.waiting_bytes = self.waiting_bytes.saturating_sub(part.data.len());
            let (data, missing) = rest(&part.data, part.missing, self.position - position);
            self.take(key, data, missing, part.time_ns, part.at, each);
        }
        self.waiting_bytes = 0;
    }

    /// Continues after a segment that is not in the capture.
    fn pass_gap(&mut self, key: (End, End), each: &mut impl FnMut(Received<'_>) -> bool) {
        let Some((position, _)) = self.waiting.first_key_value() else { return };
        let missing = position.saturating_sub(self.position);
        self.position = *position;
        self.next = self.next.map(|next| next.wrapping_add(missing as u32));
        self.messages.lose();
        self.take_waiting(key, each);
    }
}
