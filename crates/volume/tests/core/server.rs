//! The server without sockets, in virtual time.

use std::io::IoSlice;
use std::sync::mpsc::channel;

use cloud::catalog::Catalog;
use files::{Caller, How, SetAttributes, Time};
use nfs3::arguments::{GETATTR3args, READDIR3args};
use nfs3::client::{Client, ClientOptions};
use nfs3::request::{Arguments, NfsArguments};
use nfs3::rpc::Credential;
use nfs3::types::nfs_fh3;
use units::Bytes;
use volume::config;
use volume::ids::{ConnectionId, EndpointId};
use volume::server::{Server, ServerOptions};

const MS: u64 = 1_000_000;

const CONFIG: &str = r#"
    [[endpoint]]
    name = "ep1"
    address = "127.0.0.1:2049"
    [[pool]]
    name = "pool1"
    service_level = "premium"
    size = "4TiB"
    [[volume]]
    name = "vol1"
    pool = "pool1"
    quota = "1TiB"
"#;

/// A server, and the handle of its volume's root.
pub(crate) fn server(more: &str) -> (Server, Vec<u8>) {
    let catalog = Catalog::embedded();
    let text = format!("{CONFIG}{more}");
    let mut open = |name: &str| Err(format!("there is no {name}"));
    let config = config::parse(&text, "volumes.toml", &catalog, &mut open).expect("valid");
    let options = ServerOptions { memory: Bytes::gib(1), connections_max: 1000, epoch_ns: 1 };
    let log = Box::new(|line: &str| panic!("logged: {line}"));
    let server = Server::start(0, catalog, config, options, log).expect("start");
    let (_, export) = server.exports().iter().next().expect("a volume");
    let root = export.files.root().to_bytes().to_vec();
    (server, root)
}

pub(crate) fn connect(server: &mut Server) -> ConnectionId {
    let local = "127.0.0.1:2049".parse().expect("an address");
    let remote = "127.0.0.1:700".parse().expect("an address");
    server.accept(0, EndpointId::new(0), local, remote, 2049).expect("fewer than the maximum")
}

/// The bytes of `count` calls of GETATTR.
fn calls(count: u32, root: &[u8]) -> Vec<u8> {
    let options = ClientOptions { slots: 1 << 16, max_reply_bytes: 4096, first_generation: 0 };
    let mut client = Client::new(options);
    let arguments = Arguments::Nfs(NfsArguments::GETATTR(GETATTR3args { object: nfs_fh3(root) }));
    let mut bytes = Vec::new();
    for _ in 0..count {
        let slot = client.call(&Credential::None, &arguments).expect("a free slot");
        bytes.extend_from_slice(client.message(slot));
    }
    bytes
}

/// The bytes of `count` calls that list a directory in replies of up to 1 MiB.
fn listings(count: u32, root: &[u8]) -> Vec<u8> {
    let options = ClientOptions { slots: 1 << 16, max_reply_bytes: 2 << 20, first_generation: 0 };
    let mut client = Client::new(options);
    let dir = nfs_fh3(root);
    let args = READDIR3args { dir, cookie: 0, cookieverf: [0; 8], count: 1 << 20 };
    let arguments = Arguments::Nfs(NfsArguments::READDIR(args));
    let begin = |_| {
        let slot = client.call(&Credential::None, &arguments).expect("a free slot");
        client.message(slot).to_vec()
    };
    (0..count).flat_map(begin).collect()
}

#[test]
fn deferred_listings_use_bounded_memory_and_are_all_answered() {
    let (mut server, root) = server("[delay]\nread = \"1ms\"\n");
    let caller = Caller { uid: 0, gid: 0, gids: &[], read_only: false };
    let (_, export) = server.exports_mut().iter_mut().next().expect("a volume");
    for number in 0..5000 {
        let (name, how) = (format!("{number:0>250}"), How::Guarded(SetAttributes::default()));
        let now = Time { seconds: 1, nanoseconds: 0 };
        let files = &mut export.files;
        files.create(files.root(), name.as_bytes(), how, &caller, now).result.expect("a new file");
    }
    let id = connect(&mut server);
    server.received(MS, id, &listings(100, &root));
    let (mut all, mut deferred_max) = (0, 0);
    for turn in 2.. {
        deferred_max = deferred_max.max(server.deferred());
        if server.is_idle(id) {
            break;
        }
        assert!(turn < 10_000, "stuck after {all} bytes");
        server.advance(turn * MS);
        all += send_all(&mut server, id);
    }
    assert!((2..=9).contains(&deferred_max), "{deferred_max} deferred replies of 1 MiB");
    assert!(all > 90 << 20, "{all} bytes");
}

