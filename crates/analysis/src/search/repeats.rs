//! Repeats of load points that are known: blocks in random order, until each is known well enough
//! ([`crate::repeats`] has the rule).
//!
//! A block holds every load point that needs one more, once, in an order drawn anew: a randomised
//! block design (Fisher 1935), so that a drift over time falls on all of them alike.

use workload::plan::Run;
use workload::random;
use workload::search::{Repeats, Search, SearchMethod};

use super::is_failed;
use crate::load_point::{LoadPoint, RunSummary};
use crate::repeats::{Verdict, enough};

const ORDER_SEED: u64 = 0x04DE;

/// The run of a known load point that comes next, with the number of its repeat.
pub(super) fn next(search: &Search, done: &[&LoadPoint]) -> Option<(Run, u32)> {
    let points = points(search, done);
    let known = |point: &Run| {
        done.iter()
            .find(|known| known.variant == point.variant && known.parameters == point.parameters)
    };
    let runs_of = |point: &Run| known(point).map_or(&[][..], |known| &known.runs);
    for block in 0..search.repeats.most {
        // Judged by what was known when the block began, so that its order does not matter.
        let earlier = |point: &Run| {
            let runs = runs_of(point);
            &runs[..runs.len().min(block as usize)]
        };
        let in_block = |place: &usize| {
            let runs = earlier(&points[*place]);
            runs.len() == block as usize
                && needs_more(search.repeats, known(&points[*place]).copied(), runs)
        };
        let order = random::shuffled(
            random::derive(random::derive(search.template.seed, ORDER_SEED), u64::from(block)),
            points.len(),
        );
        for place in order.into_iter().filter(in_block) {
            if runs_of(&points[place]).len() == block as usize {
                return Some((points[place].clone(), block));
            }
        }
    }
    None
}

/// The load points that are repeated: those that the plan names, or that were found.
fn points(search: &Search, done: &[&LoadPoint]) -> Vec<Run> {
    if let SearchMethod::Repeat(repeat) = &search.method {
        return repeat.points.clone();
    }
    let again = |point: &&LoadPoint| match point.merged.total.offered_rate {
        Some(rate) => {
            search.template.with_offered_rate(rate / search.template.streams.len() as f64)
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

/// Whether the load point was to be known better than it is.
pub(super) fn is_too_wide(repeats: Repeats, point: &LoadPoint) -> bool {
    repeats.until_permille.is_some_and(|until| look(repeats, until, point) != Verdict::Enough)
}

fn look(repeats: Repeats, until_permille: u16, point: &LoadPoint) -> Verdict {
    let wanted = f64::from(until_permille) / 1000.0;
    enough(point, wanted, repeats.least, repeats.most).verdict
}
