//! From warm-up on a worker does not allocate: counted by the allocator in whole runs with the
//! engine's own threads, handover and collector.

#![expect(unsafe_code, reason = "a counting allocator needs unsafe code")]

mod replaying;
#[expect(dead_code, reason = "other tests use the rest")]
mod runs;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::drive::Stop;
use engine::request::Request;
use engine::run::run;
use metrics::run_record::Outcome;
use replaying::replaying;
use runs::{DATA_SEED, fill, small_run};
use target::null::NullTarget;
use target::posix::PosixTarget;
use workload::arrival::{Arrival, Process, ThinkTime};
use workload::names::{NameLoad, NameSize, NameSpread, TreeShape};
use workload::op::OpKind;
use workload::plan::{IoMethodUsed, Run};
use workload::rate_schedule::{RateSchedule, Segment, SegmentRate};
use workload::scenario::{Scenario, ScenarioStep, Starts, Users};

/// Calls of the allocator by the workers: by all threads that do not conduct.
static BY_WORKERS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Whether this thread conducts the run; it builds intervals and may allocate.
    static CONDUCTS: Cell<bool> = const { Cell::new(false) };
}

struct Counting;

fn count() {
    if !CONDUCTS.get() {
        BY_WORKERS.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every call is passed unchanged to the system's allocator; counting uses an atomic and a
// thread-local that needs neither initialisation nor destruction, so it does not allocate.
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

/// The settings of a run except its streams.
#[derive(Clone, Copy)]
struct Setting<'a> {
    directory: Option<&'a Path>,
    engine: IoMethodUsed,
    verify: bool,
}

/// If the conducting thread were delayed for more intervals than this, it would count the end of
/// the workers, which allocates.
const MARGIN: u32 = 10;

/// Calls of the allocator by workers between the end of the first interval and that of one well
/// before the last.
fn allocations(run_of: &Run, setting: Setting<'_>) -> u64 {
    let assignment = run_of.split().remove(0);
    let request = Request {
        assignment: &assignment,
        targets: vec![match setting.directory {
            None => Arc::new(NullTarget),
            Some(directory) => Arc::new(PosixTarget::new(directory)),
        }],
        io_method: setting.engine,
        pin: false,
        verify: setting.verify,
        data_seed: DATA_SEED,
    };
    let last = run_of.phases.window().1 - 1 - MARGIN;
    let before = BY_WORKERS.load(Ordering::Relaxed);
    let (mut warmed_up, mut at_end, mut completed) = (None, None, 0);
    let end = run(&request, &Arc::new(Stop::new()), None, &mut |interval| {
        let now = BY_WORKERS.load(Ordering::Relaxed);
        completed += interval.streams[0].completed();
        match interval.index {
            0 => warmed_up = Some(now),
            index if index == last => at_end = Some(now),
            _ => {}
        }
        ControlFlow::Continue(())
    });
    let end = end.expect("the run can be started");
    assert_eq!(end.outcome, Outcome::Done, "{:?}", end.details);
    assert!(completed > 100, "operations were executed");
    let both = at_end.zip(warmed_up).expect("both intervals were seen");
    assert!(both.1 > before, "worker threads, which allocate before they start, are counted");
    both.0 - both.1
}

/// 10,000 operations per second in every second 20 ms.
fn bursts(process: Process) -> Arrival {
    let rate = SegmentRate::Bursts {
        base: 0.0,
        burst: 10_000.0,
        period_ns: 40_000_000,
        burst_ns: 20_000_000,
    };
    let schedule = RateSchedule::try_from(vec![Segment { duration_ns: None, rate }]);
    Arrival::Scheduled { schedule: schedule.expect("it has a rate"), process, part: 1.0 }
}

/// 2,000 users with scenarios of 4 operations every 100 ms.
fn users(run: &Run) -> Run {
    let mut run = run.clone();
    let step = |kind, think_time| ScenarioStep::Operations { kind, count: 1, think_time };
    let think_time = Some(ThinkTime::Exponential { mean_ns: 1_000_000 });
    let scenario = Scenario {
        steps: vec![
            step(OpKind::Create, None),
            step(OpKind::Stat, think_time),
            step(OpKind::ReadFile, think_time),
            step(OpKind::Unlink, None),
        ],
    };
    let stream = &mut run.streams[0];
    stream.names = Some(NameLoad {
        tree: TreeShape {
            files: 10_000,
            depth: 1,
            width: 10,
            directories: 10,
            name_length: 12,
            spread: NameSpread::RoundRobin,
            sizes: NameSize::constant(4096),
        },
        mix: scenario.mix(),
        append_bytes: 0,
        scenario: Some(scenario),
    });
    stream.arrival =
        Arrival::Users(Users { count: 2000, cycle_ns: 100_000_000, starts: Starts::Even });
    run
}

// One test, so that no other allocates at the same time.
#[test]
fn a_running_worker_does_not_allocate() {
    CONDUCTS.set(true);
    let before = BY_WORKERS.load(Ordering::Relaxed);
    let made = std::thread::spawn(|| vec![1u8; 100]).join().expect("the thread ends");
    drop(made);
    assert!(BY_WORKERS.load(Ordering::Relaxed) > before, "the allocator counts other threads");

    let folder = tempfile::tempdir().expect("a temporary directory");
    let mut closed = small_run();
    closed.phases.measure_ns = 800_000_000;
    fill(folder.path(), &closed);
    let with = |arrival: Arrival| {
        let mut run = closed.clone();
        run.streams[0].arrival = arrival;
        run
    };
    let arrivals = [
        Arrival::Closed { think_time_ns: 0 },
        Arrival::Closed { think_time_ns: 100_000 },
        Arrival::Constant { offered_rate: 5000.0 },
        Arrival::Poisson { offered_rate: 5000.0 },
        Arrival::Thinking { think_time: ThinkTime::Exponential { mean_ns: 100_000 } },
        bursts(Process::Constant),
        bursts(Process::Poisson),
    ];
    let null = Setting { directory: None, engine: IoMethodUsed::IoUring, verify: false };
    let files = Setting { directory: Some(folder.path()), ..null };
    for arrival in arrivals {
        for setting in [null, files, Setting { engine: IoMethodUsed::Psync, ..files }] {
            let seen = allocations(&with(arrival.clone()), setting);
            let case = (&arrival, setting.directory.is_some(), setting.engine);
            assert_eq!(seen, 0, "{case:?}");
        }
    }
    let lines: String = (0..4000)
        .map(|number| match number % 4 {
            0 => format!("{} write 0 {} 4096\n", number * 200_000, number % 256 * 4096),
            3 => format!("{} fsync 0\n", number * 200_000),
            _ => format!("{} read 1 {} 8192\n", number * 200_000, number % 128 * 8192),
        })
        .collect();
    let run = "[run]\ninterval = '50ms'\nmeasure = '800ms'\nwarm_up = '0s'";
    for speed in ["1", "'max'"] {
        let stream = format!("replay = {{ list = 'l', speed = {speed} }}\nqueue_depth = 8\n");
        let replay = replaying(&lines, &format!("{stream}{run}"));
        fill(folder.path(), &replay);
        for setting in [null, files, Setting { engine: IoMethodUsed::Psync, ..files }] {
            assert_eq!(allocations(&replay, setting), 0, "replay, {speed}, {:?}", setting.engine);
        }
    }
    let seen = allocations(&users(&closed), null);
    assert_eq!(seen, 0, "users");
    for engine in [IoMethodUsed::IoUring, IoMethodUsed::Psync] {
        let verifying = Setting { verify: true, engine, ..files };
        let mut run = closed.clone();
        run.streams[0].fsync_every_writes = Some(100);
        assert_eq!(allocations(&run, verifying), 0, "verifying, {engine:?}");
    }
}
