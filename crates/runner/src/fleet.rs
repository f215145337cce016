//! Who does a run: a trait, and the local fleet of one host.
//!
//! A local run is a fleet of one: it takes the same assignment that a host of many would, so there
//! is no second code path for clusters.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use engine::drive::Stop;
use engine::probe::{self, Trial};
use engine::run::{EngineError, Request, RunEnd};
use metrics::interval::Interval;
use metrics::run_record::EngineUsed;
use metrics::witness::WitnessCounts;
use target::TargetError;
use target::posix::FileAccess;
use workload::plan::{EngineChoice, Plan, Run};

/// The hosts that do a plan's runs.
pub trait Fleet {
    /// Settles how operations reach the kernel; called once, when the files are ready.
    ///
    /// # Errors
    /// The target cannot be used by any engine.
    fn choose_engine(&mut self, plan: &Plan) -> Result<EngineUsed, FleetError>;

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
}

/// This host alone.
#[derive(Clone, Debug)]
pub struct LocalFleet {
    directory: Option<PathBuf>,
    engine: EngineChoice,
    pin: bool,
    verify: bool,
    data_seed: u64,
}

impl LocalFleet {
    /// Does the runs of `plan` on the files in `directory`, or on the null target without one.
    pub fn new(plan: &Plan, directory: Option<PathBuf>) -> LocalFleet {
        LocalFleet {
            directory,
            engine: plan.engine,
            pin: plan.pin,
            verify: plan.verify,
            data_seed: plan.data_seed,
        }
    }
}

impl Fleet for LocalFleet {
    fn choose_engine(&mut self, plan: &Plan) -> Result<EngineUsed, FleetError> {
        let used = match self.directory.as_ref().and_then(|directory| trial(plan, directory)) {
            Some(trial) => probe::choose(plan.engine, &trial)?,
            None => EngineUsed {
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
            directory: self.directory.clone(),
            engine: self.engine,
            pin: self.pin,
            verify: self.verify,
            data_seed: self.data_seed,
        };
        Ok(engine::run::run(&request, stop, on_interval)?)
    }
}

/// What the probe tries: the first stream's files, at the plan's largest queue depth.
fn trial(plan: &Plan, directory: &std::path::Path) -> Option<Trial> {
    let stream = plan.runs().next()?.streams.first()?;
    let streams = plan.runs().flat_map(|run| &run.streams);
    Some(Trial {
        access: FileAccess {
            paths: engine::run::file_paths(directory, stream),
            write: false,
            direct: stream.direct,
            dsync: false,
            transfer_size_max_bytes: stream.transfer_size_max_bytes(),
        },
        file_size_bytes: stream.working_set.file_size_bytes,
        queue_depth: streams.map(|stream| stream.queue_depth).max().unwrap_or(1),
    })
}
