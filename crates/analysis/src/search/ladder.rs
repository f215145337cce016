//! The closed curve: a ladder of queue depths with stop conditions, then depths between those where
//! the curve bends.
//!
//! The additional depths follow the rule of sandwich algorithms for concave functions (Burkard,
//! Hamacher and Rote, "Sandwich approximation of univariate convex functions", Naval Research
//! Logistics 38, 1991): the rate is a concave function of the queue depth, so between two measured
//! depths it is above their chord and below the extensions of both neighbouring chords. The next
//! depth is where that triangle is highest.

use workload::plan::Run;
use workload::search::{QueueDepthLadder, Search};

use super::{Ended, is_failed, response_ns};
use crate::curve::plateau::{self, Inconclusive, State};
use crate::load_point::LoadPoint;

/// The curve between two depths is known well enough if it cannot deviate from its chord by more
/// than this share of the highest rate.
const BEND_MIN: f64 = 0.02;

/// A measured depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    pub(super) depth: u32,
    response_ns: f64,
    failed: bool,
    /// The rate; `None` if nothing was measured.
    judged: Option<plateau::Step>,
}

impl Step {
    /// Operations per second.
    pub(super) fn rate(&self) -> f64 {
        self.judged.map_or(0.0, |step| step.rate.value)
    }
}

/// The next run of the ladder, or the reason why there is none.
pub(super) fn next(
    search: &Search,
    ladder: &QueueDepthLadder,
    done: &[&LoadPoint],
) -> Result<Run, Ended> {
    let workers = search.template.streams.iter().map(|stream| stream.workers).max().unwrap_or(1);
    let units = Units { workers, parts: search.template.parts() };
    let depth = next_depth(ladder, units, &steps(done))?;
    Ok(search.template.with_queue_depth(depth))
}

/// The closed load points, in the order in which they were measured.
pub(super) fn steps(done: &[&LoadPoint]) -> Vec<Step> {
    let closed = |point: &&&LoadPoint| point.merged.total.offered_rate.is_none();
    let closed: Vec<&LoadPoint> = done.iter().filter(closed).copied().collect();
    let judged = plateau::steps(&closed);
    let step = |(point, judged): (&&LoadPoint, Option<plateau::Step>)| Step {
        depth: u32::try_from(point.queue_depth_total).unwrap_or(u32::MAX),
        response_ns: point.runs.first().map_or(0.0, response_ns),
        failed: point.runs.iter().any(is_failed),
        judged,
    };
    closed.iter().zip(judged).map(step).collect()
}

/// What depths divide evenly among.
#[derive(Clone, Copy, Debug)]
struct Units {
    /// Over all hosts.
    workers: u32,
    /// Hosts and targets.
    parts: u32,
}

fn next_depth(ladder: &QueueDepthLadder, units: Units, steps: &[Step]) -> Result<u32, Ended> {
    if steps.iter().any(|step| step.failed) {
        return Err(Ended::Failed);
    }
    let at = |depth: u32| steps.iter().find(|step| step.depth == depth);
    let mut climbed: Vec<Step> = Vec::new();
    let mut ended = Ended::AllTried;
    for depth in ladder.depths(units.parts) {
        let Some(step) = at(depth) else { return Ok(depth) };
        climbed.push(*step);
        if ladder.response_time_max_ns.is_some_and(|most| step.response_ns > most as f64) {
            ended = Ended::ResponseTime;
            break;
        }
        let judged: Vec<Option<plateau::Step>> = climbed.iter().map(|step| step.judged).collect();
        let plateau = plateau::judge(&judged, None);
        if let Some(again) = plateau.and_then(|plateau| unsettled(&plateau.state, &climbed)) {
            return Ok(again);
        }
        if plateau.is_some_and(|plateau| plateau.is_reached()) || has_no_gain(ladder, &climbed) {
            ended = Ended::NoGain;
            break;
        }
    }
    let refined = steps.len() - climbed.len();
    if refined >= ladder.refine_max as usize {
        return Err(ended);
    }
    bend(steps, units).ok_or(ended)
}

/// The depth that needs more repeats for the decision, while repeats remain: one disturbed run must
/// not end the search.
fn unsettled(state: &State, climbed: &[Step]) -> Option<u32> {
    let State::Inconclusive(Inconclusive::Precision(index) | Inconclusive::Stability(index)) =
        state
    else {
        return None;
    };
    let step = climbed.get(*index)?;
    let few = |judged: plateau::Step| judged.runs < plateau::RUNS_PER_POINT;
    step.judged.is_some_and(few).then_some(step.depth)
}

/// Whether each of the last two steps gained less than a doubling must.
fn has_no_gain(ladder: &QueueDepthLadder, climbed: &[Step]) -> bool {
    let worth = 1.0 + f64::from(ladder.gain_min_permille) / 1000.0;
    let gained_little = |pair: &[Step]| {
        // The last step of a ladder can be less than a doubling.
        let doublings = (f64::from(pair[1].depth) / f64::from(pair[0].depth)).log2();
        pair[1].rate() < pair[0].rate() * worth.powf(doublings)
    };
    climbed.len() > 2 && climbed[climbed.len() - 3..].windows(2).all(gained_little)
}

