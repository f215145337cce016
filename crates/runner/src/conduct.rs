//! The order of things: prepare, choose the engine, then run after run, each with its phases; and
//! how each of them may end without losing what others measured.
//!
//! The user's first wish to stop lets the interval be finished, the second does not; either way
//! what was measured is kept and nothing further is begun. A run that fails because too many of its
//! operations failed does not keep the next one from being tried; a run that could not be carried
//! on at all (a hung operation, a target that is gone) does.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::SystemTime;

use analysis::load_point::{self, Generator};
use analysis::witness::Told;
use engine::drive::Stop;
use engine::run::RunEnd;
use metrics::interval::Interval;
use metrics::run_record::{EngineUsed, Outcome, RunRecord};
use metrics::warning::Warning;
use metrics::wire::WireInterval;
use target::directory::TargetDirectory;
use target::fill::FillError;
use target::refusal::Refusal;
use workload::plan::{EngineChoice, Plan, Run, Step, TargetSpec};
use workload::search::Search;

use crate::announce::Announcer;
use crate::event::{Event, Listener, ListenerError, Phase};
use crate::fleet::{Fleet, FleetError, LocalFleet};
use crate::prepare::{PrepareError, prepare};
use crate::tolerance::Tolerance;

/// Processor time taken away from this host beyond which its neighbours are said to disturb: a
/// hundredth moves a p99.
const STEAL_NOISY: f64 = 0.01;

/// What the conductor is told of the host it runs on; it reads nothing itself.
pub struct Host<'a> {
    /// The host's memory, in bytes, if it is known.
    pub memory_bytes: Option<u64>,
    /// Its processors, if they are known.
    pub processors: Option<u32>,
    /// Processors that the threads of this process can use at a time, if it is known.
    pub available_processors: Option<u32>,
    /// The share of the host's processor time that the hypervisor took since it was last asked, 0
    /// to 1.
    pub steal_since_last: &'a mut dyn FnMut() -> Option<f64>,
    /// What the kernel counted on the way to the target since it was last asked; asked on the
    /// conducting thread when an interval is complete, some milliseconds after its edge.
    pub wire_since_last: &'a mut dyn FnMut() -> Vec<WireInterval>,
}

