//! The loop that drives one worker on a real clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use target::{Completion, Target, TargetError, Wait};
use workload::outcome::ErrorKind;

use crate::clock::Clock;
use crate::pulse::Pulse;
use crate::schedule::Schedule;
use crate::slots::Slot;
use crate::worker::{DataPath, Handover, Worker};

/// An open schedule is awaited by looking again and again over this last stretch before a due
/// instant: a sleeping thread wakes tens of microseconds late, which would be recorded as schedule
/// delay that the target did not cause.
const SPIN_NS: u64 = 100_000;

/// The wish to end a run, set from outside its workers.
#[derive(Debug, Default)]
pub struct Stop {
    level: AtomicU8,
    above: Option<Arc<Stop>>,
    /// Where the run ends by a wish to finish the interval, in nanoseconds from its start plus one;
    /// 0 until it is fixed.
    end_ns_plus_one: AtomicU64,
}

impl Stop {
    /// No wish.
    pub const fn new() -> Stop {
        Stop { level: AtomicU8::new(0), above: None, end_ns_plus_one: AtomicU64::new(0) }
    }

    /// No wish of its own, but heeds those of `above`: ending one run does not end the plan, ending
    /// the plan ends the run.
    pub const fn below(above: Arc<Stop>) -> Stop {
        Stop { level: AtomicU8::new(0), above: Some(above), end_ns_plus_one: AtomicU64::new(0) }
    }

    /// Finish the interval, then end.
    pub fn finish_interval(&self) {
        self.level.fetch_max(1, Ordering::Relaxed);
    }

    /// End at once; what is outstanding still comes back.
    pub fn now(&self) {
        self.level.fetch_max(2, Ordering::Relaxed);
    }

    /// Whether an end is wished for.
    pub fn is_requested(&self) -> bool {
        self.level() > 0
    }

    /// Whether the end is wished for at once.
    pub fn is_now(&self) -> bool {
        self.level() > 1
    }

    /// Fixes the edge at which all workers of a run end together, once.
    pub(crate) fn fix_end(&self, end_ns: u64) {
        let keep = |now| if now == 0 { Some(end_ns + 1) } else { None };
        // An end that is fixed already stays: the closure then says `None`, which is no failure.
        let _ = self.end_ns_plus_one.fetch_update(Ordering::Relaxed, Ordering::Relaxed, keep);
    }

    /// The edge at which the run ends, once it is fixed.
    pub(crate) fn end_ns(&self) -> Option<u64> {
        self.end_ns_plus_one.load(Ordering::Relaxed).checked_sub(1)
    }

    fn level(&self) -> u8 {
        let above = self.above.as_ref().map_or(0, |above| above.level());
        self.level.load(Ordering::Relaxed).max(above)
    }
}

/// Longest wait: a loop that goes around at least this often is alive.
const WAIT_MAX_NS: u64 = 500_000_000;
/// How long what is outstanding may take to come back once the end was wished for at once.
pub(crate) const STOP_NOW_GRACE_NS: u64 = 1_000_000_000;

/// How a worker's loop ended.
#[derive(Debug)]
pub enum DriveEnd {
    /// Everything that was issued came back.
    Drained,
    /// Operations were outstanding longer than their deadline; the oldest of them.
    Overdue(Vec<Slot>),
    /// Operations had not come back a while after the end was wished for at once; the oldest of
    /// them.
    LeftBehind(Vec<Slot>),
}

/// Runs one worker until its schedule ends and everything outstanding has come back.
///
/// One clock reading for each turn of the loop: it is the instant of the completions just reaped
/// and of the operations then issued. Where data is made or checked between the two, the instant of
/// issue is a second reading (docs/adr/0003).
///
/// # Errors
/// The target is gone for good.
pub fn drive<S: Schedule, D: DataPath, H: Handover, T: Target>(
    worker: &mut Worker<S, D, H>,
    target: &mut T,
    clock: &impl Clock,
    stop: &Stop,
    pulse: &Pulse,
) -> Result<DriveEnd, TargetError> {
    let mut done: Vec<Completion> = Vec::with_capacity(worker.queue_depth());
    let mut give_up_ns = u64::MAX;
    let overdue_check_ns = worker.overdue_check_ns();
    let mut now_ns = clock.now_ns();
    let mut next_check_ns = now_ns + overdue_check_ns;
    loop {
        pulse.busy(now_ns, worker.next_step());
        let due_by_ns = now_ns;
        loop {
            if worker.prepare(due_by_ns, target) {
                now_ns = clock.now_ns();
            }
            if !worker.issue(now_ns, target)? {
                break;
            }
        }
        if worker.is_finished(now_ns) {
            worker.close(now_ns, target);
            pulse.idle();
            return Ok(DriveEnd::Drained);
        }
        if worker.is_idle() {
            pulse.idle();
        }
        let ahead_ns = worker.wake_ns(now_ns).saturating_sub(now_ns);
        target.reap(wait::<S>(ahead_ns), &mut done)?;
        now_ns = clock.now_ns();
        worker.complete(now_ns, &mut done, target);

        if stop.is_requested() {
            if target.is_unresponsive() {
                // Nothing would come back to finish the interval with.
                worker.end_at(now_ns);
                give_up_ns = now_ns;
            } else if stop.is_now() {
                worker.end_at(now_ns);
                give_up_ns = give_up_ns.min(now_ns + STOP_NOW_GRACE_NS);
            } else if let Some(end_ns) = stop.end_ns() {
                worker.end_at(end_ns.max(now_ns));
            }
        }
        if now_ns < next_check_ns && now_ns < give_up_ns {
            continue;
        }
        next_check_ns = now_ns + overdue_check_ns;
        let is_overdue = worker.is_overdue(now_ns);
        if is_overdue || now_ns >= give_up_ns {
            let (reason, end): (_, fn(Vec<Slot>) -> DriveEnd) = if is_overdue {
                (ErrorKind::Deadline, DriveEnd::Overdue)
            } else {
                (ErrorKind::LeftBehind, DriveEnd::LeftBehind)
            };
            let oldest = worker.give_up(now_ns, reason);
            worker.close(now_ns, target);
            pulse.idle();
            return Ok(end(oldest));
        }
    }
}

/// How to wait for a completion when nothing else is to be done for `ahead_ns`.
#[inline]
fn wait<S: Schedule>(ahead_ns: u64) -> Wait {
    let ahead_ns = if S::OPEN { ahead_ns.saturating_sub(SPIN_NS) } else { ahead_ns };
    if ahead_ns == 0 {
        return Wait::Look;
    }
    let ahead = Duration::from_nanos(ahead_ns.min(WAIT_MAX_NS));
    // Without due instants of its own a worker waits for edges only, and those come in order.
    if S::ANSWERS_ONLY { Wait::Coarse(ahead) } else { Wait::Precise(ahead) }
}
