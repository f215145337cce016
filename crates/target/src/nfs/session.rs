//! A mounted export, accessed with one blocking call at a time, for everything except the
//! measurement. Measured operations use [`super::files::NfsFiles`].

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use nfs3::mount::{dirpath, exportnode, mountstat3};
use nfs3::portmap::{IPPROTO_TCP, PMAP_PORT, mapping};
use nfs3::procedure::{MOUNT_PROGRAM, MOUNT_V3, NFS_PROGRAM, NFS_V3};
use nfs3::request::{
    Arguments, MountArguments, MountResults, NfsArguments, NfsResults, PortmapArguments,
    PortmapResults, Results,
};
use nfs3::results::FSINFO3resok;
use nfs3::types::{Handle, nfsstat3, nfstime3};

use super::channel::Channel;
use super::dial::Caller;
use super::error::{NfsError, NfsFailure};
use super::url::NfsUrl;
use super::waiting::{Awaited, CallWait, POLL, WaitMonitor, WaitObserver};

/// Waits before a call is repeated after NFS3ERR_JUKEBOX; they grow from 20 ms to the 5 s that the
/// kernel's client waits. A blocking call fails when its time limit is over.
pub(super) const JUKEBOX: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(20)..=Duration::from_secs(5);
/// Default maximum of a READ or WRITE, in bytes: the limit of the kernel's client.
const TRANSFER_BYTES_MAX: u32 = 1 << 20;
/// Transfers are multiples of the page size of most clients and servers.
const PAGE_BYTES: u32 = 4096;
/// Minimum of a READ or WRITE, in bytes, whatever the server reports.
const TRANSFER_BYTES_MIN: u32 = 512;

/// Calls of which the shortest round-trip time is taken, because queueing only lengthens it.
const NULL_CALLS: usize = 8;
/// Time limit for connecting, and for each of these calls.
const NULL_TIME_MAX: Duration = Duration::from_millis(500);

/// Placeholder until FSINFO is answered.
const NOT_KNOWN_YET: FSINFO3resok = FSINFO3resok {
    obj_attributes: None,
    rtmax: 0,
    rtpref: 0,
    rtmult: 0,
    wtmax: 0,
    wtpref: 0,
    wtmult: 0,
    dtpref: 0,
    maxfilesize: 0,
    time_delta: nfstime3 { seconds: 0, nseconds: 0 },
    properties: 0,
};

/// An object on an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NfsFile {
    /// The server's handle for it.
    pub handle: Handle,
    /// Server and path, for messages.
    pub path: String,
}

impl NfsFile {
    /// The path of the entry `name` in this directory, for messages.
    pub(super) fn path_of(&self, name: &[u8]) -> String {
        format!("{}/{}", self.path.trim_end_matches('/'), String::from_utf8_lossy(name))
    }
}

/// The result of mounting, shared by everything that accesses the export.
#[derive(Debug)]
pub struct Mounted {
    /// The URL that was mounted.
    pub url: NfsUrl,
    /// The addresses of the NFS service, over which connections are distributed in turn.
    pub servers: Vec<SocketAddr>,
    /// The identity in every call.
    pub caller: Caller,
    /// The folder that the URL names.
    pub root: NfsFile,
    /// Maximum of a READ in bytes, see [`Mounted::transfer_bytes`].
    pub rsize_bytes: u32,
    /// Maximum of a WRITE in bytes.
    pub wsize_bytes: u32,
    /// The server's limits and preferences.
    pub info: FSINFO3resok,
    /// Reports waits outside of the measurement, and cancels them.
    pub monitor: Arc<WaitMonitor>,
}

impl Mounted {
    /// The maximum of a READ or WRITE in bytes: the URL's value (`configured`), or else the
    /// server's preference, and at most the server's limit `max` (0: not reported). From 4 KiB on
    /// it is a multiple of the page size, like the Linux client's: otherwise concurrent overlapping
    /// operations could leave a mixture of their data within one page, which cannot be verified.
    pub fn transfer_bytes(configured: Option<u32>, preferred: u32, max: u32) -> u32 {
        let max = if max == 0 { TRANSFER_BYTES_MAX } else { max };
        let preferred = if preferred == 0 { max } else { preferred };
        let size = configured.unwrap_or(preferred.min(TRANSFER_BYTES_MAX)).min(max);
        let pages = size - size % PAGE_BYTES;
        if pages == 0 { size.max(TRANSFER_BYTES_MIN) } else { pages }
    }
}

/// A connection to a mounted export.
#[derive(Debug)]
pub struct Session {
    mounted: Arc<Mounted>,
    channel: Channel,
    jukebox_retries: u64,
}