/// Why a plan could not be done. A run that failed is not that: its [`Outcome`] says so.
#[derive(Debug, thiserror::Error)]
pub enum ConductError {
    /// The files are not what we left.
    #[error(transparent)]
    Refused(Refusal),
    /// The files could not be written.
    #[error("prepare the files: {0}")]
    Fill(#[source] FillError),
    /// No engine can use the target.
    #[error(transparent)]
    Fleet(FleetError),
    /// Results could not be kept or shown, so no more were measured.
    #[error("keep the results: {0}")]
    Listener(ListenerError),
}

/// Does `plan` on this host: in `directory`, or on the null target without one.
///
/// # Errors
/// See [`ConductError`]; listeners have been told how it ended.
pub fn conduct(
    plan: &Plan,
    directory: Option<&mut TargetDirectory>,
    host: Host<'_>,
    stop: &Arc<Stop>,
    listeners: &mut [&mut dyn Listener],
) -> Result<Outcome, ConductError> {
    let mut fleet = LocalFleet::new(plan);
    conduct_with(&mut fleet, plan, directory, host, stop, listeners)
}

/// Does `plan` with `fleet`.
///
/// # Errors
/// See [`ConductError`]; listeners have been told how it ended.
pub fn conduct_with(
    fleet: &mut dyn Fleet,
    plan: &Plan,
    mut directory: Option<&mut TargetDirectory>,
    host: Host<'_>,
    stop: &Arc<Stop>,
    listeners: &mut [&mut dyn Listener],
) -> Result<Outcome, ConductError> {
    let mut announcer = Announcer::new(listeners);
    let ready = match directory.as_deref_mut() {
        Some(directory) => make_ready(directory, stop, &mut announcer),
        None => Ok(ControlFlow::Continue(())),
    };
    let result = ready.and_then(|ready| match ready {
        ControlFlow::Break(outcome) => Ok(outcome),
        ControlFlow::Continue(()) => {
            let directory = directory.as_deref();
            let announcer = &mut announcer;
            let mut conductor =
                Conductor { fleet, host, directory, stop, announcer, blocking: false };
            conductor.do_runs(plan)
        }
    });
    finish(announcer, result)
}

/// Announces how a plan ended. Results that could not be kept are its first failure.
pub(crate) fn finish(
    mut announcer: Announcer<'_>,
    result: Result<Outcome, ConductError>,
) -> Result<Outcome, ConductError> {
    let outcome = match (announcer.failure(), &result) {
        (Some(failure), _) => Outcome::Failed { reason: not_kept(failure) },
        (None, Ok(outcome)) => outcome.clone(),
        (None, Err(error)) => Outcome::Failed { reason: error.to_string() },
    };
    announcer.tell(&Event::Finished { outcome });
    match announcer.into_failure() {
        Some(failure) => Err(ConductError::Listener(failure)),
        None => result,
    }
}

/// Prepares; breaks with the plan's outcome where the user stopped it.
pub(crate) fn make_ready(
    directory: &mut TargetDirectory,
    stop: &Stop,
    announcer: &mut Announcer<'_>,
) -> Result<ControlFlow<Outcome>, ConductError> {
    match prepare(directory, stop, announcer) {
        Ok(()) => Ok(ControlFlow::Continue(())),
        Err(error) if error.is_interrupted() && stop.is_requested() => {
            Ok(ControlFlow::Break(Outcome::Interrupted))
        }
        Err(PrepareError::Fill(FillError::Refused(refusal)) | PrepareError::Refused(refusal)) => {
            Err(ConductError::Refused(refusal))
        }
        Err(PrepareError::Fill(error)) => Err(ConductError::Fill(error)),
    }
}

/// How a run ended, and whether the next one is begun.
struct Ended {
    outcome: Outcome,
    /// What is to be said beside an outcome that has no words of its own.
    particulars: String,
    go_on: bool,
}

/// A run that ended, with what a search reads of it.
struct Recorded {
    record: RunRecord,
    go_on: bool,
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

/// What is needed to do the runs of a plan.
pub(crate) struct Conductor<'c, 'h, 'a> {
    pub(crate) fleet: &'c mut dyn Fleet,
    pub(crate) host: Host<'h>,
    pub(crate) directory: Option<&'c TargetDirectory>,
    pub(crate) stop: &'c Arc<Stop>,
    pub(crate) announcer: &'c mut Announcer<'a>,
    /// Every outstanding operation has a thread that blocks; known once the engine is chosen.
    pub(crate) blocking: bool,
}

impl Conductor<'_, '_, '_> {
    pub(crate) fn choose_engine(&mut self, plan: &Plan) -> Result<EngineUsed, ConductError> {
        let chosen = self.fleet.choose_engine(plan, self.directory);
        let used = chosen.map_err(|error| match error {
            FleetError::Refused(refusal) => ConductError::Refused(refusal),
            error => ConductError::Fleet(error),
        })?;
        self.blocking = used.engine == EngineChoice::Psync && plan.target != TargetSpec::Null;
        Ok(used)
    }

    fn do_runs(&mut self, plan: &Plan) -> Result<Outcome, ConductError> {
        let used = match self.choose_engine(plan) {
            Err(ConductError::Refused(refusal))
                if refusal.is_interrupted() && self.stop.is_requested() =>
            {
                return Ok(Outcome::Interrupted);
            }
            used => used?,
        };
        let generator = Generator::of(plan, used.engine, self.host.processors);
        self.announcer.tell(&Event::EngineChosen(used));
        let mut failures = Failures::default();
        for step in &plan.steps {
            let go_on = match step {
                Step::Fixed(run) => self.go_through(run, &mut failures, None),
                Step::Search(search) => self.do_search(search, generator, &mut failures),
            };
            match go_on {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(Some(outcome)) => return Ok(outcome),
                ControlFlow::Break(None) => break,
            }
        }
        Ok(failures.into_outcome())
    }

