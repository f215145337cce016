//! Who used the processors of this machine, according to events, JSON and CSV.

use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use crate::harness::{Running, TestDir};
use crate::runs::TINY;

/// Little work, so that nearly all of the processor is left for others.
const IDLE: &str = r#"
name = "idle"

[run]
warm_up = "500ms"
measure = "4s"
interval = "500ms"

[stream.main]
read = "100%"
transfer_size = "4KiB"
pattern = "random"
file_size = "1MiB"
queue_depth = 1
arrival = { constant = "200/s" }
"#;

/// The last processor that this process may use.
fn last_processor() -> String {
    let status = std::fs::read_to_string("/proc/self/status").expect("a process has a status");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let numbers = list.expect("the status has the affinity mask").trim();
    numbers.rsplit([',', '-']).next().expect("a list has a last number").to_owned()
}

fn pinned(processor: &str, program: &str) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", processor, program]);
    command
}

/// A process that never sleeps, on one processor, until it is dropped.
struct Burner(Child);

impl Burner {
    fn on(processor: &str) -> Burner {
        let mut command = pinned(processor, "sh");
        let child = command.args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn();
        Burner(child.expect("start taskset, which becomes a shell"))
    }

    /// CPU time it has used, in nanoseconds.
    fn cpu_ns(&self) -> u64 {
        let path = format!("/proc/{}/schedstat", self.0.id());
        let text = std::fs::read_to_string(path).expect("it runs");
        text.split(' ').next().and_then(|field| field.parse().ok()).expect("a number")
    }
}

impl Drop for Burner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The next event `interval` with this number.
fn interval(running: &Running, index: u64) -> Value {
    let parsed = |line: &str| serde_json::from_str::<Value>(line).ok();
    let is_it = |event: &Value| event["event"] == "interval" && event["interval_index"] == index;
    let line = running.next_line(|line| parsed(line).as_ref().is_some_and(is_it));
    parsed(&line.expect("the interval is reported")).expect("it is JSON")
}

#[test]
fn a_processor_shared_with_a_busy_process_shows_the_share_of_others() {
    let mut dir = TestDir::new();
    dir.file("idle.toml", IDLE);
    let processor = last_processor();
    dir.enter(pinned(&processor, env!("CARGO_BIN_EXE_fourcorners")));
    let burner = Burner::on(&processor);

    let arguments = ["run", "null:", "-w", "idle.toml", "--events", "jsonl", "--no-report"];
    let running = dir.start(&arguments);
    // Interval 0 is the warm-up. The burner's own CPU time is read at both ends of the window.
    interval(&running, 0);
    let (began, burnt_ns) = (Instant::now(), burner.cpu_ns());
    let window: Vec<Value> = (1..=8).map(|index| interval(&running, index)).collect();
    let burnt = (burner.cpu_ns() - burnt_ns) as f64 / began.elapsed().as_nanos() as f64;
    let ended = running.end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);

    let sum = |pick: &dyn Fn(&Value) -> &Value| -> f64 {
        let number = |interval| pick(interval).as_f64().expect("the kernel reports it");
        window.iter().map(number).sum()
    };
    let span_ns = sum(&|interval| &interval["host"]["span_ns"]);
    let share = |name: &str| sum(&|interval| &interval["host"][name]) / span_ns;
    let (idle, steal) = (share("idle_ns"), share("steal_ns"));
    let busy = 1.0 - idle - steal;
    let process = (sum(&|interval| &interval["process_user_ns"])
        + sum(&|interval| &interval["process_system_ns"]))
        / span_ns;
    let seen = format!("idle {idle}, stolen {steal}, process {process}, burner {burnt}");
    assert!(window.iter().all(|interval| interval["host"]["processors"] == 1), "{seen}");
    // The burner never sleeps, so the processor is never idle. Its idle time and that for I/O are
    // each known to a tick of 10 ms: 0.005 of 4 s.
    assert!(idle < 0.01, "{seen}");
    // The kernel's own count, sampled at its timer interrupts: here it misses little, because no
    // burst ends before the next one.
    assert!((0.97..1.03).contains(&(share("busy_ns") + steal)), "{seen}");
    // Others used at least as much as the burner, whatever else runs on this machine. The burner's
    // time is read when an interval is reported: on a busy machine some time slices (of 4 ms) after
    // the counters. It may include stolen time.
    let others = busy - process;
    assert!(others + steal > burnt - 0.05, "{seen}");
    assert!(process > 0.0 && process < busy, "{seen}");

    // The record has the same figures.
    let shown: Value =
        serde_json::from_str(&dir.ok(&["show", "last", "--json"])).expect("it is JSON");
    let host = &shown["load_points"][0]["merged"]["host"];
    assert_eq!((&host["intervals"], &host["processors"]), (&8.into(), &1.0.into()), "{host}");
    let close = |name: &str, value: f64| {
        let found = host[name]["value"].as_f64().expect("it is a number");
        assert!((found - value).abs() < 1e-6, "{name}: {found}, not {value}");
    };
    close("busy_fraction", busy);
    close("process_fraction", process);
    close("others_fraction", others);
    assert_eq!(host["service_cpu_fraction"], Value::Null, "no service runs in this process");
    let csv = dir.ok(&["export", "last", "--format", "csv"]);
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (names, cells) = (lines.next().expect("names"), lines.next().expect("a row"));
    let column = names.iter().position(|name| *name == "host_others_fraction").expect("a column");
    assert_eq!(cells[column].parse().ok(), host["others_fraction"]["value"].as_f64(), "{csv}");
}

#[test]
fn the_emulated_volumes_service_has_its_own_cpu_share() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    dir.ok(&["run", "-w", "tiny.toml", "--no-report", "--set", "run.measure=2s"]);
    let shown: Value =
        serde_json::from_str(&dir.ok(&["show", "last", "--json"])).expect("it is JSON");
    for point in shown["load_points"].as_array().expect("there are load points") {
        let host = &point["merged"]["host"];
        let value = |name: &str| host[name]["value"].as_f64().expect("it is a number");
        let (service, process) = (value("service_cpu_fraction"), value("process_fraction"));
        let processors = host["processors"].as_f64().expect("the kernel reports them");
        // The service is a thread of this process. Its time lags by a scheduler tick at most: 10 ms
        // of 2 s.
        assert!(service > 0.0, "{host}");
        assert!(service < process * processors + 0.01, "{host}");
        assert!(value("run_queue_delay_ns_per_op") >= 0.0, "{host}");
    }
}
