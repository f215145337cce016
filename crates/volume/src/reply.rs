//! An encoded reply: bytes, and data by reference.
//!
//! For: storing the reply to a request while limits and delays defer it, without a copy of the data
//! it reads. A `Reply` is reused: [`Reply::clear`] keeps its memory.

use files::Piece;
use nfs3::xdr::padding;

use crate::outgoing::Outgoing;

/// Data up to this length is copied after the head: a copy costs less than another part to send and
/// another reference.
const COPIED_BYTES_MAX: usize = 1024;

/// Initial capacity: the owned bytes of a reply to READ.
const HEAD_BYTES: usize = 136;

/// What [`Reply::recycle`] keeps: most replies have 150 bytes, and data in one or two pieces.
const KEPT_BYTES: usize = 512;
const KEPT_PIECES: usize = 4;

/// The smallest page size.
const PAGE_BYTES: usize = 4096;

/// Parts of a reply to prefetch. The rest of a larger reply is prefetched while its start is copied.
const PREFETCHED_PARTS_MAX: usize = 10;

/// The bytes of one reply, record mark included.
#[derive(Clone, Debug)]
pub struct Reply {
    head: Vec<u8>,
    /// After the head; `data_bytes` in total.
    data: Vec<Piece>,
    data_bytes: usize,
    /// After the data.
    padding: &'static [u8],
}

impl Default for Reply {
    fn default() -> Reply {
        Reply::new()
    }
}

impl Reply {
    /// An empty reply.
    #[must_use]
    pub fn new() -> Reply {
        Reply {
            head: Vec::with_capacity(HEAD_BYTES),
            data: Vec::with_capacity(1),
            data_bytes: 0,
            padding: &[],
        }
    }

    /// Empties the reply: drops the data, keeps the memory of the head.
    pub fn clear(&mut self) {
        self.head.clear();
        self.data.clear();
        (self.data_bytes, self.padding) = (0, &[]);
    }

    /// Empties the reply and keeps no more memory than most replies need.
    pub(crate) fn recycle(&mut self) {
        self.clear();
        self.head.shrink_to(KEPT_BYTES);
        self.data.shrink_to(KEPT_PIECES);
    }

    /// Bytes to be sent.
    #[must_use]
    pub fn len(&self) -> usize {
        self.head.len() + self.data_bytes + self.padding.len()
    }

    /// Bytes to be sent that are not data by reference.
    pub(crate) fn own_bytes(&self) -> usize {
        self.head.len()
    }

    /// Reads what sending part `part` will read: the reference counts of the data, and two pages.
    /// Returns whether there may be another part.
    pub(crate) fn prefetch(&self, part: usize) -> bool {
        if part == 0 {
            self.data.iter().for_each(|piece| drop(std::hint::black_box(piece.clone())));
        }
        // The last byte of a piece may be on another page.
        let offsets = |length: usize| (0..length).step_by(PAGE_BYTES).chain(length.checked_sub(1));
        let bytes = self.parts().flat_map(|piece| offsets(piece.len()).map(|at| piece[at]));
        let read = bytes.skip(2 * part).take(2).map(std::hint::black_box).count();
        read == 2 && part < PREFETCHED_PARTS_MAX
    }

    /// Whether there is nothing to send.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.head.is_empty()
    }

    /// The parts to send, in order; none is empty.
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

    /// Moves the reply to a connection's outgoing bytes and leaves it empty.
    pub(crate) fn send(&mut self, outgoing: &mut Outgoing<Piece>) {
        outgoing.copy(&self.head);
        self.data.drain(..).for_each(|piece| outgoing.push(piece));
        outgoing.copy(self.padding);
        self.clear();
    }

    /// The buffer for everything but data.
    pub(crate) fn head(&mut self) -> &mut Vec<u8> {
        &mut self.head
    }

    /// Sets the data at the end of the reply, of `bytes` in total, and its padding.
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
    fn recycling_frees_the_memory_of_a_long_reply_and_keeps_that_of_a_short_one() {
        for (bytes, kept) in [(100, HEAD_BYTES), (1 << 16, KEPT_BYTES)] {
            let mut reply = Reply::new();
            reply.head().extend_from_slice(&vec![1; bytes]);
            reply.recycle();
            assert_eq!((reply.len(), reply.head.capacity()), (0, kept));
        }
    }
}
