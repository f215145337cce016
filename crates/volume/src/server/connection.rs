//! One connection of the server: what arrived and was not worked on, and what waits to be sent.

use std::net::SocketAddr;

use files::Piece;
use nfs3::server::{Programs, ServerOptions};

use crate::outgoing::Outgoing;
use crate::peer::Peer;
use crate::reply::Reply;
use crate::service;
use crate::slots::Place;

/// Most bytes of a call: the largest WRITE, and its head with the longest credential, handle and
/// names that the protocol allows.
const CALL_BYTES: usize = super::volumes::TRANSFER_BYTES as usize + 4096;

/// While more than this waits to be sent to a peer, none of its requests is performed: who reads
/// slowly waits for himself. Most of it is data by reference, which costs nothing.
pub(super) const OUTGOING_BYTES: usize = 8 << 20;

/// The same for bytes that are a reply's own, such as names of a directory.
pub(super) const OWN_BYTES: usize = 1 << 20;

/// The same for the own bytes of replies that limits or delays hold: what 128 listings of 64 KiB
/// have together.
const HELD_OWN_BYTES: usize = 8 << 20;

/// Input that is kept, beyond which a buffer that was worked off is given back.
const KEPT_BYTES: usize = 4 << 10;

/// A connection. One that is idle has no memory but this.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) key: service::Connection,
    pub(super) remote: SocketAddr,
    pub(super) peer: Peer,
    pub(super) rpc: nfs3::server::Server,
    pub(super) outgoing: Outgoing<Piece>,
    /// Places of its replies that are held.
    pub(super) held: Vec<Place>,
    /// Bytes of theirs that are not data by reference.
    pub(super) held_own_bytes: usize,
    kept: Vec<u8>,
    /// Where in `kept` the first byte stands that was not worked on.
    kept_start: usize,
    /// It stands in the server's list of those that something changed for.
    pub(super) is_ready: bool,
    /// It stands in the server's list of those that can go on.
    pub(super) is_unfinished: bool,
    pub(super) is_broken: bool,
}

impl Connection {
    pub(super) fn new(
        key: service::Connection,
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
            key,
            remote,
            peer,
            rpc: nfs3::server::Server::new(options),
            outgoing: Outgoing::default(),
            held: Vec::new(),
            held_own_bytes: 0,
            kept: Vec::new(),
            kept_start: 0,
            is_ready: false,
            is_unfinished: false,
            is_broken: false,
        }
    }

    /// Whether too much waits to be sent, now or later.
    pub(super) fn is_full(&self) -> bool {
        self.outgoing.bytes() >= OUTGOING_BYTES
            || self.outgoing.own_bytes() >= OWN_BYTES
            || self.held_own_bytes >= HELD_OWN_BYTES
    }

    /// Whether a request could be performed if it were there.
    fn is_open(&self) -> bool {
        self.rpc.is_reading_allowed() && !self.is_full() && !self.is_broken
    }

    pub(super) fn wants_to_read(&self) -> bool {
        !self.has_kept() && self.is_open()
    }

    /// Whether there is input to work on, and nothing else to wait for.
    pub(super) fn can_go_on(&self) -> bool {
        self.has_kept() && self.is_open()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.rpc.in_progress() == 0 && self.outgoing.is_empty() && !self.has_kept()
    }

    /// A request's reply goes.
    pub(super) fn send(&mut self, reply: &mut Reply) {
        reply.send(&mut self.outgoing);
        self.rpc.finished();
    }

    pub(super) const fn has_kept(&self) -> bool {
        self.kept_start < self.kept.len()
    }

    /// Keeps input for later, behind what is kept.
    pub(super) fn keep(&mut self, input: &[u8]) {
        if !input.is_empty() {
            self.kept.extend_from_slice(input);
        }
    }

    /// Gives away what is kept, and where in it the rest begins.
    pub(super) fn take_kept(&mut self) -> (Vec<u8>, usize) {
        (std::mem::take(&mut self.kept), std::mem::take(&mut self.kept_start))
    }

    /// Takes it back; the first `done` bytes were worked on.
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
