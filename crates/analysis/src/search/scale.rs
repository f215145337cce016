//! The runs of scaling experiments, which find what limits a workload's rate.

use workload::plan::Run;
use workload::scale::Scale;
use workload::search::Search;

use super::{Ended, is_failed};
use crate::curve;
use crate::load_point::LoadPoint;
use crate::verdict::explain::{self, PossibleChanges};
use crate::verdict::{self, Answer, Known};

/// The next scaling experiment, or the reason why there is none.
pub(super) fn next(search: &Search, scale: &Scale, done: &[&LoadPoint]) -> Result<Run, Ended> {
    if done.iter().flat_map(|point| &point.runs).any(is_failed) {
        return Err(Ended::Failed);
    }
    let may = PossibleChanges {
        connections: scale.connections,
        direction: scale.direction,
        queue_depth_max: scale.queue_depth_max,
    };
    let known = Known::before(&scale.known, &scale.targets());
    let done: Vec<LoadPoint> = done.iter().map(|point| (*point).clone()).collect();
    let Some(run) = explain::next(&search.template, may, &done, &known) else {
        let outlines = curve::outlines(&done, verdict::certain(&known));
        let verdicts = verdict::verdicts(&outlines, &done, &known, |_| false, |_| false);
        let found = verdicts.first().map(|verdict| &verdict.answer);
        return Err(match found {
            Some(Answer::Limited { .. } | Answer::NotReached) => Ended::Explained,
            Some(Answer::NotEnoughData(_)) | None => Ended::Inconclusive,
        });
    };
    // A run without completed operations has no result and would be repeated for ever.
    let measured = |point: &&LoadPoint| point.parameters == run.parameters;
    match done.iter().find(measured).is_some_and(|point| point.rate_for_judgement().is_none()) {
        true => Err(Ended::Failed),
        false => Ok(run),
    }
}
