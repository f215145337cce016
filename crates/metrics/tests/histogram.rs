//! The properties of histograms: width of buckets, merging and percentiles, compared with the
//! sorted samples and with HdrHistogram.

use metrics::histogram::{
    BUCKETS, Counts, Histogram, RANGE_MAX_NS, bucket_high_ns, bucket_low_ns, bucket_of,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// The maximum error of the histogram: 0.1 % of the time.
const ERROR_MAX: f64 = 0.001;
const FRACTIONS: [f64; 12] =
    [0.0, 0.01, 0.07, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0];

fn counts_of(samples: &[u64]) -> Counts {
    let mut histogram = Histogram::default();
    for sample in samples {
        histogram.record(*sample);
    }
    let mut counts = Counts::default();
    histogram.drain_into(&mut counts);
    counts
}

/// Times of every magnitude: as many between 1 and 2 us as between 1 and 2 s.
fn any_time() -> impl Strategy<Value = u64> {
    (0..36u32, any::<u64>()).prop_map(|(magnitude, bits)| {
        let low = 1u64 << magnitude;
        (low + bits % low).min(RANGE_MAX_NS)
    })
}

/// Mostly times within range, sometimes 0 or far above it.
fn any_time_at_all() -> impl Strategy<Value = u64> {
    prop_oneof![
        20 => any_time(),
        1 => Just(0),
        1 => RANGE_MAX_NS..100 * RANGE_MAX_NS,
    ]
}

/// The nearest-rank percentile of the samples: that of rank `ceil(fraction * n)`; the fraction is
/// in ten-thousandths to avoid rounding.
fn nearest_rank_percentile(sorted: &[u64], ten_thousandths: u64) -> u64 {
    let rank = (ten_thousandths * sorted.len() as u64).div_ceil(10_000).max(1);
    sorted[rank as usize - 1]
}

#[test]
fn every_time_up_to_60_s_has_one_bucket_at_most_a_thousandth_wide() {
    for bucket in 0..BUCKETS as u32 {
        let (low, high) = (bucket_low_ns(bucket), bucket_high_ns(bucket));
        assert!(low <= high);
        assert_eq!((bucket_of(low), bucket_of(high)), (bucket, bucket));
        assert_eq!(bucket_of(high + 1), bucket + 1, "buckets have no gaps");
        // A percentile is the bucket's upper boundary, whatever time is in it.
        let error = (high - low) as f64 / low.max(1) as f64;
        assert!(error <= ERROR_MAX, "bucket {bucket}: {error}");
    }
    assert_eq!(bucket_of(0), 0);
    assert_eq!(bucket_of(RANGE_MAX_NS) as usize, BUCKETS - 1);
    assert!(bucket_low_ns(BUCKETS as u32) > RANGE_MAX_NS);
}

#[test]
fn times_above_range_are_counted_with_their_exact_sum_and_maximum() {
    let beyond = bucket_low_ns(BUCKETS as u32);
    let counts = counts_of(&[5, RANGE_MAX_NS, beyond - 1, beyond, 3 * RANGE_MAX_NS]);
    assert_eq!(counts.over_range, 2);
    assert_eq!(counts.buckets, [(5, 1), (BUCKETS as u32 - 1, 2)]);
    assert_eq!(counts.total(), 5);
    assert_eq!(counts.max_ns, 3 * RANGE_MAX_NS);
    assert_eq!(counts.min_ns, 5);
    let sum = 5 + u128::from(RANGE_MAX_NS) * 4 + u128::from(beyond) * 2 - 1;
    assert_eq!(counts.sum_ns, sum);
    assert_eq!(counts.mean_ns(), Some(sum as f64 / 5.0));
    assert_eq!(counts.percentile_ns(0.2), Some(5));
    assert_eq!(counts.percentile_ns(0.7), Some(3 * RANGE_MAX_NS), "one of those above range");
}

#[test]
fn percentiles_of_one_to_a_hundred_are_exact() {
    let counts = counts_of(&(1..=100).collect::<Vec<u64>>());
    for percent in 1..=100 {
        let fraction = percent as f64 / 100.0;
        assert_eq!(counts.percentile_ns(fraction), Some(percent), "p{percent}");
        assert_eq!(counts.samples_above(fraction), 100 - percent, "above p{percent}");
    }
    assert_eq!(counts.percentile_ns(0.0), Some(1));
    assert_eq!(counts.percentile_ns(0.501), Some(51));
    assert_eq!(counts.mean_ns(), Some(50.5));
}

#[test]
fn an_empty_histogram_has_no_mean_and_no_percentile() {
    let counts = counts_of(&[]);
    assert_eq!(counts, Counts::default());
    assert_eq!((counts.total(), counts.mean_ns(), counts.percentile_ns(0.5)), (0, None, None));
    assert_eq!(counts.samples_above(0.5), 0);
    assert_eq!((counts.min_ns, counts.max_ns), (u64::MAX, 0));
}

#[test]
fn a_histogram_of_zeros_is_not_empty() {
    let counts = counts_of(&[0, 0]);
    assert_eq!((counts.total(), counts.percentile_ns(0.5), counts.min_ns), (2, Some(0), 0));
}

proptest! {
    #[test]
    fn the_bucket_of_any_time_contains_it_within_a_thousandth(time in any_time()) {
        let bucket = bucket_of(time);
        let (low, high) = (bucket_low_ns(bucket), bucket_high_ns(bucket));
        prop_assert!(low <= time && time <= high);
        prop_assert!((high - time) as f64 <= ERROR_MAX * time as f64);
        prop_assert!((time - low) as f64 <= ERROR_MAX * time as f64);
    }

    #[test]
    fn merging_is_the_histogram_of_all_samples(
        parts in vec(vec(any_time_at_all(), 0..50), 0..6)
    ) {
        let mut merged = Counts::default();
        for part in &parts {
            merged.merge(&counts_of(part));
        }
        let whole = counts_of(&parts.concat());
        prop_assert_eq!(&merged, &whole);
        let mut backwards = Counts::default();
        for part in parts.iter().rev() {
            backwards.merge(&counts_of(part));
        }
        prop_assert_eq!(&backwards, &whole, "the order is irrelevant");
        prop_assert_eq!(whole.total(), parts.concat().len() as u64);
        prop_assert!(whole.buckets.is_sorted_by_key(|(bucket, _)| *bucket));
        prop_assert!(whole.buckets.iter().all(|(_, count)| *count > 0));
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_samples_within_a_bucket(
        samples in vec(any_time(), 1..400), ten_thousandths in 0..=10_000u64
    ) {
        let counts = counts_of(&samples);
        let mut sorted = samples;
        sorted.sort_unstable();
        let exact = nearest_rank_percentile(&sorted, ten_thousandths);
        let found = counts.percentile_ns(ten_thousandths as f64 / 10_000.0).unwrap();
        prop_assert!(exact <= found, "{found} below {exact}");
        prop_assert_eq!(bucket_of(found), bucket_of(exact));
        prop_assert!(found <= *sorted.last().unwrap());
    }

    #[test]
    fn percentiles_agree_with_hdrhistogram(samples in vec(any_time(), 1..2000)) {
        let counts = counts_of(&samples);
        // Three significant figures: its bucket error is at most 0.1 %, like ours.
        let mut oracle = hdrhistogram::Histogram::<u64>::new_with_max(RANGE_MAX_NS, 3).unwrap();
        for sample in &samples {
            oracle.record(*sample).unwrap();
        }
        prop_assert_eq!(counts.total(), oracle.len());
        for fraction in FRACTIONS {
            let ours = counts.percentile_ns(fraction).unwrap() as f64;
            // It considers 0.07 * 100 = 7.000000000000001 to be above 7; this crate does not.
            let theirs = oracle.value_at_quantile(fraction * (1.0 - 1e-12)) as f64;
            prop_assert!(
                (ours - theirs).abs() <= ERROR_MAX * ours.max(theirs),
                "p{}: {} and {}", fraction * 100.0, ours, theirs
            );
        }
        let mean = counts.mean_ns().unwrap();
        prop_assert!((mean - oracle.mean()).abs() <= ERROR_MAX * mean, "its mean is of buckets");
    }

    #[test]
    fn sum_minimum_and_maximum_are_exact(samples in vec(any_time_at_all(), 1..100)) {
        let counts = counts_of(&samples);
        prop_assert_eq!(counts.sum_ns, samples.iter().map(|s| u128::from(*s)).sum::<u128>());
        prop_assert_eq!(Some(counts.min_ns), samples.iter().min().copied());
        prop_assert_eq!(Some(counts.max_ns), samples.iter().max().copied());
    }

    #[test]
    fn draining_adds_to_the_existing_counts_and_empties_the_histogram(
        first in vec(any_time_at_all(), 0..50), second in vec(any_time_at_all(), 0..50)
    ) {
        let mut histogram = Histogram::default();
        let mut counts = Counts::default();
        for part in [&first, &second] {
            for sample in part {
                histogram.record(*sample);
            }
            histogram.drain_into(&mut counts);
            let mut nothing = Counts::default();
            histogram.drain_into(&mut nothing);
            prop_assert_eq!(nothing, Counts::default());
        }
        prop_assert_eq!(counts, counts_of(&[first, second].concat()));
    }
}
