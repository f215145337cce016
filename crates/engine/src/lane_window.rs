//! The steps of one lane that are done, so that a step is issued only when every step that it may
//! depend on is done.
//!
//! An operation on names may use what a step at least one window before it created or removed.
//! Several threads may share a lane, so that steps complete in any order.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Which steps of a lane are done: all before [`LaneWindow::prefix`], and single ones in the window
/// after it.
#[derive(Debug)]
pub struct LaneWindow {
    /// Every step before this one is done.
    prefix: AtomicU64,
    /// `done[step % window]` is `step + 1` once the step is done. Empty if no step depends on
    /// another.
    done: Vec<AtomicU64>,
    /// Threads in [`LaneWindow::wait`].
    waiting: AtomicU32,
    lock: Mutex<()>,
    advanced: Condvar,
}

impl LaneWindow {
    /// No step is done; `window` steps may be outstanding together.
    ///
    /// # Panics
    /// The window is 0.
    pub fn new(window: u32) -> LaneWindow {
        assert!(window > 0, "a lane has at least one outstanding step");
        LaneWindow { done: (0..window).map(|_| AtomicU64::new(0)).collect(), ..Self::unlimited() }
    }

    /// Allows every step and notes none: for operations that change no names, so that none depends
    /// on another.
    pub const fn unlimited() -> LaneWindow {
        LaneWindow {
            prefix: AtomicU64::new(0),
            done: Vec::new(),
            waiting: AtomicU32::new(0),
            lock: Mutex::new(()),
            advanced: Condvar::new(),
        }
    }

    fn window(&self) -> u64 {
        self.done.len() as u64
    }

    /// Whether every step that `step` may depend on is done: all up to one window before it.
    #[inline]
    pub fn allows(&self, step: u64) -> bool {
        self.done.is_empty() || step < self.prefix.load(Ordering::SeqCst) + self.window()
    }

    /// Waits until `step` is allowed or `time` is over; it may also return early.
    ///
    /// A thread may lose its processor in the middle of a step. The other threads of the lane soon
    /// wait for it, and if each of them polled, they would take the processor from it again and again.
    #[cold]
    pub fn wait(&self, step: u64, time: Duration) {
        let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_add(1, Ordering::SeqCst);
        // Sequential consistency: either this sees the new prefix, or the thread that advances it
        // sees the waiting one and needs the lock to notify it.
        if !self.allows(step) {
            drop(self.advanced.wait_timeout(guard, time));
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    /// Notes that a step, which was allowed, is done.
    #[inline]
    pub fn complete(&self, step: u64) {
        if self.done.is_empty() {
            return;
        }
        let slot = |step: u64| &self.done[(step % self.window()) as usize];
        debug_assert!(self.allows(step), "step {step} was not allowed");
        slot(step).store(step + 1, Ordering::SeqCst);
        // Sequential consistency: of two threads that complete neighbouring steps, one sees the
        // prefix or the step of the other.
        let mut has_advanced = false;
        loop {
            let prefix = self.prefix.load(Ordering::SeqCst);
            if slot(prefix).load(Ordering::SeqCst) != prefix + 1 {
                break;
            }
            // A failure means that another thread has advanced it.
            let (order, next) = (Ordering::SeqCst, prefix + 1);
            has_advanced |= self.prefix.compare_exchange(prefix, next, order, order).is_ok();
        }
        if has_advanced && self.waiting.load(Ordering::SeqCst) > 0 {
            self.notify();
        }
    }

    #[cold]
    fn notify(&self) {
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
        self.advanced.notify_all();
    }

    /// The first step that is not done.
    pub fn prefix(&self) -> u64 {
        self.prefix.load(Ordering::SeqCst)
    }

    /// The steps after the prefix that are done. Exact only while no thread completes steps.
    pub fn beyond(&self) -> Vec<u64> {
        let prefix = self.prefix();
        let in_window = self.done.iter().map(|step| step.load(Ordering::SeqCst));
        let mut steps: Vec<u64> =
            in_window.filter(|step| *step > prefix).map(|step| step - 1).collect();
        steps.sort_unstable();
        steps
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use workload::random;

    use super::*;

    #[test]
    fn a_step_is_allowed_only_when_all_up_to_one_window_before_it_are_done() {
        let lane = LaneWindow::new(5);
        // The oracle: a set of all steps that are done.
        let (mut done, mut outstanding, mut next) = (BTreeSet::new(), Vec::new(), 0);
        let mut first_open = 0;
        for draw in 0..10_000 {
            while done.contains(&first_open) {
                first_open += 1;
            }
            assert_eq!(lane.prefix(), first_open);
            for step in first_open..first_open + 12 {
                assert_eq!(lane.allows(step), step < first_open + 5);
            }
            let beyond: Vec<u64> = done.range(first_open..).copied().collect();
            assert_eq!(lane.beyond(), beyond);
            if lane.allows(next)
                && (outstanding.is_empty() || random::at(1, draw).is_multiple_of(2))
            {
                outstanding.push(next);
                next += 1;
            } else {
                let position = random::below(random::at(2, draw), outstanding.len() as u64);
                let step = outstanding.swap_remove(position as usize);
                lane.complete(step);
                done.insert(step);
            }
        }
        assert!(next > 1000, "{next} steps");
    }

    #[test]
    fn an_unlimited_lane_allows_every_step_and_notes_none() {
        let lane = LaneWindow::unlimited();
        lane.complete(7);
        assert!(lane.allows(0) && lane.allows(u64::MAX));
        assert_eq!((lane.prefix(), lane.beyond()), (0, Vec::new()));
    }

    #[test]
    fn a_waiting_thread_is_woken_when_its_step_is_allowed() {
        let lane = LaneWindow::new(2);
        // Longer than any test run: only a notification ends the wait.
        let long = Duration::from_secs(3600);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                while !lane.allows(3) {
                    lane.wait(3, long);
                }
            });
            // Out of order: step 0 completes last and advances the prefix over both.
            lane.complete(1);
            assert!(!lane.allows(3));
            lane.complete(0);
            waiting.join().expect("no panic");
        });
        assert_eq!(lane.waiting.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn threads_that_share_a_lane_complete_every_step() {
        let (lane, next) = (LaneWindow::new(3), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    loop {
                        let step = next.fetch_add(1, Ordering::Relaxed);
                        if step >= 20_000 {
                            break;
                        }
                        while !lane.allows(step) {
                            lane.wait(step, Duration::from_secs(3600));
                        }
                        lane.complete(step);
                    }
                });
            }
        });
        assert_eq!((lane.prefix(), lane.beyond()), (20_000, Vec::new()));
    }
}
