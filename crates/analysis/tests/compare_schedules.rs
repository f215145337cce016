//! Comparisons of single runs whose offered rate changes by plan: the planned changes are no noise.

use crate::records::{SECOND_NS, done, experiment, reads, run, stream};
use analysis::compare::figure::Figure;
use analysis::compare::figures::{Basis, FigureComparison, InconclusiveCause, Verdict};
use analysis::compare::side::Side;
use analysis::compare::{Options, compare};
use metrics::run_record::ExperimentRecord;
use workload::arrival::{Arrival, Process};
use workload::rate_schedule::{RateSchedule, Segment, SegmentRate};

const SECONDS: u64 = 30;

/// Reads at the rates of a schedule, whose times grow with the load and are `slower` by this share.
fn record(rate: SegmentRate, seconds: Option<u64>, slower: f64) -> ExperimentRecord {
    let duration_ns = seconds.map(|seconds| seconds * SECOND_NS);
    let schedule = RateSchedule::try_from(vec![Segment { duration_ns, rate }]);
    let schedule = schedule.expect("it offers operations");
    let second = |second: u64| {
        let count = schedule.mean_rate(second * SECOND_NS, (second + 1) * SECOND_NS).round() as u64;
        reads(count, 8192, ((100_000 + 100 * count) as f64 * (1.0 + slower)) as u64)
    };
    let seconds = (0..SECONDS).map(second).collect();
    let mut data = stream("data", 8);
    let (process, part) = (Process::Constant, 1.0);
    data.arrival = Arrival::Scheduled { schedule: schedule.clone(), process, part };
    experiment(vec![done(run("scheduled", vec![data], 0, SECONDS), seconds)])
}

fn figure(first: &ExperimentRecord, second: &ExperimentRecord, of: Figure) -> FigureComparison {
    let sides = [Side::of(first), Side::of(second)];
    let comparison = compare(&sides, &Options::default());
    let found = comparison.pairs[0].figures().find(|(_, _, figure)| figure.figure == of);
    found.expect("it is compared").2.clone()
}

const BURSTS: SegmentRate = SegmentRate::Bursts {
    base: 100.0,
    burst: 1000.0,
    period_ns: 5 * SECOND_NS,
    burst_ns: SECOND_NS,
};

#[test]
fn planned_changes_of_a_rate_that_repeats_are_not_noise() {
    let (first, second) = (record(BURSTS, None, 0.0), record(BURSTS, None, 0.05));
    for of in [Figure::AchievedRate, Figure::ResponseMean] {
        let found = figure(&first, &second, of);
        assert_eq!(found.basis, Basis::WithinRuns);
        let ratio = found.ratio.expect("both were measured");
        // Every period is the same.
        assert!(ratio.high - ratio.low < 0.001, "{of:?}: {ratio:?}");
    }
    let found = figure(&first, &second, Figure::ResponseMean);
    assert_eq!(found.verdict, Verdict::CannotTell(InconclusiveCause::SingleRunsDiffer));
}

#[test]
fn single_runs_whose_rate_does_not_repeat_are_not_compared_and_the_cause_is_named() {
    let ramp = SegmentRate::Ramp { from: 100.0, to: 1000.0 };
    let (first, second) = (record(ramp.clone(), Some(60), 0.0), record(ramp, Some(60), 0.05));
    for of in [Figure::AchievedRate, Figure::ResponseMean] {
        let found = figure(&first, &second, of);
        assert_eq!(found.verdict, Verdict::CannotTell(InconclusiveCause::ChangesByPlan));
        assert!(found.first.is_some() && found.second.is_some(), "values are shown");
    }
    // A period that is not seen at least five times.
    let slow = SegmentRate::Bursts {
        base: 100.0,
        burst: 1000.0,
        period_ns: 10 * SECOND_NS,
        burst_ns: SECOND_NS,
    };
    let found =
        figure(&record(slow.clone(), None, 0.0), &record(slow, None, 0.0), Figure::ResponseMean);
    assert_eq!(found.verdict, Verdict::CannotTell(InconclusiveCause::ChangesByPlan));
}