/// Resolves the URL's host.
fn resolve(url: &NfsUrl, port: u16, monitor: &WaitMonitor) -> Result<SocketAddr, NfsError> {
    let failed = |source: io::Error| NfsError {
        procedure: "CONNECT",
        file: url.authority(),
        failure: match source.kind() {
            io::ErrorKind::Interrupted => NfsFailure::Cancelled,
            _ => NfsFailure::Connection { address: url.host.clone(), source },
        },
    };
    if let Ok(address) = url.host.parse::<IpAddr>() {
        return Ok(SocketAddr::new(address, port));
    }
    // A resolver cannot be interrupted, so it runs in a thread that may outlive this call.
    let (sender, receiver) = mpsc::channel();
    let host = url.host.clone();
    std::thread::spawn(move || {
        let found = (host.as_str(), port).to_socket_addrs().map(|mut found| found.next());
        // The receiver is gone if this took too long.
        let _ = sender.send(found);
    });
    let mut waiting = CallWait::begin(monitor, &url.host);
    let found = loop {
        match receiver.recv_timeout(POLL) {
            Ok(found) => break found,
            Err(_) if waiting.elapsed() >= url.connect_timeout => {
                let reason = format!(
                    "its name was not resolved within {} s",
                    url.connect_timeout.as_secs_f64()
                );
                break Err(io::Error::new(io::ErrorKind::TimedOut, reason));
            }
            Err(_) => waiting.check_wait(Awaited::Address).map_err(failed)?,
        }
    };
    let none = || failed(io::Error::other("the name has no address"));
    found.map_err(failed)?.ok_or_else(none)
}

/// Asks the portmapper of the URL's host for a program's port.
fn port_of(
    url: &NfsUrl,
    caller: &Caller,
    (program, version): (u32, u32),
    option: &'static str,
    monitor: &Arc<WaitMonitor>,
) -> Result<u16, NfsError> {
    let name = if program == NFS_PROGRAM { "NFS version 3" } else { "MOUNT version 3" };
    let failed = |failure| NfsError { procedure: "GETPORT", file: url.authority(), failure };
    let address = resolve(url, PMAP_PORT as u16, monitor)?;
    let mut channel = Channel::new(address, false, url, monitor);
    channel.connect().map_err(failed)?;
    let requested = mapping { prog: program, vers: version, prot: IPPROTO_TCP, port: 0 };
    let call = Arguments::Portmap(PortmapArguments::GETPORT(requested));
    let port = channel.call(caller, &call, |results| match results {
        Results::Portmap(PortmapResults::GETPORT(port)) => port,
        _ => 0,
    });
    match u16::try_from(port.map_err(failed)?) {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(failed(NfsFailure::NotRegistered { program: name, option })),
    }
}

impl Session {
    /// Mounts the folder at `url`.
    ///
    /// # Errors
    /// The server cannot be reached, does not export the path, or does not have the folder.
    pub fn open(url: &NfsUrl) -> Result<Session, NfsError> {
        Session::open_with(url, &Arc::default())
    }

    /// Mounts the folder at `url`; `observer` is notified of waits and can cancel them.
    ///
    /// # Errors
    /// As [`Session::open`]; [`NfsFailure::Cancelled`] if the observer cancelled.
    pub fn open_observed(
        url: &NfsUrl,
        observer: &Arc<dyn WaitObserver>,
    ) -> Result<Session, NfsError> {
        Session::open_with(url, &Arc::new(WaitMonitor::new(Arc::clone(observer))))
    }

