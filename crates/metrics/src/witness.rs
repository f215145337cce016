//! What an independent witness counted while a run ran: a service that we measure and that keeps
//! books of its own.

use workload::op::OpKind;

/// Counts of the service, over one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WitnessCounts {
    /// Calls that it answered, by the kind of operation that makes such calls: READ, WRITE, COMMIT.
    pub calls: [u64; OpKind::COUNT],
    /// Those of them that it answered with a failure.
    pub failed: u64,
    /// Bytes that it gave to readers.
    pub read_bytes: u64,
    /// Bytes that it took from writers.
    pub written_bytes: u64,
    /// Most calls that it had taken and not answered at one moment, added up over the run's
    /// connections.
    pub outstanding_max: u64,
}
