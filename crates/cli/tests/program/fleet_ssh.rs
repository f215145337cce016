//! `run --hosts ssh:` over real sshd in network namespaces, against the emulated volume on the bridge:
//! eight hosts that agree with the service, and every fault named with its host. Requires root, as in CI.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cluster::message::{Build, Hello, Message, PROTOCOL};
use serde_json::Value;

use crate::fleet_runs::sums;
use crate::ganesha::Ganesha;
use crate::harness::{Ended, Running, TestDir};
use crate::ssh_hosts::{HUB, Hub, PROGRAM, script};
use crate::volumes::Served;

/// Time from a fault to the name of its host.
const NAMED_WITHIN: Duration = Duration::from_secs(10);
/// Without a hello a host is lost after 9 s; this adds the start of the program and of ssh.
const SILENT_NAMED_WITHIN: Duration = Duration::from_secs(13);
/// Bound for the start spread: an interval of the experiment. The threads of eight agents wake at one instant on
/// as few as two processors that other tests use too, and each waits for some turns of the scheduler.
const SPREAD_MAX_NS: u64 = 250_000_000;
/// Bound for the difference from the service's view, for the same reason: a first call is prepared, sent and
/// received after the start that it shows.
const APART_MAX_NS: u64 = 100_000_000;

/// One load point of a few seconds on small files: reads of one call each.
const READS: &str = r#"
name = "reads"
[run]
warm_up = "500ms"
measure = "2s"
interval = "250ms"
[stream.main]
read = "100%"
transfer_size = "8KiB"
pattern = "random"
files = 8
file_size = "1MiB"
queue_depth = 2
"#;