    fn open_with(url: &NfsUrl, monitor: &Arc<WaitMonitor>) -> Result<Session, NfsError> {
        let caller = Caller::of(url);
        let nfs_port = match url.port {
            Some(port) => port,
            None => port_of(url, &caller, (NFS_PROGRAM, NFS_V3), "port", monitor)?,
        };
        let mount_port = match url.mount_port {
            Some(port) => port,
            None => port_of(url, &caller, (MOUNT_PROGRAM, MOUNT_V3), "mountport", monitor)?,
        };
        let with_port = |address: &IpAddr| SocketAddr::new(*address, nfs_port);
        let mut servers: Vec<SocketAddr> = url.addresses.iter().map(with_port).collect();
        if servers.is_empty() {
            servers.push(resolve(url, nfs_port, monitor)?);
        }
        let mount_address = resolve(url, mount_port, monitor)?;
        let (handle, rest) = mount(url, &caller, mount_address, monitor)?;
        let root = NfsFile { handle, path: format!("{}:{}", url.authority(), url.path) };
        let mut channel = Channel::new(servers[0], url.privileged, url, monitor);
        let connected = channel.connect();
        let at_root = |failure| NfsError { procedure: "CONNECT", file: root.path.clone(), failure };
        connected.map_err(at_root)?;

        let mounted = Mounted {
            url: url.clone(),
            servers,
            caller,
            root: root.clone(),
            rsize_bytes: 0,
            wsize_bytes: 0,
            info: NOT_KNOWN_YET,
            monitor: Arc::clone(monitor),
        };
        let mut session = Session { mounted: Arc::new(mounted), channel, jukebox_retries: 0 };
        let info = session.fsinfo(&root)?;
        let mounted = Arc::get_mut(&mut session.mounted).expect("it is not shared yet");
        mounted.rsize_bytes = Mounted::transfer_bytes(url.rsize_bytes, info.rtpref, info.rtmax);
        mounted.wsize_bytes = Mounted::transfer_bytes(url.wsize_bytes, info.wtpref, info.wtmax);
        mounted.info = info;
        session.descend(&rest)?;
        Ok(session)
    }

    /// Looks up the folder that the URL names, starting at the root of the export.
    fn descend(&mut self, names: &[String]) -> Result<(), NfsError> {
        if names.is_empty() {
            return Ok(());
        }
        let depth = names.len();
        let path = self.mounted.root.path.clone();
        let above: Vec<&str> = path.rsplitn(depth + 1, '/').collect();
        let mut folder = NfsFile {
            handle: self.mounted.root.handle,
            path: above.last().copied().unwrap_or_default().to_owned(),
        };
        for name in names {
            folder = self.lookup(&folder, name.as_bytes())?.0;
        }
        let mounted = Arc::get_mut(&mut self.mounted).expect("it is not shared yet");
        mounted.root.handle = folder.handle;
        Ok(())
    }

    /// Another connection to the same export, opened by the first call.
    pub fn another(&self) -> Session {
        Session::of(&self.mounted)
    }

    /// A connection to a mounted export, opened by the first call.
    pub fn of(mounted: &Arc<Mounted>) -> Session {
        let url = &mounted.url;
        Session {
            mounted: Arc::clone(mounted),
            channel: Channel::new(mounted.servers[0], url.privileged, url, &mounted.monitor),
            jukebox_retries: 0,
        }
    }

    /// The mounted export.
    pub fn mounted(&self) -> &Arc<Mounted> {
        &self.mounted
    }

    /// The folder that the URL names.
    pub fn root(&self) -> NfsFile {
        self.mounted.root.clone()
    }

    /// Sets the time limit of a call including repetitions; by default twice `timeo`.
    pub fn set_deadline(&mut self, deadline: Duration) {
        self.channel.set_deadline(deadline);
    }

    /// Stops reporting waits; the user can still cancel them.
    pub(crate) fn unreported(mut self) -> Session {
        self.channel.set_monitor(self.mounted.monitor.unreported());
        self
    }

    /// How often calls were repeated after NFS3ERR_JUKEBOX.
    pub fn jukebox_retries(&self) -> u64 {
        self.jukebox_retries
    }

    /// How often a lost connection was replaced.
    pub fn reconnects(&self) -> u64 {
        self.channel.reconnects()
    }

