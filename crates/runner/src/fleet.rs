//! Who does a run: a trait, and the local fleet of one host.
//!
//! A local run is a fleet of one: it takes the same assignment that a host of many would, so there
//! is no second code path for clusters.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use engine::drive::Stop;
use engine::host_state::HostStateReader;
use engine::place::{NfsPlace, Place};
use engine::probe::{self, Trial};
use engine::run::{EngineError, Request, RunEnd};
use metrics::interval::Interval;
use metrics::run_record::EngineUsed;
use metrics::witness::WitnessCounts;
use target::TargetError;
use target::directory::TargetDirectory;
use target::posix::FileAccess;
use target::refusal::Refusal;
use workload::plan::{EngineChoice, FileSet, Plan, Run};

/// The hosts that do a plan's runs.
pub trait Fleet {
    /// Settles how operations are sent; called once, when the files are ready: in `directory`, or
    /// nowhere for the null target.
    ///
    /// # Errors
    /// The target cannot be used by any engine, or its files are not ours any more.
    fn choose_engine(
        &mut self,
        plan: &Plan,
        directory: Option<&TargetDirectory>,
    ) -> Result<EngineUsed, FleetError>;

    /// Does a run to its end. `on_interval` gets every interval as soon as it is complete, of all
    /// hosts together, and may end the run with a reason.
    ///
    /// # Errors
    /// The run could not be started or carried on; what was measured before has been passed on.
    fn run(
        &mut self,
        run: &Run,
        stop: &Arc<Stop>,
        on_interval: &mut dyn FnMut(Interval) -> ControlFlow<String>,
    ) -> Result<RunEnd, FleetError>;

    /// What an independent witness counted in the run that has just ended, where there is one.
    ///
    /// # Errors
    /// There is one, and it does not tell: why, in words.
    fn witness(&mut self) -> Result<Option<WitnessCounts>, String> {
        Ok(None)
    }
}

/// Why a fleet could not do a run.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The engine of a host could not.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// No engine can use the target.
    #[error("choose the engine: {0}")]
    Probe(#[from] TargetError),
    /// A file of the target is not ours.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// This host alone.
pub struct LocalFleet {
    /// Known once the files are ready.
    place: Place,
    engine: EngineChoice,
    pin: bool,
    verify: bool,
    data_seed: u64,
    host_state: Option<Box<dyn HostStateReader>>,
}

impl fmt::Debug for LocalFleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalFleet")
            .field("place", &self.place)
            .field("engine", &self.engine)
            .finish_non_exhaustive()
    }
}

impl LocalFleet {
    /// Does the runs of `plan`; intervals have no host state.
    pub fn new(plan: &Plan) -> LocalFleet {
        LocalFleet {
            place: Place::Null,
            engine: plan.engine,
            pin: plan.pin,
            verify: plan.verify,
            data_seed: plan.data_seed,
            host_state: None,
        }
    }

    /// Adds the state of the host to each interval, as `reader` reports it.
    pub fn with_host_state(self, reader: Box<dyn HostStateReader>) -> LocalFleet {
        LocalFleet { host_state: Some(reader), ..self }
    }
}

impl Fleet for LocalFleet {
    fn choose_engine(
        &mut self,
        plan: &Plan,
        directory: Option<&TargetDirectory>,
    ) -> Result<EngineUsed, FleetError> {
        self.place = place(directory)?;
        let trial = match &self.place {
            Place::Directory(directory) => trial(plan, directory),
            Place::Null | Place::Nfs(_) => None,
        };
        let used = match (&self.place, trial) {
            (Place::Nfs(_), _) => EngineUsed {
                engine: EngineChoice::NfsClient,
                reason: "the target is an NFS export, and our own client sends the calls: there \
                         was nothing to probe"
                    .to_owned(),
            },
            (_, Some(trial)) => probe::choose(plan.engine, &trial)?,
            (_, None) => EngineUsed {
                engine: match plan.engine {
                    EngineChoice::Auto => EngineChoice::IoUring,
                    forced => forced,
                },
                reason: "the null target needs none: operations complete at once".to_owned(),
            },
        };
        self.engine = used.engine;
        Ok(used)
    }

    fn run(
        &mut self,
        run: &Run,
        stop: &Arc<Stop>,
        on_interval: &mut dyn FnMut(Interval) -> ControlFlow<String>,
    ) -> Result<RunEnd, FleetError> {
        let assignment = run.split(1).pop().expect("a fleet of one has one share");
        let request = Request {
            assignment: &assignment,
            place: self.place.clone(),
            engine: self.engine,
            pin: self.pin,
            verify: self.verify,
            data_seed: self.data_seed,
        };
        let host = self.host_state.as_deref_mut();
        Ok(engine::run::run(&request, stop, host.map(|host| host as _), on_interval)?)
    }
}

/// Where the files are, as the engine needs them: by their handles on an export.
fn place(directory: Option<&TargetDirectory>) -> Result<Place, Refusal> {
    let Some(directory) = directory else { return Ok(Place::Null) };
    let Some(mounted) = directory.mounted() else {
        return Ok(Place::Directory(directory.path().to_path_buf()));
    };
    let with_handles = |set: &FileSet| Ok((set.clone(), directory.handles(set)?));
    let files = directory.file_sets().iter().map(with_handles).collect::<Result<_, Refusal>>()?;
    Ok(Place::Nfs(NfsPlace { mounted: Arc::clone(mounted), files }))
}

/// What the probe tries: the first stream's files, at the plan's largest queue depth.
fn trial(plan: &Plan, directory: &std::path::Path) -> Option<Trial> {
    let stream = plan.model_streams().next()?;
    let streams = plan.model_streams();
    Some(Trial {
        access: FileAccess {
            paths: engine::place::file_paths(directory, stream),
            write: false,
            direct: stream.direct,
            dsync: false,
            transfer_size_max_bytes: stream.transfer_size_max_bytes(),
        },
        file_size_bytes: stream.working_set.file_size_bytes,
        queue_depth: streams.map(|stream| stream.queue_depth).max().unwrap_or(1),
        blocking_threads: plan.model_runs().map(|run| run.threads(true)).max().unwrap_or(1),
        processors: engine::processor::available(),
    })
}
