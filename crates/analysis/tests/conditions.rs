//! Conditions on records with known numbers: failed, passed, and each reason to be inconclusive.

use analysis::analyze;
use analysis::condition::{Answer, Cause, Judged, judge};
use metrics::histogram::{bucket_high_ns, bucket_low_ns, bucket_of};
use metrics::run_record::{ExperimentRecord, RunRecord};
use workload::arrival::Arrival;
use workload::condition::{Comparison, Condition, Metric, parse_requirement};
use workload::op::OpKind;

use crate::records::{done, experiment, kind, reads, run, stream};

const MS: f64 = 1e6;

fn condition(metric: Metric, comparison: Comparison, bound: f64) -> Condition {
    Condition {
        is_requirement: false,
        text: "as written".to_owned(),
        scope: None,
        kind: None,
        metric,
        comparison,
        bound,
    }
}

/// Six measured seconds; second `n` completes `rates[n % 2]` reads of `service_ns`.
fn point(queue_depth: u32, rates: [u64; 2], service_ns: u64) -> RunRecord {
    let seconds = (0..7usize).map(|second| reads(rates[second % 2], 8192, service_ns));
    done(run("random read 8 KiB", vec![stream("data", queue_depth)], 1, 6), seconds.collect())
}

/// Queue depth 1: 1,000 reads per second of 1 ms; queue depth 4: 2,000 of 2 ms.
fn two_points() -> ExperimentRecord {
    experiment(vec![point(1, [1000, 1000], 1_000_000), point(4, [2000, 2000], 2_000_000)])
}

fn judged(record: &ExperimentRecord, condition: &Condition) -> Judged {
    judge(&analyze(record), condition)
}

#[test]
fn the_worst_load_point_decides_and_is_named() {
    let record = two_points();
    let failed = judged(&record, &condition(Metric::Mean, Comparison::Above, 0.5 * MS));
    assert_eq!(failed.answer, Answer::Failed { load_points: 2 });
    assert_eq!((failed.load_points, failed.window_ns), (2, 12_000_000_000));
    let worst = failed.worst.expect("a load point decides");
    assert_eq!((worst.load_point, worst.value), (1, Some(2.0 * MS)));

    let one = judged(&record, &condition(Metric::Mean, Comparison::Above, 1.5 * MS));
    assert_eq!(one.answer, Answer::Failed { load_points: 1 });

    let passed = judged(&record, &condition(Metric::Iops, Comparison::Below, 900.0));
    assert_eq!(passed.answer, Answer::Passed);
    let worst = passed.worst.expect("the closest load point is named");
    assert_eq!((worst.load_point, worst.value), (0, Some(1000.0)));

    let rate = judged(&record, &condition(Metric::Throughput, Comparison::AtMost, 8192e3));
    assert_eq!(rate.answer, Answer::Failed { load_points: 1 });
}

#[test]
fn an_interval_that_includes_the_bound_is_inconclusive() {
    let record = experiment(vec![point(1, [900, 1100], 1_000_000)]);
    let rate = |bound: f64| judged(&record, &condition(Metric::Iops, Comparison::Below, bound));
    let overlapping = rate(1000.0);
    assert_eq!(overlapping.answer, Answer::CannotTell(Cause::IncludesBound));
    let [low, high] = overlapping.worst.and_then(|worst| worst.interval).expect("an interval");
    assert!(low < 1000.0 && 1000.0 < high, "{low}..{high}");
    assert_eq!(rate(low).answer, Answer::Passed);
    assert_eq!(rate(high + 1.0).answer, Answer::Failed { load_points: 1 });
}

#[test]
fn a_bound_inside_the_bucket_of_a_percentile_is_inconclusive() {
    let record = two_points();
    let bucket = bucket_of(1_000_000);
    let [low, high] = [bucket_low_ns(bucket), bucket_high_ns(bucket)].map(|ns| ns as f64);
    assert!(low < high);
    let fails_below =
        |bound: f64| judged(&record, &condition(Metric::P99, Comparison::Below, bound));
    assert_eq!(fails_below(low).answer, Answer::Passed);
    assert_eq!(fails_below((low + high) / 2.0).answer, Answer::CannotTell(Cause::IncludesBound));
    assert_eq!(fails_below(high + 1.0).answer, Answer::Failed { load_points: 1 });
}

#[test]
fn a_requirement_passes_where_the_condition_with_its_text_fails() {
    let record = two_points();
    for (text, is_met) in [("mean < 3ms", true), ("mean < 1ms", false), ("iops >= 900", true)] {
        let required = parse_requirement(text).expect("it is a requirement");
        let answer = judged(&record, &required).answer;
        assert_eq!(answer == Answer::Passed, is_met, "{text}: {answer:?}");
        assert_eq!(matches!(answer, Answer::Failed { .. }), !is_met, "{text}: {answer:?}");
    }
}

#[test]
fn achieved_is_the_share_of_the_offered_rate_and_not_measured_in_a_closed_loop() {
    let mut offered = point(64, [950, 950], 1_000_000);
    offered.run.streams[0].arrival = Arrival::Constant { offered_rate: 1000.0 };
    let record = experiment(vec![offered]);
    let required = |text: &str| judged(&record, &parse_requirement(text).expect("it is one"));
    let met = required("achieved >= 94%");
    assert_eq!(met.answer, Answer::Passed);
    assert_eq!(met.worst.and_then(|worst| worst.value), Some(0.95));
    assert_eq!(required("achieved >= 96%").answer, Answer::Failed { load_points: 1 });
    let of_kind = required("read.achieved >= 94%");
    assert_eq!(of_kind.answer, Answer::CannotTell(Cause::NoOfferedRate));
    let closed = parse_requirement("achieved >= 94%").expect("it is one");
    let closed = judged(&two_points(), &closed);
    assert_eq!(closed.answer, Answer::CannotTell(Cause::NoOfferedRate));
}

