//! The service's own counters for a run: an independent check of the generator's counters.

use workload::op::OpKind;

/// The kinds of operations whose calls are compared, and the NFSv3 procedure of each.
pub const PROCEDURES: [(OpKind, &str); 18] = [
    (OpKind::Read, "READ"),
    (OpKind::Write, "WRITE"),
    (OpKind::Fsync, "COMMIT"),
    (OpKind::Create, "CREATE"),
    (OpKind::Unlink, "REMOVE"),
    (OpKind::Rename, "RENAME"),
    (OpKind::Link, "LINK"),
    (OpKind::Symlink, "SYMLINK"),
    (OpKind::Readlink, "READLINK"),
    (OpKind::Mkdir, "MKDIR"),
    (OpKind::Rmdir, "RMDIR"),
    (OpKind::Readdir, "READDIR"),
    (OpKind::Readdirplus, "READDIRPLUS"),
    (OpKind::Stat, "GETATTR"),
    (OpKind::Access, "ACCESS"),
    (OpKind::Setattr, "SETATTR"),
    (OpKind::Lookup, "LOOKUP"),
    (OpKind::Statfs, "FSSTAT"),
];

/// The service's counters over one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceCounters {
    /// Answered calls of each of [`PROCEDURES`], by the kind of operation that makes them.
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
