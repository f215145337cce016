//! The request to run an assignment on this host, and the errors of a run.

use std::sync::Arc;
use std::time::Duration;

use target::TargetError;
use target::run_target::RunTarget;
use target::threads::ThreadError;
use workload::plan::{Assignment, IoMethodUsed};

/// Maximum number of threads of a run; with psync it needs one for each outstanding operation.
pub const THREADS_MAX: u64 = 2048;
/// How long opening all files and rings may take.
pub(crate) const READY_WITHIN: Duration = Duration::from_secs(60);

/// A request to run an assignment on this host.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// This host's share of the run.
    pub assignment: &'a Assignment,
    /// The targets, by their positions in the plan; all have the same capabilities.
    pub targets: Vec<Arc<dyn RunTarget>>,
    /// How operations are sent.
    pub io_method: IoMethodUsed,
    /// Whether workers are pinned to processors in turn.
    pub pin: bool,
    /// Whether reads are verified against the expected data.
    pub verify: bool,
    /// The seed of the data in the files.
    pub data_seed: u64,
}

/// Why a run could not start or continue.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A worker's target could not be opened or was lost.
    #[error("stream {stream}, worker {lane}: {source}")]
    Target {
        /// The stream's name.
        stream: String,
        /// The worker's lane.
        lane: u32,
        /// The target's error.
        source: TargetError,
    },
    /// A worker panicked.
    #[error("a worker of stream {stream} panicked; this is a bug in fourcorners")]
    WorkerDied {
        /// The stream's name.
        stream: String,
    },
    /// The system refuses to start that many threads.
    #[error(transparent)]
    Threads(#[from] ThreadError),
    /// The run needs more threads than are allowed.
    #[error(
        "the run needs {requested} threads (psync: one for each outstanding operation), but the \
         maximum is {THREADS_MAX}; lower queue_depth or workers, or use the io_uring engine"
    )]
    TooManyThreads {
        /// Threads that the run needs.
        requested: u64,
    },
    /// The target does not have the files of a stream, or there is no such target.
    #[error("the files of stream {stream} are not known; this is a bug in fourcorners")]
    NoFiles {
        /// The stream's name.
        stream: String,
    },
    /// Workers did not become ready in time.
    #[error("opening files took longer than {} s", READY_WITHIN.as_secs())]
    NotReady,
}
