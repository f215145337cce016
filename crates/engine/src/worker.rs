//! The worker's core: issues what is due, records what completes, and ends intervals. It has no
//! clock, thread or socket: `now_ns` is an argument, so the same code runs on a ring, with blocking
//! calls, and in the simulator.

use std::collections::VecDeque;
use std::time::Duration;

use metrics::recorder::{Recorder, Tally};
use target::{Completion, Target, TargetError};
use workload::op::{Op, OpKind, OpStream};
use workload::outcome::ErrorKind;

use crate::operations::Operations;
use crate::schedule::Schedule;
use crate::slots::{NOT_ISSUED_NS, Slot, Slots};
use crate::steps::Steps;
use crate::tiles::Mismatch;

/// Longest time between two checks for overdue operations.
const OVERDUE_CHECK_MAX_NS: u64 = 500_000_000;
/// How often a worker checks whether the next step of its lane may be issued.
const BLOCKED_POLL_NS: u64 = 50_000;
/// Longest wait for other workers of the lane: the loop then checks whether a stop was requested.
const LANE_WAIT_MAX_NS: u64 = 100_000_000;
/// How many overdue operations an error message lists.
const OLDEST_LISTED: usize = 8;

/// A worker's share of a run. All times are nanoseconds from the run's start.
#[derive(Clone, Debug)]
pub struct Assigned {
    /// Its lane among the workers of its stream on its target.
    pub lane: u32,
    /// Maximum number of outstanding operations.
    pub queue_depth: u32,
    /// The reporting period.
    pub interval_ns: u64,
    /// No operation is issued from this time on.
    pub end_ns: u64,
    /// The age at which an outstanding operation is abandoned.
    pub operation_deadline_ns: u64,
}

/// Fills buffers before writes and verifies them after reads. [`Plain`] does nothing.
///
/// The time this takes is the generator's: it delays operations but is not part of their service
/// time.
pub trait DataPath {
    /// Whether it can take time. If not, operations of a closed loop are issued when they are due.
    const TAKES_TIME: bool;

    /// Called before an operation is submitted.
    fn before(&mut self, tag: u32, op: &Op, target: &mut impl Target);
    /// Called after an operation has succeeded. Fails if the data that was read is wrong.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`].
    fn after(&mut self, tag: u32, op: &Op, target: &mut impl Target) -> Result<(), ErrorKind>;
    /// Called after an operation has failed.
    fn failed(&mut self, tag: u32, op: &Op);
    /// Whether data was generated or verified since the last call, so that time has passed.
    fn took_time(&mut self) -> bool;
    /// The first differences between the data that was read and the expected data.
    fn into_mismatches(self) -> Vec<Mismatch>
    where
        Self: Sized,
    {
        Vec::new()
    }
}

/// Moves no data: for targets without buffers, and for reads that are not verified.
#[derive(Debug)]
pub struct Plain;

impl DataPath for Plain {
    const TAKES_TIME: bool = false;

    #[inline]
    fn before(&mut self, _tag: u32, _op: &Op, _target: &mut impl Target) {}

    #[inline]
    fn after(&mut self, _: u32, _: &Op, _: &mut impl Target) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn failed(&mut self, _tag: u32, _op: &Op) {}

    #[inline]
    fn took_time(&mut self) -> bool {
        false
    }
}

/// Exchanges full tallies for empty ones.
pub trait Handover {
    /// An empty tally, if one is available.
    fn empty(&mut self) -> Option<Box<Tally>>;
    /// Passes on a full tally whose interval ended at `end_ns`.
    fn full(&mut self, tally: Box<Tally>, end_ns: u64);
    /// Whether tallies are no longer collected.
    fn is_abandoned(&self) -> bool {
        false
    }
}

/// One worker of one stream.
#[derive(Debug)]
pub struct Worker<S, D, H, O = OpStream> {
    assigned: Assigned,
    stream: O,
    schedule: S,
    data: D,
    handover: H,
    slots: Slots,
    /// Tags of due operations that are not issued yet, in order; empty if data takes no time.
    taken: VecDeque<u32>,
    /// For how many of them the data is ready.
    prepared: usize,
    recorder: Recorder,
    steps: Steps,
    next_edge_ns: u64,
    /// No operation can be overdue before this time, so the slots are not searched until then.
    overdue_from_ns: u64,
}

