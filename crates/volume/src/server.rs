//! The service without sockets: received bytes in, bytes to send out.
//!
//! For: joining connections (`nfs3::server`), volumes (`exports.rs`), and limits, delays and
//! counters (`service.rs`), so that the shell with its sockets and the simulator with its virtual
//! network run the same code. Not for: waiting, reading or writing.
//!
//! A request is performed when it arrives, and its reply is deferred by limits and delays. So the
//! call need not be stored, the data of a READ is stored by reference, and the effect lies between
//! call and reply. The owner of the socket can receive the data of large WRITEs directly into the
//! memory of files (`incoming.rs`). Back-pressure: while a connection has its maximum of requests in
//! progress, or too many bytes to be sent, its input is kept and the caller should not read more.

mod connection;
mod expected;
mod incoming;
mod replies;
mod volumes;

use std::collections::VecDeque;
use std::fmt;
use std::io::IoSlice;
use std::net::SocketAddr;

use cloud::catalog::Catalog;
use files::{FileSystem, Time};
use nfs3::record::MARK_BYTES;
use nfs3::server::{Programs, Received, receive_message};
use units::Bytes;

use crate::config::Config;
use crate::counters::ServiceCounters;
use crate::exports::{Exports, VolumeIndex};
use crate::ids::{ConnectionId, EndpointId, VolumeId};
use crate::live::LiveAccount;
use crate::notice::{Log, NoticeKind, Notices};
use crate::peer::Peer;
use crate::reply::Reply;
use crate::rules::Breach;
use crate::service::Service;

use connection::{Connection, Connections};
use incoming::Incoming;
pub use incoming::RECEIVE_SLICES;
use replies::{Deferral, DeferredReply};

/// Most requests of one connection performed in a row. Small ones take some 50 us together, so a
/// connection with 10,000 requests delays the others by no more.
const TURN_REQUESTS: usize = 128;

/// The same while a reply is due soon and many are deferred: a READ then takes some 5 us, mostly
/// cache misses, and a reply may be at most 50 us late. With few deferred replies, short turns would
/// cost a volume with a delay and no limit a sixth of its IOPS.
const TURN_REQUESTS_WHEN_DUE: usize = 4;

/// From this number on, many replies are deferred.
const MANY_DEFERRED: usize = 1024;

/// A reply due within this time is due soon.
const SOON_NS: u64 = 1_000_000;

const NS_PER_S: u64 = 1_000_000_000;

/// Settings of a server that are not part of the configuration.
#[derive(Clone, Copy, Debug)]
pub struct ServerOptions {
    /// Memory limit of all volumes together.
    pub memory: Bytes,
    /// Most connections open at the same time.
    pub connections_max: usize,
    /// The time of day at `now_ns` = 0, in nanoseconds since 1970.
    pub epoch_ns: u64,
}

/// Opens the file system of the volume with this name, or creates it.
pub type OpenFiles = Box<dyn FnMut(&str, files::Options) -> Result<FileSystem, String> + Send>;

/// Creates empty volumes in memory.
pub(crate) fn open_in_memory() -> OpenFiles {
    Box::new(|_, options| Ok(FileSystem::new(options)))
}

/// Why a server cannot start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// Rules that the account breaks.
    #[error("start service: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Account(Vec<Breach>),
    /// Volumes that cannot be opened.
    #[error("open volumes: {}", .0.join("; "))]
    Volumes(Vec<String>),
}

/// The service.
pub struct Server {
    options: ServerOptions,
    open_files: OpenFiles,
    /// Requests were performed since [`Server::advance`] synced storage.
    is_dirty: bool,
    /// A volume is on disk.
    is_on_disk: bool,
    /// Volumes whose storage failed.
    failed: Vec<VolumeIndex>,
    exports: Exports,
    service: Service<DeferredReply>,
    notices: Notices,
    /// portmappers_udp[endpoint.index()]: see [`Server::set_portmapper_udp`].
    portmappers_udp: Vec<Option<u16>>,
    /// volumes[VolumeIndex].
    volumes: Vec<Option<VolumeId>>,
    connections: Connections,
    incoming: Incoming,
    deferral: Deferral,
    /// Connections that changed since [`Server::take_ready`].
    ready: Vec<ConnectionId>,
    /// Connections with kept input that can be processed now.
    unfinished: VecDeque<ConnectionId>,
    /// The reply to the request being performed.
    reply: Reply,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("options", &self.options)
            .field("connections", &self.connections.len())
            .field("deferred", &self.deferral.count)
            .finish_non_exhaustive()
    }
}

