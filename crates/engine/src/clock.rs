//! The clock of a run: nanoseconds from its start.

use std::time::Instant;

/// The source of a worker's time.
pub trait Clock {
    /// Nanoseconds from the run's start.
    fn now_ns(&self) -> u64;
}

/// The host's monotonic clock, counted from a run's start.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    start: Instant,
}

impl MonotonicClock {
    /// A clock for a run that starts at `start`. If `start` is in the future, the time is 0 until
    /// then.
    pub fn starting_at(start: Instant) -> MonotonicClock {
        MonotonicClock { start }
    }
}

impl Clock for MonotonicClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        // 2^64 ns are 584 years.
        Instant::now().saturating_duration_since(self.start).as_nanos() as u64
    }
}
