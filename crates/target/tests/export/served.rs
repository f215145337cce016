//! The emulated service's volumes on a socket, with a clock that the test sets and a hook before
//! each request.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::SystemTime;

use files::{FileSystem, Options, Time, Unstable};
use nfs3::request::{Arguments, NfsArguments};
use nfs3::server::{Programs, Received, Server, ServerOptions};
use target::nfs::NfsUrl;
use units::Bytes;
use volume::export_rules::ExportRules;
use volume::exports::{Export, Exports, VolumeIndex, fsid_of};
use volume::ids::EndpointId;
use volume::peer::Peer;
use volume::reply::Reply;

const NAME: &str = "vol1";

/// Called before each NFS request.
type Before = Box<dyn FnMut(&NfsArguments<'_>, &mut FileSystem, Time) + Send>;

struct Shared {
    exports: Mutex<Exports>,
    volume: VolumeIndex,
    before: Mutex<Before>,
    /// Renewals by a lock's holder are blocked; changed while the exports are locked.
    is_holder_stopped: AtomicBool,
    holder_continues: Condvar,
    /// Seconds by which the server's clock is ahead.
    ahead_s: AtomicU64,
    /// Connected clients.
    clients: AtomicU64,
    ended: AtomicBool,
}

/// A server with the one volume `vol1`, until it is dropped.
pub(crate) struct Served {
    shared: Arc<Shared>,
    address: SocketAddr,
}

impl Shared {
    fn now(&self) -> Time {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let ahead_s = self.ahead_s.load(Ordering::SeqCst);
        Time { seconds: (now.as_secs() + ahead_s) as u32, nanoseconds: now.subsec_nanos() }
    }

    /// Serves one client until it disconnects.
    fn serve(&self, mut stream: TcpStream) {
        let programs = Programs { nfs: true, mount: true, portmap: true };
        let options = ServerOptions { programs, max_call_bytes: 2 << 20, max_in_progress: 1 };
        let peer = Peer::new(
            stream.peer_addr().unwrap(),
            EndpointId::new(0),
            stream.local_addr().unwrap().port(),
        );
        let mut rpc = Server::new(options);
        let (mut reply, mut refused) = (Reply::new(), Vec::new());
        let mut bytes = vec![0; 256 << 10];
        loop {
            let count = match stream.read(&mut bytes) {
                Ok(count) if count > 0 && !self.ended.load(Ordering::SeqCst) => count,
                _ => return,
            };
            let mut input = &bytes[..count];
            while let Some(received) = rpc.receive(&mut input, &mut refused).unwrap() {
                let Received::Request(request) = received else { continue };
                let mut exports = self.exports.lock().unwrap();
                while self.is_holder_stopped.load(Ordering::SeqCst)
                    && is_late_renewal(&request.arguments, self.now())
                {
                    exports = self.holder_continues.wait(exports).unwrap();
                }
                let now = self.now();
                if let Arguments::Nfs(arguments) = &request.arguments
                    && let Some(export) = exports.get_mut(self.volume)
                {
                    self.before.lock().unwrap()(arguments, &mut export.files, now);
                }
                exports.perform(&request, &peer, now, &mut reply);
                drop(exports);
                rpc.finished();
                if stream.write_all(&reply.to_vec()).is_err() {
                    return;
                }
            }
            assert!(refused.is_empty(), "a call was refused");
        }
    }
}

/// Whether the request renews a lock that was last renewed before a jump of the clock. Renewals are
/// the only guarded SETATTRs that keep the size; the guard is the last renewal, which is otherwise
/// at most some seconds old.
fn is_late_renewal(arguments: &Arguments<'_>, now: Time) -> bool {
    match arguments {
        Arguments::Nfs(NfsArguments::SETATTR(args)) => {
            let is_touch = args.new_attributes.size.is_none();
            is_touch && args.guard.is_some_and(|guard| now.seconds - guard.seconds >= 30)
        }
        _ => false,
    }
}

impl Served {
    pub(crate) fn start() -> Served {
        let files = FileSystem::new(Options {
            fsid: fsid_of(NAME),
            instance: 7,
            quota: Bytes::mib(256),
            memory_max: Bytes::gib(1),
            inodes_max: 10_000,
            file_size_max: Bytes::gib(16),
            links_max: 1000,
            unstable: Unstable::MayBeLost { max: Bytes::mib(64) },
            transfer_max: 128 << 10,
            root: (0, 0, 0o755),
            made: Time { seconds: 1, nanoseconds: 0 },
        });
        let (name, rules) = (NAME.to_owned(), ExportRules::default());
        let mut exports = Exports::new();
        let volume = exports.add(Export { name, files, rules, endpoints: None }).unwrap();
        let shared = Arc::new(Shared {
            exports: Mutex::new(exports),
            volume,
            before: Mutex::new(Box::new(|_, _, _| ())),
            is_holder_stopped: AtomicBool::new(false),
            holder_continues: Condvar::new(),
            ahead_s: AtomicU64::new(0),
            clients: AtomicU64::new(0),
            ended: AtomicBool::new(false),
        });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if serving.ended.load(Ordering::SeqCst) {
                    return;
                }
                let (shared, stream) = (Arc::clone(&serving), stream.unwrap());
                shared.clients.fetch_add(1, Ordering::SeqCst);
                std::thread::spawn(move || {
                    shared.serve(stream);
                    shared.clients.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Served { shared, address }
    }

    /// The URL of the volume with additional options.
    pub(crate) fn url_with(&self, options: &str) -> NfsUrl {
        let port = self.address.port();
        format!("nfs://127.0.0.1:{port}/{NAME}?mountport={port}{options}").parse().unwrap()
    }

    pub(crate) fn url(&self) -> NfsUrl {
        self.url_with("")
    }

    /// Advances the server's clock.
    pub(crate) fn later(&self, seconds: u64) {
        self.shared.ahead_s.fetch_add(seconds, Ordering::SeqCst);
    }

    /// Advances the clock and runs `work` while renewals by the lock's holder are blocked.
    pub(crate) fn after_silence<R>(&self, seconds: u64, work: impl FnOnce() -> R) -> R {
        let set_stopped = |is_stopped| {
            let exports = self.shared.exports.lock().unwrap();
            self.shared.is_holder_stopped.store(is_stopped, Ordering::SeqCst);
            if is_stopped {
                self.later(seconds);
            }
            drop(exports);
            self.shared.holder_continues.notify_all();
        };
        set_stopped(true);
        let result = work();
        set_stopped(false);
        result
    }

    /// Number of connected clients.
    pub(crate) fn clients(&self) -> u64 {
        self.shared.clients.load(Ordering::SeqCst)
    }

    /// The volumes, locked against requests.
    pub(crate) fn exports(&self) -> (MutexGuard<'_, Exports>, VolumeIndex) {
        (self.shared.exports.lock().unwrap(), self.shared.volume)
    }

    pub(crate) fn before_each(
        &self,
        before: impl FnMut(&NfsArguments<'_>, &mut FileSystem, Time) + Send + 'static,
    ) {
        *self.shared.before.lock().unwrap() = Box::new(before);
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        // Wakes the accepting thread.
        drop(TcpStream::connect(self.address));
    }
}
