//! Outliers: reported with time and size, and included in all figures.
//!
//! Sources: Hampel, J. American Statistical Association 69, 1974, and Davies and Gather, same 88,
//! 1993 (median and median absolute deviation, for intervals); Grubbs, Technometrics 11, 1969 (one
//! outlier among few normal values, for repeats).

use statistics::average::median;
use statistics::distributions::t_quantile;

/// Scaled median absolute deviations from the median that make an interval an outlier: 1 in 2
/// million normal intervals.
const DEVIATIONS_MIN: f64 = 5.0;
/// Ratio of the standard deviation to the median absolute deviation of normal values.
const SCALE: f64 = 1.482_6;
/// Smallest relative distance from the median of an outlier.
const SHARE_MIN: f64 = 0.10;
/// More intervals than this share are a second state of the target, not outliers.
const OUTLIERS_SHARE_MAX: f64 = 0.20;
/// Fewest intervals to judge.
const INTERVALS_MIN: usize = 10;
/// Fewest repeats to judge.
const REPEATS_MIN: usize = 5;
/// Smallest relative difference of an outlying repeat.
const REPEAT_SHARE_MIN: f64 = 0.05;
/// Significance level of the test of repeats.
const CHANCE: f64 = 0.05;

/// Outliers of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Outliers {
    /// The median of all values.
    pub median: f64,
    /// Their indices, farthest first.
    pub indices: Vec<usize>,
}

/// Values more than five scaled median absolute deviations and more than 10 % from the median.
/// `None` if there are none, if they are more than a fifth of all (a target with two states, see
/// [`steady`](crate::steady)), or with fewer than ten values.
pub fn of_intervals(values: &[f64]) -> Option<Outliers> {
    if values.len() < INTERVALS_MIN {
        return None;
    }
    let middle = median(values)?;
    let distances: Vec<f64> = values.iter().map(|v| (v - middle).abs()).collect();
    let deviation = SCALE * median(&distances)?;
    let limit = (DEVIATIONS_MIN * deviation).max(SHARE_MIN * middle.abs());
    let mut indices: Vec<usize> = (0..values.len()).filter(|p| distances[*p] > limit).collect();
    indices.sort_by(|a, b| distances[*b].total_cmp(&distances[*a]));
    let few = indices.len() as f64 <= OUTLIERS_SHARE_MAX * values.len() as f64;
    (!indices.is_empty() && few).then_some(Outliers { median: middle, indices })
}

/// The repeat that is an outlier of five or more normal values (Grubbs' two-sided test at 5 %) and
/// more than 5 % from their mean.
pub fn of_repeats(values: &[f64]) -> Option<usize> {
    if values.len() < REPEATS_MIN {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let distance = |index: usize| (values[index] - mean).abs();
    let farthest = (0..values.len()).max_by(|a, b| distance(*a).total_cmp(&distance(*b)))?;
    let t = t_quantile(1.0 - CHANCE / (2.0 * n), n - 2.0);
    let critical = (n - 1.0) / n.sqrt() * (t * t / (n - 2.0 + t * t)).sqrt();
    let apart = distance(farthest);
    (apart > critical * variance.sqrt() && apart > REPEAT_SHARE_MIN * mean.abs())
        .then_some(farthest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_far_from_the_median_is_named_and_the_farthest_first() {
        // Median 100, absolute deviations 0 1 1 ...: the limit is 10 %.
        let mut values: Vec<f64> = (0..21).map(|i| 99.0 + f64::from(i % 3)).collect();
        assert_eq!(of_intervals(&values), None);
        (values[4], values[9]) = (60.0, 0.0);
        let found = of_intervals(&values).unwrap();
        assert_eq!((found.median, found.indices), (100.0, vec![9, 4]));
        assert_eq!(of_intervals(&values[..9]), None);
    }

    #[test]
    fn intervals_that_scatter_widely_have_no_outliers() {
        // Median absolute deviation 20: five scaled ones are 148.
        let values: Vec<f64> = (0..21).map(|i| 100.0 + 20.0 * f64::from(i % 3)).collect();
        assert_eq!(of_intervals(&values), None);
        // Every other interval: half of the values, not outliers.
        let values: Vec<f64> = (0..21).map(|i| 100.0 + 40.0 * f64::from(i % 2)).collect();
        assert_eq!(of_intervals(&values), None);
    }

    #[test]
    fn a_repeat_is_named_by_the_test_of_grubbs() {
        // Tables list 1.715 as the two-sided 5 % point for five values and 2.290 for ten.
        let five = [100.0, 101.0, 99.0, 100.0, 130.0];
        assert_eq!(of_repeats(&five), Some(4));
        assert_eq!(of_repeats(&[100.0, 110.0, 90.0, 105.0, 120.0]), None);
        assert_eq!(of_repeats(&five[..4]), None);
        // Far for the test, but by 1 % only.
        assert_eq!(of_repeats(&[100.0, 100.1, 99.9, 100.0, 101.0]), None);
    }
}
