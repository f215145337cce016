//! Sizes of files, compared with their distribution.

use statrs::distribution::{ContinuousCDF, Normal};
use workload::names::{FileSizes, NameSize, WeightedFileSize};
use workload::random;

use crate::randomness::statistics::{
    FALSE_ALARM, assert_plausible, chi_square, kolmogorov, kolmogorov_probability,
};

/// The probability of at least this distance from the lognormal distribution with a median of 1 MiB,
/// for 40,000 drawn sizes.
fn probability(sizes: &NameSize, sigma: f64) -> f64 {
    let sizes = FileSizes::new(sizes);
    let mut drawn: Vec<f64> =
        (0..40_000).map(|index| f64::from(sizes.size_bytes(random::at(11, index)))).collect();
    drawn.sort_by(f64::total_cmp);
    let normal = Normal::new((1024.0f64 * 1024.0).ln(), sigma).expect("sigma is above 0");
    // Sizes are rounded to bytes; around the median that is a millionth.
    kolmogorov_probability(kolmogorov(&drawn, |size| normal.cdf(size.max(0.5).ln())))
}

fn lognormal(median_bytes: u64, sigma: f64) -> NameSize {
    NameSize::Lognormal { median_bytes, sigma, max_bytes: u64::from(u32::MAX) }
}

#[test]
fn lognormal_sizes_follow_their_formula() {
    for sigma in [0.3, 1.0, 1.5] {
        assert_plausible(probability(&lognormal(1 << 20, sigma), sigma), "lognormal sizes");
    }
}

#[test]
fn the_test_of_lognormal_sizes_detects_an_error_of_ten_percent() {
    assert!(probability(&lognormal(1 << 20, 1.1), 1.0) < FALSE_ALARM, "sigma");
    assert!(probability(&lognormal(1_153_434, 1.0), 1.0) < FALSE_ALARM, "median");
}

#[test]
fn weighted_sizes_have_their_shares() {
    let weights = [(0, 10), (4096, 60), (1 << 20, 29), (3 << 30, 1)];
    let list = weights.map(|(size_bytes, weight)| WeightedFileSize { size_bytes, weight });
    let sizes = FileSizes::new(&NameSize::Weighted { sizes: list.to_vec() });
    let mut counts = [0; 4];
    for index in 0..40_000 {
        let size = u64::from(sizes.size_bytes(random::at(5, index)));
        let at = weights.iter().position(|(bytes, _)| *bytes == size).expect("a size of the list");
        counts[at] += 1;
    }
    assert_plausible(chi_square(&counts, &[0.1, 0.6, 0.29, 0.01]), "weighted sizes");
}

#[test]
fn constant_sizes_are_constant_and_large_ones_are_cut() {
    let constant = FileSizes::new(&NameSize::constant(4096));
    let cut = FileSizes::new(&NameSize::Lognormal {
        median_bytes: 1 << 20,
        sigma: 3.0,
        max_bytes: 2 << 20,
    });
    for index in 0..1000 {
        assert_eq!(constant.size_bytes(random::at(1, index)), 4096);
        assert!(cut.size_bytes(random::at(1, index)) <= 2 << 20);
    }
}
