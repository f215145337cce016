//! Operations are issued at the instants of the configured process unless something delays them.

use sim::storage::Model;
use sim::world::simulate_observed;
use workload::arrival::Arrival;
use workload::plan::Stream;

use crate::runs::{S, assert_near, constant, poisson, run, stream};

/// The gaps between a stream's operations at the storage, in nanoseconds.
fn gaps_ns(arrival: Arrival, workers: u32, seconds: u64) -> Vec<u64> {
    let mut stream = stream(arrival, 4);
    stream.workers = workers;
    gaps_of_streams_ns(vec![stream], seconds)
}

/// The gaps between the operations of all streams of a run, in nanoseconds.
fn gaps_of_streams_ns(streams: Vec<Stream>, seconds: u64) -> Vec<u64> {
    let simulated = simulate_observed(&run(streams, seconds * S, S), &Model::fixed(0), 1);
    let issued: Vec<u64> = simulated.seen.iter().map(|seen| seen.issued_ns).collect();
    issued.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// The maximum distance between the empirical distribution of `gaps_ns` and the exponential one.
fn kolmogorov_distance(mut gaps_ns: Vec<u64>, mean_ns: f64) -> f64 {
    gaps_ns.sort_unstable();
    let n = gaps_ns.len() as f64;
    let distance = |(index, gap): (usize, &u64)| {
        let expected = 1.0 - (-(*gap as f64) / mean_ns).exp();
        let below = index as f64 / n;
        (expected - below).abs().max((expected - below - 1.0 / n).abs())
    };
    gaps_ns.iter().enumerate().map(distance).fold(0.0, f64::max)
}

/// The distance exceeded with a probability of 1 % (Smirnov, Annals of Mathematical Statistics 19,
/// 1948: `sqrt(-ln(0.01 / 2) / 2) = 1.63` divided by the root of the number of samples).
fn critical_distance(samples: usize) -> f64 {
    1.628 / (samples as f64).sqrt()
}

#[test]
fn a_constant_rate_has_gaps_without_variance() {
    let gaps = gaps_ns(constant(10_000.0), 1, 10);
    assert_eq!(gaps.len(), 99_999);
    assert!(gaps.iter().all(|gap| *gap == 100_000));
}

#[test]
fn constant_rates_of_four_workers_add_up_to_one_without_variance() {
    let gaps = gaps_ns(constant(10_000.0), 4, 10);
    assert_eq!(gaps.len(), 99_999);
    assert!(gaps.iter().all(|gap| *gap == 100_000));
}

/// Whether gaps are those of a Poisson process. Each test rejects 1 % of true ones; the seeds are
/// fixed, so the result is always the same.
///
/// The tests are the Kolmogorov-Smirnov test for the exponential distribution, which ignores the
/// order, and the correlation of neighbours, whose standard error is one over the root of their
/// number.
fn is_poisson(gaps_ns: &[u64], mean_ns: f64) -> Result<(), String> {
    let n = gaps_ns.len();
    let (distance, critical) =
        (kolmogorov_distance(gaps_ns.to_vec(), mean_ns), critical_distance(n));
    if distance >= critical {
        return Err(format!("not exponential: {distance}, allowed {critical}"));
    }
    let mean = gaps_ns.iter().sum::<u64>() as f64 / n as f64;
    let off = |gap: &u64| *gap as f64 - mean;
    let squares: f64 = gaps_ns.iter().map(|gap| off(gap).powi(2)).sum();
    let products: f64 = gaps_ns.windows(2).map(|pair| off(&pair[0]) * off(&pair[1])).sum();
    // Two-sided, of the normal distribution.
    let (correlation, critical) = (products / squares, 2.576 / (n as f64).sqrt());
    match correlation.abs() < critical {
        true => Ok(()),
        false => Err(format!("neighbours correlate: {correlation}, allowed {critical}")),
    }
}

#[test]
fn poisson_arrivals_have_independent_exponential_gaps() {
    for workers in [1, 4] {
        let gaps = gaps_ns(poisson(10_000.0), workers, 10);
        // The number of arrivals has a Poisson distribution: its standard deviation is 0.32 % here.
        assert_near(gaps.len() as f64, 100_000.0, 0.01, "arrivals");
        assert_eq!(is_poisson(&gaps, 1e5), Ok(()), "{workers} workers");
    }
}

#[test]
fn poisson_streams_of_one_run_add_up_to_a_poisson_process() {
    let first = stream(poisson(5000.0), 4);
    let second = Stream { name: "second".to_owned(), ..first.clone() };
    let gaps = gaps_of_streams_ns(vec![first, second], 10);
    assert_eq!(is_poisson(&gaps, 1e5), Ok(()));
}

/// Gaps of a wrong schedule, made from `right` ones with mean 100 us.
type Wrong = fn(&[u64]) -> Vec<u64>;

#[test]
fn a_wrong_schedule_is_not_accepted_as_poisson_process() {
    let right = gaps_ns(poisson(10_000.0), 1, 10);
    assert_eq!(is_poisson(&right, 1e5), Ok(()));
    let shares = |gaps: &[u64]| -> Vec<f64> {
        gaps.iter().map(|gap| 1.0 - (-(*gap as f64) / 1e5).exp()).collect()
    };
    // Uniform between 0 and twice the mean.
    let even: Vec<u64> = shares(&right).iter().map(|share| (share * 2e5) as u64).collect();
    assert!(is_poisson(&even, 1e5).is_err());
    let wrong: [(&str, Wrong); 6] = [
        ("a constant rate", |right| vec![100_000; right.len()]),
        ("a rate 2 % too low", |right| right.iter().map(|gap| gap * 102 / 100).collect()),
        ("instants on a grid of 10 us", |right| {
            right.iter().map(|gap| gap.next_multiple_of(10_000)).collect()
        }),
        // A closed loop that takes 20 us per operation but keeps the mean.
        ("no gap below 20 us", |right| right.iter().map(|gap| 20_000 + gap * 4 / 5).collect()),
        ("gaps that come in pairs", |right| {
            right.iter().step_by(2).flat_map(|gap| [*gap; 2]).collect()
        }),
        ("gaps in ascending order", |right| {
            let mut gaps = right.to_vec();
            gaps.sort_unstable();
            gaps
        }),
    ];
    for (name, make) in wrong {
        assert!(is_poisson(&make(&right), 1e5).is_err(), "{name}");
    }
    let constant = gaps_ns(constant(10_000.0), 1, 10);
    assert!(is_poisson(&constant, 1e5).is_err(), "the simulated constant rate");
}
