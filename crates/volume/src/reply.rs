//! A reply that is ready to be sent: encoded bytes, and data that is held by reference.
//!
//! For: keeping the answer to a request while limits and delays hold it, without a copy of what
//! it reads. A `Reply` is meant to be used again: [`Reply::clear`] keeps its memory.

use nfs3::xdr::padding;

/// The bytes of one reply, record mark included.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    head: Vec<u8>,
    data_bytes: usize,
}

impl Reply {
    /// An empty reply.
    #[must_use]
    pub fn new() -> Reply {
        Reply::default()
    }

    /// Makes it empty again; the memory of its head stays, what it held by reference goes.
    pub fn clear(&mut self) {
        self.head.clear();
        self.data_bytes = 0;
    }

    /// Bytes to be sent.
    #[must_use]
    pub fn len(&self) -> usize {
        self.head.len() + padding(self.data_bytes).len()
    }

    /// True if there is nothing to be sent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.head.is_empty()
    }

    /// What is to be sent, in this order; no part is empty.
    pub fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let padding = padding(self.data_bytes);
        [&self.head[..], padding].into_iter().filter(|part| !part.is_empty())
    }

    /// The whole reply in one piece, for tests and the simulator.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        self.parts().for_each(|part| bytes.extend_from_slice(part));
        bytes
    }

    /// Where everything but data is encoded.
    pub(crate) fn head(&mut self) -> &mut Vec<u8> {
        &mut self.head
    }

    /// Appends data, which must be the end of the reply but for its padding.
    pub(crate) fn push_data(&mut self, data: &[u8]) {
        self.head.extend_from_slice(data);
        self.data_bytes += data.len();
    }
}
