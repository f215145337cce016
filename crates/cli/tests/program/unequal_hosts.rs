//! `run --hosts` and `check --hosts` when one host differs: a slow connection to the controller, a slow way to
//! the volume, little memory, a wrong clock.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cluster::message::Message;
use serde_json::Value;

use crate::fleet_runs::{events, number};
use crate::harness::{Ended, TestDir};
use crate::private_network::Network;
use crate::relayed_agent::{Direction, Passage, RelayedAgent, Watch, Way};
use crate::volumes::Served;

const PROGRAM: &str = env!("CARGO_BIN_EXE_fourcorners");
/// Bound for the difference of two starts on a busy machine, in addition to what is stated.
const SCHEDULING_NS: u64 = 250_000_000;
/// Time from the end of an agent to the name of its host.
const NAMED_WITHIN: Duration = Duration::from_secs(10);
const HOUR_NS: u64 = 3_600_000_000_000;

/// A second of 20 reads per second and host.
const READS: &str = r#"
name = "reads"
[run]
warm_up = "500ms"
measure = "1s"
interval = "250ms"
[stream.main]
read = "100%"
transfer_size = "8KiB"
pattern = "random"
files = 3
file_size = "1MiB"
queue_depth = 1
arrival = { constant = "60/s" }
"#;

fn passing() -> Watch {
    Box::new(|_, _, _| Passage::Pass)
}

fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Two hosts: `local-1`, and `b` behind a relay.
const LOCAL_AND_RELAYED: [&str; 8] =
    ["--hosts", "local:1", "--hosts", "exec:sh relay {host}", "--hosts", "b", "--agent", PROGRAM];

/// The emulated volume without limits, and its URL.
fn serve(dir: &TestDir) -> (Served, String) {
    let served = Served::start(dir, &["--address", "127.0.0.1:0", "--no-limits"]);
    let url = format!("nfs://127.0.0.1:{0}/vol1?mountport={0}&nconnect=1", served.port);
    (served, url)
}

fn run(dir: &TestDir, target: &str, hosts: &[&str]) -> Ended {
    dir.file("reads.toml", READS);
    let fixed = ["run", target, "-w", "reads.toml", "--no-report", "--events", "jsonl"];
    let ended = dir.run(&[&fixed[..], hosts].concat());
    // Exit code 1: a busy machine may not reach the rate.
    assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
    ended
}

/// `(late_ns, clock_error_ns)` of each host.
fn starts(ended: &Ended) -> Vec<(u64, u64)> {
    let all = events(&ended.stdout).into_iter().filter(|event| event["event"] == "host_started");
    let mut all: Vec<(u64, (u64, u64))> = all
        .map(|one| {
            let start = (number(&one, "late_ns"), number(&one, "clock_error_ns"));
            (number(&one, "host_index"), start)
        })
        .collect();
    all.sort_unstable();
    all.into_iter().map(|(_, start)| start).collect()
}

/// Delays of a connection whose two directions differ, so that the clock is misjudged by half of it.
const THERE: Duration = Duration::from_millis(300);

