//! Repeats of given load points: blocks in random order, until each load point is known well enough
//! (see [`crate::repeats`] for the rule).
//!
//! A block contains once every load point that needs another repeat, in a new random order: a
//! randomised block design (Fisher 1935), so that a drift over time affects all of them equally.

use units::OpsPerSec;
use workload::plan::Run;
use workload::random;
use workload::search::{Repeats, Search, SearchMethod};

use super::is_failed;
use crate::load_point::{LoadPoint, RunSummary};
use crate::repeats::{Verdict, enough};

const ORDER_SEED: u64 = 0x04DE;

/// The next run of a given load point, with the number of its repeat.
pub(super) fn next(search: &Search, done: &[&LoadPoint]) -> Option<(Run, u32)> {
    let points = points(search, done);
    let known = |point: &Run| {
        done.iter()
            .find(|known| known.variant == point.variant && known.parameters == point.parameters)
    };
    let runs_of = |point: &Run| known(point).map_or(&[][..], |known| &known.runs);
    for block in 0..search.repeats.most {
        // Decide by the results before the block, so that the order within the block does not
        // matter.
        let earlier = |point: &Run| {
            let runs = runs_of(point);
            &runs[..runs.len().min(block as usize)]
        };
        let in_block = |index: &usize| {
            let runs = earlier(&points[*index]);
            runs.len() == block as usize
                && needs_more(search.repeats, known(&points[*index]).copied(), runs)
        };
        let order = random::shuffled(
            random::derive(random::derive(search.template.seed, ORDER_SEED), u64::from(block)),
            points.len(),
        );
        for index in order.into_iter().filter(in_block) {
            if runs_of(&points[index]).len() == block as usize {
                return Some((points[index].clone(), block));
            }
        }
    }
    None
}

/// The load points that are repeated: those of the plan, or those that the search found.
fn points(search: &Search, done: &[&LoadPoint]) -> Vec<Run> {
    if let SearchMethod::Repeat(repeat) = &search.method {
        return repeat.points.clone();
    }
    let again = |point: &&LoadPoint| match point.merged.total.offered_rate {
        Some(rate) => {
            let each = rate.get() / search.template.streams.len() as f64;
            search.template.with_offered_rate(OpsPerSec::new(each))
        }
        None if matches!(search.method, SearchMethod::Users(_)) => {
            let users = point.merged.total.users.as_ref().map_or(0, |users| users.users);
            search.template.with_users(u32::try_from(users).unwrap_or(u32::MAX))
        }
        None => {
            let depth = u32::try_from(point.queue_depth_total).unwrap_or(u32::MAX);
            search.template.with_queue_depth(depth)
        }
    };
    done.iter().map(again).collect()
}

fn needs_more(repeats: Repeats, point: Option<&LoadPoint>, runs: &[RunSummary]) -> bool {
    let count = runs.len() as u32;
    if count >= repeats.most || runs.iter().any(is_failed) {
        return false;
    }
    let more = |point: &LoadPoint, permille| {
        let before = LoadPoint { runs: runs.to_vec(), ..point.clone() };
        look(repeats, permille, &before) == Verdict::More
    };
    count < repeats.least
        || point.zip(repeats.until_permille).is_some_and(|(point, until)| more(point, until))
}

/// Whether the load point is known less precisely than required.
pub(super) fn is_too_wide(repeats: Repeats, point: &LoadPoint) -> bool {
    repeats.until_permille.is_some_and(|until| look(repeats, until, point) != Verdict::Enough)
}

fn look(repeats: Repeats, until_permille: u16, point: &LoadPoint) -> Verdict {
    let required = f64::from(until_permille) / 1000.0;
    enough(point, required, repeats.least, repeats.most).verdict
}
