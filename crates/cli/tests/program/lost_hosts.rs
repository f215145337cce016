//! A run that loses a host while the others continue: no output shows a total without its hosts.

use std::fs;

use report::number::plain;
use serde_json::Value;

use crate::fleet_runs::{agents, events, number, signal};
use crate::harness::{Ended, TestDir};

/// Three load points of two seconds on small files.
const SWEEP: &str = r#"
name = "sweep"
[run]
warm_up = "500ms"
measure = "2s"
interval = "250ms"
[stream.main]
read = "50%"
transfer_size = "8KiB"
pattern = "random"
files = 6
file_size = "4MiB"
queue_depth = [1, 2, 4]
"#;

/// The label where there is room, and next to a load.
const LABELS: [&str; 2] = ["2 of 3 hosts", "2/3 hosts"];

fn is_labelled(text: &str) -> bool {
    LABELS.iter().any(|label| text.contains(label))
}

const RUN: [&str; 11] = [
    "run",
    "target",
    "--create",
    "-w",
    "sweep.toml",
    "--hosts",
    "local:3",
    "--on-lost",
    "continue",
    "--events",
    "jsonl",
];

/// A host is killed during the second of three load points.
fn losing_a_host(dir: &TestDir) -> Ended {
    let arguments = [&RUN[..], &["--metrics-file", "run.prom"]].concat();
    let running = dir.start(&arguments);
    let in_second_run = |line: &str| {
        line.contains("host_interval")
            && line.contains("\"run_index\":1,")
            && line.contains(":4,\"start_ns")
    };
    running.next_line(in_second_run).expect("it measures");
    signal(&agents(running.id())[1], "KILL");
    let ended = running.end();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    ended
}

#[test]
fn no_output_shows_a_total_of_fewer_hosts_without_a_label() {
    let dir = TestDir::new();
    dir.file("sweep.toml", SWEEP);
    let whole = dir.run(&RUN);
    assert_eq!(whole.code, Some(0), "{}", whole.stderr);
    let ended = losing_a_host(&dir);
    check_events(&ended.stdout);
    let metrics = fs::read_to_string(dir.path().join("run.prom")).expect("a file of metrics");
    for line in ["fourcorners_run_hosts 3", "fourcorners_run_hosts_lost 1"] {
        assert!(metrics.lines().any(|seen| seen == line), "{line}\n{metrics}");
    }

    let shown: Value = serde_json::from_str(&dir.ok(&["show", "last", "--json"])).expect("JSON");
    let points = shown["load_points"].as_array().expect("a list");
    let is_lossy = |point: &&Value| !point["missing_hosts"].is_null();
    assert_eq!(points.iter().filter(is_lossy).count(), 2, "{points:?}");
    assert!(!is_lossy(&&points[0]), "it was whole");
    let rate = |point: &Value| {
        let rate = &point["merged"]["total"]["data"]["achieved_rate_ops_per_sec"]["value"];
        plain(rate.as_f64().expect("a rate"))
    };
    let totals: Vec<String> = points.iter().filter(is_lossy).map(rate).collect();
    check_text("at the end", &ended.stderr, &totals);
    check_text("show", &dir.ok(&["show", "last"]), &totals);
    check_text("show --full", &dir.ok(&["show", "last", "--full"]), &totals);
    dir.ok(&["report", "last", "--format", "md", "--output", "report.md"]);
    let markdown = fs::read_to_string(dir.path().join("report.md/report.md")).expect("a report");
    check_text("Markdown", &markdown, &totals);
    check_charts(&dir);
    check_list(&dir, &points[0]);
    check_exports(&dir);
    check_what_uses_a_record(&dir);
}

/// Every line with the total of a load point that lost a host.
fn check_text(output: &str, text: &str, totals: &[String]) {
    for total in totals {
        let mut lines = text.lines().filter(|line| line.contains(total.as_str())).peekable();
        assert!(lines.peek().is_some(), "{output}: {total} in\n{text}");
        for line in lines {
            assert!(is_labelled(line), "{output}: `{line}` in\n{text}");
        }
    }
}

