//! Statistical tests of comparisons against an independent implementation and complete enumeration.

use analysis::compare::welch::{Mean, difference};
use proptest::prelude::*;
use statistics::distributions::{t_both_tails, t_quantile};
use statistics::ranks::rank_test;
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::stats_tests::Alternative;
use statrs::stats_tests::mannwhitneyu::{MannWhitneyUMethod, mannwhitneyu};

/// The two-sided p-value by enumeration of all assignments: the share in which U is at least as far
/// from its middle.
fn by_counting(first: &[f64], second: &[f64]) -> f64 {
    let all: Vec<f64> = first.iter().chain(second).copied().collect();
    let u = |mask: u32| {
        let chosen = |i: usize| mask >> i & 1 == 1;
        let mut u = 0.0;
        for (i, b) in all.iter().enumerate().filter(|(i, _)| chosen(*i)) {
            for (_, a) in all.iter().enumerate().filter(|(j, _)| *j != i && !chosen(*j)) {
                u += if b > a { 1.0 } else { f64::from(b == a) / 2.0 };
            }
        }
        u
    };
    let middle = (first.len() * second.len()) as f64 / 2.0;
    let seen: u32 = ((1 << second.len()) - 1) << first.len();
    let distance = (u(seen) - middle).abs();
    let ways: Vec<u32> =
        (0..1u32 << all.len()).filter(|w| w.count_ones() as usize == second.len()).collect();
    let beyond = ways.iter().filter(|w| (u(**w) - middle).abs() >= distance - 1e-9).count();
    beyond as f64 / ways.len() as f64
}

/// Few different numbers, so that many are tied.
fn numbers(
    count: std::ops::RangeInclusive<usize>,
    different: i32,
) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((0..different).prop_map(f64::from), count)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(60)
    })]

    #[test]
    fn ranks_with_ties_are_those_of_counting_every_case(
        first in numbers(1..=5, 6),
        second in numbers(1..=5, 6),
    ) {
        let test = rank_test(&first, &second).expect("neither is empty");
        prop_assert!((test.p - by_counting(&first, &second)).abs() < 1e-9, "{test:?}");
    }

    #[test]
    fn ranks_of_many_numbers_equal_those_of_statrs(
        first in numbers(13..=40, 30),
        second in numbers(13..=40, 30),
    ) {
        let test = rank_test(&first, &second).expect("neither is empty");
        let method = MannWhitneyUMethod::AsymptoticInclContinuityCorrection;
        let (_, p) = mannwhitneyu(&second, &first, method, Alternative::TwoSided).expect("numbers");
        prop_assert!((test.p - p).abs() < 1e-6, "{} and {p}", test.p);
    }

    #[test]
    fn a_ratio_leaves_one_out_exactly_where_a_difference_is_found(
        first in prop::collection::vec(900.0..1_100.0, 2..=8),
        second in prop::collection::vec(900.0..1_300.0, 2..=8),
    ) {
        let found = difference(&Mean::of(&first), &Mean::of(&second));
        if let Some(ratio) = found.ratio {
            let without = ratio.low > 1.0 || ratio.high < 1.0;
            prop_assert_eq!(without, found.p < 0.05);
            prop_assert!(ratio.low <= ratio.value && ratio.value <= ratio.high);
        }
    }
}

#[test]
fn exact_rank_tests_match_an_independent_implementation() {
    // No two are equal; and the larger set is given first, because `statrs` 0.19.1 gives the
    // probability of the other tail where the smaller one is.
    let first = [3.0, 9.0, 4.5, 1.0, 12.0, 7.5];
    for shift in [0.2, 3.2, 6.2, 20.2] {
        let second = [2.0, 5.0, 8.0, 6.0, 11.0].map(|x: f64| x + shift);
        let test = rank_test(&first, &second).expect("neither is empty");
        let method = MannWhitneyUMethod::Exact;
        let (_, p) = mannwhitneyu(&first, &second, method, Alternative::TwoSided).expect("no ties");
        assert!((test.p - p).abs() < 1e-12, "{} and {p}", test.p);
    }
}

#[test]
fn students_t_matches_an_independent_implementation() {
    for degrees in [1.0, 2.5, 4.0, 9.3, 40.0, 350.0] {
        let known = StudentsT::new(0.0, 1.0, degrees).expect("degrees above 0");
        for probability in [0.6, 0.8, 0.975, 0.999, 0.999_9] {
            let t = t_quantile(probability, degrees);
            assert!((known.cdf(t) - probability).abs() < 1e-7, "t({probability}, {degrees})");
            let tails = 2.0 * (1.0 - known.cdf(t));
            assert!((t_both_tails(t, degrees) - tails).abs() < 1e-7, "t({probability}, {degrees})");
        }
    }
}
