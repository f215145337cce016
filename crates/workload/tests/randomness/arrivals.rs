//! Arrivals compared with the declared process.

use proptest::prelude::*;
use workload::arrival::{ThinkTime, constant_due_ns, poisson_gap_ns};
use workload::random;

use crate::randomness::statistics::kolmogorov;

/// The instants of all lanes within `seconds`, in order.
fn poisson_instants(seed: u64, rate: f64, lanes: u32, seconds: f64) -> Vec<f64> {
    let mut instants = Vec::new();
    for lane in 0..lanes {
        let mut now = 0.0;
        for step in 0.. {
            now += poisson_gap_ns(seed, rate, lane, lanes, step);
            if now >= seconds * 1e9 {
                break;
            }
            instants.push(now);
        }
    }
    instants.sort_by(f64::total_cmp);
    instants
}

#[test]
fn poisson_gaps_are_exponential_for_each_lane_and_for_their_sum() {
    for lanes in [1u32, 3, 8] {
        let mut of_one: Vec<f64> =
            (0..50_000).map(|step| poisson_gap_ns(42, 10_000.0, 0, lanes, step)).collect();
        of_one.sort_by(f64::total_cmp);
        let mean = 1e5 * f64::from(lanes);
        let found = kolmogorov(&of_one, |gap| 1.0 - (-gap / mean).exp());
        assert!(found < 1.628, "one of {lanes} lanes: {found}");

        let instants = poisson_instants(42, 10_000.0, lanes, 10.0);
        let mut gaps: Vec<f64> = instants.windows(2).map(|pair| pair[1] - pair[0]).collect();
        gaps.sort_by(f64::total_cmp);
        let found = kolmogorov(&gaps, |gap| 1.0 - (-gap / 1e5).exp());
        assert!(found < 1.628, "sum of {lanes} lanes: {found}");
    }
}

#[test]
fn poisson_counts_vary_as_much_as_their_mean() {
    // Counts in windows of 10 ms at 10,000/s: mean 100, variance 100 (dispersion 1).
    let instants = poisson_instants(7, 10_000.0, 4, 100.0);
    let mut counts = vec![0f64; 10_000];
    for instant in &instants {
        counts[(instant / 1e7) as usize] += 1.0;
    }
    let mean = counts.iter().sum::<f64>() / 10_000.0;
    let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / 9_999.0;
    // The standard deviation of the dispersion is sqrt(2 / 9,999) = 0.014.
    assert!((variance / mean - 1.0).abs() < 0.036, "{variance} over {mean}");
    // A million arrivals: 0.1 % is one standard deviation, 0.26 % is 1 % significance.
    assert!((mean / 100.0 - 1.0).abs() < 0.0026, "{mean}");
}

#[test]
fn lanes_of_a_poisson_process_are_uncorrelated() {
    let gaps = |lane| (0..10_000).map(move |step| poisson_gap_ns(1, 1000.0, lane, 2, step));
    let mean = 2e6;
    let covariance: f64 = gaps(0).zip(gaps(1)).map(|(a, b)| (a - mean) * (b - mean)).sum();
    let correlation = covariance / 10_000.0 / (mean * mean);
    assert!(correlation.abs() < 0.026, "{correlation}");
}

#[test]
fn constant_arrivals_of_all_lanes_are_evenly_spaced() {
    for lanes in [1u32, 2, 5] {
        let mut instants: Vec<u64> = (0..lanes)
            .flat_map(|lane| {
                (0..20_000).map(move |step| constant_due_ns(10_000.0, lane, lanes, step))
            })
            .collect();
        instants.sort_unstable();
        assert!(instants.windows(2).all(|pair| pair[1] - pair[0] == 100_000), "{lanes} lanes");
    }
}

/// Kolmogorov's statistic of 50,000 think times against a distribution function. It exceeds 1.628 with a
/// probability of 1 % for times that have the distribution.
fn think_times(think_time: ThinkTime, distribution: impl Fn(f64) -> f64) -> f64 {
    let mut times: Vec<f64> =
        (0..50_000).map(|index| think_time.draw_ns(random::at(3, index)) as f64).collect();
    times.sort_by(f64::total_cmp);
    kolmogorov(&times, distribution)
}

#[test]
fn think_times_have_their_distribution_and_no_similar_one() {
    let exponential = ThinkTime::Exponential { mean_ns: 10_000_000 };
    let of_mean = |mean: f64| move |ns: f64| 1.0 - (-ns / mean).exp();
    let found = think_times(exponential, of_mean(1e7));
    assert!(found < 1.628, "exponential: {found}");
    let uniform = ThinkTime::Uniform { min_ns: 5_000_000, max_ns: 15_000_000 };
    let between = |min: f64, max: f64| move |ns: f64| ((ns - min) / (max - min)).clamp(0.0, 1.0);
    let found = think_times(uniform, between(5e6, 15e6));
    assert!(found < 1.628, "uniform: {found}");
    // The test can fail: a mean 3 % too high, bounds 5 % too wide, and the other distribution.
    assert!(think_times(exponential, of_mean(1.03e7)) > 1.628);
    assert!(think_times(uniform, between(4.75e6, 15.25e6)) > 1.628);
    assert!(think_times(uniform, of_mean(1e7)) > 1.628);
    assert_eq!([exponential.mean_ns(), uniform.mean_ns()], [10_000_000; 2]);
}

proptest! {
    #[test]
    fn constant_arrivals_do_not_drift(
        rate in 0.5..2_000_000.0f64, lanes in 1..33u32, step in 0..10_000_000u64,
    ) {
        let due = constant_due_ns(rate, lanes - 1, lanes, step);
        let index = step * u64::from(lanes) + u64::from(lanes) - 1;
        let exact = index as f64 * 1e9 / rate;
        prop_assert!((due as f64 - exact).abs() <= 0.5 + exact * 1e-12);
        prop_assert!(constant_due_ns(rate, lanes - 1, lanes, step + 1) >= due);
    }

    #[test]
    fn the_rate_over_ten_seconds_is_within_a_thousandth(
        rate in 10_000.0..50_000.0f64, lanes in 1..9u32,
    ) {
        let due: usize = (0..lanes)
            .map(|lane| {
                (0..).take_while(|step| constant_due_ns(rate, lane, lanes, *step) < 10_000_000_000)
                    .count()
            })
            .sum();
        prop_assert!((due as f64 / 10.0 / rate - 1.0).abs() < 0.001);
    }
}
