//! Users: each repeats a scenario, ordered operations with think times, once in each cycle.
//!
//! A user is a lane of operations on names with at most one operation in flight. So the names that exist
//! follow from the number of operations that each user has done ([`crate::names`]).
//!
//! The idea is that of Microsoft's File Server Capacity Tool: each user starts one scenario in each cycle,
//! and a scenario is late if the user's earlier one still runs when it is due.
//!
//! Not for: when operations are sent (`engine`), reading the file (`scenario_reader`).

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::{counted, print_duration};

use crate::arrival::ThinkTime;
use crate::names::NameMix;
use crate::op::OpKind;
use crate::random;

/// Most operations of a scenario: as many as a block of a mix.
pub const SCENARIO_OPERATIONS_MAX: u64 = 1000;
/// Most users of a stream.
pub const USERS_MAX: u64 = 1_000_000;
/// Separates the starts of users from the other random numbers of a stream.
const STARTS: u64 = 0x57A2_7500;

/// The users of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Users {
    /// Their number, over all workers.
    pub count: u32,
    /// Time from one start of a user to the next, in nanoseconds.
    pub cycle_ns: u64,
    /// How the starts are spread over the cycle.
    pub starts: Starts,
}

/// How the starts of users are spread over the cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Starts {
    /// Each at a random time of the cycle, the same in every cycle.
    #[default]
    Random,
    /// At equal distances.
    Even,
}

impl Starts {
    /// The names in an experiment, in the order of the variants.
    pub const NAMES: [&'static str; 2] = ["random", "even"];

    /// The name in an experiment.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

impl Users {
    /// The users of worker `lane` of `workers`: these have the numbers `lane`, `lane + workers` and so on.
    pub const fn of_worker(&self, lane: u32, workers: u32) -> u32 {
        let workers = if workers == 0 { 1 } else { workers };
        self.count / workers + (lane < self.count % workers) as u32
    }

    /// When `user` starts the first scenario, in nanoseconds from the start of the stream.
    ///
    /// * `seed` - of the stream
    pub fn first_start_ns(&self, user: u32, seed: u64) -> u64 {
        match self.starts {
            Starts::Random => {
                let bits = random::at(random::derive(seed, STARTS), user.into());
                random::below(bits, self.cycle_ns)
            }
            Starts::Even => {
                let at = u128::from(user) * u128::from(self.cycle_ns);
                (at / u128::from(self.count.max(1))) as u64
            }
        }
    }
}

impl fmt::Display for Users {
    /// `1,000 users, each with a scenario every 15m`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let users = counted(self.count.into(), "user");
        let cycle = print_duration(Duration::from_nanos(self.cycle_ns));
        let each = if self.count == 1 { "" } else { "each " };
        write!(f, "{users}, {each}with a scenario every {cycle} ({} starts)", self.starts.name())
    }
}

/// What a user does once in each cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Scenario {
    /// The steps, in order. The last one has operations.
    pub steps: Vec<ScenarioStep>,
}

/// A step of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScenarioStep {
    /// Time without an operation.
    Pause(ThinkTime),
    /// Until this many nanoseconds after the start of the user's cycle, unless the operations before take
    /// longer.
    At(u64),
    /// Operations of one kind, one after the other.
    Operations {
        /// The kind, one of those on names.
        kind: OpKind,
        /// Their number.
        count: u16,
        /// Time before each of them.
        think_time: Option<ThinkTime>,
    },
}

/// What a user waits for before an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// A think time.
    Think(ThinkTime),
    /// This many nanoseconds after the start of the user's cycle.
    Until(u64),
}

impl Scenario {
    /// The kinds of its operations, in order.
    pub fn kinds(&self) -> impl Iterator<Item = OpKind> + '_ {
        self.steps.iter().flat_map(|step| match step {
            ScenarioStep::Pause(_) | ScenarioStep::At(_) => std::iter::repeat_n(OpKind::Statfs, 0),
            ScenarioStep::Operations { kind, count, .. } => {
                std::iter::repeat_n(*kind, usize::from(*count))
            }
        })
    }

    /// Its kinds with the number of their operations.
    pub fn mix(&self) -> NameMix {
        let mut counts = [0u16; OpKind::COUNT];
        for kind in self.kinds() {
            counts[kind as usize] += 1;
        }
        let counts: Vec<_> = OpKind::ALL.into_iter().zip(counts).collect();
        NameMix::of(&counts)
    }

    /// For each operation, in order, what the user waits for before it, one after the other.
    pub fn waits(&self) -> Vec<Vec<Wait>> {
        let (mut all, mut waits) = (Vec::new(), Vec::new());
        for step in &self.steps {
            match step {
                ScenarioStep::Pause(pause) => waits.push(Wait::Think(*pause)),
                ScenarioStep::At(ns) => waits.push(Wait::Until(*ns)),
                ScenarioStep::Operations { count, think_time, .. } => {
                    for _ in 0..*count {
                        let mut before = std::mem::take(&mut waits);
                        before.extend(think_time.map(Wait::Think));
                        all.push(before);
                    }
                }
            }
        }
        all
    }

    /// How long it takes with operations that take no time and think times of their means, in
    /// nanoseconds.
    pub fn length_mean_ns(&self) -> u64 {
        self.steps.iter().fold(0, |ns, step| step.end_mean_ns(ns))
    }
}

