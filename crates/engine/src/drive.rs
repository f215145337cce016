//! The loop that drives one worker on a real clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use target::{Completion, Target, TargetError, Wait};
use workload::outcome::ErrorKind;

use crate::clock::Clock;
use crate::operations::Operations;
use crate::pulse::Pulse;
use crate::schedule::Schedule;
use crate::slots::Slot;
use crate::worker::{DataPath, Handover, Worker};

/// A worker with an open schedule polls during this time before an operation is due: a sleeping
/// thread wakes tens of microseconds late, which would be recorded as schedule delay that the
/// target did not cause.
const SPIN_NS: u64 = 100_000;

/// A request to stop a run, shared by all its workers.
#[derive(Debug, Default)]
pub struct Stop {
    level: AtomicU8,
    parent: Option<Arc<Stop>>,
    /// The end of the run, if it stops at the end of an interval, in nanoseconds from its start
    /// plus one; 0 until it is fixed.
    end_ns_plus_one: AtomicU64,
    /// When an immediate stop takes effect, in nanoseconds from the run's start plus one; 0 until a
    /// worker has noticed it.
    stopped_ns_plus_one: AtomicU64,
}

impl Stop {
    /// Not requested.
    pub const fn new() -> Stop {
        Stop {
            level: AtomicU8::new(0),
            parent: None,
            end_ns_plus_one: AtomicU64::new(0),
            stopped_ns_plus_one: AtomicU64::new(0),
        }
    }

    /// Not requested, and also requested when `parent` is: stopping a run does not stop the plan,
    /// stopping the plan stops the run.
    pub fn child_of(parent: Arc<Stop>) -> Stop {
        Stop { parent: Some(parent), ..Stop::new() }
    }

    /// Requests a stop at the end of the interval.
    pub fn finish_interval(&self) {
        self.level.fetch_max(1, Ordering::Relaxed);
    }

    /// Requests a stop at this time of the run, an edge of its intervals.
    pub fn finish_at(&self, end_ns: u64) {
        self.fix_end(end_ns);
        self.finish_interval();
    }

    /// Requests an immediate stop; outstanding operations still complete.
    pub fn now(&self) {
        self.level.fetch_max(2, Ordering::Relaxed);
    }

    /// Whether a stop is requested.
    pub fn is_requested(&self) -> bool {
        self.level() > 0
    }

    /// Whether an immediate stop is requested.
    pub fn is_now(&self) -> bool {
        self.level() > 1
    }

    /// Sets the edge at which all workers of a run end, once.
    pub(crate) fn fix_end(&self, end_ns: u64) {
        let keep = |now| if now == 0 { Some(end_ns + 1) } else { None };
        // Later calls keep the first end: the closure returns `None`.
        let _ = self.end_ns_plus_one.fetch_update(Ordering::Relaxed, Ordering::Relaxed, keep);
    }

    /// The edge at which the run ends, once it is set.
    pub(crate) fn end_ns(&self) -> Option<u64> {
        self.end_ns_plus_one.load(Ordering::Relaxed).checked_sub(1)
    }

    /// The end of the run after an immediate stop, which the first worker to notice it sets. It is the
    /// same for all: the backlog of a lane is what one worker counts as due minus what all of them
    /// issued, until one instant.
    fn fix_stopped(&self, now_ns: impl FnOnce() -> u64) -> u64 {
        if let Some(stopped_ns) = self.stopped_ns_plus_one.load(Ordering::Relaxed).checked_sub(1) {
            return stopped_ns;
        }
        // Read after the request was seen, so that no worker has issued anything later.
        let now_ns = now_ns();
        let fixed = self.stopped_ns_plus_one.compare_exchange(
            0,
            now_ns + 1,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        fixed.map_or_else(|first_ns| first_ns - 1, |_| now_ns)
    }

    fn level(&self) -> u8 {
        let parent = self.parent.as_ref().map_or(0, |parent| parent.level());
        self.level.load(Ordering::Relaxed).max(parent)
    }
}

/// Longest wait: a loop that makes a turn at least this often is alive.
const WAIT_MAX_NS: u64 = 500_000_000;
/// How long outstanding operations may still take after an immediate stop.
pub(crate) const STOP_NOW_GRACE_NS: u64 = 1_000_000_000;

/// How a worker's loop ended.
#[derive(Debug)]
pub enum DriveEnd {
    /// Everything that was issued completed.
    Drained,
    /// Operations exceeded their deadline; the oldest of them.
    Overdue(Vec<Slot>),
    /// Operations did not complete within [`STOP_NOW_GRACE_NS`] of an immediate stop; the oldest of
    /// them.
    Abandoned(Vec<Slot>),
}

/// Runs one worker until its schedule ends and all outstanding operations have completed.
///
/// The clock is read once per turn of the loop, for the completions just reaped and the operations
/// then issued. If data is generated or verified in between, it is read again for the time of issue
/// (docs/adr/0003).
///
/// # Errors
/// The target is lost.
pub fn drive<S: Schedule, D: DataPath, H: Handover, O: Operations, T: Target>(
    worker: &mut Worker<S, D, H, O>,
    target: &mut T,
    clock: &impl Clock,
    stop: &Stop,
    pulse: &Pulse,
) -> Result<DriveEnd, TargetError> {
    let mut done: Vec<Completion> = Vec::with_capacity(worker.queue_depth());
    let mut abandon_ns = u64::MAX;
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
        if !worker.wait_for_lane(now_ns) {
            let ahead_ns = worker.wake_ns(now_ns).saturating_sub(now_ns);
            target.reap(wait::<S>(ahead_ns), &mut done)?;
        }
        now_ns = clock.now_ns();
        worker.complete(now_ns, &mut done, target);

        if stop.is_requested() {
            if target.is_unresponsive() {
                // The target does not respond, so waiting for the end of the interval is useless.
                worker.end_at(now_ns);
                abandon_ns = now_ns;
            } else if stop.is_now() {
                worker.end_at(stop.fix_stopped(|| clock.now_ns()));
                abandon_ns = abandon_ns.min(now_ns + STOP_NOW_GRACE_NS);
            } else if let Some(end_ns) = stop.end_ns() {
                worker.end_at(end_ns.max(now_ns));
            }
        }
        if now_ns < next_check_ns && now_ns < abandon_ns {
            continue;
        }
        next_check_ns = now_ns + overdue_check_ns;
        let is_overdue = worker.is_overdue(now_ns);
        if is_overdue || now_ns >= abandon_ns {
            let (reason, end): (_, fn(Vec<Slot>) -> DriveEnd) = if is_overdue {
                (ErrorKind::Deadline, DriveEnd::Overdue)
            } else {
                (ErrorKind::Abandoned, DriveEnd::Abandoned)
            };
            let oldest = worker.abandon_overdue(now_ns, reason);
            worker.close(now_ns, target);
            pulse.idle();
            return Ok(end(oldest));
        }
    }
}

/// How to wait for completions if the worker has nothing else to do for `ahead_ns`.
#[inline]
fn wait<S: Schedule>(ahead_ns: u64) -> Wait {
    let ahead_ns = if S::OPEN { ahead_ns.saturating_sub(SPIN_NS) } else { ahead_ns };
    if ahead_ns == 0 {
        return Wait::Poll;
    }
    let ahead = Duration::from_nanos(ahead_ns.min(WAIT_MAX_NS));
    // A schedule that never waits for a due time waits only for edges, which are in order.
    if S::NEVER_WAITS { Wait::Coarse(ahead) } else { Wait::Precise(ahead) }
}
