//! An open target for operations on names does not allocate: counted by the allocator in the worker's
//! thread, with every kind of operation, with blocking calls, io_uring and over NFS.

#![expect(unsafe_code, reason = "a counting allocator needs it")]
#![expect(clippy::unwrap_used, reason = "a failed helper fails its test")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use cloud::catalog::Catalog;
use cloud::service_level::{ServiceLevel, VolumeKind};
use target::inventory::RequiredFiles;
use target::location::TargetLocation;
use target::names::{NameTarget, NameWork, writes_content};
use target::nfs::NfsUrl;
use target::refusal::Overrides;
use target::run_target::WorkerShare;
use target::survey;
use target::tree::RequiredTree;
use target::{Completion, Target, Wait};
use units::Bytes;
use volume::delay::Distribution;
use volume::one_volume::OneVolume;
use volume::shell::{Options, Running};
use workload::active_time::ActiveTime;
use workload::arrival::Arrival;
use workload::data::DataPattern;
use workload::names::{NameLoad, NameMix, NameSize, NameSpread, TreeShape};
use workload::op::OpKind;
use workload::pattern::AccessPattern;
use workload::plan::{IoMethodUsed, Stream, StreamTargets, WeightedSize, WorkingSet};

thread_local! {
    /// Allocator calls of this thread.
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

fn count() {
    CALLS.set(CALLS.get() + 1);
}

// SAFETY: every call is passed to the system's allocator unchanged; counting uses a thread-local
// without initialisation and destruction, so it does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's guarantees are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count();
        // SAFETY: the caller's guarantees are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's guarantees are passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's guarantees are passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const DATA_SEED: u64 = 5;
const DEPTH: u32 = 8;

fn stream() -> Stream {
    use OpKind::*;
    let mix = [
        (Create, 60),
        (Copy, 20),
        (Link, 20),
        (Symlink, 20),
        (Unlink, 120),
        (Mkdir, 20),
        (Rmdir, 20),
        (Rename, 40),
        (Readlink, 20),
        (Readdir, 20),
        (Readdirplus, 20),
        (Stat, 140),
        (Access, 40),
        (Setattr, 40),
        (Truncate, 40),
        (Append, 40),
        (Lookup, 60),
        (LookupMissing, 40),
        (Open, 60),
        (ReadFile, 80),
        (WriteFile, 60),
        (Statfs, 20),
    ];
    Stream {
        name: "names".to_owned(),
        read_permille: 1000,
        transfer_sizes: vec![WeightedSize { size_bytes: 4096, weight: 1 }],
        access_pattern: AccessPattern::Uniform,
        working_set: WorkingSet { files: 1, file_size_bytes: 4096, area_bytes: 4096 },
        file_use: workload::file_use::FileUse::ALL,
        queue_depth: DEPTH,
        workers: 1,
        arrival: Arrival::Closed { think_time_ns: 0 },
        direct: false,
        dsync: false,
        write_stability: None,
        targets: StreamTargets::default(),
        active: ActiveTime::WHOLE_RUN,
        replay: None,
        names: Some(NameLoad {
            tree: TreeShape {
                files: 1500,
                depth: 2,
                width: 20,
                // More than stay open.
                directories: 400,
                name_length: 12,
                spread: NameSpread::Random,
                sizes: NameSize::constant(5000),
            },
            mix: NameMix::of(&mix),
            append_bytes: 100,
            scenario: None,
        }),
        fsync_every_writes: None,
        data: DataPattern::default(),
    }
}

/// Submits an operation with its content, as the engine does.
fn submit(target: &mut NameTarget, work: &NameWork, tag: u32, step: u64) {
    let name = work.stream.op(0, step);
    let op = name.op();
    if writes_content(op.kind) && op.size_bytes > 0 {
        let data = target.buffer(tag).unwrap();
        let offset = if op.kind == OpKind::Append { op.offset_bytes } else { 0 };
        work.content.fill(name.content, offset, &mut data[..op.size_bytes as usize]);
    }
    target.submit(tag, &op).unwrap();
}

fn allocations(location: impl Into<TargetLocation>, io_method: IoMethodUsed) -> u64 {
    let stream = stream();
    let tree = RequiredTree::of(&stream).unwrap();
    let required = RequiredFiles {
        file_sets: Vec::new(),
        trees: vec![tree.clone()],
        data_seed: DATA_SEED,
        direct_transfer_min_bytes: None,
    };
    let mut ours = survey::open(location, required, Overrides::default()).unwrap();
    ours.make_tree(&tree, &|| false, &mut |_| {}).unwrap();
    let work = NameWork::of(&stream, 9, DATA_SEED, true).unwrap();
    let share = WorkerShare {
        stream: &stream,
        number: 0,
        workers: 1,
        connections: None,
        io_method,
        verify: true,
        rewrite: None,
    };
    let run_target = ours.run_target().unwrap();
    let opener = run_target.name_opener(&share, work.clone()).unwrap();
    let depth = if io_method == IoMethodUsed::Psync { 1 } else { DEPTH };
    let mut target = opener.open(depth).unwrap();
    let mut done: Vec<Completion> = Vec::with_capacity(DEPTH as usize);
    let mut of_tag = vec![0; depth as usize];
    let before = CALLS.get();
    assert!(before > 0, "the allocator has counted the opening");
    let (mut next, mut ended) = (0, 0);
    for tag in 0..depth {
        submit(&mut target, &work, tag, next);
        of_tag[tag as usize] = next;
        next += 1;
    }
    while ended < 4000 {
        target.reap(Wait::Precise(Duration::from_millis(100)), &mut done).unwrap();
        for Completion { tag, result } in done.drain(..) {
            let op = work.stream.op(0, of_tag[tag as usize]);
            assert_eq!(result, op.size_bytes as i32, "{op:?}");
            submit(&mut target, &work, tag, next);
            of_tag[tag as usize] = next;
            next += 1;
            ended += 1;
        }
    }
    CALLS.get() - before
}

#[test]
fn a_running_target_for_names_does_not_allocate() {
    for io_method in [IoMethodUsed::Psync, IoMethodUsed::IoUring] {
        let path = tempfile::tempdir().unwrap();
        assert_eq!(allocations(path.path(), io_method), 0, "{io_method:?}");
    }
}

#[test]
fn a_running_nfs_target_for_names_does_not_allocate() {
    let none = || Distribution::Constant { ns: 0 };
    let one = OneVolume {
        name: "vol1".to_owned(),
        kind: VolumeKind::Regular,
        quota: Bytes::gib(1024),
        level: ServiceLevel::Ultra,
        throughput: None,
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        flow_throughput: None,
        enforced: false,
        read: none(),
        write: none(),
    };
    let catalog = Catalog::embedded();
    let service = Running::start(Options {
        config: one.config(&catalog).unwrap(),
        catalog,
        memory: Bytes::gib(1),
        data: None,
        portmapper: None,
        metrics: None,
        connections_max: 100,
        deferred_reserve: 0,
        log: Box::new(|_| {}),
    })
    .unwrap();
    let port = service.addresses()[0].port();
    let url = format!("nfs://127.0.0.1:{port}/vol1?mountport={port}&nconnect=2");
    let url: NfsUrl = url.parse().unwrap();
    assert_eq!(allocations(&url, IoMethodUsed::NfsClient), 0);
}
