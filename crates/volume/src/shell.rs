//! The service with its sockets: one thread, one epoll loop.
//!
//! For: running a [`Server`] on real addresses, in this process or as a separate program, and
//! controlling it while it runs: snapshots, a new configuration, stopping. Not for: requests
//! (`server.rs`) or a turn of the loop (`shell/event_loop.rs`).
//!
//! An idle service makes no system calls and uses no CPU time.

mod descriptors;
mod event_loop;
mod http;
mod poll;
mod snapshot;
mod transfer;
mod udp_portmapper;
mod wakeup;

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use cloud::catalog::Catalog;
use rustix::thread::gettid;
use units::Bytes;

use crate::config::Config;
use crate::ids::EndpointId;
use crate::notice::Log;
use crate::rules::Breach;
use crate::server::{OpenFiles, Server, ServerOptions, StartError, open_in_memory};

use descriptors::{Budget, Needs};
use event_loop::{Command, EventLoop, Listening, Serves};
use http::HTTP_CONNECTIONS;
use poll::Waker;
use udp_portmapper::UdpPortmapper;

pub use descriptors::raise_limit as raise_descriptor_limit;
pub use snapshot::Snapshot;

/// Length of each listener's accept queue; the kernel has its own limit too.
const BACKLOG: i32 = 4096;

/// How to run the service.
pub struct Options {
    /// The configuration. Port 0 of an endpoint is any free port.
    pub config: Config,
    /// The facts behind the rules.
    pub catalog: Catalog,
    /// Memory limit of all volumes together.
    pub memory: Bytes,
    /// The directory of volumes on disk. Without it volumes are in memory and lost at the end.
    pub data: Option<PathBuf>,
    /// A further port of the portmapper, over TCP and UDP, at each endpoint's address.
    pub portmapper: Option<u16>,
    /// The address of `/metrics` and `/stat.json`.
    pub metrics: Option<SocketAddr>,
    /// Most open connections, if the limit of file descriptors allows so many.
    pub connections_max: usize,
    /// How many deferred replies to allocate memory for; see [`Server::reserve_deferred`].
    pub deferred_reserve: usize,
    /// Receives log lines for the operator. Called in the serving thread, so it must not block.
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
            .field("deferred_reserve", &self.deferred_reserve)
            .finish_non_exhaustive()
    }
}

/// Why the service cannot start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Rules that the account breaks.
    #[error("start service: {}", all(.0))]
    Account(Vec<Breach>),
    /// Volumes that cannot be opened, each with the reason.
    #[error("open volumes: {}", .0.join("; "))]
    Volumes(Vec<String>),
    /// An address does not belong to this host, or is in use.
    #[error("listen at {address} for {what}: {source}; {}", remedy(*.address, .source))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the address serves.
        what: String,
        /// The cause.
        source: io::Error,
    },
    /// Another system call failed.
    #[error("{doing}: {source}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// The serving thread ended unexpectedly: an internal error.
    #[error("the service's thread ended unexpectedly")]
    Ended,
}

fn all(breaches: &[Breach]) -> String {
    breaches.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn remedy(address: SocketAddr, source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::AddrInUse => "choose another port, or 0 for any free port".to_owned(),
        io::ErrorKind::AddrNotAvailable => {
            format!("{} is not an address of this host; see `ip address`", address.ip())
        }
        io::ErrorKind::PermissionDenied => "ports below 1024 require root".to_owned(),
        _ => "choose another address".to_owned(),
    }
}

