//! Offered rates that change by plan, in every output, and why such a load has no verdict.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use crate::fixture::records::{done, experiment, interval, kind, reads, run, stream};
use analysis::analyze;
use metrics::interval::StreamInterval;
use metrics::run_record::ExperimentRecord;
use report::drawing::theme::Theme;
use report::intervals::{Format, write};
use report::pictures::pictures;
use report::{html, json, text};
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
fn the_chart_over_time_has_the_offered_rate_of_streams_whose_rate_changes() {
    let findings = analyze(&bursts(Some(500.0)));
    let drawn = pictures(&[&findings], Theme::Light);
    let over_time: Vec<&str> = drawn
        .iter()
        .filter(|picture| picture.name.contains("time"))
        .map(|picture| picture.svg.as_str())
        .collect();
    assert!(over_time.iter().any(|svg| svg.contains("log, offered")), "{over_time:?}");
    assert!(!over_time.iter().any(|svg| svg.contains("data, offered")), "its rate is constant");
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
