//! The floor of `bench nfs`: two processes that only move the bytes of requests and replies over
//! TCP, with the same pipelining as an NFS client and server. No RPC, no XDR, no statistics: their
//! CPU time is that of the transport in the kernel.
//!
//! ```text
//! floor server [--cpu N] --request BYTES --reply BYTES
//! floor client [--cpu N] --request BYTES --reply BYTES --address A --server-pid P
//!              [--connections N] [--depth N] [--seconds S]
//! floor release [--cpu N] [--receiver-cpu N] --reply BYTES --replies N --each-second N
//!              [--data BYTES] [--connections N]
//! floor touch [--cpu N] --data BYTES
//! floor files [--cpu N] --count N
//! floor names [--cpu N] --directory D [--threads N] [--files N] [--size BYTES] [--rounds N]
//! ```
//! The server prints its address and serves until it is killed. The client prints one line with its
//! count of exchanges and the CPU time of both. `release` is the floor for replies that a limit
//! delays (`release.rs`); `touch` and `files` measure what memory and a growing file table cost
//! (`touch.rs`, `files.rs`). `names` is the floor of `bench names` (`names.rs`).

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};

use anyhow::{Context, Result, bail};
use rustix::event::epoll;

#[path = "../load/arguments.rs"]
mod arguments;
mod files;
mod names;
mod release;
mod touch;
#[path = "../load/window.rs"]
mod window;

use arguments::Arguments;
use release::Plan;
use window::Window;

/// Most bytes of one `recv` call.
const BUFFER_BYTES: usize = 256 * 1024;

fn main() -> Result<()> {
    let mut words = Arguments::read();
    let command = words.take_first().context("a command is required")?;
    window::pin(words.number("--cpu")?)?;
    if command == "touch" {
        let data_bytes = words.required("--data")?;
        words.finish()?;
        return touch::run(data_bytes);
    }
    if command == "files" {
        let count = words.required("--count")?;
        words.finish()?;
        return files::run(count);
    }
    if command == "names" {
        let directory = words.text("--directory").context("--directory is required")?;
        let plan = names::Plan {
            threads: words.number("--threads")?.unwrap_or(16),
            files: words.number("--files")?.unwrap_or(1000),
            size_bytes: words.number("--size")?.unwrap_or(0),
            rounds: words.number("--rounds")?.unwrap_or(1),
        };
        words.finish()?;
        return names::run(std::path::Path::new(&directory), &plan);
    }
    let reply_bytes = words.required("--reply")?;
    if command == "release" {
        let plan = Plan {
            reply_bytes,
            replies: words.required("--replies")?,
            each_second: words.required("--each-second")?,
            data_bytes: words.number("--data")?.unwrap_or(reply_bytes),
            connections: words.number("--connections")?.unwrap_or(1),
        };
        let receiver_cpu = words.number("--receiver-cpu")?;
        words.finish()?;
        return release::run(&plan, receiver_cpu);
    }
    let request_bytes = words.required("--request")?;
    match command.as_str() {
        "server" => {
            words.finish()?;
            serve(request_bytes, reply_bytes)
        }
        "client" => {
            let address = words.text("--address").context("--address is required")?;
            let server_pid = words.required("--server-pid")?;
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
                if let Some(exchanges) = window.poll(client.exchanges)? {
                    break exchanges;
                }
            };
            writeln!(std::io::stdout(), "{}", window.line(exchanges))?;
            Ok(())
        }
        other => bail!("unknown command `{other}`"),
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

/// Connections that send a message for each one received: a server sends a reply per request, a
/// client the next request per reply.
struct Exchange {
    epoll: std::os::fd::OwnedFd,
    in_bytes: usize,
    out_bytes: usize,
    buffer: Vec<u8>,
    outgoing: Vec<u8>,
    events: Vec<epoll::Event>,
    connections: Vec<Option<Connection>>,
    /// Messages received.
    exchanges: u64,
}

struct Connection {
    stream: TcpStream,
    /// Received bytes of an incomplete message.
    partial_bytes: usize,
    /// Bytes to send.
    pending_bytes: usize,
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

    /// Adds a connection and sends `first` messages.
    fn add(&mut self, stream: TcpStream, first: usize) -> Result<()> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let key = self.connections.len() as u64;
        let data = epoll::EventData::new_u64(key);
        epoll::add(&self.epoll, &stream, data, epoll::EventFlags::IN)?;
        let pending_bytes = first * self.out_bytes;
        let connection =
            Connection { stream, partial_bytes: 0, pending_bytes, waits_to_send: false };
        self.connections.push(Some(connection));
        self.send(key as usize)
    }

    fn is_empty(&self) -> bool {
        self.connections.iter().all(Option::is_none)
    }

    /// Waits for events and handles them. Returns whether a client is connecting.
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

    /// Calls `recv` once; if data remains, epoll reports it again.
    fn receive(&mut self, key: usize) -> Result<()> {
        let Some(connection) = &mut self.connections[key] else { return Ok(()) };
        match connection.stream.read(&mut self.buffer) {
            Ok(0) => self.connections[key] = None,
            Ok(bytes) => {
                let all = connection.partial_bytes + bytes;
                let whole = all / self.in_bytes;
                connection.partial_bytes = all % self.in_bytes;
                connection.pending_bytes += whole * self.out_bytes;
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
        while connection.pending_bytes > 0 {
            let bytes = connection.pending_bytes.min(self.outgoing.len());
            match connection.stream.write(&self.outgoing[..bytes]) {
                Ok(sent) => connection.pending_bytes -= sent,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => {
                    // The peer closed the connection in the middle of a reply.
                    if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) {
                        self.connections[key] = None;
                        return Ok(());
                    }
                    return Err(error).context("send");
                }
            }
        }
        let is_blocked = connection.pending_bytes > 0;
        if is_blocked != connection.waits_to_send {
            connection.waits_to_send = is_blocked;
            let mut flags = epoll::EventFlags::IN;
            flags.set(epoll::EventFlags::OUT, is_blocked);
            let data = epoll::EventData::new_u64(key as u64);
            epoll::modify(&self.epoll, &connection.stream, data, flags)?;
        }
        Ok(())
    }
}
