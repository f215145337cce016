//! Which warnings are relevant to the answer of a tuning.
//!
//! A tuning measures many concurrencies, and most of them are not part of the answer, so it does
//! not matter if one of those was unsteady. Warnings that make every figure doubtful (failed
//! operations, a cache, a busy generator) are always relevant.

use metrics::warning::{Figure, Warning};

use super::findings::{Outcome, TuneFindings};
use crate::warnings::Sighting;

/// What a load point is to the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// The found concurrency, paced at the target rate.
    Paced,
    /// The answer names it, or the arithmetic uses it.
    Basis,
    /// The search went past it.
    Other,
}

/// Whether the warning is relevant to the answer.
pub(crate) fn is_relevant(tune: &TuneFindings, sighting: &Sighting) -> bool {
    match sighting.load_point {
        Some(load_point) => concerns(role(tune, load_point), &sighting.warning),
        None => true,
    }
}

/// Whether a warning about a load point with this role is relevant to the answer.
fn concerns(role: Role, warning: &Warning) -> bool {
    match warning {
        // The answer contains no percentiles.
        Warning::FewSamplesForPercentile { .. } => false,
        Warning::NotSteady { figure, .. }
        | Warning::RoundsDiffer { figure, .. }
        | Warning::WarmUpTooShort { figure, .. }
        | Warning::OutlierIntervals { figure, .. } => match role {
            // The schedule sets the rate; the response time is the answer.
            Role::Paced => *figure == Figure::ResponseTime,
            Role::Basis => true,
            Role::Other => false,
        },
        Warning::RepeatsDisagree { .. } | Warning::OutlierRepeat { .. } => role != Role::Other,
        _ => true,
    }
}

fn role(tune: &TuneFindings, load_point: usize) -> Role {
    if tune.paced.is_some_and(|paced| paced.load_point == load_point) {
        return Role::Paced;
    }
    let alone = tune.tried.first().filter(|_| tune.arithmetic.is_some());
    let named = match &tune.outcome {
        Outcome::Reached { enough, too_little, .. } => vec![Some(*enough), *too_little],
        Outcome::TooSlow { enough, .. } => vec![Some(*enough)],
        Outcome::Saturated { top, last } => vec![Some(*top), Some(*last)],
        Outcome::Bounded { top } | Outcome::Inconclusive { top, .. } => vec![Some(*top)],
        // Without an answer all warnings are relevant.
        Outcome::Unfinished => return Role::Basis,
    };
    let mut named = named.into_iter().flatten().chain(alone.copied());
    match named.any(|tried| tried.load_point == load_point) {
        true => Role::Basis,
        false => Role::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unsteady_figure_is_relevant_where_the_answer_rests_on_it() {
        let unsteady = |figure| Warning::NotSteady { figure, drift: 0.2, thirds: None };
        let relevant = |figure| {
            [Role::Paced, Role::Basis, Role::Other].map(|role| concerns(role, &unsteady(figure)))
        };
        assert_eq!(relevant(Figure::AchievedRate), [false, true, false]);
        assert_eq!(relevant(Figure::ResponseTime), [true, true, false]);
    }

    #[test]
    fn percentiles_are_never_relevant() {
        let few = Warning::FewSamplesForPercentile { percentile: 99.0, samples_above: 2 };
        assert!([Role::Paced, Role::Basis, Role::Other].iter().all(|role| !concerns(*role, &few)));
    }
}
