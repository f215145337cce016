//! `run A B --interleave`: two targets measured in alternating runs.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::anyhow;
use engine::drive::Stop;
use host::Root;
use metrics::environment::Environment;
use metrics::interleaved::Interleaved;
use metrics::run_record::{self, ExperimentRecord};
use report::assumed::Assumed;
use runner::conduct::ConductError;
use runner::event::Listener;
use runner::fleet::{Fleet, LocalFleet};
use runner::interleave::{InterleavedSide, conduct_interleaved};
use store::{Annotation, Label, Store, Writer};
use target::directory::TargetDirectory;
use target::nfs::Observer;
use workload::interleave::{ComparedSide, order};
use workload::plan::{Plan, Step, TargetSpec};

use super::environment;
use super::experiment::{self, ExperimentOptions, Planned};
use super::left_on_target::LeftOnTarget;
use super::record_writer::RecordWriter;
use super::{
    Options, annotate, host_state, open_store, refuse_taken_label, survey, verdict, wire,
    with_hosts,
};
use crate::named_target;
use crate::outcome::{Exit, Failure, Outcome};
use crate::{refusal, unix_ms};

/// Blocks of each load point unless the user sets `--repeats`: 5 detect a change of twice the
/// standard deviation between blocks.
const BLOCKS: u32 = 5;

/// A value for each of the two sides.
pub type Both<T> = [T; 2];

/// How the runs of one side ended.
pub type Ended = Result<run_record::Outcome, ConductError>;

/// The plan of each side: the same experiment, the second on the target `second`.
///
/// # Errors
/// The experiment cannot be resolved, or is a search.
pub fn plans(options: &ExperimentOptions, second: &str) -> Result<Both<Planned>, Failure> {
    let mut options = options.clone();
    let mut first = experiment::plan(&options)?;
    if first.plan.searches().next().is_some() {
        return Err(Failure::input(anyhow!(
            "interleave two targets: in a search (`curve`, `run.until`) the next load depends on \
             one target's results, so the two targets would get different loads; name the loads \
             (`--set queue_depth=1,4,16`)"
        )));
    }
    let repeats = first.plan.known_runs().map(|run| run.repeat + 1).max().unwrap_or(1);
    if options.repeats.is_none() && repeats < BLOCKS {
        options.repeats = Some(BLOCKS);
        first = experiment::plan(&options)?;
        first.assumed.push(Assumed::Blocks(BLOCKS));
    }
    options.target = Some(second.to_owned());
    let second = experiment::plan(&options)?;
    Ok([first, second])
}

/// Both plans with their targets claimed and their records begun.
#[derive(Debug)]
pub struct PreparedPair {
    planned: Both<Planned>,
    claimed: Claimed,
    order: Vec<ComparedSide>,
    store: Store,
    writers: Both<Writer>,
}

/// The result of [`PreparedPair::measure`].
#[derive(Debug)]
pub struct MeasuredPair {
    /// How each side ended.
    pub ended: Both<Ended>,
    /// The record of each side.
    pub records: Both<ExperimentRecord>,
    /// The records' directories.
    pub run_directories: Both<PathBuf>,
    /// The targets.
    pub targets: Both<TargetSpec>,
    /// The files that remain on each target, once if both are the same.
    pub left: Vec<LeftOnTarget>,
}

/// The directories of both sides, claimed for this process.
#[derive(Debug)]
struct Claimed {
    directories: Vec<TargetDirectory>,
    /// The index of each side's directory; `None` for the null target.
    of_side: Both<Option<usize>>,
}

impl Claimed {
    fn of(&self, side: ComparedSide) -> &[TargetDirectory] {
        match self.of_side[side.index()] {
            Some(index) => std::slice::from_ref(&self.directories[index]),
            None => &[],
        }
    }
}