impl<S: Schedule, D: DataPath, H: Handover, O: Operations> Worker<S, D, H, O> {
    /// A worker before its first operation.
    pub fn new(
        assigned: Assigned,
        stream: O,
        steps: Steps,
        mut schedule: S,
        data: D,
        handover: H,
        tally: Box<Tally>,
    ) -> Worker<S, D, H, O> {
        schedule.begin_at(steps.current());
        Worker {
            slots: Slots::new(assigned.queue_depth),
            taken: VecDeque::with_capacity(assigned.queue_depth as usize),
            prepared: 0,
            recorder: Recorder::new(tally),
            steps,
            next_edge_ns: assigned.interval_ns,
            overdue_from_ns: 0,
            stream: stream.prepared_for(assigned.lane),
            assigned,
            schedule,
            data,
            handover,
        }
    }

    /// Whether all operations were issued and have completed.
    #[inline]
    pub fn is_finished(&self, now_ns: u64) -> bool {
        now_ns >= self.assigned.end_ns && self.slots.outstanding() == 0
    }

    /// Assigns slots to due operations, and generates the data of as many as the target sends
    /// together, for [`Worker::issue`]. If no slot is free, an operation stays due with its
    /// intended time, so that its delay is recorded.
    ///
    /// Returns whether data was generated or verified since `now_ns`, so that the clock must be
    /// read again for the time of issue.
    #[inline]
    pub fn prepare(&mut self, now_ns: u64, target: &mut impl Target) -> bool {
        if !D::TAKES_TIME {
            return false;
        }
        if self.taken.is_empty() {
            while let Some((tag, _)) = self.take_due(now_ns, NOT_ISSUED_NS) {
                self.taken.push_back(tag);
            }
            self.recorder.prepare(now_ns, self.taken.len() as u64);
        }
        self.prepared = self.taken.len().min(target.batch());
        for tag in self.taken.range(..self.prepared) {
            self.data.before(*tag, self.slots.op(*tag), target);
        }
        self.data.took_time()
    }

    /// Submits the prepared operations, or all due ones if data takes no time; `now_ns` is the time
    /// of issue. Returns whether due operations still need data.
    ///
    /// # Errors
    /// The target is lost.
    #[inline]
    pub fn issue(&mut self, now_ns: u64, target: &mut impl Target) -> Result<bool, TargetError> {
        if !D::TAKES_TIME {
            let mut issued = 0;
            while let Some((tag, op)) = self.take_due(now_ns, now_ns) {
                if S::KEEPS_DUE_TIMES && !S::OPEN {
                    self.recorder.user_delay(now_ns - self.slots.intended_ns(tag));
                }
                target.submit(tag, &op)?;
                issued += 1;
            }
            if issued > 0 {
                self.recorder.issue(now_ns, issued);
            }
            return Ok(false);
        }
        // An interval may have ended while data was generated.
        if now_ns >= self.next_edge_ns {
            self.turn_intervals(now_ns, target);
        }
        self.recorder.issue(now_ns, self.prepared as u64);
        for tag in self.taken.drain(..self.prepared) {
            if S::KEEPS_DUE_TIMES && !S::OPEN {
                self.recorder.user_delay(now_ns - self.slots.intended_ns(tag));
            }
            target.submit(tag, self.slots.issue(tag, now_ns))?;
        }
        Ok(!self.taken.is_empty())
    }

    /// Takes the next operation if it is due and a slot is free.
    #[inline(always)]
    fn take_due(&mut self, now_ns: u64, issued_ns: u64) -> Option<(u32, Op)> {
        if self.slots.is_full() || now_ns >= self.assigned.end_ns {
            return None;
        }
        self.schedule.poll(now_ns, &mut self.recorder);
        let due_ns = self.schedule.next_due_ns();
        if due_ns > now_ns || !self.stream.may_issue(self.steps.current()) {
            return None;
        }
        // In a closed loop without think time an operation is due when it can be issued.
        let intended_ns = if S::KEEPS_DUE_TIMES { due_ns } else { now_ns };
        let own_step = || (self.assigned.lane, self.steps.current());
        let (lane, step) = self.schedule.next_step().unwrap_or_else(own_step);
        let op = self.stream.op(lane, step);
        let tag = self.slots.take(intended_ns, issued_ns, op).expect("a slot is free");
        let steps = self.steps.advance();
        self.schedule.advance(now_ns, steps);
        Some((tag, op))
    }

