//! From warm-up on a worker makes no system calls except those that drive its target, according to
//! `strace`: io_uring_enter with a ring, the transfers themselves with blocking calls, none with
//! the null target.
//!
//! The test starts itself again under `strace`. The conducting thread writes a line when the first
//! interval has ended and another when the end is near; the worker's calls between them count.

#[expect(dead_code, reason = "other tests use the rest")]
mod runs;

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use engine::drive::Stop;
use engine::request::Request;
use engine::run::run;
use runs::{DATA_SEED, fill, small_run};
use target::null::NullTarget;
use target::posix::PosixTarget;
use workload::arrival::Arrival;
use workload::plan::{IoMethodUsed, Run};

/// Set in the traced process: what it must run.
const TRACED: &str = "FOURCORNERS_TEST_TRACED";
/// The directory of its files.
const FOLDER: &str = "FOURCORNERS_TEST_FOLDER";
const WARMED_UP: &str = "fourcorners-warmed-up";
const NEAR_END: &str = "fourcorners-near-end";
/// If the conducting thread were delayed for more intervals than this, it would mark the end after
/// the workers' end.
const MARGIN: u32 = 10;
/// Executed without entering the kernel if its clock source allows that; the engine cannot
/// influence it.
const CLOCK: &str = "clock_gettime";

fn traced_run() -> Run {
    let mut run = small_run();
    run.streams[0].queue_depth = 4;
    run.phases.measure_ns = 800_000_000;
    run
}

/// Runs `what` and writes the marks to standard error, which is part of the trace.
fn run_traced(what: &str) {
    let mut run_of = traced_run();
    if what == "ring_open" {
        run_of.streams[0].arrival = Arrival::Poisson { offered_rate: 500.0 };
    }
    let assignment = run_of.split().remove(0);
    let folder = std::env::var_os(FOLDER).expect("the tracing test names a folder");
    let request = Request {
        assignment: &assignment,
        targets: vec![match what {
            "null" => Arc::new(NullTarget),
            _ => Arc::new(PosixTarget::new(folder)),
        }],
        io_method: if what == "psync" { IoMethodUsed::Psync } else { IoMethodUsed::IoUring },
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
        // One call of write, independent of the test harness's capture of macros.
        std::io::stderr().write_all(mark.as_bytes()).expect("standard error is open");
        ControlFlow::Continue(())
    });
    end.expect("the run can be started");
}

/// The system calls of the workers' threads between the marks: name and number.
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
        .arg(std::env::current_exe().expect("the executable is known"))
        .args(["--exact", "the_traced_process", "--nocapture"])
        .env(TRACED, what)
        .env(FOLDER, folder)
        .output();
    let output = output.unwrap_or_else(|error| panic!("strace is needed by this test: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "strace of `{what}`: {said}");
    calls(&std::fs::read_to_string(&file).expect("strace wrote the trace"))
}

/// Started by the test below under `strace`; without it, it does nothing.
#[test]
fn the_traced_process() {
    if let Some(what) = std::env::var_os(TRACED) {
        run_traced(&what.to_string_lossy());
    }
}

#[test]
fn a_running_worker_makes_no_system_calls_except_to_drive_its_target() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    fill(folder.path(), &traced_run());
    let names = |what| trace(what, folder.path()).into_keys().collect::<Vec<_>>();
    assert_eq!(names("null"), Vec::<String>::new());
    assert_eq!(names("ring"), ["io_uring_enter"]);
    assert_eq!(names("ring_open"), ["io_uring_enter"]);
    assert_eq!(names("psync"), ["pread64", "pwrite64"]);
}
