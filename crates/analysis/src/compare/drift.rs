//! Uncertainty of a difference between repeats that ran back to back: how much the drift of a host
//! could contribute.
//!
//! Repeats of one record share the state of the host, so they are not independent, and one session
//! per side does not show how much sessions differ. The records do show how much a figure changes
//! from one repeat to the next. All of this change is modelled as a random walk, which of all
//! processes with equal steps drifts furthest. For an autoregressive host (correlations 0.6 to 0.95
//! between neighbouring repeats) the variance is too large by a factor of 1.1 to 3; for independent
//! repeats by more. `docs/method.md`, Comparison, contains the formula, `tests/compare_hosts.rs`
//! the simulated error rates.

use super::side::Repeat;

/// Longest distance between sessions, in lengths of the longer session: over longer times the state
/// of a host decorrelates, and a random walk would overstate its drift. With the factor 3 the bound
/// still covers correlations up to 0.95.
const GAP_MAX_SESSIONS: f64 = 3.0;

/// Variance of the difference of two means due to drift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drift {
    /// Variance of the second mean minus the first.
    pub(super) variance: f64,
    /// Degrees of freedom: steps between neighbouring repeats of one side.
    pub(super) degrees: f64,
}

/// A value with its time on a common clock.
struct Point {
    at: f64,
    /// Its weight in the difference of the means: -1/n for the first side, 1/n for the second.
    weight: f64,
}

/// The bound from the steps between neighbouring repeats; `None` if neither side has two repeats.
///
/// With steps of variance `q` per unit of time, the difference of the means has the variance `q sum
/// (t[k+1] - t[k]) W[k]^2`, where `W[k]` is the sum of the weights up to `k`. `q` is the sum of the
/// squared steps divided by their total time.
pub(super) fn of(first: &[Repeat], second: &[Repeat]) -> Option<Drift> {
    let steps = first.len().saturating_sub(1) + second.len().saturating_sub(1);
    if steps == 0 {
        return None;
    }
    let (first_at, second_at) = clocks(first, second);
    let side = |values: &[Repeat], at: &[f64]| {
        let pairs = values.windows(2).zip(at.windows(2));
        pairs.fold((0.0, 0.0), |(squares, time), (values, at)| {
            (squares + (values[1].value - values[0].value).powi(2), time + at[1] - at[0])
        })
    };
    let ((a, a_time), (b, b_time)) = (side(first, &first_at), side(second, &second_at));
    let mut points: Vec<Point> = Vec::new();
    for (at, weight) in [(first_at, -1.0), (second_at, 1.0)] {
        let weight = weight / at.len() as f64;
        points.extend(at.into_iter().map(|at| Point { at, weight }));
    }
    points.sort_by(|x, y| x.at.total_cmp(&y.at));
    let mut reach = 0.0;
    let mut weight = 0.0;
    for pair in points.windows(2) {
        weight += pair[0].weight;
        reach += (pair[1].at - pair[0].at) * weight * weight;
    }
    Some(Drift { variance: (a + b) / (a_time + b_time) * reach, degrees: steps as f64 })
}

/// Start times of both sides' repeats, in seconds. If the wall clock is unusable (it stood still or
/// went back), repeats are one unit apart and the second side follows the first.
fn clocks(first: &[Repeat], second: &[Repeat]) -> (Vec<f64>, Vec<f64>) {
    let of = |side: &[Repeat]| -> Vec<f64> {
        side.iter().map(|repeat| repeat.began_unix_ms as f64 / 1e3).collect()
    };
    let (mut a, mut b) = (of(first), of(second));
    if !a.is_sorted_by(|x, y| x < y) || !b.is_sorted_by(|x, y| x < y) {
        let count = |from: usize, side: &[Repeat]| -> Vec<f64> {
            (from..from + side.len()).map(|index| index as f64).collect()
        };
        return (count(0, first), count(first.len(), second));
    }
    let span = |at: &[f64]| at[at.len() - 1] - at[0];
    let most = GAP_MAX_SESSIONS * span(&a).max(span(&b));
    let (earlier, later) = if a[0] <= b[0] { (&mut a, &mut b) } else { (&mut b, &mut a) };
    let excess = later[0] - earlier[earlier.len() - 1] - most;
    if excess > 0.0 {
        later.iter_mut().for_each(|at| *at -= excess);
    }
    (a, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeats(began_s: u64, every_s: u64, values: &[f64]) -> Vec<Repeat> {
        let each = values.iter().zip(0..);
        each.map(|(value, number)| Repeat {
            number,
            began_unix_ms: 1000 * (began_s + every_s * u64::from(number)),
            value: *value,
        })
        .collect()
    }

    #[track_caller]
    fn near(found: f64, known: f64) {
        assert!((found - known).abs() < 1e-9, "{found} is not {known}");
    }

    #[test]
    fn adjacent_sessions_differ_by_what_a_random_walk_gives() {
        // Steps 1, -1, 2 and 1, 1, -2: q = (1 + 1 + 4 + 1 + 1 + 4) / 6 = 2 per step. Of two
        // adjacent sessions of n the reach is (2 n^2 + 1) / (3 n) steps: 33 / 12 for n = 4.
        let (a, b) =
            (repeats(0, 10, &[5.0, 6.0, 5.0, 7.0]), repeats(40, 10, &[1.0, 2.0, 3.0, 1.0]));
        let drift = of(&a, &b).unwrap();
        near(drift.variance, 2.0 * 33.0 / 12.0);
        near(drift.degrees, 6.0);
        assert_eq!(of(&b, &a), Some(drift), "the order of the sides does not matter");
        // The same without usable times.
        let (a, b) = (repeats(0, 0, &[5.0, 6.0, 5.0, 7.0]), repeats(0, 0, &[1.0, 2.0, 3.0, 1.0]));
        near(of(&a, &b).unwrap().variance, 2.0 * 33.0 / 12.0);
    }

    #[test]
    fn a_gap_counts_up_to_three_sessions_and_alternating_sides_hardly_drift_apart() {
        let a = repeats(0, 10, &[5.0, 6.0, 5.0]);
        let apart = |gap_s: u64| of(&a, &repeats(20 + gap_s, 10, &[5.0, 6.0, 5.0])).unwrap();
        // Adjacent: 19 / 9 steps with q = 1 per step; one more for each further 10 s.
        near(apart(10).variance, 19.0 / 9.0);
        near(apart(30).variance, 19.0 / 9.0 + 2.0);
        near(apart(60).variance, 19.0 / 9.0 + 5.0);
        near(apart(86_400).variance, apart(60).variance);
        // A at 0, 20, 40 s and B at 10, 30, 50 s: three steps of 10 s with weight 1/3, at q = 0.5.
        let alternating =
            of(&repeats(0, 20, &[5.0, 6.0, 5.0]), &repeats(10, 20, &[5.0, 6.0, 5.0])).unwrap();
        near(alternating.variance, 0.5 * 3.0 / 9.0);
    }

    #[test]
    fn single_runs_show_no_drift() {
        assert_eq!(of(&repeats(0, 1, &[5.0]), &repeats(1, 1, &[6.0])), None);
        // One side with repeats is enough: steps 1 and -1, and a single run one step later.
        let drift = of(&repeats(0, 1, &[5.0, 6.0, 5.0]), &repeats(3, 1, &[6.0])).unwrap();
        near(drift.variance, 1.0 / 9.0 + 4.0 / 9.0 + 1.0);
        near(drift.degrees, 2.0);
    }
}
