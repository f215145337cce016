//! The service as a whole, without sockets: bytes of connections in, bytes to be sent out.
//!
//! For: putting together connections (`nfs3::server`), volumes (`exports.rs`), limits, delays and
//! books (`service.rs`), so that the shell with its sockets and the simulator with its virtual
//! network run the same code. Not for: anything that waits, reads or writes.
//!
//! A request is performed when it arrives, and its reply is what waits for limits and delays. So
//! nothing of the call has to be kept, the data of a READ is held by reference, and the effect
//! lies between call and reply, as it must. While as many requests of a connection are in progress
//! as allowed, or too much waits to be sent to it, its input is kept and no more should be read:
//! that is how the service pushes back.

mod connection;
mod held;
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
use crate::exports::{Exports, Performed, Shortage, VolumeIndex};
use crate::notice::{Kind, Log, Notices};
use crate::peer::Peer;
use crate::reply::Reply;
use crate::rules::Breach;
use crate::service::{Due, EndpointKey, Service, VolumeKey};
use crate::slots::{Place, Slots};
use crate::witness::Procedure;

use connection::Connection;
use held::{Held, Holding};

/// Requests of one connection that are performed in a row. Small ones take some 50 us together, so
/// that a connection that sends 10,000 at once holds up the others no longer than that.
const TURN_REQUESTS: usize = 128;

/// The same while a reply is about to be due and many are held: then a read takes some 5 us, most
/// of which is memory that nobody has touched before, and a reply may be late by no more than
/// 50 us. With few held, small turns would cost an unlimited volume with a delay a sixth of its
/// operations.
const TURN_REQUESTS_WHEN_DUE: usize = 4;

/// Many are held.
const MANY_HELD: usize = 1024;

/// What is due within this is about to be.
const ABOUT_NS: u64 = 1_000_000;

const NS_PER_S: u64 = 1_000_000_000;

/// A connection, until it is closed; no other is named so after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conn(Place);

impl Conn {
    /// A small number that is used again: for a table of whatever belongs to connections.
    pub const fn index(self) -> usize {
        self.0.index()
    }

    /// A number below 2^63, for a kernel that carries numbers only: [`Conn::index`] in its lower
    /// half, and above it which of those that had this index.
    pub const fn number(self) -> u64 {
        self.0.to_bits() & !(1 << 63)
    }
}

/// What a server is started with, beside what it is to be.
#[derive(Clone, Copy, Debug)]
pub struct ServerOptions {
    /// Memory that all volumes together may take.
    pub memory: Bytes,
    /// Connections that are served at once.
    pub connections_max: usize,
    /// The time of day at `now_ns` = 0, in nanoseconds since 1970.
    pub epoch_ns: u64,
}

/// Makes or opens what a volume stores, or says why it cannot.
pub type Open = Box<dyn FnMut(&str, files::Options) -> Result<FileSystem, String> + Send>;

/// Volumes that are empty and in memory.
pub(crate) fn in_memory() -> Open {
    Box::new(|_, options| Ok(FileSystem::new(options)))
}

/// Why a server cannot begin.
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
    open: Open,
    /// Something was performed since [`Server::advance`] made it safe.
    is_dirty: bool,
    /// A volume is kept in a storage.
    is_on_disk: bool,
    /// Volumes whose storage failed.
    failed: Vec<VolumeIndex>,
    exports: Exports,
    service: Service,
    notices: Notices,
    /// endpoints[index of the description].
    endpoints: Vec<EndpointKey>,
    /// portmappers_udp[index of the description]: see [`Server::set_portmapper_udp`].
    portmappers_udp: Vec<Option<u16>>,
    /// volumes[VolumeIndex].
    volumes: Vec<Option<VolumeKey>>,
    connections: Slots<Connection>,
    held: Holding,
    /// See [`Server::make_room`].
    held_room: usize,
    /// Connections that something changed for since [`Server::take_ready`].
    ready: Vec<Conn>,
    /// Connections with input that can be worked on without waiting for anything.
    unfinished: VecDeque<Place>,
    due: Vec<Due>,
    /// When the replies that the last [`Server::advance`] let go had been due.
    released_ns: Vec<u64>,
    reply: Reply,
    /// What is being looked at, and which part of it is next.
    looking: Option<(Place, usize)>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("options", &self.options)
            .field("connections", &self.connections.len())
            .field("held", &self.held.len())
            .finish_non_exhaustive()
    }
}

