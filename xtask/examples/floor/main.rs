//! The floor under the bench of NFS: two processes that only move the bytes of requests and
//! replies over TCP, with the same pipelining as a client and a server of NFS, and do nothing else.
//! No RPC, no XDR, no statistics: what is left is what the kernel asks for the transport.
//!
//! ```text
//! floor server [--cpu N] --request BYTES --reply BYTES
//! floor client [--cpu N] --request BYTES --reply BYTES --address A --server-pid P
//!              [--connections N] [--depth N] [--seconds S]
//! floor release [--cpu N] [--receiver-cpu N] --reply BYTES --replies N --each-second N
//!              [--data BYTES] [--connections N]
//! floor touch [--cpu N] --data BYTES
//! floor files [--cpu N] --count N
//! ```
//! The server prints its address and serves until it is killed. The client prints one line with
//! what it did and what it and the server spent on it. `release` is the floor under replies that a
//! limit holds back (`release.rs`), `touch` and `files` what memory and a growing table of files
//! cost there (`touch.rs`, `files.rs`).

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};

use anyhow::{Context, Result, bail};
use rustix::event::epoll;

mod files;
#[path = "../load/measured.rs"]
mod measured;
mod release;
mod touch;
#[path = "../load/words.rs"]
mod words;

use measured::Window;
use release::Plan;
use words::Words;

/// As large as the buffers of a careful program: what one call of `recv` may bring.
const BUFFER_BYTES: usize = 256 * 1024;

fn main() -> Result<()> {
    let mut words = Words::of_this_program();
    let side = words.next_word().context("`server`, `client`, `release`, `touch` or `files`?")?;
    measured::pin(words.number("--cpu")?)?;
    if side == "touch" {
        let data_bytes = words.needed("--data")?;
        words.finish()?;
        return touch::run(data_bytes);
    }
    if side == "files" {
        let count = words.needed("--count")?;
        words.finish()?;
        return files::run(count);
    }
    let reply_bytes = words.needed("--reply")?;
    if side == "release" {
        let plan = Plan {
            reply_bytes,
            replies: words.needed("--replies")?,
            each_second: words.needed("--each-second")?,
            data_bytes: words.number("--data")?.unwrap_or(reply_bytes),
            connections: words.number("--connections")?.unwrap_or(1),
        };
        let receiver_cpu = words.number("--receiver-cpu")?;
        words.finish()?;
        return release::run(&plan, receiver_cpu);
    }
    let request_bytes = words.needed("--request")?;
    match side.as_str() {
        "server" => {
            words.finish()?;
            serve(request_bytes, reply_bytes)
        }
        "client" => {
            let address = words.text("--address").context("--address is needed")?;
            let server_pid = words.needed("--server-pid")?;
            let connections = words.number("--connections")?.unwrap_or(1);
            let depth = words.number("--depth")?.unwrap_or(32);
            let seconds = words.number("--seconds")?.unwrap_or(4);
            words.finish()?;
            let mut client = Exchange::new(reply_bytes, request_bytes)?;
            for _ in 0..connections {
                client.add(TcpStream::connect(&address)?, depth)?;
            }
            let mut window = Window::new(server_pid as u32, seconds as u64);
            let exchanges = loop {
                client.step()?;
                if client.is_empty() {
                    bail!("the server closed the connections");
                }
                if let Some(exchanges) = window.look(client.exchanges)? {
                    break exchanges;
                }
            };
            writeln!(std::io::stdout(), "{}", window.line(exchanges))?;
            Ok(())
        }
        other => bail!("`server`, `client`, `release`, `touch` or `files`, not `{other}`"),
    }
}

fn serve(request_bytes: usize, reply_bytes: usize) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?)?;
    listener.set_nonblocking(true)?;
    let mut server = Exchange::new(request_bytes, reply_bytes)?;
    let flags = epoll::EventFlags::IN;
    epoll::add(&server.epoll, &listener, epoll::EventData::new_u64(LISTENER), flags)?;
    loop {
        if server.step()? {
            let (stream, _) = listener.accept()?;
            server.add(stream, 0)?;
        }
    }
}

