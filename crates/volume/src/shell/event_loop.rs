//! The serving thread: waits, reads, runs the core, writes.
//!
//! For: moving bytes between sockets and [`Server`], a turn at a time. Each turn reads a bounded
//! number of bytes from each readable connection, so that none starves another, and sends its
//! replies in one system call; replies that become due meanwhile do not wait for the end of the turn.
//! Not for: decisions about requests.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Instant;

use exposition::http::{Answer, Request};
use rustix::net::sockopt;
use rustix::time::{ClockId, clock_gettime};

use super::http::HttpConnections;
use super::poll::{Events, Interest, Poll, Waker};
use super::snapshot::Snapshot;
use super::transfer::{receive, send};
use super::udp_portmapper::UdpPortmapper;
use super::wakeup::Wakeup;
use crate::config::Config;
use crate::ids::{ConnectionId, EndpointId};
use crate::notice::NoticeKind;
use crate::rules::Breach;
use crate::server::Server;

/// Size of the receive buffer, which all connections share. A turn in which a connection sent as many
/// bytes receives no more from it.
const RECEIVE_BYTES: usize = 1 << 20;

/// Most connections accepted from one listener in a turn.
const ACCEPTS: usize = 64;

/// No prefetch starts within this time of the next due reply: a prefetch may take 125 us, and a
/// reply may be 50 us late.
const PREFETCH_MARGIN_NS: u64 = 90_000;

/// How long accepting pauses when the system has no resources for another connection.
const ACCEPT_PAUSE_NS: u64 = 100_000_000;

/// Set in the event number of every socket that is not an NFS connection. The upper half of such a
/// number is the class of the socket, the lower half its index.
const SPECIAL: u64 = 1 << 63;
const WAKER: u64 = SPECIAL;
const LISTENER: u64 = SPECIAL | 1 << 32;
const HTTP: u64 = SPECIAL | 2 << 32;
const UDP_PORTMAPPER: u64 = SPECIAL | 3 << 32;
const CLASS: u64 = !0 << 32;

/// A request from another thread, with the channel for the answer.
pub(super) enum Command {
    Snapshot(Sender<Snapshot>),
    Change(Box<Config>, Sender<Result<(), Vec<Breach>>>),
    Stop(Sender<Snapshot>),
}

/// A listener and what it serves.
#[derive(Debug)]
pub(super) struct Listening {
    pub(super) listener: TcpListener,
    pub(super) serves: Serves,
}

/// What a listener serves.
#[derive(Clone, Copy, Debug)]
pub(super) enum Serves {
    /// The volumes of an endpoint.
    Endpoint {
        endpoint: EndpointId,
        /// The port that the portmapper returns.
        nfs_port: u16,
    },
    /// `/metrics` and `/stat.json`.
    Http,
}

/// A connection's socket.
#[derive(Debug)]
struct Socket {
    stream: TcpStream,
    id: ConnectionId,
    interest: Interest,
    /// The peer closed its sending side.
    ended: bool,
    /// Reading is paused: the peer sent more than the server accepts now.
    is_paused: bool,
}

/// The state of the serving thread.
#[derive(Debug)]
pub(super) struct EventLoop {
    poll: Poll,
    wakeup: Wakeup,
    server: Server,
    listening: Vec<Listening>,
    udp_portmappers: Vec<UdpPortmapper>,
    waker: Waker,
    commands: Receiver<Command>,
    started: Instant,
    /// sockets[id.index()].
    sockets: Vec<Option<Socket>>,
    http: HttpConnections,
    buffer: Vec<u8>,
    /// Connections whose sockets are updated before this turn ends.
    touched: Vec<ConnectionId>,
    /// Connections to close before this turn ends.
    closing: Vec<ConnectionId>,
    /// Accepting is paused until this instant.
    accept_paused_until_ns: Option<u64>,
    turns: u64,
}

/// What the loop does after the commands of other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoopAction {
    Continue,
    Stop,
}

