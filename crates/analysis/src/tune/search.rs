//! From measured loads to the next one, until the least concurrency that reaches a rate is known.
//!
//! A pure function of the points measured so far. It begins with one operation outstanding (the
//! floor of the response time), takes from there what Little's law predicts, and corrects: where
//! `n` gave the rate `X`, `n W / X` are needed for `W`, as far as the response time does not rise
//! further. Because it does rise, the correction never goes beyond what is needed, and is repeated;
//! from the fourth on by half as much again at least. As soon as one number is known to be enough,
//! the least that is lies between it and the largest known to be too little, and is found by
//! interpolation, then by halving.
//!
//! It ends where two neighbouring numbers have been measured of which one is enough and the other
//! is not; or where the rate has stopped rising below the target rate, as [`plateau`] judges it. A
//! point that noise has not settled is measured again where the answer depends on it,
//! [`RUNS_PER_POINT`] times in all, and then taken as it is. So no point is repeated
//! without need, and the search ends: the distance between too little and enough shrinks with each
//! new point.

use crate::curve::plateau::{self, Inconclusive, Plateau, RUNS_PER_POINT, Schedule, State, Step};
use crate::estimate::Estimate;
use crate::tune::arithmetic::whole;

/// A gain of less than this share of the rate is none.
const GAIN_MIN: f64 = 0.02;
/// From the fourth correction on the concurrency grows by at least this factor; gains are compared
/// over steps of it.
const GROWTH: f64 = 1.5;
/// The floor, the prediction and so many corrections by Little's law alone.
const CORRECTIONS: usize = 4;
/// After so many points the least that is enough is found by halving alone.
const INTERPOLATED: usize = 9;
/// The top of a rate that falls again is looked for until its neighbours are as near as this share
/// of it.
const TOP_NEAR: f64 = 0.25;

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// The wanted rate, in operations per second.
    pub ops_per_s: f64,
    /// A rate that is lower by this share still counts as reached, 0 to 1.
    pub within: f64,
    /// No more than this may be outstanding.
    pub outstanding_max: u64,
}

impl Goal {
    /// The least rate that counts as reached, in operations per second.
    pub fn least(&self) -> f64 {
        self.ops_per_s * (1.0 - self.within)
    }
}

/// One concurrency that was measured, all its repeats together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Operations that were kept outstanding.
    pub outstanding: u64,
    /// Operations per second that were completed.
    pub rate: Estimate,
    /// Their mean response time, in nanoseconds.
    pub response_ns: f64,
    /// How often it was measured.
    pub runs: u32,
    /// Whether its runs agree with one another.
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
        }
    }
}

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Measure this concurrency, for the first time or again.
    Measure {
        /// Operations to be kept outstanding.
        outstanding: u64,
    },
    /// Nothing: the answer is known.
    Done(Answer),
}

/// What the search found. Concurrencies are those of points that were measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// The rate is reached.
    Reached {
        /// The least concurrency that reaches it.
        enough: u64,
        /// The one below, which does not; `None` where that would be none at all.
        too_little: Option<u64>,
    },
    /// The rate stops rising below what is wanted.
    Saturated {
        /// The concurrency with the highest rate.
        top: u64,
    },
    /// The rate is not reached, has not stopped rising as far as is known, and no more concurrency
    /// is allowed.
    Bounded {
        /// The largest concurrency that was measured.
        top: u64,
    },
}

/// What comes after `points`, whose order does not matter; each concurrency stands there once.
pub fn next(goal: &Goal, points: &[Point]) -> Next {
    let mut points = points.to_vec();
    points.sort_by_key(|point| point.outstanding);
    let known = Known { goal, points: &points };
    match known.enough() {
        _ if points.is_empty() => Next::Measure { outstanding: 1 },
        Some(place) => known.below(place),
        None => known.above(),
    }
}

/// What is known, ascending by concurrency.
struct Known<'a> {
    goal: &'a Goal,
    points: &'a [Point],
}

