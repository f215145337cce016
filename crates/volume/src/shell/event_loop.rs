//! The one thread that serves: waits, reads, lets the core work, writes.
//!
//! For: moving bytes between sockets and [`Server`], a turn at a time. In each turn each connection
//! that can be read is read once (so that none starves another), and what it is to be sent goes in
//! one system call; what becomes due meanwhile does not wait for the turn's end. Not for: deciding
//! anything about a request.

use std::io::{self, ErrorKind, IoSlice, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::Receiver;
use std::time::Instant;

use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg, sockopt};
use rustix::time::{ClockId, clock_gettime};

use super::datagrams::Datagrams;
use super::haste::Haste;
use super::http::{Answer, Conversation, Waits};
use super::poll::{Events, Interest, Poll, Waker};
use super::{Command, Snapshot};
use crate::notice::Kind;
use crate::server::{Conn, Server};

/// What one read takes at most; shared by all connections.
const RECEIVE_BYTES: usize = 1 << 20;

/// Pieces that one system call sends at most.
const SEND_PIECES: usize = 256;

/// Connections taken from one listener in a turn.
const ACCEPTS: usize = 64;

/// A look at memory is not begun within this of what is due: it may take 125 us, and what leaves
/// less than 50 us late is in time.
const LOOK_NS: u64 = 90_000;

/// How long listeners rest when the system has nothing left for a connection.
const REST_NS: u64 = 100_000_000;

/// Conversations over HTTP at once.
pub(super) const CONVERSATIONS: usize = 64;

/// The upper bits of the number of a socket that is no connection of NFS.
const SPECIAL: u64 = 1 << 63;
const WAKER: u64 = SPECIAL;
const LISTENER: u64 = SPECIAL | 1 << 32;
const CONVERSATION: u64 = SPECIAL | 2 << 32;
const DATAGRAMS: u64 = SPECIAL | 3 << 32;
const CLASS: u64 = !0 << 32;

/// What connections come to.
#[derive(Debug)]
pub(super) struct Listening {
    pub(super) listener: TcpListener,
    pub(super) serves: Serves,
}

/// What is served at a listener.
#[derive(Clone, Copy, Debug)]
pub(super) enum Serves {
    /// The volumes of an endpoint.
    Endpoint {
        /// Its number in the description.
        endpoint: usize,
        /// What the portmapper tells.
        nfs_port: u16,
    },
    /// What was seen.
    Http,
}

/// A connection's socket.
#[derive(Debug)]
struct Socket {
    stream: TcpStream,
    conn: Conn,
    interest: Interest,
    /// The peer has nothing more to say.
    ended: bool,
    /// The peer has something to say and may not.
    waits: bool,
}

/// Everything that the thread owns.
#[derive(Debug)]
pub(super) struct EventLoop {
    poll: Poll,
    haste: Haste,
    server: Server,
    listening: Vec<Listening>,
    datagrams: Vec<Datagrams>,
    waker: Waker,
    commands: Receiver<Command>,
    started: Instant,
    /// sockets[conn.index()].
    sockets: Vec<Option<Socket>>,
    conversations: Vec<Option<Conversation>>,
    buffer: Vec<u8>,
    /// Connections whose sockets are to be looked at before this turn ends.
    touched: Vec<Conn>,
    /// Connections that are to be closed before this turn ends.
    closing: Vec<Conn>,
    /// The conversation that gives way to the next when there are too many.
    oldest: usize,
    /// Until when nothing is accepted.
    resting_until_ns: Option<u64>,
    turns: u64,
}

/// Whether to go on after what others asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Obeyed {
    GoOn,
    Stop,
}

impl EventLoop {
    pub(super) fn new(
        server: Server,
        listening: Vec<Listening>,
        datagrams: Vec<Datagrams>,
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
        for (index, one) in datagrams.iter().enumerate() {
            one.socket.set_nonblocking(true)?;
            poll.add(&one.socket, DATAGRAMS | index as u64, Interest::READ)?;
        }
        Ok(EventLoop {
            poll,
            haste: Haste::new(),
            server,
            listening,
            datagrams,
            waker,
            commands,
            started,
            sockets: Vec::new(),
            conversations: Vec::new(),
            buffer: vec![0; RECEIVE_BYTES],
            touched: Vec::new(),
            closing: Vec::new(),
            oldest: 0,
            resting_until_ns: None,
            turns: 0,
        })
    }

