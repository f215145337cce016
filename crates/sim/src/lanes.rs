//! Workers in virtual time: the engine's own workers, executed in turn in one thread with any
//! target, and their results as the intervals of a host.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use engine::lane_window::LaneWindow;
use engine::operations::{NameOperations, Operations, UserOperations};
use engine::schedule::{
    Closed, ConstantInstants, Open, PoissonInstants, RandomThinking, Schedule, ScheduledInstants,
    Thinking,
};
use engine::slots::Slot;
use engine::steps::Steps;
use engine::tiles::{Mismatch, Tiles};
use engine::users::{UserSchedule, UserShare};
use engine::worker::{Assigned, DataPath, Handover, Plain, Worker};
use metrics::connection::ConnectionInterval;
use metrics::interval::{Interval, StreamInterval, WorkerInterval};
use metrics::recorder::Tally;
use target::{Completion, Target, TargetError, Wait};
use workload::arrival::Arrival;
use workload::connection::ConnectionCounters;
use workload::names::NameStream;
use workload::op::{Op, OpStream};
use workload::outcome::ErrorKind;
use workload::plan::{Run, Stream};

/// How long outstanding operations may still take after the run was abandoned, as in the engine.
const GRACE_NS: u64 = 1_000_000_000;

/// An operation that was abandoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbandonedOperation {
    /// Index of the stream.
    pub stream: u32,
    /// The worker's lane.
    pub lane: u32,
    /// When it was issued, in nanoseconds from the run's start.
    pub issued_ns: u64,
    /// The operation.
    pub op: Op,
}

/// The result of a worker's turn.
pub(crate) enum Next {
    /// It must be woken at this time.
    At(u64),
    /// It has ended.
    Ended,
    /// It has stopped because operations exceeded their deadline; the oldest of them.
    Overdue(Vec<AbandonedOperation>),
    /// It has stopped because operations did not complete after the run was abandoned; the oldest.
    Abandoned(Vec<AbandonedOperation>),
}

/// A worker with any schedule and data path.
pub(crate) trait Lane {
    /// One turn of the loop in `engine::drive`, with a target that is at `now_ns` and does not
    /// wait.
    fn turn(&mut self, now_ns: u64, stopped_ns: Option<u64>, target: &mut dyn Target) -> Next;
    /// Its stream and lane.
    fn id(&self) -> (u32, u32);
    /// Operations that failed in the intervals that it has handed over.
    fn failed(&self) -> u64;
    /// Its intervals and mismatches.
    fn end(self: Box<Self>) -> Ended;
}

/// The results of a worker.
pub(crate) struct Ended {
    pub(crate) id: (u32, u32),
    pub(crate) parts: Vec<Part>,
    pub(crate) mismatches: Vec<Mismatch>,
}

/// The mismatches found by a worker's data path.
pub(crate) trait Findings: DataPath {
    fn mismatches(self) -> Vec<Mismatch>;
}

impl Findings for Plain {
    fn mismatches(self) -> Vec<Mismatch> {
        Vec::new()
    }
}

impl Findings for Tiles {
    fn mismatches(self) -> Vec<Mismatch> {
        self.into_mismatches()
    }
}

/// A lane for each worker of a run, in the order of streams; `data` creates the data path of a
/// worker of a stream.
pub(crate) fn lanes<D: Findings + 'static>(
    run: &Run,
    data: impl Fn(usize, &Stream) -> D,
) -> Vec<Box<dyn Lane>> {
    let mut lanes: Vec<Box<dyn Lane>> = Vec::new();
    for (index, stream) in run.streams.iter().enumerate() {
        let names = NameStream::new(stream, run.seed, run.seed).map(Arc::new);
        let ops = OpStream::new(stream, run.seed);
        for lane in 0..stream.workers {
            let id = (index as u32, lane);
            let assigned = Assigned {
                lane,
                queue_depth: stream.queue_depth,
                interval_ns: run.phases.interval_ns,
                end_ns: stream.active.range_ns(&run.phases).end,
                operation_deadline_ns: run.operation_deadline_ns,
            };
            let data = data(index, stream);
            let seed = stream.seed(run.seed);
            let kinds = stream.kinds();
            let tally = || Box::new(Tally::for_kinds(&kinds, 0, u64::MAX));
            lanes.push(match &names {
                Some(names) if stream.arrival.users().is_some() => {
                    let share = UserShare { first: lane, distance: stream.workers };
                    let schedule = UserSchedule::new(stream, seed, share, assigned.end_ns);
                    let ops = UserOperations::new(Arc::clone(names));
                    let tally = || Box::new(tally().with_users());
                    SimLane::boxed(id, assigned, ops, schedule, data, tally)
                }
                Some(names) => {
                    let window = u32::try_from(names.window_steps()).unwrap_or(u32::MAX);
                    let window = Arc::new(LaneWindow::new(window));
                    let ops = NameOperations::new(Arc::clone(names), window);
                    with_schedule(stream, seed, id, assigned, ops, data, tally)
                }
                None => with_schedule(stream, seed, id, assigned, ops.clone(), data, Box::default),
            });
        }
    }
    lanes
}

