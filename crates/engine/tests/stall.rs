//! A real stall: a target that stalls for 200 ms in two seconds of a constant rate, driven by the
//! engine's own loop on the host's clock. The exact result is tested in the simulator
//! (`a_stall_is_fully_visible_in_the_response_time`); here everything is compared with the measured
//! length of the stall, because a busy machine adds delays, and never removes any.

#[expect(dead_code, reason = "other tests use the rest")]
mod runs;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use engine::clock::MonotonicClock;
use engine::drive::{DriveEnd, Stop, drive};
use engine::pulse::Pulse;
use engine::schedule::{ConstantInstants, Open};
use engine::steps::Steps;
use engine::worker::{Assigned, Handover, Plain, Worker};
use metrics::interval::{KindInterval, StreamInterval};
use metrics::recorder::Tally;
use runs::small_run;
use target::{Completion, Target, TargetError, Wait};
use workload::arrival::constant_due_ns;
use workload::op::{Op, OpKind, OpStream};

const RATE: f64 = 1000.0;
const END_NS: u64 = 2_000_000_000;
const STALL_FROM: Duration = Duration::from_secs(1);
const STALL: Duration = Duration::from_millis(200);

/// Completes operations immediately, but stalls once, at the first operation after [`STALL_FROM`].
/// Records when each operation was submitted and completed.
struct Stalling {
    start: Instant,
    pending: Option<Completion>,
    stalled_until: Option<Instant>,
    submitted: Vec<Duration>,
    released: Vec<Duration>,
}

impl Target for Stalling {
    fn submit(&mut self, tag: u32, op: &Op) -> Result<(), TargetError> {
        let now = Instant::now();
        self.submitted.push(now - self.start);
        if now - self.start >= STALL_FROM && self.stalled_until.is_none() {
            self.stalled_until = Some(now + STALL);
        }
        self.pending = Some(Completion { tag, result: op.size_bytes as i32 });
        Ok(())
    }

    /// Polls instead of sleeping, so that the stall ends in time.
    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        let wait = match wait {
            Wait::Poll => Duration::ZERO,
            Wait::Precise(wait) | Wait::Coarse(wait) => wait,
        };
        let until = Instant::now() + wait;
        loop {
            let now = Instant::now();
            if self.stalled_until.is_none_or(|stalled_until| now >= stalled_until)
                && let Some(completion) = self.pending.take()
            {
                self.released.push(now - self.start);
                done.push(completion);
                return Ok(());
            }
            if now >= until {
                return Ok(());
            }
            std::hint::spin_loop();
        }
    }

    fn buffer(&mut self, _tag: u32) -> Option<&mut [u8]> {
        None
    }
}

struct Collected(Rc<RefCell<StreamInterval>>);

impl Handover for Collected {
    fn empty(&mut self) -> Option<Box<Tally>> {
        Some(Box::default())
    }

    fn full(&mut self, mut tally: Box<Tally>, _end_ns: u64) {
        tally.drain_into(&mut self.0.borrow_mut());
    }
}

/// Two seconds with the stall: the measured reads, and the target with its records.
fn stalled() -> (KindInterval, Stalling) {
    let mut stream = small_run().streams.remove(0);
    stream.read_permille = 1000;
    let assigned = Assigned {
        lane: 0,
        queue_depth: 1,
        interval_ns: 250_000_000,
        end_ns: END_NS,
        operation_deadline_ns: 60_000_000_000,
    };
    let collected = Rc::new(RefCell::new(StreamInterval::default()));
    let schedule = Open::new(ConstantInstants::new(RATE, 0, 1));
    let ops = OpStream::new(&stream, 1);
    let handover = Collected(Rc::clone(&collected));
    let mut worker =
        Worker::new(assigned, ops, Steps::own(), schedule, Plain, handover, Box::default());
    let start = Instant::now();
    let (submitted, released) = (Vec::with_capacity(4000), Vec::with_capacity(4000));
    let mut target = Stalling { start, pending: None, stalled_until: None, submitted, released };
    let clock = MonotonicClock::starting_at(start);
    let end = drive(&mut worker, &mut target, &clock, &Stop::new(), &Pulse::default());
    assert!(matches!(end, Ok(DriveEnd::Drained)));
    let reads = collected.take().kinds[OpKind::Read as usize].clone();
    (reads, target)
}

#[test]
fn a_real_stall_is_fully_visible_in_the_response_time_but_hardly_in_the_service_time() {
    let (reads, target) = stalled();
    // On a very busy machine the last operations are not issued in time and missing.
    assert_eq!(reads.completed, target.released.len() as u64);
    assert!(reads.completed >= 1500, "the schedule was kept except for the stall");
    let total = reads.response.total();
    let above = |time_ns: u64| {
        let bucket = metrics::histogram::bucket_of(time_ns);
        let counts = reads.response.buckets.iter().filter(|(b, _)| *b > bucket);
        counts.map(|(_, count)| count).sum::<u64>()
    };

    // The stall does not change the schedule: nothing is due later or issued early.
    for (step, submitted) in (0..).zip(&target.submitted) {
        let due_ns = constant_due_ns(RATE, 0, 1, step);
        assert!(
            submitted.as_nanos() as u64 >= due_ns,
            "operation {step} was issued before it was due"
        );
    }

    // The stall alone: operations due more than `t` before its end respond after more than `t`.
    let pairs = target.submitted.iter().zip(&target.released);
    let length = pairs.map(|(from, to)| *to - *from).max().expect("operations ran");
    assert!(length >= STALL);
    let length_ns = length.as_nanos() as u64;
    for tenth in 1..10 {
        let time_ns = length_ns * tenth / 10;
        let expected = (length_ns - time_ns) as f64 / 1e9 * RATE;
        // The width of a bucket and the operation at either end.
        let tolerance = 3.0 + time_ns as f64 / 1024.0 / 1e9 * RATE;
        let seen = above(time_ns) as f64;
        assert!(seen >= expected - tolerance, "{tenth}/10: {seen}, at least {expected}");
    }
    // p95 is half of the stall, because a tenth of all operations were due in it. The service times
    // contain one slow operation.
    let p95_ns = |times: &metrics::histogram::Counts| times.percentile_ns(0.95).expect("counted");
    assert!(p95_ns(&reads.response) as f64 >= 0.97 * length_ns as f64 / 2.0);
    assert!(p95_ns(&reads.service) < length_ns / 10, "{}", p95_ns(&reads.service));

    // With the delays of the machine: the target recorded every completion.
    let mut responses: Vec<u64> = (0..)
        .zip(&target.released)
        .map(|(step, released)| {
            (released.as_nanos() as u64).saturating_sub(constant_due_ns(RATE, 0, 1, step))
        })
        .collect();
    responses.sort_unstable();
    for fraction in [0.92, 0.95, 0.99] {
        let rank = (fraction * total as f64).ceil() as usize;
        let recorded = responses[rank - 1] as f64;
        let seen = reads.response.percentile_ns(fraction).expect("counted") as f64;
        let off = (seen - recorded) / recorded;
        assert!((-0.001..0.05).contains(&off), "p{fraction}: {seen}, recorded {recorded}");
    }
}
