//! A reply that is ready to be sent: encoded bytes, and data that is held by reference.
//!
//! For: keeping the answer to a request while limits and delays hold it, without a copy of what
//! it reads. A `Reply` is meant to be used again: [`Reply::clear`] keeps its memory.

use files::Piece;
use nfs3::xdr::padding;

use crate::outgoing::Outgoing;

/// Data up to this length is copied behind the head: one more part to send, and one more reference
/// to hold, cost more than the copy.
const COPIED_BYTES_MAX: usize = 1024;

/// Room that a new one has: all that a reply to READ has of its own.
const HEAD_BYTES: usize = 136;

/// What [`Reply::give_back`] keeps: most replies have 150 bytes, and data in one or two pieces.
const KEPT_BYTES: usize = 512;
const KEPT_PIECES: usize = 4;

/// No page is smaller.
const PAGE_BYTES: usize = 4096;

/// Of a larger reply the rest is found while its beginning is copied.
const LOOKED_PARTS_MAX: usize = 10;

/// The bytes of one reply, record mark included.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    head: Vec<u8>,
    /// Behind the head, with `data_bytes` together.
    data: Vec<Piece>,
    data_bytes: usize,
    /// Behind the data.
    padding: &'static [u8],
}

impl Reply {
    /// An empty reply.
    #[must_use]
    pub fn new() -> Reply {
        Reply {
            head: Vec::with_capacity(HEAD_BYTES),
            data: Vec::with_capacity(1),
            ..Reply::default()
        }
    }

    /// Makes it empty again; the memory of its head stays, what it held by reference goes.
    pub fn clear(&mut self) {
        self.head.clear();
        self.data.clear();
        (self.data_bytes, self.padding) = (0, &[]);
    }

    /// Makes it empty, and keeps no more memory than most replies need.
    pub(crate) fn give_back(&mut self) {
        self.clear();
        self.head.shrink_to(KEPT_BYTES);
        self.data.shrink_to(KEPT_PIECES);
    }

    /// Bytes to be sent.
    #[must_use]
    pub fn len(&self) -> usize {
        self.head.len() + self.data_bytes + self.padding.len()
    }

    /// Of them, those that are the reply's own and not data by reference.
    pub(crate) fn own_bytes(&self) -> usize {
        self.head.len()
    }

    /// Touches a part of what sending it will: who holds its data, and two pages after the other,
    /// as many as matter. Says whether there may be more.
    pub(crate) fn look(&self, part: usize) -> bool {
        if part == 0 {
            self.data.iter().for_each(|piece| drop(std::hint::black_box(piece.clone())));
        }
        // A piece may end in a page of which it has less than of the others.
        let places = |length: usize| (0..length).step_by(PAGE_BYTES).chain(length.checked_sub(1));
        let bytes = self.parts().flat_map(|piece| places(piece.len()).map(|at| piece[at]));
        let looked = bytes.skip(2 * part).take(2).map(std::hint::black_box).count();
        looked == 2 && part < LOOKED_PARTS_MAX
    }

    /// True if there is nothing to be sent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.head.is_empty()
    }

    /// What is to be sent, in this order; no part is empty.
    pub fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let data = self.data.iter().map(|piece| &**piece);
        let all = std::iter::once(&self.head[..]).chain(data).chain([self.padding]);
        all.filter(|part| !part.is_empty())
    }

    /// The whole reply in one piece.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        self.parts().for_each(|part| bytes.extend_from_slice(part));
        bytes
    }

    /// Appends it to what a connection has to send, and is empty after it.
    pub(crate) fn send(&mut self, outgoing: &mut Outgoing<Piece>) {
        outgoing.copy(&self.head);
        self.data.drain(..).for_each(|piece| outgoing.push(piece));
        outgoing.copy(self.padding);
        self.clear();
    }

    /// Where everything but data is encoded.
    pub(crate) fn head(&mut self) -> &mut Vec<u8> {
        &mut self.head
    }

    /// Sets the `bytes` of data with which the reply ends but for its padding.
    pub(crate) fn set_data(&mut self, bytes: usize, pieces: impl Iterator<Item = Piece>) {
        if bytes <= COPIED_BYTES_MAX {
            pieces.for_each(|piece| self.head.extend_from_slice(&piece));
        } else {
            self.data.extend(pieces);
            self.data_bytes = bytes;
        }
        self.padding = padding(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_long_reply_is_given_back_and_that_of_a_short_one_kept() {
        for (bytes, kept) in [(100, HEAD_BYTES), (1 << 16, KEPT_BYTES)] {
            let mut reply = Reply::new();
            reply.head().extend_from_slice(&vec![1; bytes]);
            reply.give_back();
            assert_eq!((reply.len(), reply.head.capacity()), (0, kept));
        }
    }
}
