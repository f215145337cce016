//! Virtual time: the loop that wakes workers in the order of their events.
//!
//! Every worker has one event, the next moment at which it must look: a completion, a due instant,
//! an interval's edge. The loop takes the earliest (at one moment: in the order in which they were
//! planned), so nothing depends on anything but the run, the model and the seed. It does for many
//! workers in one thread what `engine::drive` does for one on a real clock; that both do the same
//! is a test.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use engine::schedule::{Closed, ConstantInstants, Open, PoissonInstants, Schedule, Thinking};
use engine::slots::Slot;
use engine::steps::Steps;
use engine::worker::{Assigned, Handover, Plain, Worker};
use metrics::interval::{Interval, StreamInterval, WorkerInterval};
use metrics::recorder::Tally;
use metrics::run_record::{EngineUsed, ExperimentRecord, Outcome, RunRecord};
use target::{Completion, Target, TargetError, Wait};
use workload::arrival::Arrival;
use workload::op::{Op, OpStream};
use workload::outcome::ErrorKind;
use workload::plan::{EngineChoice, Plan, Run};
use workload::random;

use crate::storage::{Answer, Model, NEVER_NS, Storage};

/// How long what is outstanding may take to come back once the run was given up, as in the engine.
const GRACE_NS: u64 = 1_000_000_000;
/// Distance of the runs of an experiment on the calendar, beyond their own length.
const BETWEEN_RUNS_MS: u64 = 1000;

/// A run that was simulated, with what the storage itself saw.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// What the engine measured.
    pub record: RunRecord,
    /// What the storage was sent, in the order of arrival: the witness.
    pub seen: Vec<Seen>,
    /// The oldest of the operations that were outstanding longer than their deadline.
    pub overdue: Vec<NotReturned>,
    /// The oldest of those that had not come back a while after the run was ended for that.
    pub left_behind: Vec<NotReturned>,
}

/// One operation as the storage saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Index of the stream.
    pub stream: u32,
    /// The worker's lane.
    pub lane: u32,
    /// When it arrived, in nanoseconds from the run's start.
    pub issued_ns: u64,
    /// What it was.
    pub op: Op,
    /// What became of it.
    pub answer: Answer,
}

/// An operation that was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotReturned {
    /// Index of the stream.
    pub stream: u32,
    /// The worker's lane.
    pub lane: u32,
    /// When it was issued, in nanoseconds from the run's start.
    pub issued_ns: u64,
    /// What it was.
    pub op: Op,
}

/// Simulates a run on one host; `seed` decides what the storage draws.
pub fn simulate(run: &Run, model: &Model, seed: u64) -> RunRecord {
    World::new(run, model, seed, None).run(run).record
}

/// The same, and keeps what the storage saw: some 70 bytes for each operation.
pub fn simulate_with_witness(run: &Run, model: &Model, seed: u64) -> Simulated {
    World::new(run, model, seed, Some(Vec::new())).run(run)
}

/// Simulates a whole plan, run after run, each against a storage at rest.
pub fn experiment(plan: &Plan, model: &Model, seed: u64) -> ExperimentRecord {
    let mut started_unix_ms = 0;
    let mut runs = Vec::new();
    for run in plan.runs() {
        let mut record = simulate(run, model, random::derive(seed, u64::from(run.index)));
        record.started_unix_ms = started_unix_ms;
        started_unix_ms += run.phases.total_ns() / 1_000_000 + BETWEEN_RUNS_MS;
        runs.push(record);
    }
    ExperimentRecord {
        id: format!("simulated-{seed}"),
        plan: plan.clone(),
        plan_hash: String::new(),
        engine: EngineUsed {
            engine: EngineChoice::IoUring,
            reason: "simulated in virtual time".to_owned(),
        },
        environment: vec![("host".to_owned(), "simulated".to_owned())],
        started_unix_ms: 0,
        prepared: Vec::new(),
        warnings: Vec::new(),
        runs,
        outcome: Outcome::Done,
    }
}

/// Everything of one run.
struct World {
    storage: Storage,
    seen: Option<Vec<Seen>>,
    lanes: Vec<Box<dyn Lane>>,
    /// `(time, order of planning, lane)`, the earliest first.
    events: BinaryHeap<Reverse<(u64, u64, usize)>>,
    planned: u64,
    /// When the run was given up, if it was.
    stopped_ns: Option<u64>,
    overdue: Vec<NotReturned>,
    left_behind: Vec<NotReturned>,
}