    /// Calls an NFS procedure for `file`, and repeats it after NFS3ERR_JUKEBOX until its time
    /// limit. `take` returns `None` for results of another procedure.
    pub(super) fn call<R>(
        &mut self,
        file: &str,
        arguments: NfsArguments<'_>,
        take: impl Fn(NfsResults<'_>) -> Option<Result<R, nfsstat3>>,
    ) -> Result<R, NfsError> {
        let procedure = arguments.procedure().name();
        let failed = |failure| NfsError { procedure, file: file.to_owned(), failure };
        let mut wait = *JUKEBOX.start();
        let monitor = Arc::clone(self.channel.monitor());
        let server = self.channel.server().to_owned();
        let (mut waiting, mut times) = (CallWait::begin(&monitor, &server), 0);
        loop {
            let results =
                self.channel.call(&self.mounted.caller, &Arguments::Nfs(arguments), |results| {
                    match results {
                        Results::Nfs(results) => take(results),
                        _ => None,
                    }
                });
            match results.map_err(failed)? {
                Some(Ok(value)) => return Ok(value),
                Some(Err(nfsstat3::NFS3ERR_JUKEBOX)) => {
                    self.jukebox_retries += 1;
                    times += 1;
                    let within = self.channel.deadline();
                    if waiting.elapsed() + wait > within {
                        return Err(failed(NfsFailure::Jukebox { times, within }));
                    }
                    let awaited = Awaited::NotJukebox(procedure, times);
                    waiting.sleep(wait, awaited).map_err(|_| failed(NfsFailure::Cancelled))?;
                    wait = (wait * 2).min(*JUKEBOX.end());
                }
                Some(Err(status)) => return Err(failed(NfsFailure::Status(status))),
                None => return Err(failed(wrong_procedure())),
            }
        }
    }
}

/// The shortest round-trip time of [`NULL_CALLS`] calls of procedure NULL (RFC 1813, 3.3.0) to the
/// first server over a separate connection: network and RPC layer, without storage and its limits.
/// Takes at most twice [`NULL_TIME_MAX`]; `None` if no call was answered in time.
pub fn null_round_trip(mounted: &Mounted) -> Option<Duration> {
    let until = Instant::now() + NULL_TIME_MAX * 2;
    let url =
        NfsUrl { timeo: NULL_TIME_MAX, connect_timeout: NULL_TIME_MAX, ..mounted.url.clone() };
    let server = *mounted.servers.first()?;
    let mut channel = Channel::new(server, url.privileged, &url, &mounted.monitor);
    channel.connect().ok()?;
    let call = Arguments::Nfs(NfsArguments::NULL(()));
    let round_trip = || {
        channel.set_deadline(until.saturating_duration_since(Instant::now()).min(NULL_TIME_MAX));
        let begun = Instant::now();
        let is_null = |results: Results<'_>| matches!(results, Results::Nfs(NfsResults::NULL(())));
        let answered = channel.call(&mounted.caller, &call, is_null);
        answered.ok().filter(|is_null| *is_null).map(|_| begun.elapsed())
    };
    // Stops at the first failure: each further call to an unresponsive server would take its limit.
    std::iter::from_fn(round_trip).take(NULL_CALLS).min()
}

/// Mounts the longest part of the URL's path that the server accepts; returns its handle and the
/// names below it.
fn mount(
    url: &NfsUrl,
    caller: &Caller,
    server: SocketAddr,
    monitor: &Arc<WaitMonitor>,
) -> Result<(Handle, Vec<String>), NfsError> {
    let failed = |procedure, failure| NfsError {
        procedure,
        file: format!("{}:{}", url.authority(), url.path),
        failure,
    };
    let mut channel = Channel::new(server, url.privileged, url, monitor);
    channel.connect().map_err(|failure| failed("CONNECT", failure))?;
    let names: Vec<String> =
        url.path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let mut first_refusal = None;
    for depth in (0..=names.len()).rev() {
        let path = format!("/{}", names[..depth].join("/"));
        let call = Arguments::Mount(MountArguments::MNT(dirpath(path.as_bytes())));
        let result = channel.call(caller, &call, |results| match results {
            Results::Mount(MountResults::MNT(result)) => {
                Some(result.map(|ok| Handle::from(ok.fhandle)))
            }
            _ => None,
        });
        match result.map_err(|failure| failed("MNT", failure))? {
            Some(Ok(handle)) => return Ok((handle, names[depth..].to_vec())),
            Some(Err(status)) => {
                first_refusal.get_or_insert(status);
            }
            None => return Err(failed("MNT", wrong_procedure())),
        }
    }
    let refusal = first_refusal.expect("at least `/` was tried");
    if refusal == mountstat3::MNT3ERR_NOENT
        && let Some(exports) = exports(&mut channel, caller)
    {
        let nearest = units::nearest(&url.path, exports.iter().map(String::as_str));
        let nearest = nearest.map(str::to_owned);
        return Err(failed("MNT", NfsFailure::NoExport { exports, nearest }));
    }
    Err(failed("MNT", NfsFailure::Mount(refusal)))
}

/// The paths that the server exports, where it lists them (RFC 1813, section 5.2.5).
fn exports(channel: &mut Channel, caller: &Caller) -> Option<Vec<String>> {
    let call = Arguments::Mount(MountArguments::EXPORT(()));
    let listed = channel.call(caller, &call, |results| match results {
        Results::Mount(MountResults::EXPORT(exports)) => {
            let path = |node: &exportnode<'_>| String::from_utf8_lossy(node.ex_dir.0).into_owned();
            Some(exports.0.iter().map(path).collect())
        }
        _ => None,
    });
    // A failure is ignored: the list only improves the error message.
    listed.ok().flatten()
}

fn wrong_procedure() -> NfsFailure {
    NfsFailure::Malformed("results of another procedure".to_owned())
}
