//! A measured number with its uncertainty.
//!
//! The mean of a window is a ratio of two sums over intervals (operations over seconds, nanoseconds
//! over operations), so its uncertainty is that of a ratio estimator. Neighbouring intervals of a
//! storage system resemble each other; the number of intervals is therefore reduced to the
//! equivalent number of independent ones, see [`effective`](crate::effective).
//!
//! Sources: Cochran, "Sampling Techniques", 3rd ed. 1977, section 6.3 (ratio estimator); Law,
//! "Simulation Modeling and Analysis", section 9.5 (autocorrelated output).

use statistics::distributions::t95;

use crate::effective::effective_samples;

/// Fewer intervals than this give no uncertainty.
pub const INTERVALS_MIN: usize = 5;
/// Fewer samples than this above a percentile give no percentile.
pub const SAMPLES_ABOVE_MIN: u64 = 10;

/// A measured number: a value with the half-width of its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The value, in the unit of the field's name.
    pub value: f64,
    /// Half-width of the 95 % interval, in the same unit; `None` if there are too few samples.
    pub uncertainty: Option<f64>,
    /// Number of independent samples for the uncertainty: intervals, or repeats.
    pub samples: f64,
    /// How the uncertainty was computed.
    pub method: Method,
}

/// How an uncertainty was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// From the intervals of one window, corrected for their correlation.
    Intervals,
    /// From the differences between repeats.
    Repeats,
    /// Not computed: too few intervals, or none.
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
    /// A value of unknown uncertainty.
    pub const fn bare(value: f64) -> Estimate {
        Estimate { value, uncertainty: None, samples: 0.0, method: Method::Unknown }
    }

    /// The ratio of the sums of `numerators` and `denominators`, one pair for each interval of one
    /// window; `None` where the denominators sum to 0.
    ///
    /// Half-width: `t95(n' - 1) * s / (sqrt(n' - 1) * mean(denominators))`, where `s` is the root
    /// mean square of `numerator - value * denominator` and `n'` the effective number of intervals,
    /// see [`effective_samples`]. (This is the textbook's form with `n'` instead of `n`: the
    /// squared deviations from a mean are too small by the factor `(n' - 1) / n'`, and `n'` samples
    /// contribute to the mean.) Below [`INTERVALS_MIN`] intervals there is no uncertainty.
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

    /// `value`, with the uncertainty from the differences between the repeats' values:
    /// `t95(R - 1) * s / sqrt(R)`. At least two repeats.
    pub fn between_repeats(value: f64, repeats: &[f64]) -> Estimate {
        let count = repeats.len() as f64;
        assert!(repeats.len() > 1, "an uncertainty needs two repeats");
        let mean = repeats.iter().sum::<f64>() / count;
        let variance = repeats.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let half_width = t95(count - 1.0) * (variance / count).sqrt();
        let (uncertainty, method) = (Some(half_width), Method::Repeats);
        Estimate { value, uncertainty, samples: count, method }
    }

    /// The estimate in another unit: `factor` of those are one of this.
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

/// The values of one estimate over the repeats that have it.
pub(crate) fn of_repeats<T>(repeats: &[&T], pick: fn(&T) -> Option<Estimate>) -> Vec<f64> {
    repeats.iter().filter_map(|r| pick(r)).map(|estimate| estimate.value).collect()
}

/// The estimate over all intervals, with the uncertainty from repeats if there are two or more.
pub(crate) fn with_repeats(whole: Option<Estimate>, repeats: &[f64]) -> Option<Estimate> {
    match repeats.len() {
        0 | 1 => whole,
        _ => whole.map(|estimate| Estimate::between_repeats(estimate.value, repeats)),
    }
}

/// Mean of estimates weighted by precision. Its interval combines their intervals and their
/// disagreement (Birge ratio: Birge, Physical Review 40, 1932). Estimates without an interval are
/// ignored; `None` if none has one.
pub(crate) fn weighted(estimates: impl Iterator<Item = Estimate>) -> Option<Estimate> {
    /// Lower bound of a relative interval.
    const HALF_MIN: f64 = 1e-4;
    let known: Vec<(Estimate, f64)> = estimates
        .filter_map(|one| Some((one, one.uncertainty?.max(HALF_MIN * one.value.abs()))))
        .filter(|(_, half)| *half > 0.0)
        .collect();
    let weight = |half: f64| 1.0 / (half * half);
    let sum: f64 = known.iter().map(|(_, half)| weight(*half)).sum();
    let (first, _) = *known.first()?;
    if known.iter().all(|(one, _)| one.value == first.value) {
        // Rounding must not change a value that all agree on.
        return Some(Estimate { uncertainty: Some(1.0 / sum.sqrt()), ..first });
    }
    let value = known.iter().map(|(one, half)| one.value * weight(*half)).sum::<f64>() / sum;
    // In units of half-widths, which are about two standard errors.
    let squares: f64 =
        known.iter().map(|(one, half)| (2.0 * (one.value - value) / half).powi(2)).sum();
    let degrees = known.len().saturating_sub(1).max(1) as f64;
    let disagreement = (squares / degrees).sqrt().max(1.0);
    Some(Estimate {
        value,
        uncertainty: Some(disagreement / sum.sqrt()),
        samples: known.iter().map(|(one, _)| one.samples).sum(),
        method: first.method,
    })
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
