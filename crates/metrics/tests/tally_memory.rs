//! Histograms exist only for the kinds that occur: counted by the allocator.

#![expect(unsafe_code, reason = "a counting allocator needs unsafe code")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use metrics::interval::StreamInterval;
use metrics::recorder::{Recorder, Tally};
use workload::op::OpKind;
use workload::random;

static HELD_BYTES: AtomicU64 = AtomicU64::new(0);

struct Counting;

// SAFETY: every call is passed unchanged to the system's allocator; counting uses an atomic.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD_BYTES.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller's guarantees are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD_BYTES.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller's guarantees are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A worker has one tally, and two more are on their way to and from the collector.
const TALLIES_OF_WORKER: u64 = 3;
const WORKERS: u64 = 4 * 64;
/// More operations of one kind in an interval of one second would be three million per second over all
/// workers and kinds.
const TIMES: u64 = 1_000;

// One test in this file: others would allocate at the same time.
#[test]
fn four_streams_of_64_workers_with_12_kinds_take_less_than_64_mib() {
    let kinds = &OpKind::ALL[3..15];
    let tally = || Box::new(Tally::for_kinds(kinds, 0, WORKERS * TALLIES_OF_WORKER));
    let before = HELD_BYTES.load(Ordering::Relaxed);
    let mut sum = StreamInterval::default();
    let mut held = Vec::new();
    for worker in 0..WORKERS {
        let mut recorder = Recorder::new(tally());
        recorder.issue(0, TIMES * kinds.len() as u64);
        recorder.reap(1, TIMES * kinds.len() as u64);
        for kind in kinds {
            for time in 0..TIMES {
                // From microseconds to a minute.
                let time_ns = random::at(worker, time) >> (28 + time % 20);
                recorder.complete::<true>(*kind, 4096, time_ns, time_ns + 1_000);
            }
        }
        held.push(recorder.turn(1_000_000_000, 1, 0, 0, tally()));
        held.push(tally());
        // Its tally in use.
        std::mem::forget(recorder);
    }
    let bytes = HELD_BYTES.load(Ordering::Relaxed) - before;
    assert!(bytes < 64 << 20, "{bytes} bytes");
    held.iter_mut().for_each(|tally| tally.drain_into(&mut sum));
    assert_eq!(sum.completed(), WORKERS * TIMES * kinds.len() as u64);
    assert_eq!(sum.kinds.entries().count(), kinds.len());
}
