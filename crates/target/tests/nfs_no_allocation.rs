//! An open NFS target does not allocate: counted by the allocator in the worker's thread, with one
//! connection and with several, split operations and all kinds of operations.

#![expect(unsafe_code, reason = "a counting allocator needs it")]
#![expect(clippy::unwrap_used, reason = "a failed helper fails its test")]

#[expect(dead_code, reason = "other tests use the rest of it")]
#[path = "nfs/scripted.rs"]
mod scripted;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

use scripted::{Act, Scripted};
use target::{Completion, Target, Wait};
use workload::op::{Op, OpKind};

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

const DEPTH: u32 = 32;

/// Operation number `index`: four reads, three writes and an fsync, repeated.
fn op(index: u64) -> Op {
    let (kind, size_bytes) = match index % 8 {
        7 => (OpKind::Fsync, 0),
        4..7 => (OpKind::Write, 16384),
        _ => (OpKind::Read, 16384),
    };
    let file = (index % 3) as u32;
    Op { index, offset_bytes: index % 60 * 16384, size_bytes, file, kind }
}

fn allocations(options: &str) -> u64 {
    let server = Scripted::start((3, 1 << 20), |_, _| Act::Answer);
    let mut target = server.open(options, DEPTH, |_| {});
    let mut done: Vec<Completion> = Vec::with_capacity(DEPTH as usize);
    let before = CALLS.get();
    assert!(before > 0, "the allocator has counted the opening");
    let (mut next, mut ended) = (0, 0);
    for tag in 0..DEPTH {
        target.submit(tag, &op(next)).unwrap();
        next += 1;
    }
    while ended < 5000 {
        let wait = [Wait::Poll, Wait::Coarse(Duration::from_millis(100))][ended % 2];
        target.reap(wait, &mut done).unwrap();
        for Completion { tag, result } in done.drain(..) {
            assert!(result >= 0, "{result}");
            target.submit(tag, &op(next)).unwrap();
            next += 1;
            ended += 1;
        }
        assert!(!target.connections().is_empty());
    }
    CALLS.get() - before
}

#[test]
fn a_running_nfs_target_does_not_allocate() {
    for options in [
        "",
        "nconnect=4",
        "nconnect=4&policy=per-file&slots=2",
        "nconnect=2&policy=least-outstanding&rsize=4096&wsize=4096",
    ] {
        assert_eq!(allocations(options), 0, "{options}");
    }
}