impl Server {
    /// Starts with empty volumes in memory.
    ///
    /// # Errors
    /// All rules that the account breaks.
    pub fn start(
        now_ns: u64,
        catalog: Catalog,
        config: Config,
        options: ServerOptions,
        log: Log,
    ) -> Result<Server, StartError> {
        Server::open(now_ns, catalog, config, options, open_in_memory(), log)
    }

    /// Starts with the volumes that `open_files` returns.
    ///
    /// # Errors
    /// All rules that the account breaks, or all volumes that cannot be opened.
    pub fn open(
        now_ns: u64,
        catalog: Catalog,
        config: Config,
        options: ServerOptions,
        open_files: OpenFiles,
        log: Log,
    ) -> Result<Server, StartError> {
        let service = Service::start(now_ns, catalog, config).map_err(StartError::Account)?;
        let endpoints = service.config().endpoints.len();
        let mut server = Server {
            options,
            open_files,
            is_dirty: false,
            is_on_disk: false,
            failed: Vec::new(),
            exports: Exports::new(),
            service,
            notices: Notices::new(log),
            portmappers_udp: vec![None; endpoints],
            volumes: Vec::new(),
            connections: Connections::default(),
            incoming: Incoming::default(),
            deferral: Deferral::default(),
            ready: Vec::new(),
            unfinished: VecDeque::new(),
            reply: Reply::new(),
        };
        let problems = server.apply_account(now_ns);
        if problems.is_empty() { Ok(server) } else { Err(StartError::Volumes(problems)) }
    }

    /// Replaces the configuration. Connections stay open and requests keep waiting.
    ///
    /// # Errors
    /// All rules that this would break; then nothing has changed.
    pub fn change(&mut self, now_ns: u64, new: Config) -> Result<(), Vec<Breach>> {
        for (index, export) in self.exports.iter() {
            if let Some(Some(volume)) = self.volumes.get(index.get()) {
                self.service.set_used(*volume, export.files.used());
            }
        }
        self.service.change(now_ns, new)?;
        for problem in self.apply_account(now_ns) {
            self.notices.log(&problem);
        }
        self.service.reserve_deferred(self.deferral.reserve);
        Ok(())
    }

    /// The account in force.
    pub const fn account(&self) -> &LiveAccount {
        self.service.account()
    }

    /// The configuration in force.
    pub const fn config(&self) -> &Config {
        self.service.config()
    }

    /// The service's counters.
    pub const fn counters(&self) -> &ServiceCounters {
        self.service.counters()
    }

    /// Volumes and their contents.
    pub const fn exports(&self) -> &Exports {
        &self.exports
    }

    /// Volumes and their contents, to write into a volume without a client or to restart its file
    /// system. Names and indices of volumes must not change.
    pub const fn exports_mut(&mut self) -> &mut Exports {
        &mut self.exports
    }

    /// The operator's log.
    pub const fn notices(&mut self) -> &mut Notices {
        &mut self.notices
    }

    /// Open connections.
    pub const fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Accepts a connection; `None` if too many are open, and the caller must close its socket.
    ///
    /// * `local`, `remote` — both addresses, which name the flow in the counters
    /// * `nfs_port` — the port that the portmapper returns to this client
    pub fn accept(
        &mut self,
        now_ns: u64,
        endpoint: EndpointId,
        local: SocketAddr,
        remote: SocketAddr,
        nfs_port: u16,
    ) -> Option<ConnectionId> {
        let max = self.options.connections_max;
        if self.connections.len() >= max {
            self.notices.log_limited(now_ns, NoticeKind::TooManyConnections, || {
                format!("refused a connection from {remote}: the maximum of {max} are open")
            });
            return None;
        }
        let (flow, client) = (format!("{remote}-{local}"), remote.ip().to_canonical().to_string());
        let id = self.service.connect(endpoint, &flow, &client);
        let peer = Peer::new(remote, endpoint, nfs_port)
            .with_portmapper_udp(self.portmappers_udp[endpoint.index()]);
        let outstanding_max = self.service.config().limits.outstanding_per_connection;
        self.connections.insert(Connection::new(id, remote, peer, outstanding_max as usize));
        Some(id)
    }

