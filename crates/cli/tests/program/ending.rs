//! Unplanned ends: Ctrl-C, a kill, a failing target, a closed pipe. Results are kept every time.

use crate::harness::TestDir;
use crate::refusals::data_file;
use crate::runs::TINY;

/// The tiny experiment, long enough to be ended by something else.
const LONG: &[&str] = &[
    "run",
    "target",
    "-w",
    "tiny.toml",
    "-v",
    "--no-report",
    "--measure",
    "60s",
    "--interval",
    "100ms",
];

fn state(dir: &TestDir) -> (String, u64) {
    let listed = dir.ok(&["list", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("the list is JSON");
    let shown = dir.ok(&["show", "last", "--json"]);
    assert!(shown.contains("queue_depth"), "the results are there: {shown}");
    let state = listed[0]["state"].as_str().expect("a state is a word").to_owned();
    (state, listed[0]["runs_done"].as_u64().expect("a count"))
}

#[test]
fn one_ctrl_c_finishes_the_interval_and_keeps_the_results() {
    for signal in ["INT", "TERM"] {
        let dir = TestDir::new();
        dir.file("tiny.toml", TINY);
        let running = dir.start(LONG);
        running.wait_for(" measure ");
        running.wait_for(" measure ");
        running.signal(signal);
        let ended = running.end();
        assert_eq!(ended.code, Some(1), "{signal}: {}", ended.stderr);
        assert!(ended.stderr.contains("finishing the interval"), "{}", ended.stderr);
        assert!(ended.stdout.contains("IOPS"), "the table is shown: {}", ended.stdout);
        assert_eq!(state(&dir), ("interrupted".to_owned(), 0));
    }
}

#[test]
fn a_second_ctrl_c_stops_immediately() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    // An interval as long as the window: without the second signal it would not end within a test's
    // patience.
    let running = dir.start(&[
        "run",
        "target",
        "-w",
        "tiny.toml",
        "--no-report",
        "--warm-up",
        "0",
        "--measure",
        "1h",
        "--interval",
        "1h",
        "--events",
        "jsonl",
    ]);
    running.wait_for("\"phase\":\"measure\"");
    running.signal("INT");
    running.wait_for("finishing the interval");
    running.signal("INT");
    let ended = running.end();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("stopping immediately"), "{}", ended.stderr);
    let listed = dir.ok(&["list"]);
    assert!(listed.contains("interrupted"), "{listed}");
}

