//! The counters of one worker, without allocation, lock or clock: time is an argument.
//!
//! A [`Recorder`] writes into a [`Tally`]; at an edge the worker exchanges the full tally for an
//! empty one. The collector adds the full one to a [`StreamInterval`] with [`Tally::drain_into`],
//! which empties it for its next use.

use workload::connection::ConnectionCounters;
use workload::op::OpKind;
use workload::outcome::ErrorKind;

use crate::histogram::{BUCKETS, Counts, Histogram};
use crate::interval::StreamInterval;

/// The counters of one worker for one interval, for the operation kinds of its stream. About 230 KiB for
/// each kind, of which only touched pages are resident; compact ones have 4 KiB for each kind.
#[derive(Debug)]
pub struct Tally {
    /// The interval's number.
    pub index: u32,
    issued: u64,
    outstanding_start: u64,
    outstanding_end: u64,
    outstanding_time_ns: u128,
    /// The worker's share of its lane's backlog, including operations being prepared; the sum over
    /// the lane's workers is not negative.
    backlog_end: i64,
    backlog_time_ns: i128,
    /// The kinds of the stream.
    kinds: Box<[(OpKind, KindTally)]>,
    /// By operation kind: its index in `kinds`.
    slots: [u8; OpKind::COUNT],
    /// The counters of the target's connections at the end of the interval.
    connections: Vec<ConnectionCounters>,
    /// What users did; `None` for streams without users.
    users: Option<Box<UsersTally>>,
}

/// What the users of a worker did in one interval.
#[derive(Debug, Default)]
struct UsersTally {
    started: u64,
    completed: u64,
    due: u64,
    late: u64,
    duration_us: Histogram,
    delay: Histogram,
}

/// Memory of the histograms of one kind: two, with a counter of four bytes for each bucket.
const DENSE_KIND_BYTES: u64 = 2 * 4 * BUCKETS as u64;
/// More memory for the histograms of kinds on names is not reserved: then they are compact.
const DENSE_BYTES_MAX: u64 = 32 << 20;

#[derive(Debug, Default)]
struct KindTally {
    completed: u64,
    bytes: u64,
    failed: [u64; ErrorKind::COUNT],
    service: Histogram,
    /// Empty if operations are issued when they are due: then the response time equals the service
    /// time.
    response: Histogram,
}

/// The index of a kind that the stream does not have.
const NO_SLOT: u8 = u8::MAX;

impl Default for Tally {
    /// For reads, writes and fsyncs.
    fn default() -> Tally {
        Tally::of(&OpKind::DATA, 0, KindTally::default)
    }
}

impl KindTally {
    fn is_unused(&self) -> bool {
        self.completed == 0 && self.failed.iter().all(|count| *count == 0)
    }
}

impl Tally {
    /// An empty tally for reads, writes and fsyncs, with memory for the counters of `connections`
    /// connections.
    pub fn for_connections(connections: usize) -> Tally {
        Tally::of(&OpKind::DATA, connections, KindTally::default)
    }

    /// An empty tally for these kinds of operations.
    ///
    /// * `tallies` - how many there are in this process, so that many share the memory of few
    pub fn for_kinds(kinds: &[OpKind], connections: usize, tallies: u64) -> Tally {
        let bytes = tallies.saturating_mul(kinds.len() as u64 * DENSE_KIND_BYTES);
        if kinds.iter().all(|kind| !kind.is_on_names()) {
            return Tally::for_connections(connections);
        }
        if bytes <= DENSE_BYTES_MAX {
            return Tally::of(kinds, connections, KindTally::default);
        }
        let compact = || KindTally {
            service: Histogram::compact(),
            response: Histogram::compact(),
            ..KindTally::default()
        };
        Tally::of(kinds, connections, compact)
    }

    fn of(kinds: &[OpKind], connections: usize, tally: impl Fn() -> KindTally) -> Tally {
        let mut slots = [NO_SLOT; OpKind::COUNT];
        for (slot, kind) in kinds.iter().enumerate() {
            slots[*kind as usize] = slot as u8;
        }
        Tally {
            index: 0,
            issued: 0,
            outstanding_start: 0,
            outstanding_end: 0,
            outstanding_time_ns: 0,
            backlog_end: 0,
            backlog_time_ns: 0,
            kinds: kinds.iter().map(|kind| (*kind, tally())).collect(),
            slots,
            connections: Vec::with_capacity(connections),
            users: None,
        }
    }