impl EventLoop {
    pub(super) fn new(
        server: Server,
        listening: Vec<Listening>,
        udp_portmappers: Vec<UdpPortmapper>,
        waker: Waker,
        commands: Receiver<Command>,
        started: Instant,
    ) -> io::Result<EventLoop> {
        let poll = Poll::new()?;
        poll.add(waker.fd(), WAKER, Interest::READ)?;
        for (index, one) in listening.iter().enumerate() {
            one.listener.set_nonblocking(true)?;
            poll.add(&one.listener, LISTENER | index as u64, Interest::READ)?;
        }
        for (index, one) in udp_portmappers.iter().enumerate() {
            one.socket.set_nonblocking(true)?;
            poll.add(&one.socket, UDP_PORTMAPPER | index as u64, Interest::READ)?;
        }
        Ok(EventLoop {
            poll,
            wakeup: Wakeup::new(),
            server,
            listening,
            udp_portmappers,
            waker,
            commands,
            started,
            sockets: Vec::new(),
            http: HttpConnections::default(),
            buffer: vec![0; RECEIVE_BYTES],
            touched: Vec::new(),
            closing: Vec::new(),
            accept_paused_until_ns: None,
            turns: 0,
        })
    }

    /// Serves until [`Command::Stop`]. First allocates memory for `deferred_reserve` replies, in the
    /// thread that will free it.
    pub(super) fn run(&mut self, deferred_reserve: usize) -> io::Result<()> {
        self.server.reserve_deferred(deferred_reserve);
        let mut events = Events::new();
        loop {
            let timeout_ns = self.timeout_ns();
            let count = self.poll.wait(&mut events, timeout_ns)?;
            let mut now_ns = self.now_ns();
            self.wakeup.woke(now_ns, count > 0);
            self.turns += 1;
            for index in 0..count {
                now_ns = self.flush_if_due(now_ns);
                let event = events.get(index);
                let index = (event.number & !CLASS) as usize;
                match event.number & CLASS {
                    WAKER => {
                        self.waker.drain();
                        if self.apply_commands(now_ns) == LoopAction::Stop {
                            return Ok(());
                        }
                    }
                    LISTENER => self.accept(now_ns, index),
                    UDP_PORTMAPPER => {
                        if let Err(error) = self.udp_portmappers[index].answer(&mut self.server) {
                            let failed = || format!("receive a datagram: {error}");
                            self.server.notices().log_limited(now_ns, NoticeKind::System, failed);
                        }
                    }
                    HTTP => self.serve_http(now_ns, index),
                    _ => {
                        let Some(id) = self.connection(event.number) else { continue };
                        if event.is_closed {
                            self.closing.push(id);
                            continue;
                        }
                        if event.is_readable {
                            self.receive(now_ns, id);
                        }
                        if event.is_writable {
                            self.touched.push(id);
                        }
                    }
                }
            }
            if self.accept_paused_until_ns.is_some_and(|until_ns| until_ns <= now_ns) {
                self.resume_accepting();
            }
            self.flush(now_ns);
            self.close_all(now_ns);
        }
    }

    /// Sends replies that became due during this turn, and returns the time. A turn in which hundreds
    /// of connections send a lot takes tens of milliseconds.
    fn flush_if_due(&mut self, now_ns: u64) -> u64 {
        let Some(due_ns) = self.server.next_ns() else { return now_ns };
        let now_ns = self.now_ns();
        if due_ns <= now_ns {
            self.flush(now_ns);
        }
        now_ns
    }

    /// Releases due replies, and sends to every connection that has bytes to send.
    fn flush(&mut self, now_ns: u64) {
        self.server.advance(now_ns);
        self.server.take_ready(&mut self.touched);
        while let Some(id) = self.touched.pop() {
            self.update_socket(now_ns, id);
        }
        if self.server.has_released() {
            self.server.released_were_sent(self.now_ns());
            self.prefetch();
        }
    }

    /// Prefetches replies that are sent later, until a reply is due soon.
    fn prefetch(&mut self) {
        let until_ns =
            self.server.next_ns().map_or(u64::MAX, |at| at.saturating_sub(PREFETCH_MARGIN_NS));
        while self.now_ns() < until_ns && self.server.prefetch() {}
    }

    /// The connection of this event number, unless it was closed earlier in this turn.
    fn connection(&self, number: u64) -> Option<ConnectionId> {
        let index = (number & !CLASS) as usize;
        let id = self.sockets.get(index)?.as_ref()?.id;
        (id.number() == number).then_some(id)
    }

