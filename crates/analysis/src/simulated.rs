//! Coverage of 95 % intervals, simulated with seeded draws. Tests check it with few trials; the
//! example `coverage` prints it with as many trials as `docs/method.md` quotes.

use metrics::histogram::{Counts, bucket_of};

use crate::draws::Draws;
use crate::estimate::Estimate;
use crate::percentile::percentiles;
use crate::repeats::{REPEATS_MIN, look};
use crate::steady::{self, unsteady};
use crate::times::FRACTIONS;
use crate::warm_up::{bias, mser};

/// Intervals of a window for percentiles.
const INTERVALS: usize = 20;
/// Operations per interval.
const OPERATIONS: usize = 100;
/// The mean of times, in nanoseconds.
const TIME_MEAN_NS: f64 = 1e6;
/// Standard deviation of a level's logarithm.
const LEVEL_DEVIATION: f64 = 0.3;
/// Most repeats of a sequence.
const REPEATS_MAX: usize = 400;

/// How often the interval of a mean of `n` intervals contains the `truth`, in percent.
pub(crate) fn of_mean(
    seed: u64,
    trials: u32,
    n: usize,
    truth: f64,
    mut series: impl FnMut(&mut Draws) -> f64,
) -> f64 {
    let mut draws = Draws::new(seed);
    let covered = (0..trials).filter(|_| {
        let values: Vec<f64> = (0..n).map(|_| series(&mut draws)).collect();
        let estimate = Estimate::of_ratio(&values, &vec![1.0; n]).expect("the weights are 1");
        (estimate.value - truth).abs() <= estimate.uncertainty.expect("there are enough intervals")
    });
    percent(covered.count() as u32, trials)
}

/// Values around 0 whose neighbours have the correlation `r`.
pub(crate) fn autoregressive(r: f64) -> impl FnMut(&mut Draws) -> f64 {
    autoregressive_from(0.0, r)
}

/// The same from a first value on; with a normal first value the series is stationary.
fn autoregressive_from(first: f64, r: f64) -> impl FnMut(&mut Draws) -> f64 {
    let mut state = first;
    move |draws| {
        state = r * state + (1.0 - r * r).sqrt() * draws.normal();
        state
    }
}

/// How often a stationary window is called unsteady, in percent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FalseAlarms {
    pub(crate) drift: f64,
    pub(crate) rounds: f64,
    pub(crate) either: f64,
    /// By the bias of a sufficient warm-up.
    pub(crate) warm_up: f64,
}

/// Judges `trials` windows of `n` intervals around 1 whose neighbours have the correlation `r`,
/// each after a warm-up of a quarter of that, with a standard deviation of `deviation` so large
/// that chance decides, not the tolerated change.
pub(crate) fn false_alarms(
    seed: u64,
    trials: u32,
    n: usize,
    r: f64,
    deviation: f64,
) -> FalseAlarms {
    let mut draws = Draws::new(seed);
    let (mut drift, mut rounds, mut either, mut warm_up) = (0, 0, 0, 0);
    for _ in 0..trials {
        let mut noise = autoregressive_from(draws.normal(), r);
        let planned = n / 4;
        let whole: Vec<f64> =
            (0..planned + n).map(|_| 1.0 + deviation * noise(&mut draws)).collect();
        let window = &whole[planned..];
        let drifts = unsteady(window).is_some();
        let differ = steady::rounds(window, &vec![1.0; n]).is_some_and(|rounds| rounds.differ());
        let head = mser(&whole).map_or(0, |cut| cut.values.saturating_sub(planned));
        drift += u32::from(drifts);
        rounds += u32::from(differ);
        either += u32::from(drifts || differ);
        warm_up += u32::from(bias(window, head).is_some());
    }
    FalseAlarms {
        drift: percent(drift, trials),
        rounds: percent(rounds, trials),
        either: percent(either, trials),
        warm_up: percent(warm_up, trials),
    }
}

/// Customers in an M/M/1 queue with utilization 1/2, averaged over 50 service times each: the true
/// mean is 1.
pub(crate) fn queue() -> impl FnMut(&mut Draws) -> f64 {
    let mut customers = 0u32;
    move |draws| {
        let (mut left, mut area) = (50.0, 0.0);
        loop {
            let busy = customers > 0;
            let rate = if busy { 1.5 } else { 0.5 };
            let until = -draws.uniform().ln() / rate;
            if until >= left {
                return (area + f64::from(customers) * left) / 50.0;
            }
            area += f64::from(customers) * until;
            left -= until;
            customers = match draws.uniform() * rate <= 0.5 {
                true => customers + 1,
                false => customers - 1,
            };
        }
    }
}

