//! `fleet status` and `fleet collect`: what agents keep when the controller is killed or a host is cut off.
//! The emulated volume counts every write in a separate process, so a record is compared with what hosts
//! really did.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Ended, Running, TestDir};
use crate::volumes::Served;

const PROGRAM: &str = env!("CARGO_BIN_EXE_fourcorners");
const TRANSFER_BYTES: u64 = 32 << 10;
/// Writes of each host in an interval.
const WRITES_OF_INTERVAL: u64 = 50;

/// 200 writes per second from each of two hosts.
const PACED: &str = r#"
name = "paced"
[run]
warm_up = "500ms"
interval = "250ms"
[stream.main]
read = "0%"
transfer_size = "32KiB"
pattern = "random"
files = 2
file_size = "1MiB"
queue_depth = 4
workers = 1
arrival = { constant = "400/s" }
"#;

/// Runs an agent behind two relays, which can be killed without it. Writes the process of each to a file.
const RELAY: &str = r#"
host=$1; shift
rm -f "$host.to" "$host.from"
mkfifo "$host.to" "$host.from"
exec 3<&0
"$@" < "$host.to" > "$host.from" 3<&- &
echo $! > "$host.agent"
cat <&3 > "$host.to" &
echo $! > "$host.input"
echo $$ > "$host.output"
exec cat < "$host.from"
"#;

/// A served volume with files, and a run on two hosts.
struct Bench {
    dir: TestDir,
    served: Served,
}

impl Bench {
    fn new() -> Bench {
        let dir = TestDir::new();
        dir.file("paced.toml", PACED);
        dir.file("relay", RELAY);
        let served = Served::start(&dir, &["--address", "127.0.0.1:0", "--no-limits"]);
        let bench = Bench { dir, served };
        // Fills the files, which are not written again.
        bench.measure_briefly();
        assert_eq!(bench.spools(), [""; 0], "nothing is missing, so nothing is kept");
        bench
    }

    /// Exit code 1: a busy machine may not reach the rate.
    fn measure_briefly(&self) {
        let ended = self.start("local:2", "250ms", "fail").end();
        assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
    }

    fn start(&self, hosts: &str, measure: &str, on_lost: &str) -> Running {
        let url = format!("nfs://127.0.0.1:{0}/vol1?mountport={0}", self.served.port);
        let fixed = ["run", &url, "-w", "paced.toml", "--no-report", "--events", "jsonl"];
        let hosts = ["--measure", measure, "--on-lost", on_lost, "--hosts", hosts];
        let more: &[&str] = match hosts[5].starts_with("exec:") {
            true => &["--hosts", "a,b", "--agent", PROGRAM],
            false => &[],
        };
        self.dir.start(&[&fixed[..], &hosts, more].concat())
    }

    /// A run behind relays.
    fn start_relayed(&self, measure: &str, on_lost: &str) -> Running {
        self.start("exec:sh relay {host}", measure, on_lost)
    }

    /// Bytes that the service has written.
    fn written_bytes(&self) -> u64 {
        let stat = self.dir.ok(&["volume", "stat", &self.served.metrics, "--format", "json"]);
        let stat: Value = serde_json::from_str(&stat).expect("JSON");
        stat["volumes"][0]["written_bytes"].as_u64().expect("a number")
    }

    /// Writes of the load since the service had written so much. Those of the target's own small files are
    /// shorter than one of them, all together.
    fn writes_since(&self, before_bytes: u64) -> u64 {
        (self.written_bytes() - before_bytes) / TRANSFER_BYTES
    }

    /// Writes in the newest record, of all intervals.
    fn recorded_writes(&self) -> u64 {
        let csv = self.dir.ok(&["export", "last", "--format", "intervals"]);
        let mut lines = csv.lines();
        let names: Vec<&str> = lines.next().expect("a heading").split(',').collect();
        let column = |name| names.iter().position(|one| *one == name).expect("a column");
        let (operation, completed) = (column("operation"), column("completed"));
        let rows = lines.map(|line| line.split(',').collect::<Vec<_>>());
        rows.filter(|row| row[operation] == "write")
            .map(|row| row[completed].parse::<u64>().expect("a number"))
            .sum()
    }

    fn collect(&self) -> Ended {
        self.dir.run(&["fleet", "collect", "last"])
    }

    fn status(&self, hosts: &str) -> Value {
        let ended = self.dir.run(&["fleet", "status", "--json", "--hosts", hosts]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        serde_json::from_str(&ended.stdout).expect("JSON")
    }

    fn spools(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.dir.path().join(".local/state/fourcorners/spool"))
        else {
            return Vec::new();
        };
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        names.map(|name| name.into_string().expect("text")).collect()
    }

