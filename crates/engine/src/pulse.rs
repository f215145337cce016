//! A worker's heartbeat, read by the conducting thread. It costs two plain stores per turn of the
//! worker's loop.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::cpu::ThreadTimes;

/// A worker's heartbeat.
#[derive(Debug)]
pub struct Pulse {
    /// When the loop last made a turn with operations outstanding or about to be issued, in
    /// nanoseconds from the run's start; `u64::MAX` while idle.
    busy_since_ns: AtomicU64,
    /// The step that was next to be issued then: with blocking calls, the one that may be stuck.
    step: AtomicU64,
    /// CPU time of the worker's thread when its loop ended, in nanoseconds; 0 before.
    cpu_at_end_ns: AtomicU64,
    /// Run-queue delay of the thread at that time, in nanoseconds.
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

    /// For how long the loop has made no turn without being idle, in nanoseconds.
    pub(crate) fn stalled_ns(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.busy_since_ns.load(Ordering::Relaxed))
    }

    /// The step that was next to be issued.
    pub(crate) fn step(&self) -> u64 {
        self.step.load(Ordering::Relaxed)
    }

    /// Stores the thread's times at the end of its loop.
    pub(crate) fn ended(&self, times: ThreadTimes) {
        self.run_delay_at_end_ns.store(times.run_delay_ns, Ordering::Relaxed);
        self.cpu_at_end_ns.store(times.cpu_ns, Ordering::Release);
    }

    /// The thread's times at the end of its loop, if it has ended.
    pub(crate) fn times_at_end(&self) -> Option<ThreadTimes> {
        let cpu_ns = Some(self.cpu_at_end_ns.load(Ordering::Acquire)).filter(|ns| *ns > 0)?;
        let run_delay_ns = self.run_delay_at_end_ns.load(Ordering::Relaxed);
        Some(ThreadTimes { cpu_ns, run_delay_ns })
    }
}