#[test]
fn a_slow_connection_is_in_the_stated_error_of_the_start_and_delays_no_one() {
    let dir = TestDir::new();
    let (served, url) = serve(&dir);
    let way = Way { watch: passing(), there: THERE, back: Duration::ZERO };
    let slow = RelayedAgent::new(&dir, "b", dir.command(&["agent"]), way);
    let ended = run(&dir, &url, &LOCAL_AND_RELAYED);
    slow.end();
    let [(local_late_ns, local_error_ns), (late_ns, error_ns)] = starts(&ended)[..] else {
        panic!("two hosts started: {}", ended.stdout)
    };
    let half_ns = THERE.as_nanos() as u64 / 2;
    assert!((half_ns..half_ns + SCHEDULING_NS).contains(&error_ns), "{error_ns} ns");
    assert!(local_error_ns < half_ns, "{local_error_ns} ns: of the fast connection");
    assert!(local_late_ns.max(late_ns) < SCHEDULING_NS, "{local_late_ns} ns, {late_ns} ns");
    assert!(ended.stderr.contains("2 hosts, started within "), "{}", ended.stderr);

    // By the service's clock the hosts started at most the stated error apart.
    let stat = json(&dir.ok(&["volume", "stat", &served.metrics, "--format", "json"]));
    let csv = dir.ok(&["export", "last", "--format", "connections"]);
    let flows = stat["flows"].as_array().expect("a list").iter();
    let of_run = flows.filter(|flow| {
        let (local, remote) =
            flow["name"].as_str().and_then(|name| name.split_once('-')).expect("two addresses");
        csv.lines().any(|line| line.contains(local) && line.contains(remote))
    });
    let first_ns: Vec<u64> = of_run.map(|flow| number(flow, "first_arrival_ns")).collect();
    let [a, b] = first_ns[..] else { panic!("a connection of each host: {stat}\n{csv}") };
    let apart_ns = a.abs_diff(b);
    println!("started {apart_ns} ns apart, stated error {error_ns} ns");
    // Each host's first operation is due within a mean gap.
    assert!(apart_ns <= error_ns + local_error_ns + SCHEDULING_NS, "{apart_ns} ns");
    assert_eq!(served.end().code, Some(0));
}

/// Longer than a start may be late.
const LATE: Duration = Duration::from_secs(6);

#[test]
fn a_start_that_reaches_a_host_seconds_late_fails_its_share() {
    let dir = TestDir::new();
    let holds_the_start: Watch = Box::new(|_, direction, message| {
        if let (Direction::ToAgent, Message::Signal(signal)) = (direction, message)
            && String::from_utf8_lossy(signal).contains("\"Go\"")
        {
            std::thread::sleep(LATE);
        }
        Passage::Pass
    });
    let way = Way { watch: holds_the_start, there: Duration::ZERO, back: Duration::ZERO };
    let late = RelayedAgent::new(&dir, "b", dir.command(&["agent"]), way);
    dir.file("reads.toml", READS);
    let fixed = ["run", "null:", "-w", "reads.toml", "--no-report"];
    let ended = dir.run(&[&fixed[..], &LOCAL_AND_RELAYED].concat());
    late.end();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let words = unwrapped(&ended.stderr);
    assert!(
        words.contains("b is lost at t = 0s: the start reached it more than 5 s late"),
        "{words}"
    );
}

/// Adds an hour to every reading of the agent's wall clock. (A time namespace has no wall clock, so the
/// reading is changed where it arrives.)
fn an_hour_ahead() -> Watch {
    Box::new(|_, direction, message| match (direction, message) {
        (Direction::ToController, &Message::Pong { number, monotonic_ns, unix_ns }) => {
            Passage::Change(Message::Pong { number, monotonic_ns, unix_ns: unix_ns + HOUR_NS })
        }
        _ => Passage::Pass,
    })
}

#[test]
fn a_wall_clock_an_hour_off_is_named_by_check_and_does_not_change_a_run() {
    for format in [&["--json"][..], &[]] {
        let dir = TestDir::new();
        let way = Way { watch: an_hour_ahead(), there: Duration::ZERO, back: Duration::ZERO };
        let ahead = RelayedAgent::new(&dir, "b", dir.command(&["agent"]), way);
        let ended = dir.run(&[&["check"][..], format, &LOCAL_AND_RELAYED].concat());
        ahead.end();
        assert_eq!(ended.code, Some(1), "{}\n{}", ended.stdout, ended.stderr);
        if format.is_empty() {
            let words = unwrapped(&ended.stdout);
            assert!(words.contains("1 clock wrong"), "{words}");
            assert!(words.contains("ahead b"), "the host's row: {words}");
            continue;
        }
        let checked = json(&ended.stdout);
        let ahead_s = |host: usize| checked["hosts"][host]["clock_ahead_s"].as_f64();
        let error_s = checked["hosts"][1]["clock_error_s"].as_f64().expect("a number");
        let off = (ahead_s(1).expect("a number") - 3600.0).abs();
        // The wall clock may be adjusted meanwhile, by far less than this.
        assert!(off <= error_s + 0.01, "{checked}");
        assert!(ahead_s(0).is_some_and(|ahead| ahead.abs() < 1.0), "{checked}");
    }
    let dir = TestDir::new();
    let way = Way { watch: an_hour_ahead(), there: Duration::ZERO, back: Duration::ZERO };
    let ahead = RelayedAgent::new(&dir, "b", dir.command(&["agent"]), way);
    let ended = run(&dir, "null:", &LOCAL_AND_RELAYED);
    ahead.end();
    let words = unwrapped(&ended.stderr);
    assert!(words.contains("on b: the wall clock is 1h (±"), "{words}");
    let starts = starts(&ended);
    assert!(starts.len() == 2 && starts.iter().all(|(late_ns, _)| *late_ns < SCHEDULING_NS));
}

