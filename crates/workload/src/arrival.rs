//! When operations become due.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::{OpsPerSec, print_duration};

use crate::random;
use crate::rate_schedule::RateSchedule;
use crate::scenario::Users;

/// The arrival process of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// As [`Arrival::Closed`], with a think time that is drawn for each operation.
    Thinking {
        /// The distribution of the think time.
        think_time: ThinkTime,
    },
    /// Operations become due at rates that change by plan, independent of completions.
    Scheduled {
        /// The rates over the time since the run's start.
        schedule: RateSchedule,
        /// How arrivals are placed within the rates.
        process: Process,
        /// The share of the rates that is offered, 0 to 1.
        part: f64,
    },
    /// Users each repeat a scenario of operations on names. Within a scenario the next operation becomes
    /// due when one completes, after a think time; the next scenario once in each cycle.
    Users(Users),
}

/// How arrivals are placed at a given rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Process {
    /// Each at the time at which the expected number of arrivals reaches its number.
    Constant,
    /// As a Poisson process.
    Poisson,
}

impl Process {
    /// The names in an experiment.
    pub const NAMES: [&'static str; 2] = ["constant", "poisson"];

    /// The name in an experiment.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// A distribution of think times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkTime {
    /// Exponential: independent of how long the pause has lasted.
    Exponential {
        /// Its mean, in nanoseconds.
        mean_ns: u64,
    },
    /// Equally likely between two times.
    Uniform {
        /// The shortest, in nanoseconds.
        min_ns: u64,
        /// The longest, in nanoseconds.
        max_ns: u64,
    },
}

impl ThinkTime {
    /// The think time that 64 random bits select, in nanoseconds.
    #[inline]
    pub fn draw_ns(self, bits: u64) -> u64 {
        match self {
            ThinkTime::Exponential { mean_ns } => (exponential(bits) * mean_ns as f64) as u64,
            ThinkTime::Uniform { min_ns, max_ns } => {
                min_ns + random::below(bits, max_ns.saturating_sub(min_ns).saturating_add(1))
            }
        }
    }

    /// Its mean, in nanoseconds.
    pub const fn mean_ns(self) -> u64 {
        match self {
            ThinkTime::Exponential { mean_ns } => mean_ns,
            ThinkTime::Uniform { min_ns, max_ns } => min_ns + max_ns.saturating_sub(min_ns) / 2,
        }
    }
}

impl Arrival {
    /// With this part of an offered rate, 0 to 1.
    #[must_use]
    pub fn scaled(&self, by: f64) -> Arrival {
        match self {
            Arrival::Closed { .. } | Arrival::Thinking { .. } => self.clone(),
            Arrival::Users(users) => {
                let count = (f64::from(users.count) * by).round() as u32;
                Arrival::Users(Users { count, ..*users })
            }
            Arrival::Constant { offered_rate } => {
                Arrival::Constant { offered_rate: offered_rate * by }
            }
            Arrival::Poisson { offered_rate } => {
                Arrival::Poisson { offered_rate: offered_rate * by }
            }
            Arrival::Scheduled { schedule, process, part } => Arrival::Scheduled {
                schedule: schedule.clone(),
                process: *process,
                part: part * by,
            },
        }
    }

    /// Whether operations become due independent of completions.
    pub const fn is_open(&self) -> bool {
        !matches!(self, Arrival::Closed { .. } | Arrival::Thinking { .. } | Arrival::Users(_))
    }

    /// The users; `None` without a population.
    pub const fn users(&self) -> Option<&Users> {
        match self {
            Arrival::Users(users) => Some(users),
            _ => None,
        }
    }

    /// Mean offered operations per second between two times from the run's start; `None` for a closed
    /// loop and for users.
    pub fn offered_rate(&self, from_ns: u64, to_ns: u64) -> Option<OpsPerSec> {
        match self {
            Arrival::Closed { .. } | Arrival::Thinking { .. } | Arrival::Users(_) => None,
            Arrival::Constant { offered_rate } | Arrival::Poisson { offered_rate } => {
                Some(OpsPerSec::new(*offered_rate))
            }
            Arrival::Scheduled { schedule, part, .. } => {
                Some(OpsPerSec::new(schedule.mean_rate(from_ns, to_ns) * part))
            }
        }
    }

    /// Whether the offered rate changes by plan.
    pub fn is_varying(&self) -> bool {
        matches!(self, Arrival::Scheduled { schedule, .. } if !schedule.is_constant())
    }

    /// Whether operations become due as a Poisson process with one rate, as open queueing models require.
    pub fn is_poisson(&self) -> bool {
        match self {
            Arrival::Poisson { .. } => true,
            Arrival::Scheduled { schedule, process, .. } => {
                *process == Process::Poisson && schedule.is_constant()
            }
            _ => false,
        }
    }

    /// The mean think time of a closed loop, in nanoseconds; 0 in an open loop.
    pub const fn think_time_mean_ns(&self) -> u64 {
        match self {
            Arrival::Closed { think_time_ns } => *think_time_ns,
            Arrival::Thinking { think_time } => think_time.mean_ns(),
            _ => 0,
        }
    }
}

impl fmt::Display for Arrival {
    /// As in the parameters of load points: `constant 100/s`, `closed, think time 10ms exponential`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |ns: u64| print_duration(Duration::from_nanos(ns));
        match self {
            Arrival::Closed { think_time_ns: 0 } => f.write_str("closed"),
            Arrival::Closed { think_time_ns } => {
                write!(f, "closed, think time {}", time(*think_time_ns))
            }
            Arrival::Thinking { think_time } => write!(f, "closed, think time {think_time}"),
            Arrival::Constant { offered_rate } => write!(f, "constant {offered_rate}/s"),
            Arrival::Poisson { offered_rate } => write!(f, "poisson {offered_rate}/s"),
            Arrival::Scheduled { schedule, process, part } => {
                write!(f, "{} schedule: {schedule}", process.name())?;
                if *part == 1.0 { Ok(()) } else { write!(f, ", {}% of it", part * 100.0) }
            }
            Arrival::Users(users) => write!(f, "{users}"),
        }
    }
}

impl fmt::Display for ThinkTime {
    /// `10ms exponential`, `5ms to 15ms` or `2s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |ns: u64| print_duration(Duration::from_nanos(ns));
        match self {
            ThinkTime::Exponential { mean_ns } => write!(f, "{} exponential", time(*mean_ns)),
            ThinkTime::Uniform { min_ns, max_ns } if min_ns == max_ns => {
                f.write_str(&time(*min_ns))
            }
            ThinkTime::Uniform { min_ns, max_ns } => {
                write!(f, "{} to {}", time(*min_ns), time(*max_ns))
            }
        }
    }
}

/// An exponentially distributed number with mean 1.
#[inline]
fn exponential(bits: u64) -> f64 {
    // 1 - u is in (0, 1], so the logarithm is finite.
    -(1.0 - random::unit(bits)).ln()
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
    let mean_ns = 1e9 * f64::from(lanes) / offered_rate;
    poisson_gap(seed, lane, lanes, step) * mean_ns
}

/// The gap before step `step` of worker `lane`, as a multiple of the worker's mean gap.
pub fn poisson_gap(seed: u64, lane: u32, lanes: u32, step: u64) -> f64 {
    let index = step * u64::from(lanes) + u64::from(lane);
    exponential(random::at(random::derive(seed, 0xA11), index))
}
