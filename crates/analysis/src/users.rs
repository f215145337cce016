//! Users: how many of their scenarios could not be started in time, and the largest number of users with
//! few enough of these.
//!
//! Overload is defined as in Microsoft's File Server Capacity Tool: the share of scenarios that could not
//! be started when they were due, because the user's earlier one still ran. The first scenario of a user
//! has no earlier one and is not counted.

use metrics::histogram::Counts;
use metrics::interval::UsersInterval;

use crate::estimate::{Estimate, of_repeats, with_repeats};
use crate::load_point::{LoadPoint, StreamSummary};
use crate::percentile::{Percentile, percentiles};
use crate::window::CountsSum;

/// The share of late scenarios that the overload point tolerates, if the experiment gives none.
pub const OVERLOAD_MAX: f64 = 0.01;
/// The percentiles of durations and delays.
pub const FRACTIONS: [f64; 3] = [0.5, 0.9, 0.99];
/// Durations are recorded in microseconds.
const NS_PER_US: u64 = 1000;

/// What the users of a stream, or of all streams, did in a window.
#[derive(Clone, Debug, PartialEq)]
pub struct UsersSummary {
    /// Number of users.
    pub users: u64,
    /// Scenarios that were started.
    pub started: u64,
    /// Scenarios that ended.
    pub completed: u64,
    /// Starts that were due, without the first of each user.
    pub due: u64,
    /// Those of `due` at which the user's earlier scenario still ran.
    pub late: u64,
    /// Scenarios that ended per second.
    pub scenarios_per_s: Option<Estimate>,
    /// `late` over `due`; `None` if no second start of a user was due in the window.
    pub overload: Option<Estimate>,
    /// Durations of the scenarios that ended, from the start to the end of the last operation.
    pub duration: UserTimes,
    /// Times from due to sent of operations: how exactly the load was generated, while fewer than the
    /// allowed number are in flight.
    pub delay: UserTimes,
}

/// Times of scenarios or operations of users.
#[derive(Clone, Debug, PartialEq)]
pub struct UserTimes {
    /// Their number.
    pub samples: u64,
    /// Mean, in nanoseconds.
    pub mean_ns: Option<Estimate>,
    /// Exact maximum, in nanoseconds; durations to a microsecond.
    pub max_ns: Option<u64>,
    /// The percentiles of [`FRACTIONS`], in that order.
    pub percentiles: Vec<Percentile>,
}

impl UserTimes {
    /// The percentile of `fraction`, one of [`FRACTIONS`].
    pub fn percentile(&self, fraction: f64) -> Option<&Percentile> {
        self.percentiles.iter().find(|p| p.fraction == fraction)
    }
}

/// The number of users up to which scenarios start in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverloadPoint {
    /// The tolerated overload, 0 to 1.
    pub overload_max: f64,
    /// The highest point of the curve below which, itself included, no point has more; as an index in
    /// the curve's points. `None` if the lowest point has more.
    pub passes: Option<usize>,
    /// The lowest point with more; `None` if no point has.
    pub fails: Option<usize>,
    /// Whether the 95 % interval of each of these two points is on its side of the tolerance.
    pub is_certain: bool,
}

/// The overload point of a curve's load points, in ascending number of users; `None` if one has no users
/// or no overload was measured.
pub(crate) fn overload_point(points: &[&LoadPoint], overload_max: f64) -> Option<OverloadPoint> {
    let users = |point: &&&LoadPoint| point.merged.total.users.as_ref().map_or(0, |all| all.users);
    let counts: Vec<u64> = points.iter().map(|point| users(&point)).collect();
    if counts.contains(&0) || counts.windows(2).any(|pair| pair[0] >= pair[1]) {
        return None;
    }
    let overloads: Vec<Option<f64>> = points.iter().map(|point| overload(point)).collect();
    if overloads.iter().all(Option::is_none) {
        return None;
    }
    let exceeds = |overload: &Option<f64>| overload.is_some_and(|share| share > overload_max);
    let fails = overloads.iter().position(exceeds);
    let below = &overloads[..fails.unwrap_or(overloads.len())];
    let passes = below.iter().rposition(Option::is_some);
    let is_certain =
        passes.into_iter().chain(fails).all(|index| is_decided(points[index], overload_max));
    Some(OverloadPoint { overload_max, passes, fails, is_certain })
}