/// Sends all pending bytes, and returns their number.
pub(crate) fn send_all(server: &mut Server, id: ConnectionId) -> usize {
    sent_bytes(server, id).len()
}

/// Bytes of a reply to GETATTR: record mark, head, status, attributes.
const REPLY: usize = 4 + 24 + 4 + 84;

/// Sends all pending bytes.
pub(crate) fn sent_bytes(server: &mut Server, id: ConnectionId) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        let mut slices = [IoSlice::new(&[]); 16];
        let count = server.gather(id, &mut slices);
        let before = all.len();
        slices[..count].iter().for_each(|slice| all.extend_from_slice(slice));
        if all.len() == before {
            return all;
        }
        server.sent(id, all.len() - before);
    }
}

#[test]
fn a_connection_with_many_calls_does_not_delay_another() {
    let (mut server, root) = server("[limits]\nenforced = false\n");
    let (busy, quiet) = (connect(&mut server), connect(&mut server));
    server.received(MS, busy, &calls(10_000, &root));
    server.received(MS, quiet, &calls(1, &root));
    server.advance(MS);
    assert_eq!(send_all(&mut server, quiet), REPLY, "answered in the same turn");
    let first = send_all(&mut server, busy);
    assert!(first < 1000 * REPLY, "{} calls in a row", first / REPLY);
    let mut all = first;
    for turn in 2.. {
        if all == 10_000 * REPLY {
            break;
        }
        assert!(turn < 1000 && !server.wants_to_read(busy));
        assert_eq!(server.next_ns(), Some(0), "kept input is processed immediately");
        server.advance(turn * MS);
        all += send_all(&mut server, busy);
    }
    assert_eq!(server.next_ns(), None);
    assert!(server.wants_to_read(busy) && server.is_idle(busy));
}

#[test]
fn the_129th_call_is_kept_as_input_until_one_of_128_is_answered() {
    let (mut server, root) = server("[delay]\nread = \"1ms\"\n");
    let id = connect(&mut server);
    server.received(0, id, &calls(129, &root));
    server.advance(0);
    assert_eq!((server.deferred(), server.wants_to_read(id)), (128, false));
    assert_eq!((server.next_ns(), send_all(&mut server, id)), (Some(MS), 0));
    server.advance(MS);
    assert_eq!(send_all(&mut server, id), 128 * REPLY);
    server.advance(MS);
    assert_eq!((server.deferred(), server.next_ns()), (1, Some(2 * MS)));
    assert!(server.wants_to_read(id) && !server.is_idle(id));
    server.advance(2 * MS);
    assert_eq!(send_all(&mut server, id), REPLY);
    assert!(server.is_idle(id));
}

#[test]
fn closing_a_connection_drops_its_deferred_replies_and_frees_its_index() {
    let (mut server, root) = server("[delay]\nread = \"1ms\"\n");
    let (first, second) = (connect(&mut server), connect(&mut server));
    server.received(0, first, &calls(100, &root));
    server.received(0, second, &calls(1, &root));
    server.closed(0, first);
    assert_eq!((server.deferred(), server.connections()), (1, 1));
    let third = connect(&mut server);
    assert_eq!(third.index(), first.index());
    assert_ne!(third.number(), first.number());
    server.received(MS / 2, third, &calls(2, &root));
    server.advance(2 * MS);
    assert_eq!((send_all(&mut server, second), send_all(&mut server, third)), (REPLY, 2 * REPLY));
    let mut ready = Vec::new();
    server.take_ready(&mut ready);
    assert!(ready.contains(&second) && ready.contains(&third) && !ready.contains(&first));
    server.received(3 * MS, first, &calls(1, &root));
    assert_eq!(server.gather(first, &mut []), 0, "calls of a closed connection are ignored");
}

