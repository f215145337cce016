//! Commands that choose runs from results, with several hosts: `tune`, `--explain`, curves and `--until`;
//! and `compare` of their records.

use serde_json::Value;

use crate::fleet_runs::number;
use crate::harness::{Running, TestDir};

const SHORT: &str = r#"
name = "short"
[run]
warm_up = "250ms"
measure = "1s"
interval = "50ms"
[stream.main]
read = "100%"
transfer_size = "64KiB"
pattern = "random"
files = 2
file_size = "2MiB"
queue_depth = 16
"#;

fn shown(dir: &TestDir) -> Value {
    serde_json::from_str(&dir.ok(&["show", "last", "--json"])).expect("it is JSON")
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A volume with these settings, and its URL.
fn served(dir: &TestDir, settings: &[&str]) -> (Running, String) {
    let fixed = ["volume", "serve", "--address", "127.0.0.1:0", "--metrics", "none"];
    let serving = dir.start(&[&fixed[..], settings].concat());
    let line = serving.wait_for("nfs://");
    let at = line.find("nfs://").expect("it was waited for");
    let url = line[at..].split_whitespace().next().expect("there is a URL").to_owned();
    (serving, url)
}

#[test]
fn tuning_finds_the_least_concurrency_that_all_hosts_share_equally() {
    let dir = TestDir::new();
    // A read takes 40 ms: 60 reads per second need 2.4 operations outstanding.
    let (_serving, url) = served(&dir, &["--throughput", "7.5MiB/s", "--read-delay", "40ms"]);
    let arguments = [
        "tune",
        &url,
        "--target-rate",
        "3.75MiB/s",
        "--hosts",
        "local:2",
        "--warm-up",
        "250ms",
        "--measure",
        "3s",
        "--interval",
        "250ms",
        "--files",
        "2",
        "--file-size",
        "2MiB",
        "--no-report",
    ];
    let ended = dir.run(&arguments);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let tune = shown(&dir)["tune"].clone();
    assert_eq!(number(&tune["enough"], "outstanding"), 4, "{tune:#}");
    assert_eq!(number(&tune["too_little"], "outstanding"), 2, "{tune:#}");
    // The settings are those of the hosts that measured.
    let full = flat(&dir.ok(&["show", "last", "--full"]));
    assert!(full.contains("2 hosts"), "{full}");
    let few = [&arguments[..], &["--queue-depth-max", "1"]].concat();
    let ended = dir.run(&few);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(flat(&ended.stderr).contains("each has at least one"), "{}", ended.stderr);
}

#[test]
fn a_rate_of_operations_on_names_is_tuned_for_all_hosts_together_on_one_verified_tree() {
    let dir = TestDir::new();
    // Each operation is one call, which takes 40 ms: two outstanding give 50 per second, four 100.
    let (_serving, url) = served(&dir, &["--read-delay", "40ms"]);
    let mix = "lookup=98%,create=1%,unlink=1%";
    let arguments = [
        "tune",
        &url,
        "--target-rate",
        "75/s",
        "--mix",
        mix,
        "--hosts",
        "local:2",
        "--verify",
        "--files",
        "200",
        "--set",
        "names.depth=0",
        "--queue-depth-max",
        "4",
        "--warm-up",
        "250ms",
        "--measure",
        "1500ms",
        "--interval",
        "250ms",
        "--no-report",
    ];
    let ended = dir.run(&arguments);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let shown = shown(&dir);
    let tune = &shown["tune"];
    assert_eq!(number(&tune["enough"], "outstanding"), 4, "{tune:#}");
    assert_eq!(number(&tune["too_little"], "outstanding"), 2, "{tune:#}");
    assert!(tune["enough"]["throughput_bytes_per_sec"].is_null(), "{tune:#}");
    for point in shown["load_points"].as_array().expect("a list") {
        assert_eq!(point["hosts"].as_array().map(Vec::len), Some(2), "{point}");
    }
    // The tree that both hosts changed has what the operations of both should leave.
    let words = flat(&ended.stdout);
    assert!(words.contains("Compared the tree with its operations after each of"), "{words}");
    assert!(words.contains("no differences"), "{words}");
}

#[test]
fn a_curve_begins_with_one_operation_on_each_host_and_keeps_their_loads_equal() {
    let dir = TestDir::new();
    dir.file("short.toml", SHORT);
    let arguments = [
        "run",
        "null:",
        "-w",
        "short.toml",
        "--hosts",
        "local:3",
        "--set",
        "search.method=queue-depth",
        "--measure",
        "500ms",
        "--no-report",
    ];
    let ended = dir.run(&arguments);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let shown = shown(&dir);
    let points = shown["load_points"].as_array().expect("a list");
    let depths: Vec<u64> = points.iter().map(|point| number(point, "queue_depth_total")).collect();
    assert!(depths.contains(&3) && depths.len() >= 2, "{depths:?}");
    for point in points {
        assert_eq!(point["hosts"].as_array().map(Vec::len), Some(3), "{point}");
        assert_eq!(number(point, "queue_depth_total") % 3, 0, "{depths:?}");
    }
}

#[test]
fn the_built_in_curve_works_with_several_hosts() {
    let dir = TestDir::new();
    let arguments = [
        "run",
        "-p",
        "curve",
        "--quick",
        "--hosts",
        "local:2",
        "--measure",
        "500ms",
        "--warm-up",
        "250ms",
        "--interval",
        "250ms",
        "--set",
        "file_size=4MiB",
        "--set",
        "queue_depth=4",
    ];
    let ended = dir.run(&arguments);
    // The offered rate of the last points may overload the target.
    assert!(matches!(ended.code, Some(0 | 1)), "{}\n{}", ended.stdout, ended.stderr);
    let shown = shown(&dir);
    let points = shown["load_points"].as_array().expect("a list");
    let is_open = |point: &&Value| point["parameters"].to_string().contains("offered_rate");
    assert!(points.iter().any(|point| is_open(&point)), "{}", ended.stdout);
    assert!(points.iter().all(|point| point["hosts"].as_array().map(Vec::len) == Some(2)));
}

#[test]
fn repeats_until_precise_and_compare_work_with_several_hosts() {
    let dir = TestDir::new();
    dir.file("short.toml", SHORT);
    for _ in 0..2 {
        let arguments = [
            "run",
            "-w",
            "short.toml",
            "--hosts",
            "local:2",
            "--until",
            "30%",
            "--set",
            "queue_depth=1,4",
            "--measure",
            "500ms",
        ];
        let ended = dir.run(&arguments);
        assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
        let shown = shown(&dir);
        let points = shown["load_points"].as_array().expect("a list").iter();
        let runs: Vec<usize> =
            points.map(|point| point["runs"].as_array().map_or(0, Vec::len)).collect();
        assert!(runs.len() == 2 && runs.iter().all(|runs| *runs >= 3), "{runs:?}");
    }
    let ended = dir.run(&["compare", "last~1", "last", "--json"]);
    assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
    let compared: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let text = compared.to_string();
    assert!(!text.contains("run.hosts"), "equal numbers of hosts are no difference: {text}");
    // Another number of hosts is one.
    let one = ["run", "-w", "short.toml", "--hosts", "local:1", "--set", "queue_depth=1,4"];
    assert_eq!(dir.run(&[&one[..], &["--measure", "500ms"]].concat()).code, Some(0));
    let text = dir.run(&["compare", "last~1", "last", "--full"]).stdout;
    assert!(text.contains("run.hosts"), "{text}");
}

#[test]
fn the_bottleneck_of_several_hosts_is_explained_by_changes_that_all_make() {
    let dir = TestDir::new();
    dir.file("short.toml", SHORT);
    let (_serving, url) = served(&dir, &["--throughput", "40MiB/s"]);
    let arguments = ["run", &url, "-w", "short.toml", "--explain", "--hosts", "local:2"];
    let ended = dir.run(&[&arguments[..], &["--no-report"]].concat());
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let shown = shown(&dir);
    for point in shown["load_points"].as_array().expect("a list") {
        assert_eq!(number(point, "queue_depth_total") % 2, 0, "{point}");
        let hosts = point["hosts"].as_array().map_or(1, Vec::len);
        let on_one = point["parameters"].to_string().contains("run.hosts");
        assert_eq!(hosts, if on_one { 1 } else { 2 }, "{point}");
    }
    // A busy machine may leave it open, but the hosts are not the limit.
    let limits = shown["verdicts"][0]["limits"].as_array().expect("an array");
    let is_service =
        |limit: &Value| ["volume_throughput", "endpoint"].iter().any(|service| limit == service);
    assert!(limits.iter().all(is_service), "{:#}", shown["verdicts"][0]);
}