    /// When this worker must act even if nothing completes: at the next due time (if a slot is
    /// free), at the edge of the interval, or at the end.
    #[inline]
    pub fn wake_ns(&self, now_ns: u64) -> u64 {
        let mut wake_ns = self.next_edge_ns;
        if now_ns < self.assigned.end_ns {
            wake_ns = wake_ns.min(self.assigned.end_ns);
            if !self.slots.is_full() {
                let due_ns = self.schedule.next_due_ns();
                let may_issue = due_ns > now_ns || self.stream.may_issue(self.steps.current());
                // Another worker of the lane may complete what the next step waits for.
                wake_ns = wake_ns.min(if may_issue { due_ns } else { now_ns + BLOCKED_POLL_NS });
            }
        }
        wake_ns
    }

    /// If nothing is outstanding and the next step is due, but must wait for steps of other workers of
    /// the lane: waits for these, at most until the worker must act anyway, and returns true.
    #[inline]
    pub fn wait_for_lane(&self, now_ns: u64) -> bool {
        let step = self.steps.current();
        if self.stream.may_issue(step)
            || self.slots.outstanding() > 0
            || self.schedule.next_due_ns() > now_ns
        {
            return false;
        }
        let until_ns = self.next_edge_ns.min(self.assigned.end_ns.max(now_ns));
        let wait_ns = until_ns.saturating_sub(now_ns).min(LANE_WAIT_MAX_NS);
        self.stream.wait_until_may_issue(step, Duration::from_nanos(wait_ns));
        true
    }

    /// Records the completions in `done`, reaped at `now_ns`, and empties it.
    #[inline]
    pub fn complete(&mut self, now_ns: u64, done: &mut Vec<Completion>, target: &mut impl Target) {
        if now_ns >= self.next_edge_ns {
            self.turn_intervals(now_ns, target);
        }
        if done.is_empty() {
            return;
        }
        self.recorder.reap(now_ns, done.len() as u64);
        // A start that is due by now was due while these operations were in flight.
        self.schedule.poll(now_ns, &mut self.recorder);
        self.schedule.completed(now_ns, done.len());
        for Completion { tag, result } in done.drain(..) {
            let slot = self.slots.release(tag);
            self.schedule.ended(now_ns, slot.op.index, &mut self.recorder);
            if result == slot.op.size_bytes as i32 {
                if let Err(error) = self.data.after(tag, &slot.op, target) {
                    self.stream.ended(&slot.op, true);
                    self.recorder.fail(slot.op.kind, error);
                    continue;
                }
                self.stream.ended(&slot.op, false);
                let bytes = u64::from(slot.op.size_bytes);
                let service_ns = now_ns - slot.issued_ns;
                let response_ns = now_ns - slot.intended_ns;
                if S::KEEPS_DUE_TIMES || D::TAKES_TIME {
                    self.recorder.complete::<true>(slot.op.kind, bytes, service_ns, response_ns);
                } else {
                    self.recorder.complete::<false>(slot.op.kind, bytes, service_ns, response_ns);
                }
            } else {
                self.record_failure(tag, &slot, result);
            }
        }
    }

    #[cold]
    fn record_failure(&mut self, tag: u32, slot: &Slot, result: i32) {
        self.data.failed(tag, &slot.op);
        self.stream.ended(&slot.op, true);
        let error = if result < 0 { ErrorKind::from_errno(-result) } else { ErrorKind::Short };
        self.recorder.fail(slot.op.kind, error);
    }

    /// Ends every interval whose edge has passed.
    #[cold]
    fn turn_intervals(&mut self, now_ns: u64, target: &mut impl Target) {
        while now_ns >= self.next_edge_ns {
            let edge_ns = self.next_edge_ns;
            self.turn(edge_ns, target);
            self.next_edge_ns += self.assigned.interval_ns;
        }
    }