#[test]
fn all_volumes_share_one_memory_budget_and_its_exhaustion_is_logged() {
    let (send, lines) = channel();
    let catalog = Catalog::embedded();
    let more = "[[volume]]\nname = \"vol2\"\npool = \"pool1\"\nquota = \"1TiB\"\n";
    let text = format!("{CONFIG}{more}[limits]\nenforced = false\n");
    let mut open = |name: &str| Err(format!("there is no {name}"));
    let config = config::parse(&text, "volumes.toml", &catalog, &mut open).expect("valid");
    let memory = Bytes::new(16 << 20);
    let options = ServerOptions { memory, connections_max: 100, epoch_ns: 1 };
    let log = Box::new(move |line: &str| send.send(line.to_owned()).expect("an open channel"));
    let mut server = Server::start(0, catalog, config, options, log).expect("start");
    let id = connect(&mut server);
    let roots: Vec<Vec<u8>> =
        server.exports().iter().map(|(_, one)| one.files.root().to_bytes().to_vec()).collect();
    let used = |server: &Server| -> u64 {
        server.exports().iter().map(|(_, one)| one.files.memory().get()).sum()
    };
    for (index, root) in roots.iter().enumerate() {
        for name in 0..40_000 {
            let name = format!("{index}-{name}");
            server.received(0, id, &mkdir_call(root, &name));
            server.advance(0);
            send_all(&mut server, id);
        }
    }
    assert!(used(&server) <= memory.get(), "{} of {memory}", used(&server));
    assert!(used(&server) > memory.get() / 2, "{} of {memory}", used(&server));
    let line = lines.try_recv().expect("a line about memory");
    assert!(line.contains("NFS3ERR_NOSPC") && line.contains("--memory"), "{line}");
    assert!(lines.try_iter().count() < 10, "the lines are rate-limited");
}

/// The bytes of a call of MKDIR.
fn mkdir_call(directory: &[u8], name: &str) -> Vec<u8> {
    use nfs3::arguments::MKDIR3args;
    use nfs3::types::{diropargs3, filename3, sattr3, set_time};
    let attributes = sattr3 {
        mode: None,
        uid: None,
        gid: None,
        size: None,
        atime: set_time::DONT_CHANGE,
        mtime: set_time::DONT_CHANGE,
    };
    let r#where = diropargs3 { dir: nfs_fh3(directory), name: filename3(name.as_bytes()) };
    let arguments = NfsArguments::MKDIR(MKDIR3args { r#where, attributes });
    let options = ClientOptions { slots: 1, max_reply_bytes: 4096, first_generation: 0 };
    let mut client = Client::new(options);
    let slot = client.call(&Credential::None, &Arguments::Nfs(arguments)).expect("a free slot");
    client.message(slot).to_vec()
}

#[test]
fn the_maxima_of_inodes_and_file_size_are_those_of_the_catalogue() {
    let catalog = Catalog::embedded();
    let text = CONFIG.replace("\"4TiB\"", "\"60TiB\"");
    let large = r#"
        endpoints = "ep1"
        [[endpoint]]
        name = "ep2"
        address = "127.0.0.2:2049"
        [[volume]]
        name = "large"
        pool = "pool1"
        quota = "50TiB"
        kind = "large"
        endpoints = "ep2"
    "#;
    let text = format!("[account]\ncapacity_quota = \"100TiB\"\n{text}{large}");
    let mut open = |name: &str| Err(format!("there is no {name}"));
    let config = config::parse(&text, "volumes.toml", &catalog, &mut open).expect("valid");
    let options = ServerOptions { memory: Bytes::gib(1), connections_max: 100, epoch_ns: 1 };
    let log = Box::new(|line: &str| panic!("logged: {line}"));
    let server = Server::start(0, catalog, config, options, log).expect("start");
    let of = |name: &str| {
        let mut exports = server.exports().iter();
        let (_, export) = exports.find(|(_, export)| export.name == name).expect("an export");
        let root = export.files.root();
        let space = export.files.fsstat(root).expect("the root exists");
        let info = export.files.fsinfo(root).expect("the root exists");
        (space.files_total, info.file_size_max)
    };
    // Rows of data/service_levels.toml.
    assert_eq!(of("vol1"), (2_147_483_632, Bytes::gib(16 << 10)));
    assert_eq!(of("large"), (15_938_355_048, Bytes::gib(16 << 10)));
}
