//! Latency floor, knees, saturation and models in the text, CSV and JSON.

use crate::fixture::records::{done, experiment, reads, run, stream};
use analysis::{Findings, analyze};
use metrics::run_record::ExperimentRecord;
use report::{curves, json, text};

/// A volume of 1 ms and 8,000 ops/s at doubling queue depths.
fn bottleneck_record() -> ExperimentRecord {
    let at = |queue_depth: u32| {
        let rate = u64::from(queue_depth * 1000).min(8000);
        let service_ns = u64::from(queue_depth) * 1_000_000_000 / rate;
        let window = (0..6).map(|_| reads(rate, 8192, service_ns)).collect();
        done(run("random read 8 KiB", vec![stream("data", queue_depth)], 0, 6), window)
    };
    experiment([1, 2, 4, 8, 16, 32, 64].map(at).to_vec())
}

fn bottleneck() -> Findings {
    analyze(&bottleneck_record())
}

#[test]
fn the_text_has_floor_saturation_knees_and_model_of_a_curve() {
    let shown = text::summary(&bottleneck(), 80);
    let from = shown.find("Latency floor, knee and saturation").expect("the section is there");
    let section: Vec<&str> = shown[from..].lines().take_while(|l| !l.is_empty()).collect();
    let expected = "\
Latency floor, knee and saturation
  random read 8 KiB
  - latency floor: mean service time 1.00 ms (median 1.00 ms) with one worker at
    queue depth 1
  - Saturated: throughput is flat from queue depth 8 (8,000 ops/s, 62.50 MiB/s)
    to queue depth 64 (8,000 ops/s, 62.50 MiB/s), while latency rises from
    1.00 ms to 8.00 ms.
  - knee, outstanding: maximum rate/response time 8 (4 to 16); last within twice
    the floor (2.00 ms) 16 (16 to 32); Kneedle 8 (4 to 16); floor x saturation 8
    (8.00 to 8.00)
  - fitted, not measured: fixed delay and throughput limit, unloaded 1.00 ms ±
    0.3 %, capacity 8,000 ops/s ± 0.3 %; it misses the points by 0.0 % (RMS), by
    at most 0.0 % at queue depth 64
  - Little's law: its two sides differ by at most 0.0 %, at queue depth 1";
    assert_eq!(section.join("\n"), expected);
}

#[test]
fn the_floor_of_several_hosts_has_the_load_of_each() {
    let mut record = bottleneck_record();
    for run in &mut record.runs {
        run.run.hosts = 3;
        run.run.streams[0].workers = 3;
    }
    let findings = analyze(&record);
    let section = text::summary(&findings, 200);
    let load = "at queue depth 1 for each host and target";
    let lines: Vec<&str> = section.lines().filter(|line| line.contains(load)).collect();
    assert_eq!(lines.len(), 2, "the summary and the section of the curve: {section}");
    assert!(section.contains(&format!("(median 1.00 ms) {load}")), "{section}");
    assert!(!section.contains("one worker"), "{section}");
}

#[test]
fn the_csv_reference_describes_every_column_of_curves() {
    let page = include_str!("../../../docs/reference/curves.md");
    let described: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .filter_map(|line| line.split('`').nth(1))
        .collect();
    assert_eq!(described, curves::COLUMNS);
    let mut file = Vec::new();
    curves::write_csv(&bottleneck(), &mut file).expect("a vector accepts everything");
    let file = String::from_utf8(file).expect("it is text");
    let rows: Vec<Vec<&str>> = file.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 8);
    assert!(rows.iter().all(|row| row.len() == curves::COLUMNS.len()));
    let column = |name: &str| curves::COLUMNS.iter().position(|c| *c == name).expect("a column");
    let marked = |name: &str| -> Vec<&str> {
        let at_mark = rows[1..].iter().filter(|row| row[column(name)] == "true");
        at_mark.map(|row| row[column("label")]).collect()
    };
    assert_eq!(marked("is_floor"), ["1"]);
    assert_eq!(marked("is_saturation"), ["8"]);
    assert_eq!(marked("is_knee_power"), ["8"]);
    assert_eq!(marked("is_knee_slo"), ["16"]);
    assert!(rows[1..].iter().all(|row| row[column("fitted_model")] == "bounds"));
}

#[test]
fn json_has_the_findings_on_a_curve_or_the_reason_why_one_is_missing() {
    let mut file = Vec::new();
    json::write(&bottleneck(), &mut file).expect("a vector accepts everything");
    let file: serde_json::Value = serde_json::from_slice(&file).expect("it is JSON");
    let curve = &file["curves"][0];
    assert_eq!(curve["load"], "closed");
    assert_eq!(curve["floor"]["service_mean_ns"]["value"], 1e6);
    assert_eq!(curve["saturation"]["reached"], "reached");
    assert_eq!(curve["knees"]["knee_power"]["load"], 8.0);
    assert_eq!(curve["knees"]["objective"]["origin"], "twice_floor");
    assert_eq!(curve["fitted"]["preferred"], "bounds");
    let fitted = &curve["fitted"]["models"][0]["parameters"]["fitted_capacity_ops_per_s"];
    assert!((fitted["value"].as_f64().expect("a number") - 8000.0).abs() < 1.0);
    // A curve of one point has neither knee nor model.
    let mut file = Vec::new();
    let one = analyze(&experiment(vec![done(
        run("read", vec![stream("data", 4)], 0, 6),
        (0..6).map(|_| reads(1000, 8192, 4_000_000)).collect(),
    )]));
    json::write(&one, &mut file).expect("a vector accepts everything");
    let file: serde_json::Value = serde_json::from_slice(&file).expect("it is JSON");
    let curve = &file["curves"][0];
    assert_eq!(
        curve["floor"]["missing"],
        "no load point has queue depth 1 and one worker (for each host and target)"
    );
    assert_eq!(curve["fitted"]["missing"], "1 load point, at least 5 are required");
}
