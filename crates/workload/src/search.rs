//! A search: runs that are decided one after another from what was measured.
//!
//! Here is what a search is to do, everything resolved: the run that its runs are made from, and
//! the method by which they are chosen. What comes next is a pure function of the plan and the
//! load points so far (`analysis::search::next`); each run that it gives is a resolved, stored
//! [`Run`] like any other, so nothing that reads records needs to know of searches.
//!
//! The index of a search's runs counts on from its template's, and their seeds are derived from its
//! template's seed, so that the same answers of a target lead to the same runs.

use serde::{Deserialize, Serialize};

use crate::arrival::Arrival;
use crate::plan::{Run, Stream};
use crate::random;
use crate::reach::Reach;
use crate::scale::{self, Scale};
use crate::value::Value;

/// What a search is to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// The load point that it is about, in words: `random read 8 KiB`.
    pub name: String,
    /// The run that its runs are made from, at the largest load that any of them may have (queue
    /// depth, workers): whoever must know beforehand what a plan needs looks at it. Its index is
    /// that of the search's first run.
    pub template: Run,
    /// How the next run is chosen.
    pub method: SearchMethod,
    /// How often the load points that were found are measured.
    pub repeats: Repeats,
    /// At most so many runs, repeats included.
    pub runs_max: u32,
}

/// How the next run is chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchMethod {
    /// A closed curve: a ladder of queue depths.
    QueueDepth(QueueDepthLadder),
    /// An open curve: saturation first, then load points at shares of it.
    OfferedRate(OfferedRates),
    /// Known load points, repeated until they are known well enough.
    Repeat(Repeat),
    /// The least concurrency that reaches a rate.
    Reach(Reach),
    /// What limits the rate: one change of circumstances at a time.
    Scale(Scale),
}

/// A closed curve: 1 operation outstanding first (the floor of the response time), then `step`
/// times as many again and again until more load brings no more, then depths between, where the
/// curve bends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueDepthLadder {
    /// The deepest that is tried, over all workers.
    pub queue_depth_max: u32,
    /// Each depth over the one before it.
    #[serde(default = "doubling")]
    pub step: u32,
    /// A doubling that raises the rate by less than this many thousandths brings no gain; two of
    /// them in a row end the ladder.
    pub gain_min_permille: u16,
    /// The objective: a mean response time above it ends the ladder, in nanoseconds.
    pub response_time_max_ns: Option<u64>,
    /// At most this many depths between, where the curve bends.
    pub refine_max: u32,
}

/// An open curve: the saturation by a ladder of queue depths, then Poisson arrivals at evenly
/// spaced shares of it, until one is more than the target takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfferedRates {
    /// How saturation is found; its objective for the response time ends the open curve too.
    pub ladder: QueueDepthLadder,
    /// Load points up to saturation: 10 are at 10 %, 20 % … 100 % of it.
    pub load_points: u32,
    /// Further ones above it, as far apart.
    pub beyond: u32,
}

/// Load points that are known beforehand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Repeat {
    /// One run of each.
    pub points: Vec<Run>,
}

/// How often load points are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeats {
    /// At least so often.
    pub least: u32,
    /// At most so often.
    pub most: u32,
    /// A load point needs no more once its 95 % interval is within this many thousandths of the
    /// value; without it, all are measured `least` times.
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

/// The step of ladders in plans that do not say.
const fn doubling() -> u32 {
    2
}

impl SearchMethod {
    /// Runs besides one for each load point: points on which a decision depends and that are not
    /// precise enough are measured again.
    pub const fn decisive_runs_max(&self) -> u32 {
        match self {
            SearchMethod::QueueDepth(_) | SearchMethod::OfferedRate(_) => 2,
            SearchMethod::Repeat(_) | SearchMethod::Reach(_) | SearchMethod::Scale(_) => 0,
        }
    }

    /// At most so many load points.
    pub fn load_points_max(&self) -> u32 {
        match self {
            SearchMethod::QueueDepth(ladder) => ladder.load_points_max(),
            SearchMethod::OfferedRate(rates) => {
                rates.ladder.load_points_max() + rates.load_points + rates.beyond
            }
            SearchMethod::Repeat(repeat) => u32::try_from(repeat.points.len()).unwrap_or(u32::MAX),
            SearchMethod::Reach(reach) => reach.load_points_max(),
            SearchMethod::Scale(_) => scale::RUNS_MAX,
        }
    }
}