/// The emulated volume on the bridge, and its URL.
fn serve(dir: &TestDir) -> (Served, String) {
    let served = Served::start(dir, &["--address", &format!("{HUB}:2049"), "--no-limits"]);
    let url = format!("nfs://{HUB}:{0}/vol1?mountport={0}&nconnect=1", served.port);
    (served, url)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn number(value: &Value, field: &str) -> u64 {
    value[field].as_u64().unwrap_or_else(|| panic!("`{field}` in {value}"))
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map_or_else(|| panic!("`{field}` in {value}"), Vec::as_slice)
}

/// The connections of the last record: local and remote address.
fn connections(dir: &TestDir) -> Vec<(String, String)> {
    let csv = dir.ok(&["export", "last", "--format", "connections"]);
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let column = |name| header.iter().position(|one| *one == name).expect("the column exists");
    let (local, remote) = (column("local"), column("remote"));
    lines.map(|line| (line[local].to_owned(), line[remote].to_owned())).collect()
}

#[test]
fn eight_hosts_agree_with_the_service_about_every_operation_and_the_start() {
    let mut dir = TestDir::new();
    dir.file("reads.toml", READS);
    let hub = Hub::new(&mut dir, "eight", 8, "");
    let _hosts = hub.hosts("eight", 1..=8, "keys");
    let (served, url) = serve(&dir);
    let arguments = [
        "run",
        &url,
        "-w",
        "reads.toml",
        "--hosts",
        "ssh:h[1-8]",
        "--agent",
        PROGRAM,
        "--events",
        "jsonl",
    ];
    let ended = dir.run(&arguments);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    assert!(ended.stderr.contains("8 hosts, started within "), "{}", ended.stderr);

    let events: Vec<Value> = ended.stdout.lines().map(json).collect();
    let of = |kind: &str| events.iter().filter(|event| event["event"] == kind).collect::<Vec<_>>();
    let mut of_hosts: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for one in of("host_interval") {
        let sum = of_hosts.entry(number(one, "host_index")).or_default();
        *sum = (sum.0 + number(one, "completed"), sum.1 + number(one, "bytes"));
    }
    assert!(of_hosts.len() == 8 && of_hosts.values().all(|(reads, _)| *reads > 0), "{of_hosts:?}");

    // The service counts each connection. The session of the fill has others.
    let stat = json(&dir.ok(&["volume", "stat", &served.metrics, "--format", "json"]));
    let connections = connections(&dir);
    assert_eq!(connections.len(), 8, "one connection of each host: {connections:?}");
    let flow = |(local, remote): &(String, String)| -> &Value {
        let name = format!("{local}-{remote}");
        let found = list(&stat, "flows").iter().find(|flow| flow["name"] == name.as_str());
        found.unwrap_or_else(|| panic!("no flow {name}: {stat}"))
    };
    let mut first_ns = Vec::new();
    for (host, (reads, bytes)) in &of_hosts {
        let address = format!("10.215.0.{}:", host + 1);
        let connection = connections.iter().find(|(local, _)| local.starts_with(&address));
        let flow = flow(connection.unwrap_or_else(|| panic!("{address} in {connections:?}")));
        assert_eq!(number(&flow["operations"], "read"), *reads, "h{}: {flow}", host + 1);
        assert_eq!(number(flow, "read_bytes"), *bytes, "h{}: {flow}", host + 1);
        first_ns.push(number(flow, "first_arrival_ns"));
    }

    let started = of("host_started");
    assert_eq!(started.len(), 8, "{started:?}");
    let late_ns: Vec<u64> = started.iter().map(|one| number(one, "late_ns")).collect();
    let mut errors_ns: Vec<u64> = started.iter().map(|one| number(one, "clock_error_ns")).collect();
    errors_ns.sort_unstable();
    let error_ns: u64 = errors_ns.iter().rev().take(2).sum();
    let spread = |all: &[u64]| {
        all.iter().max().zip(all.iter().min()).map_or(0, |(most, least)| most - least)
    };
    let (printed_ns, seen_ns) = (spread(&late_ns), spread(&first_ns));
    println!(
        "start spread: {printed_ns} ns +- {error_ns} ns, by the service's clock {seen_ns} ns, \
         late by {late_ns:?} ns"
    );
    assert!(printed_ns <= SPREAD_MAX_NS, "{printed_ns} ns");
    let apart_ns = printed_ns.abs_diff(seen_ns);
    assert!(apart_ns <= APART_MAX_NS + error_ns, "{printed_ns} and {seen_ns} +- {error_ns} ns");
    assert_eq!(served.end().code, Some(0));
}

#[test]
fn eight_hosts_measure_nfs_ganesha_and_the_totals_are_their_sums() {
    let mut dir = TestDir::new();
    dir.file("reads.toml", READS);
    let hub = Hub::new(&mut dir, "ganesha", 8, "");
    let _hosts = hub.hosts("ganesha", 1..=8, "keys");
    let server = Ganesha::start_at(HUB, hub.network.command("unshare"));
    let url = format!("{}&nconnect=1", server.vfs(""));
    let arguments = ["run", &url, "-w", "reads.toml", "--verify", "--events", "jsonl"];
    let hosts = ["--hosts", "ssh:h[1-8]", "--agent", PROGRAM];
    let ended = dir.run(&[&arguments[..], &hosts].concat());
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    assert!(ended.stderr.contains("8 hosts, started within "), "{}", ended.stderr);

    let events: Vec<Value> = ended.stdout.lines().map(json).collect();
    let of = |kind: &str| events.iter().filter(|event| event["event"] == kind).collect::<Vec<_>>();
    let mut of_hosts: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    let mut reads_of_hosts = [0; 8];
    for one in of("host_interval") {
        let sum = of_hosts.entry(number(one, "interval_index")).or_default();
        *sum = (sum.0 + number(one, "completed"), sum.1 + number(one, "bytes"));
        reads_of_hosts[number(one, "host_index") as usize] += number(one, "completed");
    }
    let totals: BTreeMap<u64, (u64, u64)> =
        of("interval").iter().map(|one| (number(one, "interval_index"), sums(one))).collect();
    assert!(totals.len() >= 10 && totals == of_hosts, "{totals:?}\n{of_hosts:?}");
    assert!(reads_of_hosts.iter().all(|reads| *reads > 0), "{reads_of_hosts:?}");
    let connections = connections(&dir);
    let of_host = |number: u8| {
        let address = format!("10.215.0.{number}:");
        connections.iter().filter(|(local, _)| local.starts_with(&address)).count()
    };
    assert_eq!([1, 2, 3, 4, 5, 6, 7, 8].map(of_host), [1; 8], "{connections:?}");
    // Each host has filled a part of the files, which the server has as files.
    let files = fs::read_dir(server.folder().join("fourcorners")).expect("it was filled");
    let data = files.filter(|file| {
        let name = file.as_ref().expect("an entry").file_name();
        name.to_string_lossy().ends_with(".data")
    });
    assert_eq!(data.count(), 8);
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A fault before the run.
struct Case<'a> {
    name: &'a str,
    /// The program on the hosts.
    agent: &'a Path,
    hosts: &'a str,
    target: &'a str,
    /// What the error says, with the name of the host.
    words: &'a [&'a str],
    within: Duration,
}

/// A program in place of the agent: `of_second` on host h2, the real one elsewhere.
fn agent(dir: &TestDir, name: &str, of_second: &str) -> PathBuf {
    let text = format!(
        "#!/bin/sh\nif [ \"$FLEET_HOST\" = h2 ]; then\n{of_second}\nfi\nexec {PROGRAM} \"$@\"\n"
    );
    script(dir, name, &text)
}

