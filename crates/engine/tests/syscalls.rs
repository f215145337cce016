//! From warm-up on a worker makes no system call but those that drive its target, as `strace` sees
//! it: io_uring_enter on a ring, the transfers themselves with blocking calls, none on nothing.
//!
//! The test starts itself again under `strace`. The conducting thread writes a line when the first
//! interval has ended and when the end is near; what the worker's thread calls between them counts.

#[expect(dead_code, reason = "other tests use the rest")]
mod runs;

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use engine::drive::Stop;
use engine::place::Place;
use engine::run::{Request, run};
use runs::{DATA_SEED, fill, small_run};
use workload::arrival::Arrival;
use workload::plan::{EngineChoice, Run};

/// Set in the traced process: what to run.
const TRACED: &str = "FOURCORNERS_TEST_TRACED";
/// Where its files are.
const FOLDER: &str = "FOURCORNERS_TEST_FOLDER";
const WARMED_UP: &str = "fourcorners-warmed-up";
const NEAR_END: &str = "fourcorners-near-end";
/// A conducting thread that the machine holds up for longer than this many intervals would mark the
/// end when the workers have ended.
const MARGIN: u32 = 10;
/// The kernel answers it without being entered where its clock source allows; the engine has no
/// say in that.
const CLOCK: &str = "clock_gettime";

fn traced_run() -> Run {
    let mut run = small_run();
    run.streams[0].queue_depth = 4;
    run.phases.measure_ns = 800_000_000;
    run
}

/// Runs `what` and marks in standard error, which the trace shows, where to look.
fn run_traced(what: &str) {
    let mut run_of = traced_run();
    if what == "ring_open" {
        run_of.streams[0].arrival = Arrival::Poisson { offered_rate: 500.0 };
    }
    let assignment = run_of.split(1).remove(0);
    let folder = std::env::var_os(FOLDER).expect("the tracing test names a folder");
    let request = Request {
        assignment: &assignment,
        place: match what {
            "null" => Place::Null,
            _ => Place::Directory(folder.into()),
        },
        engine: if what == "psync" { EngineChoice::Psync } else { EngineChoice::IoUring },
        pin: false,
        verify: false,
        data_seed: DATA_SEED,
    };
    let last = run_of.phases.window().1 - 1 - MARGIN;
    let end = run(&request, &Arc::new(Stop::new()), None, &mut |interval| {
        let mark = match interval.index {
            0 => WARMED_UP,
            index if index == last => NEAR_END,
            _ => return ControlFlow::Continue(()),
        };
        // One call of write, whatever the test harness does with the macros' output.
        std::io::stderr().write_all(mark.as_bytes()).expect("standard error is open");
        ControlFlow::Continue(())
    });
    end.expect("the run can be started");
}

/// The system calls of the workers' threads between the marks: name and count.
fn calls(trace: &str) -> BTreeMap<String, u64> {
    let mut workers: Vec<&str> = Vec::new();
    let mut counts = BTreeMap::new();
    let (mut warmed_up, mut near_end) = (false, false);
    for line in trace.lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        warmed_up |= call.contains(WARMED_UP);
        near_end |= call.contains(NEAR_END);
        if call.starts_with("prctl(PR_SET_NAME, \"worker-") {
            workers.push(thread);
        }
        let begins = !call.starts_with(['<', '+', '-']);
        if warmed_up && !near_end && begins && workers.contains(&thread) {
            let name = call.split('(').next().unwrap_or(call);
            *counts.entry(name.to_owned()).or_insert(0) += 1;
        }
    }
    assert!(!workers.is_empty(), "the trace names the worker's thread");
    assert!(warmed_up && near_end, "the trace has both marks");
    counts.remove(CLOCK);
    counts
}

fn trace(what: &str, folder: &Path) -> BTreeMap<String, u64> {
    let file = folder.join(format!("trace-{what}"));
    let output = Command::new("strace")
        .args(["--follow-forks", "--quiet=all", "--string-limit=64", "--output"])
        .arg(&file)
        .arg(std::env::current_exe().expect("a process knows its file"))
        .args(["--exact", "the_traced_process", "--nocapture"])
        .env(TRACED, what)
        .env(FOLDER, folder)
        .output();
    let output = output.unwrap_or_else(|error| panic!("strace is needed by this test: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "strace of `{what}`: {said}");
    calls(&std::fs::read_to_string(&file).expect("strace wrote what it saw"))
}

/// What the tests below start under `strace`; alone it has nothing to do.
#[test]
fn the_traced_process() {
    if let Some(what) = std::env::var_os(TRACED) {
        run_traced(&what.to_string_lossy());
    }
}

#[test]
fn a_running_worker_makes_no_system_call_but_to_drive_its_target() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    fill(folder.path(), &traced_run());
    let names = |what| trace(what, folder.path()).into_keys().collect::<Vec<_>>();
    assert_eq!(names("null"), Vec::<String>::new());
    assert_eq!(names("ring"), ["io_uring_enter"]);
    assert_eq!(names("ring_open"), ["io_uring_enter"]);
    assert_eq!(names("psync"), ["pread64", "pwrite64"]);
}