#[test]
fn missing_data_is_inconclusive_and_never_passes() {
    let record = two_points();
    let other = Condition {
        scope: Some("sequential".to_owned()),
        ..condition(Metric::Mean, Comparison::Above, MS)
    };
    assert_eq!(judged(&record, &other).answer, Answer::CannotTell(Cause::NothingMatches));
    let writes =
        Condition { kind: Some(OpKind::Write), ..condition(Metric::Mean, Comparison::Above, MS) };
    assert_eq!(judged(&record, &writes).answer, Answer::CannotTell(Cause::NothingMatches));

    // 6 x 100 operations have no 99.9th percentile with ten samples above it.
    let small = experiment(vec![point(1, [100, 100], 1_000_000)]);
    let tail = judged(&small, &condition(Metric::P999, Comparison::Above, MS));
    assert_eq!(tail.answer, Answer::CannotTell(Cause::TooFewSamples));

    // Two intervals give a mean without an interval.
    let seconds = (0..3).map(|_| reads(1000, 8192, 1_000_000));
    let short = run("random read 8 KiB", vec![stream("data", 1)], 1, 2);
    let short = experiment(vec![done(short, seconds.collect())]);
    let mean = judged(&short, &condition(Metric::Mean, Comparison::Above, 2.0 * MS));
    assert_eq!(mean.answer, Answer::CannotTell(Cause::NoInterval));
    assert_eq!(mean.worst.and_then(|worst| worst.value), Some(MS));

    // Ended before its window.
    let none = run("random read 8 KiB", vec![stream("data", 1)], 1, 6);
    let none = experiment(vec![done(none, vec![reads(1000, 8192, 1_000_000)])]);
    let nothing = judged(&none, &condition(Metric::Errors, Comparison::Above, 0.0));
    assert_eq!(nothing.answer, Answer::CannotTell(Cause::NotMeasured));

    // A load point that fails decides, even if another is inconclusive.
    let mixed =
        experiment(vec![point(1, [100, 100], 1_000_000), point(4, [20_000, 20_000], 2_000_000)]);
    let tail = judged(&mixed, &condition(Metric::P999, Comparison::Above, MS));
    assert_eq!(tail.answer, Answer::Failed { load_points: 1 });
}

#[test]
fn kinds_and_streams_are_judged_separately_and_counts_are_exact() {
    let both = |_| {
        let mut interval = reads(1000, 8192, 1_000_000);
        interval.kinds[OpKind::Write as usize] = kind(500, 8192, 4_000_000, 4_000_000);
        interval.kinds[OpKind::Write as usize].failed[0] = 1;
        interval.issued = 1501;
        interval
    };
    let mut mixed = stream("data", 8);
    mixed.read_permille = 667;
    let record = experiment(vec![done(run("oltp", vec![mixed], 1, 6), (0..7).map(both).collect())]);
    let mean = condition(Metric::Mean, Comparison::Above, 3.0 * MS);
    let of = |kind| judged(&record, &Condition { kind, ..mean.clone() }).answer;
    assert_eq!(of(Some(OpKind::Read)), Answer::Passed);
    assert_eq!(of(Some(OpKind::Write)), Answer::Failed { load_points: 1 });
    assert_eq!(of(None), Answer::Passed);
    for scope in ["oltp", "data"] {
        let scope = Some(scope.to_owned());
        let of_scope = Condition { scope, kind: Some(OpKind::Write), ..mean.clone() };
        assert_eq!(judged(&record, &of_scope).answer, Answer::Failed { load_points: 1 });
    }
    let errors = |bound| judged(&record, &condition(Metric::Errors, Comparison::Above, bound));
    assert_eq!(errors(5.0).answer, Answer::Failed { load_points: 1 });
    assert_eq!(errors(5.0).worst.and_then(|worst| worst.value), Some(6.0));
    assert_eq!(errors(6.0).answer, Answer::Passed);
    let max = condition(Metric::Max, Comparison::AtLeast, 4.0 * MS);
    assert_eq!(judged(&record, &max).answer, Answer::Failed { load_points: 1 });
}

#[test]
fn every_kind_that_occurred_can_be_judged_and_others_cannot() {
    let interval = |_| {
        let mut interval = reads(0, 0, 0);
        interval.kinds[OpKind::Create] = kind(100, 4096, 6_000_000, 6_000_000);
        interval.kinds[OpKind::Stat] = kind(900, 0, 1_000_000, 1_000_000);
        interval.issued = 1000;
        interval
    };
    let stream = stream("home", 8);
    let record =
        experiment(vec![done(run("users", vec![stream], 1, 6), (0..7).map(interval).collect())]);
    let of = |kind| {
        let mean = condition(Metric::Mean, Comparison::Above, 5.0 * MS);
        judged(&record, &Condition { kind, ..mean }).answer
    };
    assert_eq!(of(Some(OpKind::Create)), Answer::Failed { load_points: 1 });
    assert_eq!(of(Some(OpKind::Stat)), Answer::Passed);
    // (100 x 6 ms + 900 x 1 ms) / 1,000 = 1.5 ms.
    assert_eq!(of(None), Answer::Passed);
    let unlinks = of(Some(OpKind::Unlink));
    assert!(!matches!(unlinks, Answer::Passed | Answer::Failed { .. }), "{unlinks:?}");
}