/// The error of a command, with its line breaks as spaces.
fn message(ended: &Ended) -> String {
    ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_fault_before_the_run_is_named_with_its_host_and_nothing_is_measured() {
    let mut dir = TestDir::new();
    dir.file("reads.toml", READS);
    let root = dir.path().display().to_string();
    let other_names = "Host stranger\n  HostName 10.215.0.2\n  HostKeyAlias not-known\n\
                       Host gone\n  HostName 10.215.0.99\n\
                       Host alias\n  HostName 10.215.0.1\n";
    let hub = Hub::new(&mut dir, "before", 3, other_names);
    let _hosts = hub.hosts("before", 1..=2, "keys");
    let _refusing = hub.hosts("before", [3], "other_keys");

    let build = Build { version: "0.0.1 (another)".to_owned(), ..Build::default() };
    let hello = Message::Hello(Hello { protocol: PROTOCOL, build, ..Hello::default() });
    fs::write(dir.path().join("hello"), hello.to_frame()).expect("write a hello");
    let version = agent(&dir, "version", &format!("cat {root}/hello; exec cat > /dev/null"));
    let noise = agent(&dir, "noise", "echo Welcome to h2; exec cat > /dev/null");
    let silent = agent(&dir, "silent", "exec sleep 60");
    let killed = agent(&dir, "killed", "kill -KILL $$");
    let missing = agent(&dir, "missing", "exec /no/such/fourcorners agent");
    // Each host has a mount namespace: only the first has the full disk.
    for name in ["vol-h1", "full"] {
        fs::create_dir(dir.path().join(name)).expect("make a folder");
    }
    let full = script(
        &dir,
        "full-disk",
        &format!(
            "#!/bin/sh\nif [ \"$FLEET_HOST\" = h1 ]; then\nmount -t tmpfs -o size=2m none \
             {root}/full\nfi\nexec {PROGRAM} \"$@\"\n"
        ),
    );
    let program = PathBuf::from(PROGRAM);
    let null = "null:".to_owned();
    let (path, full_path) = (format!("{root}/vol-{{host}}"), format!("{root}/full"));
    fn case<'a>(
        name: &'a str,
        agent: &'a Path,
        hosts: &'a str,
        target: &'a str,
        words: &'a [&'a str],
    ) -> Case<'a> {
        let within = if name == "silent" { SILENT_NAMED_WITHIN } else { NAMED_WITHIN };
        Case { name, agent, hosts, target, words, within }
    }
    let unreachable = &["gone: ", "10.215.0.99"];
    let cases = [
        case(
            "key refused",
            &program,
            "ssh:h1,h3",
            &null,
            &["h3: ", "Permission denied", "ssh-copy-id"],
        ),
        case(
            "host key",
            &program,
            "ssh:h1,stranger",
            &null,
            &["stranger: ", "Host key verification failed"],
        ),
        case(
            "unknown name",
            &program,
            "ssh:h1,nowhere.invalid",
            &null,
            &["nowhere.invalid: ", "Could not resolve"],
        ),
        case("no such address", &program, "ssh:h1,gone", &null, unreachable),
        case("version", &version, "ssh:h1,h2", &null, &["h2: ", "0.0.1 (another)", VERSION]),
        case(
            "login script",
            &noise,
            "ssh:h1,h2",
            &null,
            &["h2: ", "Welcome to h2", "login script must not"],
        ),
        case("killed", &killed, "ssh:h1,h2", &null, &["h2: "]),
        case("not installed", &missing, "ssh:h1,h2", &null, &["h2: ", "not found", "--push"]),
        case("no such path", &program, "ssh:h1,h2", &path, &["h2: ", "vol-h2"]),
        case("full disk", &full, "ssh:h1,h2", &full_path, &["h1: ", "full"]),
        case(
            "two names",
            &program,
            "ssh:h1,h2,alias",
            &null,
            &["alias: it is the same host as h1", "name each host once"],
        ),
        case("silent", &silent, "ssh:h1,h2", &null, &["h2: ", "within 9 s"]),
    ];
    let run = |agent: &Path, hosts: &str, target: &str| {
        let agent = agent.display().to_string();
        let begun = Instant::now();
        let arguments = ["run", target, "-w", "reads.toml", "--not-a-mount", "--hosts", hosts];
        let ended = dir.run(&[&arguments[..], &["--agent", &agent]].concat());
        (ended, begun.elapsed())
    };
    // Most of the time is waiting, so a few commands run together.
    for cases in cases.chunks(4) {
        std::thread::scope(|scope| {
            let running: Vec<_> = cases
                .iter()
                .map(|case| scope.spawn(|| run(case.agent, case.hosts, case.target)))
                .collect();
            for (Case { name, words: expected, within, .. }, running) in cases.iter().zip(running) {
                let (ended, took) = running.join().expect("the command ends");
                println!("{name}: named after {took:?}");
                assert!(matches!(ended.code, Some(2 | 3)), "{name}: {}", ended.stdout);
                for part in *expected {
                    assert!(
                        message(&ended).contains(part),
                        "{name}: `{part}` in\n{}",
                        ended.stderr
                    );
                }
                assert!(took < *within, "{name}: {took:?}\n{}", ended.stderr);
            }
        });
    }
    let (ended, _) = run(&program, "ssh:h1,h1", "null:");
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(message(&ended).contains("`h1` is given twice"), "{}", ended.stderr);
    assert!(!dir.store().join("runs").exists(), "nothing was measured");

    // A monotonic clock that is an hour ahead is no fault: hosts start by their own clocks.
    let ahead = "exec unshare --time --monotonic 3600 --fork --kill-child";
    let ahead = agent(&dir, "ahead", &format!("{ahead} {PROGRAM} \"$@\""));
    let arguments = ["run", "null:", "-w", "reads.toml", "--measure", "500ms", "--events", "jsonl"];
    let ahead = ahead.display().to_string();
    let ended = dir.run(&[&arguments[..], &["--hosts", "ssh:h1,h2", "--agent", &ahead]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let late_ns: Vec<u64> = ended
        .stdout
        .lines()
        .map(json)
        .filter(|event| event["event"] == "host_started")
        .map(|event| number(&event, "late_ns"))
        .collect();
    assert!(late_ns.len() == 2 && late_ns.iter().all(|ns| *ns < SPREAD_MAX_NS), "{late_ns:?}");
}

/// Waits for the next loss; its host and the reason.
fn next_loss(running: &Running) -> (u64, String) {
    let line = running.next_line(|line| line.contains("\"host_lost\"")).expect("a host is lost");
    let event = json(&line);
    (number(&event, "host_index"), event["reason"].as_str().expect("a reason").to_owned())
}

#[test]
fn hosts_lost_during_a_run_are_named_in_time_and_a_second_controller_is_refused() {
    let mut dir = TestDir::new();
    dir.file("reads.toml", READS);
    let hub = Hub::new(&mut dir, "during", 6, "");
    let hosts = hub.hosts("during", 1..=6, "keys");
    let (served, url) = serve(&dir);
    let common = ["run", &url, "-w", "reads.toml", "--agent", PROGRAM, "--events", "jsonl"];
    let more = ["--measure", "60s", "--on-lost", "continue", "--hosts", "ssh:h[1-5]"];
    let running = dir.start(&[&common[..], &more].concat());
    let reached = |line: &str| line.contains("host_interval") && line.contains(":4,\"start_ns");
    running.next_line(reached).expect("it measures");

    let begun = Instant::now();
    let ended = dir.run(&[&common[..], &["--hosts", "ssh:h6"]].concat());
    println!("second controller: refused after {:?}", begun.elapsed());
    assert_eq!(ended.code, Some(2), "{}\n{}", ended.stdout, ended.stderr);
    let holder = format!("another run: process {} on ", running.id());
    for part in ["h6: ", &holder] {
        assert!(message(&ended).contains(part), "`{part}` in\n{}", ended.stderr);
    }
    assert!(begun.elapsed() < NAMED_WITHIN, "{:?}", begun.elapsed());

    let begun = Instant::now();
    hosts[1].signal_agent("KILL");
    hosts[2].signal_agent("STOP");
    hosts[3].cut();
    hosts[4].firewall();
    let mut lost: BTreeMap<u64, String> = BTreeMap::new();
    for _ in 0..4 {
        let (host, why) = next_loss(&running);
        println!("h{}: lost after {:?}: {why}", host + 1, begun.elapsed());
        assert!(begun.elapsed() < NAMED_WITHIN, "h{}: {:?}", host + 1, begun.elapsed());
        lost.insert(host, why);
    }
    assert_eq!(lost.keys().copied().collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert!(lost[&1].contains("`ssh h2 dmesg`"), "ssh itself worked: {lost:?}");
    assert!(lost[&2].contains("frozen"), "{lost:?}");
    // The others continue without them.
    running.wait_for("\"host_interval\"");
    running.signal("INT");
    let ended = running.end();
    for part in ["1/5 hosts", "1 of 5 hosts from t = ", "h2: ", "h3: ", "h4: ", "h5: "] {
        assert!(ended.stderr.contains(part), "`{part}` in\n{}", ended.stderr);
    }
    let shown = json(&dir.ok(&["show", "last", "--json"]));
    let point = &shown["load_points"][0];
    assert_eq!(number(&point["missing_hosts"], "remaining"), 1);
    let is_lost: Vec<bool> =
        list(point, "hosts").iter().map(|one| !one["lost"].is_null()).collect();
    assert_eq!(is_lost, [false, true, true, true, true]);
    assert_eq!(served.end().code, Some(0));
}
