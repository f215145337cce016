//! The client of an export without sockets and without a clock: the very core of
//! [`super::files::NfsFiles`], for a simulator that has a network of its own.
//!
//! The owner says what time it is, sends what [`Unwired::gather`] gives, feeds what arrives to
//! [`Unwired::received`], makes and closes the connections that [`Unwired::advance`] asks for, and
//! takes the ends of operations with [`Unwired::take_done`]. Connections are named by their place
//! among those of the client, from 0; all are there at the beginning.

use std::io::IoSlice;

use rustix::io::Errno;
use workload::connection::{ConnectionCounters, Endpoint};
use workload::op::Op;

use super::core::{Core, Wanted};
use super::files::{NfsAccess, core};
use super::flow::Link;
use crate::{Completion, TargetError};

/// What the owner of the connections is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Make the connection in this place; then tell [`Unwired::connected`], or [`Unwired::lost`]
    /// where it cannot be made.
    Connect(usize),
    /// Close it, or give up making it, for it is silent too long; then tell [`Unwired::lost`].
    Close(usize),
}

/// See the module.
pub struct Unwired {
    core: Core,
    /// Places of connections with something to send, while they are gone through.
    turn: Vec<u32>,
}

impl std::fmt::Debug for Unwired {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Unwired({} connections)", self.core.flows.len())
    }
}

impl Unwired {
    /// A client for `queue_depth` operations, with all connections of `access` there.
    ///
    /// * `first_generation` — of a connection: where its xids begin; clients of one server should
    ///   differ in it
    ///
    /// # Errors
    /// There is no memory.
    pub fn new(
        access: &NfsAccess,
        queue_depth: u32,
        first_generation: impl FnMut() -> u32,
    ) -> Result<Unwired, TargetError> {
        Ok(Unwired { core: core(access, queue_depth, first_generation)?, turn: Vec::new() })
    }

    /// How many connections there are.
    pub fn places(&self) -> usize {
        self.core.flows.len()
    }

    /// Says what time it is, in nanoseconds from any instant; it never goes back.
    pub fn at(&mut self, now_ns: u64) {
        self.core.at(now_ns);
    }

    /// When [`Unwired::advance`] has something to do, at the latest.
    pub fn next_ns(&self) -> u64 {
        self.core.next_ns()
    }

    /// Takes an operation; `tag` is below the queue depth and not in use.
    pub fn submit(&mut self, tag: u32, op: &Op) {
        self.core.submit(tag, op);
    }

    /// The memory of operation `tag`.
    pub fn buffer(&mut self, tag: u32) -> &mut [u8] {
        self.core.buffers.slot(tag as usize)
    }

    /// The places of connections for which something is new to be sent since this was last asked.
    pub fn take_unsent(&mut self) -> &[u32] {
        self.turn.clear();
        std::mem::swap(&mut self.turn, &mut self.core.unsent);
        for place in &self.turn {
            self.core.flows[*place as usize].is_listed = false;
        }
        &self.turn
    }

    /// Fills `pieces` with what the connection is to send next, and says how many it filled; none
    /// while it is not there.
    pub fn gather<'a>(&'a self, place: usize, pieces: &mut [IoSlice<'a>]) -> usize {
        let flow = &self.core.flows[place];
        if flow.link != Link::Up {
            return 0;
        }
        flow.gather(&self.core.calls, &self.core.buffers, pieces)
    }

    /// So many bytes of what was gathered were sent.
    pub fn sent(&mut self, place: usize, bytes: usize) {
        self.core.flows[place].sent(&self.core.calls, bytes, self.core.now_ns);
    }

    /// Bytes arrived. False: the stream is of no use, and the connection must be closed.
    #[must_use]
    pub fn received(&mut self, place: usize, bytes: &[u8]) -> bool {
        self.core.received(place, bytes)
    }

    /// The connection is gone, or was not made.
    pub fn lost(&mut self, place: usize) {
        self.core.lost(place, Errno::CONNRESET);
    }

    /// The connection was made in place of a lost one.
    pub fn connected(&mut self, place: usize) {
        self.core.connected(place);
    }

    /// Does what is due, and gives one thing at a time that the owner is to do.
    pub fn advance(&mut self) -> Option<Wish> {
        self.core.advance().map(|wanted| match wanted {
            Wanted::Connect(place) => Wish::Connect(place as usize),
            Wanted::Close(place) => Wish::Close(place as usize),
        })
    }

    /// Appends the operations that have ended.
    pub fn take_done(&mut self, done: &mut Vec<Completion>) {
        done.append(&mut self.core.done);
    }

    /// Says which ends a connection has, for its counters.
    pub fn name_ends(&mut self, place: usize, local: Endpoint, remote: Endpoint) {
        let counters = &mut self.core.counters[place];
        (counters.local, counters.remote) = (local, remote);
    }

    /// What each connection has done up to now.
    pub fn connections(&mut self) -> &[ConnectionCounters] {
        let now_ns = self.core.now_ns;
        self.core.bring_counters_to(now_ns);
        &self.core.counters
    }
}