    fn now_ns(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    /// The timeout of the next wait; `None` if nothing is due.
    fn timeout_ns(&mut self) -> Option<u64> {
        let due_ns =
            [self.server.next_ns(), self.accept_paused_until_ns].into_iter().flatten().min()?;
        let now_ns = self.now_ns();
        Some(self.wakeup.wait_ns(now_ns, due_ns))
    }

    /// Applies the commands of other threads.
    fn apply_commands(&mut self, now_ns: u64) -> LoopAction {
        while let Ok(command) = self.commands.try_recv() {
            match command {
                // The thread that sent the command may have stopped waiting for the answer.
                Command::Stop(answer) => {
                    // Syncs to disk what this turn performed.
                    self.server.advance(now_ns);
                    let _ = answer.send(self.snapshot(now_ns));
                    return LoopAction::Stop;
                }
                Command::Snapshot(answer) => {
                    let _ = answer.send(self.snapshot(now_ns));
                }
                Command::Change(config, answer) => {
                    let _ = answer.send(self.server.change(now_ns, *config));
                }
            }
        }
        LoopAction::Continue
    }

    fn snapshot(&self, now_ns: u64) -> Snapshot {
        let config = self.server.config();
        Snapshot {
            now_ns,
            counters: self.server.counters().clone(),
            account: self.server.account().clone(),
            endpoints: config.endpoints.iter().map(|one| one.name.clone()).collect(),
            limits_enforced: config.limits.enforced,
            connections: self.server.connections(),
            deferred: self.server.deferred(),
            turns: self.turns,
            cpu_ns: cpu_ns(),
        }
    }

    fn accept(&mut self, now_ns: u64, index: usize) {
        for number in 0..ACCEPTS {
            // Accepting 64 takes some 15 ms on a virtual machine; the next turn accepts the rest.
            if number > 0 && self.is_reply_due() {
                return;
            }
            let one = &self.listening[index];
            let (stream, peer) = match one.listener.accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // The peer closed the connection before it was accepted.
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    let paused = || format!("accept a connection: {error}; paused for 100 ms");
                    self.server.notices().log_limited(now_ns, NoticeKind::System, paused);
                    self.pause_accepting(now_ns);
                    return;
                }
            };
            let added = match one.serves {
                Serves::Endpoint { endpoint, nfs_port } => {
                    self.add_connection(now_ns, endpoint, nfs_port, stream, peer)
                }
                Serves::Http => self.add_http(stream),
            };
            if let Err(error) = added {
                let failed = || format!("accept the connection from {peer}: {error}");
                self.server.notices().log_limited(now_ns, NoticeKind::System, failed);
            }
        }
    }

    /// Pauses accepting when the system is out of resources. Without a pause, the level-triggered wait
    /// would return immediately each time.
    fn pause_accepting(&mut self, now_ns: u64) {
        self.accept_paused_until_ns = Some(now_ns + ACCEPT_PAUSE_NS);
        self.listen(Interest { read: false, write: false });
    }

    fn resume_accepting(&mut self) {
        self.accept_paused_until_ns = None;
        self.listen(Interest::READ);
    }

    fn listen(&mut self, interest: Interest) {
        for (index, one) in self.listening.iter().enumerate() {
            let changed = self.poll.change(&one.listener, LISTENER | index as u64, interest);
            changed.expect("an open listener is in the epoll set");
        }
    }

    fn add_connection(
        &mut self,
        now_ns: u64,
        endpoint: EndpointId,
        nfs_port: u16,
        stream: TcpStream,
        peer: SocketAddr,
    ) -> io::Result<()> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        // Detects vanished peers, which would otherwise keep their connection forever.
        sockopt::set_socket_keepalive(&stream, true)?;
        let local = stream.local_addr()?;
        let accepted = self.server.accept(now_ns, endpoint, local, peer, nfs_port);
        let Some(id) = accepted else { return Ok(()) };
        if let Err(error) = self.poll.add(&stream, id.number(), Interest::READ) {
            self.server.closed(now_ns, id);
            return Err(error);
        }
        let index = id.index();
        if index >= self.sockets.len() {
            self.sockets.resize_with(index + 1, || None);
        }
        let interest = Interest::READ;
        self.sockets[index] = Some(Socket { stream, id, interest, ended: false, is_paused: false });
        Ok(())
    }

    fn is_reply_due(&self) -> bool {
        self.server.next_ns().is_some_and(|due_ns| due_ns <= self.now_ns())
    }

    /// Reads from one connection: once, or several times if that saves a copy of the data of WRITEs.
    fn receive(&mut self, now_ns: u64, id: ConnectionId) {
        let Some(socket) = socket_of(&mut self.sockets, id) else { return };
        if socket.ended || !self.server.wants_to_read(id) {
            // Reading is paused only when the peer sends more, which is rare.
            socket.is_paused = !self.server.is_unfinished(id);
            self.touched.push(id);
            return;
        }
        let mut left = RECEIVE_BYTES;
        while left > 0 {
            let EventLoop { server, sockets, buffer, .. } = self;
            let Some(socket) = socket_of(sockets, id) else { return };
            let (received, requested) = match receive(server, &socket.stream, id, buffer, now_ns) {
                Ok((0, _)) => {
                    socket.ended = true;
                    return self.touched.push(id);
                }
                Ok(counts) => counts,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => return,
                // The peer reset the connection; this is not logged.
                Err(_) => return self.closing.push(id),
            };
            left = left.saturating_sub(received);
            if received < requested || !self.server.wants_to_read(id) || self.is_reply_due() {
                return;
            }
        }
    }

    /// Sends pending bytes of a connection, and updates its events of interest.
    fn update_socket(&mut self, now_ns: u64, id: ConnectionId) {
        let Some(socket) = socket_of(&mut self.sockets, id) else { return };
        if self.server.is_broken(id) {
            return self.closing.push(id);
        }
        let full = match send(&mut self.server, &socket.stream, id) {
            Ok(full) => full,
            Err(_) => return self.closing.push(id),
        };
        if socket.ended && self.server.is_idle(id) {
            return self.closing.push(id);
        }
        // `receive` pauses reading; it resumes as soon as the server accepts more.
        socket.is_paused &= !self.server.wants_to_read(id);
        let interest = Interest { read: !socket.ended && !socket.is_paused, write: full };
        if interest != socket.interest {
            if let Err(error) = self.poll.change(&socket.stream, id.number(), interest) {
                let failed = || format!("wait for a connection: {error}; it is closed");
                self.server.notices().log_limited(now_ns, NoticeKind::System, failed);
                return self.closing.push(id);
            }
            socket.interest = interest;
        }
    }

    /// Closes connections, and sends replies that become due meanwhile: there may be hundreds of
    /// connections to close.
    fn close_all(&mut self, mut now_ns: u64) {
        while let Some(id) = self.closing.pop() {
            self.close(now_ns, id);
            now_ns = self.flush_if_due(now_ns);
        }
    }

    fn close(&mut self, now_ns: u64, id: ConnectionId) {
        if socket_of(&mut self.sockets, id).is_none() {
            return;
        }
        // Closing a socket removes it from the epoll set.
        self.sockets[id.index()] = None;
        self.server.closed(now_ns, id);
    }

    fn add_http(&mut self, stream: TcpStream) -> io::Result<()> {
        stream.set_nonblocking(true)?;
        let index = self.http.free_index();
        self.poll.add(&stream, HTTP | index as u64, Interest::READ)?;
        self.http.insert(index, stream);
        Ok(())
    }

    fn serve_http(&mut self, now_ns: u64, index: usize) {
        let Some(mut connection) = self.http.take(index) else { return };
        let answer = |request: Request<'_>| self.answer_http(now_ns, request);
        let Ok(Some(interest)) = connection.resume(answer) else { return };
        if self.poll.change(connection.stream(), HTTP | index as u64, interest).is_ok() {
            self.http.put_back(index, connection);
        }
    }

    fn answer_http(&self, now_ns: u64, Request { path, format }: Request<'_>) -> Answer {
        match path {
            "/metrics" => {
                Answer::found(format.content_type(), self.server.counters().exposition(format))
            }
            "/stat.json" => Answer::found("application/json", self.snapshot(now_ns).to_json()),
            _ => Answer::not_found("/metrics and /stat.json"),
        }
    }
}

/// The CPU time used by this thread.
fn cpu_ns() -> u64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64
}

fn socket_of(sockets: &mut [Option<Socket>], id: ConnectionId) -> Option<&mut Socket> {
    sockets.get_mut(id.index())?.as_mut().filter(|socket| socket.id == id)
}
