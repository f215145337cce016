//! Conducts a plan: prepares the files, chooses the I/O method, then executes run after run,
//! each with its phases. However a run ends, earlier results are kept.
//!
//! The user's first request to stop finishes the interval, the second does not; no further run is
//! started after either. A run that ends because too many operations failed does not stop the plan;
//! a run that could not continue (a stuck operation, a lost target) does.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::SystemTime;

use analysis::load_point::{self, Generator};
use analysis::service_check::GeneratorCounts;
use engine::drive::Stop;
use engine::run::RunEnd;
use metrics::run_record::{ChosenIoMethod, Outcome, RunRecord};
use metrics::warning::Warning;
use target::directory::TargetDirectory;
use target::fill::FillError;
use target::refusal::Refusal;
use workload::plan::{IoMethodUsed, Plan, Run, Step};
use workload::search::Search;

use crate::announce::{Announcer, not_kept};
use crate::event::{Event, Listener, ListenerError};
use crate::fleet::{Fleet, FleetError, LocalFleet};
use crate::host_warnings::{self, HostLimits};
use crate::prepare::{PrepareError, prepare};
use crate::run_progress::RunProgress;
use crate::run_trees::RunTrees;

/// Readings of the host for the conductor, which reads nothing itself.
pub struct Host<'a> {
    /// The host's memory, in bytes, if it is known.
    pub memory_bytes: Option<u64>,
    /// Its processors, if they are known.
    pub processors: Option<u32>,
    /// Processors that the threads of this process can use at a time, if it is known.
    pub available_processors: Option<u32>,
    /// Returns the share of the host's processor time that the hypervisor took since the last call,
    /// 0 to 1.
    pub steal_since_last: &'a mut dyn FnMut() -> Option<f64>,
}

/// Why a plan could not be conducted. A failed run is reported in its [`Outcome`] instead.
#[derive(Debug, thiserror::Error)]
pub enum ConductError {
    /// The files were changed, or the target is refused.
    #[error(transparent)]
    Refused(Refusal),
    /// The files could not be written.
    #[error("prepare the files: {0}")]
    Fill(#[source] FillError),
    /// No I/O method can use the target.
    #[error(transparent)]
    Fleet(FleetError),
    /// Results could not be stored or shown, so measuring stopped.
    #[error("keep the results: {0}")]
    Listener(ListenerError),
}

impl From<FleetError> for ConductError {
    fn from(error: FleetError) -> ConductError {
        match error {
            FleetError::Refused(refusal) => ConductError::Refused(refusal),
            error => ConductError::Fleet(error),
        }
    }
}

/// Conducts `plan` on this host: in `directories`, one for each target, or on the null target without.
///
/// # Errors
/// See [`ConductError`]; listeners have received the outcome.
pub fn conduct(
    plan: &Plan,
    directories: &mut [TargetDirectory],
    host: Host<'_>,
    stop: &Arc<Stop>,
    listeners: &mut [&mut dyn Listener],
) -> Result<Outcome, ConductError> {
    let mut fleet = LocalFleet::new(plan);
    conduct_with(&mut fleet, plan, directories, host, stop, listeners)
}

/// Conducts `plan` with `fleet`: in `directories`, or without any where the fleet itself has its files.
///
/// # Errors
/// See [`ConductError`]; listeners have received the outcome.
pub fn conduct_with(
    fleet: &mut dyn Fleet,
    plan: &Plan,
    directories: &mut [TargetDirectory],
    host: Host<'_>,
    stop: &Arc<Stop>,
    listeners: &mut [&mut dyn Listener],
) -> Result<Outcome, ConductError> {
    let mut announcer = Announcer::new(listeners);
    let ready = match &mut *directories {
        [] => fleet.prepare(stop, &mut announcer),
        directories => prepare_targets(directories, stop, &mut announcer),
    };
    let result = ready.and_then(|ready| match ready {
        ControlFlow::Break(outcome) => Ok(outcome),
        ControlFlow::Continue(()) => {
            let announcer = &mut announcer;
            let is_export = plan.target().capabilities().own_client;
            let trees = RunTrees::of(directories, plan.verify);
            let mut conductor = Conductor {
                fleet,
                host,
                directories,
                trees,
                stop,
                announcer,
                is_export,
                blocking: false,
            };
            conductor.do_runs(plan)
        }
    });
    finish(announcer, result)
}

/// Announces the plan's outcome. Results that could not be stored take precedence over it.
pub(crate) fn finish(
    mut announcer: Announcer<'_>,
    result: Result<Outcome, ConductError>,
) -> Result<Outcome, ConductError> {
    let outcome = match (announcer.failure(), &result) {
        (Some(failure), _) => Outcome::Failed { reason: not_kept(failure) },
        (None, Ok(outcome)) => outcome.clone(),
        (None, Err(error)) => Outcome::Failed { reason: error.to_string() },
    };
    announcer.send(&Event::Finished { outcome });
    match announcer.into_failure() {
        Some(failure) => Err(ConductError::Listener(failure)),
        None => result,
    }
}

/// Prepares the files; breaks with the plan's outcome if the user stopped it.
pub(crate) fn prepare_targets(
    directories: &mut [TargetDirectory],
    stop: &Stop,
    announcer: &mut Announcer<'_>,
) -> Result<ControlFlow<Outcome>, ConductError> {
    match prepare(directories, stop, announcer) {
        Ok(()) => Ok(ControlFlow::Continue(())),
        Err(error) if error.is_interrupted() && stop.is_requested() => {
            Ok(ControlFlow::Break(Outcome::Interrupted))
        }
        Err(error) => Err(error.into()),
    }
}

impl From<PrepareError> for ConductError {
    fn from(error: PrepareError) -> ConductError {
        match error {
            PrepareError::Fill(FillError::Refused(refusal)) | PrepareError::Refused(refusal) => {
                ConductError::Refused(refusal)
            }
            PrepareError::Fill(error) => ConductError::Fill(error),
        }
    }
}

/// How a run ended, and whether the plan continues.
struct Ended {
    outcome: Outcome,
    /// Details for an outcome without a reason.
    details: String,
    continue_plan: bool,
}

/// A run that ended, with its record for a search.
struct Recorded {
    record: RunRecord,
    continue_plan: bool,
}

/// The runs of a plan that failed.
#[derive(Default)]
pub(crate) struct Failures {
    count: u32,
    first: Option<String>,
}

impl Failures {
    fn count(&mut self, run: &Run, outcome: &Outcome) {
        if let Outcome::Failed { reason } = outcome {
            self.count += 1;
            self.first.get_or_insert_with(|| format!("{}: {reason}", run.load_point()));
        }
    }

