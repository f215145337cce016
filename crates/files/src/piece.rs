//! The bytes that a READ returns: pieces of a file's chunks, shared instead of copied.
//!
//! A piece holds a reference to its chunk until the reply is sent, and always contains the bytes at
//! the time of the READ: a write copies a chunk first if a piece refers to it, and otherwise
//! changes it in place.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::sparse::{CHUNK_BYTES, Sparse, ZEROS};

/// Bytes of a file at the time of a READ. A clone shares them.
#[derive(Clone)]
pub struct Piece {
    /// `None`: a hole, which reads as zeros.
    chunk: Option<Arc<[u8]>>,
    from: u32,
    to: u32,
}

impl Piece {
    /// A hole of at most one chunk.
    fn zeros(length: usize) -> Piece {
        debug_assert!(length <= ZEROS.len());
        Piece { chunk: None, from: 0, to: length as u32 }
    }
}

impl Deref for Piece {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let all = self.chunk.as_deref().unwrap_or(&ZEROS);
        &all[self.from as usize..self.to as usize]
    }
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Borrow<[u8]> for Piece {
    fn borrow(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.chunk.is_some() { "bytes" } else { "zeros" };
        write!(f, "Piece({} {kind})", self.len())
    }
}

/// Consecutive pieces that form the requested range, for a gathering send. They are created one at
/// a time; no list of them is allocated.
#[derive(Clone, Debug)]
pub struct Pieces<'a>(Source<'a>);

#[derive(Clone, Debug)]
enum Source<'a> {
    Chunks {
        sparse: &'a Sparse,
        at: u64,
        end: u64,
    },
    /// Bytes that were read from a storage.
    One(Option<Piece>),
}

impl<'a> Pieces<'a> {
    /// The bytes of a range; holes are pieces of zeros.
    pub(crate) fn of(sparse: &'a Sparse, offset: u64, length: u64) -> Pieces<'a> {
        Pieces(Source::Chunks { sparse, at: offset, end: offset + length })
    }

    /// One piece with the first `count` of these bytes.
    pub(crate) fn owned(bytes: Arc<[u8]>, count: u64) -> Pieces<'a> {
        debug_assert!(count <= bytes.len() as u64);
        let to = count as u32;
        Pieces(Source::One(Some(Piece { chunk: Some(bytes), from: 0, to })))
    }
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let (sparse, at, end) = match &mut self.0 {
            Source::Chunks { sparse, at, end } => (sparse, at, *end),
            Source::One(piece) => return piece.take(),
        };
        if *at >= end {
            return None;
        }
        let from = (*at % CHUNK_BYTES) as usize;
        let length = (end - *at).min(CHUNK_BYTES - from as u64) as usize;
        let piece = match sparse.chunk(*at / CHUNK_BYTES) {
            Some(bytes) if bytes.len() > from => Piece {
                chunk: Some(Arc::clone(bytes)),
                from: from as u32,
                to: (from + length).min(bytes.len()) as u32,
            },
            _ => Piece::zeros(length),
        };
        *at += piece.len() as u64;
        Some(piece)
    }
}
