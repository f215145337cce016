//! The NFS client without sockets and clock: the core of [`super::files::NfsFiles`], for a
//! simulator with its own network.
//!
//! The owner sets the time, sends what [`SansIoClient::gather`] returns, passes received bytes to
//! [`SansIoClient::received`], performs the actions of [`SansIoClient::advance`], and takes
//! completed operations with [`SansIoClient::take_done`]. Connections are numbered from 0; all are
//! connected at the beginning.

use std::io::IoSlice;

use rustix::io::Errno;
use workload::connection::{ConnectionCounters, Endpoint};
use workload::op::Op;

use super::core::Core;
pub use super::core::SocketAction;
use super::files::{NfsAccess, core};
use super::flow::Link;
use crate::{Completion, TargetError};

/// The client; see the module.
pub struct SansIoClient {
    core: Core,
    /// Connections to send on; kept to reuse its memory.
    turn: Vec<u32>,
}

impl std::fmt::Debug for SansIoClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SansIoClient({} connections)", self.core.flows.len())
    }
}

impl SansIoClient {
    /// A client for `queue_depth` operations with all connections of `access` connected.
    ///
    /// * `first_generation`: the start of a connection's xids; should differ between the clients of
    ///   a server
    ///
    /// # Errors
    /// Memory cannot be allocated.
    pub fn new(
        access: &NfsAccess,
        queue_depth: u32,
        first_generation: impl FnMut() -> u32,
    ) -> Result<SansIoClient, TargetError> {
        Ok(SansIoClient {
            core: core(access, queue_depth, first_generation, None)?,
            turn: Vec::new(),
        })
    }

    /// The number of connections.
    pub fn connection_count(&self) -> usize {
        self.core.flows.len()
    }

    /// Sets the time in nanoseconds since any fixed instant; it must not decrease.
    pub fn set_time(&mut self, now_ns: u64) {
        self.core.set_time(now_ns);
    }

    /// When [`SansIoClient::advance`] must be called, at the latest.
    pub fn next_ns(&self) -> u64 {
        self.core.next_ns()
    }

    /// Accepts an operation; `tag` is below the queue depth and not in use.
    pub fn submit(&mut self, tag: u32, op: &Op) {
        self.core.submit(tag, op);
    }

    /// The buffer of operation `tag`.
    pub fn buffer(&mut self, tag: u32) -> &mut [u8] {
        self.core.buffers.slot(tag as usize)
    }

    /// The connections with newly queued calls since the last call of this function.
    pub fn take_unsent(&mut self) -> &[u32] {
        self.turn.clear();
        std::mem::swap(&mut self.turn, &mut self.core.unsent);
        for connection in &self.turn {
            self.core.flows[*connection as usize].is_listed = false;
        }
        &self.turn
    }

    /// Fills `pieces` with what the connection is to send next, and returns how many it filled:
    /// none while it is not connected.
    pub fn gather<'a>(&'a self, connection: usize, pieces: &mut [IoSlice<'a>]) -> usize {
        let flow = &self.core.flows[connection];
        if flow.link != Link::Up {
            return 0;
        }
        flow.gather(&self.core.calls, &self.core.buffers, pieces)
    }

    /// Notes that this many of the gathered bytes were sent.
    pub fn sent(&mut self, connection: usize, bytes: usize) {
        self.core.flows[connection].sent(&self.core.calls, bytes, self.core.now_ns);
    }

    /// Processes received bytes. Returns false if the stream is unusable and the connection must be
    /// closed.
    #[must_use]
    pub fn received(&mut self, connection: usize, bytes: &[u8]) -> bool {
        self.core.received(connection, bytes)
    }

    /// Notes that the connection was lost, or could not be opened.
    pub fn lost(&mut self, connection: usize) {
        self.core.lost(connection, Errno::CONNRESET);
    }

    /// Notes that the connection was opened in place of a lost one.
    pub fn connected(&mut self, connection: usize) {
        self.core.connected(connection);
    }

    /// Does what is due, and returns one action at a time for the owner.
    pub fn advance(&mut self) -> Option<SocketAction> {
        self.core.advance()
    }

    /// Appends the completed operations to `done`.
    pub fn take_done(&mut self, done: &mut Vec<Completion>) {
        done.append(&mut self.core.done);
    }

    /// Stores the addresses of a connection in its counters.
    pub fn set_endpoints(&mut self, connection: usize, local: Endpoint, remote: Endpoint) {
        let counters = &mut self.core.counters[connection];
        (counters.local, counters.remote) = (local, remote);
    }

    /// The current counters of each connection.
    pub fn connections(&mut self) -> &[ConnectionCounters] {
        let now_ns = self.core.now_ns;
        self.core.update_counters(now_ns);
        &self.core.counters
    }
}
