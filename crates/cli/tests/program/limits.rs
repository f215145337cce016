//! Limits of the system that a run meets: what is said names the limit and the remedy.

use std::process::Command;

use crate::harness::{Ended, Place};
use crate::runs::TINY;

const PROGRAM: &str = env!("CARGO_BIN_EXE_fourcorners");

/// A place where the program is started by `words`, which become it.
fn started_by(words: &[&str]) -> Place {
    let mut place = Place::new();
    place.file("tiny.toml", TINY);
    let mut starter = Command::new(words[0]);
    starter.args(&words[1..]).arg(PROGRAM);
    place.enter(starter);
    place
}

/// A place where the kernel answers system calls as `inject` has it.
fn with_faults(inject: &str) -> Place {
    started_by(&["strace", "--follow-forks", "--quiet=all", "-o", "/dev/null", "-e", inject])
}

fn is_said(ended: &Ended, code: i32, words: &[&str]) {
    assert_eq!(ended.code, Some(code), "{}", ended.stderr);
    // Lines are broken between words.
    let said = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(said.contains(word), "`{word}` is not in: {said}");
    }
    assert!(!said.contains("mistake"), "it is not called our defect: {said}");
}

#[test]
fn a_full_volume_names_the_command_that_frees_it_and_how_much() {
    let mount = "mount -t tmpfs -o size=3m tmpfs target && exec \"$@\"";
    let place = started_by(&["unshare", "--mount", "sh", "-c", mount, "sh"]);
    let ended = place.run(&[
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
    is_said(&ended, 3, &["no space left", "`fourcorners clean target` frees 2"]);
}

#[test]
fn a_file_beyond_the_limit_of_file_sizes_is_an_error_with_its_remedy() {
    let place = started_by(&["prlimit", "--fsize=524288"]);
    let ended = place.run(&["run", "target", "-w", "tiny.toml"]);
    is_said(&ended, 3, &["main-1048576", "File too large", "ulimit -f"]);
}

#[test]
fn threads_that_cannot_be_started_are_counted_and_the_limits_named() {
    let limits = ["ulimit -u", "pids.max"];
    // The first thread listens for signals, the second writes the file, the others measure.
    for (first, number) in [(1, "thread 1 of 1"), (2, "thread 1 of 1"), (4, "thread 2 of 4")] {
        let place = with_faults(&format!("inject=clone,clone3:error=EAGAIN:when={first}+"));
        let run = ["run", "target", "-w", "tiny.toml", "--engine", "psync", "--no-progress"];
        let ended = place.run(&[&run[..], &["--set", "queue_depth=4"]].concat());
        is_said(&ended, 3, &[&["start", number], &limits[..]].concat());
    }
    // Of an emulated volume: the thread that serves, the one that listens for signals, the one that
    // keeps the lock. A refused lock is a refusal.
    for (first, code) in [(1, 3), (2, 3), (3, 2)] {
        let place = with_faults(&format!("inject=clone,clone3:error=EAGAIN:when={first}+"));
        let ended = place.run(&["run", "-w", "tiny.toml", "--no-progress"]);
        is_said(&ended, code, &[&["start"], &limits[..]].concat());
    }
    for first in 1..=2 {
        let place = with_faults(&format!("inject=clone,clone3:error=EAGAIN:when={first}+"));
        let serve = ["volume", "serve", "--address", "127.0.0.1:0", "--metrics", "none"];
        is_said(&place.run(&serve), 3, &[&["start"], &limits[..]].concat());
    }
}

#[test]
fn a_forced_io_uring_that_is_refused_names_what_forbids_it_and_what_works_without() {
    for error in ["EPERM", "ENOSYS"] {
        let place = with_faults(&format!("inject=io_uring_setup:error={error}"));
        let run = ["run", "target", "-w", "tiny.toml", "--no-report"];
        let ended = place.run(&[&run[..], &["--engine", "io_uring"]].concat());
        let words = ["io_uring is refused", "io_uring_disabled", "seccomp", "--engine psync"];
        is_said(&ended, 3, &words);
        // Without being forced the run takes the other engine.
        place.measured(&run);
    }
}

#[test]
fn threads_that_share_a_processor_are_warned_of_in_the_plan_and_the_result() {
    let processor = engine::processor::processors()[0].to_string();
    let place = started_by(&["taskset", "-c", &processor]);
    let experiment = ["target", "-w", "tiny.toml", "--set", "queue_depth=4", "--engine", "psync"];
    let plan = place.run(&[&["plan"], &experiment[..]].concat());
    assert!(plan.stderr.contains("4 threads share 1 processor"), "{}", plan.stderr);
    let result = place.measured(&[&["run"], &experiment[..], &["--json"]].concat());
    let result: serde_json::Value = serde_json::from_str(&result).expect("it is JSON");
    let warnings = result["warnings"].as_array().expect("an array");
    let shared = warnings.iter().find(|one| one["code"] == "threads_share_processors");
    assert!(shared.is_some(), "{warnings:#?}");

    // One thread has the processor to itself.
    let one = place.run(&[&["plan"], &experiment[..], &["--set", "queue_depth=1"]].concat());
    assert!(!one.stderr.contains("share"), "{}", one.stderr);
    // A ring keeps the queue depth with one thread.
    let arguments = ["plan", "target", "-w", "tiny.toml", "--set", "queue_depth=4"];
    let ring = place.run(&arguments);
    assert!(!ring.stderr.contains("share"), "{}", ring.stderr);
}