/// Address space for the program, and not for 512 MiB of buffers. The second engine has a thread for each.
/// The shell notes when the agent has ended, and does not print how.
const LITTLE_MEMORY: &str = r#"
host=$1; shift
[ $host = b ] || exec "$@"
exec 3>&2 2>/dev/null
(ulimit -v 200000; exec "$@" 2>&3 3>&-)
code=$?
: > ended
exit $code
"#;
/// What is printed where memory ends: in a fill, in an engine, in a thread before its program begins, or
/// in the C library.
const OUT_OF_MEMORY: [&str; 4] =
    ["Cannot allocate memory", "memory allocation", "start thread ", "out of memory"];

#[test]
fn an_agent_that_runs_out_of_memory_is_named_with_the_reason() {
    let dir = TestDir::new();
    dir.file("reads.toml", READS);
    dir.file("limited", LITTLE_MEMORY);
    let fixed = ["run", "target", "-w", "reads.toml", "--no-report", "--buffered"];
    let large = ["transfer_size=8MiB", "file_size=8MiB", "queue_depth=64"];
    let large = large.iter().flat_map(|setting| ["--set", setting]).collect::<Vec<_>>();
    let start = |more: &[&str]| dir.start(&[&fixed[..], &large, more].concat());
    let limited = ["--hosts", "exec:sh limited {host}", "--hosts", "a,b", "--agent", PROGRAM];
    let agent_ended = dir.path().join("ended");
    let check = |engine: &str, codes: &[i32]| {
        let running = start(&[&limited[..], &["--engine", engine]].concat());
        let names = ["b: ", "b is lost"];
        running
            .next_line(|line| names.iter().any(|name| line.contains(name)))
            .expect("it is named");
        // An agent that could report it itself has not ended yet.
        let of_agent = fs::metadata(&agent_ended).and_then(|file| file.modified());
        let took = of_agent.map_or(Duration::ZERO, |at| at.elapsed().unwrap_or_default());
        let ended = running.end();
        let _ = fs::remove_file(&agent_ended);
        let words = unwrapped(&ended.stderr);
        let names = ["b: ", "reads: b is lost: ", "reads: b is lost at t = "];
        let after = |name| words.rsplit_once(&format!(" error: {name}")).map(|(_, error)| error);
        let error = names.into_iter().find_map(after);
        let error = error.unwrap_or_else(|| panic!("{engine}: {words}"));
        println!("{engine}: named after {took:?}: {error}");
        assert!(codes.iter().any(|code| ended.code == Some(*code)), "{engine}: {words}");
        assert!(OUT_OF_MEMORY.iter().any(|reason| error.contains(reason)), "{engine}: {words}");
        assert!(took < NAMED_WITHIN, "{engine}: {took:?}");
    };
    // While the target is opened, or filled.
    check("psync", &[2, 3]);
    let ended = start(&["--measure", "250ms"]).end();
    assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
    // While the run is prepared.
    check("io_uring", &[3]);
    check("psync", &[3]);
}

