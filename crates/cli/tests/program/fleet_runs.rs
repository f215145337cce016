//! `run --hosts`: several agents measure together, and what becomes of a host that is lost, slow or has
//! another volume.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Running, TestDir};
use crate::volumes::Served;

/// One load point of a few seconds on small files.
pub(crate) const SHORT: &str = r#"
name = "short"
[run]
warm_up = "500ms"
measure = "2s"
interval = "250ms"
[stream.main]
read = "50%"
transfer_size = "8KiB"
pattern = "random"
files = 4
file_size = "4MiB"
queue_depth = 4
"#;

/// Each line of `--events jsonl`.
pub(crate) fn events(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("an event")).collect()
}

pub(crate) fn number(event: &Value, field: &str) -> u64 {
    event[field].as_u64().unwrap_or_else(|| panic!("`{field}` in {event}"))
}

/// `(completed, bytes)` of all streams in the line of an interval.
pub(crate) fn sums(interval: &Value) -> (u64, u64) {
    let streams = interval["streams"].as_array().expect("a list").iter();
    let kinds = streams.flat_map(|stream| stream["kinds"].as_array().expect("a list"));
    kinds.fold((0, 0), |(completed, bytes), kind| {
        (completed + number(kind, "completed"), bytes + number(kind, "bytes"))
    })
}

#[test]
fn totals_are_the_sums_of_the_hosts_and_agree_with_the_service() {
    let dir = TestDir::new();
    dir.file("short.toml", SHORT);
    // The emulated volume counts what all hosts sent.
    let arguments = ["run", "-w", "short.toml", "--hosts", "local:3", "--events", "jsonl"];
    let ended = dir.run(&arguments);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("Service-side counters agree"), "{}", ended.stderr);
    assert!(ended.stderr.contains("3 hosts, started within"), "{}", ended.stderr);
    let events = events(&ended.stdout);
    let of = |kind: &str| events.iter().filter(|event| event["event"] == kind).collect::<Vec<_>>();
    let mut hosts: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for one in of("host_interval") {
        let sum = hosts.entry(number(one, "interval_index")).or_default();
        *sum = (sum.0 + number(one, "completed"), sum.1 + number(one, "bytes"));
    }
    let totals: BTreeMap<u64, (u64, u64)> =
        of("interval").iter().map(|one| (number(one, "interval_index"), sums(one))).collect();
    assert!(totals.len() >= 10 && totals == hosts, "{totals:?}\n{hosts:?}");
    assert_eq!(of("host_started").len(), 3);
    // The stored record has the hosts, and its totals are the same.
    let shown: Value = serde_json::from_str(&dir.ok(&["show", "last", "--json"])).expect("JSON");
    let point = &shown["load_points"][0];
    let operations = |summary: &Value| number(&summary["total"]["data"], "completed");
    let each = point["hosts"].as_array().expect("a list").iter();
    let sum: u64 = each.clone().map(|host| operations(&host["summary"])).sum();
    assert_eq!((each.len(), sum), (3, operations(&point["merged"])));
    // All measured from the last start to the planned end, and totals cover only that time.
    let fleet = &shown["fleet"];
    let window = &fleet["window"];
    let edge = |name: &str| number(window, name);
    assert!(number(fleet, "start_spread_ns") <= edge("from_ns"), "{fleet}");
    assert!(edge("from_ns") < edge("totals_from_ns"), "it started in the warm-up: {window}");
    assert!((2_497_500_000..=2_500_000_000).contains(&edge("to_ns")), "the end: {window}");
    assert_eq!(edge("runs_beyond"), 0, "{window}");
    let words = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("All measured together from t = "), "{words}");
    assert!(dir.ok(&["show", "last", "--full"]).contains("local-3"), "the table of hosts");
    dir.ok(&["report", "last", "--format", "svg", "--output", "charts"]);
    for name in ["hosts-throughput-short.svg", "hosts-mean-latency-short.svg"] {
        let chart = fs::read_to_string(dir.path().join("charts").join(name)).expect(name);
        assert!(
            ["local-1", "local-2", "local-3"].iter().all(|host| chart.contains(host)),
            "{name}"
        );
    }
}

