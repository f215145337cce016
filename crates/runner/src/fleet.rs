//! The hosts that execute runs: a trait, and the local fleet of one host.
//!
//! A local run is a fleet of one: it takes the same assignment that a host of many would, so there
//! is no second code path for clusters.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use engine::drive::Stop;
use engine::host_state::HostStateReader;
use engine::probe::{self, Trial};
use engine::request::{EngineError, Request};
use engine::run::RunEnd;
use metrics::fleet::HostEvent;
use metrics::interval::Interval;
use metrics::run_record::{ChosenIoMethod, Outcome};
use metrics::service_counters::ServiceCounters;
use metrics::tree_comparison::TreeComparison;
use metrics::warning::Warning;
use metrics::wire::WireInterval;
use target::TargetError;
use target::directory::TargetDirectory;
use target::null::NullTarget;
use target::posix::FileAccess;
use target::refusal::Refusal;
use target::run_target::RunTarget;
use workload::plan::{Assignment, IoMethodUsed, Plan, Run, Stream};

use crate::announce::Announcer;
use crate::conduct::ConductError;

/// Takes the progress of a run; breaks with a reason if the run must end.
pub type OnProgress<'p> = &'p mut dyn FnMut(Progress) -> ControlFlow<String>;

/// What becomes known while a run is executed.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// An interval of all hosts together is complete. Those of its hosts come before it.
    Interval(Interval),
    /// An interval of one of several hosts is complete.
    HostInterval(u32, Interval),
    /// Something happened to one of several hosts.
    HostEvent(u32, HostEvent),
    /// A warning about the run.
    Warning(Warning),
}

/// The hosts that execute a plan's runs.
pub trait Fleet {
    /// Makes the files ready that the hosts have among themselves. Not called for a fleet whose
    /// directory the conductor has. Breaks with the plan's outcome if the user stopped it.
    ///
    /// # Errors
    /// The files were changed, the target is refused, or the files could not be written.
    fn prepare(
        &mut self,
        _stop: &Stop,
        _announcer: &mut Announcer<'_>,
    ) -> Result<ControlFlow<Outcome>, ConductError> {
        Ok(ControlFlow::Continue(()))
    }

    /// The names of the hosts, in their order; empty for this host alone.
    fn host_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// Chooses how operations are sent. Called once the files are ready: in `directories`, one for each
    /// target of the plan, or none for the null target.
    ///
    /// # Errors
    /// No I/O method can use the target, or its files were replaced.
    fn choose_io_method(
        &mut self,
        plan: &Plan,
        directories: &[TargetDirectory],
    ) -> Result<ChosenIoMethod, FleetError>;

    /// Makes the trees of a run what they are at its start. Not called for a fleet whose directory the
    /// conductor has.
    ///
    /// # Errors
    /// A tree contains what is not ours, or something cannot be created.
    fn make_trees(&mut self, _run: &Run, _stop: &Stop) -> Result<(), FleetError> {
        Ok(())
    }

    /// Compares the trees of a run that has ended with what the operations of all hosts must have left.
    /// Not called for a fleet whose directory the conductor has.
    fn compare_trees(
        &mut self,
        _run: &Run,
        _stop: &Stop,
        end: RunEnd,
    ) -> (RunEnd, Vec<TreeComparison>) {
        (end, Vec::new())
    }

    /// Executes a run to its end. `on_progress` gets everything that is known of it as soon as it is
    /// known, and may end the run with a reason.
    ///
    /// # Errors
    /// The run could not start or continue; earlier intervals have been passed on.
    fn run(
        &mut self,
        run: &Run,
        stop: &Arc<Stop>,
        on_progress: OnProgress<'_>,
    ) -> Result<RunEnd, FleetError>;

    /// The counters of the service that the run was sent to, if the program can read them.
    ///
    /// # Errors
    /// Why the service did not return them.
    fn service_counters(&mut self) -> Result<Option<ServiceCounters>, String> {
        Ok(None)
    }
}

/// Why a fleet could not execute a run.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The load engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// No I/O method can use the target.
    #[error("choose the I/O method: {0}")]
    Probe(#[from] TargetError),
    /// The target refuses, for example because a file was replaced.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A host of several could not do its part.
    #[error("{reason}")]
    Host {
        /// Why, with its name.
        reason: String,
        /// What the user can do about it.
        remedy: Option<String>,
    },
}

/// This host as a fleet of one.
pub struct LocalFleet {
    /// By their positions in the plan; known once the files are ready.
    targets: Vec<Arc<dyn RunTarget>>,
    io_method: IoMethodUsed,
    pin: bool,
    verify: bool,
    data_seed: u64,
    host_state: Option<Box<dyn HostStateReader>>,
    wire: Option<WireMeter>,
}

/// Returns the kernel's traffic counters for the target since the last call. Called when an interval is
/// complete, some milliseconds after its edge.
pub type WireMeter = Box<dyn FnMut() -> Vec<WireInterval> + Send>;

impl fmt::Debug for LocalFleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalFleet")
            .field("targets", &self.targets)
            .field("io_method", &self.io_method)
            .finish_non_exhaustive()
    }
}

impl LocalFleet {
    /// Executes the runs of `plan`; intervals have no host state.
    pub fn new(plan: &Plan) -> LocalFleet {
        LocalFleet {
            targets: vec![Arc::new(NullTarget)],
            io_method: plan.io_method.into(),
            pin: plan.pin,
            verify: plan.verify,
            data_seed: plan.data_seed,
            host_state: None,
            wire: None,
        }
    }