/// The depth between two measured ones where the rate is least certain; `None` if it is known well
/// enough everywhere.
fn bend(steps: &[Step], units: Units) -> Option<u32> {
    let mut points: Vec<(f64, f64)> =
        steps.iter().map(|step| (f64::from(step.depth), step.rate())).collect();
    points.push((0.0, 0.0));
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let largest = points.iter().map(|point| point.1).fold(0.0, f64::max);
    let slope = |pair: &[(f64, f64)]| (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0);
    let mut best: Option<(f64, u32)> = None;
    for at in 1..points.len().saturating_sub(1) {
        let (from, to) = (points[at], points[at + 1]);
        let Some(depth_of) = depths_between(from.0, to.0, units) else { continue };
        let before = slope(&points[at - 1..=at]);
        // Beyond the last depth the rate is assumed not to rise.
        let after = points.get(at + 2).map_or(0.0, |next| slope(&[to, *next])).max(0.0);
        if before <= after {
            continue;
        }
        let depth = (to.1 - from.1 + before * from.0 - after * to.0) / (before - after);
        if depth <= from.0 || depth >= to.0 {
            continue;
        }
        // The height of the triangle above the chord.
        let gap = (before - slope(&[from, to])) * (depth - from.0);
        if gap > BEND_MIN * largest && best.is_none_or(|(most, _)| gap > most) {
            best = Some((gap, depth_of(depth)));
        }
    }
    best.map(|(_, depth)| depth)
}

