//! A moment on one host's monotonic clock.

use std::ops::Add;
use std::time::Duration;

/// A moment on one host's monotonic clock, in nanoseconds. Instants of two hosts must never be
/// subtracted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    ns: u64,
}

impl Instant {
    /// The clock's zero.
    pub const ZERO: Instant = Instant { ns: 0 };
    /// Later than any moment that is ever reached.
    pub const NEVER: Instant = Instant { ns: u64::MAX };

    /// The moment `ns` nanoseconds after the clock's zero.
    pub const fn from_ns(ns: u64) -> Instant {
        Instant { ns }
    }

    /// Nanoseconds since the clock's zero.
    pub const fn ns(self) -> u64 {
        self.ns
    }

    /// Nanoseconds from `earlier` to this moment; 0 where `earlier` is later.
    pub const fn ns_since(self, earlier: Instant) -> u64 {
        self.ns.saturating_sub(earlier.ns)
    }

    /// This moment plus `ns` nanoseconds, at most [`Instant::NEVER`].
    pub const fn plus_ns(self, ns: u64) -> Instant {
        Instant { ns: self.ns.saturating_add(ns) }
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    fn add(self, time: Duration) -> Instant {
        self.plus_ns(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }
}
