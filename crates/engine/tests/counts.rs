//! The engine's counts compared with those of a counting target.

mod collected;
#[expect(dead_code, reason = "other tests use the rest")]
mod runs;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use collected::Collected;
use engine::clock::Clock;
use engine::drive::{DriveEnd, Stop, drive};
use engine::pulse::Pulse;
use engine::schedule::Closed;
use engine::steps::Steps;
use engine::worker::{Assigned, Plain, Worker};
use metrics::interval::StreamInterval;
use runs::small_run;
use target::{Completion, Target, TargetError, Wait};
use workload::op::{Op, OpKind, OpStream};
use workload::plan::Stream;

/// How much the clock advances each time it is read.
const TICK_NS: u64 = 1000;

/// Every reading is a microsecond later, so that a run is the same on every machine.
struct Ticks(Cell<u64>);

impl Clock for Ticks {
    fn now_ns(&self) -> u64 {
        self.0.set(self.0.get() + TICK_NS);
        self.0.get()
    }
}

/// Completes the oldest operation at each reap, and records everything.
#[derive(Default)]
struct Counting {
    pending: std::collections::VecDeque<Completion>,
    seen: Vec<Op>,
    outstanding_max: usize,
    reaps: u64,
    /// Number of clock readings in the whole run.
    clock_readings: u64,
}

impl Target for Counting {
    fn submit(&mut self, tag: u32, op: &Op) -> Result<(), TargetError> {
        self.pending.push_back(Completion { tag, result: op.size_bytes as i32 });
        self.seen.push(*op);
        self.outstanding_max = self.outstanding_max.max(self.pending.len());
        Ok(())
    }

    fn reap(&mut self, _wait: Wait, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        self.reaps += 1;
        done.extend(self.pending.pop_front());
        Ok(())
    }

    fn buffer(&mut self, _tag: u32) -> Option<&mut [u8]> {
        None
    }
}

/// The part of a stream assigned to a worker.
#[derive(Clone, Copy)]
struct Part {
    lane: u32,
    queue_depth: u32,
}

/// Ten intervals of a millisecond.
fn driven(stream: &Stream, part: Part) -> (Vec<StreamInterval>, Counting) {
    driven_by(stream, part, Steps::own())
}

fn driven_by(stream: &Stream, part: Part, steps: Steps) -> (Vec<StreamInterval>, Counting) {
    let Part { lane, queue_depth } = part;
    let assigned = Assigned {
        lane,
        queue_depth,
        interval_ns: 1_000_000,
        end_ns: 10_000_000,
        operation_deadline_ns: 1_000_000_000,
    };
    let collected = Rc::new(RefCell::new(Vec::new()));
    let handover = Collected(Rc::clone(&collected));
    let ops = OpStream::new(stream, 1);
    let mut worker = Worker::new(assigned, ops, steps, Closed, Plain, handover, Box::default());
    let mut target = Counting::default();
    let clock = Ticks(Cell::new(0));
    let end = drive(&mut worker, &mut target, &clock, &Stop::new(), &Pulse::default());
    assert!(matches!(end, Ok(DriveEnd::Drained)));
    target.clock_readings = clock.0.get() / TICK_NS;
    (collected.take(), target)
}

fn stream() -> Stream {
    Stream { read_permille: 700, fsync_every_writes: Some(5), ..small_run().streams.remove(0) }
}

#[test]
fn operations_bytes_and_kinds_are_those_counted_by_the_target() {
    let part = Part { lane: 0, queue_depth: 16 };
    let (intervals, target) = driven(&stream(), part);
    assert!(intervals.len() >= 10);
    let mut sum = StreamInterval::default();
    for interval in &intervals {
        assert!(interval.is_balanced());
        sum.merge(interval);
    }
    assert_eq!(sum.issued, target.seen.len() as u64);
    for kind in [OpKind::Read, OpKind::Write, OpKind::Fsync] {
        let seen = target.seen.iter().filter(|op| op.kind == kind);
        assert!(seen.clone().count() > 100, "all kinds occurred");
        assert_eq!(sum.kinds[kind as usize].completed, seen.clone().count() as u64);
        let bytes: u64 = seen.map(|op| u64::from(op.size_bytes)).sum();
        assert_eq!(sum.kinds[kind as usize].bytes, bytes);
        assert_eq!(sum.kinds[kind as usize].failed_total(), 0);
    }
}

#[test]
fn without_data_the_clock_is_read_once_before_the_loop_and_once_after_each_reap() {
    let (_, target) = driven(&stream(), Part { lane: 0, queue_depth: 16 });
    assert!(target.reaps > 1000);
    assert_eq!(target.clock_readings, target.reaps + 1);
}

#[test]
fn a_queue_depth_of_64_is_reached_and_never_exceeded() {
    let part = Part { lane: 0, queue_depth: 64 };
    let (intervals, target) = driven(&stream(), part);
    assert_eq!(target.outstanding_max, 64);
    // After the first step all 64 are always outstanding until the end.
    for interval in &intervals[1..9] {
        assert_eq!(interval.outstanding_time_ns, 64 * 1_000_000);
        assert_eq!((interval.outstanding_start, interval.outstanding_end), (64, 64));
    }
}

fn indexes(targets: &[Counting]) -> Vec<u64> {
    let mut all: Vec<u64> = targets.iter().flat_map(|t| &t.seen).map(|op| op.index).collect();
    all.sort_unstable();
    all
}

#[test]
fn the_lanes_of_a_stream_partition_its_operations() {
    let stream = Stream { workers: 2, ..stream() };
    let targets: Vec<Counting> =
        (0..2).map(|lane| driven(&stream, Part { lane, queue_depth: 8 }).1).collect();
    let all = indexes(&targets);
    assert!(all.len() > 10_000);
    // Both lanes had the same time on the same clock: together they executed the first operations,
    // each once.
    assert!(all.iter().copied().eq(0..all.len() as u64));
    for (lane, target) in targets.iter().enumerate() {
        assert!(target.seen.iter().all(|op| op.index % 2 == lane as u64));
    }
}

#[test]
fn blocking_threads_of_a_lane_execute_the_operations_of_one_worker_with_a_ring() {
    let stream = stream();
    let counter = Arc::new(AtomicU64::new(0));
    let one = Part { lane: 0, queue_depth: 1 };
    // In turn, each takes what the others left; only the steps that a thread had taken when its
    // time was over are missing.
    let threads: Vec<Counting> =
        (0..4).map(|_| driven_by(&stream, one, Steps::shared(&counter)).1).collect();
    let all = indexes(&threads);
    assert!(all.len() > 10_000);
    assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "no operation twice");
    let taken = counter.load(Ordering::Relaxed);
    assert_eq!(taken - all.len() as u64, 4, "each thread had taken one that it did not issue");
    let ring = driven(&stream, Part { lane: 0, queue_depth: 4 }).1;
    for op in threads.iter().flat_map(|thread| &thread.seen) {
        if let Some(same) = ring.seen.get(op.index as usize) {
            assert_eq!(op, same, "the operation is a function of its index");
        }
    }
}
