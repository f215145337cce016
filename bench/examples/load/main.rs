//! A generator of NFSv3 calls: as many as one thread can make, for any server. `bench nfs` uses it
//! for the emulated volume and for nfs-ganesha.
//!
//! ```text
//! load CALL --address HOST:PORT [--mount-port N] --export PATH --server-pid P [--cpu N]
//!      [--transfer BYTES] [--order random|sequential] [--files N]
//!      [--connections N] [--depth N] [--seconds S] [--once 1] [--blocking 1]
//! ```
//! CALL is `read`, `write` (UNSTABLE), `getattr`, `lookup` or `create-remove`, which counts each
//! CREATE and each REMOVE. With `--once`, every slot makes one call, all at the same time, and
//! nothing is measured. With `--blocking`, the only connection is read by a call that blocks, which is
//! the least that a client with one connection can do: a system call for each batch of replies, and
//! one for the calls that follow. The files are in the folder `load` of the export and have 2 MiB each, the
//! most that the back end MEM of nfs-ganesha stores. The generator checks only the status of a
//! reply, so its CPU time says nothing about the built-in client.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use anyhow::{Context, Result, bail, ensure};
use nfs3::client::{Client, ClientOptions, Received};
use rustix::event::epoll;

mod arguments;
mod session;
mod window;
mod work;

use arguments::Arguments;
use session::Session;
use window::Window;
use work::{Call, Work};

const BUFFER_BYTES: usize = 256 * 1024;
/// Most bytes of a reply without the data: header and attributes.
const HEAD_MAX_BYTES: usize = 512;

/// Pause between two polls with `--once`, where replies need not be read immediately.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(2);

fn main() -> Result<()> {
    let mut words = Arguments::read();
    let call = Call::parse(&words.take_first().context("CALL is required")?)?;
    window::pin(words.number("--cpu")?)?;
    let address = words.text("--address").context("--address is required")?;
    let (host, port) = address.rsplit_once(':').context("--address needs HOST:PORT")?;
    let mount_port = words.number("--mount-port")?.map_or(port.to_owned(), |port| port.to_string());
    let export = words.text("--export").context("--export is required")?;
    let server_pid = words.required("--server-pid")?;
    let transfer_bytes = words.number("--transfer")?.unwrap_or(8192);
    let connections = words.number("--connections")?.unwrap_or(1);
    let depth = words.number("--depth")?.unwrap_or(32);
    let seconds = words.number("--seconds")?.unwrap_or(4);
    let files = words.number("--files")?.unwrap_or(8);
    let once = words.number("--once")?.is_some();
    let blocking = words.number("--blocking")?.is_some();
    ensure!(!blocking || connections == 1, "--blocking needs one connection");
    let sequential = match words.text("--order").as_deref() {
        None | Some("random") => false,
        Some("sequential") => true,
        Some(other) => bail!("--order must be random or sequential, not `{other}`"),
    };
    words.finish()?;

    let root = Session::mount(&format!("{host}:{mount_port}"), &export)?;
    let session = Session::connect(&address)?;
    let work = Work::prepare(session, root, call, transfer_bytes, sequential, files as u64)?;
    let mut load = Load::new(work)?;
    for number in 0..connections {
        load.add(TcpStream::connect(&address)?, number, depth)?;
    }
    if blocking {
        load.connections[0].stream.set_nonblocking(false)?;
        load.is_blocking = true;
    }
    if once {
        load.pause = Some(PAUSE);
        return load.stop();
    }
    let mut window = Window::new(server_pid as u32, seconds as u64);
    let done = loop {
        load.step()?;
        if let Some(done) = window.poll(load.done)? {
            break done;
        }
    };
    writeln!(std::io::stdout(), "{}", window.line(done))?;
    load.stop()
}

/// All connections of the generator.
struct Load {
    work: Work,
    epoll: std::os::fd::OwnedFd,
    events: Vec<epoll::Event>,
    buffer: Vec<u8>,
    connections: Vec<Connection>,
    done: u64,
    stopping: bool,
    /// The only connection is read without waiting for an event first.
    is_blocking: bool,
    /// Pause between two polls for replies; `None` blocks until one arrives.
    ///
    /// Waking a blocked client is part of the server's send, about 10 us on a virtual machine,
    /// which would count as the server's. A client that never sleeps delays the wake-ups of the
    /// virtual machine's other processor.
    pause: Option<std::time::Duration>,
}