    /// Makes the portmapper list itself over UDP at this port for clients of the endpoint.
    pub fn set_portmapper_udp(&mut self, endpoint: EndpointId, port: u16) {
        self.portmappers_udp[endpoint.index()] = Some(port);
    }

    /// Answers a datagram to the portmapper. The answer is never a call, so two services cannot answer
    /// each other in a loop, and it is hardly longer than the call, so it does not amplify traffic.
    ///
    /// * `endpoint`, `remote`, `nfs_port` — as for [`Server::accept`]
    pub fn answer_datagram(
        &mut self,
        endpoint: EndpointId,
        remote: SocketAddr,
        nfs_port: u16,
        datagram: &[u8],
    ) -> Option<Vec<u8>> {
        const PROGRAMS: Programs = Programs { nfs: false, mount: false, portmap: true };
        let mut answer = Vec::new();
        match receive_message(datagram, PROGRAMS, &mut answer) {
            Received::Request(request) => {
                let peer = Peer::new(remote, endpoint, nfs_port)
                    .with_portmapper_udp(self.portmappers_udp[endpoint.index()]);
                let now = Time { seconds: 0, nanoseconds: 0 };
                self.exports.perform(&request, &peer, now, &mut self.reply);
                answer = self.reply.to_vec();
            }
            Received::Answered { .. } => {}
            Received::NotACall => return None,
        }
        // A datagram is one message and has no record mark.
        Some(answer.split_off(MARK_BYTES))
    }

    /// A connection closed: its deferred replies are dropped.
    pub fn closed(&mut self, now_ns: u64, id: ConnectionId) {
        let Some(mut connection) = self.connections.remove(id) else { return };
        self.incoming.end(&mut connection);
        self.drop_deferred(&connection);
        self.service.disconnect(now_ns, id);
        self.shrink_deferred();
    }

    /// Processes received bytes. Input that cannot be processed now is kept.
    pub fn received(&mut self, now_ns: u64, id: ConnectionId, bytes: &[u8]) {
        self.received_into_slices(now_ns, id, 0, bytes);
    }

    /// Releases replies due by `now_ns`, processes kept input, and syncs storage, which must happen
    /// before any reply is sent.
    pub fn advance(&mut self, now_ns: u64) {
        self.release_due_replies(now_ns);
        self.resume_unfinished(now_ns);
        if self.is_dirty {
            self.is_dirty = false;
            self.sync_volumes();
        }
    }

    fn resume_unfinished(&mut self, now_ns: u64) {
        let most = self.turn_requests(now_ns);
        let mut requests_left = most;
        for _ in 0..self.unfinished.len() {
            // If a reply is due soon, all connections share one turn; otherwise each has its own.
            if most == TURN_REQUESTS {
                requests_left = TURN_REQUESTS;
            }
            if requests_left == 0 {
                return;
            }
            // A connection that is still unfinished afterwards goes to the end of the queue.
            let Some(id) = self.unfinished.pop_front() else { return };
            let Some(connection) = self.connections.get_mut(id) else { continue };
            connection.is_unfinished = false;
            let (kept, start) = connection.take_kept();
            let mut input = &kept[start..];
            self.process(now_ns, id, &mut input, &mut requests_left);
            let done = kept.len() - input.len();
            if let Some(connection) = self.connections.get_mut(id) {
                connection.put_back(kept, done);
            }
            self.mark_ready(id);
        }
    }

    /// When to call [`Server::advance`] next: 0 is immediately, `None` while nothing waits.
    pub fn next_ns(&self) -> Option<u64> {
        if self.unfinished.is_empty() { self.service.next_ns() } else { Some(0) }
    }

    /// Appends the connections that may have bytes to send, or for which
    /// [`Server::wants_to_read`] may have changed, since the last call.
    pub fn take_ready(&mut self, out: &mut Vec<ConnectionId>) {
        for id in &self.ready {
            if let Some(connection) = self.connections.get_mut(*id) {
                connection.is_ready = false;
                out.push(*id);
            }
        }
        self.ready.clear();
    }

    /// How many slices the bytes to send fill.
    pub fn pending_pieces(&self, id: ConnectionId) -> usize {
        self.connections.get(id).map_or(0, |connection| connection.outgoing.pieces())
    }

