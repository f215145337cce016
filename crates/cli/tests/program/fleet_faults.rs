//! `run --hosts`: every fault in every phase of a run, on real processes. One of three hosts is at the end of a
//! connection that passes through the test ([`RelayedAgent`]), so each fault happens at a known message.
//!
//! Whatever happens, the command ends, the host is named in time in words and in JSON, the exit code says
//! that something is missing, no total of fewer hosts is without a label, and `fleet collect` adds
//! what the host still has, or names what is lost.

mod checks;

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use cluster::message::Message;
use serde_json::Value;

use crate::fleet_fill::Mounted;
use crate::fleet_runs::signal;
use crate::harness::{Ended, TestDir};
use crate::relayed_agent::{Direction, Link, Passage, RelayedAgent, Watch, Way};

/// The host with the fault.
const VICTIM: &str = "b";
/// Longer than the 8 s after which a silent host is lost.
const CONTROLLER_STOPPED: Duration = Duration::from_secs(9);
/// Combinations that are examined at the same time, each once; most of the time they wait.
const THREADS: usize = 12;

/// Two load points of a second, at a rate that takes no processor time.
const TWO_RUNS: &str = r#"
name = "faults"
[run]
warm_up = "200ms"
measure = "1s"
interval = "100ms"
[stream.main]
read = "100%"
transfer_size = ["4KiB", "8KiB"]
pattern = "random"
files = 3
file_size = "256KiB"
queue_depth = 2
arrival = { constant = "90/s" }
"#;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The agent sends its hello.
    Connecting,
    /// It is to open the target.
    Opening,
    /// It has written part of its files.
    Filling,
    /// It has opened its files.
    Ready,
    /// The controller sends the start.
    Starting,
    Measuring,
    /// The first run has ended.
    BetweenRuns,
    /// The last run has ended, and the controller does not know.
    RunEnding,
    /// The record is complete.
    Ending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// SIGKILL.
    AgentKilled,
    /// SIGSTOP; continued after the command has ended.
    AgentStopped,
    /// The connection is reset.
    Cut,
    /// Nothing arrives any more in either direction.
    Silent,
    /// The file system of the spool is full.
    SpoolFull,
    ControllerKilled,
    /// For longer than a host may be silent.
    ControllerStopped,
}

/// One combination.
#[derive(Clone, Copy, Debug)]
struct Case {
    phase: Phase,
    fault: Fault,
    on_lost: &'static str,
    /// The position of the host with the fault; the first has more to do.
    victim: u64,
}

impl Fault {
    const fn loses_the_host(self) -> bool {
        matches!(self, Fault::AgentKilled | Fault::AgentStopped | Fault::Cut | Fault::Silent)
    }
}

/// All combinations. The policy matters only for a host that is lost in a run; elsewhere it alternates, as
/// the host's position does.
fn all_cases() -> Vec<Case> {
    use Fault::*;
    use Phase::*;
    let mut cases = Vec::new();
    let phases =
        [Connecting, Opening, Filling, Ready, Starting, Measuring, BetweenRuns, RunEnding, Ending];
    for (row, phase) in phases.into_iter().enumerate() {
        let faults = [
            AgentKilled,
            AgentStopped,
            Cut,
            Silent,
            SpoolFull,
            ControllerKilled,
            ControllerStopped,
        ];
        for (column, fault) in faults.into_iter().enumerate() {
            let is_harmless = fault == SpoolFull && matches!(phase, RunEnding | Ending);
            // The hosts would start late, by as much as the controller was stopped.
            let is_late_start = fault == ControllerStopped && phase == Starting;
            if is_harmless || is_late_start {
                continue;
            }
            let is_in_run = !matches!(phase, Connecting | Opening | Filling | Ending);
            let alternate = ["fail", "continue"][(row + column) % 2];
            let policies = match is_in_run && fault.loses_the_host() {
                true => &["fail", "continue"][..],
                false => &[alternate],
            };
            for (number, on_lost) in policies.iter().enumerate() {
                let victim = if (row + column + number).is_multiple_of(2) { 0 } else { 2 };
                cases.push(Case { phase, fault, on_lost, victim });
            }
        }
    }
    cases
}

/// What the host has sent and received.
#[derive(Default)]
struct Seen {
    /// Numbers of the requests to do a share of a run.
    runs: Vec<u32>,
    intervals: u32,
}