/// A lane whose operations become due as the stream's arrivals determine.
fn with_schedule<D: Findings + 'static, O: Operations + 'static>(
    stream: &Stream,
    seed: u64,
    id: (u32, u32),
    assigned: Assigned,
    ops: O,
    data: D,
    tally: impl Fn() -> Box<Tally>,
) -> Box<dyn Lane> {
    let (lane, workers, depth) = (id.1, stream.workers, stream.queue_depth);
    let start_ns = stream.active.start_ns;
    match stream.arrival.clone() {
        Arrival::Closed { think_time_ns: 0 } if start_ns == 0 => {
            SimLane::boxed(id, assigned, ops, Closed, data, tally)
        }
        Arrival::Closed { think_time_ns } => {
            let thinking = Thinking::new(start_ns, think_time_ns, depth);
            SimLane::boxed(id, assigned, ops, thinking, data, tally)
        }
        Arrival::Constant { offered_rate } => {
            let instants = ConstantInstants::new(offered_rate, lane, workers);
            let schedule = Open::new(instants.starting_at(start_ns));
            SimLane::boxed(id, assigned, ops, schedule, data, tally)
        }
        Arrival::Poisson { offered_rate } => {
            let instants = PoissonInstants::new(seed, offered_rate, lane, workers);
            let schedule = Open::new(instants.starting_at(start_ns));
            SimLane::boxed(id, assigned, ops, schedule, data, tally)
        }
        Arrival::Thinking { think_time } => {
            let thinking = RandomThinking::new(think_time, seed, (lane, 0), start_ns, depth);
            SimLane::boxed(id, assigned, ops, thinking, data, tally)
        }
        Arrival::Users(_) => unreachable!("users have operations on names"),
        Arrival::Scheduled { schedule, process, part } => {
            let instants = ScheduledInstants::new(schedule, process, part, seed, (lane, workers));
            let schedule = Open::new(instants.starting_at(start_ns));
            SimLane::boxed(id, assigned, ops, schedule, data, tally)
        }
    }
}

/// Combines the workers' parts into the intervals of the host, like the engine's collector.
pub(crate) fn intervals(run: &Run, ended: Vec<((u32, u32), Vec<Part>)>) -> Vec<Interval> {
    let count = ended.iter().map(|(_, parts)| parts.len()).max().unwrap_or(0);
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
    for ((stream, lane), parts) in ended {
        for interval in &mut intervals {
            interval.workers.push(WorkerInterval { stream, lane, cpu_ns: 0 });
        }
        let backlog = parts.last().map_or(0, |part| part.counted.backlog_end);
        for interval in intervals.iter_mut().skip(parts.len()) {
            // Other workers still wait for outstanding operations; this one's backlog remains.
            interval.streams[stream as usize].backlog_end += backlog;
        }
        let mut before: Vec<ConnectionCounters> = Vec::new();
        for (interval, part) in intervals.iter_mut().zip(parts) {
            interval.end_ns = interval.end_ns.max(part.end_ns);
            interval.streams[stream as usize].merge(&part.counted);
            let interval_ns = part.end_ns.saturating_sub(interval.start_ns);
            for (number, after) in part.connections.iter().enumerate() {
                interval.connections.push(ConnectionInterval {
                    stream,
                    lane,
                    number: number as u32,
                    ..ConnectionInterval::between(before.get(number), after, interval_ns)
                });
            }
            before = part.connections;
        }
    }
    for stream in intervals.iter().flat_map(|interval| &interval.streams) {
        assert!(stream.is_balanced(), "issued = completed + failed + outstanding: {stream:?}");
    }
    intervals
}

struct SimLane<S, D, O> {
    id: (u32, u32),
    worker: Worker<S, D, SimHandover, O>,
    done: Vec<Completion>,
    parts: Rc<RefCell<Vec<Part>>>,
}