    fn state(&self) -> String {
        self.listed()["state"].as_str().expect("text").to_owned()
    }

    fn listed(&self) -> Value {
        let mut listed: Vec<Value> =
            serde_json::from_str(&self.dir.ok(&["list", "--json"])).expect("JSON");
        listed.pop().expect("a record")
    }

    fn point(&self) -> Value {
        let shown = self.dir.ok(&["show", "last", "--json"]);
        let shown: Value = serde_json::from_str(&shown).expect("JSON");
        shown["load_points"][0].clone()
    }

    /// The process that the relay of a host has written down.
    fn process(&self, file: &str) -> String {
        fs::read_to_string(self.dir.path().join(file)).expect("a process").trim().to_owned()
    }

    /// Cuts a host off: its agent runs, and reaches no one.
    fn cut_off(&self, host: &str) {
        for relay in ["input", "output"] {
            signal(&self.process(&format!("{host}.{relay}")), "KILL");
        }
    }
}

fn signal(process: &str, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), process]).status();
    assert!(status.expect("start kill").success());
}

/// Waits until a host has delivered its interval with this number.
fn wait_for_interval(running: &Running, number: u32) {
    let text = format!("\"interval_index\":{number},");
    let reached = |line: &str| line.contains("\"host_interval\"") && line.contains(&text);
    running.next_line(reached).expect("it measures");
}

fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_record_whose_controller_was_killed_is_completed_and_equals_what_the_hosts_did() {
    let bench = Bench::new();
    let before = bench.written_bytes();
    let running = bench.start("local:2", "6s", "fail");
    wait_for_interval(&running, 4);
    running.signal("KILL");
    assert_eq!(running.end().code, None);
    assert_eq!(bench.state(), "aborted");
    // Both agents still measure.
    let status = bench.status("local:2");
    let host = &status["hosts"][0];
    assert_eq!(host["names"], serde_json::json!(["local-1", "local-2"]), "one machine");
    assert_eq!(host["agents"].as_array().map(Vec::len), Some(2), "{status}");
    assert_eq!(host["agents"][1]["run_index"], 0);
    assert_eq!(host["spools"][0]["state"], "running");
    let text = bench.dir.ok(&["fleet", "status", "--hosts", "local:2"]);
    assert!(
        text.contains("PROCESS") && text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );

    let ended = bench.collect();
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let words = unwrapped(&ended.stdout);
    assert!(words.contains("the record has every interval of all hosts"), "{words}");
    assert_eq!(bench.recorded_writes(), bench.writes_since(before));
    assert_eq!(bench.state(), "done", "{}", bench.listed());
    let point = bench.point();
    let completed = |summary: &Value| summary["total"]["data"]["completed"].as_u64();
    let hosts = point["hosts"].as_array().expect("a list").iter();
    let sum: u64 = hosts.map(|host| completed(&host["summary"]).expect("a number")).sum();
    assert_eq!(Some(sum), completed(&point["merged"]));
    assert_eq!(point["merged"]["intervals"], 24, "the window is complete");
    assert_eq!(bench.spools(), [""; 0]);

    let path = bench.dir.store().join("runs");
    let journal = fs::read_dir(path).expect("records").map(|run| run.expect("a record").path());
    let journal = journal.max().expect("the newest").join("journal");
    let bytes = fs::read(&journal).expect("a journal");
    let ended = bench.collect();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("nothing was added"), "{}", ended.stdout);
    assert_eq!(fs::read(&journal).expect("a journal"), bytes);
    let text = bench.dir.ok(&["fleet", "status", "--hosts", "local:2"]);
    assert_eq!(text, "no agent executes an experiment\nno spools\n");
    // The target was released.
    bench.measure_briefly();
}

#[test]
fn a_host_that_was_cut_off_finishes_the_run_and_is_no_longer_lost_after_it_is_collected() {
    let bench = Bench::new();
    let before = bench.written_bytes();
    let running = bench.start_relayed("4s", "continue");
    wait_for_interval(&running, 4);
    let agent = bench.process("b.agent");
    // The ssh server may send this when a connection is cut.
    signal(&agent, "HUP");
    bench.cut_off("b");
    let ended = running.end();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("1 of 2 hosts from t = "), "{}", ended.stderr);
    assert_eq!(bench.point()["missing_hosts"]["remaining"], 1);
    assert_eq!(bench.spools().len(), 1, "that of the host that was cut off");

    let ended = bench.collect();
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("b: ") && ended.stdout.contains("added from its spool"));
    let point = bench.point();
    assert_eq!(point["missing_hosts"], Value::Null);
    assert_eq!(point["hosts"][1]["lost"], Value::Null);
    assert_eq!(bench.recorded_writes(), bench.writes_since(before));
    assert!(!bench.dir.ok(&["show", "last", "--full"]).contains("1 of 2 hosts"));
    assert_eq!(bench.spools(), [""; 0]);
}

