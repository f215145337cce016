//! The effective number of independent samples of a correlated series.
//!
//! The smaller of two estimates counts. The first models the series as AR(1) with a bias-corrected
//! lag-1 correlation, which suits short series. The second sums all correlations until they vanish
//! in noise, which also covers slow waves under fast noise.
//!
//! Sources: Thiébaux and Zwiers, J. Climate and Applied Meteorology 23, 1984 (the AR(1) form);
//! Marriott and Pope, Biometrika 41, 1954 (the bias); Geyer, "Practical Markov chain Monte Carlo",
//! Statistical Science 7, 1992, section 3.3 (the initial monotone sequence).

/// Highest lag-1 correlation to correct for; a higher one is a drift.
const CORRELATION_MAX: f64 = 0.97;
/// Lower bound; with fewer samples an interval is meaningless.
const SAMPLES_MIN: f64 = 3.0;

/// The effective number of samples of these `deviations` from a mean: between 3 and their number.
/// Negative correlations do not increase it.
///
/// * AR(1): `n (1 - r) / (1 + r)` with `r = r1 + (1 + 4 r1) / n` limited to 0 to 0.97, where `r1`
///   is the
///   lag-1 correlation;
/// * initial monotone sequence: `n / (2 (P_0 + P_1 + ...) - 1)`, where `P_k` is the sum of the
///   correlations at lags `2k` and `2k + 1`, each at most the previous one, up to the first that is not
///   positive.
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
    // At lags beyond half of the series a correlation has too few products.
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
        // Alternating values, and values without deviation, count as independent.
        assert_eq!(effective_samples(&[-2.0, 2.0, -2.0, 2.0, -2.0, 2.0]), 6.0);
        assert_eq!(effective_samples(&[0.0; 5]), 5.0);
    }

    #[test]
    fn the_interval_of_an_autoregressive_series_covers_the_truth_in_95_of_100() {
        // `(lag-1 correlation, intervals)`: a stronger correlation needs more intervals.
        for (r, n) in [(0.0f64, 10), (0.0, 60), (0.3, 30), (0.6, 60), (0.8, 120), (0.9, 300)] {
            let covered = of_mean(7, 2_000, n, 0.0, autoregressive_series(r));
            assert!((93.0..=97.5).contains(&covered), "r = {r}, n = {n}: {covered} %");
        }
    }

    #[test]
    fn the_interval_of_a_queue_covers_its_mean_in_95_of_100() {
        // A skewed distribution needs more intervals.
        let covered = of_mean(11, 2_000, 120, 1.0, queue());
        assert!((93.0..=97.0).contains(&covered), "{covered} %");
    }

    #[test]
    fn a_slow_wave_under_fast_noise_reduces_the_effective_number() {
        // The lag-1 correlation is only 0.3, but correlations persist.
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