impl Seen {
    /// Whether this message is where the phase's fault happens.
    fn is_at(&mut self, phase: Phase, direction: Direction, message: &Message) -> bool {
        let begins = |bytes: &[u8], text: &str| bytes.starts_with(text.as_bytes());
        match (direction, message) {
            (Direction::ToController, Message::Hello(_)) => phase == Phase::Connecting,
            (Direction::ToAgent, Message::Request { work, .. }) if begins(work, "{\"Open\"") => {
                phase == Phase::Opening
            }
            (Direction::ToAgent, Message::Request { work, number }) if begins(work, "{\"Run\"") => {
                self.runs.push(*number);
                false
            }
            (Direction::ToAgent, Message::Request { work, .. }) => {
                phase == Phase::Ending && work == b"{\"Spool\":\"End\"}"
            }
            (Direction::ToController, Message::Report(report)) => match phase {
                Phase::Filling => begins(report, "{\"Filling\""),
                Phase::Ready => begins(report, "{\"Ready\""),
                _ => false,
            },
            (Direction::ToAgent, Message::Signal(signal)) => {
                phase == Phase::Starting && String::from_utf8_lossy(signal).contains("\"Go\"")
            }
            (Direction::ToController, Message::Frame { .. }) => {
                self.intervals += 1;
                phase == Phase::Measuring && self.intervals == 3
            }
            (Direction::ToController, Message::Reply { number, .. }) => match phase {
                Phase::BetweenRuns => self.runs == [*number],
                Phase::RunEnding => self.runs.len() == 2 && self.runs[1] == *number,
                _ => false,
            },
            _ => false,
        }
    }
}

/// What a fault acts on, and when it happened.
#[derive(Default)]
struct Scene {
    controller: OnceLock<u32>,
    spool: OnceLock<PathBuf>,
    happened: OnceLock<Instant>,
}

/// Injects the fault of `case` at its phase.
fn injecting(case: Case, scene: Arc<Scene>) -> Watch {
    let mut seen = Seen::default();
    let mut is_injected = false;
    Box::new(move |link, direction, message| {
        if is_injected || !seen.is_at(case.phase, direction, message) {
            return Passage::Pass;
        }
        is_injected = true;
        let is_passed = case.phase == Phase::BetweenRuns;
        if is_passed {
            link.pass(direction, message);
        }
        scene.happened.set(Instant::now()).expect("a fault happens once");
        inject(case.fault, link, &scene);
        // Intervals that the agent has already sent follow, and none of them may be missing.
        let is_followed = case.phase == Phase::Measuring
            && matches!(case.fault, Fault::AgentKilled | Fault::AgentStopped);
        let is_connected =
            is_followed || matches!(case.fault, Fault::SpoolFull | Fault::ControllerStopped);
        match is_connected && !is_passed {
            true => Passage::Pass,
            false => Passage::Discard,
        }
    })
}

fn inject(fault: Fault, link: &Link, scene: &Scene) {
    let controller = scene.controller.wait().to_string();
    match fault {
        Fault::AgentKilled => link.signal_agent("KILL"),
        Fault::AgentStopped => link.signal_agent("STOP"),
        Fault::Cut => link.cut(),
        Fault::Silent => link.silence(),
        Fault::SpoolFull => fill_up(scene.spool.get().expect("it is mounted")),
        Fault::ControllerKilled => signal(&controller, "KILL"),
        Fault::ControllerStopped => {
            signal(&controller, "STOP");
            // The hosts continue to send meanwhile.
            std::thread::spawn(move || {
                std::thread::sleep(CONTROLLER_STOPPED);
                signal(&controller, "CONT");
            });
        }
    }
}

const FILLER: &str = "filler";

/// Writes to a small file system until it is full.
fn fill_up(path: &Path) {
    let mut file = File::create(path.join(FILLER)).expect("make a file");
    while file.write_all(&[0; 4096]).is_ok() {}
}

fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Everything that a case has shown.
struct Shown {
    case: Case,
    /// From the fault to the name of its host; `None` if no host was named.
    took: Option<Duration>,
    ended: Ended,
    /// What was printed on standard error, without line breaks.
    words: String,
    /// `fleet collect`; `None` without a record.
    collected: Option<Ended>,
    /// `show --json` before and after collecting.
    before: Option<Value>,
    after: Option<Value>,
    /// `clean`, which fails while a host uses the target.
    cleaned: Option<Ended>,
    /// Spools that remain on the hosts.
    spools: Vec<PathBuf>,
}

