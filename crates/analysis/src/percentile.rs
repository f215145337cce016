//! Percentiles of times with 95 % intervals, or the statement that there are too few samples.
//!
//! Within a window the interval is Woodruff's: the share of operations above the percentile's value
//! is a ratio of two sums over intervals, so it has the uncertainty of a ratio estimator with the
//! effective number of intervals. The percentiles at the ends of that interval are the ends of the
//! percentile's. Unlike a binomial interval of ranks, this does not assume independent operations:
//! a stall delays many at the same time.
//!
//! Sources: Woodruff, "Confidence intervals for medians and other position measures", J. American
//! Statistical Association 47, 1952; Cochran, "Sampling Techniques", 3rd ed. 1977, 6.3.

use metrics::histogram::{Counts, bucket_of};

use crate::estimate::{Estimate, Method, SAMPLES_ABOVE_MIN};

/// A percentile of times, unless there are too few samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentile {
    /// The share of samples that do not exceed the value, 0 to 1.
    pub fraction: f64,
    /// The time in nanoseconds; `None` with fewer than [`SAMPLES_ABOVE_MIN`] samples above.
    pub value_ns: Option<u64>,
    /// Number of samples above.
    pub samples_above: u64,
    /// Ends of the 95 % interval in nanoseconds; `None` with too little data.
    pub interval_ns: Option<[f64; 2]>,
    /// Number of independent samples behind the interval: intervals or repeats.
    pub samples: f64,
    /// The source of the interval.
    pub method: Method,
}

impl Percentile {
    /// The percentile of `counts`, without an interval.
    pub fn of(counts: &Counts, fraction: f64) -> Percentile {
        let samples_above = counts.samples_above(fraction);
        let value_ns =
            counts.percentile_ns(fraction).filter(|_| samples_above >= SAMPLES_ABOVE_MIN);
        Percentile {
            fraction,
            value_ns,
            samples_above,
            interval_ns: None,
            samples: 0.0,
            method: Method::Unknown,
        }
    }

    /// The percentile with the uncertainty from the repeats' values.
    fn between_repeats(self, repeats: &[f64]) -> Percentile {
        let Some(value_ns) = self.value_ns.filter(|_| repeats.len() > 1) else { return self };
        let estimate = Estimate::between_repeats(value_ns as f64, repeats);
        let ends = |half: f64| [(estimate.value - half).max(0.0), estimate.value + half];
        Percentile {
            interval_ns: estimate.uncertainty.map(ends),
            samples: estimate.samples,
            method: estimate.method,
            ..self
        }
    }
}

/// The percentiles of a window at ascending `fractions`. `whole` is the sum of `parts`, each with
/// the number of its interval, below `intervals`. With several `repeats`, the uncertainty comes
/// from them.
pub fn percentiles<'a>(
    fractions: &[f64],
    whole: &Counts,
    parts: impl Iterator<Item = (u32, &'a Counts)>,
    intervals: usize,
    repeats: &[&[Percentile]],
) -> Vec<Percentile> {
    let found: Vec<Percentile> = fractions.iter().map(|f| Percentile::of(whole, *f)).collect();
    if repeats.len() > 1 {
        let of_repeats = |index: usize| -> Vec<f64> {
            let own = repeats.iter().filter_map(|repeat| repeat.get(index)?.value_ns);
            own.map(|ns| ns as f64).collect()
        };
        let each = found.into_iter().enumerate();
        return each.map(|(index, p)| p.between_repeats(&of_repeats(index))).collect();
    }
    let above = Above::of(&found, parts, intervals);
    let each = found.into_iter().enumerate();
    each.map(|(index, percentile)| within_window(percentile, whole, &above, index)).collect()
}

/// Operations above each percentile in each interval.
struct Above {
    /// `counts[percentile][interval]`.
    counts: Vec<Vec<f64>>,
    /// `totals[interval]`.
    totals: Vec<f64>,
}

impl Above {
    fn of<'a>(
        found: &[Percentile],
        parts: impl Iterator<Item = (u32, &'a Counts)>,
        intervals: usize,
    ) -> Above {
        // A percentile without a value needs no counts.
        let bucket = |p: &Percentile| p.value_ns.map_or(u32::MAX, bucket_of);
        let buckets: Vec<u32> = found.iter().map(bucket).collect();
        let mut counts = vec![vec![0.0; intervals]; found.len()];
        let mut totals = vec![0.0; intervals];
        for (interval, part) in parts {
            let interval = interval as usize;
            // From the longest down, so each percentile has all counts above it.
            let mut above = part.over_range;
            let mut rows = part.buckets.iter().rev().peekable();
            for (index, bucket) in buckets.iter().enumerate().rev() {
                while let Some((_, count)) = rows.next_if(|(longer, _)| longer > bucket) {
                    above += count;
                }
                counts[index][interval] += above as f64;
            }
            totals[interval] += (above + rows.map(|(_, count)| count).sum::<u64>()) as f64;
        }
        Above { counts, totals }
    }
}

fn within_window(found: Percentile, whole: &Counts, above: &Above, index: usize) -> Percentile {
    if found.value_ns.is_none() {
        return found;
    }
    let Some(share) = Estimate::of_ratio(&above.counts[index], &above.totals) else { return found };
    let interval_ns = share.uncertainty.and_then(|half| ends(found.fraction, half, whole));
    let method = if interval_ns.is_some() { share.method } else { Method::Unknown };
    Percentile { interval_ns, samples: share.samples, method, ..found }
}

