//! Two interleaved plans: both targets are prepared first, then each run is executed on both, as a
//! block of two in the given order.
//!
//! For: comparisons on a host whose speed drifts, because both runs of a block see the same host.
//! Not for: the order itself (`workload::interleave`) and what the runs mean (`analysis::compare`).

use std::ops::ControlFlow;
use std::sync::Arc;

use engine::drive::Stop;
use metrics::run_record::{ChosenIoMethod, Outcome};
use target::directory::TargetDirectory;
use workload::interleave::ComparedSide;
use workload::plan::{IoMethod, IoMethodUsed, Plan, Run};

use crate::announce::Announcer;
use crate::conduct::{ConductError, Conductor, Failures, Host, finish, prepare_targets};
use crate::event::{Event, Listener};
use crate::fleet::Fleet;
use crate::run_trees::RunTrees;

/// One of the two plans, and what is needed to execute it.
pub struct InterleavedSide<'s, 'h, 'l> {
    /// The plan. Both plans have the same number of runs and no searches.
    pub plan: &'s Plan,
    /// The fleet that executes it.
    pub fleet: &'s mut dyn Fleet,
    /// The host as this side's runs see it.
    pub host: Host<'h>,
    /// The index of its directory; `None` for the null target. Both sides may have the same.
    pub directory: Option<usize>,
    /// The listeners of this side's events.
    pub listeners: &'s mut [&'l mut dyn Listener],
}

/// Executes both plans, interleaved; `order[run]` is the side that is first in this run's block.
/// Returns how each side ended: if one side cannot continue, neither does, because a run without
/// its partner compares nothing.
///
/// # Errors
/// For each side see [`ConductError`]; its listeners have received how it ended.
pub fn conduct_interleaved<'h>(
    sides: [InterleavedSide<'_, 'h, '_>; 2],
    directories: &mut [TargetDirectory],
    order: &[ComparedSide],
    stop: &Arc<Stop>,
) -> [Result<Outcome, ConductError>; 2] {
    let [a, b] = sides;
    let mut announcers = [Announcer::new(a.listeners), Announcer::new(b.listeners)];
    let indexes = [a.directory, b.directory];
    let results = match prepare_both(indexes, directories, stop, &mut announcers) {
        Err((side, ended)) => ended_by(side, ended),
        Ok(()) => {
            let [first, second] = &mut announcers;
            let directories = &*directories;
            let of_side = |side: usize| match indexes[side] {
                Some(index) => std::slice::from_ref(&directories[index]),
                None => &[],
            };
            let mut conductors = [
                Conductor {
                    fleet: a.fleet,
                    is_export: a.plan.target().capabilities().own_client,
                    host: a.host,
                    directories: of_side(0),
                    trees: RunTrees::shared(a.plan.verify),
                    stop,
                    announcer: first,
                    blocking: false,
                },
                Conductor {
                    fleet: b.fleet,
                    is_export: b.plan.target().capabilities().own_client,
                    host: b.host,
                    directories: of_side(1),
                    trees: RunTrees::shared(b.plan.verify),
                    stop,
                    announcer: second,
                    blocking: false,
                },
            ];
            match choose_io_methods(&mut conductors, [a.plan, b.plan]) {
                Err((side, error)) => ended_by(side, Err(error)),
                Ok(()) => do_blocks(&mut conductors, [a.plan, b.plan], order),
            }
        }
    };
    let [a, b] = results;
    let [first, second] = announcers;
    [finish(first, a), finish(second, b)]
}

/// How a side ended, and which it was.
type Ended = (ComparedSide, Result<Outcome, ConductError>);

fn prepare_both(
    indexes: [Option<usize>; 2],
    directories: &mut [TargetDirectory],
    stop: &Stop,
    announcers: &mut [Announcer<'_>; 2],
) -> Result<(), Ended> {
    for side in ComparedSide::BOTH {
        let Some(index) = indexes[side.index()] else { continue };
        if side == ComparedSide::B && indexes[0] == Some(index) {
            // A target compared with itself is prepared once.
            continue;
        }
        let announcer = &mut announcers[side.index()];
        let directories = std::slice::from_mut(&mut directories[index]);
        match prepare_targets(directories, stop, announcer) {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(outcome)) => return Err((side, Ok(outcome))),
            Err(error) => return Err((side, Err(error))),
        }
    }
    Ok(())
}

/// Chooses the same I/O method for both sides. If the probes of two directories disagree, both use
/// blocking calls, which every file system supports.
fn choose_io_methods(
    conductors: &mut [Conductor<'_, '_, '_>; 2],
    plans: [&Plan; 2],
) -> Result<(), (ComparedSide, ConductError)> {
    let mut used: Vec<ChosenIoMethod> = Vec::new();
    for side in ComparedSide::BOTH {
        let conductor = &mut conductors[side.index()];
        used.push(conductor.choose_io_method(plans[side.index()]).map_err(|error| (side, error))?);
    }
    let methods = [used[0].io_method, used[1].io_method];
    for side in ComparedSide::BOTH {
        let (index, other) = (side.index(), side.other().index());
        if [methods[index], methods[other]] == [IoMethodUsed::IoUring, IoMethodUsed::Psync] {
            let plan = Plan { io_method: IoMethod::Psync, ..plans[index].clone() };
            let chosen =
                conductors[index].choose_io_method(&plan).map_err(|error| (side, error))?;
            let reason = format!(
                "the same as on {}, so that the sides differ only in the target",
                side.other().label()
            );
            used[index] = ChosenIoMethod { reason, ..chosen };
        }
    }
    for (conductor, used) in conductors.iter_mut().zip(used) {
        conductor.announcer.send(&Event::IoMethodChosen(used));
    }
    Ok(())
}

fn do_blocks(
    conductors: &mut [Conductor<'_, '_, '_>; 2],
    plans: [&Plan; 2],
    order: &[ComparedSide],
) -> [Result<Outcome, ConductError>; 2] {
    let runs: [Vec<&Run>; 2] = plans.map(|plan| plan.known_runs().collect());
    let mut failures = [Failures::default(), Failures::default()];
    for (block, first) in order.iter().enumerate() {
        for side in [*first, first.other()] {
            let index = side.index();
            let run = runs[index][block];
            match conductors[index].run_and_continue(run, &mut failures[index], None) {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(Some(outcome)) => return ended_by(side, Ok(outcome)),
                ControlFlow::Break(None) => {
                    let own = std::mem::take(&mut failures[index]);
                    return ended_by(side, Ok(own.into_outcome()));
                }
            }
        }
    }
    failures.map(|failures| Ok(failures.into_outcome()))
}

/// How both sides end when one of them ended early.
fn ended_by(
    side: ComparedSide,
    ended: Result<Outcome, ConductError>,
) -> [Result<Outcome, ConductError>; 2] {
    let because = |reason: &str| {
        let reason = format!("stopped because side {} failed: {reason}", side.label());
        Outcome::Failed { reason }
    };
    let other = match &ended {
        Ok(Outcome::Failed { reason }) => because(reason),
        // It ended without a failure: a listener could not take the results.
        Ok(Outcome::Done) => because("its results cannot be kept"),
        Ok(outcome) => outcome.clone(),
        Err(error) => because(&error.to_string()),
    };
    match side {
        ComparedSide::A => [ended, Ok(other)],
        ComparedSide::B => [Ok(other), ended],
    }
}
