//! From `[search]` and the repeats of `[run]` to searches: which method, with which bounds, and
//! what cannot be searched.

use crate::arrival::Arrival;
use crate::diagnostic::{Diagnostic, Place};
use crate::experiment::{Experiment, missing_key};
use crate::keys::{self, Section};
use crate::plan::{Run, Stream};
use crate::resolve::{DEFAULTS_FILE, Layer};
use crate::search::{OfferedRates, QueueDepthLadder, Repeat, Repeats, Search, SearchMethod};
use crate::value::Value;

/// Open load points have room for this many times the deepest queue of the ladder, so that the
/// schedule and not the queue decides when operations are sent.
const OPEN_ROOM: u32 = 2;
/// As the table of keys has it.
const QUEUE_DEPTH_MAX: u32 = 4096;
/// A difference between repeats needs two of them, and three before it means much.
const LEAST_WITH_UNTIL: u32 = 3;

/// What `[search]` asks for.
pub(crate) struct Searching {
    /// A closed curve that is looked at closely.
    refined: bool,
    /// An open curve too.
    open: bool,
    step: u32,
    gain_min_permille: u16,
    response_time_max_ns: Option<u64>,
    refine_max: u32,
    load_points: u32,
    beyond: u32,
    place: Place,
}

impl Searching {
    /// What is written; `None` where no search is asked for, or it is not said which.
    pub(crate) fn of(experiment: &Experiment, problems: &mut Vec<Diagnostic>) -> Option<Searching> {
        let place = experiment.search.first()?.place.clone();
        let layer = Layer::over(&[&experiment.search], Section::Search);
        if !layer.is_written("method") {
            if let Some(key) = keys::key(Section::Search, "method") {
                problems.push(missing_key(&place, key, "[search]"));
            }
            return None;
        }
        let Some((Value::Text(method), place)) = layer.at("method", &[]) else { return None };
        let count = |name| match layer.at(name, &[]) {
            Some((Value::Count(count), _)) => u32::try_from(*count).ok(),
            _ => None,
        };
        let gain_min_permille = match layer.at("gain_min", &[]) {
            Some((Value::Share(permille), _)) => *permille,
            _ => return None,
        };
        let response_time_max_ns = match layer.at("response_time_max", &[]) {
            Some((Value::Duration(ns), _)) => Some(*ns),
            _ => None,
        };
        Some(Searching {
            refined: method != "offered-rate",
            open: method != "queue-depth",
            step: count("step")?,
            gain_min_permille,
            response_time_max_ns,
            refine_max: count("refine")?,
            load_points: count("load_points")?,
            beyond: count("beyond")?,
            place: place.clone(),
        })
    }

    /// What cannot be searched, whatever the values of the sweeps.
    pub(crate) fn check(&self, layers: &[Layer<'_>], problems: &mut Vec<Diagnostic>) {
        if layers.len() > 1 {
            let wrong = self.place.diagnostic(
                "a search has one load, and the experiment has several streams",
                "one stream where there is a [search]",
            );
            problems.push(wrong.with_found(format!("{} streams", layers.len())));
        }
        for layer in layers {
            if let Some(depths) = layer.setting("queue_depth").filter(|own| own.choices.len() > 1) {
                let wrong = depths.place.diagnostic(
                    "a search tries queue depths itself",
                    "one `queue_depth`: the deepest that is tried",
                );
                problems.push(wrong.with_found(format!("{} of them", depths.choices.len())));
            }
            let Some(arrival) = layer.setting("arrival") else { continue };
            let fits = |value: &Value| match value {
                Value::Arrival(Arrival::Closed { think_time_ns }) => {
                    *think_time_ns == 0 || !self.open
                }
                _ => false,
            };
            if let Some(wrong) = arrival.choices.iter().find(|choice| !fits(&choice.value)) {
                let allowed = match self.open {
                    true => "\"closed\", without a think time",
                    false => "\"closed\"",
                };
                let found = wrong.value.to_string();
                let wrong = wrong.place.diagnostic("a search sets arrivals itself", allowed);
                problems.push(wrong.with_found(found));
            }
        }
    }

    /// Gives a stream the largest load that any of the search's runs may have.
    pub(crate) fn widen(&self, stream: &mut Stream) {
        if self.open {
            stream.queue_depth = (stream.queue_depth * OPEN_ROOM).min(QUEUE_DEPTH_MAX);
        }
    }

    /// The search that is made of one load point of the sweeps; `depth` is the deepest queue that
    /// is tried, over all workers.
    pub(crate) fn search(&self, template: Run, depth: u32, repeats: Repeats) -> Search {
        let ladder = QueueDepthLadder {
            queue_depth_max: depth,
            step: self.step,
            gain_min_permille: self.gain_min_permille,
            response_time_max_ns: self.response_time_max_ns,
            refine_max: if self.refined { self.refine_max } else { 0 },
        };
        let method = match self.open {
            false => SearchMethod::QueueDepth(ladder),
            true => SearchMethod::OfferedRate(OfferedRates {
                ladder,
                load_points: self.load_points,
                beyond: self.beyond,
            }),
        };
        bounded(Search { name: template.load_point(), template, method, repeats, runs_max: 0 })
    }
}

/// The load points of `points`, known beforehand, repeated until they are known well enough. At
/// least one; their indexes are made by the search.
pub(crate) fn repeated(name: &str, points: Vec<Run>, repeats: Repeats) -> Option<Search> {
    let template = points.first()?.clone();
    let method = SearchMethod::Repeat(Repeat { points });
    Some(bounded(Search { name: name.to_owned(), template, method, repeats, runs_max: 0 }))
}

fn bounded(search: Search) -> Search {
    let method = &search.method;
    let runs_max = method.load_points_max().saturating_mul(search.repeats.most);
    Search { runs_max: runs_max.saturating_add(method.decisive_runs_max()), ..search }
}

/// How often `[run]` wants load points measured.
pub(crate) fn repeats(run: &Layer<'_>, problems: &mut Vec<Diagnostic>) -> Repeats {
    let count = |name| match run.at(name, &[]) {
        Some((Value::Count(count), place)) => {
            Some((u32::try_from(*count).unwrap_or(u32::MAX), place))
        }
        _ => None,
    };
    let written = count("repeats");
    let Some((Value::Share(until), place)) = run.at("until", &[]) else {
        return Repeats::exactly(written.map_or(1, |(count, _)| count));
    };
    let by_user = written.filter(|(_, place)| place.file.as_ref() != DEFAULTS_FILE);
    let least = by_user.map_or(LEAST_WITH_UNTIL, |(count, _)| count);
    let most = count("repeats_max").map_or(least, |(count, _)| count);
    if most < least {
        let wrong = place.diagnostic(
            "load points are to be repeated more often at least than at most",
            "`repeats` up to `repeats_max`",
        );
        problems.push(wrong.with_found(format!("at least {least}, at most {most}")));
    }
    Repeats { least, most: most.max(least), until_permille: Some(*until) }
}
