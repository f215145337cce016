//! Two sets of numbers compared by their order alone: the test of Mann and Whitney, and how large
//! the difference is. Nothing is assumed of their distribution, and one wild value weighs as much
//! as any other.
//!
//! Sources: H. B. Mann, D. R. Whitney, Annals of Mathematical Statistics 18, 1947; M. Hollander, D.
//! A. Wolfe, "Nonparametric Statistical Methods", 2nd ed. 1999, sections 4.1 (ties: the conditional
//! distribution), 4.2 (Hodges-Lehmann); N. Cliff, Psychological Bulletin 114, 1993 (delta).

use crate::average::median_of_sorted;
use crate::distributions::t_both_tails;

/// Up to this many numbers in both sets together, every split is counted; above, the normal
/// approximation is accurate to a thousandth.
const EXACT_MAX: usize = 24;

/// The comparison of two sets by ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankTest {
    /// Mann and Whitney's U: pairs in which the second set's number is the larger one, ties counted
    /// half.
    pub u: f64,
    /// The two-sided p-value: exact for few numbers, also with ties.
    pub p: f64,
    /// The smallest p-value that so many numbers could have given: where it is above the level, the
    /// test cannot find anything.
    pub p_least: f64,
    /// Cliff's delta, -1 to 1: the share of pairs in which the second set's number is larger, minus
    /// the share in which it is smaller.
    pub cliffs_delta: f64,
    /// Hodges and Lehmann's shift: the median of all differences, second minus first, in the unit
    /// of the numbers.
    pub shift: f64,
}

/// Compares `second` with `first`; `None` where one of them is empty.
pub fn rank_test(first: &[f64], second: &[f64]) -> Option<RankTest> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let pairs = (first.len() * second.len()) as f64;
    let mut differences: Vec<f64> =
        first.iter().flat_map(|a| second.iter().map(move |b| b - a)).collect();
    differences.sort_by(f64::total_cmp);
    let larger = differences.iter().filter(|d| **d > 0.0).count() as f64;
    let smaller = differences.iter().filter(|d| **d < 0.0).count() as f64;
    let u = larger + (pairs - larger - smaller) / 2.0;
    let (doubled_ranks, ties) = doubled_ranks(first, second);
    let (p, p_least) = match doubled_ranks.len() <= EXACT_MAX {
        true => exact(&doubled_ranks, second.len(), u),
        false => approximate(first.len() as f64, second.len() as f64, &ties, u),
    };
    Some(RankTest {
        u,
        p,
        p_least,
        cliffs_delta: (larger - smaller) / pairs,
        shift: median_of_sorted(&differences)?,
    })
}

/// Twice the rank of each number among all, ties sharing their mean (so that all are
/// whole); and the size of each group of ties.
fn doubled_ranks(first: &[f64], second: &[f64]) -> (Vec<usize>, Vec<f64>) {
    let mut all: Vec<f64> = first.iter().chain(second).copied().collect();
    all.sort_by(f64::total_cmp);
    let (mut ranks, mut ties) = (Vec::with_capacity(all.len()), Vec::new());
    for group in all.chunk_by(|a, b| a == b) {
        // Ranks r + 1 to r + n: their mean, doubled, is 2 r + 1 + n.
        let doubled = 2 * ranks.len() + 1 + group.len();
        ranks.extend(std::iter::repeat_n(doubled, group.len()));
        ties.push(group.len() as f64);
    }
    (ranks, ties)
}

/// The share of all choices of the second set's ranks, each equally likely if the sets do not
/// differ, that lie at least as far from the middle; and the smallest such share.
fn exact(doubled_ranks: &[usize], chosen: usize, u: f64) -> (f64, f64) {
    let sum: usize = doubled_ranks.iter().sum();
    // ways[k][s]: choices of k ranks with the doubled sum s. Whole numbers below 2^53: exact.
    let mut ways = vec![vec![0.0; sum + 1]; chosen + 1];
    ways[0][0] = 1.0;
    for (seen, rank) in doubled_ranks.iter().enumerate() {
        for k in (1..=chosen.min(seen + 1)).rev() {
            let (fewer, more) = ways.split_at_mut(k);
            for s in *rank..=sum {
                more[0][s] += fewer[k - 1][s - rank];
            }
        }
    }
    let ways = &ways[chosen];
    let all: f64 = ways.iter().sum();
    let middle = (chosen * (doubled_ranks.len() + 1)) as f64;
    // U is the sum of the second set's ranks minus its least possible, k (k + 1) / 2.
    let doubled_sum = 2.0 * u + (chosen * (chosen + 1)) as f64;
    let distance = (doubled_sum - middle).abs();
    let farthest = ways
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0.0)
        .map(|(s, _)| (s as f64 - middle).abs())
        .fold(0.0, f64::max);
    let beyond = |distance: f64| {
        let far = |(s, _): &(usize, &f64)| (*s as f64 - middle).abs() >= distance;
        ways.iter().enumerate().filter(far).map(|(_, count)| count).sum::<f64>() / all
    };
    (beyond(distance), beyond(farthest))
}