const LISTENER: u64 = u64::MAX;

/// Connections on which each message that comes in is answered with one that goes out: a server's
/// are requests and replies, a client's replies and the next requests.
struct Exchange {
    epoll: std::os::fd::OwnedFd,
    in_bytes: usize,
    out_bytes: usize,
    buffer: Vec<u8>,
    outgoing: Vec<u8>,
    events: Vec<epoll::Event>,
    connections: Vec<Option<Connection>>,
    /// Whole messages that came in.
    exchanges: u64,
}

struct Connection {
    stream: TcpStream,
    /// Bytes of a message that is not whole yet.
    part_bytes: usize,
    /// Bytes still to send.
    owed_bytes: usize,
    waits_to_send: bool,
}

impl Exchange {
    fn new(in_bytes: usize, out_bytes: usize) -> Result<Exchange> {
        Ok(Exchange {
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            in_bytes,
            out_bytes,
            buffer: vec![0; BUFFER_BYTES],
            outgoing: vec![1; BUFFER_BYTES],
            events: Vec::with_capacity(256),
            connections: Vec::new(),
            exchanges: 0,
        })
    }

    /// Takes a connection and begins with `first` messages.
    fn add(&mut self, stream: TcpStream, first: usize) -> Result<()> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let key = self.connections.len() as u64;
        let data = epoll::EventData::new_u64(key);
        epoll::add(&self.epoll, &stream, data, epoll::EventFlags::IN)?;
        let owed_bytes = first * self.out_bytes;
        let connection = Connection { stream, part_bytes: 0, owed_bytes, waits_to_send: false };
        self.connections.push(Some(connection));
        self.send(key as usize)
    }

    fn is_empty(&self) -> bool {
        self.connections.iter().all(Option::is_none)
    }

    /// Waits for something and does it. `true`: somebody wants to connect.
    fn step(&mut self) -> Result<bool> {
        let mut events = std::mem::take(&mut self.events);
        events.clear();
        epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None)?;
        let mut connects = false;
        for event in &events {
            let (key, flags) = (event.data.u64(), event.flags);
            if key == LISTENER {
                connects = true;
                continue;
            }
            if flags.intersects(epoll::EventFlags::IN | epoll::EventFlags::HUP) {
                self.receive(key as usize)?;
            }
            self.send(key as usize)?;
        }
        self.events = events;
        Ok(connects)
    }

    /// One `recv`: what it leaves is told again.
    fn receive(&mut self, key: usize) -> Result<()> {
        let Some(connection) = &mut self.connections[key] else { return Ok(()) };
        match connection.stream.read(&mut self.buffer) {
            Ok(0) => self.connections[key] = None,
            Ok(bytes) => {
                let all = connection.part_bytes + bytes;
                let whole = all / self.in_bytes;
                connection.part_bytes = all % self.in_bytes;
                connection.owed_bytes += whole * self.out_bytes;
                self.exchanges += whole as u64;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {
                self.connections[key] = None;
            }
            Err(error) => return Err(error).context("receive"),
        }
        Ok(())
    }

    fn send(&mut self, key: usize) -> Result<()> {
        let Some(connection) = &mut self.connections[key] else { return Ok(()) };
        while connection.owed_bytes > 0 {
            let bytes = connection.owed_bytes.min(self.outgoing.len());
            match connection.stream.write(&self.outgoing[..bytes]) {
                Ok(sent) => connection.owed_bytes -= sent,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => {
                    // The peer is gone in the middle of a reply; reading tells how.
                    if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) {
                        self.connections[key] = None;
                        return Ok(());
                    }
                    return Err(error).context("send");
                }
            }
        }
        let waits = connection.owed_bytes > 0;
        if waits != connection.waits_to_send {
            connection.waits_to_send = waits;
            let mut flags = epoll::EventFlags::IN;
            flags.set(epoll::EventFlags::OUT, waits);
            let data = epoll::EventData::new_u64(key as u64);
            epoll::modify(&self.epoll, &connection.stream, data, flags)?;
        }
        Ok(())
    }
}
