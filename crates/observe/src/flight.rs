//! Operations in flight over time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::observation::Concurrency;

/// Numbers in flight whose time is kept apart.
const LEVELS_MAX: usize = 65_536;

/// Operations between begin and end, added in the order of their begins.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    ends: BinaryHeap<Reverse<u64>>,
    now_ns: u64,
    max: u64,
    /// Nanoseconds with each number in flight.
    time_ns: Vec<u128>,
    is_started: bool,
    /// Operations that end within this time after another begins are not in flight with it: the
    /// resolution of the times.
    resolution_ns: u64,
}

impl InFlight {
    pub(crate) fn set_resolution_ns(&mut self, resolution_ns: u64) {
        self.resolution_ns = resolution_ns;
    }

    pub(crate) fn add(&mut self, begin_ns: u64, end_ns: u64) {
        if !self.is_started {
            (self.is_started, self.now_ns) = (true, begin_ns);
        }
        while let Some(Reverse(end)) = self.ends.peek().copied() {
            if end > begin_ns.saturating_add(self.resolution_ns) {
                break;
            }
            self.advance(end);
            self.ends.pop();
        }
        self.advance(begin_ns);
        self.ends.push(Reverse(end_ns.max(begin_ns)));
        self.max = self.max.max(self.ends.len() as u64);
    }

    fn advance(&mut self, to_ns: u64) {
        let level = self.ends.len().min(LEVELS_MAX);
        if self.time_ns.len() <= level {
            self.time_ns.resize(level + 1, 0);
        }
        self.time_ns[level] += u128::from(to_ns.saturating_sub(self.now_ns));
        self.now_ns = self.now_ns.max(to_ns);
    }

    /// Ends every operation; `None` if no time passed.
    pub(crate) fn concurrency(mut self) -> Option<Concurrency> {
        while let Some(Reverse(end)) = self.ends.peek().copied() {
            self.advance(end);
            self.ends.pop();
        }
        let whole: u128 = self.time_ns.iter().sum();
        if whole == 0 {
            return None;
        }
        let weighted = self.time_ns.iter().enumerate().map(|(level, ns)| level as f64 * *ns as f64);
        let mean = weighted.sum::<f64>() / whole as f64;
        let mut seen = 0;
        let p99 = self.time_ns.iter().position(|ns| {
            seen += ns;
            seen * 100 >= whole * 99
        });
        Some(Concurrency { mean, max: self.max, p99: p99.unwrap_or(0) as u64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(resolution_ns: u64, operations: &[(u64, u64)]) -> Concurrency {
        let mut flight = InFlight::default();
        flight.set_resolution_ns(resolution_ns);
        operations.iter().for_each(|(begin, end)| flight.add(*begin, *end));
        flight.concurrency().unwrap()
    }

    #[test]
    fn the_mean_is_the_time_in_flight_over_the_duration() {
        // 0..10, 5..15 and 20..40: 40 in 40, two of them for 5, none for 5.
        let found = of(0, &[(0, 10), (5, 15), (20, 40)]);
        assert_eq!(found, Concurrency { mean: 1.0, max: 2, p99: 2 });
    }

    #[test]
    fn operations_one_after_another_do_not_overlap() {
        assert_eq!(of(0, &[(0, 10), (10, 20), (20, 30)]).max, 1);
        // The end of the first was rounded up.
        assert_eq!(of(0, &[(0, 1001), (1000, 2000)]).max, 2);
        assert_eq!(of(1, &[(0, 1001), (1000, 2000)]).max, 1);
    }

    #[test]
    fn a_queue_that_is_always_full_has_its_depth_as_mean() {
        let operations: Vec<(u64, u64)> = (0..4000).map(|at| (at * 25, at * 25 + 100)).collect();
        let found = of(0, &operations);
        assert_eq!((found.max, found.p99), (4, 4));
        assert!((found.mean - 4.0).abs() < 0.01);
    }
}