/// Claims both targets and begins a record for each. Both are inspected before either is claimed.
///
/// * `command_lines` - the command that repeats the run, for each side
/// * `observer` - is notified of waits for a server and may end them
///
/// # Errors
/// A target is refused, or the store cannot be written.
pub fn prepare(
    planned: Both<Planned>,
    options: &Options,
    command_lines: &Both<String>,
    observer: &Observer,
) -> Result<PreparedPair, Failure> {
    let annotations = annotations(&options.annotation)?;
    for annotation in &annotations {
        refuse_taken_label(options, annotation)?;
    }
    let claimed = claim(&planned, options, observer)?;
    let order = order(&planned[0].plan);
    let store = open_store(options)?;
    let mut environments: Both<Environment> = Default::default();
    for side in ComparedSide::BOTH {
        let index = side.index();
        let (planned, line) = (&planned[index], &command_lines[index]);
        environments[index] = environment::of_host(
            &planned.plan,
            &planned.text,
            line,
            claimed.of(side),
            &options.known,
        )?;
    }
    let environment_of = |index: usize, partner: &str| {
        let partner = partner.to_owned();
        let side = ComparedSide::BOTH[index];
        let interleaved = Interleaved { partner, side, first: order.clone() };
        Environment { interleaved: Some(interleaved), ..environments[index].clone() }
    };
    let plans = planned.each_ref().map(|planned| &planned.plan);
    let writers = store.create_pair(plans, environment_of, unix_ms()).map_err(Failure::target)?;
    for (writer, annotation) in writers.iter().zip(&annotations) {
        annotate(&store, writer, annotation)?;
    }
    Ok(PreparedPair { planned, claimed, order, store, writers })
}

/// The label of each side, which names one record only, and the common note.
fn annotations(given: &Annotation) -> Result<Both<Annotation>, Failure> {
    let of_side = |side: ComparedSide| -> Result<Annotation, Failure> {
        let with_side = |label: &Label| format!("{label}-{}", side.label()).parse();
        let label = given.label.as_ref().map(with_side).transpose().map_err(Failure::input)?;
        Ok(Annotation { label, note: given.note.clone() })
    };
    Ok([of_side(ComparedSide::A)?, of_side(ComparedSide::B)?])
}

/// A target that is compared with itself is claimed once.
fn claim(
    planned: &Both<Planned>,
    options: &Options,
    observer: &Observer,
) -> Result<Claimed, Failure> {
    let mut surveys = Vec::new();
    let mut of_side = [None, None];
    let is_same = is_same_target(planned.each_ref().map(|planned| planned.plan.target()));
    for side in ComparedSide::BOTH {
        let plan = &planned[side.index()].plan;
        if plan.targets.len() > 1 {
            return Err(Failure::input(anyhow!(
                "`--interleave` compares two targets, but the experiment has [target.NAME] tables"
            ))
            .with_remedy("name both targets on the command line, and none in the experiment"));
        }
        if let TargetSpec::Emulated { .. } = plan.target() {
            return Err(Failure::internal(anyhow!("the emulated volume has no service")));
        }
        let Some(location) = named_target::location(plan.target(), Arc::clone(observer))? else {
            continue;
        };
        if !(is_same && side == ComparedSide::B) {
            surveys.push(survey(plan, 0, location, options.overrides)?);
        }
        of_side[side.index()] = Some(surveys.len() - 1);
    }
    let claimed = surveys.into_iter().map(|survey| survey.claim().map_err(refusal::failure));
    Ok(Claimed { directories: claimed.collect::<Result<_, _>>()?, of_side })
}

/// Whether both sides are the same target, possibly by two names of one directory.
fn is_same_target(targets: Both<&TargetSpec>) -> bool {
    match targets {
        [TargetSpec::Directory { path: a }, TargetSpec::Directory { path: b }] => {
            named_target::is_same_directory(a, b)
        }
        [a, b] => a == b,
    }
}

impl PreparedPair {
    /// The plan of a side, and where it comes from.
    pub fn planned(&self, side: ComparedSide) -> &Planned {
        &self.planned[side.index()]
    }

    /// The directory of a side's target; `None` for the null target.
    pub fn directory(&self, side: ComparedSide) -> Option<&TargetDirectory> {
        self.claimed.of(side).first()
    }

    /// The side that is measured first in each block.
    pub fn order(&self) -> &[ComparedSide] {
        &self.order
    }

    /// All runs of both sides in the order of their execution, for a progress display.
    pub fn all_runs(&self) -> Plan {
        let mut steps = Vec::new();
        for (block, first) in self.order.iter().enumerate() {
            for side in [*first, first.other()] {
                let run = self.planned(side).plan.known_runs().nth(block);
                let mut run = run.expect("both plans have a run for each block").clone();
                run.index = steps.len() as u32;
                run.variant = format!("{}: {}", side.label(), run.variant);
                steps.push(Step::Fixed(run));
            }
        }
        let targets =
            self.planned.iter().flat_map(|planned| planned.plan.targets.clone()).collect();
        Plan { steps, targets, ..self.planned[0].plan.clone() }
    }

