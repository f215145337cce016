//! The same seed gives the same bytes, and the simulated loop does the same as the engine's.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use engine::clock::Clock;
use engine::drive::{DriveEnd, Stop, drive};
use engine::pulse::Pulse;
use engine::schedule::{Closed, ConstantInstants, Open, Schedule, Thinking};
use engine::steps::Steps;
use engine::worker::{Assigned, DataPath, Handover, Plain, Worker};
use metrics::interval::StreamInterval;
use metrics::recorder::Tally;
use sim::storage::{Demand, Effect, Fault, Model, Storage};
use sim::world::simulate_observed;
use target::{Completion, Target, TargetError, Wait};
use workload::arrival::Arrival;
use workload::op::{Op, OpStream};
use workload::outcome::ErrorKind;
use workload::plan::{Run, Stream};

use crate::runs::{CLOSED, MS, S, constant, poisson, run, stream};

#[test]
fn only_the_same_seed_gives_the_same_bytes() {
    let reader = Stream { workers: 4, ..stream(poisson(4000.0), 8) };
    let writer = Stream { name: "log".into(), read_permille: 0, ..stream(CLOSED, 2) };
    let run = run(vec![reader, writer], 5 * S, S);
    let fault = Fault {
        from_ns: S,
        until_ns: 2 * S,
        kind: None,
        probability: 0.1,
        effect: Effect::Error { errno: 5 },
    };
    let queue = Model::queue(4, Demand::Exponential { mean_ns: 5e5 });
    let model = Model { faults: vec![fault], ..queue };
    let one = simulate_observed(&run, &model, 1);
    let same = simulate_observed(&run, &model, 1);
    assert!(one == same);
    assert_eq!(format!("{one:?}"), format!("{same:?}"));
    let other = simulate_observed(&run, &model, 2);
    assert!(one.record.intervals != other.record.intervals);
    let other_run = Run { seed: 43, ..run };
    let other = simulate_observed(&other_run, &model, 1);
    assert!(one.seen != other.seen);
}

/// One worker driven by the engine's own loop, with a clock advanced by its target.
struct Stepped {
    now_ns: Rc<Cell<u64>>,
    storage: Storage,
    /// `(completed, tag, result)`.
    coming: Vec<(u64, Completion)>,
}

/// Duration of a poll that finds nothing; all times in the tests below are multiples of it.
const LOOK_NS: u64 = 1000;

impl Target for Stepped {
    fn submit(&mut self, tag: u32, op: &Op) -> Result<(), TargetError> {
        let answer = self.storage.arrive(self.now_ns.get(), op);
        self.coming.push((answer.completed_ns, Completion { tag, result: answer.result }));
        Ok(())
    }

    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        let until_ns = self.now_ns.get()
            + match wait {
                Wait::Poll => LOOK_NS,
                Wait::Precise(time) | Wait::Coarse(time) => time.as_nanos() as u64,
            };
        let first_ns = self.coming.iter().map(|(at_ns, _)| *at_ns).min().unwrap_or(u64::MAX);
        self.now_ns.set(until_ns.min(first_ns));
        self.coming.sort_by_key(|(at_ns, _)| *at_ns);
        while self.coming.first().is_some_and(|(at_ns, _)| *at_ns <= self.now_ns.get()) {
            done.push(self.coming.remove(0).1);
        }
        Ok(())
    }

    fn buffer(&mut self, _tag: u32) -> Option<&mut [u8]> {
        None
    }

    fn batch(&self) -> usize {
        3
    }
}

/// Data that takes no time: workers use the data path and measure the same.
struct InNoTime;

impl DataPath for InNoTime {
    const TAKES_TIME: bool = true;

    fn before(&mut self, _tag: u32, _op: &Op, _target: &mut impl Target) {}

    fn after(&mut self, _: u32, _: &Op, _: &mut impl Target) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn failed(&mut self, _tag: u32, _op: &Op) {}

    fn took_time(&mut self) -> bool {
        true
    }
}

struct SteppedClock(Rc<Cell<u64>>);

impl Clock for SteppedClock {
    fn now_ns(&self) -> u64 {
        self.0.get()
    }
}

struct Collected(Rc<RefCell<Vec<StreamInterval>>>);

impl Handover for Collected {
    fn empty(&mut self) -> Option<Box<Tally>> {
        Some(Box::default())
    }

    fn full(&mut self, mut tally: Box<Tally>, _end_ns: u64) {
        let mut interval = StreamInterval::default();
        tally.drain_into(&mut interval);
        self.0.borrow_mut().push(interval);
    }
}

fn driven<S: Schedule, D: DataPath>(
    run: &Run,
    model: &Model,
    seed: u64,
    (schedule, data): (S, D),
) -> Vec<StreamInterval> {
    let stream = &run.streams[0];
    let assigned = Assigned {
        lane: 0,
        queue_depth: stream.queue_depth,
        interval_ns: run.phases.interval_ns,
        end_ns: run.phases.total_ns(),
        operation_deadline_ns: run.operation_deadline_ns,
    };
    let collected = Rc::new(RefCell::new(Vec::new()));
    let handover = Collected(Rc::clone(&collected));
    let ops = OpStream::new(stream, run.seed);
    let mut worker =
        Worker::new(assigned, ops, Steps::own(), schedule, data, handover, Box::default());
    let now_ns = Rc::new(Cell::new(0));
    let storage = Storage::new(model.clone(), seed);
    let mut target = Stepped { now_ns: Rc::clone(&now_ns), storage, coming: Vec::new() };
    let clock = SteppedClock(now_ns);
    let end = drive(&mut worker, &mut target, &clock, &Stop::new(), &Pulse::default()).unwrap();
    assert!(matches!(end, DriveEnd::Drained));
    collected.take()
}

#[track_caller]
fn assert_same<S: Schedule>(arrival: Arrival, model: &Model, schedule: impl Fn() -> S) {
    let run = run(vec![stream(arrival, 4)], 5 * S_, S_);
    let simulated = simulate_observed(&run, model, 7);
    let ours: Vec<StreamInterval> =
        simulated.record.intervals.iter().map(|i| i.streams[0].clone()).collect();
    assert!(ours.iter().map(|i| i.completed()).sum::<u64>() > 1000);
    assert_eq!(ours, driven(&run, model, 7, (schedule(), Plain)));
    assert_eq!(ours, driven(&run, model, 7, (schedule(), InNoTime)));
}

/// A second; the type parameters above are also called `S`.
const S_: u64 = S;

#[test]
fn the_engines_loop_and_the_simulated_one_measure_the_same() {
    let exponential = Model::queue(2, Demand::Exponential { mean_ns: 1e6 });
    assert_same(CLOSED, &exponential, || Closed);
    let think_time_ns = 2 * MS;
    let thinking = || Thinking::new(0, think_time_ns, 4);
    assert_same(Arrival::Closed { think_time_ns }, &exponential, thinking);
    // 1,000 per second, 3 ms each: multiples of a poll, with a temporary backlog.
    let fault = Fault {
        from_ns: S,
        until_ns: 2 * S,
        kind: None,
        probability: 0.5,
        effect: Effect::Slow { factor: 3.0 },
    };
    let slow = Model { faults: vec![fault], ..Model::fixed(3 * MS) };
    assert_same(constant(1000.0), &slow, || Open::new(ConstantInstants::new(1000.0, 0, 1)));
}
