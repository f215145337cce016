//! Chooses the next concurrency to measure, until the least one that reaches a rate is known.
//!
//! A pure function of the points measured so far. It begins with one operation outstanding (the
//! floor of the response time), then uses the prediction by Little's law, and corrects it: if `n`
//! operations gave the rate `X`, the rate `W` needs `n W / X`, provided that the response time does
//! not rise further. It does rise, so the correction never exceeds what is needed and is repeated,
//! from the fourth time on by a factor of at least 1.5. Once a concurrency is known to be enough,
//! the least one is between it and the largest known to be too low, and is found by interpolation,
//! then by bisection.
//!
//! The search ends if of two neighbouring concurrencies one is enough and the other is too low, or
//! if the rate has stopped rising below the target rate (see [`plateau`]). A point that the answer
//! depends on and that is too noisy is measured again, up to [`RUNS_PER_POINT`] times in all, and
//! then used as it is. So points are repeated only if needed, and the search ends because the
//! interval between too low and enough shrinks with each new point.

use crate::curve::plateau::{self, Inconclusive, Plateau, RUNS_PER_POINT, Schedule, State, Step};
use crate::estimate::Estimate;
use crate::tune::arithmetic::whole;

/// A gain below this share of the rate does not count.
const GAIN_MIN: f64 = 0.02;
/// Least growth of the concurrency from the fourth correction on; gains are compared over steps of
/// this factor.
const GROWTH: f64 = 1.5;
/// Number of points from Little's law alone: the floor, the prediction and the first corrections.
const CORRECTIONS: usize = 4;
/// After this many points the search uses bisection only.
const INTERPOLATED: usize = 9;
/// The search for a peak ends when its neighbours are within this share of it.
const TOP_NEAR: f64 = 0.25;

/// The goal of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Target rate, in operations per second.
    pub ops_per_s: f64,
    /// A rate lower by this share still counts as reached, 0 to 1.
    pub within: f64,
    /// Most outstanding operations.
    pub outstanding_max: u64,
}

impl Goal {
    /// The lowest rate that counts as reached, in operations per second.
    pub fn least(&self) -> f64 {
        self.ops_per_s * (1.0 - self.within)
    }
}

/// A measured concurrency, all its repeats together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Outstanding operations.
    pub outstanding: u64,
    /// Completed operations per second.
    pub rate: Estimate,
    /// Their mean response time, in nanoseconds.
    pub response_ns: f64,
    /// Number of runs.
    pub runs: u32,
    /// Whether the runs agree.
    pub agrees: bool,
}

impl Point {
    fn step(&self) -> Step {
        Step {
            load: self.outstanding as f64,
            rate: self.rate,
            slot_s: self.response_ns / 1e9,
            schedule: Schedule::Closed,
            runs: self.runs,
            agrees: self.agrees,
            is_unloaded: self.outstanding == 1,
        }
    }
}

/// Next step of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Measure this concurrency, for the first time or again.
    Measure {
        /// Outstanding operations.
        outstanding: u64,
    },
    /// None: the answer is known.
    Done(Answer),
}

/// Answer of the search. Concurrencies are those of measured points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// The rate is reached.
    Reached {
        /// The least concurrency that reaches it.
        enough: u64,
        /// The one below, which does not; `None` if that would be zero.
        too_little: Option<u64>,
    },
    /// The rate stops rising below the target.
    Saturated {
        /// The concurrency with the highest rate.
        top: u64,
    },
    /// The rate is not reached at the largest concurrency allowed and is not known to have stopped
    /// rising.
    Bounded {
        /// The largest measured concurrency.
        top: u64,
    },
}

/// The next step after `points`, in any order, each concurrency once.
pub fn next(goal: &Goal, points: &[Point]) -> Next {
    let mut points = points.to_vec();
    points.sort_by_key(|point| point.outstanding);
    let known = Known { goal, points: &points };
    match known.enough() {
        _ if points.is_empty() => Next::Measure { outstanding: 1 },
        Some(index) => known.below(index),
        None => known.above(),
    }
}

/// The points, ascending by concurrency.
struct Known<'a> {
    goal: &'a Goal,
    points: &'a [Point],
}