    /// Serves until it is told to stop. Memory for the first `held_room` replies is found here, by
    /// the thread that will give it back.
    pub(super) fn run(&mut self, held_room: usize) -> io::Result<()> {
        self.server.make_room(held_room);
        let mut events = Events::new();
        loop {
            let timeout_ns = self.timeout_ns();
            let count = self.poll.wait(&mut events, timeout_ns)?;
            let mut now_ns = self.now_ns();
            self.haste.woke(now_ns, count > 0);
            self.turns += 1;
            for index in 0..count {
                now_ns = self.answer_between(now_ns);
                let happened = events.happened(index);
                match happened.number & CLASS {
                    WAKER => {
                        self.waker.drain();
                        if self.obey(now_ns) == Obeyed::Stop {
                            return Ok(());
                        }
                    }
                    LISTENER => self.accept(now_ns, (happened.number & !CLASS) as usize),
                    DATAGRAMS => {
                        let index = (happened.number & !CLASS) as usize;
                        if let Err(error) = self.datagrams[index].answer(&mut self.server) {
                            let failed = || format!("receive a datagram: {error}");
                            self.server.notices().tell(now_ns, Kind::System, failed);
                        }
                    }
                    CONVERSATION => self.converse(now_ns, (happened.number & !CLASS) as usize),
                    _ => {
                        let Some(conn) = self.conn(happened.number) else { continue };
                        if happened.over {
                            self.closing.push(conn);
                            continue;
                        }
                        if happened.readable {
                            self.receive(now_ns, conn);
                        }
                        if happened.writable {
                            self.touched.push(conn);
                        }
                    }
                }
            }
            if self.resting_until_ns.is_some_and(|until_ns| until_ns <= now_ns) {
                self.accept_again();
            }
            self.answer(now_ns);
            self.close_all(now_ns);
        }
    }

    /// Answers what became due while others were read: a turn in which hundreds of connections
    /// have much to say takes tens of milliseconds. Gives the time as it is then.
    fn answer_between(&mut self, now_ns: u64) -> u64 {
        let Some(due_ns) = self.server.next_ns() else { return now_ns };
        let now_ns = self.now_ns();
        if due_ns <= now_ns {
            self.answer(now_ns);
        }
        now_ns
    }

    /// Releases what is due, and sends to everyone who is to be sent something.
    fn answer(&mut self, now_ns: u64) {
        self.server.advance(now_ns);
        self.server.take_ready(&mut self.touched);
        while let Some(conn) = self.touched.pop() {
            self.settle(now_ns, conn);
        }
        if self.server.has_released() {
            self.server.left(self.now_ns());
            self.look_ahead();
        }
    }

    /// Looks at what is to be sent later, for as long as nothing is due soon.
    fn look_ahead(&mut self) {
        let until_ns = self.server.next_ns().map_or(u64::MAX, |at| at.saturating_sub(LOOK_NS));
        while self.now_ns() < until_ns && self.server.look_ahead() {}
    }

    /// The connection of this number, unless it was closed earlier in this turn.
    fn conn(&self, number: u64) -> Option<Conn> {
        let index = (number & !CLASS) as usize;
        let conn = self.sockets.get(index)?.as_ref()?.conn;
        (conn.number() == number).then_some(conn)
    }

