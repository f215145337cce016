//! Where the transient at the start of a run ends: MSER-5, compared with the planned warm-up.
//!
//! For: whether the warm-up was long enough. Not for: choosing the window; the plan does that, and
//! nothing is removed silently.
//!
//! Sources: White, "An effective truncation heuristic for bias reduction in simulation output",
//! Simulation 69(6), 1997 (MSER); Franklin and White, "Stationarity tests and MSER-5", Winter
//! Simulation Conference 2008 (batches of five).

use crate::effective::effective_samples;
use crate::trend::interpolated;

/// Values per batch if there are enough: the five of MSER-5.
const BATCH: usize = 5;
/// Batches that the rule needs to recognise a shape. With few values, batches become smaller.
const BATCHES_MIN: usize = 20;
/// Fewer values than this are not judged.
const VALUES_MIN: usize = 10;
/// A bias of the window's mean below this share is ignored.
pub const BIAS_MIN: f64 = 0.01;
/// `(intervals of the window, standard errors)`: in at most 5 % of stationary windows the head
/// differs by more from the rest, for every correlation of neighbours from 0 to 0.9 (simulated with
/// 10,000 windows each, MSER choosing the head). At least three.
const DEVIATIONS_MIN: [(f64, f64); 8] = [
    (10.0, 5.7),
    (15.0, 5.5),
    (20.0, 4.6),
    (30.0, 4.3),
    (45.0, 3.9),
    (60.0, 3.65),
    (120.0, 3.2),
    (300.0, 3.0),
];

/// Where the rule truncates a series of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Values before the cut, a whole number of batches.
    pub values: usize,
    /// Values per batch: 5, or fewer in a short series.
    pub batch: usize,
    /// The minimum is at the last allowed position, half of the series: the rule found no end of
    /// the transient.
    pub no_end: bool,
}

/// Truncates where the standard error of the remaining values is least: over all numbers of batches
/// `d` up to half of `k`, the least `sum over i > d of (z_i - mean)^2 / (k - d)^2`.
///
/// Batches have five values if that gives 20 or more batches, otherwise fewer, at least one. `None`
/// with fewer than ten values.
pub fn mser(values: &[f64]) -> Option<Cut> {
    if values.len() < VALUES_MIN {
        return None;
    }
    let batch = (values.len() / BATCHES_MIN).clamp(1, BATCH);
    // Leave out the incomplete batch at the end, after the transient.
    let batches: Vec<f64> =
        values.chunks_exact(batch).map(|chunk| chunk.iter().sum::<f64>() / batch as f64).collect();
    let k = batches.len();
    let allowed = k / 2;
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    let shift = batches[k - 1];
    for d in (0..k).rev() {
        // Shifted, so that the difference of two large sums keeps its digits.
        let z = batches[d] - shift;
        sum += z;
        squares += z * z;
        let left = (k - d) as f64;
        let error = (squares - sum * sum / left).max(0.0) / (left * left);
        if d <= allowed && error <= best.0 {
            best = (error, d);
        }
    }
    let no_end = best.1 == allowed && best.1 > 0;
    Some(Cut { values: best.1 * batch, batch, no_end })
}

/// Relative bias of the mean of `window`, because its first `head` values are before the cut.
/// `None` if the bias is zero, small, or explained by noise.
pub fn bias(window: &[f64], head: usize) -> Option<f64> {
    let (before, after) = window.split_at(head.min(window.len()));
    if before.is_empty() || after.len() < 2 {
        return None;
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let settled = mean(after);
    let deviations: Vec<f64> = after.iter().map(|v| v - settled).collect();
    let n = after.len() as f64;
    let variance = deviations.iter().map(|e| e * e).sum::<f64>() / (n - 1.0);
    // The head has the same autocorrelation as the rest.
    let likeness = n / effective_samples(&deviations);
    let error = (variance * likeness * (1.0 / before.len() as f64 + 1.0 / n)).sqrt();
    let apart = (mean(before) - settled).abs();
    let bias = (mean(window) - settled) / settled;
    let is_noise = apart <= interpolated(&DEVIATIONS_MIN, window.len()) * error;
    (settled != 0.0 && bias.abs() > BIAS_MIN && !is_noise).then_some(bias)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    #[test]
    fn the_cut_falls_where_a_transient_ends() {
        // A ramp of 20 values, then 100 equal ones: the remaining error is 0 from there on, and the
        // first such position counts.
        let step = |i: usize| if i < 20 { 100.0 - 4.0 * (20 - i) as f64 } else { 100.0 };
        let values: Vec<f64> = (0..120).map(step).collect();
        assert_eq!(mser(&values), Some(Cut { values: 20, batch: 5, no_end: false }));
        // 60 values make 20 batches of three, 12 make 12 batches of one.
        assert_eq!(mser(&values[..60]), Some(Cut { values: 21, batch: 3, no_end: false }));
        let short: Vec<f64> = [50.0, 90.0].into_iter().chain([100.0; 10]).collect();
        assert_eq!(mser(&short), Some(Cut { values: 2, batch: 1, no_end: false }));
        assert_eq!(mser(&short[..9]), None);
        // Constant values are not truncated.
        assert_eq!(mser(&[7.0; 40]).map(|cut| cut.values), Some(0));
    }

    #[test]
    fn a_known_series_has_a_known_cut() {
        // Ten batches of one: 9 5 1 2 1 2 1 2 1 2. After two: squares 8 * 0.25 = 2 over 64; after
        // one: mean 17/9, squares 12.889 over 81; after three: 7 values, squares 12/7 over 49.
        let values = [9.0, 5.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0];
        assert_eq!(mser(&values), Some(Cut { values: 2, batch: 1, no_end: false }));
    }

    #[test]
    fn a_series_that_keeps_changing_has_no_end_of_its_transient() {
        let ramp: Vec<f64> = (0..40).map(f64::from).collect();
        assert_eq!(mser(&ramp), Some(Cut { values: 20, batch: 2, no_end: true }));
    }

    #[test]
    fn a_transient_in_the_window_is_a_bias_and_noise_is_none() {
        let transient: Vec<f64> =
            (0..60).map(|i| if i < 6 { 200.0 } else { 100.0 + f64::from(i % 3) }).collect();
        // The mean of all is 10 % * 200 + 90 % * 101 = 110.9, of the rest 101.
        assert!((bias(&transient, 6).unwrap() - 9.9 / 101.0).abs() < 1e-12);
        assert_eq!(bias(&transient, 0), None);
        let mut draws = Draws::new(3);
        let called = (0..300).filter(|_| {
            let noise: Vec<f64> = (0..60).map(|_| 100.0 + 10.0 * draws.normal()).collect();
            mser(&noise).is_some_and(|cut| bias(&noise, cut.values).is_some())
        });
        // The rule chooses the head that differs most, so it fails more often than a fixed head.
        let called = called.count();
        assert!(called < 15, "{called} of 300 steady windows were called biased");
    }

    #[test]
    fn a_correlated_start_is_not_called_a_warm_up_that_was_too_short() {
        // Designed for 5 % at the worst correlation. At that rate more than 6 % of 4,000 fail with
        // a probability of 0.2 %.
        for n in [20, 60, 120] {
            for r in [0.0, 0.6, 0.9] {
                let called = crate::simulated::false_alarms(29, 4_000, n, r, 0.5).warm_up;
                assert!(called <= 6.0, "r = {r}, n = {n}: {called} %");
            }
        }
    }
}
