//! The next run of a search, as a function of the search and its load points so far.
//!
//! The same load points give the same next run, so a search can be replayed from its records.
//! Methods decide by the first run of each load point; later repeats improve the figures and do not
//! change the path.
//!
//! Not for: executing runs (the runner), nor for the resulting curve ([`crate::curve`]).

mod ladder;
mod rates;
mod reach;
mod repeats;
mod scale;
mod users;

use metrics::run_record::Outcome;
use workload::plan::Run;
use workload::search::{Search, SearchMethod};

use crate::load_point::{LoadPoint, RunSummary};

/// The run that comes next; `None` where the search has ended.
///
/// `done` are the load points of this search's runs so far, in the order of their first runs.
pub fn next(search: &Search, done: &[LoadPoint]) -> Option<Run> {
    let done: Vec<&LoadPoint> = done.iter().collect();
    match decide(search, &done) {
        Decision::Run(run) => Some(run),
        Decision::End(_) => None,
    }
}

/// The outcome of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Searched {
    /// Its title.
    pub name: String,
    /// Its load points, as indices in `Findings::load_points`.
    pub load_points: Vec<usize>,
    /// Its runs.
    pub runs: u32,
    /// Why it ended; `None` if it was interrupted.
    pub ended: Option<Ended>,
    /// It raises the offered rate until the target is overloaded.
    pub goes_to_overload: bool,
    /// Load points whose confidence intervals are still too wide after the maximum number of
    /// repeats, as indices in `Findings::load_points`.
    pub not_converged: Vec<usize>,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Two doublings of the queue depth in a row raised the rate by less than the required gain.
    NoGain,
    /// The mean response time was above the objective.
    ResponseTime,
    /// The offered rate exceeded what the target sustains.
    Overloaded,
    /// All planned load points were measured.
    AllTried,
    /// The lowest concurrency that reaches the rate is known.
    Reached,
    /// The bottleneck is known, or that there is none.
    Explained,
    /// The bottleneck is not known, and no permitted change would reveal it.
    Inconclusive,
    /// A run failed.
    Failed,
    /// The maximum number of runs was reached.
    RunsMax,
    /// Hosts were lost, so further runs would be those of fewer hosts.
    HostsLost,
    /// The overload point of users is known to the required precision.
    Bracketed,
}

impl Ended {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Ended::NoGain => "no_gain",
            Ended::ResponseTime => "response_time",
            Ended::Overloaded => "overloaded",
            Ended::AllTried => "all_tried",
            Ended::Reached => "reached",
            Ended::Explained => "explained",
            Ended::Inconclusive => "inconclusive",
            Ended::Failed => "failed",
            Ended::RunsMax => "runs_max",
            Ended::HostsLost => "hosts_lost",
            Ended::Bracketed => "bracketed",
        }
    }
}

/// The outcome of `search`; `all` are the load points of the whole experiment.
pub(crate) fn searched(search: &Search, all: &[LoadPoint]) -> Searched {
    let of_search = |point: &LoadPoint| point.runs.iter().any(|run| search.owns(run.index));
    let indices: Vec<usize> = (0..all.len()).filter(|index| of_search(&all[*index])).collect();
    let done: Vec<&LoadPoint> = indices.iter().map(|index| &all[*index]).collect();
    let cut_short = done.iter().flat_map(|point| &point.runs).any(is_cut_short);
    let ended = match decide(search, &done) {
        Decision::End(ended) if !cut_short => Some(ended),
        Decision::End(_) | Decision::Run(_) => None,
    };
    let wide = |point: &LoadPoint| repeats::is_too_wide(search.repeats, point);
    Searched {
        name: search.name.clone(),
        runs: runs_of(&done),
        ended,
        goes_to_overload: matches!(search.method, SearchMethod::OfferedRate(_)),
        not_converged: indices.iter().copied().filter(|index| wide(&all[*index])).collect(),
        load_points: indices,
    }
}

/// The next run, or the end.
enum Decision {
    Run(Run),
    End(Ended),
}

fn decide(search: &Search, done: &[&LoadPoint]) -> Decision {
    let number = runs_of(done);
    let lost_hosts = done.iter().any(|point| !point.is_whole());
    let chosen = match &search.method {
        SearchMethod::Repeat(_) => Err(Ended::AllTried),
        // Totals of fewer hosts answer nothing about all of them.
        _ if lost_hosts => Err(Ended::HostsLost),
        SearchMethod::QueueDepth(ladder) => ladder::next(search, ladder, done),
        SearchMethod::OfferedRate(rates) => rates::next(search, rates, done),
        SearchMethod::Reach(reach) => reach::next(search, reach, done),
        SearchMethod::Scale(scale) => scale::next(search, scale, done),
        SearchMethod::Users(users) => users::next(search, users, done),
    };
    let (run, repeat) = match chosen {
        Ok(run) => {
            let repeat = repeat_of(&run, done);
            (run, repeat)
        }
        Err(ended @ (Ended::Failed | Ended::HostsLost)) => return Decision::End(ended),
        // Tuning repeats only what noise left undecided; each scaling experiment asks a different
        // question.
        Err(ended) if matches!(search.method, SearchMethod::Reach(_) | SearchMethod::Scale(_)) => {
            return Decision::End(ended);
        }
        Err(ended) => match repeats::next(search, done) {
            Some(again) => again,
            None => return Decision::End(ended),
        },
    };
    if number >= search.runs_max {
        return Decision::End(Ended::RunsMax);
    }
    Decision::Run(search.numbered(run, number, repeat))
}

/// How often the run's load point was measured. Only tuning repeats a load point by itself.
fn repeat_of(run: &Run, done: &[&LoadPoint]) -> u32 {
    let same = |p: &&&LoadPoint| p.variant == run.variant && p.parameters == run.parameters;
    done.iter().find(same).map_or(0, |point| point.runs.len() as u32)
}

fn runs_of(done: &[&LoadPoint]) -> u32 {
    done.iter().map(|point| point.runs.len() as u32).sum()
}

/// Whether the run was interrupted or aborted.
fn is_cut_short(run: &RunSummary) -> bool {
    matches!(run.outcome, Outcome::Interrupted | Outcome::Aborted)
}

/// Whether the run has no data to decide by.
fn is_failed(run: &RunSummary) -> bool {
    run.outcome != Outcome::Done || !run.summary.is_measured()
}

/// Completions per second of all kinds of operations, to compare with an offered rate.
fn rate(run: &RunSummary) -> f64 {
    run.summary.total.achieved_rate_all_kinds().map_or(0.0, |rate| rate.value)
}

/// Mean response time of reads and writes, in nanoseconds; 0 where nothing completed.
fn response_ns(run: &RunSummary) -> f64 {
    run.summary.total.data.response.mean_ns.map_or(0.0, |mean| mean.value)
}