/// Whether the 95 % interval of a load point's overload is on one side of `overload_max`.
fn is_decided(point: &LoadPoint, overload_max: f64) -> bool {
    let Some(users) = &point.merged.total.users else { return false };
    let ends = overload_interval(users);
    ends.is_some_and(|[low, high]| low > overload_max || high <= overload_max)
}

/// The 95 % interval of the overload; `None` if there is none. If no start of `due` was late, it ends at
/// `3 / due` (rule of three: the chance of none at a larger share is below 5 %).
pub(crate) fn overload_interval(users: &UsersSummary) -> Option<[f64; 2]> {
    if users.late == 0 {
        return (users.due > 0).then(|| [0.0, (3.0 / users.due as f64).min(1.0)]);
    }
    let Estimate { value, uncertainty, .. } = users.overload?;
    let half = uncertainty?;
    Some([(value - half).max(0.0), (value + half).min(1.0)])
}

/// The numbers of users between which the overload point of a curve is: the most whose overload certainly
/// is tolerated, below all that have more, and the fewest whose overload certainly is not. 0 and infinity
/// if there are none.
pub(crate) fn overload_point_interval(points: &[&LoadPoint], found: OverloadPoint) -> [f64; 2] {
    let known = |point: &&&LoadPoint| is_decided(point, found.overload_max);
    let users = |point: &&LoadPoint| point.merged.total.users.as_ref().map_or(0, |all| all.users);
    let exceeds =
        |point: &&&LoadPoint| overload(point).is_some_and(|share| share > found.overload_max);
    let below = &points[..found.fails.unwrap_or(points.len())];
    let low = below.iter().rev().filter(|point| overload(point).is_some()).find(known);
    let high = points.iter().filter(exceeds).find(known);
    [low.map_or(0.0, |one| users(one) as f64), high.map_or(f64::INFINITY, |one| users(one) as f64)]
}

/// The overload of a load point; `None` if it was not measured, or hosts were lost.
pub(crate) fn overload(point: &LoadPoint) -> Option<f64> {
    let users = point.merged.total.users.as_ref().filter(|_| point.is_whole())?;
    Some(users.overload?.value)
}

/// Sums of users over the intervals of a window.
#[derive(Clone, Debug, Default)]
pub(crate) struct UserSums<'a> {
    started: Vec<f64>,
    completed: Vec<f64>,
    due: Vec<f64>,
    late: Vec<f64>,
    duration_sum_us: Vec<f64>,
    sent: Vec<f64>,
    delay_sum_ns: Vec<f64>,
    duration_us: Counts,
    delay: Counts,
    /// The intervals of the sums: index and counts.
    parts: Vec<(u32, &'a UsersInterval)>,
}

