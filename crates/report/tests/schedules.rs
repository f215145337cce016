//! Offered rates that change by plan, in every output, and why such a load has no verdict.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use crate::fixture::records::{done, experiment, interval, kind, reads, run, stream};
use analysis::analyze;
use analysis::curve::Missing;
use metrics::interval::StreamInterval;
use metrics::run_record::ExperimentRecord;
use report::drawing::theme::Theme;
use report::glance::{self, Layout};
use report::intervals::{Format, write};
use report::look::Look;
use report::pictures::pictures;
use report::{html, json, markdown, text};
use workload::active_time::ActiveTime;
use workload::arrival::{Arrival, Process};
use workload::op::OpKind;
use workload::rate_schedule::{RateSchedule, Segment, SegmentRate};

const S: u64 = 1_000_000_000;

/// A log with 1,000 writes in the first of five seconds, next to 500 reads each second, for ten
/// seconds.
fn bursts(reads_offered: Option<f64>) -> ExperimentRecord {
    let mut log = stream("log", 8);
    log.read_permille = 0;
    let rate = SegmentRate::Bursts { base: 0.0, burst: 1000.0, period_ns: 5 * S, burst_ns: S };
    let schedule = RateSchedule::try_from(vec![Segment { duration_ns: None, rate }]).unwrap();
    log.arrival = Arrival::Scheduled { schedule, process: Process::Constant, part: 1.0 };
    let mut data = stream("data", 8);
    if let Some(offered_rate) = reads_offered {
        data.arrival = Arrival::Constant { offered_rate };
    }
    let second = |second: u32| {
        let mut writes = StreamInterval::default();
        if second.is_multiple_of(5) {
            writes.kinds[OpKind::Write as usize] = kind(1000, 65_536, 200_000, 300_000);
            writes.outstanding_time_ns = 200_000_000;
        }
        interval(second, vec![reads(500, 8192, 100_000), writes])
    };
    let mut record = done(run("bursts", vec![data, log], 0, 10), Vec::new());
    // Nothing was swept.
    record.run.parameters.clear();
    record.intervals = (0..10).map(second).collect();
    experiment(vec![record])
}

#[test]
fn a_rate_that_changes_by_plan_has_its_mean_and_the_reason_for_no_verdict() {
    let findings = analyze(&bursts(Some(500.0)));
    let log = &findings.load_points[0].merged.streams[1];
    assert_eq!(log.offered_rate.unwrap().get(), 200.0);
    assert_eq!(log.data.achieved_rate.unwrap().value, 200.0);
    let reason = "No verdict: the offered rate changes by plan, and a verdict needs a steady load.";
    for shown in [text::summary(&findings, 200), html::render(&findings).unwrap()] {
        assert!(shown.contains(reason), "{shown}");
    }
    let mut exported = Vec::new();
    json::write(&findings, &mut exported).unwrap();
    let exported: serde_json::Value = serde_json::from_slice(&exported).unwrap();
    let streams = &exported["load_points"][0]["merged"]["streams"];
    assert_eq!(streams[1]["offered_rate_varies"], true, "{streams:#}");
    assert_eq!(streams[0]["offered_rate_varies"], serde_json::Value::Null);
}

#[test]
fn a_closed_loop_next_to_offered_rates_has_the_reason_for_no_verdict() {
    let mut record = bursts(None);
    record.runs[0].run.streams[1].arrival = Arrival::Constant { offered_rate: 200.0 };
    let shown = text::summary(&analyze(&record), 200);
    let reason = "No verdict: a closed loop ran next to offered rates, so there is no single load.";
    assert!(shown.contains(reason), "{shown}");
    assert!(!shown.contains("complete interval"), "{shown}");
}

#[test]
fn the_chart_over_time_has_the_offered_rate_of_open_streams() {
    let findings = analyze(&bursts(Some(500.0)));
    let drawn = pictures(&[&findings], Theme::Light);
    let over_time: Vec<&str> = drawn
        .iter()
        .filter(|picture| picture.name.contains("time"))
        .map(|picture| picture.svg.as_str())
        .collect();
    for name in ["log, offered", "data, offered"] {
        assert!(over_time.iter().any(|svg| svg.contains(name)), "{over_time:?}");
    }
    let closed = analyze(&bursts(None));
    let drawn = pictures(&[&closed], Theme::Light);
    assert!(!drawn.iter().any(|picture| picture.svg.contains("data, offered")));
}

#[test]
fn each_interval_has_its_offered_rate() {
    let mut out = Vec::new();
    write(&mut [bursts(None)].into_iter(), Format::Csv, &mut out).unwrap();
    let file = String::from_utf8(out).unwrap();
    let rows: Vec<Vec<&str>> = file.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|one| *one == name).unwrap();
    let (stream, offered) = (column("stream"), column("offered_rate_ops_per_sec"));
    let of = |name: &str| -> Vec<&str> {
        rows[1..].iter().filter(|row| row[stream] == name).map(|row| row[offered]).collect()
    };
    let expected: Vec<&str> =
        (0..10).map(|second| if second % 5 == 0 { "1000" } else { "0" }).collect();
    assert_eq!(of("log"), expected);
    assert!(of("data").iter().all(|cell| cell.is_empty()), "a closed loop offers no rate");
}