#[test]
fn the_number_of_hosts_is_swept_and_each_has_the_workers_of_the_stream() {
    let dir = TestDir::new();
    dir.file("short.toml", SHORT);
    let arguments = [
        "run",
        "null:",
        "-w",
        "short.toml",
        "--hosts",
        "local:2",
        "--set",
        "run.hosts=1,2",
        "--measure",
        "500ms",
        "--json",
    ];
    let ended = dir.run(&arguments);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let results: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let points = results["load_points"].as_array().expect("a list").iter();
    let seen: Vec<(u64, usize)> = points
        .map(|point| {
            let hosts = point["hosts"].as_array().map_or(0, Vec::len);
            (number(point, "queue_depth_total"), hosts)
        })
        .collect();
    assert_eq!(seen, [(4, 1), (8, 2)]);
    for (arguments, words) in [
        (&["plan", "null:", "-w", "short.toml", "--set", "run.hosts=2"][..], "more hosts than"),
        (
            &["plan", "null:", "-w", "short.toml", "--hosts", "local:2", "--set", "run.hosts=3"],
            "`hosts` of at most 2",
        ),
        (&["plan", "x", "--verify", "-w", "short.toml", "--hosts", "local:2"], "only read"),
        (&["run", "--hosts", "ssh:vm1"], "not reachable from other hosts"),
    ] {
        let ended = dir.run(arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(words), "{arguments:?}: {}", ended.stderr);
    }
}

/// The agents that a process has started, in their order.
pub(crate) fn agents(process: u32) -> Vec<String> {
    let listed = Command::new("pgrep").args(["-P", &process.to_string()]).output();
    let listed = listed.expect("start pgrep (`cargo xtask check --install`)");
    String::from_utf8_lossy(&listed.stdout).lines().map(str::to_owned).collect()
}

pub(crate) fn signal(process: &str, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), process]).status();
    assert!(status.expect("start kill").success());
}

#[test]
fn lost_hosts_are_named_in_time_and_every_total_says_who_is_missing() {
    let dir = TestDir::new();
    dir.file("short.toml", SHORT);
    let arguments = [
        "run",
        "target",
        "--create",
        "-w",
        "short.toml",
        "--hosts",
        "local:3",
        "--measure",
        "15s",
        "--on-lost",
        "continue",
        "--events",
        "jsonl",
    ];
    let running = dir.start(&arguments);
    let reached = |line: &str| line.contains("host_interval") && line.contains(":4,\"start_ns");
    running.next_line(reached).expect("it measures");
    let agents = agents(running.id());
    assert_eq!(agents.len(), 3);
    signal(&agents[1], "KILL");
    signal(&agents[2], "STOP");
    let begun = Instant::now();
    let line = running.next_line(|line| line.contains("host_lost")).expect("the killed one");
    assert!(line.contains("SIGKILL"), "{line}");
    let line = running.next_line(|line| line.contains("host_lost")).expect("the frozen one");
    assert!(line.contains("frozen"), "{line}");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    let ended = running.end();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    for words in ["1/3 hosts", "1 of 3 hosts from t = ", "local-2: ", "local-3: "] {
        assert!(ended.stderr.contains(words), "`{words}` in\n{}", ended.stderr);
    }
    let shown: Value = serde_json::from_str(&dir.ok(&["show", "last", "--json"])).expect("JSON");
    let point = &shown["load_points"][0];
    assert_eq!(point["missing_hosts"]["remaining"], 1);
    assert_eq!(shown["fleet"]["window"]["runs_beyond"], 1, "totals of fewer hosts");
    assert!(
        point["hosts"][1]["lost"]["reason"].as_str().is_some_and(|why| why.contains("SIGKILL"))
    );
    assert_eq!(point["hosts"][0]["lost"], Value::Null);
}

