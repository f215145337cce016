//! `volume serve` and `volume stat` as a user starts them, with foreign clients of NFS.
//!
//! The clients are libnfs' programs (Debian's libnfs-utils), which `cargo xtask check --install`
//! installs.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::harness::{Ended, Running, TestDir};

/// A service with a volume, and where it is.
pub(crate) struct Served {
    running: Running,
    /// The port of NFS.
    pub(crate) port: String,
    /// The address of its metrics.
    pub(crate) metrics: String,
}

impl Served {
    pub(crate) fn start(dir: &TestDir, more: &[&str]) -> Served {
        let fixed = ["volume", "serve"];
        let metrics = ["--metrics", "127.0.0.1:0"];
        let metrics = if more.contains(&"--metrics") { &metrics[..0] } else { &metrics };
        let arguments: Vec<&str> = fixed.iter().chain(metrics).chain(more).copied().collect();
        let running = dir.start(&arguments);
        let url = running.wait_for("nfs://");
        let port = url.trim().rsplit('=').next().expect("a port in the URL").to_owned();
        let line = running.wait_for("metrics ");
        let metrics = line.rsplit("http://").next().expect("an address");
        let metrics = metrics.trim().trim_end_matches("/metrics").to_owned();
        running.wait_for("Ctrl-C ends the service");
        Served { running, port, metrics }
    }

    /// As libnfs writes it.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("nfs://127.0.0.1{path}?nfsport={0}&mountport={0}", self.port)
    }

    /// Sends a signal by its name to the service.
    pub(crate) fn signal(&self, name: &str) {
        self.running.signal(name);
    }

    pub(crate) fn end(self) -> Ended {
        self.running.signal("TERM");
        self.running.end()
    }
}

pub(crate) fn program(name: &str, arguments: &[&str]) -> String {
    let ended =
        Command::new(name).args(arguments).stdin(Stdio::null()).output().unwrap_or_else(|error| {
            panic!("start {name} (`cargo xtask check --install`): {error}")
        });
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{name} {arguments:?}: {}\n{stderr}", ended.status);
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

/// The size of the file that libnfs copies both ways.
const BIG_BYTES: u64 = 1 << 30;

/// How much of it is written and looked at together.
const PIECE_BYTES: usize = 1 << 20;

/// The pieces of a big file, all different, also from offset to offset.
fn pieces(mut each: impl FnMut(&[u8])) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut noise = Vec::with_capacity(2 * PIECE_BYTES);
    while noise.len() < 2 * PIECE_BYTES {
        // xorshift64 (Marsaglia 2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        noise.extend_from_slice(&state.to_le_bytes());
    }
    for piece in 0..BIG_BYTES as usize / PIECE_BYTES {
        // 4099 and a power of two have no divisor in common.
        let from = piece * 4099 % PIECE_BYTES;
        each(&noise[from..from + PIECE_BYTES]);
    }
}

fn write_big(path: &Path) {
    let mut file = File::create(path).expect("make a file");
    pieces(|piece| file.write_all(piece).expect("write a file"));
}

fn assert_big(path: &Path) {
    let mut file = File::open(path).expect("open what came back");
    assert_eq!(file.metadata().expect("it has a size").len(), BIG_BYTES);
    let mut seen = vec![0; PIECE_BYTES];
    pieces(|expected| {
        let from = file.stream_position().expect("it has a position");
        file.read_exact(&mut seen).expect("read what came back");
        assert!(seen == expected, "what came back from byte {from} on is not what was sent");
    });
}

fn path(path: &Path) -> &str {
    path.to_str().expect("paths of tests are UTF-8")
}

#[test]
fn file_descriptors_for_all_connections_are_preallocated() {
    let dir = TestDir::new();
    let served = Served::start(&dir, &["--address", "127.0.0.1:0", "--connections-max", "3000"]);
    let status = std::fs::read_to_string(format!("/proc/{}/status", served.running.id()));
    let status = status.expect("the service runs");
    let size = status.lines().find_map(|line| line.strip_prefix("FDSize:"));
    let size: u32 = size.expect("Linux tells").trim().parse().expect("a number");
    assert!(size > 3000, "FDSize: {size}: the table grows while replies are due");
    assert_eq!(served.end().code, Some(0));
}

