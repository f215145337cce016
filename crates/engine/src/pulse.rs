//! What a worker shows to whoever watches it from outside, at the price of two plain stores for
//! each turn of its loop.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::cpu::ThreadTimes;

/// A worker's sign of life.
#[derive(Debug)]
pub struct Pulse {
    /// When the loop last went around with something outstanding or about to be issued, in
    /// nanoseconds from the run's start; `u64::MAX` while there is nothing to wait for.
    busy_since_ns: AtomicU64,
    /// The step that was issued next then: for a blocking call the one that may hang.
    step: AtomicU64,
    /// CPU time of the worker's thread when its loop ended, in nanoseconds; 0 before.
    cpu_at_end_ns: AtomicU64,
    /// How long the thread had waited for a processor then, in nanoseconds.
    run_delay_at_end_ns: AtomicU64,
}

impl Default for Pulse {
    fn default() -> Pulse {
        Pulse {
            busy_since_ns: AtomicU64::new(u64::MAX),
            step: AtomicU64::new(0),
            cpu_at_end_ns: AtomicU64::new(0),
            run_delay_at_end_ns: AtomicU64::new(0),
        }
    }
}

impl Pulse {
    #[inline]
    pub(crate) fn busy(&self, now_ns: u64, step: u64) {
        self.step.store(step, Ordering::Relaxed);
        self.busy_since_ns.store(now_ns, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn idle(&self) {
        self.busy_since_ns.store(u64::MAX, Ordering::Relaxed);
    }

    /// How long the loop has not gone around though it was not idle, in nanoseconds.
    pub(crate) fn stalled_ns(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.busy_since_ns.load(Ordering::Relaxed))
    }

    /// The step that was about to be issued.
    pub(crate) fn step(&self) -> u64 {
        self.step.load(Ordering::Relaxed)
    }

    /// Notes the thread's times when its loop ended.
    pub(crate) fn ended(&self, times: ThreadTimes) {
        self.run_delay_at_end_ns.store(times.run_delay_ns, Ordering::Relaxed);
        self.cpu_at_end_ns.store(times.cpu_ns, Ordering::Release);
    }

    /// The thread's times when its loop ended, if it has.
    pub(crate) fn times_at_end(&self) -> Option<ThreadTimes> {
        let cpu_ns = Some(self.cpu_at_end_ns.load(Ordering::Acquire)).filter(|ns| *ns > 0)?;
        let run_delay_ns = self.run_delay_at_end_ns.load(Ordering::Relaxed);
        Some(ThreadTimes { cpu_ns, run_delay_ns })
    }
}