impl Known<'_> {
    /// The least concurrency that reached the rate, as a place among the points.
    fn enough(&self) -> Option<usize> {
        self.points.iter().position(|point| point.rate.value >= self.goal.least())
    }

    /// Whether more runs could still change what the point says of the goal.
    fn unsettled(&self, point: &Point) -> bool {
        let distance = (point.rate.value - self.goal.least()).abs();
        point.runs < RUNS_PER_POINT && distance < uncertainty(point)
    }

    /// One concurrency is enough: the least that is lies at it or below.
    fn below(&self, place: usize) -> Next {
        let enough = &self.points[place];
        let too_little = place.checked_sub(1).map(|below| &self.points[below]);
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

    /// A concurrency between one that is too little and one that is enough: where the rate is
    /// reached if the response time `n / X` rises evenly from one to the other, as it does in every
    /// queue behind a fixed delay.
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

    /// Nothing is enough yet: more, unless it is known that more does not help.
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
                // A peak from which the rate falls far is confirmed before it is believed.
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
        let wanted = self.goal.ops_per_s * top.response_ns / 1e9;
        let least = match self.points.len() {
            ..CORRECTIONS => (top.outstanding + 1) as f64,
            _ => top.outstanding as f64 * GROWTH,
        };
        let outstanding = whole(wanted.max(least)).max(top.outstanding + 1);
        Next::Measure { outstanding: outstanding.min(self.goal.outstanding_max) }
    }

    fn plateau(&self) -> Option<Plateau> {
        let steps: Vec<Option<Step>> = self.points.iter().map(|point| Some(point.step())).collect();
        plateau::judge(&steps, None)
    }

    /// The point whose precision keeps the judgement open, while it may be measured again.
    fn imprecise(&self, plateau: &Plateau) -> Option<usize> {
        let State::Inconclusive(Inconclusive::Precision(index) | Inconclusive::Stability(index)) =
            plateau.state
        else {
            return None;
        };
        Some(index).filter(|index| self.points[*index].step().wants_another_run())
    }

    /// No more is allowed than was measured. Whether the rate would still rise is known only with a
    /// point two doublings below.
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

    /// The point with the highest rate, the least concurrency first, as a place.
    fn best(&self) -> usize {
        let better = |best: usize, place: usize| {
            let more = self.points[place].rate.value > self.points[best].rate.value;
            if more { place } else { best }
        };
        (1..self.points.len()).fold(0, better)
    }

    /// The largest concurrency of which `top` has at least `growth` times as much.
    fn compared_with(&self, growth: f64, top: &Point) -> Option<&Point> {
        let far = |point: &&Point| point.outstanding as f64 * growth <= top.outstanding as f64;
        self.points.iter().rev().find(far)
    }

    /// Whether the best is so near to the goal that what little more there may be could carry it
    /// there: as much as the last growth brought, and once more.
    fn could_reach(&self, best: &Point, top: &Point) -> bool {
        let last = self.compared_with(GROWTH, top).map_or(0.0, |below| gain(below, top));
        let more = (2.0 * last).max(GAIN_MIN * best.rate.value).max(uncertainty(best));
        best.rate.value + more >= self.goal.least()
    }

    /// A concurrency beside the best, where the rate has fallen beyond it: the top may lie between.
    fn around(&self, best: usize) -> Option<u64> {
        let point = &self.points[best];
        let above = self.points.get(best + 1)?;
        let fall = point.rate.value - above.rate.value;
        let noise = uncertainty(point).hypot(uncertainty(above));
        if fall <= noise.max(GAIN_MIN * point.rate.value) {
            return None;
        }
        let below = best.checked_sub(1).map_or(0, |place| self.points[place].outstanding);
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

/// Half-width of the 95 % interval, where it is known.
fn uncertainty(point: &Point) -> f64 {
    point.rate.uncertainty.unwrap_or(0.0)
}