/// By the normal distribution with the variance that ties leave, corrected for continuity.
fn approximate(first: f64, second: f64, ties: &[f64], u: f64) -> (f64, f64) {
    let count = first + second;
    let tied: f64 = ties.iter().map(|t| t * t * t - t).sum::<f64>() / (count * (count - 1.0));
    let variance = first * second / 12.0 * (count + 1.0 - tied);
    if variance <= 0.0 {
        return (1.0, 1.0);
    }
    let middle = first * second / 2.0;
    let tails =
        |distance: f64| t_both_tails((distance - 0.5).max(0.0) / variance.sqrt(), f64::INFINITY);
    (tails((u - middle).abs()), tails(middle))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: f64, known: f64) {
        assert!((found - known).abs() < 1e-9, "{found} is not {known}");
    }

    #[test]
    fn the_exact_test_matches_the_tables() {
        // Hollander and Wolfe, table A.6 and 4.1: five against five without overlap, 2 / C(10, 5).
        let test = rank_test(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]).unwrap();
        near(test.u, 25.0);
        near(test.p, 2.0 / 252.0);
        near(test.p_least, 2.0 / 252.0);
        near(test.cliffs_delta, 1.0);
        near(test.shift, 5.0);
        // Three against three can never be significant at 5 %: 2 / 20.
        let three = rank_test(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap();
        near(three.p, 0.1);
        near(three.p_least, 0.1);
        // Mann and Whitney 1947, table I: m = n = 4, P(U <= 1) = 0.029; n = 5, m = 4, P(U <= 2) =
        // 0.032. Two-sided, both tails.
        let four = rank_test(&[1.0, 2.0, 3.0, 5.0], &[4.0, 6.0, 7.0, 8.0]).unwrap();
        near(four.u, 15.0);
        near(four.p, 4.0 / 70.0);
    }

    #[test]
    fn ties_are_counted_by_their_conditional_distribution() {
        // Numbers 1 2 2 3, two and two: doubled ranks 2 5 5 8. Of the six choices the sums are 7 7
        // 10 10 13 13: the outermost two on each side, 4 of 6.
        let test = rank_test(&[1.0, 2.0], &[2.0, 3.0]).unwrap();
        near(test.u, 3.5);
        near(test.p, 4.0 / 6.0);
        near(test.cliffs_delta, 0.75);
        let same = rank_test(&[5.0; 4], &[5.0; 4]).unwrap();
        near(same.p, 1.0);
        near(same.p_least, 1.0);
        assert_eq!(rank_test(&[], &[1.0]), None);
    }

    #[test]
    fn many_numbers_are_compared_by_the_normal_approximation() {
        // The same shift at 12 and 12 (exact) and 13 and 12 (approximate) gives nearly the same.
        let first: Vec<f64> = (0..12).map(f64::from).collect();
        let second: Vec<f64> = (0..12).map(|i| f64::from(i) + 4.5).collect();
        let exact = rank_test(&first, &second).unwrap();
        let (p, least) = approximate(12.0, 12.0, &[1.0; 24], exact.u);
        assert!((exact.p - p).abs() < 0.003, "{} and {p}", exact.p);
        assert!(least < 1e-4);
        let many = rank_test(&[0.0; 30], &[0.0; 30]).unwrap();
        near(many.p, 1.0);
    }

    #[test]
    fn the_order_of_the_sets_changes_only_the_sign() {
        let (a, b) = ([3.1, 2.7, 4.4, 5.0], [3.0, 6.1, 7.2, 4.9, 8.8]);
        let (forth, back) = (rank_test(&a, &b).unwrap(), rank_test(&b, &a).unwrap());
        near(forth.p, back.p);
        near(forth.cliffs_delta, -back.cliffs_delta);
        near(forth.shift, -back.shift);
        near(forth.u + back.u, 20.0);
    }
}
