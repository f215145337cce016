//! A measured number with its uncertainty.
//!
//! The mean of a window is a ratio of two sums over intervals (operations over seconds, nanoseconds
//! over operations), so its uncertainty is that of a ratio estimator. Neighbouring intervals of a
//! storage system resemble each other; the number of intervals is therefore reduced to the number
//! of independent ones that would tell as much, see [`effective`](crate::effective).
//!
//! Sources: Cochran, "Sampling Techniques", 3rd ed. 1977, section 6.3 (ratio estimator); Law,
//! "Simulation Modeling and Analysis", section 9.5 (autocorrelated output).

use crate::distributions::t95;
use crate::effective::effective_samples;

/// Fewer intervals than this give no uncertainty.
pub const INTERVALS_MIN: usize = 5;
/// Fewer samples than this above a percentile, and it is not a number.
pub const SAMPLES_ABOVE_MIN: u64 = 10;

/// A measured number: a value with the half-width of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The number, in the unit that its field's name says.
    pub value: f64,
    /// Half-width of the 95 % interval, in the same unit; `None` where there is too little to tell.
    pub uncertainty: Option<f64>,
    /// How many independent samples the uncertainty rests on: intervals, or repeats.
    pub samples: f64,
    /// How the uncertainty was made.
    pub method: Method,
}

/// How an uncertainty was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// From the intervals of one window, corrected for their correlation.
    Intervals,
    /// From the differences between repeats.
    Repeats,
    /// Not at all: too few intervals, or none.
    Unknown,
}

impl Method {
    /// The name in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Method::Intervals => "intervals",
            Method::Repeats => "repeats",
            Method::Unknown => "unknown",
        }
    }
}

impl Estimate {
    /// A number of which only the value is known.
    pub const fn bare(value: f64) -> Estimate {
        Estimate { value, uncertainty: None, samples: 0.0, method: Method::Unknown }
    }

    /// The ratio of the sums of `numerators` and `denominators`, one pair for each interval of one
    /// window; `None` where the denominators sum to 0.
    ///
    /// Half-width: `t95(n' - 1) * s / (sqrt(n' - 1) * mean(denominators))`, where `s` is the root
    /// of the mean square of `numerator - value * denominator` and `n'` the effective number of
    /// intervals, see [`effective_samples`]. (With `n'` in the place of `n` this is the textbook's
    /// form: deviations from a mean are too small by `(n' - 1) / n'` of their square, and `n'`, not
    /// `n`, samples made the mean.) Below [`INTERVALS_MIN`] intervals there is no uncertainty.
    pub fn of_ratio(numerators: &[f64], denominators: &[f64]) -> Option<Estimate> {
        assert_eq!(numerators.len(), denominators.len(), "one pair for each interval");
        let denominator_sum: f64 = denominators.iter().sum();
        if denominator_sum <= 0.0 {
            return None;
        }
        let value = numerators.iter().sum::<f64>() / denominator_sum;
        let n = numerators.len();
        if n < INTERVALS_MIN {
            return Some(Estimate { samples: n as f64, ..Estimate::bare(value) });
        }
        let residuals: Vec<f64> =
            numerators.iter().zip(denominators).map(|(a, b)| a - value * b).collect();
        // The residuals sum to 0 by construction, so their squares are the deviations.
        let mean_square = residuals.iter().map(|e| e * e).sum::<f64>() / n as f64;
        let samples = effective_samples(&residuals);
        let denominator_mean = denominator_sum / n as f64;
        let half_width =
            t95(samples - 1.0) * (mean_square / (samples - 1.0)).sqrt() / denominator_mean;
        Some(Estimate { value, uncertainty: Some(half_width), samples, method: Method::Intervals })
    }

    /// `value`, with the uncertainty that the differences between the repeats' own values show:
    /// `t95(R - 1) * s / sqrt(R)`. At least two repeats.
    pub fn between_repeats(value: f64, repeats: &[f64]) -> Estimate {
        let count = repeats.len() as f64;
        assert!(repeats.len() > 1, "a difference needs two repeats");
        let mean = repeats.iter().sum::<f64>() / count;
        let variance = repeats.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let half_width = t95(count - 1.0) * (variance / count).sqrt();
        let (uncertainty, method) = (Some(half_width), Method::Repeats);
        Estimate { value, uncertainty, samples: count, method }
    }

