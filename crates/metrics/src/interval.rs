//! One reporting period of one host.

use workload::kind_table::{Blank, KindTable};
use workload::outcome::ErrorKind;

use crate::connection::ConnectionInterval;
use crate::histogram::Counts;
use crate::host_state::HostInterval;
use crate::wire::WireInterval;

/// What happened from `start_ns` to `end_ns`. An operation belongs to the interval in which it
/// completed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// Its number, from 0. A series has no gaps.
    pub index: u32,
    /// Its start, in nanoseconds from the run's start.
    pub start_ns: u64,
    /// Its end, in nanoseconds from the run's start.
    pub end_ns: u64,
    /// One entry for each stream, in the order of the run's streams.
    pub streams: Vec<StreamInterval>,
    /// The parts of `streams` on each target, ordered by stream and target; empty for runs with one
    /// target.
    pub targets: Vec<TargetInterval>,
    /// One entry for each worker thread.
    pub workers: Vec<WorkerInterval>,
    /// One entry for each connection of the workers' targets, ordered by stream, lane and number;
    /// empty if the target has no connections.
    pub connections: Vec<ConnectionInterval>,
    /// What the kernel counted between this host and the storage, one entry per source; empty if
    /// there is no source, and in older records.
    pub wire: Vec<WireInterval>,
    /// The state of this host; `None` in older records and in the simulator.
    pub host: Option<HostInterval>,
    /// CPU time of the process in user space, in nanoseconds: workers, kernel threads on their
    /// behalf, and bookkeeping.
    pub process_user_ns: u64,
    /// CPU time of the process in the kernel, in nanoseconds.
    pub process_system_ns: u64,
}

/// All workers of a stream in one interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamInterval {
    /// Operations issued.
    pub issued: u64,
    /// Operations outstanding at the start of the interval.
    pub outstanding_start: u64,
    /// Operations outstanding at the end of the interval.
    pub outstanding_end: u64,
    /// Time integral of the outstanding operations, in operations × nanoseconds. Divided by the
    /// interval's length it is the mean number outstanding.
    pub outstanding_time_ns: u128,
    /// Operations due but not issued at the end of the interval. In a closed loop these are only
    /// operations that waited for data to be generated or verified.
    pub backlog_end: u64,
    /// Time integral of the backlog, in operations × nanoseconds.
    pub backlog_time_ns: u128,
    /// By operation kind, for the kinds that occurred.
    pub kinds: KindTable<KindInterval>,
    /// What its users did; `None` for streams without users.
    pub users: Option<Box<UsersInterval>>,
}

/// The users of a stream in one interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsersInterval {
    /// Scenarios that were started.
    pub started: u64,
    /// Scenarios whose last operation ended.
    pub completed: u64,
    /// Starts that were due, without the first of each user, which cannot be late.
    pub due: u64,
    /// Those of `due` at which the user's earlier scenario still ran.
    pub late: u64,
    /// Durations of the scenarios that completed. **In microseconds**, so that those of hours have a
    /// bucket.
    pub duration_us: Counts,
    /// Times from due to sent of the operations that were sent, in nanoseconds.
    pub delay: Counts,
}

impl UsersInterval {
    /// Adds the same interval of another worker or host.
    pub fn merge(&mut self, other: &UsersInterval) {
        self.started += other.started;
        self.completed += other.completed;
        self.due += other.due;
        self.late += other.late;
        self.duration_us.merge(&other.duration_us);
        self.delay.merge(&other.delay);
    }
}

/// The part of a stream on one of several targets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TargetInterval {
    /// Index of the stream.
    pub stream: u32,
    /// The target's position in the plan.
    pub target: u32,
    /// The stream's workers that send to it.
    pub sums: StreamInterval,
}

