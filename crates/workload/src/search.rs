//! A search: runs that are chosen one after another from earlier results.
//!
//! This module describes a resolved search: the template of its runs, and the method that chooses
//! them. The next run is a pure function of the plan and the load points so far
//! (`analysis::search::next`). Each run is a resolved, stored [`Run`], so readers of records need
//! not know about searches.
//!
//! Run indexes count up from the template's, and seeds are derived from the template's seed, so that
//! equal measurements lead to equal runs.

use serde::{Deserialize, Serialize};
use units::OpsPerSec;

use crate::arrival::Arrival;
use crate::random;
use crate::reach::Reach;
use crate::run::{Run, Spread, Stream};
use crate::scale::{self, Scale};
use crate::user_search::UserSearch;
use crate::value::Value;

/// A resolved search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// A description of the workload: `random read 8 KiB`.
    pub name: String,
    /// The template of its runs, with the largest load of any of them (queue depth, workers), so that
    /// files, memory and threads can be provided beforehand. Its index is that of the first run.
    pub template: Run,
    /// The method that chooses the next run.
    pub method: SearchMethod,
    /// The repeats of each load point.
    pub repeats: Repeats,
    /// Maximum number of runs, including repeats.
    pub runs_max: u32,
}

/// The method that chooses the next run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchMethod {
    /// A closed curve over rising queue depths.
    QueueDepth(QueueDepthLadder),
    /// An open curve: saturation first, then load points at shares of it.
    OfferedRate(OfferedRates),
    /// Fixed load points, repeated until they are precise enough.
    Repeat(Repeat),
    /// The smallest concurrency that reaches a rate.
    Reach(Reach),
    /// Scaling experiments to find what limits throughput: one change at a time.
    Scale(Scale),
    /// The largest number of users whose scenarios start in time.
    Users(UserSearch),
}

/// A closed curve. The queue depth starts at 1 (the latency floor) and is multiplied by `step` until
/// throughput stops rising; then depths are added where the curve bends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueDepthLadder {
    /// The maximum queue depth, over all workers.
    pub queue_depth_max: u32,
    /// Factor from one depth to the next.
    #[serde(default = "doubling")]
    pub step: u32,
    /// A step that raises throughput by less than this many thousandths per doubling is no gain; two
    /// of them in a row end the ladder.
    pub gain_min_permille: u16,
    /// The objective in nanoseconds: a mean response time above it ends the ladder.
    pub response_time_max_ns: Option<u64>,
    /// Maximum number of depths added where the curve bends.
    pub refine_max: u32,
}

/// An open curve: a ladder of queue depths finds saturation, then Poisson arrivals follow at evenly
/// spaced shares of it, until one overloads the target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfferedRates {
    /// Finds saturation; its response time objective also ends the open curve.
    pub ladder: QueueDepthLadder,
    /// Load points up to saturation: 10 are at 10 %, 20 % … 100 % of it.
    pub load_points: u32,
    /// Load points above it, at the same spacing.
    pub beyond: u32,
}

/// Fixed load points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Repeat {
    /// One run of each.
    pub points: Vec<Run>,
}

/// The number of runs of each load point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeats {
    /// Minimum.
    pub least: u32,
    /// Maximum.
    pub most: u32,
    /// A load point is done when its 95 % confidence interval is within ± this many thousandths of the
    /// value; without it, after `least` runs.
    pub until_permille: Option<u16>,
}

impl Repeats {
    /// Each load point once.
    pub const ONCE: Repeats = Repeats::exactly(1);

    /// Each load point `count` times.
    pub const fn exactly(count: u32) -> Repeats {
        Repeats { least: count, most: count, until_permille: None }
    }
}

/// The step in older plans, which lack it.
const fn doubling() -> u32 {
    2
}

impl SearchMethod {
    /// Additional runs for load points that decide what comes next and are not precise enough.
    pub const fn decisive_runs_max(&self) -> u32 {
        match self {
            SearchMethod::QueueDepth(_) | SearchMethod::OfferedRate(_) => 2,
            SearchMethod::Repeat(_)
            | SearchMethod::Reach(_)
            | SearchMethod::Scale(_)
            | SearchMethod::Users(_) => 0,
        }
    }

    /// Maximum number of load points.
    pub fn load_points_max(&self) -> u32 {
        match self {
            SearchMethod::QueueDepth(ladder) => ladder.load_points_max(),
            SearchMethod::OfferedRate(rates) => {
                rates.ladder.load_points_max() + rates.load_points + rates.beyond
            }
            SearchMethod::Repeat(repeat) => u32::try_from(repeat.points.len()).unwrap_or(u32::MAX),
            SearchMethod::Reach(reach) => reach.load_points_max(),
            SearchMethod::Scale(_) => scale::RUNS_MAX,
            SearchMethod::Users(users) => users.load_points_max(),
        }
    }
}

impl QueueDepthLadder {
    /// The depths of the ladder, over all workers: 1 on each of `parts` (hosts and targets), multiplied
    /// by `step` up to the largest multiple within the maximum.
    pub fn depths(&self, parts: u32) -> Vec<u32> {
        let (step, parts) = (self.step.max(2), parts.max(1));
        let most = (self.queue_depth_max / parts).max(1) * parts;
        let rungs = std::iter::successors(Some(parts), |depth| depth.checked_mul(step));
        let mut depths: Vec<u32> = rungs.take_while(|depth| *depth < most).collect();
        depths.push(most);
        depths
    }

