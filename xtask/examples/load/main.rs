//! Calls of NFSv3 as fast as one thread can make them, against any server: what the bench drives
//! our service and nfs-ganesha with, the same program for both.
//!
//! ```text
//! load WHAT --address HOST:PORT [--mount-port N] --export PATH --server-pid P [--cpu N]
//!      [--transfer BYTES] [--order random|sequential] [--files N]
//!      [--connections N] [--depth N] [--seconds S] [--once 1]
//! ```
//! WHAT is `read`, `write` (UNSTABLE), `getattr`, `lookup` or `create-remove`, in which each is
//! counted by itself. With `--once` each connection makes its calls once, all of them together, and
//! nothing is measured here. It works in the folder `load` of the export, on files of 2 MiB each:
//! more the back end MEM of nfs-ganesha does not keep. Not for measuring our client: it looks at a
//! reply's status and at nothing else.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use anyhow::{Context, Result, bail, ensure};
use nfs3::client::{Client, ClientOptions, Received};
use rustix::event::epoll;

mod measured;
mod session;
mod words;
mod work;

use measured::Window;
use session::Session;
use words::Words;
use work::{What, Work};

const BUFFER_BYTES: usize = 256 * 1024;
/// Beside the data: the head of a reply and attributes.
const HEAD_MAX_BYTES: usize = 512;

/// Between two looks of a generator that calls once and is in no hurry for the replies.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(2);

fn main() -> Result<()> {
    let mut words = Words::of_this_program();
    let what = What::of(&words.next_word().context("what is to be called?")?)?;
    measured::pin(words.number("--cpu")?)?;
    let address = words.text("--address").context("--address is needed")?;
    let (host, port) = address.rsplit_once(':').context("--address wants HOST:PORT")?;
    let mount_port = words.number("--mount-port")?.map_or(port.to_owned(), |port| port.to_string());
    let export = words.text("--export").context("--export is needed")?;
    let server_pid = words.needed("--server-pid")?;
    let transfer_bytes = words.number("--transfer")?.unwrap_or(8192);
    let connections = words.number("--connections")?.unwrap_or(1);
    let depth = words.number("--depth")?.unwrap_or(32);
    let seconds = words.number("--seconds")?.unwrap_or(4);
    let files = words.number("--files")?.unwrap_or(8);
    let once = words.number("--once")?.is_some();
    let sequential = match words.text("--order").as_deref() {
        None | Some("random") => false,
        Some("sequential") => true,
        Some(other) => bail!("--order is random or sequential, not `{other}`"),
    };
    words.finish()?;

    let root = Session::mount(&format!("{host}:{mount_port}"), &export)?;
    let session = Session::connect(&address)?;
    let work = Work::prepare(session, root, what, transfer_bytes, sequential, files as u64)?;
    let mut load = Load::new(work)?;
    for number in 0..connections {
        load.add(TcpStream::connect(&address)?, number, depth)?;
    }
    if once {
        load.pause = Some(PAUSE);
        return load.stop();
    }
    let mut window = Window::new(server_pid as u32, seconds as u64);
    let done = loop {
        load.step()?;
        if let Some(done) = window.look(load.done)? {
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
    /// How long to sleep between two looks for answers; where none, an answer ends the sleep.
    ///
    /// To wake who sleeps is a part of sending, some 10 us of it on a virtual machine, and the
    /// sleep is ours: it would be counted as the service's. And who never sleeps takes from a
    /// virtual machine what its other processor needs to be woken in time.
    pause: Option<std::time::Duration>,
}

struct Connection {
    stream: TcpStream,
    client: Client,
    /// Which lane of work has a slot.
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
        let mut events = std::mem::take(&mut self.events);
        events.clear();
        let spare = rustix::buffer::spare_capacity(&mut events);
        let at_once = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
        epoll::wait(&self.epoll, spare, self.pause.map(|_| &at_once))?;
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
                Some(Received::Stale { xid }) => bail!("a reply to nothing: {xid}"),
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
        let waits = connection.sent_bytes < connection.outgoing.len();
        if !waits {
            connection.outgoing.clear();
            connection.sent_bytes = 0;
        }
        if waits != connection.waits_to_send {
            connection.waits_to_send = waits;
            let mut flags = epoll::EventFlags::IN;
            flags.set(epoll::EventFlags::OUT, waits);
            let data = epoll::EventData::new_u64(number as u64);
            epoll::modify(&self.epoll, &connection.stream, data, flags)?;
        }
        Ok(())
    }

    /// Takes what is still to come, so that the server is not left with calls of nobody, and
    /// removes what was made.
    fn stop(mut self) -> Result<()> {
        self.stopping = true;
        while self.connections.iter().any(|connection| connection.client.outstanding() > 0) {
            self.step()?;
        }
        self.work.remove()
    }
}

impl Connection {
    /// Begins a lane's next call.
    fn begin(&mut self, work: &mut Work, lane: u32) -> Result<()> {
        let slot = work.begin(&mut self.client, lane).context("every lane has a slot")?;
        self.lanes[slot as usize] = lane;
        self.outgoing.extend_from_slice(self.client.message(slot));
        self.outgoing.extend_from_slice(work.data());
        Ok(())
    }
}
