//! Everything that happens while a plan is done, as a closed enum. The store, the progress line and
//! `--events` listen.

use metrics::interval::Interval;
use metrics::run_record::{EngineUsed, Outcome, Prepared};
use metrics::warning::Warning;
use metrics::witness::WitnessCounts;
use workload::plan::Run;

/// The phases of a plan and of its runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Files are filled and checked.
    Prepare,
    /// Operations run but are not part of the window.
    WarmUp,
    /// The window.
    Measure,
    /// What is outstanding comes back.
    CoolDown,
}

impl Phase {
    /// The name in lines and files.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Prepare => "prepare",
            Phase::WarmUp => "warm_up",
            Phase::Measure => "measure",
            Phase::CoolDown => "cool_down",
        }
    }
}

/// Something that happened, in the order in which it happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The engine was settled, by force or by the probe.
    EngineChosen(EngineUsed),
    /// A phase began; `run_index` is `None` for the prepare phase of the whole plan.
    PhaseStarted {
        /// The run it belongs to.
        run_index: Option<u32>,
        /// Which phase.
        phase: Phase,
    },
    /// The fill goes on.
    PrepareProgress {
        /// Leading part of the files' names.
        stream: String,
        /// Bytes written so far.
        written_bytes: u64,
        /// Bytes to be written.
        total_bytes: u64,
    },
    /// A file set is ready.
    PrepareFinished(Prepared),
    /// A run begins.
    RunStarted {
        /// The run.
        run: Box<Run>,
        /// The wall clock, in milliseconds since 1970.
        started_unix_ms: u64,
    },
    /// An interval is complete.
    Interval {
        /// Its run.
        run_index: u32,
        /// What was measured.
        interval: Box<Interval>,
    },
    /// Something a reader of the numbers must know.
    Warning {
        /// Its run, if it belongs to one.
        run_index: Option<u32>,
        /// What.
        warning: Warning,
    },
    /// A witness told what it counted in a run that has just ended.
    Witnessed {
        /// The run.
        run_index: u32,
        /// What it counted.
        counts: WitnessCounts,
    },
    /// A run ended.
    RunFinished {
        /// Its number.
        run_index: u32,
        /// How.
        outcome: Outcome,
    },
    /// The plan ended; nothing follows.
    Finished {
        /// How.
        outcome: Outcome,
    },
}

/// Whoever wants to know. Listeners are called in order, the store first: an interval is on disk
/// before it is shown.
pub trait Listener {
    /// Takes an event.
    ///
    /// # Errors
    /// What could not be done with it; the plan is ended, because results that cannot be kept are
    /// not measured.
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError>;
}

/// A listener could not do its duty.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ListenerError(pub String);
