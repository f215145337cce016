//! `run --hosts`: a host whose agent is alive and whose storage hangs is named within 10 s in every phase, and
//! is not lost as long as it may rightly take long.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use cluster::message::Message;

use crate::harness::TestDir;
use crate::relayed_agent::{Direction, Passage, RelayedAgent, Watch, Way};
use crate::volumes::Served;

/// Time from the hang to the name of its host.
const NAMED_WITHIN: Duration = Duration::from_secs(10);

/// A load point of seconds, at a rate that takes no processor time.
const SLOW_READS: &str = r#"
name = "waits"
[run]
warm_up = "0s"
measure = "1s"
interval = "100ms"
[stream.main]
read = "100%"
transfer_size = "4KiB"
pattern = "random"
files = 3
file_size = "256KiB"
queue_depth = 2
arrival = { constant = "90/s" }
"#;

/// From which message on the host `b` only shows that it is alive.
#[derive(Clone, Copy)]
enum From {
    /// A request that begins with this.
    Request(&'static str),
    /// A report that begins with this.
    Report(&'static str),
    /// The third interval.
    Interval,
}

/// Hosts before and after the one that hangs, and what is reported about it.
struct Case {
    from: From,
    is_first: bool,
    words: &'static str,
}

/// * `hung` - gets the time of the hang
fn hanging(from: From, hung: Arc<OnceLock<Instant>>) -> Watch {
    let mut intervals = 0;
    Box::new(move |_, direction, message| {
        if hung.get().is_some() {
            let is_passed = direction == Direction::ToAgent || *message == Message::Alive;
            return if is_passed { Passage::Pass } else { Passage::Discard };
        }
        let hangs = match (from, message) {
            (From::Request(begin), Message::Request { work, .. }) => {
                work.starts_with(begin.as_bytes())
            }
            (From::Report(begin), Message::Report(report)) => report.starts_with(begin.as_bytes()),
            (From::Interval, Message::Frame { .. }) => {
                intervals += 1;
                intervals == 3
            }
            _ => false,
        };
        if hangs {
            hung.set(Instant::now()).expect("it hangs once");
        }
        Passage::Pass
    })
}

/// Runs a case; returns the time from the hang to the name of its host.
fn examine(case: &Case) -> Duration {
    let dir = TestDir::new();
    dir.file("waits.toml", SLOW_READS);
    let hung = Arc::new(OnceLock::new());
    let watch = hanging(case.from, Arc::clone(&hung));
    let way = Way { watch, there: Duration::ZERO, back: Duration::ZERO };
    let relayed = RelayedAgent::new(&dir, "b", dir.command(&["agent"]), way);
    let fixed = ["run", "target", "-w", "waits.toml", "--buffered", "--engine", "psync"];
    let at_relay = ["--hosts", "exec:sh relay {host}", "--hosts", "b"];
    let local = ["--hosts", "local:2"];
    let hosts = match case.is_first {
        true => [&at_relay[..], &local].concat(),
        false => [&local[..], &at_relay].concat(),
    };
    let running = dir.start(&[&fixed[..], &hosts].concat());
    let line = running.next_line(|line| line.starts_with("b: no "));
    let took = hung.get().map(Instant::elapsed);
    // As it is killed, nothing follows that depends on the host.
    running.signal("KILL");
    let ended = running.end();
    relayed.end();
    let line = line.unwrap_or_else(|| panic!("{}: not in {}", case.words, ended.stderr));
    assert!(line.starts_with(&format!("b: {}; its agent responds", case.words)), "{line}");
    let took = took.expect("it hangs before it is named");
    assert!(took < NAMED_WITHIN, "{line}: {took:?}");
    let is_other = |line: &str| line.starts_with("local-") && line.contains(": no ");
    assert!(!ended.stderr.lines().any(is_other), "the others wait for it: {}", ended.stderr);
    took
}

#[test]
fn a_host_that_is_alive_and_makes_no_progress_is_named_in_every_phase() {
    let first = |from, words| Case { from, is_first: true, words };
    let last = |from, words| Case { from, is_first: false, words };
    let cases = [
        first(From::Request("{\"Open\""), "no progress for 8 s while opening the target"),
        first(
            From::Request("{\"BeginFill\""),
            "no progress for 8 s while checking the files of the target",
        ),
        last(From::Request("{\"FillPart\""), "no progress for 8 s while filling its files"),
        first(From::Request("{\"EndFill\""), "no progress for 8 s while checking the filled files"),
        last(From::Request("{\"UseFiles\""), "no progress for 8 s while opening the filled files"),
        first(
            From::Request("\"ChooseIoMethod\""),
            "no progress for 8 s while choosing the I/O method",
        ),
        last(From::Request("{\"Run\""), "no progress for 8 s while opening its files"),
        last(From::Interval, "no interval for 8 s"),
        first(From::Report("\"Measured\""), "no progress for 8 s while checking its files"),
    ];
    // Nearly all of the time is waiting.
    std::thread::scope(|scope| {
        for case in &cases {
            scope.spawn(|| println!("{}: after {:?}", case.words, examine(case)));
        }
    });
}

#[test]
fn hosts_whose_operations_do_not_complete_are_named_although_their_intervals_arrive() {
    let dir = TestDir::new();
    dir.file("waits.toml", &SLOW_READS.replace("measure = \"1s\"", "measure = \"60s\""));
    let served = Served::start(&dir, &["--address", "127.0.0.1:0", "--no-limits"]);
    let url = format!("nfs://127.0.0.1:{0}/vol1?mountport={0}", served.port);
    let arguments = ["run", &url, "-w", "waits.toml", "--hosts", "local:2", "--events", "jsonl"];
    let running = dir.start(&arguments);
    running.wait_for("\"interval_index\":3,");
    served.signal("STOP");
    let begun = Instant::now();
    // On one line if the same is due for both at the same time.
    let mut unnamed = vec!["local-1", "local-2"];
    while !unnamed.is_empty() {
        let line = running.wait_for(": no operation completed for ");
        unnamed.retain(|host| !line.contains(host));
        assert!(begun.elapsed() < NAMED_WITHIN, "{line}: {:?}", begun.elapsed());
    }
    running.signal("KILL");
    running.end();
    served.signal("CONT");
}
