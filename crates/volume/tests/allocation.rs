//! With warm buffers the service does not allocate for its most frequent requests. A counting
//! allocator checks this.

#![expect(unsafe_code, reason = "implementing GlobalAlloc is unsafe")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{IoSlice, IoSliceMut};

use cloud::catalog::Catalog;
use files::{Caller, FileSystem, How, Options, SetAttributes, Stability, Time, Unstable};
use nfs3::arguments::*;
use nfs3::client::{Client, ClientOptions};
use nfs3::request::{Arguments, NfsArguments as A};
use nfs3::rpc::{AuthSys, Credential, Gids};
use nfs3::server::Request;
use nfs3::types::{diropargs3, filename3, nfs_fh3};
use units::Bytes;
use volume::export_rules::ExportRules;
use volume::exports::{Export, Exports, fsid_of};
use volume::ids::EndpointId;
use volume::peer::Peer;
use volume::reply::Reply;
use volume::server::{RECEIVE_SLICES, Server, ServerOptions};

thread_local! {
    /// Allocations of this thread.
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is forwarded unchanged to the system allocator. Counting uses a thread-local
// that needs neither initialisation nor destruction, so it does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.set(CALLS.get() + 1);
        // SAFETY: the caller meets the requirements of `GlobalAlloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller meets the requirements of `GlobalAlloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        CALLS.set(CALLS.get() + 1);
        // SAFETY: the caller meets the requirements of `GlobalAlloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const NOW: Time = Time { seconds: 9, nanoseconds: 0 };

#[test]
fn the_most_frequent_requests_do_not_allocate() {
    let files = FileSystem::new(Options {
        fsid: fsid_of("vol1"),
        instance: 5,
        quota: Bytes::gib(1),
        memory_max: Bytes::gib(1),
        inodes_max: 1000,
        file_size_max: Bytes::gib(1),
        links_max: 100,
        unstable: Unstable::Kept,
        transfer_max: 1 << 20,
        root: (0, 0, 0o777),
        made: NOW,
    });
    let (name, rules) = ("vol1".to_owned(), ExportRules::default());
    let mut exports = Exports::new();
    let index = exports.add(Export { name, files, rules, endpoints: None }).unwrap();
    let files = &mut exports.get_mut(index).unwrap().files;
    let caller = Caller { uid: 0, gid: 0, gids: &[], read_only: false };
    let (root, how) = (files.root(), How::Guarded(SetAttributes::default()));
    let created = files.create(root, b"file", how, &caller, NOW).result.unwrap();
    let data = vec![7; 1 << 20];
    files.write(created.handle, 0, &data, Stability::FileSync, &caller, NOW).result.unwrap();
    let (root, file) = (root.to_bytes(), created.handle.to_bytes());
    let (root, file) = (nfs_fh3(&root), nfs_fh3(&file));

    let gids = Gids::new(&[1, 2, 3]).unwrap();
    let sys = AuthSys { stamp: 0, machinename: b"client", uid: 0, gid: 0, gids };
    let peer = Peer::new("127.0.0.1:700".parse().unwrap(), EndpointId::new(0), 2049);
    let mut reply = Reply::new();
    let mut perform = |arguments| {
        let request = Request {
            xid: 1,
            credential: Credential::Sys(sys),
            arguments: Arguments::Nfs(arguments),
            arguments_bytes: &[],
        };
        let performed = exports.perform(&request, &peer, NOW, &mut reply);
        assert!(!performed.failed, "{arguments:?}");
    };
    let write = |count: u32, stable| {
        let data = Data(&data[..count as usize]);
        A::WRITE(WRITE3args { file, offset: 8192, count, stable, data })
    };
    for arguments in [
        A::NULL(()),
        A::GETATTR(GETATTR3args { object: file }),
        A::LOOKUP(LOOKUP3args { what: diropargs3 { dir: root, name: filename3(b"file") } }),
        A::ACCESS(ACCESS3args { object: file, access: 0x3f }),
        A::READ(READ3args { file, offset: 0, count: 100 }),
        A::READ(READ3args { file, offset: 8192, count: 8192 }),
        A::READ(READ3args { file, offset: 5, count: 262_144 }),
        write(8192, stable_how::UNSTABLE),
        write(65_536, stable_how::FILE_SYNC),
        A::COMMIT(COMMIT3args { file, offset: 0, count: 0 }),
        A::FSSTAT(FSSTAT3args { fsroot: root }),
    ] {
        // The first call warms the buffers, and frees those of the previous call.
        perform(arguments);
        let before = CALLS.get();
        perform(arguments);
        perform(arguments);
        assert_eq!(CALLS.get() - before, 0, "allocations of {arguments:?}");
    }
}

#[test]
fn large_writes_do_not_allocate_while_they_overwrite() {
    const WRITES: usize = 32;
    const BYTES: usize = 64 << 10;
    let catalog = Catalog::embedded();
    let text = "[[pool]]\nname = \"pool\"\nservice_level = \"ultra\"\nsize = \"4TiB\"\n\
        [[volume]]\nname = \"vol1\"\npool = \"pool\"\nquota = \"1TiB\"\n\
        [limits]\nenforced = false\n";
    let mut open = |name: &str| Err(format!("there is no {name}"));
    let config = volume::config::parse(text, "volumes.toml", &catalog, &mut open).unwrap();
    let options = ServerOptions { memory: Bytes::gib(1), connections_max: 1, epoch_ns: 1 };
    let mut server = Server::start(0, catalog, config, options, Box::new(|_| {})).unwrap();
    let (_, export) = server.exports_mut().iter_mut().next().unwrap();
    let caller = Caller { uid: 0, gid: 0, gids: &[], read_only: false };
    let (root, how) = (export.files.root(), How::Guarded(SetAttributes::default()));
    let file = export.files.create(root, b"file", how, &caller, NOW).result.unwrap().handle;
    let address = "127.0.0.1:700".parse().unwrap();
    let id = server.accept(0, EndpointId::new(0), address, address, 2049).unwrap();

    let (slots, max_reply_bytes, first_generation) = (WRITES as u32, 4096, 0);
    let mut client = Client::new(ClientOptions { slots, max_reply_bytes, first_generation });
    let (handle, data) = (file.to_bytes(), vec![7; BYTES]);
    let (count, stable) = (BYTES as u32, stable_how::UNSTABLE);
    let stream: Vec<u8> = (0..WRITES)
        .flat_map(|number| {
            let (file, offset, data) = (nfs_fh3(&handle), (number * BYTES) as u64, Data(&data));
            let arguments = A::WRITE(WRITE3args { file, offset, count, stable, data });
            let slot = client.call(&Credential::None, &Arguments::Nfs(arguments)).unwrap();
            client.message(slot).to_vec()
        })
        .collect();
    let (mut ready, mut direct_bytes) = (Vec::new(), 0);
    let mut write_all = || {
        let mut rest = &stream[..];
        while !rest.is_empty() {
            let window = server.receive_bytes(id).unwrap_or(100_000);
            let mut slices = [(); RECEIVE_SLICES].map(|()| IoSliceMut::new(&mut []));
            let filled = server.receive_slices(id, &mut slices);
            let mut direct = 0;
            for slice in &mut slices[..filled] {
                let length = slice.len().min(rest.len() - direct);
                slice[..length].copy_from_slice(&rest[direct..direct + length]);
                direct += length;
            }
            let (bytes, later) = rest.split_at((direct + window).min(rest.len()));
            rest = later;
            server.received_into_slices(0, id, direct, &bytes[direct..]);
            direct_bytes += direct;
            server.advance(0);
            server.take_ready(&mut ready);
            ready.clear();
            let mut slices = [IoSlice::new(&[]); 4];
            let count = server.gather(id, &mut slices);
            let pending = slices[..count].iter().map(|slice| slice.len()).sum();
            server.sent(id, pending);
        }
    };
    // The first call allocates the chunks of the file, the second those of the pool.
    write_all();
    write_all();
    let before = CALLS.get();
    write_all();
    assert_eq!(CALLS.get() - before, 0, "allocations");
    assert!(direct_bytes > 2 * WRITES * BYTES, "{direct_bytes} bytes received directly");
}
