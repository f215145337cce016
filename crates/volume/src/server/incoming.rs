//! Data of large WRITEs, received directly into chunks that become the file's.
//!
//! For: saving the copy from the receive buffer to the file. Large WRITEs gain more than those of
//! 64 KiB, because the kernel then copies to memory that is not in the cache.
//!
//! Once the head of a WRITE that covers whole chunks of a file has been received, the owner of the
//! socket receives the rest of its data into [`Server::receive_slices`]. The WRITE is performed, with
//! all checks, when its data is complete. Until then neither the file nor any limit knows of it, as if
//! its bytes were still in the network; a connection that closes returns the chunks. Not for: volumes
//! on disk, where data is copied to the disk anyway.

use std::io::IoSliceMut;

use files::{ChunkPool, Time, WriteBuffer, slices_max};
use nfs3::request::{Arguments, NfsArguments};
use nfs3::server::Request;

use super::Server;
use super::connection::Connection;
use super::expected::{ExpectedMemory, SLICES_MAX};
use super::volumes::TRANSFER_BYTES;
use crate::ids::ConnectionId;
use crate::procedures::Performed;

/// Data of which less than this is missing is received with the call; copying it takes less than 2 us.
const MISSING_BYTES_MIN: usize = 16 << 10;

/// Most connections whose WRITEs are received into chunks at the same time. Each has at most one
/// chunk more than it has received, 16 MiB together, whatever peers announce and never send. The
/// WRITEs of other connections are copied.
const CONNECTIONS_MAX: usize = 256;

/// How many bytes are read after the data of a WRITE, or where a WRITE is expected: the next head,
/// and little of its data. Small calls between WRITEs usually fit too.
const HEAD_BYTES: usize = 1024;

/// Most slices of [`Server::receive_slices`].
pub const RECEIVE_SLICES: usize = slices_max(TRANSFER_BYTES as usize) + SLICES_MAX;

/// State of all connections.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    pool: ChunkPool,
    expected: ExpectedMemory,
    /// Connections that receive a WRITE into chunks.
    connections: usize,
}

impl Incoming {
    /// Frees the chunks of a connection's WRITE, if it receives one.
    pub(super) fn end(&mut self, connection: &mut Connection) {
        if connection.is_receiving_write() {
            connection.incoming.clear(&mut self.pool);
            self.connections -= 1;
        }
    }
}

/// Whether receiving such a request into chunks would have saved a copy.
pub(super) fn is_worthwhile(request: &Request<'_>) -> bool {
    match &request.arguments {
        Arguments::Nfs(NfsArguments::WRITE(args)) => {
            WriteBuffer::is_worthwhile(args.offset, args.data.0.len() as u64)
        }
        _ => false,
    }
}

impl Server {
    /// How many bytes to read next from the connection, after those for [`Server::receive_slices`];
    /// `None` is any number.
    pub fn receive_bytes(&self, id: ConnectionId) -> Option<usize> {
        let connection = self.connections.get(id)?;
        let expects_write = connection.is_writing && connection.rpc.is_between_calls();
        let is_short = connection.is_receiving_write() || (expects_write && !self.is_on_disk);
        is_short.then_some(HEAD_BYTES)
    }

    /// Fills `slices` from the front with the memory for the next bytes of the connection, and
    /// returns how many slices it filled: none, unless the data of a WRITE is received into chunks
    /// or expected. [`Server::received_into_slices`] must follow.
    pub fn receive_slices<'a>(
        &'a mut self,
        id: ConnectionId,
        slices: &mut [IoSliceMut<'a>],
    ) -> usize {
        let Server { connections, incoming: Incoming { pool, expected, .. }, .. } = self;
        let Some(connection) = connections.get_mut(id) else { return 0 };
        if connection.has_unprocessed() {
            return 0;
        }
        let is_before_call = connection.is_receiving_write() || connection.rpc.is_between_calls();
        let missing = connection.incoming.missing() as usize;
        let filled = connection.incoming.unfilled(pool, slices);
        if !is_before_call {
            return filled;
        }
        filled + expected.fill(&connection.expected, missing, pool, &mut slices[filled..])
    }