    pub(crate) fn into_outcome(self) -> Outcome {
        match (self.first, self.count) {
            (None, _) => Outcome::Done,
            (Some(first), 1) => Outcome::Failed { reason: first },
            (Some(first), count) => {
                Outcome::Failed { reason: format!("{count} runs failed; {first}") }
            }
        }
    }
}

/// Conducts the runs of a plan.
pub(crate) struct Conductor<'c, 'h, 'a> {
    pub(crate) fleet: &'c mut dyn Fleet,
    pub(crate) host: Host<'h>,
    /// One for each target; none for the null target, and for a fleet that has them.
    pub(crate) directories: &'c [TargetDirectory],
    /// Trees that are known to be what a run needs at its start.
    pub(crate) trees: RunTrees,
    pub(crate) stop: &'c Arc<Stop>,
    pub(crate) announcer: &'c mut Announcer<'a>,
    /// The target is reached by the built-in NFS client.
    pub(crate) is_export: bool,
    /// Each outstanding operation blocks a thread; known once the I/O method is chosen.
    pub(crate) blocking: bool,
}

impl Conductor<'_, '_, '_> {
    pub(crate) fn choose_io_method(&mut self, plan: &Plan) -> Result<ChosenIoMethod, ConductError> {
        let chosen = self.fleet.choose_io_method(plan, self.directories);
        let used = chosen.map_err(ConductError::from)?;
        self.blocking =
            used.io_method == IoMethodUsed::Psync && plan.target().capabilities().local_files;
        Ok(used)
    }

    fn do_runs(&mut self, plan: &Plan) -> Result<Outcome, ConductError> {
        let used = match self.choose_io_method(plan) {
            Err(ConductError::Refused(refusal))
                if refusal.is_interrupted() && self.stop.is_requested() =>
            {
                return Ok(Outcome::Interrupted);
            }
            used => used?,
        };
        let generator = Generator::of(plan, used.io_method, self.host.processors);
        self.announcer.send(&Event::IoMethodChosen(used));
        let mut failures = Failures::default();
        for step in &plan.steps {
            let continue_plan = match step {
                Step::Fixed(run) => self.run_and_continue(run, &mut failures, None),
                Step::Search(search) => self.do_search(search, generator, &mut failures),
            };
            match continue_plan {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(Some(outcome)) => return Ok(outcome),
                ControlFlow::Break(None) => break,
            }
        }
        Ok(failures.into_outcome())
    }

    /// Conducts the runs of a search, each chosen from the results so far.
    fn do_search(
        &mut self,
        search: &Search,
        generator: Generator,
        failures: &mut Failures,
    ) -> ControlFlow<Option<Outcome>> {
        let mut records: Vec<RunRecord> = Vec::new();
        while let Some(run) =
            analysis::search::next(search, &load_point::load_points(&records, generator))
        {
            self.run_and_continue(&run, failures, Some(&mut records))?;
        }
        ControlFlow::Continue(())
    }

    /// Executes one run unless the plan has to stop; breaks with the plan's outcome, or with `None`
    /// if the outcome follows from the failures so far.
    pub(crate) fn run_and_continue(
        &mut self,
        run: &Run,
        failures: &mut Failures,
        records: Option<&mut Vec<RunRecord>>,
    ) -> ControlFlow<Option<Outcome>> {
        if self.stop.is_requested() {
            return ControlFlow::Break(Some(Outcome::Interrupted));
        }
        if self.announcer.failure().is_some() {
            return ControlFlow::Break(None);
        }
        let ended = self.do_run(run, records.is_some());
        failures.count(run, &ended.record.outcome);
        let (outcome, continue_plan) = (ended.record.outcome.clone(), ended.continue_plan);
        if let Some(records) = records {
            records.push(ended.record);
        }
        match (outcome, continue_plan) {
            (Outcome::Interrupted, _) => ControlFlow::Break(Some(Outcome::Interrupted)),
            (_, true) => ControlFlow::Continue(()),
            (_, false) => ControlFlow::Break(None),
        }
    }

    /// Conducts one run, from its first event to its last.
    fn do_run(&mut self, run: &Run, keep: bool) -> Recorded {
        let started_unix_ms = unix_ms(SystemTime::now());
        self.announcer.send(&Event::RunStarted { run: Box::new(run.clone()), started_unix_ms });
        self.warn_before_run(run);
        // Discard the time from before the run.
        (self.host.steal_since_last)();

        let trees = self.make_trees(run);
        let names = self.fleet.host_names();
        let mut progress = RunProgress::begin(run, self.is_export, keep, names, self.announcer);
        // Ending this run must not end the plan.
        let stop = Arc::new(Stop::child_of(Arc::clone(self.stop)));
        let end = match trees {
            Ok(()) => self.fleet.run(run, &stop, &mut |news| progress.take(news)),
            Err(_) if self.stop.is_requested() => Ok(RunEnd::of(Outcome::Interrupted)),
            Err(reason) => Ok(RunEnd::of(Outcome::Failed { reason })),
        };
        let RunProgress { too_many_failed, our_counters, intervals, .. } = progress;

        let end = end
            .map(|end| self.check_service_counters(run, end, &our_counters))
            .map(|end| self.verify_files_unchanged(end))
            .map(|end| self.compare_trees(run, end));
        let ended = judge(end, too_many_failed.as_deref());
        self.warn_after_run(run, &ended);
        let outcome = ended.outcome.clone();
        self.announcer.send(&Event::RunFinished { run_index: run.index, outcome });
        let record = RunRecord {
            run: run.clone(),
            started_unix_ms,
            intervals: intervals.unwrap_or_default(),
            // A search does not read warnings, service-side counters and trees.
            warnings: Vec::new(),
            hosts: Vec::new(),
            service_counters: None,
            trees: Vec::new(),
            outcome: ended.outcome,
        };
        Recorded { record, continue_plan: ended.continue_plan }
    }

    /// Stores the service-side counters and fails the run if they differ from ours. A run that
    /// ended before its operations completed cannot be compared.
    fn check_service_counters(
        &mut self,
        run: &Run,
        mut end: RunEnd,
        our_counters: &GeneratorCounts,
    ) -> RunEnd {
        match self.fleet.service_counters() {
            Ok(None) => {}
            Ok(Some(counts)) => {
                self.announcer.send(&Event::ServiceCounters { run_index: run.index, counts });
                if end.outcome == Outcome::Done {
                    end.mismatches.extend(our_counters.differences(&counts));
                }
            }
            Err(reason) => end.mismatches.push(reason),
        }
        end
    }

    /// Makes the trees of a run what they are at its start; fails with the reason.
    fn make_trees(&mut self, run: &Run) -> Result<(), String> {
        match self.directories {
            [] => self.fleet.make_trees(run, self.stop).map_err(|error| error.to_string()),
            directories => {
                let made = self.trees.make(directories, run, &|| self.stop.is_requested());
                made.map_err(|error| error.to_string())
            }
        }
    }

    /// Compares the trees of a run that has ended.
    fn compare_trees(&mut self, run: &Run, end: RunEnd) -> RunEnd {
        let (end, trees) = match self.directories {
            [] => self.fleet.compare_trees(run, self.stop, end),
            directories => self.trees.compare(directories, run, &|| self.stop.is_requested(), end),
        };
        if !trees.is_empty() {
            self.announcer.send(&Event::TreesCompared { run_index: run.index, trees });
        }
        end
    }

    /// Verifies that the directories are still ours. Looks up the files of an export again: their
    /// handles stay valid when other files take their names. (Files of a directory are checked by
    /// the engine.)
    fn verify_files_unchanged(&self, mut end: RunEnd) -> RunEnd {
        let refuse = match self.is_export {
            true => TargetDirectory::refuse_changed,
            false => TargetDirectory::refuse_lost_lock,
        };
        if end.outcome == Outcome::Done
            && let Err(refusal) = self.directories.iter().try_for_each(refuse)
        {
            end.outcome = match refusal.is_interrupted() && self.stop.is_requested() {
                true => Outcome::Interrupted,
                false => Outcome::Failed { reason: refusal.to_string() },
            };
        }
        end
    }

    fn warn(&mut self, run: &Run, warning: Warning) {
        self.announcer.send(&Event::Warning { run_index: Some(run.index), warning });
    }

    /// Gives the warnings that are known before the run.
    fn warn_before_run(&mut self, run: &Run) {
        let host = HostLimits {
            memory_bytes: self.host.memory_bytes,
            available_processors: self.host.available_processors,
        };
        let threads = run.threads(self.blocking);
        // The built-in client caches nothing on this host.
        let storage = self.directories.first().filter(|_| !self.is_export);
        let storage = storage.map(TargetDirectory::storage);
        for warning in host_warnings::before_run(run, threads, host, storage) {
            self.warn(run, warning);
        }
    }

    fn warn_after_run(&mut self, run: &Run, ended: &Ended) {
        if let Some(steal) = (self.host.steal_since_last)()
            && let Some(warning) = host_warnings::of_steal(steal)
        {
            self.warn(run, warning);
        }
        let reason = match &ended.outcome {
            Outcome::Done => return,
            Outcome::Interrupted if ended.details.is_empty() => {
                "interrupted by the user".to_owned()
            }
            Outcome::Interrupted => format!("interrupted by the user\n{}", ended.details),
            Outcome::Failed { reason } => reason.clone(),
            Outcome::Aborted => "aborted".to_owned(),
        };
        self.warn(run, Warning::EndedEarly { reason });
    }
}