    /// The runs of a search, each decided from those before it.
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
            self.go_through(&run, failures, Some(&mut records))?;
        }
        ControlFlow::Continue(())
    }

    /// One run with what it means for the plan; breaks with the plan's outcome, or with none where
    /// nothing further is begun.
    pub(crate) fn go_through(
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
        let (outcome, go_on) = (ended.record.outcome.clone(), ended.go_on);
        if let Some(records) = records {
            records.push(ended.record);
        }
        match (outcome, go_on) {
            (Outcome::Interrupted, _) => ControlFlow::Break(Some(Outcome::Interrupted)),
            (_, true) => ControlFlow::Continue(()),
            (_, false) => ControlFlow::Break(None),
        }
    }

    /// One run, from its first event to its last.
    fn do_run(&mut self, run: &Run, keep: bool) -> Recorded {
        let started_unix_ms = unix_ms(SystemTime::now());
        self.announcer.tell(&Event::RunStarted { run: Box::new(run.clone()), started_unix_ms });
        self.warn_of_what_is_known(run);
        // From here on only what is taken during the run counts.
        (self.host.steal_since_last)();
        (self.host.wire_since_last)();

        let is_export = self.is_export();
        let mut progress = Progress::begin(run, is_export, keep, self.announcer);
        // Ending this run must not end the plan.
        let stop = Arc::new(Stop::below(Arc::clone(self.stop)));
        let wire_since_last = &mut self.host.wire_since_last;
        let end = self.fleet.run(run, &stop, &mut |mut interval| {
            interval.wire = wire_since_last();
            progress.take(interval)
        });
        let Progress { too_many_failed, told, intervals, .. } = progress;

        let end = end.map(|end| self.hear_witness(run, end, &told)).map(|end| self.look_again(end));
        let ended = judge(end, too_many_failed.as_deref());
        self.warn_of_what_was_seen(run, &ended);
        let outcome = ended.outcome.clone();
        self.announcer.tell(&Event::RunFinished { run_index: run.index, outcome });
        let record = RunRecord {
            run: run.clone(),
            started_unix_ms,
            intervals: intervals.unwrap_or_default(),
            // Warnings and the witness decide nothing.
            warnings: Vec::new(),
            witness: None,
            outcome: ended.outcome,
        };
        Recorded { record, go_on: ended.go_on }
    }

    /// What an independent witness counted is kept; where it counted otherwise than we did, the run
    /// has failed. A run that ended before its operations came back cannot be compared.
    fn hear_witness(&mut self, run: &Run, mut end: RunEnd, told: &Told) -> RunEnd {
        match self.fleet.witness() {
            Ok(None) => {}
            Ok(Some(counts)) => {
                self.announcer.tell(&Event::Witnessed { run_index: run.index, counts });
                if end.outcome == Outcome::Done {
                    end.mismatches.extend(told.differences(&counts));
                }
            }
            Err(reason) => end.mismatches.push(reason),
        }
        end
    }

    fn is_export(&self) -> bool {
        self.directory.is_some_and(|directory| directory.mounted().is_some())
    }

    /// Files of an export are held by their handles, so that nothing tells by itself that others
    /// stand in their place: they are looked up again. (Of those in a directory the engine knows.)
    fn look_again(&self, mut end: RunEnd) -> RunEnd {
        let Some(directory) = self.directory.filter(|_| self.is_export()) else { return end };
        if end.outcome == Outcome::Done
            && let Err(refusal) = directory.refuse_changed()
        {
            end.outcome = match refusal.is_interrupted() && self.stop.is_requested() {
                true => Outcome::Interrupted,
                false => Outcome::Failed { reason: refusal.to_string() },
            };
        }
        end
    }

    fn warn(&mut self, run: &Run, warning: Warning) {
        self.announcer.tell(&Event::Warning { run_index: Some(run.index), warning });
    }

    /// Warnings that need no measurement.
    fn warn_of_what_is_known(&mut self, run: &Run) {
        let threads = run.threads(self.blocking);
        if let Some(processors) = self.host.available_processors
            && threads > u64::from(processors)
        {
            self.warn(run, Warning::ThreadsShareProcessors { threads, processors });
        }
        let Some(storage) = self.directory.map(TargetDirectory::storage) else { return };
        if self.is_export() {
            // What a server keeps in its memory is its business, and this host caches nothing.
            return;
        }
        if storage.in_memory || !storage.direct.is_supported() {
            let filesystem = storage.filesystem.clone();
            self.warn(run, Warning::NotStorage { filesystem });
        }
        let working_set_bytes = buffered_bytes(run);
        if let Some(memory_bytes) = self.host.memory_bytes
            && working_set_bytes > 0
            && working_set_bytes <= memory_bytes
        {
            self.warn(run, Warning::WorkingSetFitsCache { working_set_bytes, memory_bytes });
        }
    }

    fn warn_of_what_was_seen(&mut self, run: &Run, ended: &Ended) {
        if let Some(steal) = (self.host.steal_since_last)()
            && steal > STEAL_NOISY
        {
            self.warn(run, Warning::HostNoisy { steal });
        }
        let reason = match &ended.outcome {
            Outcome::Done => return,
            Outcome::Interrupted if ended.particulars.is_empty() => {
                "interrupted by the user".to_owned()
            }
            Outcome::Interrupted => format!("interrupted by the user\n{}", ended.particulars),
            Outcome::Failed { reason } => reason.clone(),
            Outcome::Aborted => "aborted".to_owned(),
        };
        self.warn(run, Warning::EndedEarly { reason });
    }
}

