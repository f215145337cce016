//! System limits that a run reaches: the message names the limit and the remedy.

use std::process::Command;

use crate::harness::{Ended, TestDir};
use crate::runs::TINY;

const PROGRAM: &str = env!("CARGO_BIN_EXE_fourcorners");

/// A directory whose program is started by the command `words`, which execs it.
fn started_by(words: &[&str]) -> TestDir {
    let mut dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let mut starter = Command::new(words[0]);
    starter.args(&words[1..]).arg(PROGRAM);
    dir.enter(starter);
    dir
}

/// A directory whose program gets the system call results of `inject`.
fn with_faults(inject: &str) -> TestDir {
    started_by(&["strace", "--follow-forks", "--quiet=all", "-o", "/dev/null", "-e", inject])
}

fn assert_reported(ended: &Ended, code: i32, words: &[&str]) {
    assert_eq!(ended.code, Some(code), "{}", ended.stderr);
    // Lines are broken between words.
    let output = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(output.contains(word), "`{word}` is not in: {output}");
    }
    assert!(!output.contains("internal error"), "{output}");
}

#[test]
fn a_full_file_system_is_reported_with_the_command_that_frees_space() {
    let mount = "mount -t tmpfs -o size=3m tmpfs target && exec \"$@\"";
    let dir = started_by(&["unshare", "--mount", "sh", "-c", mount, "sh"]);
    let ended = dir.run(&[
        "run",
        "target",
        "-w",
        "tiny.toml",
        "--set",
        "file_size=2MiB",
        "--set",
        "files=2",
        "--buffered",
        "--ignore-free-space",
    ]);
    assert_reported(&ended, 3, &["no space left", "`fourcorners clean target` frees 2"]);
}

#[test]
fn a_file_above_the_size_limit_is_an_error_with_a_remedy() {
    let dir = started_by(&["prlimit", "--fsize=524288"]);
    let ended = dir.run(&["run", "target", "-w", "tiny.toml"]);
    assert_reported(&ended, 3, &["main-1048576", "File too large", "ulimit -f"]);
}

#[test]
fn threads_that_cannot_start_are_counted_and_the_limits_named() {
    let limits = ["ulimit -u", "pids.max"];
    // The first thread listens for signals, the second writes the file, the others measure.
    for (first, number) in [(1, "thread 1 of 1"), (2, "thread 1 of 1"), (4, "thread 2 of 4")] {
        let dir = with_faults(&format!("inject=clone,clone3:error=EAGAIN:when={first}+"));
        let run = ["run", "target", "-w", "tiny.toml", "--engine", "psync", "--no-progress"];
        let ended = dir.run(&[&run[..], &["--set", "queue_depth=4"]].concat());
        assert_reported(&ended, 3, &[&["start", number], &limits[..]].concat());
    }
    // Of an emulated volume: the thread that serves, the one that listens for signals, the one that
    // keeps the lock. A refused lock is a refusal.
    for (first, code) in [(1, 3), (2, 3), (3, 2)] {
        let dir = with_faults(&format!("inject=clone,clone3:error=EAGAIN:when={first}+"));
        let ended = dir.run(&["run", "-w", "tiny.toml", "--no-progress"]);
        assert_reported(&ended, code, &[&["start"], &limits[..]].concat());
    }
    for first in 1..=2 {
        let dir = with_faults(&format!("inject=clone,clone3:error=EAGAIN:when={first}+"));
        let serve = ["volume", "serve", "--address", "127.0.0.1:0", "--metrics", "none"];
        assert_reported(&dir.run(&serve), 3, &[&["start"], &limits[..]].concat());
    }
}

#[test]
fn a_refused_io_uring_is_reported_with_the_reason_and_the_alternative() {
    for error in ["EPERM", "ENOSYS"] {
        let dir = with_faults(&format!("inject=io_uring_setup:error={error}"));
        let run = ["run", "target", "-w", "tiny.toml", "--no-report"];
        let ended = dir.run(&[&run[..], &["--engine", "io_uring"]].concat());
        let words =
            ["io_uring is not allowed here", "io_uring_disabled", "seccomp", "--engine psync"];
        assert_reported(&ended, 3, &words);
        // Without being forced the run takes the other engine.
        dir.measured(&run);
    }
}

#[test]
fn threads_that_share_a_processor_are_reported_in_plan_and_result() {
    let processor = engine::processor::processors()[0].to_string();
    let dir = started_by(&["taskset", "-c", &processor]);
    let experiment = ["target", "-w", "tiny.toml", "--set", "queue_depth=4", "--engine", "psync"];
    let plan = dir.run(&[&["plan"], &experiment[..]].concat());
    assert!(plan.stderr.contains("4 threads share 1 processor"), "{}", plan.stderr);
    let result = dir.measured(&[&["run"], &experiment[..], &["--json"]].concat());
    let result: serde_json::Value = serde_json::from_str(&result).expect("it is JSON");
    let warnings = result["warnings"].as_array().expect("an array");
    let shared = warnings.iter().find(|one| one["code"] == "threads_share_processors");
    assert!(shared.is_some(), "{warnings:#?}");

    // One thread has the processor to itself.
    let one = dir.run(&[&["plan"], &experiment[..], &["--set", "queue_depth=1"]].concat());
    assert!(!one.stderr.contains("share"), "{}", one.stderr);
    // A ring keeps the queue depth with one thread.
    let arguments = ["plan", "target", "-w", "tiny.toml", "--set", "queue_depth=4"];
    let ring = dir.run(&arguments);
    assert!(!ring.stderr.contains("share"), "{}", ring.stderr);
}
