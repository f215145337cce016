//! Values that lie far from the others: named, with time and size, and never dropped. Every figure
//! counts them.
//!
//! Sources: Hampel, J. American Statistical Association 69, 1974, and Davies and Gather, same 88,
//! 1993 (median and median absolute deviation, for intervals); Grubbs, Technometrics 11, 1969 (one
//! outlier among few normal values, for repeats).

use crate::distributions::t_quantile;

/// An interval lies apart where it is this many scaled median absolute deviations from the median:
/// of normal intervals one in two million does.
const DEVIATIONS_MIN: f64 = 5.0;
/// What makes the median absolute deviation of normal values their standard deviation.
const SCALE: f64 = 1.482_6;
/// An interval that differs by less than this share of the median is none, however alike the others
/// are.
const SHARE_MIN: f64 = 0.10;
/// More than this share of the intervals are another state of the target, not outliers.
const PLACES_SHARE_MAX: f64 = 0.20;
/// Fewer intervals than this are not judged.
const INTERVALS_MIN: usize = 10;
/// Fewer repeats than this are not judged.
const REPEATS_MIN: usize = 5;
/// Repeats that differ by less than this share of their mean are not judged.
const REPEAT_SHARE_MIN: f64 = 0.05;
/// How often a test of normal repeats may name one.
const CHANCE: f64 = 0.05;

/// Values that lie far from the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Outliers {
    /// The median of all values.
    pub median: f64,
    /// Their places, farthest first.
    pub places: Vec<usize>,
}

/// The values that lie more than five scaled median absolute deviations, and more than 10 %, from
/// the median. `None` where there are none, where they are more than a fifth of all (which is not
/// outliers but a target with two states, and for [`steady`](crate::steady) to judge), and below
/// ten values.
pub fn of_intervals(values: &[f64]) -> Option<Outliers> {
    if values.len() < INTERVALS_MIN {
        return None;
    }
    let median = median_of(values.to_vec());
    let distances: Vec<f64> = values.iter().map(|v| (v - median).abs()).collect();
    let deviation = SCALE * median_of(distances.clone());
    let limit = (DEVIATIONS_MIN * deviation).max(SHARE_MIN * median.abs());
    let mut places: Vec<usize> = (0..values.len()).filter(|p| distances[*p] > limit).collect();
    places.sort_by(|a, b| distances[*b].total_cmp(&distances[*a]));
    let few = places.len() as f64 <= PLACES_SHARE_MAX * values.len() as f64;
    (!places.is_empty() && few).then_some(Outliers { median, places })
}

/// The repeat that lies too far from the others for five and more normal values (Grubbs' two-sided
/// test at 5 %) and by more than 5 % of their mean.
pub fn of_repeats(values: &[f64]) -> Option<usize> {
    if values.len() < REPEATS_MIN {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let distance = |place: usize| (values[place] - mean).abs();
    let farthest = (0..values.len()).max_by(|a, b| distance(*a).total_cmp(&distance(*b)))?;
    let t = t_quantile(1.0 - CHANCE / (2.0 * n), n - 2.0);
    let critical = (n - 1.0) / n.sqrt() * (t * t / (n - 2.0 + t * t)).sqrt();
    let apart = distance(farthest);
    (apart > critical * variance.sqrt() && apart > REPEAT_SHARE_MIN * mean.abs())
        .then_some(farthest)
}

fn median_of(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        0 => (values[middle - 1] + values[middle]) / 2.0,
        _ => values[middle],
    }
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
        assert_eq!((found.median, found.places), (100.0, vec![9, 4]));
        assert_eq!(of_intervals(&values[..9]), None);
    }

    #[test]
    fn intervals_that_scatter_widely_have_no_outliers() {
        // Median absolute deviation 20: five scaled ones are 148.
        let values: Vec<f64> = (0..21).map(|i| 100.0 + 20.0 * f64::from(i % 3)).collect();
        assert_eq!(of_intervals(&values), None);
        // Every other interval is no outlier but half of what there is.
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
