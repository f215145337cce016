//! A running service, and a client connection that sends single calls.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use cloud::catalog::Catalog;
use nfs3::arguments::*;
use nfs3::client::{Client, ClientOptions, Received};
use nfs3::mount::dirpath;
use nfs3::request::{Arguments, MountArguments, MountResults, NfsArguments, NfsResults, Results};
use nfs3::results::Res3;
use nfs3::rpc::{AuthSys, Credential, Gids};
use nfs3::types::*;
use units::Bytes;
use volume::config;
use volume::shell::{Options, Running, Snapshot};

/// Longer than any step takes on a slow, busy machine. Reached only when the service is stuck.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// A manual pool with the volume `vol1` of 1 TiB, followed by `more`.
pub(crate) fn configured(throughput: &str, more: &str) -> config::Config {
    let text = format!(
        "[account]\ncapacity_quota = \"100TiB\"\n\
         [[endpoint]]\nname = \"ep1\"\naddress = \"127.0.0.1:0\"\n\
         [[pool]]\nname = \"pool1\"\nservice_level = \"ultra\"\nsize = \"50TiB\"\nqos = \"manual\"\n\
         [[volume]]\nname = \"vol1\"\npool = \"pool1\"\nquota = \"1TiB\"\n\
         throughput = \"{throughput}\"\n{more}"
    );
    let mut open = |name: &str| Err(format!("there is no {name}"));
    let config = config::parse(&text, "volumes.toml", &Catalog::embedded(), &mut open);
    config.expect("a valid configuration")
}

/// Options for a configuration, and the log lines of the service.
pub(crate) fn options(config: config::Config) -> (Options, Receiver<String>) {
    let (send, lines) = channel();
    let log = Box::new(move |line: &str| {
        // Fails if the test does not read the lines.
        let _ = send.send(line.to_owned());
    });
    let options = Options {
        config,
        catalog: Catalog::embedded(),
        memory: Bytes::gib(1),
        data: None,
        portmapper: None,
        metrics: None,
        connections_max: 1000,
        deferred_reserve: 0,
        log,
    };
    (options, lines)
}

/// A service with one volume and these limits and delays.
pub(crate) fn service(throughput: &str, more: &str) -> Running {
    Running::start(options(configured(throughput, more)).0).expect("start the service")
}

/// A client's connection.
pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    pub(crate) rpc: Client,
    credential: Credential<'static>,
    /// Bytes received and not yet taken by `rpc`.
    input: Vec<u8>,
}

/// The attributes of a new file.
const ATTRIBUTES: sattr3 = sattr3 {
    mode: Some(0o644),
    uid: None,
    gid: None,
    size: None,
    atime: set_time::DONT_CHANGE,
    mtime: set_time::DONT_CHANGE,
};

/// The reply to a call.
pub(crate) struct Reply {
    pub(crate) slot: u32,
    pub(crate) procedure: nfs3::procedure::Procedure,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn nfs(&self) -> NfsResults<'_> {
        match Results::decode(self.procedure, &self.body).expect("valid results") {
            Results::Nfs(results) => results,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn data(&self) -> Vec<u8> {
        match self.nfs() {
            NfsResults::READ(Res3::Ok(ok)) => ok.data.0.to_vec(),
            other => panic!("{other:?}"),
        }
    }
}

impl Connection {
    pub(crate) fn to(address: SocketAddr) -> Connection {
        Connection::over(TcpStream::connect(address).expect("connect"))
    }

    pub(crate) fn over(stream: TcpStream) -> Connection {
        stream.set_nodelay(true).expect("set TCP_NODELAY");
        stream.set_read_timeout(Some(TIMEOUT)).expect("set a timeout");
        stream.set_write_timeout(Some(TIMEOUT)).expect("set a timeout");
        let port = stream.local_addr().expect("the local address").port();
        let rpc = Client::new(ClientOptions {
            slots: 4096,
            max_reply_bytes: (1 << 20) + 4096,
            first_generation: u32::from(port),
        });
        let gids = Gids::new(&[]).expect("few groups");
        let machinename = &b"test"[..];
        let sys = AuthSys { stamp: 0, machinename, uid: 1000, gid: 1000, gids };
        Connection { stream, rpc, credential: Credential::Sys(sys), input: Vec::new() }
    }

    /// Encodes a call. Returns its slot and its bytes, which are not sent yet.
    pub(crate) fn begin(&mut self, arguments: &Arguments<'_>) -> (u32, Vec<u8>) {
        let slot = self.rpc.call(&self.credential, arguments).expect("a free slot");
        (slot, self.rpc.message(slot).to_vec())
    }