/// Every output of a record as text: terminal, glance, page, Markdown, captions of pictures, JSON.
fn outputs(record: &ExperimentRecord) -> Vec<(&'static str, String)> {
    let findings = analyze(record);
    let mut exported = Vec::new();
    json::write(&findings, &mut exported).unwrap();
    let layout = Layout { width: 120, lines_max: 60, look: Look::default() };
    let drawn = pictures(&[&findings], Theme::Light);
    let captions: Vec<String> =
        drawn.iter().map(|one| format!("{}: {}\n", one.title, one.caption)).collect();
    vec![
        ("text", text::summary(&findings, 200)),
        ("glance", glance::text(&findings, layout).unwrap()),
        ("page", html::render(&findings).unwrap()),
        ("markdown", markdown::render(&findings)),
        ("pictures", captions.concat()),
        ("json", String::from_utf8(exported).unwrap()),
    ]
}

/// Reads at a constant rate of 500 operations per second, with a queue depth that no sentence may name.
fn constant_reads() -> ExperimentRecord {
    let mut data = stream("data", 37);
    data.arrival = Arrival::Constant { offered_rate: 500.0 };
    let second = |second: u32| interval(second, vec![reads(500, 8192, 100_000)]);
    let mut record = done(run("steady reads", vec![data], 0, 10), Vec::new());
    // Nothing was swept.
    record.run.parameters.clear();
    record.intervals = (0..10).map(second).collect();
    experiment(vec![record])
}

#[test]
fn a_single_offered_rate_is_reported_as_one_and_not_as_a_queue_depth_or_a_sweep() {
    for (name, shown) in outputs(&constant_reads()) {
        for wrong in
            ["queue depth 37", "QD 37", "Highest throughput", "fell although", "highest rate"]
        {
            let is_definition = wrong == "highest rate" && matches!(name, "page" | "markdown");
            assert!(is_definition || !shown.contains(wrong), "{name}: {wrong}\n{shown}");
        }
        let load = match name {
            "json" => "\"axis\": \"offered rate\"",
            "pictures" => "offered rate",
            _ => "500 ops/s",
        };
        assert!(shown.contains(load), "{name}\n{shown}");
    }
    let findings = analyze(&constant_reads());
    let shown = text::summary(&findings, 200);
    assert!(shown.contains("at offered rate 500 ops/s"), "{shown}");
    assert!(shown.contains("the offered rate of 500 ops/s was met"), "{shown}");
    assert!(shown.contains("More throughput needs a higher offered rate"), "{shown}");
}

#[test]
fn changing_and_mixed_loads_are_named_as_such() {
    let changing = text::summary(&analyze(&bursts(Some(500.0))), 200);
    assert!(changing.contains("at offered rate 700 ops/s (mean)"), "{changing}");
    let mixed = text::summary(&analyze(&bursts(None)), 200);
    assert!(mixed.contains("at mixed load"), "{mixed}");
    for shown in [changing, mixed] {
        assert!(!shown.contains("at queue depth"), "{shown}");
        assert!(!shown.contains("nothing was measured"), "{shown}");
    }
    let curve = &analyze(&bursts(Some(500.0))).curves[0];
    assert_eq!(curve.plateau.as_ref().unwrap_err(), &Missing::RateVaries);
}

#[test]
fn results_of_a_stream_that_begins_late_name_the_time_that_they_cover() {
    let mut record = constant_reads();
    let late = &mut record.runs[0];
    let mut second = late.run.streams[0].clone();
    second.name = "late".to_owned();
    second.active = ActiveTime { start_ns: 4 * S, end_ns: None };
    late.run.streams.push(second);
    for interval in &mut late.intervals {
        let count = if interval.index < 4 { 0 } else { 500 };
        interval.streams.push(reads(count, 8192, 100_000));
    }
    let covered = "cover 4s to 10s of the run, the time in which all streams are active";
    for (name, shown) in outputs(&record) {
        match name {
            "pictures" => {}
            "json" => assert!(shown.contains("\"start_ns\": 4000000000"), "{shown}"),
            _ => assert!(shown.contains(covered), "{name}: {shown}"),
        }
    }
    let findings = analyze(&record);
    let tables = report::results::tables(&findings);
    let captions: Vec<&str> = tables.iter().map(|table| table.caption.as_str()).collect();
    assert_eq!(
        captions,
        [
            "steady reads: all streams (4s to 10s)",
            "steady reads: data",
            "steady reads: late (4s to 10s)"
        ]
    );
    let loads: Vec<&str> = tables.iter().map(|table| table.rows[0][0].as_str()).collect();
    assert_eq!(loads, ["1,000 ops/s", "500 ops/s", "500 ops/s"]);
    // Never together: no total, and every output says so.
    record.runs[0].run.streams[0].active = ActiveTime { start_ns: 0, end_ns: Some(4 * S) };
    for (name, shown) in outputs(&record) {
        if matches!(name, "text" | "glance" | "page" | "markdown") {
            assert!(shown.contains("at no time are all streams active"), "{name}: {shown}");
        }
    }
}
