//! The difference and the ratio of two means, with their 95 % intervals.
//!
//! Sources: B. L. Welch, Biometrika 34, 1947, with the degrees of freedom of F. E. Satterthwaite,
//! Biometrics Bulletin 2, 1946; E. C. Fieller, Journal of the Royal Statistical Society B 16, 1954
//! (the interval of a ratio).

use statistics::distributions::{t_both_tails, t_quantile};

/// The level of intervals and tests.
pub const LEVEL: f64 = 0.05;
/// The power: the probability of finding a difference of the detectable size.
pub const POWER: f64 = 0.80;

/// A mean with its variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// Its value.
    pub value: f64,
    /// The parts of its variance, each `(variance of the mean, degrees of freedom)`; infinite
    /// degrees if the variance is given and not estimated.
    pub variances: [(f64, f64); 2],
}

impl Mean {
    /// The mean of independent numbers; at least two.
    pub fn of(values: &[f64]) -> Mean {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
        Mean::known_by(mean, squares / (count - 1.0) / count, count - 1.0)
    }

    /// A mean whose variance was estimated with this many degrees of freedom.
    pub const fn known_by(value: f64, variance: f64, degrees: f64) -> Mean {
        Mean { value, variances: [(variance, degrees), (0.0, f64::INFINITY)] }
    }

    /// The same with `factor` times the variance.
    pub fn widened(&self, factor: f64) -> Mean {
        let wider = |(variance, degrees): (f64, f64)| (factor * variance, degrees);
        Mean { variances: self.variances.map(wider), ..*self }
    }

    /// The same with at least this `variance`.
    pub fn with_least_variance(&self, variance: f64) -> Mean {
        match self.variance() < variance {
            true => Mean::known_by(self.value, variance, self.variances[0].1),
            false => *self,
        }
    }

    /// The variance of the mean.
    pub fn variance(&self) -> f64 {
        self.variances.iter().map(|(variance, _)| variance).sum()
    }

    /// The half-width of its 95 % interval.
    pub fn half_width(&self) -> f64 {
        t_quantile(1.0 - LEVEL / 2.0, degrees(&[self])) * self.variance().sqrt()
    }
}

/// The difference between two means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The second minus the first.
    pub value: f64,
    /// Half-width of its 95 % interval.
    pub half_width: f64,
    /// Welch's degrees of freedom.
    pub degrees: f64,
    /// Two-sided p-value of Welch's test that there is no difference.
    pub p: f64,
    /// The second over the first; `None` unless the first is significantly above 0.
    pub ratio: Option<Ratio>,
}

/// A ratio with its 95 % interval, which is not symmetrical.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The second mean over the first.
    pub value: f64,
    /// The interval's lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// Compares `second` with `first`.
///
/// Without any variance there is no scale for the difference, and p is 1.
pub fn difference(first: &Mean, second: &Mean) -> Difference {
    difference_with(first, second, degrees(&[first, second]))
}

/// The same with known degrees of freedom.
pub fn difference_with(first: &Mean, second: &Mean, degrees: f64) -> Difference {
    let variance = first.variance() + second.variance();
    let value = second.value - first.value;
    let t = t_quantile(1.0 - LEVEL / 2.0, degrees);
    let error = variance.sqrt();
    let p = if error > 0.0 { t_both_tails(value / error, degrees) } else { 1.0 };
    Difference { value, half_width: t * error, degrees, p, ratio: ratio(first, second, t) }
}

/// Satterthwaite's degrees of freedom of a sum of variances, never below 1.
pub fn degrees(means: &[&Mean]) -> f64 {
    let (mut sum, mut squares) = (0.0, 0.0);
    for mean in means {
        for (variance, degrees) in mean.variances {
            sum += variance;
            squares += variance * variance / degrees;
        }
    }
    if squares > 0.0 { (sum * sum / squares).max(1.0) } else { f64::INFINITY }
}

/// Fieller's interval: the ratios `r` for which `second - r first` lies within `t` standard errors
/// of 0. With the degrees of freedom of the difference it excludes 1 exactly if Welch's test finds
/// a difference, so the two never contradict each other.
fn ratio(first: &Mean, second: &Mean, t: f64) -> Option<Ratio> {
    let (a, b) = (first.value, second.value);
    let (a_variance, b_variance) = (t * t * first.variance(), t * t * second.variance());
    // r^2 (a^2 - va) - 2 r a b + (b^2 - vb) <= 0
    let square = a * a - a_variance;
    if a <= 0.0 || square <= 0.0 {
        return None;
    }
    let root = (a * a * b * b - square * (b * b - b_variance)).max(0.0).sqrt();
    // The compared values are never negative, so neither is the ratio.
    let low = ((a * b - root) / square).max(0.0);
    Some(Ratio { value: b / a, low, high: (a * b + root) / square })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: f64, known: f64, tolerance: f64) {
        assert!((found - known).abs() <= tolerance, "{found} is not {known}");
    }

    #[test]
    fn welchs_test_is_that_of_r() {
        // R, `t.test(extra ~ group, data = sleep)`: t = -1.8608, df = 17.776, p = 0.07939, 95 %
        // interval -3.3654832 to 0.2054832 (group 1 minus group 2), means 0.75 and 2.33.
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let found = difference(&Mean::of(&first), &Mean::of(&second));
        near(found.value, 1.58, 1e-12);
        near(found.degrees, 17.776, 0.000_6);
        near(found.p, 0.079_39, 0.000_005);
        near(found.value - found.half_width, -0.205_483_2, 1e-6);
        near(found.value + found.half_width, 3.365_483_2, 1e-6);
        // The first mean may be 0: no ratio.
        assert_eq!(found.ratio, None);
    }

    #[test]
    fn the_interval_of_the_ratio_ends_where_the_difference_is_no_longer_found() {
        let first = Mean::of(&[98.0, 100.0, 102.0, 101.0]);
        let second = Mean::of(&[109.0, 113.0, 111.0, 110.0]);
        let found = difference(&first, &second);
        let ratio = found.ratio.unwrap();
        near(ratio.value, 110.75 / 100.25, 1e-12);
        let t = t_quantile(0.975, found.degrees);
        for end in [ratio.low, ratio.high] {
            let error = (second.variance() + end * end * first.variance()).sqrt();
            near(((second.value - end * first.value) / error).abs(), t, 1e-9);
        }
        assert!(found.p < LEVEL && ratio.low > 1.0);
    }

    #[test]
    fn means_without_variance_give_no_test() {
        let same = difference(&Mean::of(&[5.0; 3]), &Mean::of(&[5.0; 3]));
        assert_eq!((same.p, same.half_width), (1.0, 0.0));
        let other = difference(&Mean::of(&[5.0; 3]), &Mean::of(&[6.0; 3]));
        assert_eq!((other.p, other.half_width), (1.0, 0.0));
        assert_eq!(other.ratio.unwrap(), Ratio { value: 1.2, low: 1.2, high: 1.2 });
    }

    #[test]
    fn a_variance_that_is_given_takes_no_degrees_of_freedom() {
        let alone = Mean::known_by(100.0, 1.0, 4.0);
        let given = Mean { value: 100.0, variances: [(1.0, 4.0), (9.0, f64::INFINITY)] };
        near(degrees(&[&alone]), 4.0, 1e-12);
        near(degrees(&[&given]), 400.0, 1e-9);
        near(given.half_width(), t_quantile(0.975, 400.0) * 10.0_f64.sqrt(), 1e-9);
    }
}
