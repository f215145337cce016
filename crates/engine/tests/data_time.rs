//! Generating and verifying data is the generator's time. It delays operations, so it is part of
//! the schedule delay and of the response time, but never of the service time. All tests use
//! virtual time, in which data takes a fixed time.

mod collected;
#[expect(dead_code, reason = "other tests use the rest")]
mod runs;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use collected::Collected;
use engine::clock::Clock;
use engine::drive::{DriveEnd, Stop, drive};
use engine::pulse::Pulse;
use engine::schedule::{Closed, ConstantInstants, Open, Schedule, Thinking};
use engine::steps::Steps;
use engine::worker::{Assigned, DataPath, Worker};
use metrics::interval::{KindInterval, StreamInterval};
use runs::small_run;
use target::{Completion, Target, TargetError, Wait};
use workload::op::{Op, OpKind, OpStream};
use workload::outcome::ErrorKind;

/// From submission to completion of every operation.
const SERVICE_NS: u64 = 700_000;
/// Generating the data of a write.
const MAKE_NS: u64 = 30_000;
/// Verifying the data of a read.
const CHECK_NS: u64 = 50_000;
/// No multiple of the times above, so that boundaries occur anywhere, even while data is generated.
const INTERVAL_NS: u64 = 10_007_013;
const END_NS: u64 = 40 * INTERVAL_NS;

/// A clock that advances only when something takes time.
#[derive(Clone, Default)]
struct Virtual(Rc<Cell<u64>>);

impl Virtual {
    fn pass(&self, time_ns: u64) {
        self.0.set(self.0.get() + time_ns);
    }
}

impl Clock for Virtual {
    fn now_ns(&self) -> u64 {
        self.0.get()
    }
}

/// Completes every operation [`SERVICE_NS`] after its submission.
struct Delay {
    clock: Virtual,
    batch: usize,
    /// In the order of submission, which is also that of completion.
    coming: Vec<(u64, Completion)>,
    most_outstanding: usize,
}

impl Target for Delay {
    fn submit(&mut self, tag: u32, op: &Op) -> Result<(), TargetError> {
        let completion = Completion { tag, result: op.size_bytes as i32 };
        self.coming.push((self.clock.now_ns() + SERVICE_NS, completion));
        self.most_outstanding = self.most_outstanding.max(self.coming.len());
        Ok(())
    }

    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        let waits_until_ns = match wait {
            // Polling takes time too.
            Wait::Poll => self.clock.now_ns() + 1,
            Wait::Precise(time) | Wait::Coarse(time) => {
                self.clock.now_ns() + time.as_nanos() as u64
            }
        };
        let first_ns = self.coming.first().map_or(u64::MAX, |(at_ns, _)| *at_ns);
        self.clock.0.set(self.clock.now_ns().max(waits_until_ns.min(first_ns)));
        let due = self.coming.iter().take_while(|(at_ns, _)| *at_ns <= self.clock.now_ns());
        let due = due.count();
        done.extend(self.coming.drain(..due).map(|(_, completion)| completion));
        Ok(())
    }

    fn buffer(&mut self, _tag: u32) -> Option<&mut [u8]> {
        None
    }

    fn batch(&self) -> usize {
        self.batch
    }
}

/// Generates data for [`MAKE_NS`] before each write and verifies it for [`CHECK_NS`] after each
/// read.
struct SlowData {
    clock: Virtual,
    took_time: bool,
}

impl DataPath for SlowData {
    const TAKES_TIME: bool = true;

    fn before(&mut self, _tag: u32, op: &Op, _target: &mut impl Target) {
        if op.kind == OpKind::Write {
            self.clock.pass(MAKE_NS);
            self.took_time = true;
        }
    }

    fn after(&mut self, _: u32, op: &Op, _: &mut impl Target) -> Result<(), ErrorKind> {
        if op.kind == OpKind::Read {
            self.clock.pass(CHECK_NS);
            self.took_time = true;
        }
        Ok(())
    }

    fn failed(&mut self, _tag: u32, _op: &Op) {}

    fn took_time(&mut self) -> bool {
        std::mem::take(&mut self.took_time)
    }
}

/// The measurement, by interval and in total.
struct Measured {
    intervals: Vec<StreamInterval>,
    sum: StreamInterval,
}

impl Measured {
    fn of(&self, kind: OpKind) -> &KindInterval {
        &self.sum.kinds[kind as usize]
    }

    /// Both forms of Little's law, exact to the nanosecond; every operation completed.
    #[track_caller]
    fn assert_balanced(&self) {
        assert!(self.intervals.iter().all(StreamInterval::is_balanced));
        let kinds = || self.sum.kinds.iter();
        let service_ns: u128 = kinds().map(|kind| kind.service.sum_ns).sum();
        let response_ns: u128 = kinds().map(|kind| kind.response.sum_ns).sum();
        assert_eq!(self.sum.outstanding_time_ns, service_ns);
        assert_eq!(self.sum.outstanding_time_ns + self.sum.backlog_time_ns, response_ns);
    }
}

fn measured<S: Schedule>(read_permille: u16, queue_depth: u32, schedule: S) -> Measured {
    measured_in_batches(read_permille, queue_depth, usize::MAX, schedule)
}