/// Dependence among the operations of one interval.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Level {
    /// None: exponential times.
    Same,
    /// An interval is slow or fast as a whole: a lognormal mixture of exponential times.
    EachItsOwn,
}

impl Level {
    /// The p50, p90 and p99 of all times, in nanoseconds.
    fn truth(self) -> [f64; 3] {
        let exponential = |fraction: f64| -(1.0 - fraction).ln() * TIME_MEAN_NS;
        let of = |fraction: f64| match self {
            Level::Same => exponential(fraction),
            Level::EachItsOwn => {
                let (mut low, mut high) = (0.0, 100.0 * TIME_MEAN_NS);
                for _ in 0..60 {
                    let middle = (low + high) / 2.0;
                    match share_within(middle) < fraction {
                        true => low = middle,
                        false => high = middle,
                    }
                }
                low
            }
        };
        [FRACTIONS[0], FRACTIONS[1], FRACTIONS[2]].map(of)
    }

    fn scale_ns(self, draws: &mut Draws) -> f64 {
        match self {
            Level::Same => TIME_MEAN_NS,
            Level::EachItsOwn => TIME_MEAN_NS * (LEVEL_DEVIATION * draws.normal()).exp(),
        }
    }
}

/// The share of the mixture's times that are at most `time_ns`: the sum over levels out to eight
/// standard deviations, which is exact to more digits than are used.
fn share_within(time_ns: f64) -> f64 {
    let each = (-800..=800).map(|step| {
        let level = f64::from(step) / 100.0;
        let density = (-level * level / 2.0).exp() / std::f64::consts::TAU.sqrt();
        let scale = TIME_MEAN_NS * (LEVEL_DEVIATION * level).exp();
        density * (1.0 - (-time_ns / scale).exp()) / 100.0
    });
    each.sum()
}

/// How often the intervals of p50, p90 and p99 contain the truth, in percent of the intervals
/// given, and how often they are given.
pub(crate) fn of_percentiles(seed: u64, trials: u32, level: Level) -> [(f64, f64); 3] {
    let truth = level.truth();
    let mut draws = Draws::new(seed);
    let mut covered = [(0, 0); 3];
    for _ in 0..trials {
        let parts: Vec<Counts> = (0..INTERVALS).map(|_| interval(level, &mut draws)).collect();
        let mut whole = Counts::default();
        parts.iter().for_each(|part| whole.merge(part));
        let numbered = parts.iter().enumerate().map(|(n, part)| (n as u32, part));
        let found = percentiles(&FRACTIONS[..3], &whole, numbered, INTERVALS, &[]);
        for ((covered, percentile), truth) in covered.iter_mut().zip(found).zip(truth) {
            let Some([low, high]) = percentile.interval_ns else { continue };
            // A bucket has a relative width of 0.1 %.
            covered.0 += u32::from(low * 0.999 <= truth && truth <= high * 1.001);
            covered.1 += 1;
        }
    }
    covered.map(|(covered, given)| (percent(covered, given), percent(given, trials)))
}

fn interval(level: Level, draws: &mut Draws) -> Counts {
    let scale = level.scale_ns(draws);
    let time = |_| (-draws.uniform().ln() * scale) as u64 + 1;
    let mut times: Vec<u64> = (0..OPERATIONS).map(time).collect();
    times.sort_unstable();
    let mut counts = Counts { min_ns: times[0], ..Counts::default() };
    counts.max_ns = times[times.len() - 1];
    for time in times {
        match counts.buckets.last_mut() {
            Some(last) if last.0 == bucket_of(time) => last.1 += 1,
            _ => counts.buckets.push((bucket_of(time), 1)),
        }
    }
    counts
}

/// Draws repeats around 1 until their interval was narrower than `required` at `looks` looks in a
/// row. Returns how often the truth is then within the printed interval, and within the required
/// width, in percent.
pub(crate) fn of_repeats(
    seed: u64,
    trials: u32,
    deviation: f64,
    required: f64,
    looks: u32,
) -> (f64, f64) {
    let mut draws = Draws::new(seed);
    let (mut in_printed, mut in_required) = (0, 0);
    for _ in 0..trials {
        let mut values = Vec::new();
        let found = loop {
            values.push(1.0 + deviation * draws.normal());
            let found = look(&[&values], required, REPEATS_MIN);
            if found.looks_narrow >= looks || values.len() == REPEATS_MAX {
                break found;
            }
        };
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let off = (mean - 1.0).abs();
        in_printed += u32::from(off <= found.relative.expect("there are repeats") * mean);
        in_required += u32::from(off <= required * mean);
    }
    (percent(in_printed, trials), percent(in_required, trials))
}

fn percent(count: u32, of: u32) -> f64 {
    100.0 * f64::from(count) / f64::from(of)
}