    /// The same tally with counters of users.
    #[must_use]
    pub fn with_users(self) -> Tally {
        Tally { users: Some(Box::default()), ..self }
    }

    /// The counters of a kind.
    ///
    /// # Panics
    /// The stream does not have the kind.
    #[inline]
    fn kind(&mut self, kind: OpKind) -> &mut KindTally {
        &mut self.kinds[usize::from(self.slots[kind as usize])].1
    }

    /// Stores the counters of the target's connections at the end of the interval.
    pub fn note_connections(&mut self, counters: &[ConnectionCounters]) {
        self.connections.clear();
        self.connections.extend_from_slice(counters);
    }

    /// The counters of the target's connections at the end of the interval, since it was opened.
    pub fn connections(&self) -> &[ConnectionCounters] {
        &self.connections
    }

    /// The worker's share of its lane's backlog at the end of the interval.
    pub fn backlog_end(&self) -> i64 {
        self.backlog_end
    }

    /// Adds everything to `interval` and empties the tally.
    pub fn drain_into(&mut self, interval: &mut StreamInterval) {
        interval.issued += std::mem::take(&mut self.issued);
        interval.outstanding_start += std::mem::take(&mut self.outstanding_start);
        interval.outstanding_end += std::mem::take(&mut self.outstanding_end);
        interval.outstanding_time_ns += std::mem::take(&mut self.outstanding_time_ns);
        // A single share may be negative, but not the sum over the workers of a lane.
        let (backlog, time_ns) = (&mut interval.backlog_end, &mut interval.backlog_time_ns);
        *backlog = backlog.wrapping_add_signed(std::mem::take(&mut self.backlog_end));
        *time_ns = time_ns.wrapping_add_signed(std::mem::take(&mut self.backlog_time_ns));
        for (of, kind) in &mut self.kinds {
            if kind.is_unused() {
                continue;
            }
            let out = interval.kinds.entry(*of);
            out.completed += std::mem::take(&mut kind.completed);
            out.bytes += std::mem::take(&mut kind.bytes);
            for (count, sum) in kind.failed.iter_mut().zip(&mut out.failed) {
                *sum += std::mem::take(count);
            }
            let mut service = Counts::default();
            kind.service.drain_into(&mut service);
            out.service.merge(&service);
            if kind.response.is_empty() {
                out.response.merge(&service);
            } else {
                kind.response.drain_into(&mut out.response);
            }
        }
        if let Some(users) = &mut self.users {
            let out = interval.users.get_or_insert_default();
            out.started += std::mem::take(&mut users.started);
            out.completed += std::mem::take(&mut users.completed);
            out.due += std::mem::take(&mut users.due);
            out.late += std::mem::take(&mut users.late);
            users.duration_us.drain_into(&mut out.duration_us);
            users.delay.drain_into(&mut out.delay);
        }
    }
}

/// Counts the operations of one worker and integrates the number outstanding over time.
#[derive(Debug)]
pub struct Recorder {
    tally: Box<Tally>,
    outstanding: u64,
    /// Up to when the integral is complete, in nanoseconds from the run's start.
    integrated_to_ns: u64,
    /// Operations taken from the schedule whose data is being generated.
    preparing: u64,
    /// Up to when their time is counted, in nanoseconds from the run's start.
    prepared_to_ns: u64,
}

impl Recorder {
    /// A recorder at the start of interval 0.
    pub fn new(tally: Box<Tally>) -> Recorder {
        Recorder { tally, outstanding: 0, integrated_to_ns: 0, preparing: 0, prepared_to_ns: 0 }
    }

    /// Operations outstanding now.
    pub fn outstanding(&self) -> u64 {
        self.outstanding
    }

    /// The number of the current interval.
    pub fn interval(&self) -> u32 {
        self.tally.index
    }

    /// Whether operations were issued in the current interval or outstanding at its start.
    pub fn has_content(&self) -> bool {
        self.tally.issued > 0 || self.tally.outstanding_start > 0
    }

    /// Notes that the data of `count` operations is being generated from `now_ns` on. They belong
    /// to the backlog until [`Recorder::issue`].
    #[inline]
    pub fn prepare(&mut self, now_ns: u64, count: u64) {
        debug_assert_eq!(self.preparing, 0, "operations prepared before have been issued");
        self.preparing = count;
        self.prepared_to_ns = now_ns;
    }