/// Runs a case.
fn examine(case: Case) -> Shown {
    let dir = TestDir::new();
    dir.file("faults.toml", TWO_RUNS);
    let scene = Arc::new(Scene::default());
    let mut agent = dir.command(&["agent"]);
    let small = dir.path().join("small");
    fs::create_dir(&small).expect("make a folder");
    let mounted = (case.fault == Fault::SpoolFull).then(|| Mounted::new(&small, "256k"));
    if mounted.is_some() {
        agent.env("FOURCORNERS_SPOOL", &small);
        scene.spool.set(small.clone()).expect("it is set once");
    }
    let watch = injecting(case, Arc::clone(&scene));
    let way = Way { watch, there: Duration::ZERO, back: Duration::ZERO };
    let relayed = RelayedAgent::new(&dir, VICTIM, agent, way);

    let running = dir.start(&arguments(case));
    scene.controller.set(running.id()).expect("it is set once");
    let is_named =
        |line: &str| line.contains("\"host_lost\"") || line.contains(&format!("error: {VICTIM}: "));
    let took = running
        .next_line(is_named)
        .map(|_| scene.happened.get().expect("a host is lost by the fault").elapsed());
    let ended = running.end();
    assert!(scene.happened.get().is_some(), "{case:?}: it was not reached\n{}", ended.stderr);

    dir.file("direct", "");
    match case.fault {
        Fault::AgentStopped => relayed.link().signal_agent("CONT"),
        Fault::Silent => relayed.link().notice(),
        _ => {}
    }
    relayed.end();
    let has_record = dir.store().join("runs").exists();
    let show = || {
        let shown = dir.ok(&["show", "last", "--json"]);
        serde_json::from_str(&shown).expect("JSON")
    };
    let before = has_record.then(show);
    let collected = has_record.then(|| dir.run(&["fleet", "collect", "last"]));
    let after = has_record.then(show);
    let cleaned = has_record.then(|| dir.run(&["clean", "target"]));
    let spools = [dir.path().join(".local/state/fourcorners/spool"), small.clone()];
    let spools = spools.iter().flat_map(|path| fs::read_dir(path).into_iter().flatten());
    let spools = spools.map(|entry| entry.expect("an entry").path());
    let spools = spools.filter(|path| !path.ends_with(FILLER)).collect();
    drop(mounted);
    let words = unwrapped(&ended.stderr);
    Shown { case, took, ended, words, collected, before, after, cleaned, spools }
}

/// The command line of a case.
fn arguments(case: Case) -> Vec<&'static str> {
    let fixed = ["run", "target", "-w", "faults.toml", "--no-report", "--events", "jsonl"];
    let io = ["--buffered", "--engine", "psync", "--on-lost", case.on_lost];
    let agent = ["--agent", env!("CARGO_BIN_EXE_fourcorners")];
    let at_relay = ["--hosts", "exec:sh relay {host}", "--hosts", VICTIM];
    let local = ["--hosts", "local:2"];
    let hosts = match case.victim {
        0 => [&at_relay[..], &local].concat(),
        _ => [&local[..], &at_relay].concat(),
    };
    // More intervals than fit into the last block of a spool.
    let more = match case.fault {
        Fault::SpoolFull => &["--interval", "25ms"][..],
        _ => &[],
    };
    [&fixed[..], &io, &agent, &hosts, more].concat()
}

/// All faults while measuring, and one combination in `EVERY` of the other phases, are examined. With
/// `FAULTS=all` in the environment all 80 are, which takes a minute of processor time, and with
/// `FAULTS="Ready, fault: Cut"` those that contain this text.
const EVERY: usize = 4;

#[test]
fn every_fault_in_every_phase_is_named_and_no_total_of_fewer_hosts_is_without_a_label() {
    let which = std::env::var("FAULTS").ok();
    let is_examined = |number: usize, case: &Case| match which.as_deref() {
        None => case.phase == Phase::Measuring || number.is_multiple_of(EVERY),
        Some("all") => true,
        Some(text) => format!("{case:?}").contains(text),
    };
    let cases = all_cases().into_iter().enumerate();
    let cases = cases.filter(|(number, case)| is_examined(*number, case));
    let cases: VecDeque<Case> = cases.map(|(_, case)| case).collect();
    println!("{} combinations", cases.len());
    let cases = Mutex::new(cases);
    let next = || cases.lock().expect("it is not poisoned").pop_front();
    std::thread::scope(|scope| {
        for _thread in 0..THREADS {
            scope.spawn(|| {
                while let Some(case) = next() {
                    let begun = Instant::now();
                    let shown = examine(case);
                    checks::check(&shown);
                    println!("{case:?}: {:?}, named after {:?}", begun.elapsed(), shown.took);
                }
            });
        }
    });
}