impl ScenarioStep {
    /// When it ends if it begins at `ns` nanoseconds, its operations take no time, and think times are of
    /// their means.
    pub(crate) fn end_mean_ns(&self, ns: u64) -> u64 {
        match self {
            ScenarioStep::Pause(pause) => ns.saturating_add(pause.mean_ns()),
            ScenarioStep::At(at_ns) => ns.max(*at_ns),
            ScenarioStep::Operations { count, think_time, .. } => {
                let each = think_time.map_or(0, ThinkTime::mean_ns);
                ns.saturating_add(each.saturating_mul(u64::from(*count)))
            }
        }
    }
}

impl fmt::Display for Scenario {
    /// `readdirplus, think 2s, 5 x (think 1s exponential, stat), at 1m, read_file`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.steps.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { ", " })?;
            match step {
                ScenarioStep::Pause(pause) => write!(f, "think {pause}")?,
                ScenarioStep::At(ns) => {
                    write!(f, "at {}", print_duration(Duration::from_nanos(*ns)))?;
                }
                ScenarioStep::Operations { kind, count: 1, think_time: None } => {
                    f.write_str(kind.name())?;
                }
                ScenarioStep::Operations { kind, count, think_time: None } => {
                    write!(f, "{count} x {}", kind.name())?;
                }
                ScenarioStep::Operations { kind, count: 1, think_time: Some(time) } => {
                    write!(f, "think {time}, {}", kind.name())?;
                }
                ScenarioStep::Operations { kind, count, think_time: Some(time) } => {
                    write!(f, "{count} x (think {time}, {})", kind.name())?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constant(ms: u64) -> ThinkTime {
        ThinkTime::Uniform { min_ns: ms * 1_000_000, max_ns: ms * 1_000_000 }
    }

    fn scenario() -> Scenario {
        let exponential = ThinkTime::Exponential { mean_ns: 1_000_000_000 };
        let operations =
            |kind, count, think_time| ScenarioStep::Operations { kind, count, think_time };
        Scenario {
            steps: vec![
                operations(OpKind::Readdirplus, 1, None),
                ScenarioStep::Pause(constant(2000)),
                operations(OpKind::Stat, 2, Some(exponential)),
                ScenarioStep::At(60_000_000_000),
                operations(OpKind::ReadFile, 1, None),
            ],
        }
    }

    #[test]
    fn a_pause_comes_before_the_next_operation_and_a_think_time_before_each() {
        let scenario = scenario();
        let kinds: Vec<OpKind> = scenario.kinds().collect();
        assert_eq!(kinds, [OpKind::Readdirplus, OpKind::Stat, OpKind::Stat, OpKind::ReadFile]);
        let counts: Vec<usize> = scenario.waits().iter().map(Vec::len).collect();
        assert_eq!(counts, [0, 2, 1, 1]);
        assert_eq!(scenario.waits()[3], [Wait::Until(60_000_000_000)]);
        assert_eq!(scenario.length_mean_ns(), 60_000_000_000);
        assert_eq!(scenario.mix().permille(OpKind::Stat), 2);
        assert_eq!(
            scenario.to_string(),
            "readdirplus, think 2s, 2 x (think 1s exponential, stat), at 1m, read_file"
        );
    }

    #[test]
    fn the_workers_have_all_users_and_even_starts_divide_the_cycle() {
        let users = Users { count: 11, cycle_ns: 1100, starts: Starts::Even };
        let of_workers: u32 = (0..4).map(|lane| users.of_worker(lane, 4)).sum();
        assert_eq!(of_workers, 11);
        assert_eq!([users.of_worker(0, 4), users.of_worker(3, 4)], [3, 2]);
        let starts: Vec<u64> = (0..11).map(|user| users.first_start_ns(user, 1)).collect();
        assert_eq!(starts, (0..11).map(|at| at * 100).collect::<Vec<_>>());
    }

    #[test]
    fn random_starts_are_uniform_over_the_cycle() {
        let users = Users { count: 100_000, cycle_ns: 900_000_000_000, starts: Starts::Random };
        let mut ninths = [0u32; 9];
        for user in 0..users.count {
            ninths[(users.first_start_ns(user, 7) / 100_000_000_000) as usize] += 1;
        }
        // 11,111 with a standard deviation of 99: five of them.
        assert!(ninths.iter().all(|count| count.abs_diff(11_111) < 497), "{ninths:?}");
    }
}
