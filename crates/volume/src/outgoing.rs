//! The send queue of a connection: heads of replies in one buffer, data by reference.
//!
//! For: sending all pending bytes by one gathering system call, without copying the data of a READ.
//! Not for: sending; the owner of the socket calls [`Outgoing::gather`] and then [`Outgoing::sent`].

use std::collections::VecDeque;
use std::io::IoSlice;

/// Memory for heads that an empty queue keeps: some 100 replies to READ.
const KEPT_BYTES: usize = 16 << 10;

/// Memory for pieces that an empty queue keeps.
const KEPT_PIECES: usize = 256;

/// Pending bytes in order; data is stored by reference.
#[derive(Debug)]
pub(crate) struct Outgoing<D> {
    /// The bytes of all pieces that are not data, in order.
    own: Vec<u8>,
    /// The offset in `own` of the first pending byte.
    own_start: usize,
    pieces: VecDeque<Piece<D>>,
    /// Pending bytes of all pieces.
    bytes: usize,
}

#[derive(Debug)]
enum Piece<D> {
    /// The number of its bytes in `own`.
    Own(usize),
    /// Data, and how many of its bytes were sent.
    Data(D, usize),
}

impl<D> Default for Outgoing<D> {
    fn default() -> Outgoing<D> {
        Outgoing { own: Vec::new(), own_start: 0, pieces: VecDeque::new(), bytes: 0 }
    }
}

impl<D: AsRef<[u8]>> Outgoing<D> {
    /// Pending bytes.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of the buffer, without data by reference.
    pub(crate) fn own_bytes(&self) -> usize {
        self.own.len()
    }

    /// Pieces with pending bytes.
    pub(crate) fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// Whether nothing is pending.
    pub(crate) const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Appends the bytes that `write` appends to the buffer; it must not change earlier ones.
    pub(crate) fn write<R>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        let before = self.own.len();
        let result = write(&mut self.own);
        let written = self.own.len() - before;
        self.bytes += written;
        match self.pieces.back_mut() {
            Some(Piece::Own(length)) => *length += written,
            _ if written > 0 => self.pieces.push_back(Piece::Own(written)),
            _ => {}
        }
        result
    }

    /// Appends a copy.
    pub(crate) fn copy(&mut self, bytes: &[u8]) {
        self.write(|own| own.extend_from_slice(bytes));
    }

    /// Appends data without copying it.
    pub(crate) fn push(&mut self, data: D) {
        let length = data.as_ref().len();
        if length > 0 {
            self.bytes += length;
            self.pieces.push_back(Piece::Data(data, 0));
        }
    }

    /// Fills `slices` from the front with pending bytes, and returns how many slices it filled.
    pub(crate) fn gather<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut own = &self.own[self.own_start..];
        let mut filled = 0;
        for (piece, slice) in self.pieces.iter().zip(slices) {
            *slice = IoSlice::new(match piece {
                Piece::Own(length) => {
                    let (bytes, rest) = own.split_at(*length);
                    own = rest;
                    bytes
                }
                Piece::Data(data, sent) => &data.as_ref()[*sent..],
            });
            filled += 1;
        }
        filled
    }

    /// The first `count` pending bytes were sent.
    ///
    /// # Panics
    /// If fewer are pending.
    pub(crate) fn sent(&mut self, count: usize) {
        assert!(count <= self.bytes, "only pending bytes can be sent");
        self.bytes -= count;
        let mut left = count;
        while left > 0 {
            let piece = self.pieces.front_mut().expect("pieces have all pending bytes");
            let (length, done) = match piece {
                Piece::Own(length) => {
                    let part = left.min(*length);
                    self.own_start += part;
                    *length -= part;
                    (part, *length == 0)
                }
                Piece::Data(data, sent) => {
                    let part = left.min(data.as_ref().len() - *sent);
                    *sent += part;
                    (part, *sent == data.as_ref().len())
                }
            };
            left -= length;
            if done {
                self.pieces.pop_front();
            }
        }
        self.free_sent();
    }

    /// Frees sent bytes of the buffer, and the memory of a long queue that became empty.
    fn free_sent(&mut self) {
        if self.bytes == 0 {
            self.own.clear();
            self.own_start = 0;
            self.own.shrink_to(KEPT_BYTES);
            self.pieces.shrink_to(KEPT_PIECES);
        } else if self.own_start > KEPT_BYTES && self.own_start > self.own.len() / 2 {
            // The bytes moved are fewer than those sent since the last move.
            self.own.drain(..self.own_start);
            self.own_start = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All pending bytes.
    fn pending(outgoing: &Outgoing<Vec<u8>>) -> Vec<u8> {
        let mut slices = [IoSlice::new(&[]); 64];
        let filled = outgoing.gather(&mut slices);
        slices[..filled].iter().flat_map(|slice| slice.to_vec()).collect()
    }

    fn sample() -> Outgoing<Vec<u8>> {
        let mut outgoing = Outgoing::default();
        outgoing.copy(b"head ");
        outgoing.copy(b"of a reply, ");
        outgoing.push(b"its data".to_vec());
        outgoing.push(Vec::new());
        outgoing.write(|own| own.extend_from_slice(b", the next head"));
        outgoing
    }

    const ALL: &[u8] = b"head of a reply, its data, the next head";

    #[test]
    fn bytes_are_sent_in_order_whatever_counts_the_socket_accepts() {
        for first in 0..=ALL.len() {
            for second in 0..=ALL.len() - first {
                let mut outgoing = sample();
                outgoing.sent(first);
                outgoing.sent(second);
                assert_eq!(pending(&outgoing), &ALL[first + second..]);
                assert_eq!(outgoing.bytes(), ALL.len() - first - second);
            }
        }
    }

    #[test]
    fn consecutive_heads_are_one_piece() {
        assert_eq!(sample().gather(&mut [IoSlice::new(&[]); 8]), 3);
    }

    #[test]
    fn gather_fills_no_more_slices_than_given() {
        let outgoing = sample();
        let mut slices = [IoSlice::new(&[]); 2];
        assert_eq!(outgoing.gather(&mut slices), 2);
        assert_eq!(&*slices[1], b"its data");
    }

    #[test]
    fn the_buffer_of_a_queue_that_is_never_empty_is_bounded() {
        let mut outgoing: Outgoing<Vec<u8>> = Outgoing::default();
        outgoing.copy(&[1; 100]);
        for _ in 0..10_000 {
            outgoing.copy(&[2; 1000]);
            outgoing.sent(1000);
        }
        assert_eq!(outgoing.bytes(), 100);
        assert!(outgoing.own_bytes() <= 3 * KEPT_BYTES, "{}", outgoing.own_bytes());
    }

    #[test]
    fn the_memory_of_a_long_queue_is_freed_when_it_is_empty() {
        let mut outgoing: Outgoing<Vec<u8>> = Outgoing::default();
        outgoing.copy(&[0; 1 << 20]);
        outgoing.sent(1 << 20);
        assert!(outgoing.own.capacity() <= KEPT_BYTES && outgoing.is_empty());
    }
}
