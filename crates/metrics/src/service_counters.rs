//! The service's own counters for a run: an independent check of the generator's counters.

use workload::op::OpKind;

/// The service's counters over one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceCounters {
    /// Answered calls, by the operation kind that makes them: READ, WRITE, COMMIT.
    pub calls: [u64; OpKind::COUNT],
    /// Those of them that failed.
    pub failed: u64,
    /// Bytes returned to readers.
    pub read_bytes: u64,
    /// Bytes received from writers.
    pub written_bytes: u64,
    /// Maximum number of unanswered calls, summed over the run's connections.
    pub outstanding_max: u64,
}