#[test]
fn memory_for_deferred_replies_is_preallocated() {
    let dir = TestDir::new();
    let resident_mib = |more: &[&str]| {
        let served = Served::start(&dir, &[&["--address", "127.0.0.1:0"], more].concat());
        // It answers when it has made room.
        dir.ok(&["volume", "stat", &served.metrics]);
        let status = std::fs::read_to_string(format!("/proc/{}/status", served.running.id()));
        let status = status.expect("the service runs");
        let size = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.strip_suffix(" kB"));
        let kib: u64 = size.expect("Linux tells").trim().parse().expect("a number");
        assert_eq!(served.end().code, Some(0));
        kib / 1024
    };
    let (with, without) = (resident_mib(&[]), resident_mib(&["--no-limits"]));
    assert!((40..=64).contains(&(with - without)), "{with} MiB, {without} MiB where nothing holds");
}

#[test]
fn libnfs_copies_both_ways_and_lists_the_copies() {
    let dir = TestDir::new();
    let served = Served::start(&dir, &["--address", "127.0.0.1:0", "--no-limits"]);
    let (there, back) = (dir.path().join("there"), dir.path().join("back"));
    write_big(&there);
    program("nfs-cp", &[path(&there), &served.url("/vol1/big")]);
    std::fs::remove_file(&there).expect("make room");
    program("nfs-cp", &[&served.url("/vol1/big"), path(&back)]);
    assert_big(&back);
    let small = dir.file("small", "four corners\n");
    program("nfs-cp", &[path(&small), &served.url("/vol1/small")]);
    assert_eq!(program("nfs-cat", &[&served.url("/vol1/small")]), "four corners\n");
    let listed = program("nfs-ls", &["-R", &served.url("/vol1")]);
    assert!(listed.lines().any(|line| line.ends_with(" 1073741824 big")), "{listed}");
    assert!(listed.lines().any(|line| line.ends_with(" 13 small")), "{listed}");

    let json = dir.ok(&["volume", "stat", &served.metrics, "--format", "json"]);
    let seen: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    let volume = &seen["volumes"][0];
    assert_eq!(volume["name"], "vol1");
    assert_eq!(volume["written_bytes"], BIG_BYTES + 13);
    assert_eq!(volume["read_bytes"], BIG_BYTES + 13);
    assert_eq!(volume["outstanding"], 0);
    assert_eq!(volume["throughput_limit_bytes_per_s"], serde_json::Value::Null);
    let text = dir.ok(&["volume", "stat", &served.metrics]);
    assert!(text.contains("vol1: no limit; "), "{text}");
    let metrics = dir.ok(&["volume", "stat", &served.metrics, "--format", "prometheus"]);
    let line = "fourcorners_volume_written_bytes_total{volume=\"vol1\"} 1073741837";
    assert!(metrics.lines().any(|seen| seen == line), "{metrics}");

    let ended = served.end();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let last = ended.stdout.lines().last().expect("a summary");
    assert!(last.starts_with("vol1: ") && last.contains("1.00 GiB read"), "{last}");
}

const TWO_VOLUMES: &str = r#"
[[endpoint]]
name = "ep1"
address = "127.0.0.1:0"

[[pool]]
name = "pool1"
service_level = "premium"
size = "4TiB"

[[volume]]
name = "vol1"
pool = "pool1"
quota = "1TiB"

[[volume]]
name = "data"
pool = "pool1"
quota = "100GiB"
"#;

#[test]
fn sighup_reloads_the_file_and_refuses_it_completely_if_it_breaks_a_rule() {
    let dir = TestDir::new();
    let file = dir.file("volumes.toml", TWO_VOLUMES);
    let served = Served::start(&dir, &["--config", path(&file)]);
    let small = dir.file("small", "four corners\n");
    program("nfs-cp", &[path(&small), &served.url("/data/small")]);

    let changed = TWO_VOLUMES.replace("\"1TiB\"", "\"2TiB\"");
    dir.file("volumes.toml", &changed);
    served.running.signal("HUP");
    let line = served.running.wait_for("vol1: premium");
    assert!(line.contains("premium, 1 TiB, 64 MiB/s -> premium, 2 TiB, 128 MiB/s"), "{line}");

    dir.file("volumes.toml", &changed.replace("2TiB", "5TiB").replace("100GiB", "1GiB"));
    served.running.signal("HUP");
    let line = served.running.wait_for("is refused");
    assert!(
        line.ends_with("volumes.toml is refused; the previous configuration stays active:\n"),
        "{line}"
    );
    served.running.wait_for("volumes.toml:9:8: ");
    served.running.wait_for("volumes.toml:19:9: ");
    let json = dir.ok(&["volume", "stat", &served.metrics, "--format", "json"]);
    assert!(json.contains("\"throughput_limit_bytes_per_s\":134217728"), "{json}");
    assert_eq!(program("nfs-cat", &[&served.url("/data/small")]), "four corners\n");
    assert_eq!(served.end().code, Some(0));
}

