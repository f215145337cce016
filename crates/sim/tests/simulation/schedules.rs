//! Offered rates that change by plan, and random think times, under virtual time: counts and phases
//! compared with formulas, and closed networks with the machine-repair model.

use analysis::analyze;
use analysis::interval_rows::interval_rows;
use sim::storage::{Demand, Model};
use sim::{simulate, world::simulate_observed};
use statistics::queueing::closed_rate;
use workload::arrival::{Arrival, Process, ThinkTime};
use workload::experiment::parse;
use workload::plan::{Stream, TargetSpec};
use workload::rate_schedule::{RateSchedule, Segment, SegmentRate};
use workload::resolve::{ResolveOptions, resolve};

use crate::runs::{MS, S, assert_near, reads, run, stream};

/// More than ever wait.
const DEPTH: u32 = 4096;

fn scheduled(process: Process, segments: &[(Option<u64>, SegmentRate)]) -> Arrival {
    let segment = |(seconds, rate): &(Option<u64>, SegmentRate)| Segment {
        duration_ns: seconds.map(|seconds| seconds * S),
        rate: rate.clone(),
    };
    let segments: Vec<Segment> = segments.iter().map(segment).collect();
    let schedule = RateSchedule::try_from(segments).expect("it is a schedule");
    Arrival::Scheduled { schedule, process, part: 1.0 }
}

fn bursts(base: f64, burst: f64) -> SegmentRate {
    SegmentRate::Bursts { base, burst, period_ns: 5 * S, burst_ns: S }
}

/// When the operations of streams were issued to a storage that takes no time, in order.
pub(crate) fn issued_ns(streams: Vec<Stream>, seconds: u64) -> Vec<u64> {
    let run = run(streams, seconds * S, S);
    let simulated = simulate_observed(&run, &Model::fixed(0), 1);
    let mut issued: Vec<u64> = simulated.seen.iter().map(|seen| seen.issued_ns).collect();
    issued.sort_unstable();
    issued
}

pub(crate) fn stream_of(arrival: &Arrival, workers: u32) -> Stream {
    Stream { workers, ..stream(arrival.clone(), DEPTH) }
}

/// Operations in each second.
pub(crate) fn counts(issued_ns: &[u64], seconds: u64) -> Vec<f64> {
    let mut counts = vec![0.0; seconds as usize];
    for at in issued_ns.iter().filter(|at| **at < seconds * S) {
        counts[(at / S) as usize] += 1.0;
    }
    counts
}