#[test]
fn ctrl_c_during_the_fill_leaves_files_that_clean_removes() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let running = dir.start(&[
        "run",
        "target",
        "-w",
        "tiny.toml",
        "--set",
        "file_size=1GiB",
        "--events",
        "jsonl",
    ]);
    running.wait_for("prepare_progress");
    running.signal("INT");
    let ended = running.end();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(!ended.stdout.contains("run_started"), "no run was begun: {}", ended.stdout);
    assert!(ended.stderr.contains("interrupted before measuring"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("interval"), "there is none: {}", ended.stderr);
    let last = ended.stdout.lines().last().expect("there are events");
    assert!(last.contains(r#""verdict":"interrupted","exit_code":1"#), "{last}");
    assert!(dir.ok(&["list"]).contains("interrupted"));
    dir.ok(&["clean", "target"]);
    assert_eq!(std::fs::read_dir(dir.target()).unwrap().count(), 0);
}

#[test]
fn an_interrupted_or_killed_fill_is_resumed_inside_the_file() {
    const FILE_BYTES: u64 = 1 << 30;
    // More than one checkpoint of 256 MiB.
    const INTERRUPTED_AT_BYTES: u64 = 300 << 20;
    const CHECKPOINT_BYTES: u64 = 256 << 20;
    for (signal, code) in [("INT", Some(1)), ("KILL", None)] {
        let dir = TestDir::new();
        dir.file("tiny.toml", TINY);
        let experiment = ["target", "-w", "tiny.toml", "--set", "file_size=1GiB"];
        let run = [&["run"], &experiment[..], &["--events", "jsonl"]].concat();
        let running = dir.start(&run);
        let number = |line: &str, field: &str| {
            let event: serde_json::Value = serde_json::from_str(line).ok()?;
            event[field].as_u64()
        };
        let is_begun = running.next_line(|line| {
            line.contains("prepare_progress")
                && number(line, "written_bytes").is_some_and(|bytes| bytes > INTERRUPTED_AT_BYTES)
        });
        assert!(is_begun.is_some(), "the fill passes a checkpoint");
        running.signal(signal);
        assert_eq!(running.end().code, code, "{signal}");

        let planned = dir.ok(&[&["plan"], &experiment[..]].concat());
        let fill = planned.lines().find(|line| line.starts_with("fill")).expect("a line");
        let again = dir.ok(&run);
        let finished = again.lines().find(|line| line.contains("prepare_finished"));
        let written_bytes = number(finished.expect("it ends"), "written_bytes").expect("a number");
        let kept_bytes = FILE_BYTES - written_bytes;
        assert!(kept_bytes >= CHECKPOINT_BYTES, "{signal}: {kept_bytes} bytes were kept");
        if signal == "KILL" {
            // It may have passed another checkpoint before the signal arrived.
            assert_eq!(kept_bytes % CHECKPOINT_BYTES, 0, "{kept_bytes}");
        }
        let left = units::Bytes::new(written_bytes).to_string();
        assert!(fill.contains(&format!("{left} in 1 file to write")), "{signal}: {fill}");
        let nothing = dir.ok(&[&["plan"], &experiment[..]].concat());
        assert!(nothing.contains("nothing to write"), "{nothing}");
    }
}

#[test]
fn a_killed_run_keeps_every_complete_interval() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let running = dir.start(LONG);
    for _ in 0..3 {
        running.wait_for(" measure ");
    }
    running.signal("KILL");
    let ended = running.end();
    assert_eq!(ended.code, None, "it was killed");
    assert_eq!(state(&dir), ("aborted".to_owned(), 0));

    // Every interval is on disk before it is displayed.
    let shown = ended
        .stderr
        .lines()
        .filter(|line| line.contains(" warm up ") || line.contains(" measure "));
    let record = dir.ok(&["show", "last", "--json"]);
    let record: serde_json::Value = serde_json::from_str(&record).expect("the record is JSON");
    let kept = record["series"][0]["points"].as_array().expect("a series has points").len();
    let shown = shown.count();
    assert!(shown >= 3 && kept >= shown, "{kept} intervals kept, {shown} shown");

    // The next run works in the same directory.
    dir.ok(&["run", "target", "-w", "tiny.toml", "--no-report"]);
}

#[test]
fn a_target_that_fails_during_a_run_ends_it_with_3_and_keeps_the_results() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let running = dir.start(LONG);
    running.wait_for(" measure ");
    running.wait_for(" measure ");
    let file = std::fs::OpenOptions::new().write(true).open(data_file(&dir)).unwrap();
    file.set_len(4096).unwrap();
    let ended = running.end();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("short"), "the error's kind is named: {}", ended.stderr);
    assert_eq!(state(&dir), ("failed".to_owned(), 0));
}

#[test]
fn a_closed_pipe_is_not_a_failure() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    for command in ["schema", "profiles", "list", "--help"] {
        let (reader, writer) = std::io::pipe().expect("make a pipe");
        drop(reader);
        let status = dir.command(&[command]).stdout(writer).status().expect("start the program");
        assert_eq!(status.code(), Some(0), "{command}");
    }

    // A run continues and is stored if the reader of its events closes the pipe.
    let (reader, writer) = std::io::pipe().expect("make a pipe");
    drop(reader);
    let run = ["run", "null:", "-w", "tiny.toml", "--events", "jsonl", "--no-report"];
    let status = dir
        .command(&run)
        .stdout(writer)
        .stderr(std::process::Stdio::null())
        .status()
        .expect("start the program");
    assert_eq!(status.code(), Some(0));
    assert!(dir.ok(&["list", "--json"]).contains("\"state\": \"done\""));
}

#[test]
fn a_second_run_in_the_same_directory_is_refused_while_the_first_is_running() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let running = dir.start(LONG);
    running.wait_for(" measure ");
    let second = dir.run(&["run", "target", "-w", "tiny.toml"]);
    assert_eq!(second.code, Some(2), "{}", second.stderr);
    assert!(second.stderr.contains("in use by another run"), "{}", second.stderr);
    assert!(dir.ok(&["list"]).contains("running"));
    running.signal("INT");
    assert_eq!(running.end().code, Some(1));
}