    /// Processes received bytes: `count` in [`Server::receive_slices`], and then `bytes`. Input that
    /// cannot be processed now is kept.
    pub fn received_into_slices(
        &mut self,
        now_ns: u64,
        id: ConnectionId,
        count: usize,
        bytes: &[u8],
    ) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        if connection.has_unprocessed() {
            return connection.keep(bytes);
        }
        let of_write = count.min(connection.incoming.missing() as usize);
        connection.incoming.filled(of_write as u64, &mut self.incoming.pool);
        let mut requests_left = self.turn_requests(now_ns);
        if of_write > 0 {
            self.process(now_ns, id, &mut &[][..], &mut requests_left);
        }
        if self.incoming.expected.is_in_use() {
            self.process_expected(now_ns, id, count - of_write, &mut requests_left);
        }
        self.process_or_keep(now_ns, id, bytes, &mut requests_left);
        self.mark_ready(id);
    }

    /// Processes the `count` bytes that were received into the memory of expected WRITEs.
    fn process_expected(
        &mut self,
        now_ns: u64,
        id: ConnectionId,
        count: usize,
        requests_left: &mut usize,
    ) {
        let mut memory = std::mem::take(&mut self.incoming.expected);
        memory.filled(count, &mut self.incoming.pool);
        let (mut in_place, mut is_other) = (0, false);
        for (head, data) in memory.received() {
            self.process_or_keep(now_ns, id, head, requests_left);
            let Some(connection) = self.connections.get_mut(id) else { break };
            if data.missing() == data.len() {
                break;
            }
            if connection.incoming.take_received(data) {
                in_place += 1;
                self.process(now_ns, id, &mut &[][..], requests_left);
                continue;
            }
            is_other = true;
            for bytes in data.received() {
                self.process_or_keep(now_ns, id, bytes, requests_left);
            }
        }
        if let Some(connection) = self.connections.get_mut(id) {
            connection.expected.adjust(in_place, is_other);
        }
        memory.clear(&mut self.incoming.pool);
        self.incoming.expected = memory;
    }

    /// Processes bytes from the stream of a connection, or keeps them after earlier ones.
    fn process_or_keep(
        &mut self,
        now_ns: u64,
        id: ConnectionId,
        bytes: &[u8],
        requests_left: &mut usize,
    ) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        let mut input = bytes;
        if !connection.has_unprocessed() {
            self.process(now_ns, id, &mut input, requests_left);
        }
        if let Some(connection) = self.connections.get_mut(id) {
            connection.keep(input);
        }
    }

    /// Starts to receive a WRITE into chunks, if it is incomplete and that saves a copy.
    pub(super) fn begin_write(&mut self, id: ConnectionId) -> bool {
        let Server { connections, incoming, .. } = self;
        if self.is_on_disk || incoming.connections == CONNECTIONS_MAX {
            return false;
        }
        let Some(connection) = connections.get_mut(id) else { return false };
        let Some(write) = connection.rpc.incomplete_write(MISSING_BYTES_MIN) else { return false };
        let length = write.length as u64;
        let is_allowed = write.length <= TRANSFER_BYTES as usize;
        if !is_allowed || !WriteBuffer::is_worthwhile(write.offset, length) {
            return false;
        }
        connection.expected.add(&write);
        connection.incoming.begin(write.offset, length);
        connection.incoming.fill(&mut connection.rpc.detach_data(), &mut incoming.pool);
        incoming.connections += 1;
        true
    }

    /// Takes data of the WRITE from the front of `input`, and performs the WRITE if its data is complete
    /// and the connection may have another request in progress.
    pub(super) fn resume_write(
        &mut self,
        now: Time,
        id: ConnectionId,
        input: &mut &[u8],
    ) -> Option<Performed> {
        let connection = self.connections.get_mut(id)?;
        connection.incoming.fill(input, &mut self.incoming.pool);
        if connection.incoming.missing() > 0 {
            return None;
        }
        let Connection { rpc, peer, incoming: data, .. } = connection;
        let request = rpc.detached_write()?;
        let performed = self.exports.perform_write(&request, data, peer, now, &mut self.reply);
        self.incoming.end(connection);
        connection.is_writing = true;
        Some(performed)
    }
}
