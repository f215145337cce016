//! The events while a plan is conducted, as a closed enum. The store, the progress line and
//! `--events` are listeners.

use metrics::fleet::{FleetHost, HostEvent};
use metrics::interval::Interval;
use metrics::run_record::{ChosenIoMethod, Outcome, Prepared, PreparedAmount};
use metrics::service_counters::ServiceCounters;
use metrics::tree_comparison::TreeComparison;
use metrics::warning::Warning;
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
    /// Outstanding operations complete.
    CoolDown,
}

impl Phase {
    /// Its name in output and files.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Prepare => "prepare",
            Phase::WarmUp => "warm_up",
            Phase::Measure => "measure",
            Phase::CoolDown => "cool_down",
        }
    }
}

/// An event, in the order of occurrence.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The I/O method was chosen, by the user or by the probe.
    IoMethodChosen(ChosenIoMethod),
    /// A phase began; `run_index` is `None` for the prepare phase of the whole plan.
    PhaseStarted {
        /// The run it belongs to.
        run_index: Option<u32>,
        /// The phase.
        phase: Phase,
    },
    /// Progress of the fill.
    PrepareProgress {
        /// Leading part of the files' names.
        stream: String,
        /// Written so far.
        done: PreparedAmount,
        /// To be written; the bytes of a tree are an estimate.
        total: PreparedAmount,
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
    /// An interval of all hosts together is complete.
    Interval {
        /// Its run.
        run_index: u32,
        /// The interval.
        interval: Box<Interval>,
    },
    /// The hosts that measure, if there are several.
    FleetReady {
        /// Each host.
        hosts: Vec<FleetHost>,
    },
    /// An interval of one of several hosts is complete.
    HostInterval {
        /// Its run.
        run_index: u32,
        /// The host's position in the fleet.
        host: u32,
        /// The interval.
        interval: Box<Interval>,
    },
    /// Something happened to one of several hosts.
    HostEvent {
        /// The run.
        run_index: u32,
        /// The host's position in the fleet.
        host: u32,
        /// The event.
        event: HostEvent,
    },
    /// A warning about the results.
    Warning {
        /// Its run, if it belongs to one.
        run_index: Option<u32>,
        /// The warning.
        warning: Warning,
    },
    /// The service's counters for a run that has just ended.
    ServiceCounters {
        /// The run.
        run_index: u32,
        /// Its counters.
        counts: ServiceCounters,
    },
    /// The trees of a run that has just ended were compared, or could not be.
    TreesCompared {
        /// The run.
        run_index: u32,
        /// Each tree.
        trees: Vec<TreeComparison>,
    },
    /// A run ended.
    RunFinished {
        /// Its number.
        run_index: u32,
        /// Its outcome.
        outcome: Outcome,
    },
    /// The plan ended; nothing follows.
    Finished {
        /// Its outcome.
        outcome: Outcome,
    },
}

/// Receives events. Listeners are called in order, the store first: an interval is on disk before
/// it is shown.
pub trait Listener {
    /// Takes an event.
    ///
    /// # Errors
    /// The event could not be stored or shown; the plan ends, because results that cannot be stored
    /// are not measured.
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError>;
}

/// Why a listener could not handle an event.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ListenerError(pub String);
