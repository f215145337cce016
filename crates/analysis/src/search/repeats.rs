//! Repeats of load points that are known: blocks in random order, until each is known well enough.
//!
//! A block holds every load point that needs one more, once, in an order drawn anew: a randomised
//! block design (Fisher 1935), so that a drift over time falls on all of them alike.

use workload::plan::Run;
use workload::random;
use workload::search::{Repeats, Search, SearchMethod};

use super::rates::is_overloaded;
use super::{is_failed, rate, response_ns};
use crate::estimate::Estimate;
use crate::load_point::{LoadPoint, RunSummary};

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
            runs.len() == block as usize && needs_more(search.repeats, runs)
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

fn needs_more(repeats: Repeats, runs: &[RunSummary]) -> bool {
    let count = runs.len() as u32;
    if count >= repeats.most || runs.iter().any(is_failed) {
        return false;
    }
    let narrow = |permille: u16| is_narrow(runs, f64::from(permille) / 1000.0);
    count < repeats.least || repeats.until_permille.is_some_and(|permille| !narrow(permille))
}

/// Whether the load point was to be known better than it is.
pub(super) fn is_too_wide(repeats: Repeats, point: &LoadPoint) -> bool {
    let wide = |permille: u16| !is_narrow(&point.runs, f64::from(permille) / 1000.0);
    repeats.until_permille.is_some_and(wide)
}

/// Whether the differences between the runs leave the achieved rate and the mean response time
/// uncertain by at most `until` of their values. A load point that is more than the target takes
/// has a response time that grows with the run's length: there the rate alone counts.
fn is_narrow(runs: &[RunSummary], until: f64) -> bool {
    let within = |figure: fn(&RunSummary) -> f64| {
        let values: Vec<f64> = runs.iter().map(figure).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let estimate = Estimate::between_repeats(mean, &values);
        estimate.relative().is_some_and(|relative| relative <= until)
    };
    runs.len() > 1
        && !runs.iter().any(is_failed)
        && within(rate)
        && (runs.iter().any(is_overloaded) || within(response_ns))
}
