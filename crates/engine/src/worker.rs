//! The worker's core: issues what is due, records what completes, turns intervals. No clock, no
//! thread, no socket: `now_ns` is an argument, so the same code runs on a ring, on blocking calls,
//! and in the simulator.

use std::collections::VecDeque;

use metrics::recorder::{Recorder, Tally};
use target::{Completion, Target, TargetError};
use workload::op::{Op, OpStream};
use workload::outcome::ErrorKind;

use crate::schedule::Schedule;
use crate::slots::{NOT_ISSUED_NS, Slot, Slots};
use crate::steps::Steps;

/// Overdue operations are looked for at least this often.
const OVERDUE_CHECK_MAX_NS: u64 = 500_000_000;
/// Operations that are told of when they hang.
const OLDEST_TOLD: usize = 8;

/// What a worker needs to know of its run. All times are nanoseconds from the run's start.
#[derive(Clone, Debug)]
pub struct Assigned {
    /// Its lane in the stream.
    pub lane: u32,
    /// Outstanding operations at most.
    pub queue_depth: u32,
    /// The reporting period.
    pub interval_ns: u64,
    /// From here on nothing is issued.
    pub end_ns: u64,
    /// The age at which an outstanding operation is given up.
    pub operation_deadline_ns: u64,
}

/// What works on the data: fills buffers before writes and inspects them after reads. [`Plain`]
/// does nothing.
///
/// The time this takes is the generator's, not the target's: it delays operations, and is no part
/// of their service time.
pub trait DataPath {
    /// Whether it may ever take time. If not, operations of a closed loop are issued at the instant
    /// they are due.
    const TAKES_TIME: bool;

    /// The operation is about to be submitted.
    fn before(&mut self, tag: u32, op: &Op, target: &mut impl Target);
    /// The operation has succeeded. An error says that what was read is not what belongs there.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`].
    fn after(&mut self, tag: u32, op: &Op, target: &mut impl Target) -> Result<(), ErrorKind>;
    /// The operation has failed.
    fn failed(&mut self, tag: u32, op: &Op);
    /// Whether data was made or checked since the last call, so that the clock has moved on.
    fn took_time(&mut self) -> bool;
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

/// Takes full tallies and gives empty ones back. `None` where no empty one is at hand yet.
pub trait Handover {
    /// An empty tally, if there is one.
    fn empty(&mut self) -> Option<Box<Tally>>;
    /// Passes a full one on, which ended at `end_ns`.
    fn full(&mut self, tally: Box<Tally>, end_ns: u64);
    /// Nobody takes tallies any more.
    fn is_abandoned(&self) -> bool {
        false
    }
}

/// One worker of one stream.
#[derive(Debug)]
pub struct Worker<S, D, H> {
    assigned: Assigned,
    stream: OpStream,
    schedule: S,
    data: D,
    handover: H,
    slots: Slots,
    /// Tags of the operations that were due and are not issued, in order; empty where data takes no
    /// time.
    taken: VecDeque<u32>,
    /// The data of so many of them is made.
    prepared: usize,
    recorder: Recorder,
    steps: Steps,
    next_edge_ns: u64,
    /// No operation can be overdue before this instant, so the slots are not searched until then.
    overdue_from_ns: u64,
}

impl<S: Schedule, D: DataPath, H: Handover> Worker<S, D, H> {
    /// A worker before its first operation.
    pub fn new(
        assigned: Assigned,
        stream: OpStream,
        steps: Steps,
        mut schedule: S,
        data: D,
        handover: H,
        tally: Box<Tally>,
    ) -> Worker<S, D, H> {
        schedule.begin_at(steps.current());
        Worker {
            slots: Slots::new(assigned.queue_depth),
            taken: VecDeque::with_capacity(assigned.queue_depth as usize),
            prepared: 0,
            recorder: Recorder::new(tally),
            steps,
            next_edge_ns: assigned.interval_ns,
            overdue_from_ns: 0,
            assigned,
            stream,
            schedule,
            data,
            handover,
        }
    }

    /// Nothing more is issued and nothing is outstanding.
    #[inline]
    pub fn is_finished(&self, now_ns: u64) -> bool {
        now_ns >= self.assigned.end_ns && self.slots.outstanding() == 0
    }

    /// Takes every operation that is due and has a slot, and makes the data of as many as the
    /// target sends together, for [`Worker::issue`]. If all slots are taken an operation stays due
    /// and keeps its intended instant: lateness is recorded, never forgiven.
    ///
    /// Returns whether data was made or checked since `now_ns`: the clock must then be read again
    /// for the instant of issue.
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

    /// Submits what is prepared, or everything that is due where data takes no time; `now_ns` is
    /// the instant of issue. Returns whether data of operations that were due is still to be made.
    ///
    /// # Errors
    /// The target is gone for good.
    #[inline]
    pub fn issue(&mut self, now_ns: u64, target: &mut impl Target) -> Result<bool, TargetError> {
        if !D::TAKES_TIME {
            let mut issued = 0;
            while let Some((tag, op)) = self.take_due(now_ns, now_ns) {
                target.submit(tag, &op)?;
                issued += 1;
            }
            if issued > 0 {
                self.recorder.issue(now_ns, issued);
            }
            return Ok(false);
        }
        // While data was made an interval may have ended.
        if now_ns >= self.next_edge_ns {
            self.turn_intervals(now_ns, target);
        }
        self.recorder.issue(now_ns, self.prepared as u64);
        for tag in self.taken.drain(..self.prepared) {
            target.submit(tag, self.slots.issue(tag, now_ns))?;
        }
        Ok(!self.taken.is_empty())
    }

