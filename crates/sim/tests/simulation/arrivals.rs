//! Operations leave at the instants of the declared process when nothing holds them up.

use sim::storage::Model;
use sim::world::simulate_with_witness;
use workload::arrival::Arrival;
use workload::plan::Stream;

use crate::runs::{S, assert_near, constant, poisson, run, stream};

/// The gaps between the operations of one stream that reached the storage, in nanoseconds.
fn gaps_ns(arrival: Arrival, workers: u32, seconds: u64) -> Vec<u64> {
    let mut stream = stream(arrival, 4);
    stream.workers = workers;
    gaps_of_streams_ns(vec![stream], seconds)
}

/// The gaps between the operations of all streams of a run, in nanoseconds.
fn gaps_of_streams_ns(streams: Vec<Stream>, seconds: u64) -> Vec<u64> {
    let simulated = simulate_with_witness(&run(streams, seconds * S, S), &Model::fixed(0), 1);
    let issued: Vec<u64> = simulated.seen.iter().map(|seen| seen.issued_ns).collect();
    issued.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// The largest distance between the empirical distribution of `gaps_ns` and the exponential one.
fn kolmogorov_distance(mut gaps_ns: Vec<u64>, mean_ns: f64) -> f64 {
    gaps_ns.sort_unstable();
    let n = gaps_ns.len() as f64;
    let distance = |(place, gap): (usize, &u64)| {
        let expected = 1.0 - (-(*gap as f64) / mean_ns).exp();
        let below = place as f64 / n;
        (expected - below).abs().max((expected - below - 1.0 / n).abs())
    };
    gaps_ns.iter().enumerate().map(distance).fold(0.0, f64::max)
}

/// A larger distance has a probability of 1 % (Smirnov, Annals of Mathematical Statistics 19, 1948:
/// `sqrt(-ln(0.01 / 2) / 2) = 1.63` over the root of the number of samples).
fn critical_distance(samples: usize) -> f64 {
    1.628 / (samples as f64).sqrt()
}

#[test]
fn a_constant_rate_leaves_gaps_without_variance() {
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

#[test]
fn poisson_arrivals_have_exponential_gaps() {
    for workers in [1, 4] {
        let gaps = gaps_ns(poisson(10_000.0), workers, 10);
        // The number of arrivals is Poisson itself: its standard deviation is 0.32 % here.
        assert_near(gaps.len() as f64, 100_000.0, 0.01, "arrivals");
        let critical = critical_distance(gaps.len());
        let distance = kolmogorov_distance(gaps, 1e5);
        assert!(distance < critical, "{workers} workers: {distance}, allowed {critical}");
    }
}

#[test]
fn poisson_streams_of_one_run_add_up_to_a_poisson_process() {
    let first = stream(poisson(5000.0), 4);
    let second = Stream { name: "second".to_owned(), ..first.clone() };
    let gaps = gaps_of_streams_ns(vec![first, second], 10);
    let critical = critical_distance(gaps.len());
    let distance = kolmogorov_distance(gaps, 1e5);
    assert!(distance < critical, "{distance}, allowed {critical}");
}

#[test]
fn the_test_of_distributions_refuses_gaps_that_are_not_exponential() {
    let gaps = gaps_ns(constant(10_000.0), 1, 10);
    assert!(kolmogorov_distance(gaps, 1e5) > 0.3);
    // Nor a mean that is 2 % off.
    let gaps = gaps_ns(poisson(10_000.0), 1, 10);
    let critical = critical_distance(gaps.len());
    assert!(kolmogorov_distance(gaps, 1.02e5) > critical);
}