    /// Adds the state of the host to each interval, as `reader` reports it.
    pub fn with_host_state(self, reader: Box<dyn HostStateReader>) -> LocalFleet {
        LocalFleet { host_state: Some(reader), ..self }
    }

    /// Adds what the kernel counted on the way to the target to each interval, as `meter` reports it.
    pub fn with_wire(self, meter: WireMeter) -> LocalFleet {
        LocalFleet { wire: Some(meter), ..self }
    }

    /// Executes this host's share of a run. `start` is called when all threads are ready, and returns when
    /// they start; without a start the run is interrupted.
    ///
    /// # Errors
    /// The run could not start or continue; earlier intervals have been passed on.
    pub fn execute(
        &mut self,
        assignment: &Assignment,
        stop: &Arc<Stop>,
        start: impl FnOnce() -> Option<Instant>,
        on_interval: &mut dyn FnMut(Interval) -> ControlFlow<String>,
    ) -> Result<RunEnd, FleetError> {
        let request = Request {
            assignment,
            targets: self.targets.clone(),
            io_method: self.io_method,
            pin: self.pin,
            verify: self.verify,
            data_seed: self.data_seed,
        };
        let interrupted = || Ok(RunEnd::of(Outcome::Interrupted));
        let Some(ready) = engine::run::ready(&request, stop)? else { return interrupted() };
        let Some(start) = start() else { return interrupted() };
        let host = self.host_state.as_deref_mut();
        let Some(wire) = &mut self.wire else {
            return Ok(ready.go(start, host.map(|host| host as _), on_interval)?);
        };
        // Discard the counts from before the run.
        wire();
        let mut with_wire = |mut interval: Interval| {
            interval.wire = wire();
            on_interval(interval)
        };
        Ok(ready.go(start, host.map(|host| host as _), &mut with_wire)?)
    }

    /// Sends operations with this method, which was chosen elsewhere.
    ///
    /// # Errors
    /// The files of a directory were replaced.
    pub fn use_io_method(
        &mut self,
        io_method: IoMethodUsed,
        directories: &[TargetDirectory],
    ) -> Result<(), FleetError> {
        self.targets = targets_of(directories)?;
        self.io_method = io_method;
        Ok(())
    }
}

fn targets_of(directories: &[TargetDirectory]) -> Result<Vec<Arc<dyn RunTarget>>, Refusal> {
    match directories {
        [] => Ok(vec![Arc::new(NullTarget)]),
        directories => directories.iter().map(TargetDirectory::run_target).collect(),
    }
}

impl Fleet for LocalFleet {
    fn choose_io_method(
        &mut self,
        plan: &Plan,
        directories: &[TargetDirectory],
    ) -> Result<ChosenIoMethod, FleetError> {
        self.targets = targets_of(directories)?;
        // All targets are of one kind; the probe tries the first.
        let first = self.targets[0].as_ref();
        let used = match first.fixed_io_method(plan.io_method) {
            Some((io_method, reason)) => ChosenIoMethod { io_method, reason: reason.to_owned() },
            None => match trial(plan, first) {
                Some(trial) => probe::choose(plan.io_method, &trial)?,
                None => {
                    let threads = blocking_threads(plan);
                    probe::choose_for_names(plan.io_method, threads, has_users(plan))
                }
            },
        };
        self.io_method = used.io_method;
        Ok(used)
    }

    fn run(
        &mut self,
        run: &Run,
        stop: &Arc<Stop>,
        on_progress: OnProgress<'_>,
    ) -> Result<RunEnd, FleetError> {
        let assignment = run.split().pop().expect("a fleet of one has one share");
        let on_interval = &mut |interval| on_progress(Progress::Interval(interval));
        self.execute(&assignment, stop, || Some(engine::run::soon()), on_interval)
    }
}

/// What the probe tries: the files of the first stream that uses this target, the plan's first, at the
/// plan's largest queue depth.
/// `None` if all streams have operations on names.
fn trial(plan: &Plan, target: &dyn RunTarget) -> Option<Trial> {
    let uses_it = |stream: &&Stream| stream.targets.positions.contains(&0);
    let with_files = || plan.model_streams().filter(|stream| stream.names.is_none());
    let stream = with_files().find(uses_it).or_else(|| with_files().next())?;
    let depths = plan.model_streams().map(|stream| stream.queue_depth);
    let mut paths = target.local_paths(stream);
    let mut file_size_bytes = stream.working_set.file_size_bytes;
    // The largest files of a list, which are the last.
    if let Some(largest) = stream.replay.as_ref().and_then(|replay| replay.files.last()) {
        file_size_bytes = largest.file_size_bytes;
        paths.drain(..paths.len().saturating_sub(largest.files as usize));
    }
    Some(Trial {
        access: FileAccess {
            paths,
            write: false,
            direct: stream.direct,
            dsync: false,
            transfer_size_max_bytes: stream.transfer_size_max_bytes(),
        },
        file_size_bytes,
        queue_depth: depths.max().unwrap_or(1),
        blocking_threads: blocking_threads(plan),
        processors: engine::processor::available(),
    })
}

/// Whether a stream of the plan has users.
fn has_users(plan: &Plan) -> bool {
    let mut streams = plan.model_runs().flat_map(|run| &run.streams);
    streams.any(|stream| stream.arrival.users().is_some())
}

/// The largest number of threads that a run of the plan needs with blocking calls.
fn blocking_threads(plan: &Plan) -> u64 {
    plan.model_runs().map(|run| run.threads(true)).max().unwrap_or(1)
}