/// Passes on the intervals of one run, its phases and its failures.
struct Progress<'p, 'a> {
    run_index: u32,
    window: (u32, u32),
    tolerance: Tolerance,
    /// What was counted so far, to be held against a witness.
    told: Told,
    /// The reason for which the run was ended because of them.
    too_many_failed: Option<String>,
    /// What was measured, where a search decides by it.
    intervals: Option<Vec<Interval>>,
    announcer: &'p mut Announcer<'a>,
}

impl<'p, 'a> Progress<'p, 'a> {
    fn begin(
        run: &Run,
        is_export: bool,
        keep: bool,
        announcer: &'p mut Announcer<'a>,
    ) -> Progress<'p, 'a> {
        let mut progress = Progress {
            run_index: run.index,
            window: run.phases.window(),
            tolerance: Tolerance::new(run.tolerated_errors, is_export),
            told: Told::default(),
            too_many_failed: None,
            intervals: keep.then(Vec::new),
            announcer,
        };
        let phase = if progress.window.0 == 0 { Phase::Measure } else { Phase::WarmUp };
        progress.enter(phase);
        progress
    }

    fn enter(&mut self, phase: Phase) {
        let run_index = Some(self.run_index);
        self.announcer.tell(&Event::PhaseStarted { run_index, phase });
    }

    fn take(&mut self, interval: Interval) -> ControlFlow<String> {
        let next = interval.index + 1;
        let tolerated = self.tolerance.count(&interval);
        self.told.add(&interval);
        if let Some(intervals) = &mut self.intervals {
            intervals.push(interval.clone());
        }
        let interval = Box::new(interval);
        self.announcer.tell(&Event::Interval { run_index: self.run_index, interval });
        let (first, end) = self.window;
        if next == end {
            self.enter(Phase::CoolDown);
        } else if next == first {
            self.enter(Phase::Measure);
        }
        if let Some(failure) = self.announcer.failure() {
            return ControlFlow::Break(not_kept(failure));
        }
        if let Err(reason) = tolerated {
            self.too_many_failed = Some(reason.clone());
            return ControlFlow::Break(reason);
        }
        ControlFlow::Continue(())
    }
}

/// What a run's end means. Data that was not what had been written is a failure whatever was
/// tolerated or wished for; what was left behind by a stop is said with it.
fn judge(end: Result<RunEnd, FleetError>, too_many_failed: Option<&str>) -> Ended {
    let RunEnd { outcome, details, mismatches } = match end {
        Ok(end) => end,
        Err(error) => {
            let reason = error.to_string();
            return Ended {
                outcome: Outcome::Failed { reason },
                particulars: String::new(),
                go_on: false,
            };
        }
    };
    // A run that was ended as failed by somebody else than its tolerance has lost its target.
    let go_on = match &outcome {
        Outcome::Failed { reason } => too_many_failed == Some(reason.as_str()),
        _ => true,
    };
    let is_corrupt = !mismatches.is_empty();
    let particulars = [mismatches, details].concat().join("\n");
    let outcome = match outcome {
        Outcome::Failed { reason } if !particulars.is_empty() => {
            Outcome::Failed { reason: format!("{reason}\n{particulars}") }
        }
        Outcome::Done | Outcome::Interrupted if is_corrupt => {
            Outcome::Failed { reason: particulars.clone() }
        }
        other => other,
    };
    // An interrupted run has no reason of its own to carry them.
    let particulars = if outcome == Outcome::Interrupted { particulars } else { String::new() };
    Ended { outcome, particulars, go_on }
}

fn not_kept(failure: &ListenerError) -> String {
    format!("results cannot be kept: {failure}")
}

/// Bytes that the run's buffered streams can touch.
fn buffered_bytes(run: &Run) -> u64 {
    let buffered = run.streams.iter().filter(|stream| !stream.direct);
    buffered.map(|stream| u64::from(stream.working_set.files) * stream.working_set.area_bytes).sum()
}

fn unix_ms(now: SystemTime) -> u64 {
    now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
