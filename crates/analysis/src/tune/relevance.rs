//! Which warnings concern the answer of a tuning.
//!
//! A tuning measures many concurrencies on its way, each for as long as it must, and most of them
//! are no part of the answer: that one of those did not stand still changes nothing. What makes
//! every figure doubtful (failed operations, a cache that answers, a busy generator) is always
//! told.

use metrics::warning::{Figure, Warning};

use super::findings::{Outcome, TuneFindings};
use crate::warnings::Sighting;

/// Whether who reads the answer must know of it.
pub(crate) fn is_relevant(tune: &TuneFindings, sighting: &Sighting) -> bool {
    let Some(load_point) = sighting.load_point else { return true };
    let held = tune.held.is_some_and(|held| held.load_point == load_point);
    match &sighting.warning {
        // No part of the answer is a percentile.
        Warning::FewSamplesForPercentile { .. } => false,
        Warning::NotSteady { figure, .. }
        | Warning::RoundsDiffer { figure, .. }
        | Warning::WarmUpTooShort { figure, .. }
        | Warning::OutlierIntervals { figure, .. }
            if held =>
        {
            // The rate is what the schedule made it; the response time is the answer.
            *figure == Figure::ResponseTime
        }
        Warning::NotSteady { .. }
        | Warning::RoundsDiffer { .. }
        | Warning::WarmUpTooShort { .. }
        | Warning::OutlierIntervals { .. }
        | Warning::RepeatsDisagree { .. }
        | Warning::OutlierRepeat { .. } => held || rests_on(tune, load_point),
        _ => true,
    }
}

/// Whether the answer rests on a load point: it is named, or the arithmetic begins with it.
fn rests_on(tune: &TuneFindings, load_point: usize) -> bool {
    let alone = tune.tried.iter().find(|tried| tried.outstanding == 1);
    let named = match &tune.outcome {
        Outcome::Reached { enough, too_little, .. } => vec![Some(*enough), *too_little],
        Outcome::TooSlow { enough, .. } => vec![Some(*enough)],
        Outcome::Saturated { top, last } => vec![Some(*top), Some(*last)],
        Outcome::Bounded { top } | Outcome::Inconclusive { top, .. } => vec![Some(*top)],
        // Nothing is known to be left out.
        Outcome::Unfinished => return true,
    };
    let mut named = named.into_iter().flatten().chain(alone.copied());
    named.any(|tried| tried.load_point == load_point)
}
