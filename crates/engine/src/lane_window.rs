//! The steps of one lane that are done, so that a step is issued only when every step that it may
//! depend on is done.
//!
//! An operation on names may use what a step at least one window before it created or removed.
//! Several threads may share a lane, so that steps complete in any order.

use std::sync::atomic::{AtomicU64, Ordering};

/// Which steps of a lane are done: all before [`LaneWindow::prefix`], and single ones in the window
/// after it.
#[derive(Debug)]
pub struct LaneWindow {
    /// Every step before this one is done.
    prefix: AtomicU64,
    /// `done[step % window]` is `step + 1` once the step is done.
    done: Vec<AtomicU64>,
}

impl LaneWindow {
    /// No step is done; `window` steps may be outstanding together.
    ///
    /// # Panics
    /// The window is 0.
    pub fn new(window: u32) -> LaneWindow {
        assert!(window > 0, "a lane has at least one outstanding step");
        LaneWindow {
            prefix: AtomicU64::new(0),
            done: (0..window).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    fn window(&self) -> u64 {
        self.done.len() as u64
    }

    /// Whether every step that `step` may depend on is done: all up to one window before it.
    #[inline]
    pub fn allows(&self, step: u64) -> bool {
        step < self.prefix.load(Ordering::SeqCst) + self.window()
    }

    /// Notes that a step, which was allowed, is done.
    #[inline]
    pub fn complete(&self, step: u64) {
        let slot = |step: u64| &self.done[(step % self.window()) as usize];
        debug_assert!(self.allows(step), "step {step} was not allowed");
        slot(step).store(step + 1, Ordering::SeqCst);
        // Sequential consistency: of two threads that complete neighbouring steps, one sees the
        // prefix or the step of the other.
        loop {
            let prefix = self.prefix.load(Ordering::SeqCst);
            if slot(prefix).load(Ordering::SeqCst) != prefix + 1 {
                return;
            }
            // A failure means that another thread has advanced it.
            let (order, next) = (Ordering::SeqCst, prefix + 1);
            let _ = self.prefix.compare_exchange(prefix, next, order, order);
        }
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
                            std::thread::yield_now();
                        }
                        lane.complete(step);
                    }
                });
            }
        });
        assert_eq!((lane.prefix(), lane.beyond()), (20_000, Vec::new()));
    }
}
