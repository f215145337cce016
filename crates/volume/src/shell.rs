//! The service with its sockets: one thread, one epoll loop.
//!
//! For: running a [`Server`] on real addresses, in this process or as a program of its own, and
//! speaking with it while it runs: what it saw, another description, its end. Not for: what a
//! request means (`server.rs`), nor for the turn of the loop (`shell/event_loop.rs`).
//!
//! An idle service makes no system call and uses no processor time: it waits for its sockets, for
//! ever if nothing is due.

mod datagrams;
mod descriptors;
mod event_loop;
mod haste;
mod http;
mod poll;
mod snapshot;

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use cloud::catalog::Catalog;
use rustix::thread::gettid;
use units::Bytes;

use crate::config::Config;
use crate::notice::Log;
use crate::rules::Breach;
use crate::server::{Open, Server, ServerOptions, StartError, in_memory};

use datagrams::Datagrams;
use descriptors::{Budget, Needs};
use event_loop::{CONVERSATIONS, EventLoop, Listening, Serves};
use poll::Waker;

pub use snapshot::Snapshot;

/// Connections that wait to be accepted, for each address; the kernel has its own limit beside.
const BACKLOG: i32 = 4096;

/// What the service is run with.
pub struct Options {
    /// What it is to be. Port 0 of an endpoint is any that is free.
    pub config: Config,
    /// The facts that the rules come from.
    pub catalog: Catalog,
    /// Memory that all volumes together may take.
    pub memory: Bytes,
    /// The directory that volumes are kept in; without it they are in memory, and gone at the end.
    pub data: Option<PathBuf>,
    /// Another port at which the portmapper answers, over TCP and UDP, at each endpoint's address.
    pub portmapper: Option<u16>,
    /// Where `/metrics` and `/stat.json` are answered.
    pub metrics: Option<SocketAddr>,
    /// Connections that are served at once, if the system lets us have so many files.
    pub connections_max: usize,
    /// Replies that have memory before limits or delays hold them; see [`Server::make_room`].
    pub held_room: usize,
    /// Takes lines for whoever runs the service. Called in the thread that serves: it must not
    /// wait for anything.
    pub log: Log,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("config", &self.config)
            .field("memory", &self.memory)
            .field("data", &self.data)
            .field("portmapper", &self.portmapper)
            .field("metrics", &self.metrics)
            .field("connections_max", &self.connections_max)
            .field("held_room", &self.held_room)
            .finish_non_exhaustive()
    }
}

/// Why the service cannot begin, or ended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Rules that the account breaks.
    #[error("start service: {}", all(.0))]
    Account(Vec<Breach>),
    /// Volumes that cannot be opened, each with the reason.
    #[error("open volumes: {}", .0.join("; "))]
    Volumes(Vec<String>),
    /// An address is not ours, or is taken.
    #[error("listen at {address} for {what}: {source}; {}", remedy(*.address, .source))]
    Listen {
        /// Which.
        address: SocketAddr,
        /// For what.
        what: String,
        /// Why.
        source: io::Error,
    },
    /// The system refused something else.
    #[error("{doing}: {source}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The thread that serves ended before it was told to: a mistake of ours.
    #[error("serve: the service's thread ended by itself")]
    Ended,
}

fn all(breaches: &[Breach]) -> String {
    breaches.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn remedy(address: SocketAddr, source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::AddrInUse => "choose another port, or 0 for any that is free".to_owned(),
        io::ErrorKind::AddrNotAvailable => {
            format!("{} is no address of this host; see `ip address`", address.ip())
        }
        io::ErrorKind::PermissionDenied => "ports below 1024 want root".to_owned(),
        _ => "choose another address".to_owned(),
    }
}

/// What another thread asks of the one that serves.
enum Command {
    Snapshot(Sender<Snapshot>),
    Change(Box<Config>, Sender<Result<(), Vec<Breach>>>),
    Stop(Sender<Snapshot>),
}

