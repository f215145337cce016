//! Summaries of operations' times: mean, percentiles, and the whole distribution in HdrHistogram's
//! steps.

use metrics::histogram::{Counts, bucket_high_ns, bucket_low_ns};
use units::Nanos;

use crate::estimate::{Estimate, SAMPLES_ABOVE_MIN};
use crate::percentile::Percentile;

/// The percentiles of every summary, as fractions.
pub const FRACTIONS: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];
/// Steps of the distribution per halving of the distance to 100 %: HdrHistogram's default.
const STEPS_PER_HALF_DISTANCE: f64 = 5.0;

/// Service or response times of some operations.
#[derive(Clone, Debug, PartialEq)]
pub struct Times {
    /// Number of operations.
    pub samples: u64,
    /// Mean, in nanoseconds; `None` without operations.
    pub mean_ns: Option<Estimate>,
    /// Exact minimum, in nanoseconds.
    pub min_ns: Option<u64>,
    /// Exact maximum, in nanoseconds.
    pub max_ns: Option<u64>,
    /// Standard deviation, computed from the middle of each bucket.
    pub deviation: Option<Nanos>,
    /// Number of times above the histogram's 60 s. Percentiles among them show the maximum.
    pub over_range: u64,
    /// The percentiles of [`FRACTIONS`], in that order.
    pub percentiles: Vec<Percentile>,
    /// The whole distribution, in the steps of HdrHistogram's percentile iterator.
    pub distribution: Vec<DistributionRow>,
}

/// One step of a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistributionRow {
    /// The time that `fraction` of the samples do not exceed, in nanoseconds (upper edge of the
    /// bucket).
    pub value_ns: u64,
    /// The share of samples, 0 to 1.
    pub fraction: f64,
    /// Number of samples up to and including this value.
    pub samples_to_here: u64,
}

impl Times {
    /// Summarises `counts`. The caller provides `mean_ns` and the `percentiles` of [`FRACTIONS`],
    /// because their uncertainty comes from the intervals or repeats.
    pub(crate) fn of(
        counts: &Counts,
        mean_ns: Option<Estimate>,
        percentiles: Vec<Percentile>,
    ) -> Times {
        let some = counts.total() > 0;
        Times {
            samples: counts.total(),
            mean_ns,
            min_ns: some.then_some(counts.min_ns),
            max_ns: some.then_some(counts.max_ns),
            deviation: deviation(counts),
            over_range: counts.over_range,
            percentiles,
            distribution: distribution(counts),
        }
    }

    /// The percentile of `fraction`, one of [`FRACTIONS`].
    pub fn percentile(&self, fraction: f64) -> Option<&Percentile> {
        self.percentiles.iter().find(|p| p.fraction == fraction)
    }

    /// The part of the distribution with enough samples for a chart.
    pub fn drawable(&self) -> impl Iterator<Item = &DistributionRow> {
        self.distribution
            .iter()
            .take_while(|row| self.samples - row.samples_to_here >= SAMPLES_ABOVE_MIN)
    }
}

/// Standard deviation of the samples, each counted at the middle of its bucket as in HdrHistogram;
/// times above the range count as the maximum.
fn deviation(counts: &Counts) -> Option<Nanos> {
    let mean = counts.mean_ns()?;
    let mut squares = counts.over_range as f64 * (counts.max_ns as f64 - mean).powi(2);
    for (bucket, count) in &counts.buckets {
        let middle = (bucket_low_ns(*bucket) + bucket_high_ns(*bucket)) as f64 / 2.0;
        squares += *count as f64 * (middle - mean).powi(2);
    }
    Some(Nanos((squares / counts.total() as f64).sqrt()))
}

/// The steps of HdrHistogram's percentile iterator: five between 0 and 50 %, five between 50 and 75
/// %, and so on, then 100 %.
///
/// Source: HdrHistogram (Tene), `PercentileIterator.java`.
fn distribution(counts: &Counts) -> Vec<DistributionRow> {
    let total = counts.total();
    let mut rows = Vec::new();
    let mut level = 0.0;
    let mut samples_to_here = 0;
    let over_range = (counts.over_range > 0).then_some((counts.max_ns, counts.over_range));
    let buckets = counts
        .buckets
        .iter()
        .map(|(bucket, count)| (bucket_high_ns(*bucket).min(counts.max_ns), *count))
        .chain(over_range);
    for (value_ns, count) in buckets {
        samples_to_here += count;
        let reached = 100.0 * samples_to_here as f64 / total as f64;
        while level < 100.0 && reached >= level {
            rows.push(DistributionRow { value_ns, fraction: level / 100.0, samples_to_here });
            if samples_to_here == total {
                break;
            }
            let halvings = (100.0_f64 / (100.0 - level)).log2().floor() + 1.0;
            level += 100.0 / (STEPS_PER_HALF_DISTANCE * halvings.exp2());
        }
    }
    if total > 0 {
        let value_ns = counts.max_ns;
        rows.push(DistributionRow { value_ns, fraction: 1.0, samples_to_here: total });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use metrics::histogram::Histogram;

    fn counts(samples: &[u64]) -> Counts {
        let mut histogram = Histogram::default();
        samples.iter().for_each(|ns| histogram.record(*ns));
        let mut counts = Counts::default();
        histogram.drain_into(&mut counts);
        counts
    }

    #[test]
    fn a_distribution_has_five_steps_for_each_halving_and_ends_with_all() {
        // Exact buckets: 1 to 8 ns.
        let rows = distribution(&counts(&[1, 2, 3, 4, 5, 6, 7, 8]));
        let known = [
            (1, 0.0, 1),
            (1, 0.1, 1),
            (2, 0.2, 2),
            (3, 0.3, 3),
            (4, 0.4, 4),
            (4, 0.5, 4),
            (5, 0.55, 5),
            (5, 0.6, 5),
            (6, 0.65, 6),
            (6, 0.7, 6),
            (6, 0.75, 6),
            (7, 0.775, 7),
            (7, 0.8, 7),
            (7, 0.825, 7),
            (7, 0.85, 7),
            (7, 0.875, 7),
            (8, 0.8875, 8),
            (8, 1.0, 8),
        ];
        assert_eq!(rows.len(), known.len(), "{rows:?}");
        for (row, (value_ns, fraction, samples)) in rows.iter().zip(known) {
            assert_eq!((row.value_ns, row.samples_to_here), (value_ns, samples), "{row:?}");
            assert!((row.fraction - fraction).abs() < 1e-12, "{row:?}");
        }
    }

    #[test]
    fn the_deviation_is_that_of_the_samples() {
        // Mean 5, squares 16 + 0 + 16.
        let found = deviation(&counts(&[1, 5, 9])).expect("there are samples");
        assert!((found.0 - (32.0_f64 / 3.0).sqrt()).abs() < 1e-9, "{found:?}");
        assert_eq!(deviation(&Counts::default()), None);
    }
}