fn check_events(text: &str) {
    let mut is_lost = false;
    let mut intervals = 0;
    for event in events(text) {
        match event["event"].as_str().unwrap_or_default() {
            "host_lost" => is_lost = true,
            "interval" if is_lost => {
                let missing = &event["missing_hosts"];
                // Intervals that the host had delivered before are those of all.
                let is_late = number(&event, "run_index") > 1 || !missing.is_null();
                assert!(!is_late || number(missing, "remaining") == 2, "{event}");
                intervals += u32::from(is_late);
            }
            "run_finished" if is_lost => assert_eq!(number(&event["missing_hosts"], "of"), 3),
            "interval" | "run_finished" => assert_eq!(event["missing_hosts"], Value::Null),
            _ => {}
        }
    }
    assert!(is_lost && intervals > 10, "{intervals} intervals\n{text}");
}

fn check_charts(dir: &TestDir) {
    dir.ok(&["report", "last", "--format", "svg", "--output", "charts"]);
    let mut count = 0;
    for file in fs::read_dir(dir.path().join("charts")).expect("a folder of charts") {
        let path = file.expect("a file").path();
        let chart = fs::read_to_string(&path).expect("it is text");
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Heat maps are of one load point, or of each host.
        let is_of_one = name.starts_with("heat-") || name.starts_with("hosts-");
        let leaves_out = chart.contains("Load points without lost hosts only.");
        assert!(is_of_one || leaves_out || is_labelled(&chart), "{name}: {chart}");
        count += u32::from(!is_of_one);
    }
    assert!(count > 5, "{count} charts");
    dir.ok(&["report", "last", "--output", "page.html"]);
    let page = fs::read_to_string(dir.path().join("page.html")).expect("a page");
    assert!(LABELS.iter().all(|label| page.contains(label)));
}

/// The best figure of a record is one of all hosts.
fn check_list(dir: &TestDir, whole: &Value) {
    let listed: Value = serde_json::from_str(&dir.ok(&["list", "--json"])).expect("JSON");
    let last = listed.as_array().and_then(|all| all.last()).expect("a record");
    let of_point = &whole["merged"]["total"]["data"]["throughput_bytes_per_sec"]["value"];
    let [listed, best] = [&last["throughput_bytes_per_s"], of_point];
    let [listed, best] = [listed, best].map(|value| value.as_f64().expect("a number"));
    assert!((listed / best - 1.0).abs() < 1e-6, "{listed} and {best}");
}

fn check_exports(dir: &TestDir) {
    let rows = |format: &str| -> Vec<Vec<String>> {
        let file = dir.ok(&["export", "last", "--format", format]);
        file.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let cell = |rows: &[Vec<String>], row: usize, name: &str| {
        let column = rows[0].iter().position(|column| column == name).expect("a column");
        rows[row][column].clone()
    };
    let results = rows("csv");
    for row in 1..results.len() {
        let is_whole = cell(&results, row, "load_point") == "0";
        let remaining = cell(&results, row, "remaining_hosts");
        assert_eq!(remaining, if is_whole { "" } else { "2" }, "{:?}", results[row]);
    }
    let points = rows("curves");
    let labels: Vec<String> = (1..points.len()).map(|row| cell(&points, row, "label")).collect();
    assert_eq!(labels, ["1", "2 (2/3 hosts)", "4 (2/3 hosts)"]);
    let intervals = rows("intervals");
    let of_last = (1..intervals.len()).filter(|row| cell(&intervals, *row, "load_point") == "2");
    let hosts: Vec<String> = of_last.map(|row| cell(&intervals, row, "hosts")).collect();
    assert!(!hosts.is_empty() && hosts.iter().all(|count| *count == "2"), "{hosts:?}");
}

/// A comparison has no verdict on it, and a design is not made from it.
fn check_what_uses_a_record(dir: &TestDir) {
    let unwrapped = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let compared = unwrapped(&dir.run(&["compare", "last~1", "last", "--full"]).stdout);
    for words in ["(B: 2/3 hosts)", "B lost hosts in 2 of 3 load points"] {
        assert!(compared.contains(words), "`{words}` in {compared}");
    }
    let sized = dir.run(&["size", "--from-run", "last"]);
    assert_eq!(sized.code, Some(2), "{sized:?}");
    let why = unwrapped(&sized.stderr);
    assert!(why.contains("those of fewer hosts") && is_labelled(&why), "{why}");
}
