//! Probabilities of deviations, with the distributions of `statrs`.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

/// Deviations less probable than this fail a test. With fewer than 400 assertions, a perfect generator
/// with other seeds would fail one of them once in 2,500 times.
pub(crate) const FALSE_ALARM: f64 = 1e-6;

/// Asserts that a deviation with this probability is above [`FALSE_ALARM`].
pub(crate) fn assert_plausible(probability: f64, what: &str) {
    assert!(
        probability > FALSE_ALARM,
        "{what}: probability {probability:e} for a perfect generator"
    );
}

/// The probability of a chi-square at least as large, for cells with these probabilities. Cells with an
/// expected count below five are combined.
pub(crate) fn chi_square(observed: &[u64], probabilities: &[f64]) -> f64 {
    assert_eq!(observed.len(), probabilities.len());
    let total = observed.iter().sum::<u64>() as f64;
    let sum: f64 = probabilities.iter().sum();
    assert!((sum - 1.0).abs() < 1e-9, "probabilities add up to {sum}");
    let cells = observed.iter().zip(probabilities).map(|(count, p)| (*count as f64, total * p));
    let (mut cells, rare): (Vec<_>, Vec<_>) = cells.partition(|(_, expected)| *expected >= 5.0);
    if !rare.is_empty() {
        cells.push(rare.iter().fold((0.0, 0.0), |sum, cell| (sum.0 + cell.0, sum.1 + cell.1)));
    }
    let found = cells.iter().map(|(count, expected)| (count - expected).powi(2) / expected).sum();
    ChiSquared::new(cells.len() as f64 - 1.0).expect("two cells or more").sf(found)
}

/// The probability that the largest of this many standard scores is at least as large (Bonferroni's
/// bound, also valid for dependent scores).
pub(crate) fn largest_score(scores: &[f64]) -> f64 {
    let largest = scores.iter().fold(0.0f64, |largest, score| largest.max(score.abs()));
    (scores.len() as f64 * 2.0 * Normal::standard().sf(largest)).min(1.0)
}

/// Asserts that scores are standard normal, by the largest and by Kolmogorov's test.
pub(crate) fn assert_standard_normal(mut scores: Vec<f64>, what: &str) {
    assert_plausible(largest_score(&scores), &format!("{what}, largest score"));
    scores.sort_by(f64::total_cmp);
    let distance = kolmogorov(&scores, |score| Normal::standard().cdf(score));
    assert_plausible(kolmogorov_probability(distance), &format!("{what}, all scores"));
}

/// Kolmogorov's statistic of `sorted` against a distribution function, times the root of the count.
/// Above 1.628 with a chance of 1 % (Kolmogorov 1933; Smirnov's table, 1948).
pub(crate) fn kolmogorov(sorted: &[f64], cdf: impl Fn(f64) -> f64) -> f64 {
    let count = sorted.len() as f64;
    let distance = sorted.iter().enumerate().fold(0.0f64, |largest, (at, value)| {
        let expected = cdf(*value);
        let (below, above) = (at as f64 / count, (at + 1) as f64 / count);
        largest.max((expected - below).abs()).max((above - expected).abs())
    });
    distance * count.sqrt()
}

/// The probability of a Kolmogorov statistic at least as large (the limit for many samples).
pub(crate) fn kolmogorov_probability(statistic: f64) -> f64 {
    let term = |k: i32| (-2.0 * f64::from(k * k) * statistic * statistic).exp();
    let sum: f64 = (1..=100).map(|k| if k % 2 == 1 { term(k) } else { -term(k) }).sum();
    // The series converges slowly near 0, where the probability is 1.
    if statistic < 0.2 { 1.0 } else { (2.0 * sum).clamp(0.0, 1.0) }
}

#[test]
fn probabilities_equal_those_of_published_tables() {
    // Kolmogorov-Smirnov and chi-square tables: 1 % at 1.628, 1 % at 9.210 with two degrees of
    // freedom; the normal distribution has 1 % beyond 2.576 on both sides.
    assert!((kolmogorov_probability(1.6276) - 0.01).abs() < 1e-5);
    assert!((largest_score(&[-2.575_829]) - 0.01).abs() < 1e-6);
    let equal = [1.0 / 3.0; 3];
    assert!((chi_square(&[50, 50, 50], &equal) - 1.0).abs() < 1e-9);
    // (16^2 + 5^2 + 21^2) / 50 = 14.4 and (14^2 + 0 + 14^2) / 50 = 7.8.
    let (above, below) = (chi_square(&[34, 45, 71], &equal), chi_square(&[36, 50, 64], &equal));
    assert!(above < 0.01 && below > 0.01, "{above} {below}");
}