    fn load_points_max(&self) -> u32 {
        self.depths(1).len() as u32 + self.refine_max
    }
}

impl Search {
    /// Runs that need at least as many files, threads and as much memory as any run of the search.
    pub fn model_runs(&self) -> &[Run] {
        match &self.method {
            SearchMethod::Repeat(repeat) => &repeat.points,
            SearchMethod::Scale(scale) => std::slice::from_ref(&scale.largest),
            SearchMethod::QueueDepth(_)
            | SearchMethod::OfferedRate(_)
            | SearchMethod::Reach(_)
            | SearchMethod::Users(_) => std::slice::from_ref(&self.template),
        }
    }

    /// The objective for the mean response time, in nanoseconds.
    pub const fn response_time_max_ns(&self) -> Option<u64> {
        match &self.method {
            SearchMethod::QueueDepth(ladder) => ladder.response_time_max_ns,
            SearchMethod::OfferedRate(rates) => rates.ladder.response_time_max_ns,
            SearchMethod::Reach(reach) => reach.response_time_max_ns,
            SearchMethod::Repeat(_) | SearchMethod::Scale(_) | SearchMethod::Users(_) => None,
        }
    }

    /// The tolerated share of late scenarios, 0 to 1.
    pub fn overload_max(&self) -> Option<f64> {
        match &self.method {
            SearchMethod::Users(users) => Some(f64::from(users.overload_max_permille) / 1000.0),
            _ => None,
        }
    }

    /// Whether the run with this index belongs to the search.
    pub fn owns(&self, run_index: u32) -> bool {
        (self.template.index..self.template.index.saturating_add(self.runs_max))
            .contains(&run_index)
    }

    /// `run` as run `number` (from 0) of this search, the `repeat`-th (from 0) of its load point.
    pub fn numbered(&self, run: Run, number: u32, repeat: u32) -> Run {
        let seed = random::derive(self.template.seed, u64::from(number));
        Run { index: self.template.index + number, repeat, seed, ..run }
    }
}

impl Run {
    /// This run with a queue depth of `total` over all workers of each stream: on the largest number of
    /// its workers that divides it evenly, and is the same on each host and target if there is such a
    /// number. The load point is named by it.
    pub fn with_queue_depth(&self, total: u32) -> Run {
        let total = total.max(1);
        let mut run = self.clone();
        for stream in &mut run.streams {
            let most = stream.workers.min(total).max(1);
            let divides = |workers: &u32| total.is_multiple_of(*workers);
            let parts = stream.targets.parts(self.hosts);
            let on_all_parts = |workers: &u32| workers.is_multiple_of(parts);
            let mut workers = (1..=most).rev().filter(divides);
            let equal = workers.clone().find(on_all_parts);
            stream.workers = equal.or_else(|| workers.next()).unwrap_or(1);
            stream.queue_depth = total / stream.workers;
        }
        let key = if self.streams.iter().all(|stream| stream.workers <= 1) {
            "queue_depth"
        } else {
            "queue_depth_total"
        };
        run.name(key, total.to_string());
        run
    }

    /// This run with Poisson arrivals at `rate` in each stream, rounded to four digits. The load
    /// point is named by it.
    pub fn with_offered_rate(&self, rate: OpsPerSec) -> Run {
        let offered_rate = four_digits(rate.get());
        let mut run = self.clone();
        for stream in &mut run.streams {
            stream.arrival = Arrival::Poisson { offered_rate };
        }
        run.name("offered_rate", Value::Rate(offered_rate).to_string());
        run
    }

    /// Names the load point by `key`, and replaces an earlier value.
    pub(crate) fn name(&mut self, key: &str, value: String) {
        match self.parameters.iter_mut().find(|(known, _)| known == key) {
            Some(parameter) => parameter.1 = value,
            None => self.parameters.push((key.to_owned(), value)),
        }
    }

    /// How many hosts and targets a search loads equally: its smallest queue depth. Every depth of it is
    /// a multiple.
    pub fn parts(&self) -> u32 {
        let parts = self.streams.iter().map(|stream| stream.targets.parts(self.hosts));
        parts.max().unwrap_or(1)
    }

    /// Pairs of a host and a target that connections are opened for.
    pub fn connection_parts(&self) -> u32 {
        let hosts = self.hosts.max(1);
        let of_host = |stream: &Stream| match stream.targets.spread {
            Spread::All => stream.targets.count(),
            Spread::Host => 1,
            Spread::Worker => stream.targets.count().min(stream.workers / hosts),
        };
        let most = self.streams.iter().map(of_host).max().unwrap_or(1);
        hosts.saturating_mul(most.max(1))
    }

    /// The limit on outstanding operations over all streams and workers.
    pub fn queue_depth_total(&self) -> u64 {
        self.streams.iter().map(Stream::queue_depth_total).sum()
    }
}

/// Rounds a rate to four digits, for readable load points.
fn four_digits(rate: f64) -> f64 {
    if rate.is_nan() || rate <= 0.0 || rate.is_infinite() {
        return 0.001;
    }
    let unit = 10f64.powf(rate.log10().floor() - 3.0);
    // Multiplying and dividing by whole numbers keeps the result exact.
    let rounded = if unit >= 1.0 {
        (rate / unit).round() * unit
    } else {
        (rate / unit).round() / (1.0 / unit).round()
    };
    rounded.max(0.001)
}
