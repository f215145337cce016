//! Whether the change over a window is more than noise, for correlated neighbouring intervals.
//!
//! For: the drift of a window. Not for: how much drift is tolerated; see [`steady`](crate::steady).
//!
//! The noise is modelled as an autoregressive process of order one around a line, or around a step
//! if a step explains the window far better. The correlation of neighbours is corrected for the
//! bias from fitting the line; the standard error of the change follows exactly. In short windows
//! even the corrected correlation is too low, so the critical value depends on the number of
//! intervals: it keeps the error rate for every correlation from 0 to 0.9.
//!
//! Sources: Marriott and Pope, Biometrika 41, 1954, and Kendall, same volume (the bias); Park and
//! Mitchell, J. Econometrics 13, 1980 (trends under autocorrelation); Bunzel and Vogelsang,
//! J. Business and Economic Statistics 23, 2005 (critical values that hold for strong correlation).

use statistics::average::{mean, sum_of_squares};

/// Fewer values than this are not tested.
pub(crate) const VALUES_MIN: usize = 6;
/// Highest correlation of neighbours that is corrected for; a higher one counts as drift.
const CORRELATION_MAX: f64 = 0.97;
/// A step replaces the line if its residual sum of squares is below this share of the line's. Noise
/// with a correlation up to 0.9 does so too rarely to change the critical values.
const STEP_SHARE_MAX: f64 = 0.25;
/// Least distance of a step from both ends of the window, as a share of its values: closer to an
/// end, a second level is an outlier.
const STEP_EDGE_SHARE: usize = 6;

/// `(values, critical value)`: at most 5 % of stationary windows have a change of more standard
/// errors, for every correlation of neighbours from 0 to 0.9. The 95th percentile at the worst
/// correlation, simulated with 20,000 windows each (the example `coverage` prints the resulting
/// error rates). Interpolated by the logarithm of the number of values.
const CRITICAL: [(f64, f64); 10] = [
    (6.0, 5.35),
    (10.0, 5.35),
    (15.0, 5.15),
    (20.0, 4.70),
    (30.0, 4.10),
    (45.0, 3.55),
    (60.0, 3.25),
    (120.0, 2.58),
    (300.0, 2.23),
    (1000.0, 2.05),
];

/// The first and the last third of `values`; `None` with fewer than six values.
pub(crate) fn thirds(values: &[f64]) -> Option<(&[f64], &[f64])> {
    let third = values.len() / 3;
    (values.len() >= VALUES_MIN).then(|| (&values[..third], &values[values.len() - third..]))
}

/// Whether the change from the first to the last third of `values` is more than noise. True for at
/// most 5 % of stationary windows whose neighbours correlate by 0 to 0.9.
pub(crate) fn is_real(values: &[f64]) -> bool {
    thirds(values).is_some_and(|(first, last)| {
        let change = (mean(last) - mean(first)).abs();
        change > interpolated(&CRITICAL, values.len()) * standard_error(values)
    })
}

/// Looks up a table of `(number of values, value)`: interpolates by the logarithm of the number,
/// and uses the nearest row outside the table.
pub(crate) fn interpolated(table: &[(f64, f64)], values: usize) -> f64 {
    let n = values as f64;
    let after = table.partition_point(|(row, _)| *row <= n);
    let (below, above) = (table[after.saturating_sub(1)], table[after.min(table.len() - 1)]);
    if below.0 >= above.0 {
        return below.1;
    }
    let share = (n / below.0).ln() / (above.0 / below.0).ln();
    below.1 + share.clamp(0.0, 1.0) * (above.1 - below.1)
}

/// The standard error of the change between the thirds.
fn standard_error(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let residuals = residuals(values);
    let squares = sum_of_squares(&residuals);
    if squares <= 0.0 {
        return 0.0;
    }
    let products = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
    // Around a line the estimated correlation is too low by (2 + 4 r) / n.
    let r = ((products / squares + 2.0 / n) / (1.0 - 4.0 / n)).clamp(0.0, CORRELATION_MAX);
    let innovations = residuals.windows(2).map(|pair| (pair[1] - r * pair[0]).powi(2)).sum::<f64>();
    let variance = innovations / (n - 3.0) / (1.0 - r * r);
    (variance * variance_of_change(values.len(), r)).sqrt()
}

/// The variance of the change between the thirds of `n` values of variance 1 whose correlation at
/// distance `k` is `r^k`.
fn variance_of_change(n: usize, r: f64) -> f64 {
    let third = n / 3;
    let weight = |index: usize| match index {
        index if index < third => -1.0 / third as f64,
        index if index >= n - third => 1.0 / third as f64,
        _ => 0.0,
    };
    let (mut variance, mut earlier) = (0.0, 0.0);
    for w in (0..n).map(weight) {
        earlier *= r;
        variance += w * w + 2.0 * w * earlier;
        earlier += w;
    }
    variance
}