/// A link of a network namespace to a service on this host, at the same address, with a delay in each
/// direction.
struct SlowLink {
    listener: Arc<TcpListener>,
    threads: Vec<JoinHandle<()>>,
}

impl SlowLink {
    fn new(network: &Network, port: u16, delay: Duration) -> SlowLink {
        let (send, accepted) = channel::<TcpStream>();
        // Connects in the namespace of this thread.
        let connecting = std::thread::spawn(move || {
            for near in accepted {
                let far = TcpStream::connect(("127.0.0.1", port)).expect("the service listens");
                let clone = |one: &TcpStream| one.try_clone().expect("duplicate a socket");
                let ends = [(clone(&near), clone(&far)), (far, near)];
                for (from, to) in ends {
                    std::thread::spawn(move || copy_delayed(from, to, delay));
                }
            }
        });
        let path = format!("/run/netns/{}", network.name);
        let (bound, listens) = channel();
        let accepting = std::thread::spawn(move || {
            use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
            let namespace = std::fs::File::open(path).expect("open the namespace");
            let kind = Some(LinkNameSpaceType::Network);
            move_into_link_name_space(std::os::fd::AsFd::as_fd(&namespace), kind)
                .expect("this test needs root, as in CI");
            let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
            let listener = Arc::new(listener);
            bound.send(Arc::clone(&listener)).expect("it is awaited");
            while let Ok((near, _)) = listener.accept() {
                send.send(near).expect("connections are made");
            }
        });
        let listener = listens.recv().expect("it listens");
        SlowLink { listener, threads: vec![accepting, connecting] }
    }
}

impl Drop for SlowLink {
    fn drop(&mut self) {
        // Wakes the thread that accepts.
        let _ = rustix::net::shutdown(&self.listener, rustix::net::Shutdown::Both);
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

fn copy_delayed(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    let (send, due) = channel::<(Instant, Vec<u8>)>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for (at, bytes) in due {
                std::thread::sleep(at.saturating_duration_since(Instant::now()));
                if to.write_all(&bytes).is_err() {
                    break;
                }
            }
            let _ = to.shutdown(Shutdown::Write);
        });
        let mut bytes = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            if send.send((Instant::now() + delay, bytes[..count].to_vec())).is_err() {
                break;
            }
        }
        drop(send);
    });
}

#[test]
fn a_host_with_a_slow_way_to_the_volume_is_named_and_the_sums_are_right() {
    let dir = TestDir::new();
    let (served, url) = serve(&dir);
    let network = Network::new("slow");
    let port = served.port.parse().expect("a port");
    // At most 25 operations per second one at a time, of 100.
    let _link = SlowLink::new(&network, port, Duration::from_millis(20));
    let enter = format!(
        "host=$1; shift\n[ $host = b ] && exec nsenter --net=/run/netns/{} \"$@\"\nexec \"$@\"\n",
        network.name
    );
    dir.file("enter", &enter);
    let hosts = ["--hosts", "exec:sh enter {host}", "--hosts", "a,b,c", "--agent", PROGRAM];
    let longer = ["--measure", "3s", "--set", "arrival={constant=\"300/s\"}"];
    let ended = run(&dir, &url, &[&hosts[..], &longer].concat());
    let words = unwrapped(&ended.stderr);
    println!("{words}");
    let shown = json(&dir.ok(&["show", "last", "--json"]));
    let point = &shown["load_points"][0];
    assert!(point["warnings"].to_string().contains("host_slower"), "{}", point["warnings"]);
    let completed = |summary: &Value| number(&summary["total"]["data"], "completed");
    let each: Vec<u64> = point["hosts"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|host| completed(&host["summary"]))
        .collect();
    assert_eq!(each.iter().sum::<u64>(), completed(&point["merged"]), "{each:?}");
    assert!(each[1] < each[0] && each[1] < each[2], "{each:?}");
    assert_eq!(point["missing_hosts"], Value::Null);
    assert_eq!(served.end().code, Some(0));
}