#[test]
fn what_cannot_be_collected_is_named_and_the_rest_is_collected() {
    let bench = Bench::new();
    let running = bench.start_relayed("1s", "fail");
    wait_for_interval(&running, 2);
    running.signal("KILL");
    running.end();
    // Waits until both agents have ended.
    let spools = bench.dir.path().join(".local/state/fourcorners/spool");
    let until = Instant::now() + Duration::from_secs(60);
    while bench.status("local:1")["hosts"][0]["agents"] != serde_json::json!([]) {
        assert!(Instant::now() < until, "the agents run for ever");
    }
    let names = bench.spools();
    let path = |host: &str| {
        let name = names.iter().find(|name| name.ends_with(host)).expect("a spool");
        spools.join(name)
    };
    // That of b is cut within its last frames, and another record has one with a name of this one.
    let journal = path("-b").join("journal");
    let bytes = fs::read(&journal).expect("a journal");
    fs::write(&journal, &bytes[..bytes.len() - 400]).expect("cut the journal");
    let other = format!("{}-2", path("-a").display());
    fs::create_dir(&other).expect("make a folder");
    fs::write(format!("{other}/journal"), &bytes[..60]).expect("damage a journal");
    let ended = bench.collect();
    assert_eq!(ended.code, Some(1), "{}\n{}", ended.stdout, ended.stderr);
    let words = unwrapped(&ended.stdout);
    for part in ["a: ", "-a-2 is damaged", "remove it on the host", "b: run 1 is incomplete, with"]
    {
        assert!(words.contains(part), "`{part}` in {words}");
    }
    assert_eq!(bench.spools().len(), 1, "the damaged one remains");
    let hosts = bench.point()["hosts"].as_array().expect("a list").len();
    assert_eq!(hosts, 2);

    // A host that is not reached is named, and the exit code says so.
    let ended =
        bench.dir.run(&["fleet", "collect", "last", "--hosts", "local:1", "--hosts", "exec:false"]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stdout.contains("false: not reached: "), "{}", ended.stdout);
    let hosts = ["--hosts", "local:1", "--hosts", "exec:false"];
    let ended = bench.dir.run(&[&["fleet", "collect", "last", "--json"], &hosts[..]].concat());
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let collected: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(collected["not_reached"][0]["host"], "false", "{collected}");
    let incomplete = &collected["incomplete"][0];
    assert_eq!((&incomplete["host"], &incomplete["run_index"]), (&"b".into(), &0.into()));
    assert_eq!(collected["hosts"].as_array().map(Vec::len), Some(2), "{collected}");
}

#[test]
fn an_agent_that_does_not_end_is_awaited_for_a_stated_time_and_collected_later() {
    let bench = Bench::new();
    let running = bench.start_relayed("4s", "fail");
    wait_for_interval(&running, 2);
    let agent = bench.process("b.agent");
    running.signal("KILL");
    running.end();
    // Not before: the kernel continues a stopped process when the parent of its group ends.
    signal(&agent, "STOP");
    let ended = bench.dir.run(&["fleet", "collect", "last", "--wait", "8s"]);
    signal(&agent, "CONT");
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let words = unwrapped(&ended.stdout);
    let still = format!("its agent (process {agent}) still runs (run 1, ");
    assert!(words.contains(&still) && words.contains("collect again later"), "{words}");
    assert!(ended.stderr.contains("waiting for b (run 1, "), "{}", ended.stderr);
    let ended = bench.collect();
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    assert_eq!(bench.state(), "done");
}

