//! Streams that begin and end within a run, under virtual time: exact counts, and what results cover.

use analysis::load_point::Summary;
use analysis::{Findings, analyze};
use sim::simulate;
use sim::storage::Model;
use workload::active_time::ActiveTime;
use workload::arrival::{Arrival, Process};
use workload::experiment::parse;
use workload::op::OpKind;
use workload::plan::{Stream, TargetSpec};
use workload::rate_schedule::{RateSchedule, Segment, SegmentRate};
use workload::resolve::{ResolveOptions, resolve};

use crate::runs::{CLOSED, MS, S, constant, poisson, run, stream};
use crate::schedules::{counts, issued_ns, poisson_score, stream_of};

const fn time(start_ns: u64, end_ns: Option<u64>) -> ActiveTime {
    ActiveTime { start_ns, end_ns }
}

fn bursts(process: Process) -> Arrival {
    let rate = SegmentRate::Bursts { base: 0.0, burst: 1000.0, period_ns: 5 * S, burst_ns: S };
    let schedule = RateSchedule::try_from(vec![Segment { duration_ns: None, rate }]);
    Arrival::Scheduled { schedule: schedule.expect("it has a rate"), process, part: 1.0 }
}

#[test]
fn a_stream_offers_exactly_the_operations_of_its_time() {
    for workers in [1, 3] {
        let of = |arrival: &Arrival, active| {
            issued_ns(vec![Stream { active, ..stream_of(arrival, workers) }], 60)
        };
        let issued = of(&constant(1000.0), time(10 * S, Some(40 * S)));
        assert!(issued.iter().copied().eq((0..30_000).map(|k| 10 * S + k * MS)), "{workers}");
        // A schedule keeps its phase: of the bursts at 5, 10, 15, 20, 25 s the middle of the first to
        // that of the last.
        let issued =
            of(&bursts(Process::Constant), time(5 * S + 500 * MS, Some(25 * S + 500 * MS)));
        let expected = (0..4000u64).map(|k| {
            let of_schedule = k + 1500;
            of_schedule / 1000 * 5 * S + of_schedule % 1000 * MS
        });
        assert!(issued.iter().copied().eq(expected), "{workers}");
    }
}

/// Each bound is exceeded by 0.5 % of true processes; the seeds are fixed.
#[test]
fn random_arrivals_begin_and_end_with_their_stream() {
    const SCORE_MAX: f64 = 2.8;
    for (arrival, of_second) in [
        (poisson(500.0), (|_| 500.0) as fn(u64) -> f64),
        (bursts(Process::Poisson), |second| if second % 5 == 0 { 1000.0 } else { 0.0 }),
    ] {
        let limited = Stream { active: time(100 * S, Some(900 * S)), ..stream_of(&arrival, 4) };
        let counts = counts(&issued_ns(vec![limited], 1000), 1000);
        let is_active = |second: u64| (100..900).contains(&second);
        let expected: Vec<f64> = (0..1000u64)
            .map(|second| if is_active(second) { of_second(second) } else { 0.0 })
            .collect();
        let outside = counts.iter().zip(&expected).filter(|(_, mean)| **mean == 0.0);
        assert_eq!(outside.map(|(count, _)| *count).sum::<f64>(), 0.0, "{arrival}");
        let score = poisson_score(&counts, &expected);
        assert!(score.abs() < SCORE_MAX, "{arrival}: {score}");
        // The test can fail: a stream that begins a tenth of its time late.
        let late: Vec<f64> =
            (0..1000).map(|second| if second < 180 { 0.0 } else { counts[second] }).collect();
        assert!(poisson_score(&late, &expected) > SCORE_MAX, "{arrival}");
    }
}

#[test]
fn a_closed_loop_begins_and_ends_with_its_stream() {
    let thinking = Arrival::Closed { think_time_ns: MS };
    for (arrival, cycle_ms) in [(CLOSED, 1), (thinking, 2)] {
        let limited = Stream { active: time(10 * S, Some(40 * S)), ..stream(arrival, 4) };
        let record = simulate(&run(vec![limited], 60 * S, S), &Model::fixed(MS), 1);
        for interval in &record.intervals {
            let is_active = (10..40).contains(&interval.index);
            let expected = if is_active { 4 * 1000 / cycle_ms } else { 0 };
            assert_eq!(interval.streams[0].issued, expected, "{}", interval.index);
        }
    }
}

