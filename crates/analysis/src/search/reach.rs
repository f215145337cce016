//! The least concurrency that reaches a rate: the search of a tuning, as runs.

use workload::plan::Run;
use workload::reach::Reach;
use workload::search::Search;

use super::{Ended, is_failed};
use crate::load_point::LoadPoint;
use crate::tune::findings::{Wish, wish};
use crate::tune::search::Answer;

/// The next run of the tuning, or why there is none.
pub(super) fn next(search: &Search, reach: &Reach, done: &[&LoadPoint]) -> Result<Run, Ended> {
    if done.iter().flat_map(|point| &point.runs).any(is_failed) {
        return Err(Ended::Failed);
    }
    match wish(reach, &search.template, done) {
        Wish::Run(run) => Ok(*run),
        Wish::Nothing(answer) => Err(match answer {
            Some(Answer::Reached { .. }) => Ended::Reached,
            Some(Answer::Saturated { .. }) => Ended::NoGain,
            Some(Answer::Bounded { .. }) => Ended::AllTried,
            // Runs that were done and measured nothing.
            None => Ended::Failed,
        }),
    }
}
