//! What a search does next: a function of the search and of the load points that it has so far.
//!
//! Same load points, same next run, so that a search can be followed, and repeated, from its
//! records. Methods decide by the first run of each load point; repeats that come later make the
//! figures better and do not change what was looked at.
//!
//! Not for: doing runs (the runner), nor for what a search found as a curve ([`crate::curve`]).

mod ladder;
mod rates;
mod reach;
mod repeats;
mod scale;

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

/// What became of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Searched {
    /// What it was about, in words.
    pub name: String,
    /// Its load points, as places in `Findings::load_points`.
    pub load_points: Vec<usize>,
    /// Its runs.
    pub runs: u32,
    /// Why it ended; `None` where it was cut short.
    pub ended: Option<Ended>,
    /// It offers more and more until that is more than the target takes.
    pub goes_to_overload: bool,
    /// Load points that were measured as often as allowed and whose uncertainty is still above what
    /// was asked for, as places in `Findings::load_points`.
    pub not_narrow: Vec<usize>,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Twice in a row twice as many outstanding operations raised the rate by less than was asked
    /// for.
    NoGain,
    /// The mean response time was above the objective.
    ResponseTime,
    /// More was offered than the target takes.
    Overloaded,
    /// Everything that was to be tried was tried.
    AllTried,
    /// The least concurrency that reaches the rate is known.
    Reached,
    /// What limits the rate is known, or that nothing does.
    Explained,
    /// What limits the rate is not known, and nothing that may be changed would tell.
    Inconclusive,
    /// A run failed.
    Failed,
    /// The largest number of runs was reached.
    RunsMax,
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
        }
    }

    /// In words, as the end of a sentence: `it ended because ...`.
    pub const fn because(self) -> &'static str {
        match self {
            Ended::NoGain => "more outstanding operations brought no more",
            Ended::ResponseTime => "the mean response time went above the objective",
            Ended::Overloaded => "more was offered than the target takes",
            Ended::AllTried => "everything that was asked for was tried",
            Ended::Reached => "the least concurrency that reaches the rate is known",
            Ended::Explained => "what limits the rate is known, or that nothing does",
            Ended::Inconclusive => "nothing that may be changed here tells what limits the rate",
            Ended::Failed => "a run failed",
            Ended::RunsMax => "it had as many runs as it may have",
        }
    }
}

/// What became of `search`; `all` are the load points of the whole experiment.
pub(crate) fn searched(search: &Search, all: &[LoadPoint]) -> Searched {
    let of_search = |point: &LoadPoint| point.runs.iter().any(|run| search.owns(run.index));
    let places: Vec<usize> = (0..all.len()).filter(|place| of_search(&all[*place])).collect();
    let done: Vec<&LoadPoint> = places.iter().map(|place| &all[*place]).collect();
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
        not_narrow: places.iter().copied().filter(|place| wide(&all[*place])).collect(),
        load_points: places,
    }
}

/// A run, or that there is none any more.
enum Decision {
    Run(Run),
    End(Ended),
}

fn decide(search: &Search, done: &[&LoadPoint]) -> Decision {
    let number = runs_of(done);
    let chosen = match &search.method {
        SearchMethod::QueueDepth(ladder) => ladder::next(search, ladder, done),
        SearchMethod::OfferedRate(rates) => rates::next(search, rates, done),
        SearchMethod::Repeat(_) => Err(Ended::AllTried),
        SearchMethod::Reach(reach) => reach::next(search, reach, done),
        SearchMethod::Scale(scale) => scale::next(search, scale, done),
    };
    let (run, repeat) = match chosen {
        Ok(run) => {
            let repeat = repeat_of(&run, done);
            (run, repeat)
        }
        Err(Ended::Failed) => return Decision::End(Ended::Failed),
        // A tuning repeats what noise leaves open, and nothing else; each scaling experiment is
        // about another question.
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

/// How often the run's load point was measured. Only a tuning asks for one again by itself.
fn repeat_of(run: &Run, done: &[&LoadPoint]) -> u32 {
    let same = |p: &&&LoadPoint| p.variant == run.variant && p.parameters == run.parameters;
    done.iter().find(same).map_or(0, |point| point.runs.len() as u32)
}

fn runs_of(done: &[&LoadPoint]) -> u32 {
    done.iter().map(|point| point.runs.len() as u32).sum()
}

/// Whether somebody or something outside ended the run.
fn is_cut_short(run: &RunSummary) -> bool {
    matches!(run.outcome, Outcome::Interrupted | Outcome::Aborted)
}

/// Whether the run tells nothing that a decision could rest on.
fn is_failed(run: &RunSummary) -> bool {
    run.outcome != Outcome::Done || run.summary.intervals == 0
}

/// Completions per second of all kinds of operations: what an offered rate is compared with.
fn rate(run: &RunSummary) -> f64 {
    run.summary.total.achieved_rate_all_kinds().map_or(0.0, |rate| rate.value)
}

/// Mean response time of reads and writes, in nanoseconds; 0 where nothing completed.
fn response_ns(run: &RunSummary) -> f64 {
    run.summary.total.data.response.mean_ns.map_or(0.0, |mean| mean.value)
}