    fn turn(&mut self, edge_ns: u64, target: &mut impl Target) {
        let due_to_ns = edge_ns.min(self.assigned.end_ns);
        // What is due at the edge belongs to the next interval.
        self.schedule.poll(due_to_ns.saturating_sub(1), &mut self.recorder);
        let (backlog, backlog_time_ns) = self.schedule.backlog(due_to_ns);
        let empty = self.wait_for_empty();
        let next = self.recorder.interval() + 1;
        let mut full = self.recorder.turn(edge_ns, next, backlog, backlog_time_ns, empty);
        full.note_connections(target.connections());
        self.handover.full(full, edge_ns);
    }

    /// Waits for an empty tally. There are several, and the collector returns each when it polls,
    /// so this waits only if the collector has not run for several intervals. It spins because a
    /// worker makes no system calls. Without a collector it uses a new tally.
    fn wait_for_empty(&mut self) -> Box<Tally> {
        loop {
            if let Some(empty) = self.handover.empty() {
                return empty;
            }
            if self.handover.is_abandoned() {
                return Box::new(Tally::for_kinds(&OpKind::ALL, 0, u64::MAX));
            }
            std::hint::spin_loop();
        }
    }

    /// Ends the last, possibly shorter, interval. If operations completed exactly at its start, its
    /// length is zero.
    pub fn close(&mut self, now_ns: u64, target: &mut impl Target) {
        let start_ns = self.next_edge_ns - self.assigned.interval_ns;
        if now_ns > start_ns || self.recorder.has_content() {
            self.turn(now_ns, target);
        }
    }

    /// Moves the end to `end_ns` if that is earlier.
    pub fn end_at(&mut self, end_ns: u64) {
        self.assigned.end_ns = self.assigned.end_ns.min(end_ns);
    }

    /// The end of the current interval.
    pub fn next_edge_ns(&self) -> u64 {
        self.next_edge_ns
    }

    /// Whether an operation has exceeded its deadline. Searches the slots only if that is possible,
    /// because a simulated worker calls this after every operation.
    pub fn is_overdue(&mut self, now_ns: u64) -> bool {
        if now_ns < self.overdue_from_ns {
            return false;
        }
        // Operations issued from now on have later deadlines than outstanding ones.
        let oldest_ns = self.slots.oldest_issued_ns().min(now_ns);
        self.overdue_from_ns = oldest_ns.saturating_add(self.assigned.operation_deadline_ns);
        now_ns >= self.overdue_from_ns
    }

    /// Counts every outstanding operation as failed with `reason`, and returns the oldest of them.
    pub fn abandon_overdue(&mut self, now_ns: u64, reason: ErrorKind) -> Vec<Slot> {
        let mut all = self.slots.oldest(usize::MAX);
        self.recorder.reap(now_ns, all.len() as u64);
        for slot in &all {
            self.recorder.fail(slot.op.kind, reason);
        }
        all.truncate(OLDEST_LISTED);
        all
    }

    /// The step of the next operation; if the schedule chooses lanes, its number in the stream.
    #[inline]
    pub fn next_step(&self) -> u64 {
        match self.schedule.next_step() {
            Some((lane, step)) => self.stream.index_of(lane, step),
            None => self.steps.current(),
        }
    }

    /// Whether nothing is outstanding.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.slots.outstanding() == 0
    }

    /// How often to check for overdue operations, in nanoseconds.
    pub fn overdue_check_ns(&self) -> u64 {
        (self.assigned.operation_deadline_ns / 4)
            .clamp(1_000_000, OVERDUE_CHECK_MAX_NS)
            .min(self.assigned.interval_ns)
    }

    /// Maximum number of outstanding operations.
    pub fn queue_depth(&self) -> usize {
        self.assigned.queue_depth as usize
    }

    /// The data path, with the mismatches it found, the operations, and the schedule.
    pub fn into_parts(self) -> (D, O, S) {
        (self.data, self.stream, self.schedule)
    }
}
