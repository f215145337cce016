//! Load points whose totals are those of fewer hosts are labelled, and no conclusion rests on them.

use crate::records::{done, experiment, reads, run, stream};
use analysis::condition::{Answer, Cause, judge};
use analysis::curve::Missing;
use analysis::curve::plateau::{Reason, State};
use analysis::fleet::MissingHosts;
use analysis::headline::Headline;
use analysis::measured_load::{BestBy, best_of_each};
use analysis::{Findings, analyze, search};
use metrics::fleet::{HostEvent, HostRun};
use metrics::run_record::RunRecord;
use workload::condition::{Comparison, Condition, Metric};
use workload::search::{OfferedRates, QueueDepthLadder, Repeats, Search, SearchMethod};

/// Six seconds of 8 KiB reads at a queue depth; rate and time obey Little's law.
fn closed(queue_depth: u32, rate: u64) -> RunRecord {
    let service_ns = u64::from(queue_depth) * 1_000_000_000 / rate;
    let window = (0..6).map(|_| reads(rate, 8192, service_ns)).collect();
    done(run("read", vec![stream("data", queue_depth)], 0, 6), window)
}

/// The same measured by two hosts, of which one was lost after 2 s.
fn without_a_host(record: RunRecord) -> RunRecord {
    let lost =
        HostEvent::Lost { at_ns: 2_000_000_000, why: "killed".to_owned(), others_continued: true };
    let remaining = HostRun { intervals: record.intervals.clone(), events: Vec::new() };
    let lost = HostRun { intervals: record.intervals[..2].to_vec(), events: vec![lost] };
    RunRecord { hosts: vec![remaining, lost], ..record }
}

/// 1 ms alone, at most 8,000 ops/s.
fn bottleneck(queue_depths: &[u32]) -> Vec<RunRecord> {
    queue_depths.iter().map(|n| closed(*n, (u64::from(*n) * 1000).min(8000))).collect()
}

fn labels(findings: &Findings) -> Vec<&str> {
    findings.curves[0].points.iter().map(|point| point.label.as_str()).collect()
}

#[test]
fn no_conclusion_rests_on_a_total_of_fewer_hosts() {
    let mut records = bottleneck(&[1, 2, 4, 8, 16, 32]);
    let whole = analyze(&experiment(records.clone()));
    // Faster than all others, and beyond the plateau.
    records.push(without_a_host(closed(64, 20_000)));
    let findings = analyze(&experiment(records));
    let missing = MissingHosts { remaining: 1, of: 2, from_ns: 2_000_000_000 };
    assert_eq!(findings.load_points[6].missing_hosts, Some(missing));
    assert_eq!(labels(&findings), ["1", "2", "4", "8", "16", "32", "64 (1/2 hosts)"]);
    let (before, after) = (&whole.curves[0], &findings.curves[0]);
    assert_eq!(after.points[6].sample, None);
    assert_eq!(
        (after.most, &after.plateau, &after.floor),
        (before.most, &before.plateau, &before.floor)
    );
    assert_eq!((&after.knees, &after.fits), (&before.knees, &before.fits));
    assert_eq!(after.plateau.as_ref().unwrap().state, State::Reached(Reason::Flat));
    assert_eq!(findings.summary.curves, whole.summary.curves);
    assert_eq!(findings.verdicts[0].answer, whole.verdicts[0].answer);
    assert_eq!(Headline::of(&findings), Headline::of(&whole));
    assert_eq!(
        best_of_each(&findings, BestBy::Throughput),
        best_of_each(&whole, BestBy::Throughput)
    );
}

#[test]
fn a_curve_without_a_whole_load_point_has_a_labelled_peak_and_no_verdict() {
    let records = bottleneck(&[1, 4, 16]).into_iter().map(without_a_host).collect();
    let findings = analyze(&experiment(records));
    let curve = &findings.curves[0];
    assert_eq!(labels(&findings), ["1 (1/2 hosts)", "4 (1/2 hosts)", "16 (1/2 hosts)"]);
    assert_eq!(curve.most, Some(2), "a table needs a peak");
    assert_eq!(findings.summary.curves.len(), 1);
    assert_eq!(curve.plateau, Err(Missing::HostsLost));
    assert_eq!(curve.floor, Err(Missing::HostsLost));
    assert!(curve.knees.is_err() && curve.fits.is_err());
    assert!(findings.verdicts.is_empty(), "{:#?}", findings.verdicts);
    assert_eq!(Headline::of(&findings), Headline::default());
    assert!(best_of_each(&findings, BestBy::Operations).is_empty());
}

#[test]
fn a_curve_of_all_hosts_is_preferred_to_a_faster_one_of_fewer() {
    let parameter = |mut record: RunRecord, workers: &str| {
        record.run.parameters.push(("workers".to_owned(), workers.to_owned()));
        record
    };
    let slow = bottleneck(&[1, 4, 16]).into_iter().map(|record| parameter(record, "1"));
    let fast = [1, 4, 16].map(|depth| parameter(without_a_host(closed(depth, 9_000)), "2"));
    let findings = analyze(&experiment(slow.chain(fast).collect()));
    assert_eq!(findings.curves.len(), 2);
    let best: Vec<(usize, f64)> =
        findings.summary.curves.iter().map(|one| (one.curve, one.rate.value)).collect();
    assert_eq!(best, [(0, 8_000.0)]);
}

#[test]
fn no_condition_is_judged_by_a_total_of_fewer_hosts() {
    let condition = |bound: f64| Condition {
        is_requirement: false,
        text: "iops < bound".to_owned(),
        scope: None,
        kind: None,
        metric: Metric::Iops,
        comparison: Comparison::Below,
        bound,
    };
    let mut records = bottleneck(&[1, 8]);
    records.push(without_a_host(closed(16, 2_000)));
    let findings = analyze(&experiment(records));
    // Met and not met by the host that remained.
    for bound in [500.0, 5_000.0] {
        let records = vec![without_a_host(closed(16, 2_000))];
        let judged = judge(&analyze(&experiment(records)), &condition(bound));
        assert_eq!(judged.answer, Answer::CannotTell(Cause::HostsLost), "{bound}");
    }
    let judged = judge(&findings, &condition(1_500.0));
    assert_eq!(judged.answer, Answer::Failed { load_points: 1 }, "by the first, of all hosts");
    let judged = judge(&findings, &condition(900.0));
    assert_eq!(judged.answer, Answer::CannotTell(Cause::HostsLost));
    assert_eq!(judged.worst.map(|worst| worst.load_point), Some(2));
}

#[test]
fn a_curve_ends_when_a_host_is_lost() {
    let ladder = QueueDepthLadder {
        queue_depth_max: 64,
        step: 2,
        gain_min_permille: 50,
        response_time_max_ns: None,
        refine_max: 0,
    };
    let rates = OfferedRates { ladder: ladder.clone(), load_points: 4, beyond: 1 };
    for method in [SearchMethod::QueueDepth(ladder), SearchMethod::OfferedRate(rates)] {
        let template = run("read", vec![stream("data", 64)], 0, 6);
        let search = Search {
            name: "read".to_owned(),
            template,
            method,
            repeats: Repeats::exactly(3),
            runs_max: 100,
        };
        let mut records = bottleneck(&[1, 2, 4]);
        let points = analyze(&experiment(records.clone())).load_points;
        assert!(search::next(&search, &points).is_some());
        let last = records.pop().expect("there are three");
        records.push(without_a_host(last));
        let points = analyze(&experiment(records)).load_points;
        assert_eq!(search::next(&search, &points), None);
    }
}