/// A running service. Dropping it stops the service.
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
    /// Starts the service; clients can connect when this returns.
    ///
    /// # Errors
    /// Broken rules, or addresses that cannot be used. Then nothing keeps running.
    pub fn start(options: Options) -> Result<Running, Error> {
        let system = |doing| move |source| Error::System { doing, source };
        let Options { config, catalog, memory, data, portmapper, metrics, .. } = options;
        let Options { connections_max, deferred_reserve, log, .. } = options;
        let log = Arc::new(Mutex::new(log));
        let needs = Needs {
            connections: connections_max,
            // Each endpoint, and its portmapper over TCP and UDP.
            listeners: 3 * config.endpoints.len(),
            http: if metrics.is_some() { 1 + HTTP_CONNECTIONS } else { 0 },
            volumes: data.as_ref().map(|_| config.account.volumes.len()),
        };
        let limit = descriptors::raise_limit(u64::MAX);
        let budget = Budget::divide(limit, descriptors::count_open(), &needs);
        if let Some(line) = budget.shortage(limit, &needs) {
            write_line(&log, &line);
        }
        let open_files = match data {
            None => open_in_memory(),
            Some(path) => on_disk(&path, &log, budget.data)?,
        };
        let connections_max = budget.connections;
        let started = Instant::now();
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut listening = Vec::new();
        let (mut addresses, mut portmappers) = (Vec::new(), Vec::new());
        let mut udp_portmappers = Vec::new();
        for (index, one) in config.endpoints.iter().enumerate() {
            let endpoint = EndpointId::new(index);
            let listener = listen(one.address, &format!("endpoint `{}`", one.name))?;
            let address = listener.local_addr().map_err(system("read a local address"))?;
            addresses.push(address);
            let nfs_port = address.port();
            listening.push(Listening { listener, serves: Serves::Endpoint { endpoint, nfs_port } });
            let Some(port) = portmapper else { continue };
            let address = SocketAddr::new(one.address.ip(), port);
            // Endpoints that share an address share its portmapper, which returns the first one's
            // port.
            if port != 0 && portmappers.contains(&address) {
                continue;
            }
            let listener = listen(address, "the portmapper")?;
            let address = listener.local_addr().map_err(system("read a local address"))?;
            portmappers.push(address);
            let socket = UdpSocket::bind(address).map_err(|source| {
                let what = "the portmapper over UDP".to_owned();
                Error::Listen { address, what, source }
            })?;
            udp_portmappers.push(UdpPortmapper { socket, endpoint, nfs_port });
            listening.push(Listening { listener, serves: Serves::Endpoint { endpoint, nfs_port } });
        }
        let mut metrics_address = None;
        if let Some(address) = metrics {
            let listener = listen(address, "metrics")?;
            metrics_address = Some(listener.local_addr().map_err(system("read a local address"))?);
            listening.push(Listening { listener, serves: Serves::Http });
        }
        let options = ServerOptions { memory, connections_max, epoch_ns: epoch.as_nanos() as u64 };
        let log = Box::new(move |line: &str| write_line(&log, line));
        let server = Server::open(0, catalog, config, options, open_files, log);
        let mut server = server.map_err(|error| match error {
            StartError::Account(broken) => Error::Account(broken),
            StartError::Volumes(problems) => Error::Volumes(problems),
        })?;
        for (one, address) in udp_portmappers.iter().zip(&portmappers) {
            server.set_portmapper_udp(one.endpoint, address.port());
        }
        let (send, commands) = channel();
        let waker = Waker::new().map_err(system("create an eventfd"))?;
        let loop_waker = waker.clone().map_err(system("duplicate an eventfd"))?;
        descriptors::grow_file_table(&waker, limit.min(budget.all));
        let mut event_loop =
            EventLoop::new(server, listening, udp_portmappers, loop_waker, commands, started)
                .map_err(system("create an epoll instance"))?;
        let (send_id, thread_id) = channel();
        let thread = std::thread::Builder::new()
            .name("volume".to_owned())
            .spawn(move || {
                // Fails only if the starting thread is gone.
                let _ = send_id.send(gettid().as_raw_nonzero().get());
                // The default timer slack sends deferred replies 50 us late.
                rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
                event_loop.run(deferred_reserve)
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

    /// The address of each endpoint, in the order of the configuration.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Further addresses of the portmapper.
    pub fn portmappers(&self) -> &[SocketAddr] {
        &self.portmappers
    }

    /// The address of `/metrics` and `/stat.json`.
    pub const fn metrics(&self) -> Option<SocketAddr> {
        self.metrics
    }

    /// The kernel's id of the serving thread, as in `/proc/self/task`.
    pub const fn thread_id(&self) -> i32 {
        self.thread_id
    }

    /// The service's state and counters now.
    ///
    /// # Errors
    /// The service ended unexpectedly.
    pub fn snapshot(&self) -> Result<Snapshot, Error> {
        self.execute(Command::Snapshot)
    }

    /// Replaces the configuration immediately. Connections stay open and requests keep waiting.
    ///
    /// # Errors
    /// All rules that this would break (then the old configuration stays in force), or the service
    /// ended unexpectedly.
    pub fn change(&self, config: Config) -> Result<(), Error> {
        let config = Box::new(config);
        self.execute(|answer| Command::Change(config, answer))?.map_err(Error::Account)
    }

    /// Stops the service: closes connections, drops deferred replies. Returns its last snapshot.
    ///
    /// # Errors
    /// The service ended unexpectedly before.
    pub fn stop(mut self) -> Result<Snapshot, Error> {
        let last = self.execute(Command::Stop);
        self.join()?;
        last
    }

    /// Sends a command to the serving thread and waits for the answer.
    fn execute<T>(&self, command: impl FnOnce(Sender<T>) -> Command) -> Result<T, Error> {
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
            // Errors are reported by `stop` only.
            let _ = self.execute(Command::Stop);
            let _ = self.join();
        }
    }
}

/// Opens volumes in a directory.
fn on_disk(path: &Path, log: &Arc<Mutex<Log>>, descriptors: u64) -> Result<OpenFiles, Error> {
    let disk_log = Arc::clone(log);
    let directory = disk::Directory::open(path, move |line| write_line(&disk_log, line));
    let directory = directory.map_err(|error| Error::Volumes(vec![error.to_string()]))?;
    directory.set_descriptors(usize::try_from(descriptors).unwrap_or(usize::MAX));
    Ok(Box::new(move |name, options| {
        directory.volume(name, options).map_err(|error| error.to_string())
    }))
}

fn write_line(log: &Mutex<Log>, line: &str) {
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    log(line);
}

/// Half of this host's memory: the default memory limit of volumes.
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