impl Server {
    /// Starts with volumes that are empty and in memory.
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
        Server::open(now_ns, catalog, config, options, in_memory(), log)
    }

    /// Starts with volumes that `open` gives.
    ///
    /// # Errors
    /// All rules that the account breaks, or all volumes that cannot be opened.
    pub fn open(
        now_ns: u64,
        catalog: Catalog,
        config: Config,
        options: ServerOptions,
        open: Open,
        log: Log,
    ) -> Result<Server, StartError> {
        let service = Service::start(now_ns, catalog, config).map_err(StartError::Account)?;
        let key = |name: &str| service.endpoint_key(name).expect("the service has all endpoints");
        let endpoints: Vec<EndpointKey> =
            service.config().endpoints.iter().map(|one| key(&one.name)).collect();
        let mut server = Server {
            options,
            open,
            is_dirty: false,
            is_on_disk: false,
            failed: Vec::new(),
            exports: Exports::new(),
            service,
            notices: Notices::new(log),
            portmappers_udp: vec![None; endpoints.len()],
            endpoints,
            volumes: Vec::new(),
            connections: Slots::default(),
            held: Holding::default(),
            held_room: 0,
            ready: Vec::new(),
            unfinished: VecDeque::new(),
            due: Vec::new(),
            released_ns: Vec::new(),
            reply: Reply::new(),
            looking: None,
        };
        let problems = server.bring_volumes_to_the_account(now_ns);
        if problems.is_empty() { Ok(server) } else { Err(StartError::Volumes(problems)) }
    }

    /// Steps to another description, with connections and requests as they are.
    ///
    /// # Errors
    /// All rules that this would break; then nothing has changed.
    pub fn change(&mut self, now_ns: u64, wanted: Config) -> Result<(), Vec<Breach>> {
        for (index, export) in self.exports.iter() {
            if let Some(Some(key)) = self.volumes.get(index.get()) {
                self.service.set_used(*key, export.files.used());
            }
        }
        self.service.change(now_ns, wanted)?;
        for problem in self.bring_volumes_to_the_account(now_ns) {
            self.notices.say(&problem);
        }
        self.fill_room();
        Ok(())
    }

    /// From now on `held` replies, some 400 bytes each, have memory before they come, if limits or
    /// delays hold any; more find theirs as they come. Each new page may cost a virtual machine a
    /// tenth of a millisecond, in which nothing leaves: a service that is to be exact has them
    /// before.
    pub fn make_room(&mut self, held: usize) {
        self.held_room = held;
        self.fill_room();
    }

    fn fill_room(&mut self) {
        if self.service.may_hold() {
            self.held.make_room(self.held_room);
            self.service.make_room(self.held_room);
        }
    }

    /// Limits, account and books.
    pub const fn service(&self) -> &Service {
        &self.service
    }

    /// Volumes and what is in them.
    pub const fn exports(&self) -> &Exports {
        &self.exports
    }

    /// The same, to put something into a volume beside its clients, or to restart its file system.
    /// Name and number of a volume must stay as they are.
    pub const fn exports_mut(&mut self) -> &mut Exports {
        &mut self.exports
    }

    /// For lines to whoever runs the service.
    pub const fn notices(&mut self) -> &mut Notices {
        &mut self.notices
    }

    /// Connections that are open.
    pub const fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Replies that limits or delays hold.
    pub const fn held(&self) -> usize {
        self.held.len()
    }

    /// A client connected; `None` if there are too many already, and its socket must be closed.
    ///
    /// * `endpoint` — its number in the description
    /// * `local`, `remote` — the addresses of both sides; they name the flow in the witness' book
    /// * `nfs_port` — what the portmapper tells this client
    pub fn accept(
        &mut self,
        now_ns: u64,
        endpoint: usize,
        local: SocketAddr,
        remote: SocketAddr,
        nfs_port: u16,
    ) -> Option<Conn> {
        let most = self.options.connections_max;
        if self.connections.len() >= most {
            self.notices.tell(now_ns, Kind::TooManyConnections, || {
                format!("refused a connection of {remote}: {most} are open, the most allowed")
            });
            return None;
        }
        let (flow, client) = (format!("{remote}-{local}"), remote.ip().to_canonical().to_string());
        let key = self.service.connect(self.endpoints[endpoint], &flow, &client);
        let peer = Peer::new(remote, endpoint, nfs_port)
            .with_portmapper_udp(self.portmappers_udp[endpoint]);
        let outstanding_max = self.service.config().limits.outstanding_per_connection;
        let connection = Connection::new(key, remote, peer, outstanding_max as usize);
        Some(Conn(self.connections.insert(connection)))
    }

    /// From now on the portmapper lists itself over UDP at this port, for clients of the endpoint.
    pub fn set_portmapper_udp(&mut self, endpoint: usize, port: u16) {
        self.portmappers_udp[endpoint] = Some(port);
    }

    /// A datagram came to the portmapper. Gives the answer, if there is one; it is never a call, so
    /// two services cannot keep each other busy, and is not much longer than the question.
    ///
    /// * `endpoint`, `remote`, `nfs_port` — as for [`Server::accept`]
    pub fn answer_datagram(
        &mut self,
        endpoint: usize,
        remote: SocketAddr,
        nfs_port: u16,
        datagram: &[u8],
    ) -> Option<Vec<u8>> {
        const PROGRAMS: Programs = Programs { nfs: false, mount: false, portmap: true };
        let mut answer = Vec::new();
        match receive_message(datagram, PROGRAMS, &mut answer) {
            Received::Request(request) => {
                let peer = Peer::new(remote, endpoint, nfs_port)
                    .with_portmapper_udp(self.portmappers_udp[endpoint]);
                let now = Time { seconds: 0, nanoseconds: 0 };
                self.exports.perform(&request, &peer, now, &mut self.reply);
                answer = self.reply.to_vec();
            }
            Received::Answered { .. } => {}
            Received::NotACall => return None,
        }
        // A datagram is a whole message and has no record mark.
        Some(answer.split_off(MARK_BYTES))
    }

    /// A connection is gone: what is held for it is dropped.
    pub fn closed(&mut self, now_ns: u64, conn: Conn) {
        let Some(connection) = self.connections.remove(conn.0) else { return };
        for place in connection.held {
            if let Some((_, reply)) = self.held.take(place) {
                reply.give_back();
            }
        }
        if self.connections.len() == 0 && self.held.room() > self.held_room {
            self.held.give_back();
            self.fill_room();
        }
        self.service.disconnect(now_ns, connection.key);
    }

    /// Bytes came. What cannot be worked on now is kept.
    pub fn received(&mut self, now_ns: u64, conn: Conn, bytes: &[u8]) {
        let Some(connection) = self.connections.get_mut(conn.0) else { return };
        if connection.has_kept() {
            connection.keep(bytes);
            return;
        }
        let mut input = bytes;
        let mut requests_left = self.turn_requests(now_ns);
        self.work(now_ns, conn.0, &mut input, &mut requests_left);
        if let Some(connection) = self.connections.get_mut(conn.0) {
            connection.keep(input);
        }
        self.note(conn.0);
    }

    /// Does everything that is due by `now_ns`, goes on with input that was kept, and makes safe
    /// what replies promise: they must not be sent before.
    pub fn advance(&mut self, now_ns: u64) {
        self.released_ns.clear();
        self.let_go(now_ns);
        self.go_on_all(now_ns);
        if self.is_dirty {
            self.is_dirty = false;
            self.make_safe();
        }
    }

    fn let_go(&mut self, now_ns: u64) {
        if self.service.next_ns().is_some_and(|at_ns| at_ns <= now_ns) {
            let mut all = std::mem::take(&mut self.due);
            self.service.advance(now_ns, &mut all);
            for due in all.drain(..) {
                self.answer_held(&due);
            }
            self.due = all;
        }
    }

    fn go_on_all(&mut self, now_ns: u64) {
        let most = self.turn_requests(now_ns);
        let mut requests_left = most;
        for _ in 0..self.unfinished.len() {
            // Where little time is left all share it; else each has its own.
            if most == TURN_REQUESTS {
                requests_left = TURN_REQUESTS;
            }
            if requests_left == 0 {
                return;
            }
            // Who is not done afterwards stands behind the others.
            let Some(place) = self.unfinished.pop_front() else { return };
            let Some(connection) = self.connections.get_mut(place) else { continue };
            connection.is_unfinished = false;
            let (kept, start) = connection.take_kept();
            let mut input = &kept[start..];
            self.work(now_ns, place, &mut input, &mut requests_left);
            let done = kept.len() - input.len();
            if let Some(connection) = self.connections.get_mut(place) {
                connection.put_back(kept, done);
            }
            self.note(place);
        }
    }

    /// Whether the last [`Server::advance`] let replies go that were held.
    pub const fn has_released(&self) -> bool {
        !self.released_ns.is_empty()
    }

    /// What the last [`Server::advance`] let go has been sent, as far as its connections take it:
    /// how late is noted.
    pub fn left(&mut self, now_ns: u64) {
        for due_ns in self.released_ns.drain(..) {
            self.service.left(now_ns, due_ns);
        }
    }

    /// Looks at a part of what is to be sent later, and says whether there was one. Where a
    /// processor, or a hypervisor, has to find the memory first (125 us for some pages of a virtual
    /// machine), the reply is not late for that.
    pub fn look_ahead(&mut self) -> bool {
        let first = |token| (Place::from_bits(token), 0);
        let Some((place, part)) = self.looking.or_else(|| self.service.coming().map(first)) else {
            return false;
        };
        self.looking = self.held.look(place, part).then_some((place, part + 1));
        true
    }

    /// When to call [`Server::advance`] next: 0 is at once, `None` while nothing waits.
    pub fn next_ns(&mut self) -> Option<u64> {
        if self.unfinished.is_empty() { self.service.next_ns() } else { Some(0) }
    }

    /// Appends the connections that may have something to send, or that changed their mind about
    /// reading, since this was last asked.
    pub fn take_ready(&mut self, out: &mut Vec<Conn>) {
        for conn in &self.ready {
            if let Some(connection) = self.connections.get_mut(conn.0) {
                connection.is_ready = false;
                out.push(*conn);
            }
        }
        self.ready.clear();
    }

    /// Fills `slices` from the front with what is to be sent, and says how many it filled.
    pub fn gather<'a>(&'a self, conn: Conn, slices: &mut [IoSlice<'a>]) -> usize {
        self.connections.get(conn.0).map_or(0, |connection| connection.outgoing.gather(slices))
    }

    /// So many bytes were sent.
    pub fn sent(&mut self, conn: Conn, count: usize) {
        if let Some(connection) = self.connections.get_mut(conn.0) {
            connection.outgoing.sent(count);
            self.go_on(conn.0);
        }
    }

    /// Whether bytes should be read from the connection; nothing breaks if they are.
    pub fn wants_to_read(&self, conn: Conn) -> bool {
        self.connections.get(conn.0).is_some_and(Connection::wants_to_read)
    }

    /// Whether kept input will be worked on without any doing of others.
    pub fn is_unfinished(&self, conn: Conn) -> bool {
        self.connections.get(conn.0).is_some_and(|connection| connection.is_unfinished)
    }

    /// Whether nothing is left to be sent, now or later, unless more is received.
    pub fn is_idle(&self, conn: Conn) -> bool {
        self.connections.get(conn.0).is_none_or(Connection::is_idle)
    }

    /// Whether the peer broke the protocol so that its connection must be closed.
    pub fn is_broken(&self, conn: Conn) -> bool {
        self.connections.get(conn.0).is_none_or(|connection| connection.is_broken)
    }

    /// Sees to it that the connection is looked at, and goes on if it can.
    fn note(&mut self, place: Place) {
        let Some(connection) = self.connections.get_mut(place) else { return };
        if !connection.is_ready {
            connection.is_ready = true;
            self.ready.push(Conn(place));
        }
        self.go_on(place);
    }

    /// Sees to it that input is worked on that need not wait any longer.
    fn go_on(&mut self, place: Place) {
        let Some(connection) = self.connections.get_mut(place) else { return };
        if connection.can_go_on() && !connection.is_unfinished {
            connection.is_unfinished = true;
            self.unfinished.push_back(place);
        }
    }

    /// How many requests are performed in a row now. What is kept on a disk is made safe once for
    /// all of them, which takes longer than they do: there a turn is never a small one.
    fn turn_requests(&mut self, now_ns: u64) -> usize {
        if self.is_on_disk || self.held.len() < MANY_HELD {
            return TURN_REQUESTS;
        }
        let due = self.service.next_ns().is_some_and(|at_ns| at_ns <= now_ns + ABOUT_NS);
        if due { TURN_REQUESTS_WHEN_DUE } else { TURN_REQUESTS }
    }

    /// Performs requests from the front of `input`, as many as are left and allowed now.
    fn work(&mut self, now_ns: u64, place: Place, input: &mut &[u8], requests_left: &mut usize) {
        let now = self.time_of_day(now_ns);
        while *requests_left > 0 {
            *requests_left -= 1;
            let Some(connection) = self.connections.get_mut(place) else { return };
            if connection.is_broken || connection.is_full() {
                return;
            }
            let Connection { rpc, outgoing, peer, .. } = connection;
            let request = match outgoing.write(|own| rpc.receive(input, own)) {
                Ok(Some(Received::Request(request))) => request,
                Ok(Some(Received::Answered { .. } | Received::NotACall)) => continue,
                Ok(None) => return,
                Err(error) => {
                    let remote = connection.remote;
                    connection.is_broken = true;
                    self.notices.tell(now_ns, Kind::BrokenPeer, || {
                        format!("close connection of {remote}: {error}")
                    });
                    return;
                }
            };
            let performed = self.exports.perform(&request, peer, now, &mut self.reply);
            self.dispose(now_ns, place, &performed);
        }
    }

    /// Sends the reply in `self.reply`, or holds it.
    fn dispose(&mut self, now_ns: u64, place: Place, performed: &Performed) {
        let connection = self.connections.get_mut(place).expect("its request was just performed");
        if let Some(Shortage::Memory) = performed.shortage {
            let memory = self.options.memory;
            self.notices.tell(now_ns, Kind::OutOfMemory, || {
                format!(
                    "answered NFS3ERR_NOSPC to {}: the {memory} of memory for all volumes are \
                     used; remove files, or start with a larger --memory",
                    connection.remote
                )
            });
        }
        let key = performed.volume.and_then(|volume| *self.volumes.get(volume.get())?);
        let (Some(volume), Some(procedure)) = (key, number_of(performed)) else {
            self.service.without_volume(connection.key);
            return connection.send(&mut self.reply);
        };
        self.is_dirty = true;
        let Performed { bytes, failed, .. } = *performed;
        // The place that the reply will have if it is held.
        let token = self.held.next_place();
        let due =
            self.service.arrive(now_ns, connection.key, volume, procedure, bytes, token.to_bits());
        match due {
            Ok(Some(due)) => {
                connection.send(&mut self.reply);
                self.service.answered(&due, bytes, failed);
            }
            Ok(None) => {
                let position = connection.held.len();
                connection.held_own_bytes += self.reply.own_bytes();
                let held = Held { connection: place, position, bytes, failed };
                let inserted = self.held.hold(held, &mut self.reply);
                debug_assert_eq!(inserted, token);
                connection.held.push(inserted);
            }
            // Exports and limits know the same volumes at the same endpoints, so this is never
            // reached; if it were, the client would still get its answer.
            Err(_) => connection.send(&mut self.reply),
        }
    }

    /// Sends a reply that is held no longer.
    fn answer_held(&mut self, due: &Due) {
        let place = Place::from_bits(due.token);
        let Some((held, reply)) = self.held.take(place) else {
            return self.service.dropped(due);
        };
        let Held { connection: at, position, bytes, failed } = held;
        let connection = self.connections.get_mut(at).expect("its replies go with a connection");
        connection.held.swap_remove(position);
        connection.held_own_bytes -= reply.own_bytes();
        connection.send(reply);
        reply.give_back();
        if let Some(moved) = connection.held.get(position) {
            self.held.moved(*moved, position);
        }
        self.released_ns.push(due.due_ns);
        self.service.answered(due, bytes, failed);
        self.note(at);
    }

    fn time_of_day(&self, now_ns: u64) -> Time {
        let ns = self.options.epoch_ns + now_ns;
        Time { seconds: (ns / NS_PER_S) as u32, nanoseconds: (ns % NS_PER_S) as u32 }
    }
}

/// The witness' name for the procedure; it knows those of NFS.
fn number_of(performed: &Performed) -> Option<Procedure> {
    match performed.procedure {
        nfs3::procedure::Procedure::Nfs(procedure) => Procedure::numbered(procedure as u32),
        _ => None,
    }
}