/// Residuals of the values around a line, or around the best step if those are far smaller.
fn residuals(values: &[f64]) -> Vec<f64> {
    let line = around_line(values);
    match around_step(values) {
        Some(step) if sum_of_squares(&step) < STEP_SHARE_MAX * sum_of_squares(&line) => step,
        _ => line,
    }
}

fn around_line(values: &[f64]) -> Vec<f64> {
    let (centre, mean, slope) = ((values.len() as f64 - 1.0) / 2.0, mean(values), slope(values));
    let each = values.iter().enumerate();
    each.map(|(index, y)| y - mean - slope * (index as f64 - centre)).collect()
}

/// Residuals around two levels, with the step at the position of the least residuals.
fn around_step(values: &[f64]) -> Option<Vec<f64>> {
    let (n, level) = (values.len(), mean(values));
    let edge = (n / STEP_EDGE_SHARE).max(2);
    let mut sum = 0.0;
    let mut best: Option<(f64, usize)> = None;
    for index in 1..n {
        sum += values[index - 1] - level;
        // The reduction of the sum of squares from one level to two.
        let gain = sum * sum * (1.0 / index as f64 + 1.0 / (n - index) as f64);
        let inside = (edge..=n - edge).contains(&index);
        if inside && best.is_none_or(|(most, _)| gain > most) {
            best = Some((gain, index));
        }
    }
    let (before, after) = values.split_at(best?.1);
    let around = |part: &[f64]| {
        let level = mean(part);
        part.iter().map(|y| y - level).collect::<Vec<_>>()
    };
    Some([around(before), around(after)].concat())
}

/// Change from one value to the next along the least-squares line.
pub(crate) fn slope(values: &[f64]) -> f64 {
    let (centre, mean) = ((values.len() as f64 - 1.0) / 2.0, mean(values));
    let (mut xy, mut xx) = (0.0, 0.0);
    for (index, y) in values.iter().enumerate() {
        let x = index as f64 - centre;
        xy += x * (y - mean);
        xx += x * x;
    }
    xy / xx
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variance_of_the_change_has_known_answers() {
        // Independent values: 2 / third. Two of three values perfectly correlated: 1 + 1 - 2 r^2.
        assert!((variance_of_change(30, 0.0) - 0.2).abs() < 1e-12);
        assert!((variance_of_change(3, 0.5) - 1.5).abs() < 1e-12);
    }

    #[test]
    fn critical_values_lie_between_their_neighbours_and_end_with_the_table() {
        assert!((interpolated(&CRITICAL, 6) - 5.35).abs() < 1e-12);
        assert!((interpolated(&CRITICAL, 20) - 4.70).abs() < 1e-12);
        let between = interpolated(&CRITICAL, 85);
        assert!((2.58..3.25).contains(&between));
        assert!((interpolated(&CRITICAL, 50_000) - 2.05).abs() < 1e-12);
        assert!((interpolated(&CRITICAL, 2) - 5.35).abs() < 1e-12);
    }

    #[test]
    fn a_step_is_no_noise_of_a_line() {
        let step: Vec<f64> =
            (0..60).map(|i| if i < 30 { 100.0 } else { 120.0 } + f64::from(i % 2)).collect();
        assert!(is_real(&step));
        // One outlier is not a step.
        let mut spike = vec![100.0; 60];
        spike[59] = 900.0;
        assert!(!is_real(&spike));
    }

    #[test]
    fn thirds_need_six_values_and_leave_the_rest_in_the_middle() {
        let values: Vec<f64> = (0..8).map(f64::from).collect();
        assert_eq!(thirds(&values[..5]), None);
        assert_eq!(thirds(&values[..6]), Some((&values[..2], &values[4..6])));
        assert_eq!(thirds(&values), Some((&values[..2], &values[6..])));
    }

    #[test]
    fn a_line_and_a_step_have_known_residuals() {
        assert_eq!(slope(&[1.0, 3.0, 5.0, 7.0]), 2.0);
        let residuals_of = around_line(&[0.0, 2.0, 1.0]);
        for (found, known) in residuals_of.iter().zip([-0.5, 1.0, -0.5]) {
            assert!((found - known).abs() < 1e-12, "{residuals_of:?}");
        }
        let step = around_step(&[1.0, 3.0, 2.0, 8.0, 10.0, 9.0]);
        assert_eq!(step, Some(vec![-1.0, 1.0, 0.0, -1.0, 1.0, 0.0]));
        // The jump after the first value is too close to the end: 2 levels from index 2.
        let step = around_step(&[9.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        assert_eq!(step, Some(vec![4.0, -4.0, 0.0, 0.0, 0.0, 0.0]));
    }
}
