//! Which warnings are relevant to the answer of a tuning.
//!
//! A tuning measures many concurrencies, and most of them are not part of the answer, so it does
//! not matter if one of those was unsteady. Warnings that make every figure doubtful (failed
//! operations, a cache, a busy generator) are always relevant.

use metrics::warning::{Figure, Warning};

use super::findings::{Outcome, TuneFindings};
use crate::warnings::Sighting;

/// Whether the warning is relevant to the answer.
pub(crate) fn is_relevant(tune: &TuneFindings, sighting: &Sighting) -> bool {
    let Some(load_point) = sighting.load_point else { return true };
    let paced = tune.paced.is_some_and(|paced| paced.load_point == load_point);
    match &sighting.warning {
        // The answer contains no percentiles.
        Warning::FewSamplesForPercentile { .. } => false,
        Warning::NotSteady { figure, .. }
        | Warning::RoundsDiffer { figure, .. }
        | Warning::WarmUpTooShort { figure, .. }
        | Warning::OutlierIntervals { figure, .. }
            if paced =>
        {
            // The schedule sets the rate; the response time is the answer.
            *figure == Figure::ResponseTime
        }
        Warning::NotSteady { .. }
        | Warning::RoundsDiffer { .. }
        | Warning::WarmUpTooShort { .. }
        | Warning::OutlierIntervals { .. }
        | Warning::RepeatsDisagree { .. }
        | Warning::OutlierRepeat { .. } => paced || rests_on(tune, load_point),
        _ => true,
    }
}

/// Whether the answer depends on a load point: the answer names it, or the arithmetic uses it.
fn rests_on(tune: &TuneFindings, load_point: usize) -> bool {
    let alone = tune.tried.iter().find(|tried| tried.outstanding == 1);
    let named = match &tune.outcome {
        Outcome::Reached { enough, too_little, .. } => vec![Some(*enough), *too_little],
        Outcome::TooSlow { enough, .. } => vec![Some(*enough)],
        Outcome::Saturated { top, last } => vec![Some(*top), Some(*last)],
        Outcome::Bounded { top } | Outcome::Inconclusive { top, .. } => vec![Some(*top)],
        // Without an answer all warnings are relevant.
        Outcome::Unfinished => return true,
    };
    let mut named = named.into_iter().flatten().chain(alone.copied());
    named.any(|tried| tried.load_point == load_point)
}
