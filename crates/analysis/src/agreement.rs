//! Whether repeats of a load point differ by more than their own intervals explain.
//!
//! Source: Welch, "On the comparison of several mean values", Biometrika 38, 1951: an analysis of
//! variance without the assumption of equal variances. The number of values of each repeat is its
//! effective number of intervals.

use statistics::distributions::{f_upper_tail, t95};

use crate::estimate::{Estimate, Method};

/// Significance level.
const CHANCE_MAX: f64 = 0.01;
/// Lower bound of a repeat's relative standard error, for intervals without any scatter.
const ERROR_MIN: f64 = 1e-4;

/// The agreement of a load point's repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// Difference between the highest and the lowest repeat, relative to the mean.
    pub spread: f64,
    /// Welch's F: variance between repeats divided by that within them; about 1 if they agree.
    pub f: f64,
    /// The p-value: the probability of such a difference by chance.
    pub chance: f64,
    /// The index of the single repeat without which the others agree, if any.
    pub differs: Option<usize>,
}

impl Agreement {
    /// Whether the repeats differ by more than their intervals explain.
    pub fn disagree(&self) -> bool {
        self.chance < CHANCE_MAX
    }
}

/// Tests whether repeats agree. `None` with fewer than two whose intervals give an uncertainty.
pub fn agreement(repeats: &[Estimate]) -> Option<Agreement> {
    let known: Vec<Known> = repeats.iter().filter_map(Known::of).collect();
    if known.len() < repeats.len() {
        return None;
    }
    let (f, chance) = welch(&known)?;
    let values = || repeats.iter().map(|estimate| estimate.value);
    let mean = values().sum::<f64>() / repeats.len() as f64;
    let spread =
        values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min);
    let differs = (chance < CHANCE_MAX && known.len() > 2).then(|| one_that_differs(&known));
    let differs = differs.flatten();
    (mean != 0.0).then(|| Agreement { spread: spread / mean.abs(), f, chance, differs })
}

/// The repeat without which the others agree best, if they agree then.
fn one_that_differs(known: &[Known]) -> Option<usize> {
    let without = |index: usize| {
        let others = known.iter().enumerate().filter(|(other, _)| *other != index);
        let others: Vec<Known> = others.map(|(_, known)| *known).collect();
        welch(&others).map(|(_, chance)| (index, chance))
    };
    let best = (0..known.len()).filter_map(without).max_by(|a, b| a.1.total_cmp(&b.1));
    best.filter(|(_, chance)| *chance >= CHANCE_MAX).map(|(index, _)| index)
}

/// A repeat's mean with its uncertainty.
#[derive(Clone, Copy)]
struct Known {
    value: f64,
    /// Squared standard error.
    variance: f64,
    /// Effective number of intervals.
    samples: f64,
}

impl Known {
    fn of(estimate: &Estimate) -> Option<Known> {
        let half_width = estimate.uncertainty.filter(|_| estimate.method == Method::Intervals)?;
        let error =
            (half_width / t95(estimate.samples - 1.0)).max(ERROR_MIN * estimate.value.abs());
        let (value, variance) = (estimate.value, error * error);
        (error > 0.0).then_some(Known { value, variance, samples: estimate.samples })
    }
}

/// Welch's F and its p-value.
fn welch(repeats: &[Known]) -> Option<(f64, f64)> {
    if repeats.len() < 2 {
        return None;
    }
    let k = repeats.len() as f64;
    let weights = || repeats.iter().map(|r| 1.0 / r.variance);
    let all: f64 = weights().sum();
    let mean = repeats.iter().zip(weights()).map(|(r, w)| w * r.value).sum::<f64>() / all;
    let between = repeats.iter().zip(weights()).map(|(r, w)| w * (r.value - mean).powi(2));
    let between = between.sum::<f64>() / (k - 1.0);
    let shares = repeats.iter().zip(weights());
    let variation: f64 = shares.map(|(r, w)| (1.0 - w / all).powi(2) / (r.samples - 1.0)).sum();
    let f = between / (1.0 + 2.0 * (k - 2.0) / (k * k - 1.0) * variation);
    Some((f, f_upper_tail(f, k - 1.0, (k * k - 1.0) / (3.0 * variation))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    fn repeat(value: f64, error: f64, samples: f64) -> Estimate {
        let uncertainty = Some(error * t95(samples - 1.0));
        Estimate { value, uncertainty, samples, method: Method::Intervals }
    }

    #[test]
    fn two_repeats_have_the_answer_of_welchs_t_test() {
        // Difference 4 with squared error 1 + 1 = 2: F = t^2 = 8, degrees (1 + 1)^2 / (1/9 + 1/9) =
        // 18; the two-sided 1 % point of t(18) is 2.878, t = 2.828: just above 1 %.
        let found = agreement(&[repeat(100.0, 1.0, 10.0), repeat(104.0, 1.0, 10.0)]).unwrap();
        assert!((found.f - 8.0).abs() < 1e-6 && (found.spread - 4.0 / 102.0).abs() < 1e-12);
        assert!((0.010..0.012).contains(&found.chance) && !found.disagree(), "{found:?}");
    }

    #[test]
    fn the_repeat_that_differs_is_named() {
        let of = |value| repeat(value, 1.0, 20.0);
        let found = agreement(&[of(100.0), of(101.0), of(90.0), of(99.0)]).unwrap();
        assert!(found.disagree());
        assert_eq!(found.differs, Some(2));
        // Two against two: no single repeat.
        let found = agreement(&[of(100.0), of(101.0), of(90.0), of(89.0)]).unwrap();
        assert_eq!((found.disagree(), found.differs), (true, None));
        assert_eq!(agreement(&[of(100.0), Estimate::bare(90.0)]), None);
    }

    #[test]
    fn repeats_of_one_truth_disagree_in_about_one_of_a_hundred() {
        let mut draws = Draws::new(21);
        let called = (0..1_000).filter(|_| {
            let repeats: Vec<Estimate> = (0..4)
                .map(|_| {
                    let values: Vec<f64> = (0..20).map(|_| 100.0 + 5.0 * draws.normal()).collect();
                    Estimate::of_ratio(&values, &[1.0; 20]).unwrap()
                })
                .collect();
            agreement(&repeats).unwrap().disagree()
        });
        let called = called.count();
        assert!((1..=20).contains(&called), "{called} of 1,000");
    }
}