    /// Sends a call.
    pub(crate) fn send(&mut self, arguments: NfsArguments<'_>) -> u32 {
        let (slot, bytes) = self.begin(&Arguments::Nfs(arguments));
        self.stream.write_all(&bytes).expect("send a call");
        slot
    }

    /// Waits for the next reply.
    pub(crate) fn receive(&mut self) -> Reply {
        self.try_receive().expect("the service closed the connection")
    }

    /// Waits for the next reply; `None` if the service closed the connection first.
    pub(crate) fn try_receive(&mut self) -> Option<Reply> {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let mut input = &self.input[..];
            let received = self.rpc.receive(&mut input).expect("valid replies");
            let reply = received.map(|received| match received {
                Received::Completed(done) => {
                    Reply { slot: done.slot, procedure: done.procedure, body: done.body.to_vec() }
                }
                Received::Stale { xid } => panic!("a reply to no call: {xid}"),
            });
            let taken = self.input.len() - input.len();
            self.input.drain(..taken);
            if reply.is_some() {
                return reply;
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return None,
                Ok(count) => self.input.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("wait for a reply: {error}"),
            }
        }
    }

    /// Sends a call and waits for its reply, with nothing else outstanding.
    pub(crate) fn call(&mut self, arguments: NfsArguments<'_>) -> Reply {
        let slot = self.send(arguments);
        let reply = self.receive();
        assert_eq!(reply.slot, slot);
        reply
    }

    /// Mounts a path and returns its handle.
    pub(crate) fn mount(&mut self, path: &str) -> Vec<u8> {
        let arguments = MountArguments::MNT(dirpath(path.as_bytes()));
        let (_, bytes) = self.begin(&Arguments::Mount(arguments));
        self.stream.write_all(&bytes).expect("send a call");
        let reply = self.receive();
        match Results::decode(reply.procedure, &reply.body).expect("valid results") {
            Results::Mount(MountResults::MNT(Ok(ok))) => ok.fhandle.0.to_vec(),
            other => panic!("mount {path}: {other:?}"),
        }
    }

    /// Creates an empty file in a directory and returns its handle.
    pub(crate) fn create(&mut self, directory: &[u8], name: &str) -> Vec<u8> {
        let reply = self.call(NfsArguments::CREATE(CREATE3args {
            r#where: diropargs3 { dir: nfs_fh3(directory), name: filename3(name.as_bytes()) },
            how: createhow3::UNCHECKED(ATTRIBUTES),
        }));
        match reply.nfs() {
            NfsResults::CREATE(Res3::Ok(ok)) => ok.obj.expect("a handle").0.to_vec(),
            other => panic!("create {name}: {other:?}"),
        }
    }

    /// Creates a file with the first `length` bytes of [`pattern`].
    pub(crate) fn filled(&mut self, directory: &[u8], name: &str, length: usize) -> Vec<u8> {
        let file = self.create(directory, name);
        let data = pattern(length);
        for (index, part) in data.chunks(1 << 20).enumerate() {
            self.call(write(&file, (index as u64) << 20, part));
        }
        file
    }
}

/// Bytes that depend on their offset.
pub(crate) fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at / 256 + at) as u8).collect()
}

pub(crate) fn write<'a>(file: &'a [u8], offset: u64, data: &'a [u8]) -> NfsArguments<'a> {
    NfsArguments::WRITE(WRITE3args {
        file: nfs_fh3(file),
        offset,
        count: data.len() as u32,
        stable: stable_how::UNSTABLE,
        data: Data(data),
    })
}

pub(crate) fn read(file: &[u8], offset: u64, count: u32) -> NfsArguments<'_> {
    NfsArguments::READ(READ3args { file: nfs_fh3(file), offset, count })
}

pub(crate) fn getattr(object: &[u8]) -> NfsArguments<'_> {
    NfsArguments::GETATTR(GETATTR3args { object: nfs_fh3(object) })
}

/// The first snapshot of the service for which `condition` is true.
pub(crate) fn wait_until(running: &Running, condition: impl Fn(&Snapshot) -> bool) -> Snapshot {
    let deadline = std::time::Instant::now() + TIMEOUT;
    loop {
        let now = running.snapshot().expect("the service is running");
        if condition(&now) {
            return now;
        }
        let (connections, deferred) = (now.connections, now.deferred);
        let in_time = std::time::Instant::now() < deadline;
        assert!(in_time, "still {connections} connections and {deferred} deferred replies");
        std::thread::yield_now();
    }
}
