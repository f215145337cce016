//! `run --hosts`: the files of a plan are filled by all hosts.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fleet_runs::{agents, events, number, signal};
use crate::harness::{Running, TestDir};

/// Eight small files that are read for half a second.
const READS: &str = r#"
name = "reads"
[run]
warm_up = "0s"
measure = "500ms"
interval = "250ms"
[stream.main]
read = "100%"
transfer_size = "8KiB"
pattern = "random"
files = 8
file_size = "4MiB"
queue_depth = 2
"#;
const TOTAL_BYTES: u64 = 32 << 20;

/// The files of our directory in `target` by name: the data, and the manifest.
fn filled(target: &Path) -> (BTreeMap<String, Vec<u8>>, Value) {
    let ours = target.join("fourcorners");
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(&ours).expect("it was filled") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if name.ends_with(".data") {
            files.insert(name, fs::read(&path).expect("read it"));
        }
    }
    let manifest = fs::read(ours.join(".fourcorners")).expect("it is marked");
    (files, serde_json::from_slice(&manifest).expect("JSON"))
}

/// Bytes that the fill of a run wrote, from its events.
fn written_bytes(stdout: &str) -> u64 {
    let events = events(stdout);
    let finished = events.iter().find(|event| event["event"] == "prepare_finished");
    number(finished.expect("the fill ended"), "written_bytes")
}

#[test]
fn three_hosts_fill_the_files_and_the_manifest_that_one_host_fills() {
    let (one, three) = (TestDir::new(), TestDir::new());
    for (dir, hosts) in [(&one, &[][..]), (&three, &["--hosts", "local:3"])] {
        dir.file("reads.toml", READS);
        let arguments = ["run", "target", "-w", "reads.toml", "--events", "jsonl"];
        let ended = dir.run(&[&arguments[..], hosts].concat());
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(written_bytes(&ended.stdout), TOTAL_BYTES);
        let progress = events(&ended.stdout).into_iter();
        let progress: Vec<(u64, u64)> = progress
            .filter(|event| event["event"] == "prepare_progress")
            .map(|event| (number(&event, "written_bytes"), number(&event, "total_bytes")))
            .collect();
        assert!(progress.is_sorted(), "{progress:?}");
        assert_eq!(progress.last(), Some(&(TOTAL_BYTES, TOTAL_BYTES)));
    }
    let (files, manifest) = filled(&one.target());
    let (split_files, split_manifest) = filled(&three.target());
    assert_eq!(files.len(), 8);
    assert!(files == split_files, "the same bytes");
    let records = |manifest: &Value| {
        let mut records = manifest["files"].clone();
        for record in records.as_object_mut().expect("a table").values_mut() {
            record["identity"] = Value::Null;
            record["filled_by"] = Value::Null;
        }
        records
    };
    assert_eq!(records(&manifest), records(&split_manifest));
    let hosts: Vec<&str> = split_manifest["files"]
        .as_object()
        .expect("a table")
        .values()
        .map(|record| record["filled_by"]["host"].as_str().expect("a host"))
        .collect();
    let cycle = ["local-1", "local-2", "local-3"];
    assert_eq!(hosts, cycle.into_iter().cycle().take(8).collect::<Vec<_>>());
    // Nothing is written again, with or without several hosts.
    for hosts in [&[][..], &["--hosts", "local:2"]] {
        let arguments = ["run", "target", "-w", "reads.toml", "--events", "jsonl"];
        let ended = three.run(&[&arguments[..], hosts].concat());
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(written_bytes(&ended.stdout), 0);
    }
}

/// More than the hosts have outstanding when progress is first reported.
const SLOW_FILES: &str = "files=24";
const SLOW_BYTES: u64 = 96 << 20;

const THREE_HOSTS: [&str; 2] = ["--hosts", "local:3"];

/// A volume that takes three seconds to fill, and its URL.
fn slow_volume(dir: &TestDir) -> (Running, String) {
    let arguments = ["--address", "127.0.0.1:0", "--metrics", "none", "--throughput", "32MiB/s"];
    let serving = dir.start(&[&["volume", "serve"][..], &arguments].concat());
    let line = serving.wait_for("nfs://");
    let at = line.find("nfs://").expect("it was waited for");
    let url = line[at..].split_whitespace().next().expect("there is a URL").to_owned();
    (serving, url)
}

