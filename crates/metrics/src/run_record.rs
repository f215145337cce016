//! The record of a run and of a whole experiment: what is stored, and what analysis reads.

use workload::plan::{EngineChoice, Plan, Run};

use crate::interval::Interval;
use crate::warning::Warning;
use crate::witness::WitnessCounts;

/// Everything that one invocation of `run` measured: the value of a run directory.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentRecord {
    /// Its name in the store: sortable by time, unique.
    pub id: String,
    /// What was to be done.
    pub plan: Plan,
    /// SHA-256 of the plan's stored form, in hexadecimal.
    pub plan_hash: String,
    /// The engine that was used, never `Auto`, and why. (Where the experiment ended before one was
    /// chosen: the plan's wish, and that it was not settled.)
    pub engine: EngineUsed,
    /// What the host and the target were: `(name, value)`, ordered by name, for example
    /// `kernel.release`.
    pub environment: Vec<(String, String)>,
    /// When it began, in milliseconds since 1970 (the wall clock; never used to measure).
    pub started_unix_ms: u64,
    /// What was prepared before the first run.
    pub prepared: Vec<Prepared>,
    /// What was noticed that belongs to no single run.
    pub warnings: Vec<Warning>,
    /// The runs, in the order in which they were done.
    pub runs: Vec<RunRecord>,
    /// How it ended.
    pub outcome: Outcome,
}

/// How operations reached the kernel, and why so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineUsed {
    /// `IoUring` or `Psync`.
    pub engine: EngineChoice,
    /// In words: forced by the user, or what the probe saw.
    pub reason: String,
}

/// A file set that was made ready, in the prepare phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// Leading part of the files' names.
    pub stream: String,
    /// Bytes that were written to fill it; 0 where it was found complete.
    pub written_bytes: u64,
    /// Time it took, in nanoseconds.
    pub took_ns: u64,
}

/// One run: what was to be done, and what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// What was to be done.
    pub run: Run,
    /// When it began, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// Every complete interval, in order, warm-up and cool-down too.
    pub intervals: Vec<Interval>,
    /// What was noticed while it ran; analysis adds its own.
    pub warnings: Vec<Warning>,
    /// What an independent witness counted, where there was one.
    pub witness: Option<WitnessCounts>,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a run or an experiment ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As planned.
    Done,
    /// By the user's wish, with the results so far kept.
    Interrupted,
    /// By a failure of the target, with the reason in words.
    Failed {
        /// What happened, where, and what was outstanding.
        reason: String,
    },
    /// It never said how it ended: killed, or the host went down.
    Aborted,
}