const TEXT: &str = "
name = 'phases'
[run]
warm_up = '5s'
measure = '60s'
[stream.reads]
read = '100%'
transfer_size = '8KiB'
pattern = 'random'
file_size = '1GiB'
queue_depth = 64
arrival = { constant = '500/s' }
[stream.log]
read = '0%'
transfer_size = '64KiB'
pattern = 'sequential'
file_size = '1GiB'
queue_depth = 64
arrival = { constant = '1000/s' }
start = '20s'
end = '50s'
";

fn findings(text: &str) -> Findings {
    let experiment = parse(text, "phases.toml").expect("it is an experiment");
    let plan = resolve(&experiment, "phases.toml", TargetSpec::Null, &ResolveOptions::LOCAL);
    let plan = plan.expect("it can be executed");
    // Operations take no time, so that counts are exact.
    analyze(&sim::experiment(&plan, &Model::fixed(0), 3))
}

fn merged(findings: &Findings) -> &Summary {
    &findings.load_points[0].merged
}

#[test]
fn a_stream_has_the_results_of_its_time_and_a_total_those_of_the_common_time() {
    let findings = findings(TEXT);
    let Summary { total, streams, .. } = merged(&findings);
    let [reads, log] = &streams[..] else { panic!("{streams:?}") };
    assert_eq!((reads.covers.clone(), reads.intervals, reads.data.completed), (None, 60, 30_000));
    let own = Some(20 * S..50 * S);
    assert_eq!((log.covers.clone(), log.intervals, log.data.completed), (own, 30, 30_000));
    assert_eq!(log.data.response.samples, 30_000);
    let rates = |summary: &analysis::load_point::StreamSummary| {
        let achieved = summary.data.achieved_rate.map(|rate| rate.value);
        (summary.offered_rate.map(|rate| rate.get()), achieved)
    };
    assert_eq!(rates(reads), (Some(500.0), Some(500.0)));
    assert_eq!(rates(log), (Some(1000.0), Some(1000.0)));
    assert_eq!(rates(total), (Some(1500.0), Some(1500.0)));
    assert_eq!((total.covers.clone(), total.data.completed), (Some(20 * S..50 * S), 45_000));
    assert_eq!((log.overload, reads.overload, total.overload), (None, None, None));
    // The only load was met, and a verdict on the total exists.
    assert!(findings.answers().next().is_some());
    let codes: Vec<&str> = findings.warnings.iter().map(|group| group.code).collect();
    for code in ["not_steady", "rounds_differ", "outlier_intervals", "window_too_short"] {
        assert!(!codes.contains(&code), "{codes:?}");
    }
}

#[test]
fn streams_that_are_never_active_together_have_no_total() {
    let text = TEXT.replace("{ constant = '500/s' }", "{ constant = '500/s' }\nend = '20s'");
    let text = text.replace("end = '50s'", "");
    let findings = findings(&text);
    let Summary { total, streams, .. } = merged(&findings);
    assert_eq!((total.intervals, total.data.completed, total.data.achieved_rate), (0, 0, None));
    assert!(total.covers.as_ref().is_some_and(|time| time.is_empty()), "{:?}", total.covers);
    let completed: Vec<u64> = streams.iter().map(|stream| stream.data.completed).collect();
    assert_eq!(completed, [500 * 15, 1000 * 45]);
    assert!(findings.answers().next().is_none());
}

#[test]
fn repeats_of_a_stream_that_begins_late_are_added_up_over_its_time() {
    let findings = findings(&TEXT.replace("measure = '60s'", "measure = '60s'\nrepeats = 3"));
    let Summary { total, streams, .. } = merged(&findings);
    let completed = |of: &analysis::load_point::StreamSummary| of.data.completed;
    assert_eq!(streams.iter().map(completed).collect::<Vec<_>>(), [90_000, 90_000]);
    assert_eq!((completed(total), streams[1].intervals), (135_000, 90));
    let kinds: Vec<u64> = streams[1].kinds.iter().map(|kind| kind.completed).collect();
    assert_eq!((kinds, streams[1].kinds[0].name), (vec![90_000], OpKind::Write.name()));
}
