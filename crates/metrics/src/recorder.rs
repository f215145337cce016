//! What one worker counts, without allocation, lock or clock: time is an argument.
//!
//! A [`Recorder`] writes into a [`Tally`]; at an interval edge the worker exchanges the full tally
//! for an empty one that it already holds. Whoever takes the full one turns it into a
//! [`StreamInterval`] with [`Tally::drain_into`], which leaves it empty for its next use.

use workload::connection::ConnectionCounters;
use workload::op::OpKind;
use workload::outcome::ErrorKind;

use crate::histogram::Histogram;
use crate::interval::StreamInterval;

/// The counters of one worker for one interval. About 230 KiB for each operation kind that occurs,
/// of which only touched pages are resident.
#[derive(Debug, Default)]
pub struct Tally {
    /// The interval's number.
    pub index: u32,
    issued: u64,
    outstanding_start: u64,
    outstanding_end: u64,
    outstanding_time_ns: u128,
    /// A worker's share of its lane's backlog; the sum over the lane's workers is not negative.
    backlog_end: i64,
    backlog_time_ns: i128,
    kinds: [KindTally; OpKind::COUNT],
    /// What the target's connections had done at the interval's end.
    connections: Vec<ConnectionCounters>,
}

#[derive(Debug, Default)]
struct KindTally {
    completed: u64,
    bytes: u64,
    failed: [u64; ErrorKind::COUNT],
    service: Histogram,
    /// Recorded in an open loop only; in a closed loop the response time is the service time.
    response: Histogram,
}

impl Tally {
    /// An empty tally with room for the counters of `connections` connections.
    pub fn for_connections(connections: usize) -> Tally {
        Tally { connections: Vec::with_capacity(connections), ..Tally::default() }
    }

    /// Notes what the target's connections have done up to the interval's end.
    pub fn note_connections(&mut self, counters: &[ConnectionCounters]) {
        self.connections.clear();
        self.connections.extend_from_slice(counters);
    }

    /// What the target's connections had done at the interval's end, since the target was opened.
    pub fn connections(&self) -> &[ConnectionCounters] {
        &self.connections
    }

    /// The worker's share of its lane's backlog at the interval's end.
    pub fn backlog_end(&self) -> i64 {
        self.backlog_end
    }

    /// Moves everything into `interval` (added to what is there) and leaves the tally empty. `open`
    /// says whether response times were recorded apart from service times.
    pub fn drain_into(&mut self, open: bool, interval: &mut StreamInterval) {
        interval.issued += std::mem::take(&mut self.issued);
        interval.outstanding_start += std::mem::take(&mut self.outstanding_start);
        interval.outstanding_end += std::mem::take(&mut self.outstanding_end);
        interval.outstanding_time_ns += std::mem::take(&mut self.outstanding_time_ns);
        // A single share may be negative; the sum over the workers of a lane is what is meant.
        let (backlog, time_ns) = (&mut interval.backlog_end, &mut interval.backlog_time_ns);
        *backlog = backlog.wrapping_add_signed(std::mem::take(&mut self.backlog_end));
        *time_ns = time_ns.wrapping_add_signed(std::mem::take(&mut self.backlog_time_ns));
        for (kind, out) in self.kinds.iter_mut().zip(&mut interval.kinds) {
            out.completed += std::mem::take(&mut kind.completed);
            out.bytes += std::mem::take(&mut kind.bytes);
            for (count, sum) in kind.failed.iter_mut().zip(&mut out.failed) {
                *sum += std::mem::take(count);
            }
            if open {
                kind.service.drain_into(&mut out.service);
                kind.response.drain_into(&mut out.response);
            } else {
                let mut both = crate::histogram::Counts::default();
                kind.service.drain_into(&mut both);
                out.service.merge(&both);
                out.response.merge(&both);
            }
        }
    }
}

/// Counts the operations of one worker and keeps the time integral of what is outstanding.
#[derive(Debug)]
pub struct Recorder {
    tally: Box<Tally>,
    outstanding: u64,
    /// Up to here the integral is complete, in nanoseconds from the run's start.
    integrated_to_ns: u64,
}

impl Recorder {
    /// Begins interval 0 at the run's start with an empty tally.
    pub fn new(tally: Box<Tally>) -> Recorder {
        Recorder { tally, outstanding: 0, integrated_to_ns: 0 }
    }

    /// Operations outstanding now.
    pub fn outstanding(&self) -> u64 {
        self.outstanding
    }

    /// The number of the interval that is being recorded.
    pub fn interval(&self) -> u32 {
        self.tally.index
    }

    /// Whether the interval that is being recorded has anything to tell: operations were issued
    /// in it, or were outstanding when it began and have ended or will.
    pub fn has_content(&self) -> bool {
        self.tally.issued > 0 || self.tally.outstanding_start > 0
    }

    /// Counts `count` operations issued at `now_ns`.
    #[inline]
    pub fn issue(&mut self, now_ns: u64, count: u64) {
        self.integrate(now_ns);
        self.tally.issued += count;
        self.outstanding += count;
    }

    /// Notes that `count` operations came back at `now_ns`; each is then recorded with
    /// [`Recorder::complete`] or [`Recorder::fail`].
    #[inline]
    pub fn reap(&mut self, now_ns: u64, count: u64) {
        self.integrate(now_ns);
        debug_assert!(self.outstanding >= count, "more completions than operations outstanding");
        self.outstanding -= count;
    }

    /// Records one success. In a closed loop (`OPEN` false) the response time is the service time
    /// by definition and is not recorded a second time.
    #[inline]
    pub fn complete<const OPEN: bool>(
        &mut self,
        kind: OpKind,
        bytes: u64,
        service_ns: u64,
        response_ns: u64,
    ) {
        let kind = &mut self.tally.kinds[kind as usize];
        kind.completed += 1;
        kind.bytes += bytes;
        kind.service.record(service_ns);
        if OPEN {
            kind.response.record(response_ns);
        }
    }

    /// Records one failure.
    #[cold]
    pub fn fail(&mut self, kind: OpKind, error: ErrorKind) {
        self.tally.kinds[kind as usize].failed[error as usize] += 1;
    }

    /// Ends the interval at `edge_ns` and begins the one numbered `next_index` in `empty`.
    /// Everything up to `edge_ns` must have been recorded. `backlog` is the number due but not
    /// issued at the edge, `backlog_time_ns` its time integral over the interval.
    pub fn turn(
        &mut self,
        edge_ns: u64,
        next_index: u32,
        backlog: i64,
        backlog_time_ns: i128,
        empty: Box<Tally>,
    ) -> Box<Tally> {
        self.integrate(edge_ns);
        self.tally.outstanding_end = self.outstanding;
        self.tally.backlog_end = backlog;
        self.tally.backlog_time_ns = backlog_time_ns;
        let full = std::mem::replace(&mut self.tally, empty);
        self.tally.index = next_index;
        self.tally.outstanding_start = self.outstanding;
        full
    }

    #[inline]
    fn integrate(&mut self, now_ns: u64) {
        // Within one interval 2^64 operation-nanoseconds would be 10^4 operations for half an hour.
        let passed = now_ns.saturating_sub(self.integrated_to_ns);
        self.tally.outstanding_time_ns += u128::from(self.outstanding) * u128::from(passed);
        self.integrated_to_ns = self.integrated_to_ns.max(now_ns);
    }
}
