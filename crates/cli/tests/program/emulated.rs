//! `run` without a target: the emulated volume, its service in the same process, its witness.

use crate::harness::Place;
use crate::runs::TINY;

#[test]
fn without_a_target_an_emulated_volume_is_measured_and_its_service_counts_the_same() {
    let place = Place::new();
    place.file("tiny.toml", TINY);
    let ended = place.run(&["run", "-w", "tiny.toml", "-o", "nconnect=4"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let said = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "emulated volume (1 TiB Ultra), served by this process over NFS version 3 on loopback",
        "throughput limit 128 MiB/s",
        "nothing on this machine's disks is measured",
        "1 MiB written",
        "nfs_client",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let table = &ended.stdout;
    let flat = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("The service counted the same as the generator in all 2 runs"),
        "{table}"
    );
    assert!(table.contains("throughput limit, MiB/s         128"), "{table}");
    assert!(table.contains("main 0.3"), "four connections: {table}");
    let results = table.split("\nrecord ").next().unwrap_or_default();
    assert!(results.lines().all(|line| line.chars().count() <= 80), "{table}");

    let shown: serde_json::Value =
        serde_json::from_str(&place.ok(&["show", "last", "--json"])).expect("it is JSON");
    assert_eq!(shown["witness"]["runs_that_differ"], 0);
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
    // Dealt out in turn: each carried as much as every other, but for the last round.
    let operations: Vec<u64> =
        connections.iter().filter_map(|one| one["operations"].as_u64()).collect();
    assert!(operations.iter().all(|count| *count > 0), "{operations:?}");

    let csv = place.ok(&["export", "last", "--format", "connections"]);
    assert_eq!(csv.lines().count(), 1 + 2 * 4, "{csv}");
    assert!(place.ok(&["list"]).contains("emulated volume"));
    assert!(!place.store().join("scratch").exists());
}

#[test]
fn what_is_read_from_the_emulated_volume_is_what_was_written() {
    let place = Place::new();
    place.file("tiny.toml", TINY);
    for stability in ["unstable", "file_sync"] {
        let stability = format!("write_stability={stability}");
        let ended = place.run(&[
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
        assert!(flat.contains("counted the same as the generator"), "{}", ended.stdout);
    }
}

#[test]
fn the_plan_of_an_emulated_volume_tells_what_it_is_and_writes_nothing() {
    let place = Place::new();
    let plan = place.ok(&["plan"]);
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
    assert!(!place.store().exists());
    let large = place.run(&["plan", "--set", "file_size=64TiB"]);
    assert_eq!(large.code, Some(2), "{}", large.stderr);
    assert!(large.stderr.contains("keeps its files in memory"), "{}", large.stderr);
}

#[test]
fn ctrl_c_ends_a_run_on_the_emulated_volume_and_keeps_what_was_measured() {
    let place = Place::new();
    place.file("tiny.toml", TINY);
    let running = place.start(&["run", "-w", "tiny.toml", "--no-report", "--measure", "60s"]);
    running.wait_for(" measure ");
    running.signal("INT");
    let ended = running.end();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("interrupted; what was measured"), "{}", ended.stderr);
}

#[test]
fn mistakes_in_an_exports_url_are_all_told_before_anything_is_done() {
    let place = Place::new();
    let ended = place.run(&["run", "nfs://filer/vol1?nconect=8&slots=0"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("`nconect` is no option"), "{}", ended.stderr);
    assert!(ended.stderr.contains("slots is `0`"), "{}", ended.stderr);
    let ended = place.run(&["run", "nfs://filer/vol1?nconnect=2", "--set", "workers=4"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("nconnect"), "{}", ended.stderr);
    let ended = place.run(&["clean", "null:"]);
    assert_eq!(ended.code, Some(2));
    assert!(!place.store().exists());
}

#[test]
fn a_server_that_is_not_there_is_refused_with_its_address() {
    let place = Place::new();
    place.file("tiny.toml", TINY);
    // A port that nobody listens at: it was given to us and let go.
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        listener.local_addr().expect("it has an address").port()
    };
    let target = format!("nfs://127.0.0.1:{port}/vol1?mountport={port}");
    let ended = place.run(&["run", &target, "-w", "tiny.toml"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains(&format!("127.0.0.1:{port}")), "{}", ended.stderr);
    assert!(ended.stderr.contains("what to do"), "{}", ended.stderr);
    assert!(!place.store().exists());
}

#[test]
fn an_export_is_measured_found_again_verified_and_cleaned() {
    let place = Place::new();
    place.file("tiny.toml", TINY);
    let serve = ["volume", "serve", "--address", "127.0.0.1:0", "--metrics", "none"];
    let serving = place.start(&serve);
    let line = serving.wait_for("nfs://");
    let at = line.find("nfs://").expect("it was waited for");
    let target = line[at..].split_whitespace().next().expect("there is a URL").to_owned();
    let first = place.run(&["run", &target, "-w", "tiny.toml", "--no-report"]);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert!(first.stderr.contains("1 MiB written"), "{}", first.stderr);
    let second = place.run(&["run", &target, "-w", "tiny.toml", "--no-report", "--verify"]);
    assert_eq!(second.code, Some(0), "{}", second.stderr);
    assert!(second.stderr.contains("found as they were left"), "{}", second.stderr);
    assert!(place.ok(&["plan", &target, "-w", "tiny.toml"]).contains("nothing to write"));
    assert!(place.ok(&["clean", &target]).contains("removed"), "{target}");
    serving.signal("INT");
    serving.end();
}
