//! When operations become due.

use serde::{Deserialize, Serialize};
use units::OpsPerSec;

use crate::random;

/// The arrival process of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// The next operation becomes due when one completes, after a think time.
    Closed {
        /// Time between a completion and the next operation, in nanoseconds.
        think_time_ns: u64,
    },
    /// Operations become due at evenly spaced instants, independent of completions.
    Constant {
        /// Operations per second of the whole stream, over all workers.
        offered_rate: f64,
    },
    /// Operations become due as a Poisson process, independent of completions.
    Poisson {
        /// Mean operations per second of the whole stream, over all workers.
        offered_rate: f64,
    },
}

impl Arrival {
    /// With this part of an offered rate, 0 to 1.
    #[must_use]
    pub fn scaled(self, part: f64) -> Arrival {
        match self {
            Arrival::Closed { .. } => self,
            Arrival::Constant { offered_rate } => {
                Arrival::Constant { offered_rate: offered_rate * part }
            }
            Arrival::Poisson { offered_rate } => {
                Arrival::Poisson { offered_rate: offered_rate * part }
            }
        }
    }

    /// Offered operations per second; `None` for a closed loop.
    pub fn offered_rate(&self) -> Option<OpsPerSec> {
        match *self {
            Arrival::Closed { .. } => None,
            Arrival::Constant { offered_rate } | Arrival::Poisson { offered_rate } => {
                Some(OpsPerSec::new(offered_rate))
            }
        }
    }
}

/// When step `step` of worker `lane` of `lanes` is due at a constant rate, in nanoseconds from the
/// run's start.
///
/// The workers' schedules are staggered so that all operations together are evenly spaced: operation
/// `i = step * lanes + lane` is due at `i / offered_rate`.
pub fn constant_due_ns(offered_rate: f64, lane: u32, lanes: u32, step: u64) -> u64 {
    let index = step * u64::from(lanes) + u64::from(lane);
    // Exact up to 2^53 ns (104 days): only the product is rounded.
    (index as f64 * (1e9 / offered_rate)).round() as u64
}

/// The gap before step `step` of worker `lane`, in nanoseconds, for a Poisson process; `seed` is
/// that of the stream ([`Stream::seed`](crate::plan::Stream::seed)).
///
/// Each worker draws exponential gaps with mean `lanes / offered_rate`. The sum of independent Poisson
/// processes is a Poisson process with the sum of the rates (Kingman, "Poisson Processes", 1993,
/// superposition theorem).
pub fn poisson_gap_ns(seed: u64, offered_rate: f64, lane: u32, lanes: u32, step: u64) -> f64 {
    let index = step * u64::from(lanes) + u64::from(lane);
    let bits = random::at(random::derive(seed, 0xA11), index);
    // 1 - u is in (0, 1], so the logarithm is finite.
    let mean_ns = 1e9 * f64::from(lanes) / offered_rate;
    -(1.0 - random::unit(bits)).ln() * mean_ns
}
