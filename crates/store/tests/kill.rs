//! SIGKILL loses no interval that was already stored.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod samples;

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use metrics::environment::Environment;
use metrics::run_record::Outcome;
use store::{State, Store};
use workload::random;

const TEST_NAME: &str = "every_interval_that_was_stored_before_a_kill_is_loaded";
/// In the environment of the process that will be killed: the store's directory.
const ROOT: &str = "FOURCORNERS_TEST_KILL_ROOT";
const KILLS: u64 = 20;
/// About 20 KiB per interval, so that some kills interrupt a write.
const BUCKETS: u32 = 1500;

/// The process that will be killed: stores intervals and prints a line after each.
fn store_until_killed(root: &Path) {
    let store = Store::open(Some(root)).unwrap();
    let mut writer = store
        .create(&samples::plan("killed", 1), &Environment::default(), 1_795_241_700_000)
        .unwrap();
    writer.run_started(&samples::run(0), 1_795_241_700_000).unwrap();
    let mut out = std::io::stdout();
    for index in 0.. {
        writer.interval(0, &samples::interval(index, 4, BUCKETS)).unwrap();
        // The leading line break separates the line from output of the test harness.
        write!(out, "\nstored {index}\n").unwrap();
        out.flush().unwrap();
    }
}

#[test]
fn every_interval_that_was_stored_before_a_kill_is_loaded() {
    if let Some(root) = env::var_os(ROOT) {
        store_until_killed(Path::new(&root));
    }
    for seed in 0..KILLS {
        let root = tempfile::tempdir().unwrap();
        let stored = kill_after(1 + random::at(0x516, seed) % 40, root.path());
        let store = Store::open(Some(root.path())).unwrap();
        let listed = store.list().unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].state, State::Ended(Outcome::Aborted), "seed {seed}");
        let record = store.load("last").unwrap();
        let intervals = &record.runs[0].intervals;
        assert!(intervals.len() >= stored, "seed {seed}: {} of {stored}", intervals.len());
        // The interval that was being written may be complete.
        assert!(intervals.len() <= stored + 1, "seed {seed}: {} of {stored}", intervals.len());
        for (index, interval) in (0..).zip(intervals) {
            assert_eq!(*interval, samples::interval(index, 4, BUCKETS), "seed {seed}");
        }
    }
}

/// Starts this test again as the process to be killed, kills it when it has printed `reports`
/// lines, and returns how many lines it printed in total.
fn kill_after(reports: u64, root: &Path) -> usize {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", TEST_NAME, "--nocapture"])
        .env(ROOT, root)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut stored = 0;
    let mut line = String::new();
    while lines.read_line(&mut line).unwrap() > 0 {
        if line == format!("stored {stored}\n") {
            stored += 1;
            if stored == 1 {
                let listed = Store::open(Some(root)).unwrap().list().unwrap();
                assert_eq!(listed[0].state, State::Running);
            }
            if stored as u64 == reports {
                child.kill().unwrap();
            }
        }
        line.clear();
    }
    child.wait().unwrap();
    stored
}
