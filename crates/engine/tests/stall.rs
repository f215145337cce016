//! The stall, once for real: a target that stops for 200 ms in two seconds of a constant rate,
//! driven by the engine's own loop on the host's clock. The exact answer is in the simulator
//! (`a_stall_shows_whole_in_the_response_time`); here everything is held against the stall's
//! measured length, because a busy machine adds delays of its own, and never takes any away.

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

/// Completes at once, but stands still for a while after the first operation that comes after
/// [`STALL_FROM`]. Keeps when each operation came and when it was let go: the witness.
struct Stalling {
    start: Instant,
    pending: Option<Completion>,
    held_until: Option<Instant>,
    submitted: Vec<Duration>,
    released: Vec<Duration>,
}

impl Target for Stalling {
    fn submit(&mut self, tag: u32, op: &Op) -> Result<(), TargetError> {
        let now = Instant::now();
        self.submitted.push(now - self.start);
        if now - self.start >= STALL_FROM && self.held_until.is_none() {
            self.held_until = Some(now + STALL);
        }
        self.pending = Some(Completion { tag, result: op.size_bytes as i32 });
        Ok(())
    }

    /// Looks again and again instead of sleeping, so that the stall ends when it should.
    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        let wait = match wait {
            Wait::Look => Duration::ZERO,
            Wait::Precise(wait) | Wait::Coarse(wait) => wait,
        };
        let until = Instant::now() + wait;
        loop {
            let now = Instant::now();
            if self.held_until.is_none_or(|held_until| now >= held_until)
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

/// Two seconds with the stall: the reads as measured, and the witness.
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
    let mut target = Stalling { start, pending: None, held_until: None, submitted, released };
    let clock = MonotonicClock::starting_at(start);
    let end = drive(&mut worker, &mut target, &clock, &Stop::new(), &Pulse::default());
    assert!(matches!(end, Ok(DriveEnd::Drained)));
    let reads = collected.take().kinds[OpKind::Read as usize].clone();
    (reads, target)
}

#[test]
fn a_real_stall_shows_whole_in_the_response_time_and_hardly_in_the_service_time() {
    let (reads, witness) = stalled();
    // A machine so busy that the last operations were not issued in time leaves them out.
    assert_eq!(reads.completed, witness.released.len() as u64);
    assert!(reads.completed >= 1500, "the schedule was kept but for the stall");
    let total = reads.response.total();
    let above = |time_ns: u64| {
        let bucket = metrics::histogram::bucket_of(time_ns);
        let counts = reads.response.buckets.iter().filter(|(b, _)| *b > bucket);
        counts.map(|(_, count)| count).sum::<u64>()
    };

    // The schedule goes on as if nothing had happened: nothing is due later, nothing leaves early.
    for (step, submitted) in (0..).zip(&witness.submitted) {
        let due_ns = constant_due_ns(RATE, 0, 1, step);
        assert!(submitted.as_nanos() as u64 >= due_ns, "operation {step} left before it was due");
    }

    // The stall alone: of the operations due in it, those due more than `t` before its end respond
    // after more than `t`.
    let pairs = witness.submitted.iter().zip(&witness.released);
    let length = pairs.map(|(from, to)| *to - *from).max().expect("operations ran");
    assert!(length >= STALL);
    let length_ns = length.as_nanos() as u64;
    for tenth in 1..10 {
        let time_ns = length_ns * tenth / 10;
        let expected = (length_ns - time_ns) as f64 / 1e9 * RATE;
        // A bucket's width and the operation at either end.
        let tolerance = 3.0 + time_ns as f64 / 1024.0 / 1e9 * RATE;
        let seen = above(time_ns) as f64;
        assert!(seen >= expected - tolerance, "{tenth}/10: {seen}, at least {expected}");
    }
    // p95 is half of the stall, since a tenth of all operations were due in it. The service times
    // have one slow operation.
    let p95_ns = |times: &metrics::histogram::Counts| times.percentile_ns(0.95).expect("counted");
    assert!(p95_ns(&reads.response) as f64 >= 0.97 * length_ns as f64 / 2.0);
    assert!(p95_ns(&reads.service) < length_ns / 10, "{}", p95_ns(&reads.service));

    // With what the machine added: the witness knows when each was let go.
    let mut responses: Vec<u64> = (0..)
        .zip(&witness.released)
        .map(|(step, released)| {
            (released.as_nanos() as u64).saturating_sub(constant_due_ns(RATE, 0, 1, step))
        })
        .collect();
    responses.sort_unstable();
    for fraction in [0.92, 0.95, 0.99] {
        let rank = (fraction * total as f64).ceil() as usize;
        let witnessed = responses[rank - 1] as f64;
        let seen = reads.response.percentile_ns(fraction).expect("counted") as f64;
        let off = (seen - witnessed) / witnessed;
        assert!((-0.001..0.05).contains(&off), "p{fraction}: {seen}, witnessed {witnessed}");
    }
}