fn measured_in_batches<S: Schedule>(
    read_permille: u16,
    queue_depth: u32,
    batch: usize,
    schedule: S,
) -> Measured {
    let mut stream = small_run().streams.remove(0);
    stream.read_permille = read_permille;
    let assigned = Assigned {
        lane: 0,
        queue_depth,
        interval_ns: INTERVAL_NS,
        end_ns: END_NS,
        operation_deadline_ns: 60_000_000_000,
    };
    let collected = Rc::new(RefCell::new(Vec::new()));
    let handover = Collected(Rc::clone(&collected));
    let clock = Virtual::default();
    let data = SlowData { clock: clock.clone(), took_time: false };
    let ops = OpStream::new(&stream, 1);
    let mut worker =
        Worker::new(assigned, ops, Steps::own(), schedule, data, handover, Box::default());
    let mut target = Delay { clock: clock.clone(), batch, coming: Vec::new(), most_outstanding: 0 };
    let end = drive(&mut worker, &mut target, &clock, &Stop::new(), &Pulse::default());
    assert!(matches!(end, Ok(DriveEnd::Drained)));
    assert_eq!(target.most_outstanding, queue_depth as usize);
    let intervals = collected.take();
    let mut sum = StreamInterval::default();
    intervals.iter().for_each(|interval| sum.merge(interval));
    // Gauges cannot be added; those of the last interval show that nothing is left.
    let last = intervals.last().expect("there are intervals");
    assert_eq!((last.outstanding_end, last.backlog_end), (0, 0));
    Measured { intervals, sum }
}

#[test]
fn a_write_waits_for_its_data_before_it_is_issued_but_not_after() {
    let measured = measured(0, 1, Closed);
    let writes = measured.of(OpKind::Write);
    assert!(writes.completed > 500);
    assert_eq!((writes.service.min_ns, writes.service.max_ns), (SERVICE_NS, SERVICE_NS));
    let response_ns = SERVICE_NS + MAKE_NS;
    assert_eq!((writes.response.min_ns, writes.response.max_ns), (response_ns, response_ns));
    measured.assert_balanced();
}

#[test]
fn no_write_of_a_batch_is_served_while_the_data_of_another_is_generated() {
    let measured = measured(0, 8, Closed);
    let writes = measured.of(OpKind::Write);
    assert!(writes.completed > 3000);
    assert_eq!((writes.service.min_ns, writes.service.max_ns), (SERVICE_NS, SERVICE_NS));
    let response_ns = SERVICE_NS + 8 * MAKE_NS;
    assert_eq!((writes.response.min_ns, writes.response.max_ns), (response_ns, response_ns));
    measured.assert_balanced();
    // Sometimes an interval ends while the data of the batch is generated: then its operations are
    // due but not issued.
    let edges = || measured.intervals.iter().map(|interval| interval.backlog_end);
    assert!(edges().any(|backlog| backlog == 8));
    assert!(edges().all(|backlog| backlog == 0 || backlog == 8));
}

#[test]
fn a_target_with_batches_gets_the_first_before_the_data_of_the_second_is_generated() {
    let measured = measured_in_batches(0, 8, 4, Closed);
    let writes = measured.of(OpKind::Write);
    assert_eq!((writes.service.min_ns, writes.service.max_ns), (SERVICE_NS, SERVICE_NS));
    // At the start eight are due together, and the second four also wait for the data of the first
    // four. After that four complete while the others are outstanding.
    let response_ns = SERVICE_NS + 4 * MAKE_NS;
    assert_eq!(writes.response.min_ns, response_ns);
    assert_eq!(writes.response.max_ns, response_ns + 4 * MAKE_NS);
    let (_, later) = writes.response.buckets.last().expect("writes were counted");
    assert_eq!(*later, 4);
    measured.assert_balanced();
}

#[test]
fn think_time_ends_when_the_data_of_the_next_write_begins() {
    let measured = measured(0, 1, Thinking::new(0, 200_000, 1));
    let writes = measured.of(OpKind::Write);
    assert!(writes.completed > 400);
    assert_eq!((writes.service.min_ns, writes.service.max_ns), (SERVICE_NS, SERVICE_NS));
    let response_ns = SERVICE_NS + MAKE_NS;
    assert_eq!((writes.response.min_ns, writes.response.max_ns), (response_ns, response_ns));
    measured.assert_balanced();
}

#[test]
fn on_a_sustainable_schedule_the_delay_is_the_generation_of_data() {
    // One write per millisecond, which takes 0.73 ms with its data.
    let measured = measured(0, 1, Open::new(ConstantInstants::new(1000.0, 0, 1)));
    let writes = measured.of(OpKind::Write);
    assert!(writes.completed >= 400);
    assert_eq!((writes.service.min_ns, writes.service.max_ns), (SERVICE_NS, SERVICE_NS));
    // Due instants are met to the nanosecond, the duration of a poll.
    let delays_ns = MAKE_NS..=MAKE_NS + 1;
    assert!(delays_ns.contains(&(writes.response.min_ns - SERVICE_NS)), "{writes:?}");
    assert!(delays_ns.contains(&(writes.response.max_ns - SERVICE_NS)), "{writes:?}");
    measured.assert_balanced();
}

#[test]
fn verified_reads_delay_later_ones_but_take_no_longer() {
    let measured = measured(1000, 4, Closed);
    let reads = measured.of(OpKind::Read);
    assert!(reads.completed > 1500);
    assert_eq!((reads.service.min_ns, reads.service.max_ns), (SERVICE_NS, SERVICE_NS));
    // Nothing was verified before the first four.
    assert_eq!(
        (reads.response.min_ns, reads.response.max_ns),
        (SERVICE_NS, SERVICE_NS + 4 * CHECK_NS)
    );
    let undelayed = reads.response.buckets.first().expect("reads were counted").1;
    assert_eq!(undelayed, 4);
    measured.assert_balanced();
}
