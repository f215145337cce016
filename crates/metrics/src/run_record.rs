//! The record of a run and of an experiment, as stored and analysed.

use serde::{Deserialize, Serialize};
use workload::plan::{IoMethodUsed, Plan, Run};

use crate::environment::Environment;
use crate::fleet::{FleetHost, HostRun};
use crate::interval::Interval;
use crate::scraped::Scraped;
use crate::service_counters::ServiceCounters;
use crate::tree_comparison::TreeComparison;
use crate::warning::Warning;

/// Everything that one invocation of `run` measured; stored as a run directory.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentRecord {
    /// Its name in the store: unique, and sortable by time.
    pub id: String,
    /// The plan.
    pub plan: Plan,
    /// SHA-256 of the plan's stored form, in hexadecimal.
    pub plan_hash: String,
    /// The I/O method that was used and the reason; the requested one if the experiment ended
    /// before it was chosen.
    pub io_method: ChosenIoMethod,
    /// The host, the target and the command.
    pub environment: Environment,
    /// When it began, in milliseconds since 1970 (the wall clock; never used to measure).
    pub started_unix_ms: u64,
    /// The file sets prepared before the first run.
    pub prepared: Vec<Prepared>,
    /// Warnings that do not belong to a single run.
    pub warnings: Vec<Warning>,
    /// The runs, in the order of execution.
    pub runs: Vec<RunRecord>,
    /// The hosts that measured; empty if it was only the one whose environment this is.
    pub hosts: Vec<FleetHost>,
    /// Metrics of other systems during the runs.
    pub scraped: Scraped,
    /// How it ended.
    pub outcome: Outcome,
}

/// How operations were sent to the kernel. Journals store the fields in this order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChosenIoMethod {
    /// `IoUring` or `Psync`.
    pub io_method: IoMethodUsed,
    /// The reason in words: requested by the user, or the result of the probe.
    pub reason: String,
}

/// A file set that the prepare phase made ready. Journals store the fields in this order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prepared {
    /// Leading part of the files' names.
    pub stream: String,
    /// Bytes written to fill it; 0 if it was complete.
    pub written_bytes: u64,
    /// Duration, in nanoseconds.
    pub took_ns: u64,
}

/// How much of a file set or of a tree is prepared, or has to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreparedAmount {
    /// Bytes of files.
    pub bytes: u64,
    /// Files, links and directories of a tree of names; 0 for a file set, of which bytes are counted.
    pub names: u64,
}

impl PreparedAmount {
    /// Bytes of a file set.
    pub const fn of_bytes(bytes: u64) -> PreparedAmount {
        PreparedAmount { bytes, names: 0 }
    }
}

/// One run with its results.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// The run as planned.
    pub run: Run,
    /// When it started, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// Every complete interval in order, including warm-up and cool-down; of all hosts together.
    pub intervals: Vec<Interval>,
    /// What each host of a fleet measured, in their order; empty without a fleet.
    pub hosts: Vec<HostRun>,
    /// Warnings from the run; analysis adds its own.
    pub warnings: Vec<Warning>,
    /// The counters of the emulated service, if there was one.
    pub service_counters: Option<ServiceCounters>,
    /// The trees of operations on names after the run.
    pub trees: Vec<TreeComparison>,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a run or an experiment ended. Journals store a variant as its position here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// As planned.
    Done,
    /// By the user; earlier results are kept.
    Interrupted,
    /// By a failure.
    Failed {
        /// What failed, where, and what was outstanding.
        reason: String,
    },
    /// Without an end in the record: the process was killed, or the host failed.
    Aborted,
}