/// Rounds a position between two depths to a depth that divides evenly among the workers, or among the
/// hosts and targets if there are fewer operations than workers; `None` if there is none in between.
fn depths_between(from: f64, to: f64, units: Units) -> Option<impl Fn(f64) -> u32> {
    let unit = f64::from(if from < f64::from(units.workers) { units.parts } else { units.workers });
    let (first, last) = ((from / unit).floor() + 1.0, (to / unit).ceil() - 1.0);
    let depth_of =
        move |position: f64| ((position / unit).round().clamp(first, last) * unit) as u32;
    (first <= last).then_some(depth_of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{Estimate, Method};

    const LADDER: QueueDepthLadder = QueueDepthLadder {
        queue_depth_max: 256,
        step: 2,
        gain_min_permille: 50,
        response_time_max_ns: None,
        refine_max: 4,
    };

    const ONE: Units = Units { workers: 1, parts: 1 };

    #[test]
    fn several_hosts_have_equal_depths() {
        let units = Units { workers: 6, parts: 3 };
        let (mut steps, mut depths): (Vec<Step>, Vec<u32>) = Default::default();
        while let Ok(depth) =
            next_depth(&QueueDepthLadder { queue_depth_max: 96, ..LADDER }, units, &steps)
        {
            depths.push(depth);
            // Saturated from a depth of 16 in total.
            steps.push(step(depth, f64::from(depth.min(16)), 0.001, 5));
        }
        assert_eq!(depths[..5], [3, 6, 12, 24, 48]);
        assert!(
            depths.len() > 5 && depths.iter().all(|depth| depth.is_multiple_of(3)),
            "{depths:?}"
        );
    }

    /// A depth with this rate, relative half-width and number of runs.
    fn step(depth: u32, rate: f64, half: f64, runs: u32) -> Step {
        let uncertainty = Some(half * rate);
        let estimate =
            Estimate { value: rate, uncertainty, samples: 8.0, method: Method::Intervals };
        let slot_s = f64::from(depth) / rate;
        let judged = plateau::Step {
            load: f64::from(depth),
            rate: estimate,
            slot_s,
            schedule: plateau::Schedule::Closed,
            runs,
            agrees: true,
            is_unloaded: depth == 1,
        };
        Step { depth, response_ns: slot_s * 1e9, failed: false, judged: Some(judged) }
    }

    /// Runs the ladder on a target whose rate and response time are known.
    fn climb(
        ladder: &QueueDepthLadder,
        workers: u32,
        rate: impl Fn(u32) -> f64,
    ) -> (Vec<u32>, Ended) {
        let mut steps: Vec<Step> = Vec::new();
        loop {
            match next_depth(ladder, Units { workers, parts: 1 }, &steps) {
                Ok(depth) => {
                    assert!(steps.iter().all(|step| step.depth != depth), "{depth} twice");
                    steps.push(step(depth, rate(depth), 0.002, 1));
                }
                Err(ended) => return (steps.iter().map(|step| step.depth).collect(), ended),
            }
        }
    }

    /// 1 ms per operation and at most 10,000 operations per second: the knee is at 10.
    fn limited(depth: u32) -> f64 {
        (f64::from(depth) * 1000.0).min(10_000.0)
    }

    #[test]
    fn a_ladder_ends_when_two_doublings_bring_nothing_and_then_finds_the_knee() {
        let (depths, ended) = climb(&LADDER, 1, limited);
        assert_eq!((depths, ended), (vec![1, 2, 4, 8, 16, 32, 64, 10], Ended::NoGain));
    }

    #[test]
    fn one_small_gain_does_not_end_a_ladder() {
        // No gain from 8 to 16, then the rate rises again.
        let staircase = |depth: u32| if depth == 16 { 8000.0 } else { f64::from(depth) * 1000.0 };
        let (depths, ended) =
            climb(&QueueDepthLadder { queue_depth_max: 64, ..LADDER }, 1, staircase);
        assert!(depths.starts_with(&[1, 2, 4, 8, 16, 32, 64]), "{depths:?}");
        assert_eq!(ended, Ended::AllTried);
    }

    #[test]
    fn a_ladder_ends_above_the_objective() {
        let ladder =
            QueueDepthLadder { response_time_max_ns: Some(1_500_000), refine_max: 0, ..LADDER };
        // At 16 outstanding operations each takes 1.6 ms.
        let (depths, ended) = climb(&ladder, 1, limited);
        assert_eq!((depths, ended), (vec![1, 2, 4, 8, 16], Ended::ResponseTime));
    }

    #[test]
    fn a_target_that_never_bends_is_tried_to_the_end_and_not_refined() {
        let ladder = QueueDepthLadder { queue_depth_max: 24, ..LADDER };
        let (depths, ended) = climb(&ladder, 1, |depth| f64::from(depth) * 1000.0);
        assert_eq!((depths, ended), (vec![1, 2, 4, 8, 16, 24], Ended::AllTried));
    }

    #[test]
    fn a_failed_run_ends_everything() {
        let good = step(1, 1000.0, 0.002, 1);
        let failed = Step { depth: 2, failed: true, ..good };
        assert_eq!(next_depth(&LADDER, ONE, &[good, failed]), Err(Ended::Failed));
    }

    #[test]
    fn a_disturbed_depth_is_measured_again_before_it_ends_the_ladder() {
        // Of 16,384 only 8,960 ± 60 % were seen at depth 16, after 16,000 at depth 8.
        let calm = [(1, 2500.0), (2, 5000.0), (4, 10_000.0), (8, 16_000.0)];
        let mut steps: Vec<Step> =
            calm.into_iter().map(|(depth, rate)| step(depth, rate, 0.01, 1)).collect();
        steps.push(step(16, 8960.0, 0.6, 1));
        assert_eq!(next_depth(&LADDER, ONE, &steps), Ok(16), "again");
        steps[4] = step(16, 8960.0, 0.6, plateau::RUNS_PER_POINT);
        assert_eq!(next_depth(&LADDER, ONE, &steps), Ok(32), "repeats are limited");
        steps[4] = step(16, 16_384.0, 0.01, 2);
        assert_eq!(next_depth(&LADDER, ONE, &steps), Ok(32), "only one doubling is flat");
    }

    #[test]
    fn a_ladder_of_fourfold_steps_ends_as_soon_as_one_step_brings_nothing() {
        let ladder = QueueDepthLadder { step: 4, refine_max: 0, ..LADDER };
        assert_eq!(climb(&ladder, 1, limited), (vec![1, 4, 16, 64], Ended::NoGain));
    }

    #[test]
    fn the_next_depth_is_where_the_triangle_above_a_chord_is_highest() {
        let steps = |rates: &[(u32, f64)]| -> Vec<Step> {
            rates.iter().map(|(depth, rate)| step(*depth, *rate, 0.01, 1)).collect()
        };
        // From (10, 1000) to (20, 1400) the extensions with slopes of 100 and 2.5 meet at 13.8, 231
        // above the chord; from there to (100, 1600) those of 40 and 0 at 25, 187 above it.
        let known = [(10, 1000.0), (20, 1400.0), (100, 1600.0), (200, 1600.0)];
        assert_eq!(bend(&steps(&known), ONE), Some(14));
        // With a rise of x from 1,000 the slopes of 100 and 0 meet x - x^2 / 200 above the chord.
        let rise = |x: f64| {
            let most = 1000.0 + x;
            bend(&steps(&[(10, 1000.0), (12, most), (40, most)]), ONE)
        };
        assert_eq!(rise(25.0), Some(11), "21.9 is more than 2 % of 1,025");
        assert_eq!(rise(22.0), None, "19.6 is less than 2 % of 1,022");
        assert_eq!(rise(0.0), None, "the slopes meet at the first depth");
    }

    #[test]
    fn depths_between_are_shared_evenly_by_the_workers() {
        let (depths, _) = climb(&LADDER, 4, limited);
        assert_eq!(depths, [1, 2, 4, 8, 16, 32, 64, 12]);
    }

    #[test]
    fn the_depths_between_are_those_where_the_curve_bends() {
        // A gentle curve: N / (N + 20).
        let gentle = |depth: u32| 10_000.0 * f64::from(depth) / (f64::from(depth) + 20.0);
        let ladder = QueueDepthLadder { queue_depth_max: 128, ..LADDER };
        let (depths, _) = climb(&ladder, 1, gentle);
        let between: Vec<u32> = depths.into_iter().filter(|d| !d.is_power_of_two()).collect();
        assert!(!between.is_empty() && between.len() <= 4, "{between:?}");
        assert!(between.iter().all(|depth| (8..128).contains(depth)), "{between:?}");
    }
}
