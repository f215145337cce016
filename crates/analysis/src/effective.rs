//! How many independent samples tell as much as a series of intervals that resemble each other.
//!
//! Two estimators, of which the smaller counts. The first takes the series as an autoregressive
//! process of order one, with the correlation of neighbours corrected for the bias that a mean
//! taken from the same values gives it: it is good on short series. The second adds up all
//! correlations until they vanish in noise: it sees what lasts longer than neighbours show, such as
//! a slow wave under a fast noise, where the first is blind.
//!
//! Sources: Thiébaux and Zwiers, J. Climate and Applied Meteorology 23, 1984 (the AR(1) form);
//! Marriott and Pope, Biometrika 41, 1954 (the bias); Geyer, "Practical Markov chain Monte Carlo",
//! Statistical Science 7, 1992, section 3.3 (the initial monotone sequence).

/// Strongest correlation of neighbours that is corrected for; stronger is a drift, not a
/// correlation.
const CORRELATION_MAX: f64 = 0.97;
/// Fewer than this many independent samples cannot be told apart by any estimator, and the interval
/// they would give says nothing.
const SAMPLES_MIN: f64 = 3.0;

/// How many independent samples tell as much as these `deviations` from a mean: between 3 and their
/// number. A negative correlation is not made use of.
///
/// * AR(1): `n (1 - r) / (1 + r)` with `r = r1 + (1 + 4 r1) / n`, `r1` the correlation of
///   neighbours, held between 0 and 0.97;
/// * initial monotone sequence: `n / (2 (P_0 + P_1 + ...) - 1)`, `P_k` the sum of the correlations
///   at the distances `2k` and `2k + 1`, each at most the one before, up to the first that is not
///   above 0.
pub fn effective_samples(deviations: &[f64]) -> f64 {
    let n = deviations.len() as f64;
    let squares: f64 = deviations.iter().map(|e| e * e).sum();
    if squares <= 0.0 {
        return n;
    }
    autoregressive(deviations, squares).min(monotone_sequence(deviations, squares)).max(SAMPLES_MIN)
}

fn autoregressive(deviations: &[f64], squares: f64) -> f64 {
    let n = deviations.len() as f64;
    let seen = correlation(deviations, squares, 1);
    let r = (seen + (1.0 + 4.0 * seen) / n).clamp(0.0, CORRELATION_MAX);
    n * (1.0 - r) / (1.0 + r)
}

fn monotone_sequence(deviations: &[f64], squares: f64) -> f64 {
    let n = deviations.len();
    let (mut sum, mut before) = (0.0, f64::INFINITY);
    // Beyond half of the series a correlation rests on too few products.
    for even in (0..n / 2).step_by(2).take_while(|even| even + 1 < n / 2) {
        let pair =
            correlation(deviations, squares, even) + correlation(deviations, squares, even + 1);
        if pair <= 0.0 {
            break;
        }
        before = pair.min(before);
        sum += before;
    }
    n as f64 / (2.0 * sum - 1.0).max(1.0)
}

fn correlation(deviations: &[f64], squares: f64, distance: usize) -> f64 {
    let products = deviations.iter().zip(deviations.iter().skip(distance)).map(|(a, b)| a * b);
    products.sum::<f64>() / squares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;
    use crate::simulated::{autoregressive as autoregressive_series, of_mean, queue};

    #[test]
    fn the_two_estimators_have_known_answers() {
        // Deviations 1 2 1 -1 -2 -1: squares 12, products at distance 1: 2 + 2 - 1 + 2 + 2 = 7, at
        // distance 0 and 1 together 19 / 12.
        let wave = [1.0, 2.0, 1.0, -1.0, -2.0, -1.0];
        let r = 7.0 / 12.0 + (1.0 + 28.0 / 12.0) / 6.0;
        assert!(r > CORRELATION_MAX);
        let known = 6.0 * 0.03 / 1.97;
        assert!((autoregressive(&wave, 12.0) - known).abs() < 1e-12);
        assert!((monotone_sequence(&wave, 12.0) - 6.0 / (2.0 * 19.0 / 12.0 - 1.0)).abs() < 1e-12);
        assert_eq!(effective_samples(&wave), 3.0);
        // Neighbours on opposite sides, and no deviation at all, are counted as independent.
        assert_eq!(effective_samples(&[-2.0, 2.0, -2.0, 2.0, -2.0, 2.0]), 6.0);
        assert_eq!(effective_samples(&[0.0; 5]), 5.0);
    }

    #[test]
    fn the_interval_of_autoregressive_series_holds_the_truth_in_95_of_100() {
        // `(correlation of neighbours, intervals)`: the stronger, the more intervals it takes.
        for (r, n) in [(0.0f64, 10), (0.0, 60), (0.3, 30), (0.6, 60), (0.8, 120), (0.9, 300)] {
            let held = of_mean(7, 2_000, n, 0.0, autoregressive_series(r));
            assert!((93.0..=97.5).contains(&held), "r = {r}, n = {n}: {held} %");
        }
    }

    #[test]
    fn the_interval_of_a_queue_holds_its_mean_in_95_of_100() {
        // It is skewed, so it takes more intervals.
        let held = of_mean(11, 2_000, 120, 1.0, queue());
        assert!((93.0..=97.0).contains(&held), "{held} %");
    }

    #[test]
    fn a_slow_wave_under_a_fast_noise_is_seen() {
        // Neighbours correlate by 0.3 only, but for a long time.
        let (mut slow, mut draws) = (0.0, Draws::new(5));
        let values: Vec<f64> = (0..600)
            .map(|_| {
                slow = 0.97 * slow + (1.0f64 - 0.97 * 0.97).sqrt() * draws.normal();
                0.65 * slow + draws.normal()
            })
            .collect();
        let mean = values.iter().sum::<f64>() / 600.0;
        let deviations: Vec<f64> = values.iter().map(|v| v - mean).collect();
        let squares = deviations.iter().map(|e| e * e).sum();
        let (short, long) =
            (autoregressive(&deviations, squares), monotone_sequence(&deviations, squares));
        assert!(long < short / 2.0, "{long} against {short}");
    }
}