    /// The same in another unit, `factor` of which are one of this.
    pub fn scaled(self, factor: f64) -> Estimate {
        Estimate {
            value: self.value * factor,
            uncertainty: self.uncertainty.map(|half| half * factor.abs()),
            ..self
        }
    }

    /// The standard error behind the half-width: without Student's factor for few samples. 0 where
    /// no uncertainty is known.
    pub fn standard_error(&self) -> f64 {
        self.uncertainty.map_or(0.0, |half| half / t95(self.samples - 1.0))
    }

    /// The half-width as a share of the value; `None` where either is missing or the value is 0.
    pub fn relative(&self) -> Option<f64> {
        self.uncertainty.filter(|_| self.value != 0.0).map(|half| half / self.value.abs())
    }
}

/// The value of one estimate of each repeat that has it.
pub(crate) fn of_repeats<T>(repeats: &[&T], pick: fn(&T) -> Option<Estimate>) -> Vec<f64> {
    repeats.iter().filter_map(|r| pick(r)).map(|estimate| estimate.value).collect()
}

/// The estimate over all intervals, with the uncertainty that repeats show where there are some.
pub(crate) fn with_repeats(whole: Option<Estimate>, repeats: &[f64]) -> Option<Estimate> {
    match repeats.len() {
        0 | 1 => whole,
        _ => whole.map(|estimate| Estimate::between_repeats(estimate.value, repeats)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_uncorrelated_intervals_has_students_half_width() {
        // Mean 10, deviations -2 2 -2 2 ... are anticorrelated: counted as independent, not as
        // better.
        let rates = [8.0, 12.0, 8.0, 12.0, 8.0, 12.0];
        let estimate = Estimate::of_ratio(&rates, &[1.0; 6]).unwrap();
        assert_eq!(estimate.value, 10.0);
        assert_eq!(estimate.samples, 6.0);
        // s = sqrt(6 * 4 / 5) = 2.190890; t(5) = 2.570582; 2.570582 * 2.190890 / sqrt(6) =
        // 2.299198.
        assert!((estimate.uncertainty.unwrap() - 2.299_198).abs() < 1e-5);
        assert_eq!(estimate.method, Method::Intervals);
    }

    #[test]
    fn correlated_intervals_count_for_fewer() {
        // Deviations -1 -1 -1 1 1 1: n' = 3, the fewest that is said (see `effective`).
        let rates = [9.0, 9.0, 9.0, 11.0, 11.0, 11.0];
        let estimate = Estimate::of_ratio(&rates, &[1.0; 6]).unwrap();
        assert_eq!(estimate.samples, 3.0);
        // The mean square is 1; t(2) = 4.302653; 4.302653 * sqrt(1 / 2) = 3.042435.
        assert!((estimate.uncertainty.unwrap() - 3.042_435).abs() < 1e-5);
    }

    #[test]
    fn a_ratio_weighs_intervals_by_their_operations() {
        // 10 operations of 100 ns and 30 of 200 ns: the mean is 175 ns, not 150 ns.
        let estimate = Estimate::of_ratio(&[1000.0, 6000.0], &[10.0, 30.0]).unwrap();
        assert_eq!(estimate.value, 175.0);
        assert_eq!(estimate.uncertainty, None);
        assert_eq!(estimate.method, Method::Unknown);
        assert_eq!(Estimate::of_ratio(&[0.0], &[0.0]), None);
    }

    #[test]
    fn repeats_give_the_uncertainty_by_their_differences() {
        let estimate = Estimate::between_repeats(100.0, &[98.0, 100.0, 102.0]);
        // s = 2, t(2) = 4.302653, 4.302653 * 2 / sqrt(3) = 4.968275.
        assert!((estimate.uncertainty.unwrap() - 4.968_275).abs() < 1e-5);
        assert_eq!(estimate.samples, 3.0);
        assert!((estimate.relative().unwrap() - 0.049_682_75).abs() < 1e-7);
    }
}