    /// Executes both plans in alternating runs. Every event is stored before the side's listeners
    /// get it.
    ///
    /// # Errors
    /// A record cannot be read back. How execution ended is in [`MeasuredPair::ended`].
    pub fn measure(
        self,
        listeners: Both<Vec<&mut dyn Listener>>,
        stop: &Arc<Stop>,
    ) -> Result<MeasuredPair, Failure> {
        let PreparedPair { planned, mut claimed, order, store, writers } = self;
        let plans = planned.each_ref().map(|planned| &planned.plan);
        let ids = writers.each_ref().map(|writer| writer.id().to_owned());
        let run_directories = writers.each_ref().map(|writer| writer.directory().to_owned());
        let mut fleets = ComparedSide::BOTH.map(|side| {
            let reader = host_state::reader(Root::of_this_host(), None);
            let meter = wire::meter(Root::of_this_host(), claimed.of(side));
            LocalFleet::new(plans[side.index()]).with_host_state(reader).with_wire(meter)
        });
        let [mut writer_a, mut writer_b] = writers.map(RecordWriter::new);
        let [more_a, more_b] = listeners;
        let mut listeners_a: Vec<&mut dyn Listener> = vec![&mut writer_a];
        listeners_a.extend(more_a.into_iter().map(|listener| listener as &mut dyn Listener));
        let mut listeners_b: Vec<&mut dyn Listener> = vec![&mut writer_b];
        listeners_b.extend(more_b.into_iter().map(|listener| listener as &mut dyn Listener));
        let [fleet_a, fleet_b] = &mut fleets;
        let of_side = claimed.of_side;
        let ended = with_hosts(|[host_a, host_b]| {
            let a = InterleavedSide {
                plan: plans[0],
                fleet: fleet_a as &mut dyn Fleet,
                host: host_a,
                directory: of_side[0],
                listeners: &mut listeners_a,
            };
            let b = InterleavedSide {
                plan: plans[1],
                fleet: fleet_b as &mut dyn Fleet,
                host: host_b,
                directory: of_side[1],
                listeners: &mut listeners_b,
            };
            conduct_interleaved([a, b], &mut claimed.directories, &order, stop)
        });
        let is_one_directory = claimed.of_side[0] == claimed.of_side[1];
        let sides = ComparedSide::BOTH.into_iter().take(if is_one_directory { 1 } else { 2 });
        let left_of = |side: ComparedSide| {
            LeftOnTarget::of_each(&plans[side.index()].targets, claimed.of(side))
        };
        let left = sides.flat_map(left_of).collect();
        drop(claimed);
        let load = |id: &String| store.load(id).map_err(Failure::target);
        let records = [load(&ids[0])?, load(&ids[1])?];
        let targets = plans.map(|plan| plan.target().clone());
        Ok(MeasuredPair { ended, records, run_directories, targets, left })
    }
}

/// The outcome of both sides: that of the side that ended worse. A side that was stopped because
/// the other failed is not reported.
pub fn outcome(ended: Both<Ended>, targets: &Both<TargetSpec>) -> Outcome {
    let mut outcome = Ok(Exit::Done);
    for ((side, target), ended) in ComparedSide::BOTH.into_iter().zip(targets).zip(ended) {
        let failure = match verdict::failure(ended, target) {
            Ok(run_record::Outcome::Interrupted) if outcome.is_ok() => {
                outcome = Ok(Exit::Negative);
                continue;
            }
            Ok(_) => continue,
            Err(refused) if refused.refused.is_some() => refused,
            Err(failure) => failure.context(format!("side {}", side.label())),
        };
        outcome = match outcome {
            Err(earlier) if failure.refused.is_none() => Err(earlier),
            _ => Err(failure),
        };
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Reason;

    fn ended(outcome: run_record::Outcome) -> Ended {
        Ok(outcome)
    }

    fn failed(reason: &str) -> Ended {
        ended(run_record::Outcome::Failed { reason: reason.to_owned() })
    }

    #[test]
    fn the_outcome_is_that_of_the_side_that_ended_worse() {
        use run_record::Outcome::{Done, Interrupted};
        let targets = [TargetSpec::Null, TargetSpec::Null];
        let of = |a, b| outcome([a, b], &targets);
        assert!(matches!(of(ended(Done), ended(Done)), Ok(Exit::Done)));
        assert!(matches!(of(ended(Done), ended(Interrupted)), Ok(Exit::Negative)));
        for (a, b, message) in [
            (ended(Interrupted), failed("no room"), "side B: no room"),
            (failed("no room"), ended(Interrupted), "side A: no room"),
            (failed("no room"), failed("no server"), "side A: no room"),
        ] {
            let failure = of(a, b).expect_err("a side failed");
            assert_eq!(failure.exit, Exit::TargetFailed);
            let Reason::Error(error) = failure.reason else { panic!("an error") };
            assert_eq!(format!("{error:#}"), message);
        }
    }
}