impl World {
    fn new(run: &Run, model: &Model, seed: u64, seen: Option<Vec<Seen>>) -> World {
        let mut lanes: Vec<Box<dyn Lane>> = Vec::new();
        for (stream_index, stream) in run.streams.iter().enumerate() {
            let ops = OpStream::new(stream, run.seed);
            for lane in 0..stream.workers {
                let place = (stream_index as u32, lane);
                let assigned = Assigned {
                    lane,
                    queue_depth: stream.queue_depth,
                    interval_ns: run.phases.interval_ns,
                    end_ns: run.phases.total_ns(),
                    operation_deadline_ns: run.operation_deadline_ns,
                };
                let (depth, workers, ops) = (stream.queue_depth, stream.workers, ops.clone());
                lanes.push(match stream.arrival {
                    Arrival::Closed { think_time_ns: 0 } => {
                        SimLane::boxed(place, assigned, ops, Closed)
                    }
                    Arrival::Closed { think_time_ns } => {
                        SimLane::boxed(place, assigned, ops, Thinking::new(think_time_ns, depth))
                    }
                    Arrival::Constant { offered_rate } => {
                        let instants = ConstantInstants::new(offered_rate, lane, workers);
                        SimLane::boxed(place, assigned, ops, Open::new(instants))
                    }
                    Arrival::Poisson { offered_rate } => {
                        let instants = PoissonInstants::new(run.seed, offered_rate, lane, workers);
                        SimLane::boxed(place, assigned, ops, Open::new(instants))
                    }
                });
            }
        }
        World {
            storage: Storage::new(model.clone(), seed),
            seen,
            events: (0..lanes.len()).map(|lane| Reverse((0, lane as u64, lane))).collect(),
            planned: lanes.len() as u64,
            lanes,
            stopped_ns: None,
            overdue: Vec::new(),
            left_behind: Vec::new(),
        }
    }

    fn run(mut self, run: &Run) -> Simulated {
        let mut last_ns = 0;
        while let Some(Reverse((now_ns, _, number))) = self.events.pop() {
            debug_assert!(now_ns >= last_ns, "time goes forward");
            last_ns = now_ns;
            let outside = Outside { storage: &mut self.storage, seen: self.seen.as_mut() };
            match self.lanes[number].turn(now_ns, self.stopped_ns, outside) {
                Next::At(at_ns) => {
                    self.events.push(Reverse((at_ns, self.planned, number)));
                    self.planned += 1;
                }
                Next::Ended => {}
                Next::Overdue(oldest) => {
                    self.stopped_ns.get_or_insert(now_ns);
                    self.overdue.extend(oldest);
                }
                Next::LeftBehind(oldest) => self.left_behind.extend(oldest),
            }
        }
        let outcome = match self.overdue.len() {
            0 => Outcome::Done,
            _ => Outcome::Failed {
                reason: "operations did not return within their deadline".to_owned(),
            },
        };
        let record = RunRecord {
            run: run.clone(),
            started_unix_ms: 0,
            intervals: self.intervals(run),
            warnings: Vec::new(),
            witness: None,
            outcome,
        };
        let (overdue, left_behind) = (self.overdue, self.left_behind);
        Simulated { record, seen: self.seen.unwrap_or_default(), overdue, left_behind }
    }

    /// The workers' parts as the intervals of the host, as the engine's collector builds them.
    fn intervals(&mut self, run: &Run) -> Vec<Interval> {
        let parts: Vec<((u32, u32), Vec<Part>)> =
            self.lanes.iter_mut().map(|lane| (lane.place(), lane.take_parts())).collect();
        let count = parts.iter().map(|(_, parts)| parts.len()).max().unwrap_or(0);
        let mut intervals: Vec<Interval> = (0..count)
            .map(|index| {
                let start_ns = index as u64 * run.phases.interval_ns;
                Interval {
                    index: index as u32,
                    start_ns,
                    end_ns: start_ns,
                    streams: vec![StreamInterval::default(); run.streams.len()],
                    ..Interval::default()
                }
            })
            .collect();
        for ((stream, lane), parts) in parts {
            for interval in &mut intervals {
                interval.workers.push(WorkerInterval { stream, lane, cpu_ns: 0 });
            }
            for (interval, part) in intervals.iter_mut().zip(parts) {
                interval.end_ns = interval.end_ns.max(part.end_ns);
                interval.streams[stream as usize].merge(&part.counted);
            }
        }
        for stream in intervals.iter().flat_map(|interval| &interval.streams) {
            assert!(stream.is_balanced(), "issued = completed + failed + outstanding: {stream:?}");
        }
        intervals
    }
}

/// When a worker must be woken again.
enum Next {
    At(u64),
    Ended,
    /// It gave up, because operations were outstanding longer than their deadline; the oldest.
    Overdue(Vec<NotReturned>),
    /// It gave up, because the run had been ended and operations did not come back; the oldest.
    LeftBehind(Vec<NotReturned>),
}

/// What a worker meets in its turn.
struct Outside<'a> {
    storage: &'a mut Storage,
    seen: Option<&'a mut Vec<Seen>>,
}

/// A worker, whatever its schedule.
trait Lane {
    fn turn(&mut self, now_ns: u64, stopped_ns: Option<u64>, outside: Outside<'_>) -> Next;
    /// Its stream and lane.
    fn place(&self) -> (u32, u32);
    /// What it has handed over, interval by interval.
    fn take_parts(&mut self) -> Vec<Part>;
}

struct SimLane<S> {
    place: (u32, u32),
    worker: Worker<S, Plain, SimHandover>,
    mailbox: Mailbox,
    done: Vec<Completion>,
    parts: Rc<RefCell<Vec<Part>>>,
}

impl<S: Schedule + 'static> SimLane<S> {
    fn boxed(place: (u32, u32), assigned: Assigned, ops: OpStream, schedule: S) -> Box<dyn Lane> {
        let parts = Rc::new(RefCell::new(Vec::new()));
        let spare = Some(Box::default());
        let handover = SimHandover { open: S::OPEN, spare, parts: Rc::clone(&parts) };
        let done = Vec::with_capacity(assigned.queue_depth as usize);
        let worker =
            Worker::new(assigned, ops, Steps::own(), schedule, Plain, handover, Box::default());
        Box::new(SimLane { place, worker, mailbox: Mailbox::default(), done, parts })
    }
}

