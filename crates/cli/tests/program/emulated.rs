//! `run` without a target: the emulated volume, its service in this process, its counters.

use crate::harness::TestDir;
use crate::runs::TINY;

#[test]
fn without_a_target_an_emulated_volume_is_measured_and_its_counters_agree() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let ended = dir.run(&["run", "-w", "tiny.toml", "-o", "nconnect=4"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let said = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "emulated volume (1 TiB Ultra), served by this process over NFS version 3 on loopback",
        "throughput limit 128 MiB/s",
        "this machine's disks are not measured",
        "1 MiB written",
        "nfs_client",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let table = &ended.stdout;
    let flat = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("Service-side counters agree: "), "{table}");
    let full = dir.ok(&["show", "last", "--full"]);
    assert!(full.contains("throughput limit, MiB/s        128"), "{full}");
    assert!(full.contains("main 0.3"), "four connections: {full}");
    let results = table.split("\nrecord ").next().unwrap_or_default();
    assert!(results.lines().all(|line| line.chars().count() <= 80), "{table}");

    let shown: serde_json::Value =
        serde_json::from_str(&dir.ok(&["show", "last", "--json"])).expect("it is JSON");
    assert_eq!(shown["service_counters"]["runs_that_differ"], 0);
    assert_eq!(shown["emulated_volume"]["throughput_limit_bytes_per_sec"], 128 << 20);
    assert_eq!(shown["target"], "emulated volume (1 TiB Ultra)");
    let facts = shown["environment"].as_array().expect("the environment is a list");
    let null = facts.iter().find(|fact| fact["name"] == "target.null_round_trip_ns");
    let null = null.and_then(|fact| fact["value"].as_str()).expect("the service answers NULL");
    assert!(null.parse::<u64>().is_ok_and(|ns| ns > 0), "{null}");
    let command = shown["repeat_command"].as_str().expect("it is text");
    assert!(command.starts_with("fourcorners run --workload /"), "{command}");
    assert!(command.ends_with("--option nconnect=4"), "{command}");
    let connections = shown["load_points"][0]["runs"][0]["connections"].as_array();
    let connections = connections.expect("there are connections");
    assert_eq!(connections.len(), 4);
    // Distributed round-robin: all connections carried operations.
    let operations: Vec<u64> =
        connections.iter().filter_map(|one| one["operations"].as_u64()).collect();
    assert!(operations.iter().all(|count| *count > 0), "{operations:?}");

    let csv = dir.ok(&["export", "last", "--format", "connections"]);
    assert_eq!(csv.lines().count(), 1 + 2 * 4, "{csv}");
    assert!(dir.ok(&["list"]).contains("emulated volume"));
    assert!(!dir.store().join("scratch").exists());
}

#[test]
fn data_of_the_emulated_volume_is_verified() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    for stability in ["unstable", "file_sync"] {
        let stability = format!("write_stability={stability}");
        let ended = dir.run(&[
            "run",
            "-w",
            "tiny.toml",
            "--verify",
            "--no-report",
            "--set",
            "read=50%",
            "--set",
            "fsync_every=7",
            "--set",
            &stability,
        ]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let flat = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains("Service-side counters agree: "), "{}", ended.stdout);
    }
}

#[test]
fn the_plan_describes_the_emulated_volume_and_writes_nothing() {
    let dir = TestDir::new();
    let plan = dir.ok(&["plan"]);
    for words in [
        "target      emulated volume (1 TiB Ultra)",
        "engine      nfs_client",
        "volume      limit 128 MiB/s, reads take 400us, writes 300us",
        "fill        256 MiB to write into memory, about 2 s at the limit",
        "runs        16, 2m8s",
        "unstable writes",
    ] {
        assert!(plan.contains(words), "{words}:\n{plan}");
    }
    assert!(plan.lines().all(|line| line.chars().count() <= 80), "{plan}");
    assert!(!dir.store().exists());
    let large = dir.run(&["plan", "--set", "file_size=64TiB"]);
    assert_eq!(large.code, Some(2), "{}", large.stderr);
    assert!(large.stderr.contains("keeps files in memory"), "{}", large.stderr);
}

#[test]
fn ctrl_c_ends_a_run_on_the_emulated_volume_and_keeps_the_results() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let running = dir.start(&["run", "-w", "tiny.toml", "-v", "--no-report", "--measure", "60s"]);
    running.wait_for(" measure main");
    running.signal("INT");
    let ended = running.end();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stdout.contains("The experiment was interrupted"), "{}", ended.stdout);
}

#[test]
fn all_problems_of_a_url_are_reported_before_anything_is_done() {
    let dir = TestDir::new();
    let ended = dir.run(&["run", "nfs://filer/vol1?nconect=8&slots=0"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("`nconect` is not an option"), "{}", ended.stderr);
    assert!(ended.stderr.contains("slots is `0`"), "{}", ended.stderr);
    let ended = dir.run(&["run", "nfs://filer/vol1?nconnect=2", "--set", "workers=4"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("nconnect"), "{}", ended.stderr);
    let ended = dir.run(&["clean", "null:"]);
    assert_eq!(ended.code, Some(2));
    assert!(!dir.store().exists());
}

#[test]
fn an_unreachable_server_is_refused_with_its_address() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    // A port without a listener: it was bound and released.
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        listener.local_addr().expect("it has an address").port()
    };
    let target = format!("nfs://127.0.0.1:{port}/vol1?mountport={port}");
    let ended = dir.run(&["run", &target, "-w", "tiny.toml"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains(&format!("127.0.0.1:{port}")), "{}", ended.stderr);
    assert!(ended.stderr.contains("what to do"), "{}", ended.stderr);
    assert!(!dir.store().exists());
}

#[test]
fn an_export_is_measured_found_again_verified_and_cleaned() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let serve = ["volume", "serve", "--address", "127.0.0.1:0", "--metrics", "none"];
    let serving = dir.start(&serve);
    let line = serving.wait_for("nfs://");
    let at = line.find("nfs://").expect("it was waited for");
    let target = line[at..].split_whitespace().next().expect("there is a URL").to_owned();
    let first = dir.run(&["run", &target, "-w", "tiny.toml", "--no-report"]);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert!(first.stderr.contains("1 MiB written"), "{}", first.stderr);
    let second = dir.run(&["run", &target, "-w", "tiny.toml", "--no-report", "--verify"]);
    assert_eq!(second.code, Some(0), "{}", second.stderr);
    assert!(second.stderr.contains("no data to write"), "{}", second.stderr);
    assert!(dir.ok(&["plan", &target, "-w", "tiny.toml"]).contains("nothing to write"));
    assert!(dir.ok(&["clean", &target]).contains("removed"), "{target}");
    serving.signal("INT");
    serving.end();
}
