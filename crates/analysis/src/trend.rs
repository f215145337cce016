//! Whether the change over a window is more than noise, where neighbouring intervals resemble each
//! other.
//!
//! For: the drift of a window. Not for: how large a tolerable drift is, see
//! [`steady`](crate::steady).
//!
//! The noise is taken as an autoregressive process of order one around a line, or around one step
//! where a step explains the window far better. The correlation of neighbours is corrected for the
//! bias that fitting a line gives it, and the standard error of the change follows from it exactly.
//! In short windows even the corrected correlation is estimated too low, so the critical value
//! depends on the number of intervals: it is the one that holds the error rate for every
//! correlation from 0 to 0.9.
//!
//! Sources: Marriott and Pope, Biometrika 41, 1954, and Kendall, same volume (the bias); Park and
//! Mitchell, J. Econometrics 13, 1980 (trends under autocorrelation); Bunzel and Vogelsang,
//! J. Business and Economic Statistics 23, 2005 (critical values that hold for strong correlation).

/// Fewer values than this are not judged.
pub(crate) const VALUES_MIN: usize = 6;
/// Strongest correlation of neighbours that is corrected for; stronger is a drift, not a
/// correlation.
const CORRELATION_MAX: f64 = 0.97;
/// A step takes the place of the line where it leaves less than this share of the line's sum of
/// squares. Noise of a correlation up to 0.9 does so too rarely to move the critical values.
const STEP_SHARE_MAX: f64 = 0.25;
/// Nearer to an end of the window than this share of its values no step is looked for: two such
/// levels are an outlier.
const STEP_EDGE_SHARE: usize = 6;

/// `(values, critical value)`: a change of more standard errors is noise in at most 5 % of
/// stationary windows, whatever their correlation of neighbours from 0 to 0.9. The 95th percentile
/// at the worst correlation, by simulation of 20,000 windows each (example `coverage` prints the
/// error rates that follow). Between rows by the logarithm of the number of values.
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

/// The first and the last third of `values`; `None` below six values.
pub(crate) fn thirds(values: &[f64]) -> Option<(&[f64], &[f64])> {
    let third = values.len() / 3;
    (values.len() >= VALUES_MIN).then(|| (&values[..third], &values[values.len() - third..]))
}

/// Whether the change from the first third of `values` to the last is more than noise: it is said
/// of at most 5 % of the stationary windows whose neighbours correlate by 0 to 0.9.
pub(crate) fn is_real(values: &[f64]) -> bool {
    thirds(values).is_some_and(|(first, last)| {
        let change = (mean_of(last) - mean_of(first)).abs();
        change > interpolated(&CRITICAL, values.len()) * standard_error(values)
    })
}

/// The value of a table of `(number of values, value)`, by the logarithm of the number between its
/// rows, and that of the nearest row outside of them.
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
    // Around a line the correlation is seen too low by (2 + 4 r) / n.
    let r = ((products / squares + 2.0 / n) / (1.0 - 4.0 / n)).clamp(0.0, CORRELATION_MAX);
    let innovations = residuals.windows(2).map(|pair| (pair[1] - r * pair[0]).powi(2)).sum::<f64>();
    let variance = innovations / (n - 3.0) / (1.0 - r * r);
    (variance * variance_of_change(values.len(), r)).sqrt()
}

/// The variance of the change between the thirds of `n` values of variance 1 whose correlation at
/// the distance `k` is `r^k`.
fn variance_of_change(n: usize, r: f64) -> f64 {
    let third = n / 3;
    let weight = |place: usize| match place {
        place if place < third => -1.0 / third as f64,
        place if place >= n - third => 1.0 / third as f64,
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

/// What a line leaves of the values; what the best step leaves where that is far less.
fn residuals(values: &[f64]) -> Vec<f64> {
    let line = around_line(values);
    match around_step(values) {
        Some(step) if sum_of_squares(&step) < STEP_SHARE_MAX * sum_of_squares(&line) => step,
        _ => line,
    }
}

fn around_line(values: &[f64]) -> Vec<f64> {
    let (centre, mean, slope) = ((values.len() as f64 - 1.0) / 2.0, mean_of(values), slope(values));
    let each = values.iter().enumerate();
    each.map(|(place, y)| y - mean - slope * (place as f64 - centre)).collect()
}

/// What two levels leave, at the place where they leave least.
fn around_step(values: &[f64]) -> Option<Vec<f64>> {
    let (n, mean) = (values.len(), mean_of(values));
    let edge = (n / STEP_EDGE_SHARE).max(2);
    let mut sum = 0.0;
    let mut best: Option<(f64, usize)> = None;
    for place in 1..n {
        sum += values[place - 1] - mean;
        // By so much the two levels reduce the sum of squares around one.
        let gain = sum * sum * (1.0 / place as f64 + 1.0 / (n - place) as f64);
        let inside = (edge..=n - edge).contains(&place);
        if inside && best.is_none_or(|(most, _)| gain > most) {
            best = Some((gain, place));
        }
    }
    let (before, after) = values.split_at(best?.1);
    let around = |part: &[f64]| {
        let level = mean_of(part);
        part.iter().map(|y| y - level).collect::<Vec<_>>()
    };
    Some([around(before), around(after)].concat())
}

/// Change from one value to the next along the line of least squares.
pub(crate) fn slope(values: &[f64]) -> f64 {
    let (centre, mean) = ((values.len() as f64 - 1.0) / 2.0, mean_of(values));
    let (mut xy, mut xx) = (0.0, 0.0);
    for (place, y) in values.iter().enumerate() {
        let x = place as f64 - centre;
        xy += x * (y - mean);
        xx += x * x;
    }
    xy / xx
}

pub(crate) fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn sum_of_squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variance_of_the_change_has_known_answers() {
        // Independent values: 2 / third. Two of three values fully alike: 1 + 1 - 2 r^2.
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
        // One value far from the others is no step.
        let mut spike = vec![100.0; 60];
        spike[59] = 900.0;
        assert!(!is_real(&spike));
    }
}
