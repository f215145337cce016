//! Service and client in two network namespaces, with a wire of a known rate between them that is
//! cut while a run is under way. Wants root, as CI has it.

use std::time::Duration;

use serde_json::Value;

use crate::harness::TestDir;
use crate::private_network::{Network, ip};

/// Long enough for TCP to come back, whose waits grow: 6.2 s after it lost its wire.
const EXPERIMENT: &str = r#"
name = "cable"

[run]
warm_up = "500ms"
measure = "12s"
interval = "500ms"

[stream.main]
read = "50%"
transfer_size = "8KiB"
pattern = "random"
files = 1
file_size = "8MiB"
queue_depth = 8
"#;

/// How long the cable is out.
const OUT: Duration = Duration::from_secs(5);

fn networks_with_a_wire() -> (Network, Network) {
    let (far, near) = (Network::new("far"), Network::new("near"));
    let (a, b) = (&far.name, &near.name);
    ip(&format!("link add wire netns {a} type veth peer name wire netns {b}"));
    for (side, address) in [(a, "10.214.0.1/24"), (b, "10.214.0.2/24")] {
        ip(&format!("-n {side} address add {address} dev wire"));
        ip(&format!("-n {side} link set wire up"));
        let status = std::process::Command::new("tc")
            .args(["-n", side, "qdisc", "add", "dev", "wire", "root", "tbf"])
            .args(["rate", "200mbit", "burst", "64kb", "latency", "100ms"])
            .status();
        assert!(status.expect("start tc").success(), "the wire has no rate");
    }
    (far, near)
}

/// Of an interval: operations that succeeded, that failed, and the longest service time in ns.
fn counts_of(interval: &Value) -> (u64, u64, u64) {
    let kinds = interval["streams"][0]["kinds"].as_array().expect("kinds").iter();
    kinds.fold((0, 0, 0), |(completed, failed, longest), kind| {
        let number = |value: &Value| value.as_u64().unwrap_or(0);
        let failures = kind["failed"].as_array().into_iter().flatten();
        (
            completed + number(&kind["completed"]),
            failed + failures.map(|failure| number(&failure["count"])).sum::<u64>(),
            longest.max(number(&kind["service_time"]["max_ns"])),
        )
    })
}

#[test]
fn a_run_survives_a_cable_that_is_unplugged_for_five_seconds() {
    let (far, near) = networks_with_a_wire();
    let (mut service, mut client) = (TestDir::new(), TestDir::new());
    service.enter(far.command(env!("CARGO_BIN_EXE_fourcorners")));
    client.enter(near.command(env!("CARGO_BIN_EXE_fourcorners")));
    client.file("cable.toml", EXPERIMENT);
    let serving = service.start(&["volume", "serve", "--address", "10.214.0.1:2049"]);
    serving.wait_for("Ctrl-C ends the service");

    let url = "nfs://10.214.0.1:2049/vol1?mountport=2049&nconnect=4";
    let wanted = ["--verify", "--no-report", "--events", "jsonl"];
    let running = client.start(&[&["run", url, "-w", "cable.toml"], &wanted[..]].concat());
    running.wait_for("\"interval_index\":1,");
    ip(&format!("-n {} link set wire down", far.name));
    // The time without a wire is what this test is about.
    std::thread::sleep(OUT);
    ip(&format!("-n {} link set wire up", far.name));
    let ended = running.end();
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);

    let events = ended.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let intervals: Vec<(u64, u64, u64)> = events
        .filter(|event: &Value| event.get("interval_index").is_some())
        .map(|interval| counts_of(&interval))
        .collect();
    let failed: u64 = intervals.iter().map(|(_, failed, _)| failed).sum();
    assert_eq!(failed, 0, "{intervals:?}");
    // Nine of the ten intervals of the gap lie in it wholly; in them nothing completes.
    let gaps = intervals.split(|(completed, ..)| *completed > 0).map(<[_]>::len);
    assert!(gaps.max().unwrap_or(0) >= 9, "{intervals:?}");
    let after = intervals.iter().rposition(|(completed, ..)| *completed == 0).expect("a gap");
    assert!(after + 1 < intervals.len(), "it went on after the gap: {intervals:?}");
    let longest = intervals.iter().map(|(.., longest)| *longest).max().expect("intervals");
    assert!(u128::from(longest) >= OUT.as_nanos(), "{intervals:?}");

    // The server looks like another machine, so published figures are shown by default.
    let full = client.ok(&["show", "last", "--full"]);
    assert!(full.contains("Comparison with published figures"), "{full}");
    assert!(full.contains("You reach"), "{full}");

    serving.signal("TERM");
    assert_eq!(serving.end().code, Some(0));
}