/// A service that runs. Dropping it ends the service.
#[derive(Debug)]
pub struct Running {
    addresses: Vec<SocketAddr>,
    portmappers: Vec<SocketAddr>,
    metrics: Option<SocketAddr>,
    commands: Sender<Command>,
    waker: Waker,
    thread: Option<JoinHandle<io::Result<()>>>,
    thread_id: i32,
}

impl Running {
    /// Starts to serve; clients can connect when this returns.
    ///
    /// # Errors
    /// Rules that are broken, addresses that cannot be had; then nothing is left behind.
    pub fn start(options: Options) -> Result<Running, Error> {
        let system = |doing| move |source| Error::System { doing, source };
        let Options { config, catalog, memory, data, portmapper, metrics, .. } = options;
        let Options { connections_max, held_room, log, .. } = options;
        let log = Arc::new(Mutex::new(log));
        let needs = Needs {
            connections: connections_max,
            // Each endpoint, and its portmapper over TCP and UDP.
            listeners: 3 * config.endpoints.len(),
            conversations: if metrics.is_some() { 1 + CONVERSATIONS } else { 0 },
            volumes: data.as_ref().map(|_| config.account.volumes.len()),
        };
        let limit = descriptors::raise_limit();
        let budget = Budget::divide(limit, descriptors::open_now(), &needs);
        if let Some(line) = budget.shortage(limit, &needs) {
            tell(&log, &line);
        }
        let open = match data {
            None => in_memory(),
            Some(path) => kept_in(&path, &log, budget.data)?,
        };
        let connections_max = budget.connections;
        let started = Instant::now();
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut listening = Vec::new();
        let (mut addresses, mut portmappers) = (Vec::new(), Vec::new());
        let mut datagrams = Vec::new();
        for (endpoint, one) in config.endpoints.iter().enumerate() {
            let listener = listen(one.address, &format!("endpoint `{}`", one.name))?;
            let address = listener.local_addr().map_err(system("look at an address"))?;
            addresses.push(address);
            let nfs_port = address.port();
            listening.push(Listening { listener, serves: Serves::Endpoint { endpoint, nfs_port } });
            let Some(port) = portmapper else { continue };
            let address = SocketAddr::new(one.address.ip(), port);
            // Endpoints that share an address share its portmapper; it tells the first one's port.
            if port != 0 && portmappers.contains(&address) {
                continue;
            }
            let listener = listen(address, "the portmapper")?;
            let address = listener.local_addr().map_err(system("look at an address"))?;
            portmappers.push(address);
            let socket = UdpSocket::bind(address).map_err(|source| {
                let what = "the portmapper over UDP".to_owned();
                Error::Listen { address, what, source }
            })?;
            datagrams.push(Datagrams { socket, endpoint, nfs_port });
            listening.push(Listening { listener, serves: Serves::Endpoint { endpoint, nfs_port } });
        }
        let mut metrics_address = None;
        if let Some(address) = metrics {
            let listener = listen(address, "metrics")?;
            metrics_address = Some(listener.local_addr().map_err(system("look at an address"))?);
            listening.push(Listening { listener, serves: Serves::Http });
        }
        let options = ServerOptions { memory, connections_max, epoch_ns: epoch.as_nanos() as u64 };
        let log = Box::new(move |line: &str| tell(&log, line));
        let server = Server::open(0, catalog, config, options, open, log);
        let mut server = server.map_err(|error| match error {
            StartError::Account(broken) => Error::Account(broken),
            StartError::Volumes(problems) => Error::Volumes(problems),
        })?;
        for (one, address) in datagrams.iter().zip(&portmappers) {
            server.set_portmapper_udp(one.endpoint, address.port());
        }
        let (send, commands): (_, Receiver<Command>) = channel();
        let waker = Waker::new().map_err(system("make an eventfd"))?;
        let theirs = waker.clone().map_err(system("copy an eventfd"))?;
        descriptors::make_room(&waker, limit.min(budget.all));
        let mut event_loop =
            EventLoop::new(server, listening, datagrams, theirs, commands, started)
                .map_err(system("make an epoll set"))?;
        let (send_id, thread_id) = channel();
        let thread = std::thread::Builder::new()
            .name("volume".to_owned())
            .spawn(move || {
                // Nobody is there to take it if the service was given up meanwhile.
                let _ = send_id.send(gettid().as_raw_nonzero().get());
                // Without this the kernel lets a held reply leave 50 us late.
                rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
                event_loop.run(held_room)
            })
            .map_err(system("start the service's thread"))?;
        Ok(Running {
            addresses,
            portmappers,
            metrics: metrics_address,
            commands: send,
            waker,
            thread: Some(thread),
            thread_id: thread_id.recv().map_err(|_| Error::Ended)?,
        })
    }