impl Known<'_> {
    /// Index of the least concurrency that reached the rate.
    fn enough(&self) -> Option<usize> {
        self.points.iter().position(|point| point.rate.value >= self.goal.least())
    }

    /// Whether more runs could still change whether the point reaches the goal.
    fn unsettled(&self, point: &Point) -> bool {
        let distance = (point.rate.value - self.goal.least()).abs();
        point.runs < RUNS_PER_POINT && distance < uncertainty(point)
    }

    /// One concurrency is enough: the least one is at it or below.
    fn below(&self, index: usize) -> Next {
        let enough = &self.points[index];
        let too_little = index.checked_sub(1).map(|below| &self.points[below]);
        let lowest = too_little.map_or(0, |point| point.outstanding);
        if enough.outstanding - lowest > 1 {
            return Next::Measure { outstanding: self.between(too_little, enough) };
        }
        for point in [Some(enough), too_little].into_iter().flatten() {
            if self.unsettled(point) {
                return Next::Measure { outstanding: point.outstanding };
            }
        }
        Next::Done(Answer::Reached {
            enough: enough.outstanding,
            too_little: too_little.map(|point| point.outstanding),
        })
    }

    /// A concurrency between one that is too low and one that is enough: where the rate is reached
    /// if the response time `n / X` rises linearly from one to the other, as in every queue behind
    /// a fixed delay.
    fn between(&self, too_little: Option<&Point>, enough: &Point) -> u64 {
        let (low, high) = (too_little.map_or(0, |point| point.outstanding), enough.outstanding);
        let middle = low + (high - low) / 2;
        let Some(too_little) = too_little.filter(|_| self.points.len() < INTERPOLATED) else {
            return middle;
        };
        let response = |point: &Point| point.outstanding as f64 / point.rate.value;
        let slope = (response(enough) - response(too_little)) / (high - low) as f64;
        // n = least * response(n), with response(n) = response(low) + slope * (n - low).
        let without_load = response(too_little) - slope * low as f64;
        let there = self.goal.least() * without_load / (1.0 - self.goal.least() * slope);
        if !there.is_finite() || there <= 0.0 {
            return middle;
        }
        whole(there).clamp(low + 1, high - 1)
    }

    /// No concurrency is enough yet: increases it, unless more is known not to help.
    fn above(&self) -> Next {
        let top = self.points[self.points.len() - 1];
        if let Some(plateau) = self.plateau() {
            if let Some(index) = self.imprecise(&plateau) {
                return Next::Measure { outstanding: self.points[index].outstanding };
            }
            let fell = matches!(plateau.state, State::Inconclusive(Inconclusive::Stability(_)));
            if plateau.is_reached() || fell {
                let best = self.best();
                if let Some(outstanding) = self.around(best) {
                    return Next::Measure { outstanding };
                }
                let best = &self.points[best];
                // Confirm a peak after which the rate falls far.
                if self.unsettled(best) || fell && best.runs < RUNS_PER_POINT {
                    return Next::Measure { outstanding: best.outstanding };
                }
                if !self.could_reach(best, &top) {
                    return Next::Done(Answer::Saturated { top: best.outstanding });
                }
            }
        }
        if top.outstanding >= self.goal.outstanding_max {
            return self.at_most(&top);
        }
        let required = self.goal.ops_per_s * top.response_ns / 1e9;
        let least = match self.points.len() {
            ..CORRECTIONS => (top.outstanding + 1) as f64,
            _ => top.outstanding as f64 * GROWTH,
        };
        let outstanding = whole(required.max(least)).max(top.outstanding + 1);
        Next::Measure { outstanding: outstanding.min(self.goal.outstanding_max) }
    }

    fn plateau(&self) -> Option<Plateau> {
        let steps: Vec<Option<Step>> = self.points.iter().map(|point| Some(point.step())).collect();
        plateau::judge(&steps, None)
    }

    /// The point whose precision prevents a decision, while repeats remain.
    fn imprecise(&self, plateau: &Plateau) -> Option<usize> {
        let State::Inconclusive(Inconclusive::Precision(index) | Inconclusive::Stability(index)) =
            plateau.state
        else {
            return None;
        };
        Some(index).filter(|index| self.points[*index].step().needs_another_run())
    }

    /// The largest concurrency allowed was measured. Whether the rate would still rise is known
    /// only with a point two doublings below.
    fn at_most(&self, top: &Point) -> Next {
        if self.unsettled(top) {
            return Next::Measure { outstanding: top.outstanding };
        }
        let quarter = top.outstanding / 4;
        let compared = self.compared_with(4.0, top).map_or(0, |point| point.outstanding);
        if quarter > compared && compared < top.outstanding / 8 {
            return Next::Measure { outstanding: quarter };
        }
        Next::Done(Answer::Bounded { top: top.outstanding })
    }

    /// Index of the point with the highest rate; of several the one with the least concurrency.
    fn best(&self) -> usize {
        let better = |best: usize, index: usize| {
            let more = self.points[index].rate.value > self.points[best].rate.value;
            if more { index } else { best }
        };
        (1..self.points.len()).fold(0, better)
    }

    /// The largest concurrency that is at most `top` divided by `growth`.
    fn compared_with(&self, growth: f64, top: &Point) -> Option<&Point> {
        let far = |point: &&Point| point.outstanding as f64 * growth <= top.outstanding as f64;
        self.points.iter().rev().find(far)
    }

    /// Whether the best point is so near to the goal that a little more concurrency could reach it:
    /// the gain of the last step, twice.
    fn could_reach(&self, best: &Point, top: &Point) -> bool {
        let last = self.compared_with(GROWTH, top).map_or(0.0, |below| gain(below, top));
        let more = (2.0 * last).max(GAIN_MIN * best.rate.value).max(uncertainty(best));
        best.rate.value + more >= self.goal.least()
    }

    /// A concurrency next to the best one, if the rate falls beyond it: the peak may be in between.
    fn around(&self, best: usize) -> Option<u64> {
        let point = &self.points[best];
        let above = self.points.get(best + 1)?;
        let fall = point.rate.value - above.rate.value;
        let noise = uncertainty(point).hypot(uncertainty(above));
        if fall <= noise.max(GAIN_MIN * point.rate.value) {
            return None;
        }
        let below = best.checked_sub(1).map_or(0, |index| self.points[index].outstanding);
        let near = (point.outstanding as f64 * TOP_NEAR).max(1.0);
        let gaps = [(point.outstanding, above.outstanding), (below, point.outstanding)];
        let wide = gaps.into_iter().filter(|(low, high)| (high - low) as f64 > near);
        let (low, high) = wide.max_by_key(|(low, high)| high - low)?;
        Some(low + (high - low) / 2)
    }
}

fn gain(below: &Point, top: &Point) -> f64 {
    top.rate.value - below.rate.value
}

/// Half-width of the 95 % interval, if known.
fn uncertainty(point: &Point) -> f64 {
    point.rate.uncertainty.unwrap_or(0.0)
}