impl<S: Schedule + 'static, D: Findings + 'static, O: Operations + 'static> SimLane<S, D, O> {
    fn boxed(
        id: (u32, u32),
        assigned: Assigned,
        ops: O,
        schedule: S,
        data: D,
        tally: impl Fn() -> Box<Tally>,
    ) -> Box<dyn Lane> {
        let parts = Rc::new(RefCell::new(Vec::new()));
        let spare = Some(tally());
        let handover = SimHandover { spare, parts: Rc::clone(&parts) };
        let done = Vec::with_capacity(assigned.queue_depth as usize);
        let worker = Worker::new(assigned, ops, Steps::own(), schedule, data, handover, tally());
        Box::new(SimLane { id, worker, done, parts })
    }
}

impl<S: Schedule, D: Findings, O: Operations> Lane for SimLane<S, D, O> {
    fn turn(&mut self, now_ns: u64, stopped_ns: Option<u64>, target: &mut dyn Target) -> Next {
        let target = &mut Through(target);
        target.reap(Wait::Poll, &mut self.done).expect("a simulated target is never lost");
        self.worker.complete(now_ns, &mut self.done, target);
        if let Some(stopped_ns) = stopped_ns {
            self.worker.end_at(stopped_ns);
        }
        let abandon_ns = stopped_ns.map_or(u64::MAX, |stopped_ns| stopped_ns + GRACE_NS);
        let is_overdue = self.worker.is_overdue(now_ns);
        if is_overdue || now_ns >= abandon_ns {
            let reason = if is_overdue { ErrorKind::Deadline } else { ErrorKind::Abandoned };
            let oldest = self.worker.abandon_overdue(now_ns, reason);
            self.worker.close(now_ns, target);
            let (stream, lane) = self.id;
            let abandoned =
                |Slot { issued_ns, op, .. }| AbandonedOperation { stream, lane, issued_ns, op };
            let end = if is_overdue { Next::Overdue } else { Next::Abandoned };
            return end(oldest.into_iter().map(abandoned).collect());
        }
        loop {
            // Generating and verifying data takes no virtual time.
            self.worker.prepare(now_ns, target);
            if !self.worker.issue(now_ns, target).expect("a simulated target is never lost") {
                break;
            }
        }
        if self.worker.is_finished(now_ns) {
            self.worker.close(now_ns, target);
            return Next::Ended;
        }
        Next::At(self.worker.wake_ns(now_ns).min(abandon_ns))
    }

    fn id(&self) -> (u32, u32) {
        self.id
    }

    fn failed(&self) -> u64 {
        self.parts.borrow().iter().map(|part| part.counted.failed()).sum()
    }

    fn end(self: Box<Self>) -> Ended {
        let mismatches = self.worker.into_parts().0.mismatches();
        Ended { id: self.id, parts: self.parts.take(), mismatches }
    }
}

/// A sized wrapper, because a worker takes a target of a known type.
struct Through<'a>(&'a mut dyn Target);

impl Target for Through<'_> {
    fn submit(&mut self, tag: u32, op: &Op) -> Result<(), TargetError> {
        self.0.submit(tag, op)
    }

    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        self.0.reap(wait, done)
    }

    fn buffer(&mut self, tag: u32) -> Option<&mut [u8]> {
        self.0.buffer(tag)
    }

    fn batch(&self) -> usize {
        self.0.batch()
    }

    fn connections(&mut self) -> &[ConnectionCounters] {
        self.0.connections()
    }
}

/// What a worker counted in an interval.
pub(crate) struct Part {
    end_ns: u64,
    counted: StreamInterval,
    connections: Vec<ConnectionCounters>,
}

/// Reads a full tally immediately, so that one spare is enough.
struct SimHandover {
    spare: Option<Box<Tally>>,
    parts: Rc<RefCell<Vec<Part>>>,
}

impl Handover for SimHandover {
    fn empty(&mut self) -> Option<Box<Tally>> {
        self.spare.take()
    }

    fn full(&mut self, mut tally: Box<Tally>, end_ns: u64) {
        let mut parts = self.parts.borrow_mut();
        assert_eq!(tally.index as usize, parts.len(), "tallies arrive in order");
        let mut counted = StreamInterval::default();
        tally.drain_into(&mut counted);
        parts.push(Part { end_ns, counted, connections: tally.connections().to_vec() });
        self.spare = Some(tally);
    }
}