    /// Counts `count` operations issued at `now_ns`; if operations are being prepared, those.
    #[inline]
    pub fn issue(&mut self, now_ns: u64, count: u64) {
        self.integrate(now_ns);
        if self.preparing > 0 {
            self.integrate_preparing(now_ns);
            self.preparing -= count;
        }
        self.tally.issued += count;
        self.outstanding += count;
    }

    /// Notes that `count` operations completed at `now_ns`; each is then recorded with
    /// [`Recorder::complete`] or [`Recorder::fail`].
    #[inline]
    pub fn reap(&mut self, now_ns: u64, count: u64) {
        self.integrate(now_ns);
        debug_assert!(self.outstanding >= count, "more completions than operations outstanding");
        self.outstanding -= count;
    }

    /// Records a success. If operations are issued when they are due (`DELAYED` is false), the
    /// response time equals the service time and is not recorded again.
    #[inline]
    pub fn complete<const DELAYED: bool>(
        &mut self,
        kind: OpKind,
        bytes: u64,
        service_ns: u64,
        response_ns: u64,
    ) {
        let kind = self.tally.kind(kind);
        kind.completed += 1;
        kind.bytes += bytes;
        kind.service.record(service_ns);
        if DELAYED {
            kind.response.record(response_ns);
        }
    }

    /// Counts a scenario that a user started.
    #[inline]
    pub fn scenario_started(&mut self) {
        if let Some(users) = &mut self.tally.users {
            users.started += 1;
        }
    }

    /// Counts a start that was due; `is_late` if the user's earlier scenario still ran.
    #[inline]
    pub fn scenario_due(&mut self, is_late: bool) {
        if let Some(users) = &mut self.tally.users {
            users.due += 1;
            users.late += u64::from(is_late);
        }
    }

    /// Records a scenario that ended, with its duration in nanoseconds.
    #[inline]
    pub fn scenario_completed(&mut self, duration_ns: u64) {
        if let Some(users) = &mut self.tally.users {
            users.completed += 1;
            users.duration_us.record(duration_ns / 1000);
        }
    }

    /// Records the time from due to sent of an operation of a user.
    #[inline]
    pub fn user_delay(&mut self, delay_ns: u64) {
        if let Some(users) = &mut self.tally.users {
            users.delay.record(delay_ns);
        }
    }

    /// Records a failure.
    #[cold]
    pub fn fail(&mut self, kind: OpKind, error: ErrorKind) {
        self.tally.kind(kind).failed[error as usize] += 1;
    }

    /// Ends the interval at `edge_ns` and begins interval `next_index` in `empty`. Everything up to
    /// `edge_ns` must have been recorded. `backlog` is the number of operations due at the edge and
    /// not taken from the schedule, `backlog_time_ns` its time integral over the interval;
    /// operations being prepared are added to both.
    pub fn turn(
        &mut self,
        edge_ns: u64,
        next_index: u32,
        backlog: i64,
        backlog_time_ns: i128,
        empty: Box<Tally>,
    ) -> Box<Tally> {
        self.integrate(edge_ns);
        self.integrate_preparing(edge_ns);
        self.tally.outstanding_end = self.outstanding;
        self.tally.backlog_end = backlog + self.preparing as i64;
        self.tally.backlog_time_ns += backlog_time_ns;
        let full = std::mem::replace(&mut self.tally, empty);
        self.tally.index = next_index;
        self.tally.outstanding_start = self.outstanding;
        full
    }

    #[inline]
    fn integrate(&mut self, now_ns: u64) {
        // 2^64 operation-nanoseconds in one interval would be 10^4 operations for half an hour.
        let passed = now_ns.saturating_sub(self.integrated_to_ns);
        self.tally.outstanding_time_ns += u128::from(self.outstanding) * u128::from(passed);
        self.integrated_to_ns = self.integrated_to_ns.max(now_ns);
    }

    #[inline]
    fn integrate_preparing(&mut self, now_ns: u64) {
        let passed = now_ns.saturating_sub(self.prepared_to_ns);
        self.tally.backlog_time_ns += i128::from(self.preparing) * i128::from(passed);
        self.prepared_to_ns = now_ns;
    }
}