#[test]
fn a_spool_that_cannot_be_written_is_a_warning_and_the_run_is_complete() {
    let dir = TestDir::new();
    dir.file("paced.toml", PACED);
    // The journal of a spool soon exceeds this size.
    dir.file("limited", "shift\nulimit -f 3\nexec \"$@\"\n");
    for (variable, hosts) in [("/dev/full/spool", "local:1"), ("spool", "exec:sh limited {host}")] {
        let arguments = ["run", "null:", "-w", "paced.toml", "--measure", "2s", "--json"];
        let mut command = dir.command(&[&arguments[..], &["--hosts", hosts]].concat());
        if hosts.starts_with("exec:") {
            command.args(["--hosts", "vm7", "--agent", PROGRAM]);
        }
        let output = command.env("FOURCORNERS_SPOOL", variable).output().expect("start it");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{stderr}");
        let shown: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let text = shown.to_string();
        assert!(text.contains("spool_failed"), "{text}");
        assert!(text.contains(variable), "the path in {text}");
        assert!(text.contains(if hosts == "local:1" { "local-1" } else { "vm7" }), "{text}");
        assert_eq!(shown["load_points"][0]["merged"]["intervals"], 8, "{text}");
    }
}

#[test]
fn records_without_hosts_and_unknown_ones_are_refused() {
    let dir = TestDir::new();
    dir.file("paced.toml", PACED);
    dir.measured(&["run", "null:", "-w", "paced.toml", "--measure", "250ms", "--no-report"]);
    for (arguments, words) in [
        (&["fleet", "collect", "last"][..], "there is nothing to collect"),
        (&["fleet", "collect", "nosuch"], "no record `nosuch`"),
        (&["fleet", "collect"], "ID"),
        (&["fleet", "status"], "--hosts ssh:vm[01-24]"),
        (&["fleet", "status", "--hosts", "shs:vm1"], "is not a way to start agents"),
        (&["fleet"], "collect"),
        (&["fleet", "nosuch"], "nosuch"),
    ] {
        let ended = dir.run(arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(words), "{arguments:?}: {}", ended.stderr);
    }
    let ended = dir.run(&["fleet", "status", "--hosts", "local:1", "--hosts", "exec:false"]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stdout.contains("false: not reached: "), "{}", ended.stdout);
}

/// Rounds of the next test; `KILLS=100` in the environment makes them 100, which takes six minutes.
const ROUNDS: u32 = 8;
/// Writes that a kill may lose: one interval, those in flight, and those of the time that a busy machine
/// takes to complete an interval.
const LOST_MAX: u64 = 2 * WRITES_OF_INTERVAL;

#[test]
fn a_process_that_is_killed_at_any_instant_loses_at_most_an_interval_and_none_after_collecting() {
    let bench = Bench::new();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |bound: u64| {
        // xorshift64 (Marsaglia 2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % bound
    };
    let rounds = std::env::var("KILLS").map_or(ROUNDS, |text| text.parse().expect("a number"));
    let mut lost_most = [0; 3];
    for round in 0..rounds {
        let before = bench.written_bytes();
        let victim = random(3) as usize;
        // Totals of a run that fails end with the lost host.
        let on_lost = if victim == 0 { "fail" } else { "continue" };
        let running = bench.start_relayed("1s", on_lost);
        let delay = Duration::from_millis(random(1_500));
        // From here on the instant is random: before the start, during the run, or after it.
        if running.next_line(|line| line.contains("\"run_started\"")).is_none() {
            panic!("round {round}: {:?}", running.end());
        }
        std::thread::sleep(delay);
        let at = format!("round {round}: victim {victim} after {delay:?}");
        match victim {
            0 => running.signal("KILL"),
            // After a kill of the first agent, its lease may keep the next round from starting for 30 s.
            1 => signal_if_running(&bench.process("b.agent")),
            _ => ["b.input", "b.output"].iter().for_each(|relay| {
                signal_if_running(&bench.process(relay));
            }),
        }
        let ended = running.end();
        let collected = bench.collect();
        let words = format!("{at}\n{}\n{}\n{}", ended.stderr, collected.stdout, collected.stderr);
        assert!(matches!(collected.code, Some(0 | 1)), "{words}");
        let (done, recorded) = (bench.writes_since(before), bench.recorded_writes());
        let lost = done.checked_sub(recorded).unwrap_or_else(|| panic!("{recorded}: {words}"));
        assert_eq!(bench.spools(), [""; 0], "{words}");
        let allowed = if victim == 1 { LOST_MAX } else { 0 };
        assert!(lost <= allowed, "{lost} writes are lost; {words}");
        lost_most[victim] = lost_most[victim].max(lost);
    }
    println!("most writes lost: {lost_most:?} (controller, agent, connection)");
}

/// Kills a process that may have ended.
fn signal_if_running(process: &str) {
    let _ = Command::new("kill").args(["-KILL", process]).status();
}