struct Connection {
    stream: TcpStream,
    client: Client,
    /// The lane of the call in each slot.
    lanes: Vec<u32>,
    outgoing: Vec<u8>,
    sent_bytes: usize,
    waits_to_send: bool,
}

impl Load {
    fn new(work: Work) -> Result<Load> {
        Ok(Load {
            work,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            events: Vec::with_capacity(256),
            buffer: vec![0; BUFFER_BYTES],
            connections: Vec::new(),
            done: 0,
            stopping: false,
            is_blocking: false,
            pause: None,
        })
    }

    fn add(&mut self, stream: TcpStream, number: usize, depth: usize) -> Result<()> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let data = epoll::EventData::new_u64(number as u64);
        epoll::add(&self.epoll, &stream, data, epoll::EventFlags::IN)?;
        let options = ClientOptions {
            slots: depth as u32,
            max_reply_bytes: self.work.transfer_bytes + HEAD_MAX_BYTES,
            first_generation: session::first_generation(number),
        };
        let mut connection = Connection {
            stream,
            client: Client::new(options),
            lanes: vec![0; depth],
            outgoing: Vec::new(),
            sent_bytes: 0,
            waits_to_send: false,
        };
        for _ in 0..depth {
            let lane = self.work.new_lane();
            connection.begin(&mut self.work, lane)?;
        }
        self.connections.push(connection);
        self.send(number)
    }

    fn step(&mut self) -> Result<()> {
        if self.is_blocking {
            self.receive(0)?;
            return self.send(0);
        }
        let mut events = std::mem::take(&mut self.events);
        events.clear();
        let spare = rustix::buffer::spare_capacity(&mut events);
        let no_wait = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
        epoll::wait(&self.epoll, spare, self.pause.map(|_| &no_wait))?;
        if let Some(pause) = self.pause.filter(|_| events.is_empty()) {
            std::thread::sleep(pause);
        }
        for event in &events {
            let (number, flags) = (event.data.u64() as usize, event.flags);
            if flags.intersects(epoll::EventFlags::IN | epoll::EventFlags::HUP) {
                self.receive(number)?;
            }
            self.send(number)?;
        }
        self.events = events;
        Ok(())
    }

    fn receive(&mut self, number: usize) -> Result<()> {
        let connection = &mut self.connections[number];
        let bytes = match connection.stream.read(&mut self.buffer) {
            Ok(0) => bail!("the server closed connection {number}"),
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error).context("receive"),
        };
        let mut input = &self.buffer[..bytes];
        loop {
            let slot = match connection.client.receive(&mut input)? {
                Some(Received::Completed(completion)) => {
                    let good = completion.body.get(..4) == Some(&[0; 4]);
                    ensure!(good, "a call failed: {:?}", completion.results());
                    completion.slot
                }
                Some(Received::Stale { xid }) => bail!("a reply without a call: xid {xid}"),
                None => return Ok(()),
            };
            self.done += 1;
            let lane = connection.lanes[slot as usize];
            if !self.stopping {
                connection.begin(&mut self.work, lane)?;
            }
        }
    }

    fn send(&mut self, number: usize) -> Result<()> {
        let connection = &mut self.connections[number];
        while connection.sent_bytes < connection.outgoing.len() {
            match connection.stream.write(&connection.outgoing[connection.sent_bytes..]) {
                Ok(bytes) => connection.sent_bytes += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error).context("send"),
            }
        }
        let is_blocked = connection.sent_bytes < connection.outgoing.len();
        if !is_blocked {
            connection.outgoing.clear();
            connection.sent_bytes = 0;
        }
        if is_blocked != connection.waits_to_send {
            connection.waits_to_send = is_blocked;
            let mut flags = epoll::EventFlags::IN;
            flags.set(epoll::EventFlags::OUT, is_blocked);
            let data = epoll::EventData::new_u64(number as u64);
            epoll::modify(&self.epoll, &connection.stream, data, flags)?;
        }
        Ok(())
    }

    /// Receives all outstanding replies and removes the files.
    fn stop(mut self) -> Result<()> {
        self.stopping = true;
        while self.connections.iter().any(|connection| connection.client.outstanding() > 0) {
            self.step()?;
        }
        self.work.remove()
    }
}

impl Connection {
    /// Starts a lane's next call.
    fn begin(&mut self, work: &mut Work, lane: u32) -> Result<()> {
        let slot = work.begin(&mut self.client, lane).context("there is a slot per lane")?;
        self.lanes[slot as usize] = lane;
        self.outgoing.extend_from_slice(self.client.message(slot));
        self.outgoing.extend_from_slice(work.data());
        Ok(())
    }
}
