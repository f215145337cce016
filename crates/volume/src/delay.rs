//! The delay of the emulated storage, separate from throughput limits.
//!
//! For: drawing a request's delay from a distribution: constant, lognormal or measured. Each draw is
//! a function of the seed and the request's number, so that a run can be repeated. Not for: delays by
//! limits (`qos.rs`) or timers (`wheel.rs`).
//!
//! It is a delay centre in the sense of queueing networks (Lazowska et al. 1984): requests do not
//! queue.

use crate::random;

/// The 99th percentile of the standard normal distribution.
const NORMAL_P99: f64 = 2.326_347_874_040_841;

/// A distribution of delays.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// The same delay for every request.
    Constant {
        /// The delay.
        ns: u64,
    },
    /// The logarithm is normally distributed: most delays are near the median, with a long tail.
    Lognormal {
        /// The median.
        median_ns: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// A measured distribution.
    Measured(Measured),
}

impl Distribution {
    /// The lognormal distribution with this median and 99th percentile; `None` unless
    /// `0 < median <= p99`.
    pub fn lognormal(median_ns: u64, p99_ns: u64) -> Option<Distribution> {
        if median_ns == 0 || p99_ns < median_ns {
            return None;
        }
        let sigma = (p99_ns as f64 / median_ns as f64).ln() / NORMAL_P99;
        Some(Distribution::Lognormal { median_ns: median_ns as f64, sigma })
    }

    /// The delay of request `index` in the sequence of `seed`.
    pub fn draw_ns(&self, seed: u64, index: u64) -> u64 {
        match self {
            Distribution::Constant { ns } => *ns,
            Distribution::Lognormal { median_ns, sigma } => {
                // Box and Muller, "A note on the generation of random normal deviates", 1958.
                let radius = (-2.0 * random::open_unit(random::bits(seed, 2 * index)).ln()).sqrt();
                let turn = random::open_unit(random::bits(seed, 2 * index + 1));
                let normal = radius * (turn * std::f64::consts::TAU).cos();
                (median_ns * (sigma * normal).exp()).round() as u64
            }
            Distribution::Measured(measured) => {
                measured.at_fraction_ns(random::open_unit(random::bits(seed, index)))
            }
        }
    }

    /// A lower bound of the delay, not always the minimum.
    pub fn least_ns(&self) -> u64 {
        match self {
            Distribution::Constant { ns } => *ns,
            Distribution::Lognormal { .. } => 0,
            Distribution::Measured(measured) => measured.at_fraction_ns(0.0),
        }
    }

    /// The mean: `median x exp(sigma^2 / 2)` for a lognormal distribution.
    pub fn mean_ns(&self) -> f64 {
        match self {
            Distribution::Constant { ns } => *ns as f64,
            Distribution::Lognormal { median_ns, sigma } => median_ns * (sigma * sigma / 2.0).exp(),
            Distribution::Measured(measured) => measured.mean_ns(),
        }
    }
}

/// A measured distribution: the cumulative distribution at some values, interpolated linearly.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// `(fraction, value_ns)`: both non-decreasing; the first fraction is 0, the last 1.
    points: Vec<(f64, f64)>,
}

/// What is wrong with the text of a measured distribution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeasuredError {
    /// A line is not in the format of HdrHistogram.
    #[error("line {line}: {problem}")]
    Line {
        /// The line number, from 1.
        line: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// The text ends before the fraction 1.
    #[error("the distribution ends before percentile 1.0")]
    Truncated,
    /// The text has more than one distribution.
    #[error("the file has more than one distribution; keep one")]
    Several,
}