impl<S: Schedule> Lane for SimLane<S> {
    /// One turn of the loop in `engine::drive`.
    fn turn(&mut self, now_ns: u64, stopped_ns: Option<u64>, outside: Outside<'_>) -> Next {
        let mut target =
            SimTarget { now_ns, place: self.place, outside, mailbox: &mut self.mailbox };
        target.reap(Wait::Look, &mut self.done).expect("a model is never gone");
        self.worker.complete(now_ns, &mut self.done, &mut target);
        if let Some(stopped_ns) = stopped_ns {
            self.worker.end_at(stopped_ns);
        }
        let give_up_ns = stopped_ns.map_or(u64::MAX, |stopped_ns| stopped_ns + GRACE_NS);
        let is_overdue = self.worker.is_overdue(now_ns);
        if is_overdue || now_ns >= give_up_ns {
            let reason = if is_overdue { ErrorKind::Deadline } else { ErrorKind::LeftBehind };
            let oldest = self.worker.give_up(now_ns, reason);
            self.worker.close(now_ns, &mut target);
            let (stream, lane) = self.place;
            let told = |Slot { issued_ns, op, .. }| NotReturned { stream, lane, issued_ns, op };
            let end = if is_overdue { Next::Overdue } else { Next::LeftBehind };
            return end(oldest.into_iter().map(told).collect());
        }
        self.worker.issue_due(now_ns, &mut target).expect("a model is never gone");
        if self.worker.is_finished(now_ns) {
            self.worker.close(now_ns, &mut target);
            return Next::Ended;
        }
        let wake_ns = self.worker.wake_ns(now_ns).min(self.mailbox.next_ns()).min(give_up_ns);
        assert!(wake_ns > now_ns, "time stands still at {now_ns} ns");
        Next::At(wake_ns)
    }

    fn place(&self) -> (u32, u32) {
        self.place
    }

    fn take_parts(&mut self) -> Vec<Part> {
        self.parts.take()
    }
}

/// What one worker counted in one interval.
struct Part {
    end_ns: u64,
    counted: StreamInterval,
}

/// Counts a full tally out at once, so that one spare is enough.
struct SimHandover {
    open: bool,
    spare: Option<Box<Tally>>,
    parts: Rc<RefCell<Vec<Part>>>,
}

impl Handover for SimHandover {
    fn empty(&mut self) -> Option<Box<Tally>> {
        self.spare.take()
    }

    fn full(&mut self, mut tally: Box<Tally>, end_ns: u64) {
        let mut parts = self.parts.borrow_mut();
        assert_eq!(tally.index as usize, parts.len(), "tallies come in order");
        let mut counted = StreamInterval::default();
        tally.drain_into(self.open, &mut counted);
        parts.push(Part { end_ns, counted });
        self.spare = Some(tally);
    }
}

/// Completions on their way to one worker, the earliest first; at one moment in the order of issue.
#[derive(Default)]
struct Mailbox {
    coming: BinaryHeap<Reverse<(u64, u64, u32, i32)>>,
    issued: u64,
}

impl Mailbox {
    fn next_ns(&self) -> u64 {
        self.coming.peek().map_or(NEVER_NS, |Reverse((completed_ns, ..))| *completed_ns)
    }
}

/// The storage as one worker sees it at one moment.
struct SimTarget<'a> {
    now_ns: u64,
    place: (u32, u32),
    outside: Outside<'a>,
    mailbox: &'a mut Mailbox,
}

impl Target for SimTarget<'_> {
    fn submit(&mut self, tag: u32, op: &Op) -> Result<(), TargetError> {
        let answer = self.outside.storage.arrive(self.now_ns, op);
        if let Some(seen) = &mut self.outside.seen {
            let (stream, lane) = self.place;
            seen.push(Seen { stream, lane, issued_ns: self.now_ns, op: *op, answer });
        }
        if answer.completed_ns != NEVER_NS {
            let number = self.mailbox.issued;
            self.mailbox.coming.push(Reverse((answer.completed_ns, number, tag, answer.result)));
            self.mailbox.issued += 1;
        }
        Ok(())
    }

    /// Does not wait: the loop around it moves the time.
    fn reap(&mut self, _wait: Wait, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        while self.mailbox.next_ns() <= self.now_ns {
            let Some(Reverse((.., tag, result))) = self.mailbox.coming.pop() else { break };
            done.push(Completion { tag, result });
        }
        Ok(())
    }

    fn buffer(&mut self, _tag: u32) -> Option<&mut [u8]> {
        None
    }
}
