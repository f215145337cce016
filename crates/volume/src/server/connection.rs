//! The connections of the server: unprocessed input, and bytes to be sent.

use std::net::SocketAddr;

use files::{Piece, WriteBuffer};
use nfs3::server::{Programs, ServerOptions};

use super::expected::ExpectedWrites;
use crate::chunks::Chunks;
use crate::ids::{ConnectionId, RequestId};
use crate::outgoing::Outgoing;
use crate::peer::Peer;
use crate::reply::Reply;

/// Most bytes of a call: the largest WRITE, and a head with the longest credential, handle and names
/// that the protocol allows.
const CALL_BYTES: usize = super::volumes::TRANSFER_BYTES as usize + 4096;

/// While a peer has more than this to be sent, none of its requests is performed: a slow reader
/// delays only itself. Most of it is data by reference, which needs no memory.
const OUTGOING_BYTES: usize = 8 << 20;

/// The same for bytes that replies own, such as names of a directory.
const OWN_BYTES: usize = 1 << 20;

/// The same for the owned bytes of deferred replies: 128 listings of 64 KiB.
const DEFERRED_OWN_BYTES: usize = 8 << 20;

/// An empty buffer of kept input keeps at most this much memory.
const KEPT_BYTES: usize = 4 << 10;

/// A connection. An idle one allocates nothing else.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) id: ConnectionId,
    pub(super) remote: SocketAddr,
    pub(super) peer: Peer,
    pub(super) rpc: nfs3::server::Server,
    pub(super) outgoing: Outgoing<Piece>,
    /// Its requests with deferred replies.
    pub(super) deferred: Vec<RequestId>,
    /// Bytes of those replies that are not data by reference.
    pub(super) deferred_own_bytes: usize,
    /// The data of a WRITE that is received into chunks, instead of by `rpc`; usually empty.
    pub(super) incoming: WriteBuffer,
    /// The last request was a WRITE that is worth receiving into chunks.
    pub(super) is_writing: bool,
    /// The WRITEs that are expected to follow.
    pub(super) expected: ExpectedWrites,
    kept: Vec<u8>,
    /// The offset in `kept` of the first unprocessed byte.
    kept_start: usize,
    /// It is in the server's list of changed connections.
    pub(super) is_ready: bool,
    /// It is in the server's queue of connections with kept input to process.
    pub(super) is_unfinished: bool,
    pub(super) is_broken: bool,
}

impl Connection {
    pub(super) fn new(
        id: ConnectionId,
        remote: SocketAddr,
        peer: Peer,
        outstanding_max: usize,
    ) -> Connection {
        let options = ServerOptions {
            programs: Programs { nfs: true, mount: true, portmap: true },
            max_call_bytes: CALL_BYTES,
            max_in_progress: outstanding_max,
        };
        Connection {
            id,
            remote,
            peer,
            rpc: nfs3::server::Server::new(options),
            outgoing: Outgoing::default(),
            deferred: Vec::new(),
            deferred_own_bytes: 0,
            incoming: WriteBuffer::default(),
            is_writing: false,
            expected: ExpectedWrites::default(),
            kept: Vec::new(),
            kept_start: 0,
            is_ready: false,
            is_unfinished: false,
            is_broken: false,
        }
    }

    /// Whether too many bytes are to be sent, now or later.
    pub(super) fn is_full(&self) -> bool {
        self.outgoing.bytes() >= OUTGOING_BYTES
            || self.outgoing.own_bytes() >= OWN_BYTES
            || self.deferred_own_bytes >= DEFERRED_OWN_BYTES
    }

    /// Whether the next request may be performed.
    fn is_open(&self) -> bool {
        self.rpc.is_reading_allowed() && !self.is_full() && !self.is_broken
    }

    pub(super) fn wants_to_read(&self) -> bool {
        !self.has_unprocessed() && self.is_open()
    }

    /// Whether kept input can be processed.
    pub(super) fn can_resume(&self) -> bool {
        self.has_unprocessed() && self.is_open()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.rpc.in_progress() == 0 && self.outgoing.is_empty() && !self.has_unprocessed()
    }

    /// Queues a reply to be sent.
    pub(super) fn send(&mut self, reply: &mut Reply) {
        reply.send(&mut self.outgoing);
        self.rpc.finished();
    }

    pub(super) const fn has_kept(&self) -> bool {
        self.kept_start < self.kept.len()
    }

    /// Whether there is kept input, or a WRITE with all its data that was not performed yet.
    pub(super) fn has_unprocessed(&self) -> bool {
        self.has_kept() || (self.is_receiving_write() && self.incoming.missing() == 0)
    }

    /// Whether the data of a WRITE is received into chunks.
    pub(super) fn is_receiving_write(&self) -> bool {
        !self.incoming.is_empty()
    }

    /// Appends input to the kept input.
    pub(super) fn keep(&mut self, input: &[u8]) {
        if !input.is_empty() {
            self.kept.extend_from_slice(input);
        }
    }

    /// Takes the kept input, and the offset of its first unprocessed byte.
    pub(super) fn take_kept(&mut self) -> (Vec<u8>, usize) {
        (std::mem::take(&mut self.kept), std::mem::take(&mut self.kept_start))
    }

    /// Puts the kept input back; its first `done` bytes are processed.
    pub(super) fn put_back(&mut self, mut kept: Vec<u8>, done: usize) {
        if done == kept.len() {
            kept.clear();
            kept.shrink_to(KEPT_BYTES);
            (self.kept, self.kept_start) = (kept, 0);
        } else {
            (self.kept, self.kept_start) = (kept, done);
        }
    }
}

/// All open connections.
#[derive(Debug, Default)]
pub(super) struct Connections {
    /// connections[id.index()].
    connections: Chunks<Option<Connection>>,
    open: usize,
}

impl Connections {
    pub(super) const fn len(&self) -> usize {
        self.open
    }

    pub(super) fn get(&self, id: ConnectionId) -> Option<&Connection> {
        self.connections.get(id.index())?.as_ref().filter(|connection| connection.id == id)
    }

    pub(super) fn get_mut(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        self.connections.get_mut(id.index())?.as_mut().filter(|connection| connection.id == id)
    }

    pub(super) fn insert(&mut self, connection: Connection) {
        let index = connection.id.index();
        while self.connections.len() <= index {
            self.connections.push(None);
        }
        self.connections.get_mut(index).expect("it was just added").replace(connection);
        self.open += 1;
    }

    pub(super) fn remove(&mut self, id: ConnectionId) -> Option<Connection> {
        let slot = self.connections.get_mut(id.index())?;
        let connection = slot.take_if(|connection| connection.id == id)?;
        self.open -= 1;
        Some(connection)
    }

    pub(super) fn ids(&self) -> Vec<ConnectionId> {
        self.connections.iter().flatten().map(|connection| connection.id).collect()
    }
}