impl Measured {
    /// Reads a percentile file of HdrHistogram (`outputPercentileDistribution`): lines of value,
    /// fraction, count and `1/(1 - fraction)`. The heading and lines that begin with `#` are skipped.
    ///
    /// * `ns_per_unit` — the unit of the values, such as 1,000 for microseconds
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn parse(text: &str, ns_per_unit: f64) -> Result<Measured, MeasuredError> {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let wrong = |problem| MeasuredError::Line { line: index + 1, problem };
            let mut words = line.split_whitespace();
            let Some(first) = words.next().filter(|word| !word.starts_with('#')) else { continue };
            if first == "Value" {
                continue;
            }
            let number = |word: Option<&str>| {
                word.and_then(|word| word.parse::<f64>().ok())
                    .filter(|n| n.is_finite() && *n >= 0.0)
            };
            let value = number(Some(first)).ok_or_else(|| wrong("the value is not a number"))?;
            let fraction = number(words.next())
                .filter(|fraction| *fraction <= 1.0)
                .ok_or_else(|| wrong("the percentile is not a number from 0 to 1"))?;
            let value_ns = value * ns_per_unit;
            match points.last() {
                // The fraction 1 may be printed twice, but is always last.
                Some((before, _)) if *before >= 1.0 && fraction < 1.0 => {
                    return Err(MeasuredError::Several);
                }
                Some((before, _)) if fraction < *before => {
                    return Err(wrong("the percentile is lower than on the line before"));
                }
                Some((_, before)) if value_ns < *before => {
                    return Err(wrong("the value is lower than on the line before"));
                }
                // Fractions below the first line have its value.
                None if fraction > 0.0 => points.push((0.0, value_ns)),
                _ => {}
            }
            points.push((fraction, value_ns));
        }
        match points.last() {
            Some((fraction, _)) if *fraction >= 1.0 => Ok(Measured { points }),
            _ => Err(MeasuredError::Truncated),
        }
    }

    /// The value at a fraction from 0 to 1.
    fn at_fraction_ns(&self, fraction: f64) -> u64 {
        let after = self.points.partition_point(|(at, _)| *at < fraction);
        let (to, high) = self.points[after.min(self.points.len() - 1)];
        let (from, low) = self.points[after.saturating_sub(1)];
        if to <= from {
            return high.round() as u64;
        }
        (low + (high - low) * (fraction - from) / (to - from)).round() as u64
    }

    fn mean_ns(&self) -> f64 {
        let area = |pair: &[(f64, f64)]| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1) / 2.0;
        self.points.windows(2).map(area).sum()
    }
}

/// How far clients are from an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// In the same zone.
    Near,
    /// In another zone or farther.
    Far,
}

/// The kinds of requests with separate delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// READ.
    Read,
    /// WRITE.
    Write,
    /// All other procedures; delayed like reads.
    Other,
}

/// The delays of a service.
#[derive(Clone, Debug, PartialEq)]
pub struct DelayModel {
    /// The seed of all draws.
    pub seed: u64,
    /// Reads at near endpoints.
    pub read: Distribution,
    /// Writes at near endpoints.
    pub write: Distribution,
    /// Reads at far endpoints.
    pub far_read: Distribution,
    /// Writes at far endpoints.
    pub far_write: Distribution,
}

impl DelayModel {
    /// The distribution of a kind at a distance.
    pub const fn distribution(&self, distance: Distance, kind: RequestKind) -> &Distribution {
        match (distance, kind) {
            (Distance::Near, RequestKind::Write) => &self.write,
            (Distance::Near, RequestKind::Read | RequestKind::Other) => &self.read,
            (Distance::Far, RequestKind::Write) => &self.far_write,
            (Distance::Far, RequestKind::Read | RequestKind::Other) => &self.far_read,
        }
    }