/// One operation kind of a stream in one interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KindInterval {
    /// Operations that succeeded.
    pub completed: u64,
    /// Bytes moved by them.
    pub bytes: u64,
    /// Operations that failed, by error: `failed[ErrorKind as usize]`.
    pub failed: [u64; ErrorKind::COUNT],
    /// Service times of operations that succeeded: from issue (when the data is ready) to
    /// completion.
    pub service: Counts,
    /// Response times of operations that succeeded: from the intended time to completion. Equal to
    /// `service` in a closed loop that neither generates nor verifies data.
    pub response: Counts,
}

/// One worker in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerInterval {
    /// Index of its stream.
    pub stream: u32,
    /// Its lane.
    pub lane: u32,
    /// CPU time it used, user and system, in nanoseconds.
    pub cpu_ns: u64,
}

impl Interval {
    /// Adds the same interval of another host, whose workers have other lanes. The result has no state of
    /// a host, and those of the kernel's counters that both hosts have.
    pub fn merge(&mut self, other: &Interval) {
        self.start_ns = self.start_ns.min(other.start_ns);
        self.end_ns = self.end_ns.max(other.end_ns);
        for (stream, theirs) in self.streams.iter_mut().zip(&other.streams) {
            stream.merge(theirs);
        }
        for theirs in &other.targets {
            // Hosts may send to different targets.
            let at = |one: &TargetInterval| (one.stream, one.target);
            match self.targets.binary_search_by_key(&at(theirs), at) {
                Ok(known) => self.targets[known].sums.merge(&theirs.sums),
                Err(new) => self.targets.insert(new, theirs.clone()),
            }
        }
        self.workers.extend_from_slice(&other.workers);
        self.workers.sort_by_key(|worker| (worker.stream, worker.lane));
        self.connections.extend_from_slice(&other.connections);
        self.connections.sort_by_key(|one| (one.stream, one.lane, one.number));
        self.wire.retain_mut(|ours| match other.wire.iter().find(|w| w.source == ours.source) {
            None => false,
            Some(theirs) => {
                ours.received_bytes += theirs.received_bytes;
                ours.sent_bytes += theirs.sent_bytes;
                true
            }
        });
        self.host = None;
        self.process_user_ns += other.process_user_ns;
        self.process_system_ns += other.process_system_ns;
    }
}

impl StreamInterval {
    /// Operations that succeeded, of all kinds.
    pub fn completed(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.completed).sum()
    }

    /// Bytes moved, by operations of all kinds.
    pub fn bytes(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.bytes).sum()
    }

    /// Operations that failed, of all kinds and errors.
    pub fn failed(&self) -> u64 {
        self.kinds.iter().map(KindInterval::failed_total).sum()
    }

    /// Whether every operation that was outstanding or issued is completed, failed, or outstanding.
    pub fn is_balanced(&self) -> bool {
        self.outstanding_start + self.issued
            == self.completed() + self.failed() + self.outstanding_end
    }

    /// Adds the same interval of another worker or host.
    pub fn merge(&mut self, other: &StreamInterval) {
        self.issued += other.issued;
        self.outstanding_start += other.outstanding_start;
        self.outstanding_end += other.outstanding_end;
        self.outstanding_time_ns += other.outstanding_time_ns;
        self.backlog_end += other.backlog_end;
        self.backlog_time_ns += other.backlog_time_ns;
        for (kind, theirs) in other.kinds.entries() {
            self.kinds[kind].merge(theirs);
        }
        if let Some(theirs) = &other.users {
            self.users.get_or_insert_default().merge(theirs);
        }
    }
}

impl Blank for KindInterval {
    fn blank() -> &'static KindInterval {
        static BLANK: KindInterval = KindInterval {
            completed: 0,
            bytes: 0,
            failed: [0; ErrorKind::COUNT],
            service: Counts::EMPTY,
            response: Counts::EMPTY,
        };
        &BLANK
    }
}

impl KindInterval {
    /// Operations that failed with any error.
    pub fn failed_total(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Adds the counters and histograms of another worker or host.
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