/// Starts a run and waits until the fill has written some MiB.
fn started(dir: &TestDir, target: &str, hosts: &[&str]) -> Running {
    dir.file("reads.toml", READS);
    let arguments = ["run", target, "-w", "reads.toml", "--events", "jsonl"];
    let running = dir.start(&[&arguments[..], hosts].concat());
    let is_under_way = |line: &str| {
        line.contains("\"prepare_progress\"")
            && serde_json::from_str(line)
                .is_ok_and(|event: Value| number(&event, "written_bytes") >= 4 << 20)
    };
    running.next_line(is_under_way).expect("the fill reports progress");
    running
}

#[test]
fn a_fill_that_a_killed_host_ended_names_it_and_is_resumed() {
    let dir = TestDir::new();
    let (_serving, url) = slow_volume(&dir);
    let running = started(&dir, &url, &THREE_HOSTS);
    signal(&agents(running.id())[1], "KILL");
    let ended = running.end();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("local-2: "), "{}", ended.stderr);
    assert!(ended.stderr.contains("SIGKILL"), "{}", ended.stderr);
    resumes(&dir, &url, &THREE_HOSTS);
}

#[test]
fn a_fill_that_the_user_interrupts_is_resumed() {
    for hosts in [&[][..], &THREE_HOSTS] {
        let dir = TestDir::new();
        let (_serving, url) = slow_volume(&dir);
        let running = started(&dir, &url, hosts);
        running.signal("INT");
        let ended = running.end();
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        resumes(&dir, &url, hosts);
    }
}

#[test]
fn a_fill_whose_controller_is_killed_is_resumed() {
    let dir = TestDir::new();
    let (_serving, url) = slow_volume(&dir);
    let running = started(&dir, &url, &THREE_HOSTS);
    let agents = agents(running.id());
    running.signal("KILL");
    running.end();
    // They stop, record what the first has written, and release the target.
    let deadline = Instant::now() + Duration::from_secs(60);
    while agents.iter().any(|agent| is_running(agent)) {
        assert!(Instant::now() < deadline, "an agent without a controller ends");
        std::thread::yield_now();
    }
    resumes(&dir, &url, &THREE_HOSTS);
}

/// Whether a process exists and is not only an unread exit status.
fn is_running(process: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/stat"));
    status.is_ok_and(|status| !status.contains(") Z "))
}

/// A second run writes only what is missing, and its files pass verification.
fn resumes(dir: &TestDir, url: &str, hosts: &[&str]) {
    let arguments = ["run", url, "-w", "reads.toml", "--verify"];
    let more = ["--set", SLOW_FILES, "--events", "jsonl"];
    let ended = dir.run(&[&arguments[..], &more, hosts].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let written = written_bytes(&ended.stdout);
    assert!(0 < written && written < SLOW_BYTES, "{written}");
}

/// A tmpfs, unmounted when dropped.
pub(crate) struct Mounted<'a>(&'a Path);

impl<'a> Mounted<'a> {
    pub(crate) fn new(path: &'a Path, size: &str) -> Mounted<'a> {
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "none"])
            .arg(path)
            .status();
        assert!(mount.expect("start mount").success(), "this test needs root, as in CI");
        Mounted(path)
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn a_host_whose_storage_is_full_is_named() {
    let dir = TestDir::new();
    let target = dir.target();
    let _mounted = Mounted::new(&target, "12m");
    dir.file("reads.toml", READS);
    let arguments = [
        "run",
        "target",
        "-w",
        "reads.toml",
        "--buffered",
        "--hosts",
        "local:2",
        "--ignore-free-space",
    ];
    let ended = dir.run(&arguments);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let words = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_named = words.contains("local-1: ") || words.contains("local-2: ");
    assert!(is_named, "{words}");
    // A block of a file did not fit, or the manifest of what others had written.
    let is_file = words.contains("no space left for `");
    let is_manifest = words.contains("/.fourcorners`: No space left on device (os error 28)");
    assert!(is_file || (is_manifest && words.contains("free some space")), "{words}");
}
