//! The search for the largest number of users whose scenarios start in time.

use serde::{Deserialize, Serialize};

use crate::arrival::Arrival;
use crate::run::Run;
use crate::scenario::Users;

/// Rungs of the ladder up to the maximum.
const RUNGS: u32 = 4;
/// Most halvings of a bracket: a factor of `step` to a precision of 0.1 %.
const HALVINGS_MAX: u32 = 14;

/// The overload point: the number of users rises until scenarios are late, then the bracket is halved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserSearch {
    /// The maximum number of users.
    pub users_max: u32,
    /// The minimum: one for each worker.
    pub users_min: u32,
    /// Factor from one number to the next.
    pub step: u32,
    /// The tolerated share of late scenarios, in thousandths.
    pub overload_max_permille: u16,
    /// The search ends if the bracket is at most this share of its lower end, in thousandths.
    pub precision_permille: u16,
}

impl UserSearch {
    /// The numbers of users that are tried until one has too many late scenarios, ascending.
    pub fn rungs(&self) -> Vec<u32> {
        let mut rungs = vec![self.users_max];
        for _ in 1..=RUNGS {
            rungs.push(self.below(rungs[rungs.len() - 1]));
        }
        rungs.reverse();
        rungs.dedup();
        rungs
    }

    /// The next lower number: a rung below the lowest.
    pub fn below(&self, users: u32) -> u32 {
        (users / self.step.max(2)).max(self.users_min.max(1))
    }

    /// The number between a passing and a failing one; `None` if they are close enough.
    pub fn between(&self, passes: u32, fails: u32) -> Option<u32> {
        let width = u64::from(fails.saturating_sub(passes));
        let close = u64::from(passes) * u64::from(self.precision_permille) / 1000;
        (width > close.max(1)).then(|| passes + (width / 2) as u32)
    }

    /// Maximum number of load points.
    pub fn load_points_max(&self) -> u32 {
        let down = self.users_max.max(2).ilog(self.step.max(2));
        1 + down + HALVINGS_MAX
    }
}

impl Run {
    /// This run with `count` users in each stream that has users. The load point is named by it.
    pub fn with_users(&self, count: u32) -> Run {
        let mut run = self.clone();
        for stream in &mut run.streams {
            if let Arrival::Users(users) = stream.arrival {
                stream.arrival = Arrival::Users(Users { count, ..users });
            }
        }
        run.name("users", count.to_string());
        run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEARCH: UserSearch = UserSearch {
        users_max: 1000,
        users_min: 1,
        step: 2,
        overload_max_permille: 10,
        precision_permille: 50,
    };

    #[test]
    fn a_ladder_of_users_ends_at_the_maximum_and_starts_at_no_fewer_than_the_workers() {
        assert_eq!(SEARCH.rungs(), [62, 125, 250, 500, 1000]);
        let few = UserSearch { users_max: 10, users_min: 4, ..SEARCH };
        assert_eq!(few.rungs(), [4, 5, 10]);
    }

    #[test]
    fn a_bracket_is_halved_until_it_is_precise() {
        assert_eq!(SEARCH.between(500, 1000), Some(750));
        assert_eq!(SEARCH.between(500, 526), Some(513));
        assert_eq!((SEARCH.between(500, 525), SEARCH.between(3, 4)), (None, None));
    }
}