impl QueueDepthLadder {
    /// The depths of the ladder, over all workers: 1, each next one `step` times as deep, and the
    /// deepest.
    pub fn depths(&self) -> Vec<u32> {
        let step = self.step.max(2);
        let rungs = std::iter::successors(Some(1u32), |depth| depth.checked_mul(step));
        let mut depths: Vec<u32> =
            rungs.take_while(|depth| *depth < self.queue_depth_max).collect();
        depths.push(self.queue_depth_max);
        depths
    }

    fn load_points_max(&self) -> u32 {
        self.depths().len() as u32 + self.refine_max
    }
}

impl Search {
    /// The runs that stand for all of its runs where it must be known beforehand what they need:
    /// files, memory, threads. None of its runs needs more than the largest of these.
    pub fn model_runs(&self) -> &[Run] {
        match &self.method {
            SearchMethod::Repeat(repeat) => &repeat.points,
            SearchMethod::Scale(scale) => std::slice::from_ref(&scale.largest),
            SearchMethod::QueueDepth(_) | SearchMethod::OfferedRate(_) | SearchMethod::Reach(_) => {
                std::slice::from_ref(&self.template)
            }
        }
    }

    /// The mean response time that is to be met, in nanoseconds.
    pub const fn response_time_max_ns(&self) -> Option<u64> {
        match &self.method {
            SearchMethod::QueueDepth(ladder) => ladder.response_time_max_ns,
            SearchMethod::OfferedRate(rates) => rates.ladder.response_time_max_ns,
            SearchMethod::Reach(reach) => reach.response_time_max_ns,
            SearchMethod::Repeat(_) | SearchMethod::Scale(_) => None,
        }
    }

    /// Whether the run of this index is one of the search's.
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
    /// The same with `total` operations outstanding over all workers of each stream: on as many
    /// workers as share them evenly, at most those there are. The load point is named by it.
    pub fn with_queue_depth(&self, total: u32) -> Run {
        let total = total.max(1);
        let mut run = self.clone();
        for stream in &mut run.streams {
            let most = stream.workers.min(total).max(1);
            stream.workers =
                (1..=most).rev().find(|workers| total.is_multiple_of(*workers)).unwrap_or(1);
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

    /// The same with Poisson arrivals of `rate` operations per second in each stream, rounded to
    /// four digits. The load point is named by it.
    pub fn with_offered_rate(&self, rate: f64) -> Run {
        let offered_rate = four_digits(rate);
        let mut run = self.clone();
        for stream in &mut run.streams {
            stream.arrival = Arrival::Poisson { offered_rate };
        }
        run.name("offered_rate", Value::Rate(offered_rate).to_string());
        run
    }

    /// The same with `workers` workers in each stream, each with the queue depth that it has. The
    /// load point is named by it.
    pub fn with_workers(&self, workers: u32) -> Run {
        let mut run = self.clone();
        for stream in &mut run.streams {
            stream.workers = workers.max(1);
        }
        run.name("workers", workers.max(1).to_string());
        run
    }

    /// Names the load point by `key`, in place of an earlier value of it.
    fn name(&mut self, key: &str, value: String) {
        match self.parameters.iter_mut().find(|(known, _)| known == key) {
            Some(parameter) => parameter.1 = value,
            None => self.parameters.push((key.to_owned(), value)),
        }
    }

    /// The limit on outstanding operations over all streams and workers.
    pub fn queue_depth_total(&self) -> u64 {
        self.streams.iter().map(Stream::queue_depth_total).sum()
    }
}

/// A rate that can be read aloud: nobody asks for 16,383.97 operations per second.
fn four_digits(rate: f64) -> f64 {
    if rate.is_nan() || rate <= 0.0 || rate.is_infinite() {
        return 0.001;
    }
    let unit = 10f64.powf(rate.log10().floor() - 3.0);
    // Multiplied and divided by whole numbers where it is above 1, so that the result is exact.
    let rounded = if unit >= 1.0 {
        (rate / unit).round() * unit
    } else {
        (rate / unit).round() / (1.0 / unit).round()
    };
    rounded.max(0.001)
}
