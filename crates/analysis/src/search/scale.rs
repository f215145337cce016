//! Scaling experiments: what limits a workload's rate, as runs.

use workload::plan::Run;
use workload::scale::Scale;
use workload::search::Search;

use super::{Ended, is_failed};
use crate::bottleneck::explain::{self, May};
use crate::bottleneck::{self, Known, Limit};
use crate::load_point::LoadPoint;

/// The next scaling experiment, or why there is none.
pub(super) fn next(search: &Search, scale: &Scale, done: &[&LoadPoint]) -> Result<Run, Ended> {
    if done.iter().flat_map(|point| &point.runs).any(is_failed) {
        return Err(Ended::Failed);
    }
    let may = May {
        connections: scale.connections,
        direction: scale.direction,
        // A run has one target.
        volumes: false,
        queue_depth_max: scale.queue_depth_max,
    };
    let known = Known::before(&scale.known, &scale.target);
    let done: Vec<LoadPoint> = done.iter().map(|point| (*point).clone()).collect();
    let Some(run) = explain::next(&search.template, may, &done, &known) else {
        let found = bottleneck::limits(&done, &known);
        let told = found.first().is_some_and(|found| found.limit != Limit::Unknown);
        return Err(if told { Ended::Explained } else { Ended::NotTold });
    };
    // A run without a completed operation tells nothing, and would be asked for again.
    match done.iter().any(|point| point.parameters == run.parameters) {
        true => Err(Ended::Failed),
        false => Ok(run),
    }
}