    /// Fills `slices` from the front with bytes to send, and returns how many slices it filled.
    pub fn gather<'a>(&'a self, id: ConnectionId, slices: &mut [IoSlice<'a>]) -> usize {
        self.connections.get(id).map_or(0, |connection| connection.outgoing.gather(slices))
    }

    /// `count` bytes were sent.
    pub fn sent(&mut self, id: ConnectionId, count: usize) {
        if let Some(connection) = self.connections.get_mut(id) {
            connection.outgoing.sent(count);
            self.resume(id);
        }
    }

    /// Whether bytes should be read from the connection. Reading otherwise does no harm.
    pub fn wants_to_read(&self, id: ConnectionId) -> bool {
        self.connections.get(id).is_some_and(Connection::wants_to_read)
    }

    /// Whether the next [`Server::advance`] processes kept input of the connection.
    pub fn is_unfinished(&self, id: ConnectionId) -> bool {
        self.connections.get(id).is_some_and(|connection| connection.is_unfinished)
    }

    /// Whether no bytes remain to be sent, now or later, unless more are received.
    pub fn is_idle(&self, id: ConnectionId) -> bool {
        self.connections.get(id).is_none_or(Connection::is_idle)
    }

    /// Whether the connection must be closed: the peer broke the protocol, or storage failed.
    pub fn is_broken(&self, id: ConnectionId) -> bool {
        self.connections.get(id).is_none_or(|connection| connection.is_broken)
    }

    /// Adds a connection to the next [`Server::take_ready`], and resumes its input.
    fn mark_ready(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        if !connection.is_ready {
            connection.is_ready = true;
            self.ready.push(id);
        }
        self.resume(id);
    }

    /// Queues a connection whose kept input can be processed.
    fn resume(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        if connection.can_resume() && !connection.is_unfinished {
            connection.is_unfinished = true;
            self.unfinished.push_back(id);
        }
    }

    /// How many requests to perform in a row now. With volumes on disk, one sync covers all of them
    /// and takes longer than they do, so turns are never short.
    fn turn_requests(&self, now_ns: u64) -> usize {
        if self.is_on_disk || self.deferral.count < MANY_DEFERRED {
            return TURN_REQUESTS;
        }
        let due = self.service.next_ns().is_some_and(|at_ns| at_ns <= now_ns + SOON_NS);
        if due { TURN_REQUESTS_WHEN_DUE } else { TURN_REQUESTS }
    }

    /// Performs requests from the front of `input`, up to `requests_left` and the connection's limits.
    fn process(
        &mut self,
        now_ns: u64,
        id: ConnectionId,
        input: &mut &[u8],
        requests_left: &mut usize,
    ) {
        let now = self.time_of_day(now_ns);
        while *requests_left > 0 {
            *requests_left -= 1;
            let Some(connection) = self.connections.get_mut(id) else { return };
            if connection.is_broken || connection.is_full() {
                return;
            }
            if connection.is_receiving_write() {
                let Some(performed) = self.resume_write(now, id, input) else { return };
                self.send_or_defer(now_ns, id, &performed);
                continue;
            }
            let Connection { rpc, outgoing, peer, is_writing, .. } = connection;
            let request = match outgoing.write(|own| rpc.receive(input, own)) {
                Ok(Some(Received::Request(request))) => request,
                Ok(Some(Received::Answered { .. } | Received::NotACall)) => continue,
                Ok(None) => {
                    if self.begin_write(id) {
                        continue;
                    }
                    return;
                }
                Err(error) => {
                    let remote = connection.remote;
                    connection.is_broken = true;
                    self.notices.log_limited(now_ns, NoticeKind::ProtocolError, || {
                        format!("closed the connection from {remote}: {error}")
                    });
                    return;
                }
            };
            *is_writing = incoming::is_worthwhile(&request);
            let performed = self.exports.perform(&request, peer, now, &mut self.reply);
            self.send_or_defer(now_ns, id, &performed);
        }
    }

    fn time_of_day(&self, now_ns: u64) -> Time {
        let ns = self.options.epoch_ns + now_ns;
        Time { seconds: (ns / NS_PER_S) as u32, nanoseconds: (ns % NS_PER_S) as u32 }
    }
}