    /// The delay of the service's request number `index`.
    pub fn draw_ns(&self, distance: Distance, kind: RequestKind, index: u64) -> u64 {
        self.distribution(distance, kind).draw_ns(self.seed, index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u64 = 200_000;

    fn sorted(distribution: &Distribution, seed: u64) -> Vec<u64> {
        let mut draws: Vec<u64> = (0..DRAWS).map(|i| distribution.draw_ns(seed, i)).collect();
        draws.sort_unstable();
        draws
    }

    fn percentile(sorted: &[u64], fraction: f64) -> f64 {
        sorted[(fraction * (sorted.len() - 1) as f64) as usize] as f64
    }

    fn mean(draws: &[u64]) -> f64 {
        draws.iter().sum::<u64>() as f64 / draws.len() as f64
    }

    #[track_caller]
    fn assert_near(measured: f64, expected: f64, tolerance: f64) {
        let error = (measured / expected - 1.0).abs();
        assert!(error < tolerance, "{measured} instead of {expected}");
    }

    /// Abramowitz and Stegun 7.1.26, within 1.5e-7.
    fn normal_cdf(x: f64) -> f64 {
        let z = x.abs() / std::f64::consts::SQRT_2;
        let t = 1.0 / (1.0 + 0.327_591_1 * z);
        let series = t
            * (0.254_829_592
                + t * (-0.284_496_736
                    + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
        let upper = series * (-z * z).exp() / 2.0;
        if x < 0.0 { upper } else { 1.0 - upper }
    }

    #[test]
    fn a_constant_delay_is_constant() {
        let constant = Distribution::Constant { ns: 500_000 };
        assert!((0..100).all(|index| constant.draw_ns(1, index) == 500_000));
        assert_eq!(constant.mean_ns(), 500_000.0);
    }

    #[test]
    fn a_lognormal_distribution_has_its_median_its_p99_and_its_mean() {
        let lognormal = Distribution::lognormal(500_000, 2_000_000).unwrap();
        let draws = sorted(&lognormal, 42);
        assert_near(percentile(&draws, 0.5), 500_000.0, 0.01);
        assert_near(percentile(&draws, 0.99), 2_000_000.0, 0.02);
        // sigma = ln 4 / 2.3263 = 0.59591; exp(sigma^2 / 2) = 1.19430.
        assert_near(lognormal.mean_ns(), 500_000.0 * 1.194_30, 1e-5);
        assert_near(mean(&draws), lognormal.mean_ns(), 0.01);
    }

    #[test]
    fn lognormal_draws_pass_the_kolmogorov_smirnov_test() {
        let (median, p99) = (300_000, 1_500_000);
        let lognormal = Distribution::lognormal(median, p99).unwrap();
        let sigma = (p99 as f64 / median as f64).ln() / NORMAL_P99;
        let draws = sorted(&lognormal, 7);
        let difference = |(index, ns): (usize, &u64)| {
            let expected = normal_cdf((*ns as f64 / median as f64).ln() / sigma);
            (expected - index as f64 / DRAWS as f64).abs()
        };
        let largest = draws.iter().enumerate().map(difference).fold(0.0, f64::max);
        // 1.63 / sqrt(n) is the bound at a level of 1 %. The seed is fixed, so no run fails by chance.
        assert!(largest < 1.63 / (DRAWS as f64).sqrt(), "{largest}");
    }

    #[test]
    fn a_lognormal_distribution_needs_a_median_above_0_and_at_most_its_p99() {
        assert_eq!(Distribution::lognormal(0, 5), None);
        assert_eq!(Distribution::lognormal(6, 5), None);
        let flat = Distribution::lognormal(5, 5).unwrap();
        assert_eq!((flat.draw_ns(1, 1), flat.mean_ns()), (5, 5.0));
    }

    const HDR: &str = "\
       Value     Percentile TotalCount 1/(1-Percentile)

     100.000 0.000000000000          1           1.00
     200.000 0.500000000000        500           2.00
     400.000 0.900000000000        900          10.00
    1000.000 0.990000000000        990         100.00
    5000.000 1.000000000000       1000
#[Mean    =      300.000, StdDeviation   =       12.000]
#[Max     =     5000.000, Total count    =         1000]
";

    #[test]
    fn draws_of_a_measured_distribution_have_its_percentiles() {
        let measured = Measured::parse(HDR, 1e3).unwrap();
        assert_eq!(measured.at_fraction_ns(0.25), 150_000);
        let distribution = Distribution::Measured(measured);
        let draws = sorted(&distribution, 3);
        assert_near(percentile(&draws, 0.5), 200_000.0, 0.01);
        assert_near(percentile(&draws, 0.9), 400_000.0, 0.01);
        assert_near(percentile(&draws, 0.945), 700_000.0, 0.01);
        assert!(draws[0] >= 100_000 && draws[DRAWS as usize - 1] <= 5_000_000);
        // 0.5 x 150 + 0.4 x 300 + 0.09 x 700 + 0.01 x 3,000 us.
        assert_near(distribution.mean_ns(), 288_000.0, 1e-9);
        assert_near(mean(&draws), 288_000.0, 0.01);
    }

    #[test]
    fn a_malformed_distribution_is_refused_with_the_line() {
        let error = |text: &str| Measured::parse(text, 1.0).unwrap_err().to_string();
        assert_eq!(error(""), "the distribution ends before percentile 1.0");
        assert_eq!(error("10 0.5 5 2.0\n"), "the distribution ends before percentile 1.0");
        assert_eq!(error("# a\nfast 0.5\n"), "line 2: the value is not a number");
        assert_eq!(error("1 50\n"), "line 1: the percentile is not a number from 0 to 1");
        assert_eq!(error("5 0.5\n4 1.0\n"), "line 2: the value is lower than on the line before");
        assert_eq!(
            error("5 0.5\n6 0.4\n"),
            "line 2: the percentile is lower than on the line before"
        );
        assert!(error(&format!("{HDR}{HDR}")).contains("more than one"));
    }

    #[test]
    fn the_same_seed_and_number_give_the_same_delay() {
        let model = DelayModel {
            seed: 9,
            read: Distribution::lognormal(1000, 9000).unwrap(),
            write: Distribution::Constant { ns: 2 },
            far_read: Distribution::Constant { ns: 3 },
            far_write: Distribution::Constant { ns: 4 },
        };
        let draw = |distance, kind| model.draw_ns(distance, kind, 77);
        assert_eq!(
            draw(Distance::Near, RequestKind::Read),
            draw(Distance::Near, RequestKind::Other)
        );
        assert_eq!(draw(Distance::Near, RequestKind::Write), 2);
        assert_eq!(draw(Distance::Far, RequestKind::Other), 3);
        assert_eq!(draw(Distance::Far, RequestKind::Write), 4);
        let other = DelayModel { seed: 10, ..model.clone() };
        let differ = |i: &u64| {
            model.draw_ns(Distance::Near, RequestKind::Read, *i)
                != other.draw_ns(Distance::Near, RequestKind::Read, *i)
        };
        assert!((0..100).filter(differ).count() > 90);
    }
}