#[test]
fn addresses_that_other_hosts_can_reach_cause_a_warning() {
    let dir = TestDir::new();
    let of = |more: &[&str]| {
        let ended = Served::start(&dir, more).end();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended.stderr
    };
    let quiet = of(&["--address", "127.0.0.1:0"]);
    assert!(!quiet.contains("warning"), "{quiet}");
    let endpoint = of(&["--address", "0.0.0.0:0"]);
    let line =
        "endpoint `endpoint` listens at 0.0.0.0:0: every host that reaches it can use its volumes";
    assert!(endpoint.contains(line), "{endpoint}");
    assert_eq!(endpoint.matches("every host that reaches it").count(), 1, "{endpoint}");
    let metrics = of(&["--address", "127.0.0.1:0", "--metrics", "0.0.0.0:0"]);
    let line = "--metrics listens at 0.0.0.0:0: every host that reaches it can read";
    assert!(metrics.contains(line), "{metrics}");
    assert_eq!(metrics.matches("every host that reaches it").count(), 1, "{metrics}");
}

#[test]
fn problems_of_flags_or_file_end_with_2() {
    let dir = TestDir::new();
    let ended = dir.run(&["volume", "serve", "--quota", "1GiB"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("volume `vol1`: "), "{}", ended.stderr);
    let file = dir.file("volumes.toml", "[[pool]]\nname = \"pool1\"\nsize = \"lots\"\n");
    let ended = dir.run(&["volume", "serve", "--config", path(&file)]);
    assert_eq!(ended.code, Some(2));
    for part in ["there is no [[volume]]", "lacks `service_level`", "wrong value for `size`"] {
        assert!(ended.stderr.contains(part), "no {part} in\n{}", ended.stderr);
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("listen");
    let address = taken.local_addr().expect("our address").to_string();
    let ended = dir.run(&["volume", "serve", "--metrics", "none", "--address", &address]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("choose another port"), "{}", ended.stderr);
    drop(taken);
    let ended = dir.run(&["volume", "stat", &address]);
    assert_eq!(ended.code, Some(3));
    assert!(ended.stderr.contains("is `fourcorners volume serve` running there?"));
}

#[test]
fn what_is_kept_in_a_directory_is_there_after_a_kill() {
    let dir = TestDir::new();
    let data = dir.path().join("volumes");
    let arguments = ["--address", "127.0.0.1:0", "--data", path(&data)];
    let served = Served::start(&dir, &arguments);
    let small = dir.file("small", "four corners\n");
    program("nfs-cp", &[path(&small), &served.url("/vol1/small")]);
    let ended = dir.run(&[
        "volume",
        "serve",
        "--address",
        "127.0.0.1:0",
        "--metrics",
        "none",
        "--data",
        path(&data),
    ]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("is used by another service"), "{}", ended.stderr);
    served.running.signal("KILL");
    assert_eq!(served.running.end().code, None, "it was killed");
    let served = Served::start(&dir, &arguments);
    assert_eq!(program("nfs-cat", &[&served.url("/vol1/small")]), "four corners\n");
    assert_eq!(served.end().code, Some(0));
}

#[test]
fn a_named_volume_delays_writes_as_configured() {
    let dir = TestDir::new();
    let more = ["--address", "127.0.0.1:0", "--name", "data7", "--write-delay", "20ms"];
    let served = Served::start(&dir, &more);
    let port = &served.port;
    let target = format!("nfs://127.0.0.1:{port}/data7?mountport={port}");
    dir.file("tiny.toml", crate::runs::TINY);
    let set = ["--set", "read=0%", "--set", "queue_depth=1", "--no-report"];
    dir.measured(
        &[&["run", &target, "-w", "tiny.toml", "--fail-if", "write.mean < 20ms"], &set[..]]
            .concat(),
    );
    let ended = dir.run(&["show", "last", "--fail-if", "write.mean < 20ms"]);
    assert_eq!(ended.code, Some(0), "a write takes at least its delay: {}", ended.stdout);
    let wrong = dir.run(&["run", &target.replace("data7", "vol1"), "-w", "tiny.toml"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.stdout);
    assert_eq!(served.end().code, Some(0));
}