/// Determines a run's outcome. Corrupt data is always a failure; operations abandoned by a stop are
/// listed with it.
fn judge(end: Result<RunEnd, FleetError>, too_many_failed: Option<&str>) -> Ended {
    let RunEnd { outcome, details, mismatches, .. } = match end {
        Ok(end) => end,
        Err(error) => {
            let reason = error.to_string();
            return Ended {
                outcome: Outcome::Failed { reason },
                details: String::new(),
                continue_plan: false,
            };
        }
    };
    // A run that failed for a reason other than its tolerance has lost its target.
    let continue_plan = match &outcome {
        Outcome::Failed { reason } => too_many_failed == Some(reason.as_str()),
        _ => true,
    };
    let is_corrupt = !mismatches.is_empty();
    let details = [mismatches, details].concat().join("\n");
    let outcome = match outcome {
        Outcome::Failed { reason } if !details.is_empty() => {
            Outcome::Failed { reason: format!("{reason}\n{details}") }
        }
        Outcome::Done | Outcome::Interrupted if is_corrupt => {
            Outcome::Failed { reason: details.clone() }
        }
        other => other,
    };
    // The outcome of an interrupted run has no reason that could contain them.
    let details = if outcome == Outcome::Interrupted { details } else { String::new() };
    Ended { outcome, details, continue_plan }
}

fn unix_ms(now: SystemTime) -> u64 {
    now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