    /// Takes the next operation if it is due and has a slot, with its instant of issue.
    #[inline]
    fn take_due(&mut self, now_ns: u64, issued_ns: u64) -> Option<(u32, Op)> {
        if self.slots.is_full() || now_ns >= self.assigned.end_ns {
            return None;
        }
        let due_ns = self.schedule.next_due_ns();
        if due_ns > now_ns {
            return None;
        }
        // In a closed loop without think time an operation is due at the moment it can be issued.
        let intended_ns = if S::OPEN { due_ns } else { now_ns };
        let op = self.stream.op(self.assigned.lane, self.steps.current());
        let tag = self.slots.take(intended_ns, issued_ns, op).expect("a slot is free");
        let further = self.steps.advance();
        self.schedule.advance(now_ns, further);
        Some((tag, op))
    }

    /// The moment at which this worker must look again though nothing completes: the next due
    /// instant (if there is a slot for it), the interval's edge, the end.
    #[inline]
    pub fn wake_ns(&self, now_ns: u64) -> u64 {
        let mut wake_ns = self.next_edge_ns;
        if now_ns < self.assigned.end_ns {
            wake_ns = wake_ns.min(self.assigned.end_ns);
            if !self.slots.is_full() {
                wake_ns = wake_ns.min(self.schedule.next_due_ns());
            }
        }
        wake_ns
    }

    /// Records what has completed, seen at `now_ns`, and leaves `done` empty.
    #[inline]
    pub fn complete(&mut self, now_ns: u64, done: &mut Vec<Completion>, target: &mut impl Target) {
        if now_ns >= self.next_edge_ns {
            self.turn_intervals(now_ns, target);
        }
        if done.is_empty() {
            return;
        }
        self.recorder.reap(now_ns, done.len() as u64);
        self.schedule.completed(now_ns, done.len());
        for Completion { tag, result } in done.drain(..) {
            let slot = self.slots.release(tag);
            if result == slot.op.size_bytes as i32 {
                if let Err(error) = self.data.after(tag, &slot.op, target) {
                    self.recorder.fail(slot.op.kind, error);
                    continue;
                }
                let bytes = u64::from(slot.op.size_bytes);
                let service_ns = now_ns - slot.issued_ns;
                let response_ns = now_ns - slot.intended_ns;
                if S::OPEN || D::TAKES_TIME {
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
        let (backlog, backlog_time_ns) = self.schedule.backlog(edge_ns.min(self.assigned.end_ns));
        let empty = self.wait_for_empty();
        let next = self.recorder.interval() + 1;
        let mut full = self.recorder.turn(edge_ns, next, backlog, backlog_time_ns, empty);
        full.note_connections(target.connections());
        self.handover.full(full, edge_ns);
    }

    /// An empty tally. There are several, and they come back as soon as whoever takes them looks,
    /// whatever other workers do; so this waits only where that thread has not run for intervals.
    /// It spins because a worker makes no system call of its own. With nobody left to take tallies
    /// a new one serves as well.
    fn wait_for_empty(&mut self) -> Box<Tally> {
        loop {
            if let Some(empty) = self.handover.empty() {
                return empty;
            }
            if self.handover.is_abandoned() {
                return Box::default();
            }
            std::hint::spin_loop();
        }
    }

    /// Ends the last, possibly shorter, interval. The worker is finished or given up.
    ///
    /// What ended at the very edge belongs to an interval without length: it is handed over too.
    pub fn close(&mut self, now_ns: u64, target: &mut impl Target) {
        let start_ns = self.next_edge_ns - self.assigned.interval_ns;
        if now_ns > start_ns || self.recorder.has_content() {
            self.turn(now_ns, target);
        }
    }

    /// Brings the end forward to `end_ns`; it is never put off.
    pub fn end_at(&mut self, end_ns: u64) {
        self.assigned.end_ns = self.assigned.end_ns.min(end_ns);
    }

    /// The edge of the interval that is being recorded.
    pub fn next_edge_ns(&self) -> u64 {
        self.next_edge_ns
    }

    /// Whether an operation has been outstanding longer than its deadline. Searches the slots only
    /// if one can be: a simulated worker asks after every operation.
    pub fn is_overdue(&mut self, now_ns: u64) -> bool {
        if now_ns < self.overdue_from_ns {
            return false;
        }
        // Operations issued from now on are due later than any that is outstanding.
        let oldest_ns = self.slots.oldest_issued_ns().min(now_ns);
        self.overdue_from_ns = oldest_ns.saturating_add(self.assigned.operation_deadline_ns);
        now_ns >= self.overdue_from_ns
    }

    /// Gives up every outstanding operation: each is counted as failed for `reason`. Returns the
    /// oldest of them.
    pub fn give_up(&mut self, now_ns: u64, reason: ErrorKind) -> Vec<Slot> {
        let mut all = self.slots.oldest(usize::MAX);
        self.recorder.reap(now_ns, all.len() as u64);
        for slot in &all {
            self.recorder.fail(slot.op.kind, reason);
        }
        all.truncate(OLDEST_TOLD);
        all
    }

    /// The step of the operation that is issued next.
    #[inline]
    pub fn next_step(&self) -> u64 {
        self.steps.current()
    }

    /// Whether nothing is outstanding.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.slots.outstanding() == 0
    }

    /// How often to look for overdue operations, in nanoseconds.
    pub fn overdue_check_ns(&self) -> u64 {
        (self.assigned.operation_deadline_ns / 4)
            .clamp(1_000_000, OVERDUE_CHECK_MAX_NS)
            .min(self.assigned.interval_ns)
    }

    /// The limit on outstanding operations.
    pub fn queue_depth(&self) -> usize {
        self.assigned.queue_depth as usize
    }

    /// What looked into the data, with what it found.
    pub fn into_data(self) -> D {
        self.data
    }
}