    /// Where each endpoint listens, in the order of the description.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Where else the portmapper answers.
    pub fn portmappers(&self) -> &[SocketAddr] {
        &self.portmappers
    }

    /// Where `/metrics` and `/stat.json` are answered.
    pub const fn metrics(&self) -> Option<SocketAddr> {
        self.metrics
    }

    /// The number that the kernel knows the serving thread by, as in `/proc/self/task`.
    pub const fn thread_id(&self) -> i32 {
        self.thread_id
    }

    /// What the service has seen until now.
    ///
    /// # Errors
    /// It ended by itself.
    pub fn snapshot(&self) -> Result<Snapshot, Error> {
        self.ask(Command::Snapshot)
    }

    /// Steps to another description at once, with connections and requests as they are.
    ///
    /// # Errors
    /// All rules that this would break (then the old description stays in force), or the service
    /// ended by itself.
    pub fn change(&self, config: Config) -> Result<(), Error> {
        let config = Box::new(config);
        self.ask(|answer| Command::Change(config, answer))?.map_err(Error::Account)
    }

    /// Ends the service: connections are closed, replies that are held are dropped. Gives what it
    /// saw.
    ///
    /// # Errors
    /// It had ended by itself.
    pub fn stop(mut self) -> Result<Snapshot, Error> {
        let last = self.ask(Command::Stop);
        self.join()?;
        last
    }

    fn ask<T>(&self, command: impl FnOnce(Sender<T>) -> Command) -> Result<T, Error> {
        let (send, answer) = channel();
        self.commands.send(command(send)).map_err(|_| Error::Ended)?;
        self.waker.wake();
        answer.recv().map_err(|_| Error::Ended)
    }

    fn join(&mut self) -> Result<(), Error> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        let ended = thread.join().map_err(|_| Error::Ended)?;
        ended.map_err(|source| Error::System { doing: "serve", source })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.thread.is_some() {
            // A service that ended by itself has nobody left to tell here; `stop` tells.
            let _ = self.ask(Command::Stop);
            let _ = self.join();
        }
    }
}

/// Volumes that are kept in a directory.
fn kept_in(path: &Path, log: &Arc<Mutex<Log>>, descriptors: u64) -> Result<Open, Error> {
    let theirs = Arc::clone(log);
    let directory = disk::Directory::open(path, move |line| tell(&theirs, line));
    let directory = directory.map_err(|error| Error::Volumes(vec![error.to_string()]))?;
    directory.set_descriptors(usize::try_from(descriptors).unwrap_or(usize::MAX));
    Ok(Box::new(move |name, options| {
        directory.volume(name, options).map_err(|error| error.to_string())
    }))
}

fn tell(log: &Mutex<Log>, line: &str) {
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    log(line);
}

/// Half of this host's memory: what volumes may take where nobody says anything.
pub fn half_of_memory() -> Bytes {
    let info = rustix::system::sysinfo();
    Bytes::new((info.totalram as u64).saturating_mul(u64::from(info.mem_unit)) / 2)
}

fn listen(address: SocketAddr, what: &str) -> Result<TcpListener, Error> {
    let failed = |source| Error::Listen { address, what: what.to_owned(), source };
    let listener = TcpListener::bind(address).map_err(failed)?;
    rustix::net::listen(&listener, BACKLOG).map_err(|error| failed(error.into()))?;
    Ok(listener)
}