/// The percentiles at both ends of a share's interval; `None` if the upper one is past the
/// second-to-last sample, which leaves it unbounded.
fn ends(fraction: f64, half: f64, whole: &Counts) -> Option<[f64; 2]> {
    let high = fraction + half;
    if high >= 1.0 || whole.samples_above(high) == 0 {
        return None;
    }
    let low = whole.percentile_ns((fraction - half).max(0.0))?;
    Some([low as f64, whole.percentile_ns(high)? as f64])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::{Level, of_percentiles};

    fn counted(times: &[u64]) -> Counts {
        let mut counts = Counts::default();
        for time_ns in times {
            counts.merge(&Counts {
                buckets: vec![(bucket_of(*time_ns), 1)],
                over_range: 0,
                sum_ns: u128::from(*time_ns),
                min_ns: *time_ns,
                max_ns: *time_ns,
            });
        }
        counts
    }

    fn of_parts(parts: &[Counts], fractions: &[f64]) -> Vec<Percentile> {
        let mut whole = Counts::default();
        parts.iter().for_each(|part| whole.merge(part));
        let numbered = parts.iter().enumerate().map(|(n, part)| (n as u32, part));
        percentiles(fractions, &whole, numbered, parts.len(), &[])
    }

    #[test]
    fn a_percentile_with_nine_samples_above_is_not_a_number() {
        let counts = |total: u64| Counts {
            buckets: vec![(100, total)],
            over_range: 0,
            sum_ns: u128::from(total) * 100,
            min_ns: 100,
            max_ns: 100,
        };
        let few = Percentile::of(&counts(900), 0.99);
        assert_eq!((few.samples_above, few.value_ns), (9, None));
        let enough = Percentile::of(&counts(1000), 0.99);
        assert_eq!((enough.samples_above, enough.value_ns), (10, Some(100)));
        assert_eq!(Percentile::of(&Counts::default(), 0.5).value_ns, None);
    }

    #[test]
    fn the_interval_of_a_median_is_that_of_the_share_above_it() {
        // Five intervals with the times 1 to 100 ns; a fifth of each above 80, but in the first
        // 10 of its 20 lie above the median of 50, in the others 8, 12, 9, 11.
        let interval = |above: u64, from: u64| -> Counts {
            let low = (0..20 - above).map(|n| 1 + (from * 7 + n * 3) % 50);
            let high = (0..above).map(|n| 51 + (from * 11 + n * 5) % 50);
            counted(&low.chain(high).collect::<Vec<u64>>())
        };
        let parts = [10, 8, 12, 9, 11].map(|above| interval(above, above));
        let median = of_parts(&parts, &[0.5])[0];
        let value = median.value_ns.unwrap();
        assert!((45..=55).contains(&value), "{value}");
        // Residuals 0 -2 2 -1 1: mean square 2; n' = 5; half-width 2.776445 * sqrt(2 / 4) / 20.
        let half = 2.776_445 * (0.5_f64).sqrt() / 20.0;
        let mut whole = Counts::default();
        parts.iter().for_each(|part| whole.merge(part));
        let low = whole.percentile_ns(0.5 - half).unwrap() as f64;
        let high = whole.percentile_ns(0.5 + half).unwrap() as f64;
        assert_eq!(median.interval_ns, Some([low, high]));
        assert_eq!((median.method, median.samples), (Method::Intervals, 5.0));
    }

    #[test]
    fn degenerate_windows_have_the_narrowest_valid_interval() {
        let same = counted(&[100; 200]);
        let six = of_parts(&vec![same.clone(); 6], &[0.5, 0.99, 0.9999]);
        assert_eq!(six[0].interval_ns, Some([100.0, 100.0]));
        assert_eq!(six[1].interval_ns, Some([100.0, 100.0]));
        assert_eq!((six[2].value_ns, six[2].interval_ns), (None, None), "too few above");
        let four = of_parts(&vec![same.clone(); 4], &[0.5]);
        assert_eq!((four[0].interval_ns, four[0].method), (None, Method::Unknown));
        // All samples above are in one interval, so their share is unknown.
        let mut stalled = vec![same; 6];
        stalled[3].merge(&counted(&[900; 11]));
        assert_eq!(of_parts(&stalled, &[0.99])[0].interval_ns, None);
    }

    #[test]
    fn repeats_give_a_percentile_the_interval_of_their_values() {
        let whole = counted(&[100; 40]);
        let of = |value_ns: u64| {
            [Percentile { value_ns: Some(value_ns), ..Percentile::of(&whole, 0.5) }]
        };
        let repeats = [of(98), of(100), of(102)];
        let repeats: Vec<&[Percentile]> = repeats.iter().map(|one| one.as_slice()).collect();
        let found = percentiles(&[0.5], &whole, std::iter::empty(), 0, &repeats)[0];
        // s = 2, t(2) = 4.302653, 4.302653 * 2 / sqrt(3) = 4.968275.
        let [low, high] = found.interval_ns.unwrap();
        assert!((low - 95.031_725).abs() < 1e-5 && (high - 104.968_275).abs() < 1e-5);
        assert_eq!((found.method, found.samples), (Method::Repeats, 3.0));
    }

    #[test]
    fn the_interval_of_a_percentile_covers_the_truth_in_95_of_100() {
        let covered = of_percentiles(11, 500, Level::Same);
        let good = |(covered, given): &(f64, f64)| (92.0..=98.5).contains(covered) && *given > 95.0;
        assert!(covered.iter().all(good), "{covered:?}");
    }

    #[test]
    fn operations_of_one_interval_may_be_slow_together() {
        let covered = of_percentiles(11, 500, Level::EachItsOwn);
        assert!(covered.iter().all(|(covered, _)| (92.0..=98.5).contains(covered)), "{covered:?}");
        // 20 samples lie above the p99, sometimes all of them in few intervals.
        assert!((65.0..=85.0).contains(&covered[2].1), "{covered:?}");
    }
}