#[test]
fn the_lock_is_the_controllers_and_remains_when_the_first_host_is_killed() {
    let dir = TestDir::new();
    // Little load: most of the time of this test is waiting.
    dir.file("paced.toml", &format!("{SHORT}arrival = {{ constant = \"60/s\" }}\n"));
    let served = Served::start(&dir, &["--address", "127.0.0.1:0", "--no-limits"]);
    let url = format!("nfs://127.0.0.1:{0}/vol1?mountport={0}", served.port);
    let common = ["-w", "paced.toml", "--create", "--no-report", "--events", "jsonl"];
    let start = |target: &str| {
        let more = ["--hosts", "local:3", "--measure", "60s", "--on-lost", "continue"];
        dir.start(&[&["run", target][..], &common, &more].concat())
    };
    let wait_for_interval = |running: &Running, number: u32| {
        let text = format!(":{number},\"start_ns");
        let reached = |line: &str| line.contains("host_interval") && line.contains(&text);
        running.next_line(reached).expect("it measures");
    };
    let running = ["target", &url].map(start);
    for running in &running {
        wait_for_interval(running, 4);
        signal(&agents(running.id())[0], "KILL");
        running.next_line(|line| line.contains("host_lost")).expect("the first");
    }
    for (running, target) in running.iter().zip(["target", &url]) {
        // The others measure, and renew a lease that the first no longer renews.
        wait_for_interval(running, 72);
        let ended = dir.run(&[&["run", target][..], &common, &["--hosts", "local:2"]].concat());
        assert_eq!(ended.code, Some(2), "{}\n{}", ended.stdout, ended.stderr);
        let words = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        let holder = format!("is in use by another run: process {} on ", running.id());
        assert!(words.contains(&holder), "`{holder}` in {words}");
    }
    for (running, target) in running.into_iter().zip(["target", &url]) {
        running.signal("INT");
        let ended = running.end();
        assert!(ended.stderr.contains("2 of 3 hosts from t = "), "{}", ended.stderr);
        // The last host has released the target.
        let arguments = ["--measure", "500ms", "--hosts", "local:2"];
        let ended = dir.run(&[&["run", target][..], &common, &arguments].concat());
        // A busy machine may not reach the rate.
        assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
    }
    assert!(!dir.path().join("target/fourcorners/.fourcorners.lock").exists());
    assert_eq!(served.end().code, Some(0));
}

#[test]
fn a_lost_host_fails_the_run_and_what_was_measured_is_kept_without_it_never() {
    let dir = TestDir::new();
    dir.file("short.toml", SHORT);
    let arguments = [
        "run",
        "target",
        "--create",
        "-w",
        "short.toml",
        "--hosts",
        "local:2",
        "--measure",
        "10s",
        "--events",
        "jsonl",
    ];
    let running = dir.start(&arguments);
    let reached = |line: &str| line.contains("host_interval") && line.contains(":4,\"start_ns");
    running.next_line(reached).expect("it measures");
    signal(&agents(running.id())[1], "KILL");
    let ended = running.end();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("local-2 is lost at t = "), "{}", ended.stderr);
    // Totals end with the lost host, so no number is that of fewer hosts.
    let shown: Value = serde_json::from_str(&dir.ok(&["show", "last", "--json"])).expect("JSON");
    let point = &shown["load_points"][0];
    assert_eq!(point["missing_hosts"], Value::Null);
    let intervals = |summary: &Value| number(summary, "intervals");
    let lost = intervals(&point["hosts"][1]["summary"]);
    assert!(intervals(&point["merged"]) <= lost, "{point}");
}

#[test]
fn a_host_with_another_volume_at_the_path_is_refused_by_name_before_anything_is_measured() {
    let dir = TestDir::new();
    dir.file("short.toml", SHORT);
    let path = dir.path();
    for name in ["a", "c"] {
        fs::create_dir_all(path.join(name).join("vol")).expect("make a folder");
    }
    symlink(path.join("a"), path.join("b")).expect("make a link");
    let target = path.join("{host}/vol").display().to_string();
    let run = |hosts: &str| {
        let program = "exec:env FLEET={host}";
        let arguments = [
            "run",
            &target,
            "-w",
            "short.toml",
            "--not-a-mount",
            "--measure",
            "500ms",
            "--hosts",
            program,
            "--hosts",
            hosts,
            "--agent",
            env!("CARGO_BIN_EXE_fourcorners"),
        ];
        dir.run(&arguments)
    };
    let ended = run("a,b");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let ended = run("a,b,c");
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    let words = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("error: c: `") && words.contains("is not the directory"), "{words}");
    assert!(words.contains("mount the same volume on all hosts"), "{words}");
    let ended = run("a,missing");
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("missing: "), "{}", ended.stderr);
    let records = fs::read_dir(dir.store().join("runs")).expect("there is a record");
    assert_eq!(records.count(), 1, "only the first was measured");
    // Nothing but the files of the first run is left.
    let left: Vec<_> = fs::read_dir(path.join("c/vol")).expect("it exists").collect();
    assert!(left.is_empty(), "{left:?}");
    let lock = path.join("a/vol/fourcorners/.fourcorners.lock");
    assert!(!lock.exists(), "the lock of the refused run");
}