/// A name, segments, and the integral of their rates.
type Known = (&'static str, Vec<(Option<u64>, SegmentRate)>, fn(f64) -> f64);

/// Schedules of 20 seconds, each with the rate's integral from the start, in closed form.
fn schedules() -> Vec<Known> {
    use std::f64::consts::TAU;
    let constant = |rate| SegmentRate::Constant { rate };
    vec![
        ("steps", vec![(Some(7), constant(2000.0)), (None, constant(9000.0))], |t| {
            2000.0 * t.min(7.0) + 9000.0 * (t - 7.0).max(0.0)
        }),
        ("a ramp", vec![(Some(20), SegmentRate::Ramp { from: 1000.0, to: 5000.0 })], |t| {
            1000.0 * t + 100.0 * t * t
        }),
        (
            "a sine wave",
            vec![(None, SegmentRate::Sine { mean: 4000.0, amplitude: 3000.0, period_ns: 8 * S })],
            |t| 4000.0 * t + 3000.0 * 8.0 / TAU * (1.0 - (TAU * t / 8.0).cos()),
        ),
        ("bursts", vec![(None, bursts(1000.0, 8000.0))], |t| {
            let within = t % 5.0;
            let of_burst = 8000.0 * within.min(1.0) + 1000.0 * (within - 1.0).max(0.0);
            (t / 5.0).floor() * 12_000.0 + of_burst
        }),
        ("steps, repeated", vec![(Some(2), constant(3000.0)), (Some(1), constant(0.0))], |t| {
            (t / 3.0).floor() * 6000.0 + 3000.0 * (t % 3.0).min(2.0)
        }),
    ]
}

#[test]
fn each_interval_has_the_operations_of_the_formula() {
    for (name, segments, formula) in schedules() {
        for workers in [1, 3] {
            let arrival = scheduled(Process::Constant, &segments);
            let counts = counts(&issued_ns(vec![stream_of(&arrival, workers)], 20), 20);
            for (second, count) in counts.iter().enumerate() {
                let from = second as f64;
                let expected = formula(from + 1.0) - formula(from);
                // An interval without operations has none; others are within 0.5 %.
                let off = (count - expected).abs();
                assert!(off <= 0.005 * expected, "{name}, {second} s: {count}, not {expected}");
            }
        }
    }
}

#[test]
fn bursts_of_streams_are_in_phase_with_the_start_of_the_run() {
    let log = scheduled(Process::Constant, &[(None, bursts(0.0, 1000.0))]);
    let second = Stream { name: "second".to_owned(), ..stream_of(&log, 2) };
    for streams in [vec![stream_of(&log, 1)], vec![stream_of(&log, 3), second]] {
        let issued = issued_ns(streams, 100);
        let mut firsts = vec![issued[0]];
        firsts.extend(issued.windows(2).filter(|pair| pair[1] - pair[0] > S).map(|pair| pair[1]));
        let ends = issued.windows(2).filter(|pair| pair[1] - pair[0] > S).map(|pair| pair[0]);
        assert_eq!(firsts.len(), 20);
        for (burst, first) in firsts.iter().enumerate() {
            assert!(
                first.abs_diff(burst as u64 * 5 * S) < MS,
                "burst {burst} starts at {first} ns"
            );
        }
        for (burst, end) in ends.enumerate() {
            // The last operation is one gap of 1 ms before the end.
            let expected = burst as u64 * 5 * S + S - MS;
            assert!(end.abs_diff(expected) < MS, "burst {burst} ends at {end} ns");
        }
    }
}

/// The sum of squared deviations of Poisson counts over their means has a chi-square distribution: its
/// mean is the number of intervals `n` and its variance near `2 n`. Each bound is exceeded by 0.5 % of
/// true processes; the seeds are fixed.
pub(crate) fn poisson_score(counts: &[f64], expected: &[f64]) -> f64 {
    let used: Vec<(f64, f64)> =
        counts.iter().zip(expected).filter(|(_, e)| **e > 0.0).map(|(c, e)| (*c, *e)).collect();
    let n = used.len() as f64;
    let sum: f64 = used.iter().map(|(count, mean)| (count - mean).powi(2) / mean).sum();
    (sum - n) / (2.0 * n).sqrt()
}

#[test]
fn poisson_counts_of_a_schedule_vary_as_much_as_their_means() {
    const SCORE_MAX: f64 = 2.8;
    let segments = [
        (Some(3), SegmentRate::Constant { rate: 400.0 }),
        (Some(2), SegmentRate::Constant { rate: 0.0 }),
        (Some(5), SegmentRate::Ramp { from: 100.0, to: 2100.0 }),
    ];
    let formula = |second: usize| match second % 10 {
        0..=2 => 400.0,
        3 | 4 => 0.0,
        s => 300.0 + 400.0 * (s - 5) as f64,
    };
    let expected: Vec<f64> = (0..1000).map(formula).collect();
    for workers in [1, 4] {
        let of = |process| {
            let arrival = scheduled(process, &segments);
            counts(&issued_ns(vec![stream_of(&arrival, workers)], 1000), 1000)
        };
        let counts = of(Process::Poisson);
        let pauses = counts.iter().zip(&expected).filter(|(_, expected)| **expected == 0.0);
        assert!(pauses.into_iter().all(|(count, _)| *count == 0.0), "nothing arrives in pauses");
        let score = poisson_score(&counts, &expected);
        assert!(score.abs() < SCORE_MAX, "{workers} workers: {score}");
        let (sum, mean) = (counts.iter().sum::<f64>(), expected.iter().sum::<f64>());
        assert!((sum - mean).abs() < 2.8 * mean.sqrt(), "{sum} arrivals, not {mean}");
        // The test can fail: constant arrivals vary less, and every arrival twice varies more.
        assert!(poisson_score(&of(Process::Constant), &expected) < -SCORE_MAX);
        let halved: Vec<f64> = expected.iter().map(|mean| mean / 2.0).collect();
        assert!(poisson_score(&counts, &halved) > SCORE_MAX);
    }
}

/// The machine-repair model: operators that think, and servers that repair. Its rate depends on the mean
/// think time only (Baskett, Chandy, Muntz, Palacios, JACM 22(2), 1975: a delay station has any
/// distribution), so all forms of think time give it.
#[test]
fn think_times_give_the_rate_of_the_machine_repair_model() {
    let demand = Demand::Exponential { mean_ns: 1e6 };
    for (operators, think_ms, servers) in
        [(1, 3, 1), (4, 3, 1), (12, 10, 1), (10, 20, 2), (40, 8, 4)]
    {
        let mean_ns = think_ms * MS;
        let expected =
            closed_rate(f64::from(operators), think_ms as f64 / 1e3, 1e-3, f64::from(servers));
        let times = [
            Arrival::Closed { think_time_ns: mean_ns },
            Arrival::Thinking { think_time: ThinkTime::Exponential { mean_ns } },
            Arrival::Thinking {
                think_time: ThinkTime::Uniform { min_ns: mean_ns / 2, max_ns: mean_ns * 3 / 2 },
            },
        ];
        for arrival in times {
            let seconds = (4e5 / expected) as u64;
            let what = format!("{operators} operators, {servers} servers, {arrival}");
            let run = run(vec![stream(arrival, operators)], seconds * S, 10 * S);
            let reads = reads(&simulate(&run, &Model::queue(servers, demand), 5));
            // The standard error of 400,000 operations is below 0.2 %.
            assert_near(reads.completed as f64 / seconds as f64, expected, 0.01, &what);
        }
    }
}

const LOG_BURSTS: &str = "
name = 'bursts'
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
arrival = { schedule = [{ bursts = { rate = '1000/s', base = '200/s', period = '5s', length = '1s' } }] }
";

#[test]
fn a_rate_that_changes_by_plan_is_steady_and_has_no_verdict() {
    let experiment = parse(LOG_BURSTS, "bursts.toml").expect("it is an experiment");
    let plan = resolve(&experiment, "bursts.toml", TargetSpec::Null, &ResolveOptions::LOCAL);
    let plan = plan.expect("it can be executed");
    let demand = Demand::Exponential { mean_ns: 1e5 };
    let record = sim::experiment(&plan, &Model::queue(4, demand), 3);
    let findings = analyze(&record);
    let merged = &findings.load_points[0].merged;
    let log = &merged.streams[1];
    assert!(log.rate_varies && merged.total.rate_varies && !merged.streams[0].rate_varies);
    // (1,000 + 4 x 200) / 5 operations per second.
    assert_near(log.offered_rate.expect("it is open").get(), 360.0, 1e-9, "mean offered rate");
    let achieved = log.data.achieved_rate.expect("it was measured");
    assert_near(achieved.value, 360.0, 0.005, "achieved rate");
    let relative = achieved.relative().expect("there are 60 intervals");
    assert!(relative < 0.01, "the planned changes are no uncertainty: {relative}");
    assert_eq!(log.overload, None);
    for row in interval_rows(&record).iter().filter(|row| row.stream.name == "log") {
        let offered = row.offered_rate.expect("it is open").get();
        let whole = row.interval.end_ns - row.interval.start_ns == S;
        if whole {
            let achieved = row.achieved_rate.expect("it has a length").get();
            // Operations in flight at an edge complete in the next interval.
            assert!((achieved - offered).abs() <= 3.0, "{achieved} of {offered}");
        }
    }
    let codes: Vec<&str> = findings.warnings.iter().map(|group| group.code).collect();
    for code in ["not_steady", "rounds_differ", "outlier_intervals", "warm_up_too_short"] {
        assert!(!codes.contains(&code), "{codes:?}");
    }
    assert!(findings.answers().next().is_none(), "no verdict without a steady load");
}

#[test]
fn a_burst_that_the_target_cannot_follow_is_a_backlog_and_overload_only_if_it_grows() {
    let experiment = parse(LOG_BURSTS, "bursts.toml").expect("it is an experiment");
    let plan = resolve(&experiment, "bursts.toml", TargetSpec::Null, &ResolveOptions::LOCAL);
    let plan = plan.expect("it can be executed");
    // In the mean 500 + 360 operations per second, in bursts 1,500.
    for (capacity, is_overloaded) in [(1000u64, false), (500, true)] {
        let demand = Demand::Deterministic { ns: S / capacity };
        let findings = analyze(&sim::experiment(&plan, &Model::queue(1, demand), 3));
        let log = &findings.load_points[0].merged.streams[1];
        assert_eq!(log.overload.is_some(), is_overloaded, "{capacity} operations per second");
    }
}
