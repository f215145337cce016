//! One reporting period of one host, and the series of them.

use workload::op::OpKind;
use workload::outcome::ErrorKind;

use crate::connection::ConnectionInterval;
use crate::histogram::Counts;
use crate::host_state::HostInterval;
use crate::wire::WireInterval;

/// What happened from `start_ns` to `end_ns` after the run's start: an operation belongs to the
/// interval in which it completed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// Its number from the run's start, from 0. A series has no gaps.
    pub index: u32,
    /// Its beginning, in nanoseconds from the run's start.
    pub start_ns: u64,
    /// Its end, in nanoseconds from the run's start.
    pub end_ns: u64,
    /// One entry for each stream, in the order of the run's streams.
    pub streams: Vec<StreamInterval>,
    /// One entry for each worker thread.
    pub workers: Vec<WorkerInterval>,
    /// One entry for each connection of the workers' targets, ordered by stream, lane and number;
    /// none where the target has no connections.
    pub connections: Vec<ConnectionInterval>,
    /// What the kernel counted on the way to the storage, one entry for each place that tells; none
    /// where the target has no such place, and in records of before it was asked.
    pub wire: Vec<WireInterval>,
    /// Who used the processors of this host; `None` in older records, and without a host to read
    /// (the simulator).
    pub host: Option<HostInterval>,
    /// CPU time of the whole process in user space, in nanoseconds: workers, kernel threads on
    /// their behalf, and the tool's own bookkeeping.
    pub process_user_ns: u64,
    /// The same in the kernel.
    pub process_system_ns: u64,
}

/// One stream in one interval, all its workers together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamInterval {
    /// Operations issued.
    pub issued: u64,
    /// Operations outstanding when the interval began.
    pub outstanding_start: u64,
    /// Operations outstanding when the interval ended.
    pub outstanding_end: u64,
    /// Time integral of the outstanding operations, in operations times nanoseconds. Divided by the
    /// interval's length it is the mean number outstanding.
    pub outstanding_time_ns: u128,
    /// Operations due but not issued when the interval ended. In a closed loop these are only
    /// operations whose data was being made or that waited for data to be checked.
    pub backlog_end: u64,
    /// Time integral of the backlog, in operations times nanoseconds.
    pub backlog_time_ns: u128,
    /// By operation kind: `kinds[OpKind as usize]`.
    pub kinds: [KindInterval; OpKind::COUNT],
}

/// One kind of operation of one stream in one interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KindInterval {
    /// Operations that succeeded.
    pub completed: u64,
    /// Bytes moved by them.
    pub bytes: u64,
    /// Operations that failed, by kind: `failed[ErrorKind as usize]`.
    pub failed: [u64; ErrorKind::COUNT],
    /// Issue to completion, of those that succeeded. An operation is issued once its data is made.
    pub service: Counts,
    /// Intended instant to completion, of those that succeeded. Equal to `service` in a closed loop
    /// that neither makes nor checks data.
    pub response: Counts,
}

/// One worker thread in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerInterval {
    /// Index of its stream.
    pub stream: u32,
    /// Its number in the stream.
    pub lane: u32,
    /// CPU time it used, user and system together, in nanoseconds.
    pub cpu_ns: u64,
}

impl StreamInterval {
    /// Operations that succeeded, of all kinds.
    pub fn completed(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.completed).sum()
    }

    /// Operations that failed, of all kinds and errors.
    pub fn failed(&self) -> u64 {
        self.kinds.iter().map(KindInterval::failed_total).sum()
    }

    /// Nothing is discarded: what was outstanding or issued is completed, failed, or still
    /// outstanding.
    pub fn is_balanced(&self) -> bool {
        self.outstanding_start + self.issued
            == self.completed() + self.failed() + self.outstanding_end
    }

    /// Adds the same interval of another worker (or host).
    pub fn merge(&mut self, other: &StreamInterval) {
        self.issued += other.issued;
        self.outstanding_start += other.outstanding_start;
        self.outstanding_end += other.outstanding_end;
        self.outstanding_time_ns += other.outstanding_time_ns;
        self.backlog_end += other.backlog_end;
        self.backlog_time_ns += other.backlog_time_ns;
        for (kind, theirs) in self.kinds.iter_mut().zip(&other.kinds) {
            kind.merge(theirs);
        }
    }
}

impl KindInterval {
    /// Operations that failed, of all errors.
    pub fn failed_total(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Adds another's counters and histograms.
    pub fn merge(&mut self, other: &KindInterval) {
        self.completed += other.completed;
        self.bytes += other.bytes;
        for (count, theirs) in self.failed.iter_mut().zip(&other.failed) {
            *count += theirs;
        }
        self.service.merge(&other.service);
        self.response.merge(&other.response);
    }
}