impl<'a> UserSums<'a> {
    /// The sums of these intervals; `None` if none has users.
    pub(crate) fn of(
        intervals: impl Iterator<Item = Option<&'a UsersInterval>>,
    ) -> Option<UserSums<'a>> {
        let mut sums = UserSums::default();
        let (mut durations, mut delays) = (CountsSum::default(), CountsSum::default());
        for (number, users) in (0u32..).zip(intervals) {
            let of = |pick: fn(&UsersInterval) -> u64| users.map_or(0.0, |one| pick(one) as f64);
            sums.started.push(of(|one| one.started));
            sums.completed.push(of(|one| one.completed));
            sums.due.push(of(|one| one.due));
            sums.late.push(of(|one| one.late));
            sums.duration_sum_us.push(users.map_or(0.0, |one| one.duration_us.sum_ns as f64));
            sums.sent.push(of(|one| one.delay.total()));
            sums.delay_sum_ns.push(users.map_or(0.0, |one| one.delay.sum_ns as f64));
            if let Some(users) = users {
                durations.add(&users.duration_us);
                delays.add(&users.delay);
                sums.parts.push((number, users));
            }
        }
        (sums.duration_us, sums.delay) = (durations.into_counts(), delays.into_counts());
        (!sums.parts.is_empty()).then_some(sums)
    }

    fn columns(&mut self) -> [&mut Vec<f64>; 7] {
        let UserSums { started, completed, due, late, duration_sum_us, sent, delay_sum_ns, .. } =
            self;
        [started, completed, due, late, duration_sum_us, sent, delay_sum_ns]
    }

    /// Adds the users of another stream in the same intervals.
    pub(crate) fn add_stream(&mut self, other: &UserSums<'a>) {
        let mut theirs = other.clone();
        for (ours, theirs) in self.columns().into_iter().zip(theirs.columns()) {
            for (sum, one) in ours.iter_mut().zip(theirs) {
                *sum += *one;
            }
        }
        self.parts.extend(&other.parts);
        self.duration_us.merge(&other.duration_us);
        self.delay.merge(&other.delay);
    }

    /// Adds the intervals of another repeat, as if they followed these.
    pub(crate) fn append(&mut self, other: &UserSums<'a>) {
        let before = self.started.len() as u32;
        let mut theirs = other.clone();
        for (ours, theirs) in self.columns().into_iter().zip(theirs.columns()) {
            ours.append(theirs);
        }
        self.parts.extend(other.parts.iter().map(|(number, part)| (before + number, *part)));
        self.duration_us.merge(&other.duration_us);
        self.delay.merge(&other.delay);
    }

    /// The summary of the window.
    ///
    /// * `length_ns` - of each interval
    pub(crate) fn summary(
        &self,
        users: u64,
        length_ns: &[f64],
        repeats: &[&StreamSummary],
    ) -> UsersSummary {
        let repeats: Vec<&UsersSummary> =
            repeats.iter().filter_map(|repeat| repeat.users.as_ref()).collect();
        let pick = |pick: fn(&UsersSummary) -> Option<Estimate>| of_repeats(&repeats, pick);
        let seconds: Vec<f64> = length_ns.iter().map(|ns| ns / 1e9).collect();
        let total = |sums: &[f64]| sums.iter().sum::<f64>() as u64;
        let ratio = |sums: &[f64], by: &[f64], of_repeats: &[f64]| {
            with_repeats(Estimate::of_ratio(sums, by), of_repeats)
        };
        let duration_mean =
            ratio(&self.duration_sum_us, &self.completed, &[]).map(|us| us.scaled(1e3));
        let delay_mean = ratio(&self.delay_sum_ns, &self.sent, &pick(|r| r.delay.mean_ns));
        let of_repeats = pick(|repeat| repeat.duration.mean_ns);
        let duration_mean = with_repeats(duration_mean, &of_repeats);
        let parts = |counts: fn(&UsersInterval) -> &Counts| {
            self.parts.iter().map(move |(number, part)| (*number, counts(part)))
        };
        let own = |times: fn(&UsersSummary) -> &UserTimes| -> Vec<&[Percentile]> {
            repeats.iter().map(|repeat| times(repeat).percentiles.as_slice()).collect()
        };
        let durations = percentiles(
            &FRACTIONS,
            &self.duration_us,
            parts(|users| &users.duration_us),
            seconds.len(),
            &[],
        );
        let delays = percentiles(
            &FRACTIONS,
            &self.delay,
            parts(|users| &users.delay),
            seconds.len(),
            &own(|users| &users.delay),
        );
        UsersSummary {
            users,
            started: total(&self.started),
            completed: total(&self.completed),
            due: total(&self.due),
            late: total(&self.late),
            scenarios_per_s: ratio(&self.completed, &seconds, &pick(|r| r.scenarios_per_s)),
            overload: ratio(&self.late, &self.due, &pick(|r| r.overload)),
            duration: UserTimes {
                samples: self.duration_us.total(),
                mean_ns: duration_mean,
                max_ns: maximum(&self.duration_us).map(|us| us * NS_PER_US),
                percentiles: durations.into_iter().map(in_ns).collect(),
            },
            delay: UserTimes {
                samples: self.delay.total(),
                mean_ns: delay_mean,
                max_ns: maximum(&self.delay),
                percentiles: delays,
            },
        }
    }
}

fn maximum(counts: &Counts) -> Option<u64> {
    (counts.total() > 0).then_some(counts.max_ns)
}

/// A percentile of microseconds in nanoseconds.
fn in_ns(of: Percentile) -> Percentile {
    let ends = of.interval_ns.map(|ends| ends.map(|us| us * NS_PER_US as f64));
    Percentile { value_ns: of.value_ns.map(|us| us * NS_PER_US), interval_ns: ends, ..of }
}
