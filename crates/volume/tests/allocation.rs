//! With warm buffers the service does not allocate for its most frequent requests. A counting
//! allocator checks this.

#![expect(unsafe_code, reason = "implementing GlobalAlloc is unsafe")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use files::{Caller, FileSystem, How, Options, SetAttributes, Stability, Time, Unstable};
use nfs3::arguments::*;
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
