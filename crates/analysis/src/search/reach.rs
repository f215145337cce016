//! The runs of a tuning: a search for the least concurrency that reaches a rate.

use workload::plan::Run;
use workload::reach::Reach;
use workload::search::Search;

use super::{Ended, is_failed};
use crate::load_point::LoadPoint;
use crate::tune::findings::{NextStep, next_step};
use crate::tune::search::Answer;

/// The next run of the tuning, or the reason why there is none.
pub(super) fn next(search: &Search, reach: &Reach, done: &[&LoadPoint]) -> Result<Run, Ended> {
    if done.iter().flat_map(|point| &point.runs).any(is_failed) {
        return Err(Ended::Failed);
    }
    match next_step(reach, &search.template, done) {
        NextStep::Run(run) => Ok(*run),
        NextStep::Done(answer) => Err(match answer {
            Some(Answer::Reached { .. }) => Ended::Reached,
            Some(Answer::Saturated { .. }) => Ended::NoGain,
            Some(Answer::Bounded { .. }) => Ended::AllTried,
            // Completed runs that measured nothing.
            None => Ended::Failed,
        }),
    }
}