    fn now_ns(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    /// How long the next wait may be; for ever where nothing is due.
    fn timeout_ns(&mut self) -> Option<u64> {
        let due_ns = [self.server.next_ns(), self.resting_until_ns].into_iter().flatten().min()?;
        // What was done since the turn's reading of the clock took time too.
        let now_ns = self.now_ns();
        Some(self.haste.wait_ns(now_ns, due_ns))
    }

    /// Does what other threads ask for.
    fn obey(&mut self, now_ns: u64) -> Obeyed {
        while let Ok(command) = self.commands.try_recv() {
            match command {
                // Who asked may have gone away without waiting for the answer.
                Command::Stop(answer) => {
                    // What this turn performed and did not answer is kept too, as far as it goes.
                    self.server.advance(now_ns);
                    let _ = answer.send(self.snapshot(now_ns));
                    return Obeyed::Stop;
                }
                Command::Snapshot(answer) => {
                    let _ = answer.send(self.snapshot(now_ns));
                }
                Command::Change(config, answer) => {
                    let _ = answer.send(self.server.change(now_ns, *config));
                }
            }
        }
        Obeyed::GoOn
    }

    fn snapshot(&self, now_ns: u64) -> Snapshot {
        let config = self.server.service().config();
        Snapshot {
            now_ns,
            witness: self.server.service().witness().clone(),
            account: self.server.service().account().clone(),
            endpoints: config.endpoints.iter().map(|one| one.name.clone()).collect(),
            limits_enforced: config.limits.enforced,
            connections: self.server.connections(),
            held: self.server.held(),
            turns: self.turns,
            processor_ns: processor_ns(),
        }
    }

    fn accept(&mut self, now_ns: u64, index: usize) {
        for number in 0..ACCEPTS {
            // Sixty take some 15 ms on a virtual machine; the rest are there in the next turn too.
            if number > 0 && self.server.next_ns().is_some_and(|due_ns| due_ns <= self.now_ns()) {
                return;
            }
            let one = &self.listening[index];
            let (stream, peer) = match one.listener.accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // The peer was gone before we came to it.
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    let rest = || format!("accept connection: {error}; resting for 100 ms");
                    self.server.notices().tell(now_ns, Kind::System, rest);
                    self.rest(now_ns);
                    return;
                }
            };
            let taken = match one.serves {
                Serves::Endpoint { endpoint, nfs_port } => {
                    self.take(now_ns, endpoint, nfs_port, stream, peer)
                }
                Serves::Http => self.begin_conversation(stream),
            };
            if let Err(error) = taken {
                let failed = || format!("take connection of {peer}: {error}");
                self.server.notices().tell(now_ns, Kind::System, failed);
            }
        }
    }

    /// Stops listening for a while, for the system has nothing left: a level-triggered wait would
    /// else return at once, for ever.
    fn rest(&mut self, now_ns: u64) {
        self.resting_until_ns = Some(now_ns + REST_NS);
        self.listen(Interest { read: false, write: false });
    }

    fn accept_again(&mut self) {
        self.resting_until_ns = None;
        self.listen(Interest::READ);
    }

    fn listen(&mut self, interest: Interest) {
        for (index, one) in self.listening.iter().enumerate() {
            let changed = self.poll.change(&one.listener, LISTENER | index as u64, interest);
            changed.expect("a listener stays in the set for as long as it is open");
        }
    }

    fn take(
        &mut self,
        now_ns: u64,
        endpoint: usize,
        nfs_port: u16,
        stream: TcpStream,
        peer: SocketAddr,
    ) -> io::Result<()> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        // A peer that vanished without a word would else keep its place for ever.
        sockopt::set_socket_keepalive(&stream, true)?;
        let local = stream.local_addr()?;
        let accepted = self.server.accept(now_ns, endpoint, local, peer, nfs_port);
        let Some(conn) = accepted else { return Ok(()) };
        if let Err(error) = self.poll.add(&stream, conn.number(), Interest::READ) {
            self.server.closed(now_ns, conn);
            return Err(error);
        }
        let index = conn.index();
        if index >= self.sockets.len() {
            self.sockets.resize_with(index + 1, || None);
        }
        let interest = Interest::READ;
        self.sockets[index] = Some(Socket { stream, conn, interest, ended: false, waits: false });
        Ok(())
    }

    /// Reads what one connection has, once.
    fn receive(&mut self, now_ns: u64, conn: Conn) {
        let Some(socket) = socket_of(&mut self.sockets, conn) else { return };
        if socket.ended || !self.server.wants_to_read(conn) {
            // Only now that it has something to say need it be told to wait.
            socket.waits = !self.server.is_unfinished(conn);
            self.touched.push(conn);
            return;
        }
        match (&socket.stream).read(&mut self.buffer) {
            Ok(0) => {
                socket.ended = true;
                self.touched.push(conn);
            }
            Ok(count) => self.server.received(now_ns, conn, &self.buffer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // The peer is gone; that is its right.
            Err(_) => self.closing.push(conn),
        }
    }

    /// Sends what waits, and brings what is waited for up to date.
    fn settle(&mut self, now_ns: u64, conn: Conn) {
        let Some(socket) = socket_of(&mut self.sockets, conn) else { return };
        if self.server.is_broken(conn) {
            return self.closing.push(conn);
        }
        let full = match send(&mut self.server, socket) {
            Ok(full) => full,
            Err(_) => return self.closing.push(conn),
        };
        if socket.ended && self.server.is_idle(conn) {
            return self.closing.push(conn);
        }
        // A connection that may not speak is made to wait when it wants to (`receive`), and heard
        // again as soon as it may: as a rule neither is needed.
        socket.waits &= !self.server.wants_to_read(conn);
        let wanted = Interest { read: !socket.ended && !socket.waits, write: full };
        if wanted != socket.interest {
            let number = conn.number();
            if let Err(error) = self.poll.change(&socket.stream, number, wanted) {
                let failed = || format!("wait for connection: {error}; it is closed");
                self.server.notices().tell(now_ns, Kind::System, failed);
                return self.closing.push(conn);
            }
            socket.interest = wanted;
        }
    }

    /// Closes what is to be closed. Hundreds may go at once: what becomes due meanwhile does not
    /// wait for all of them.
    fn close_all(&mut self, mut now_ns: u64) {
        while let Some(conn) = self.closing.pop() {
            self.close(now_ns, conn);
            now_ns = self.answer_between(now_ns);
        }
    }

    fn close(&mut self, now_ns: u64, conn: Conn) {
        if socket_of(&mut self.sockets, conn).is_none() {
            return;
        }
        // Closing a socket takes it out of the set.
        self.sockets[conn.index()] = None;
        self.server.closed(now_ns, conn);
    }

    fn begin_conversation(&mut self, stream: TcpStream) -> io::Result<()> {
        stream.set_nonblocking(true)?;
        let index = match self.conversations.iter().position(Option::is_none) {
            Some(index) => index,
            None if self.conversations.len() < CONVERSATIONS => {
                self.conversations.push(None);
                self.conversations.len() - 1
            }
            // Who came first has had the most time.
            None => {
                self.oldest = (self.oldest + 1) % CONVERSATIONS;
                self.oldest
            }
        };
        self.conversations[index] = None;
        self.poll.add(&stream, CONVERSATION | index as u64, Interest::READ)?;
        self.conversations[index] = Some(Conversation::new(stream));
        Ok(())
    }

    fn converse(&mut self, now_ns: u64, index: usize) {
        let Some(Some(mut conversation)) = self.conversations.get_mut(index).map(Option::take)
        else {
            return;
        };
        let waits = conversation.go_on(|path| self.tell(now_ns, path));
        let write = match waits {
            Ok(Waits::ToRead) => false,
            Ok(Waits::ToWrite) => true,
            Ok(Waits::ForNothing) | Err(_) => return,
        };
        let (number, interest) = (CONVERSATION | index as u64, Interest { read: !write, write });
        if self.poll.change(conversation.stream(), number, interest).is_ok() {
            self.conversations[index] = Some(conversation);
        }
    }

    fn tell(&self, now_ns: u64, path: &str) -> Answer {
        match path {
            "/metrics" => Answer::found(
                "text/plain; version=0.0.4; charset=utf-8",
                self.server.service().witness().prometheus(),
            ),
            "/stat.json" => Answer::found("application/json", self.snapshot(now_ns).to_json()),
            _ => Answer::not_found("/metrics and /stat.json"),
        }
    }
}

/// The processor time that this thread has used.
fn processor_ns() -> u64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64
}

/// Sends what a connection has, in one system call where its socket takes it; true if it does not.
fn send(server: &mut Server, socket: &Socket) -> io::Result<bool> {
    loop {
        let mut slices = [IoSlice::new(&[]); SEND_PIECES];
        let count = server.gather(socket.conn, &mut slices);
        if count == 0 {
            return Ok(false);
        }
        let slices = &slices[..count];
        let wanted: usize = slices.iter().map(|slice| slice.len()).sum();
        let mut none = SendAncillaryBuffer::default();
        match sendmsg(&socket.stream, slices, &mut none, SendFlags::NOSIGNAL) {
            Ok(sent) => {
                server.sent(socket.conn, sent);
                if sent < wanted {
                    return Ok(true);
                }
            }
            Err(Errno::AGAIN) => return Ok(true),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn socket_of(sockets: &mut [Option<Socket>], conn: Conn) -> Option<&mut Socket> {
    sockets.get_mut(conn.index())?.as_mut().filter(|socket| socket.conn == conn)
}
