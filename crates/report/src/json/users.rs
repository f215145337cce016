//! Users and their scenarios as JSON.

use analysis::users::{OverloadPoint, UserTimes, UsersSummary};
use schemars::JsonSchema;
use serde::Serialize;

use super::estimate::{EstimateJson, estimate};
use super::operations::{PercentileJson, percentile};
use crate::number::exported;

/// What users did in a window.
#[derive(Serialize, JsonSchema)]
pub(super) struct UsersJson {
    /// The number of users.
    users: u64,
    /// Scenarios that were started.
    started: u64,
    /// Scenarios that ended.
    completed: u64,
    /// Starts that were due, without the first of each user.
    due: u64,
    /// Those of `due` at which the user's earlier scenario still ran.
    late: u64,
    /// Scenarios that ended per second.
    scenarios_per_sec: Option<EstimateJson>,
    /// `late` over `due`; null if no user's second start was due.
    overload_fraction: Option<EstimateJson>,
    /// From the start of a scenario to the end of its last operation.
    duration: UserTimesJson,
    /// From due to sent of operations.
    delay: UserTimesJson,
}

/// Times of scenarios or operations of users.
#[derive(Serialize, JsonSchema)]
struct UserTimesJson {
    /// Their number.
    samples: u64,
    /// The mean.
    mean_ns: Option<EstimateJson>,
    /// The exact maximum; of durations to a microsecond.
    max_ns: Option<u64>,
    /// The percentiles.
    percentiles: Vec<PercentileJson>,
}

/// The number of users up to which scenarios start in time.
#[derive(Serialize, JsonSchema)]
pub(super) struct OverloadPointJson {
    /// The tolerated overload.
    overload_max_fraction: f64,
    /// The point with the most users that has at most this overload, as all with fewer; null if none has.
    passing_point: Option<usize>,
    /// The point with the fewest users that has more; null if none has.
    failing_point: Option<usize>,
    /// Whether the 95 % interval of each of both excludes the tolerated overload.
    is_certain: bool,
}

pub(super) fn users(users: &UsersSummary) -> UsersJson {
    UsersJson {
        users: users.users,
        started: users.started,
        completed: users.completed,
        due: users.due,
        late: users.late,
        scenarios_per_sec: users.scenarios_per_s.map(estimate),
        overload_fraction: users.overload.map(estimate),
        duration: times(&users.duration),
        delay: times(&users.delay),
    }
}

fn times(times: &UserTimes) -> UserTimesJson {
    UserTimesJson {
        samples: times.samples,
        mean_ns: times.mean_ns.map(estimate),
        max_ns: times.max_ns,
        percentiles: times.percentiles.iter().map(percentile).collect(),
    }
}

pub(super) fn overload_point(found: OverloadPoint) -> OverloadPointJson {
    OverloadPointJson {
        overload_max_fraction: exported(found.overload_max),
        passing_point: found.passes,
        failing_point: found.fails,
        is_certain: found.is_certain,
    }
}
