//! The settings of `[search]` and the repeats of `[run]`, and the searches that they define.

use std::time::Duration;

use settings::{Diagnostic, SourceSpan};
use units::print_duration;

use crate::arrival::Arrival;
use crate::keys::{self, Section};
use crate::layer::{DEFAULTS_FILE, Layer};
use crate::problem::missing_key;
use crate::run::{Phases, Run, Stream};
use crate::search::{OfferedRates, QueueDepthLadder, Repeat, Repeats, Search, SearchMethod};
use crate::user_search::UserSearch;
use crate::value::Value;
use crate::written::Experiment;

/// Open load points may have this many times the maximum queue depth of the closed curve, so that the
/// schedule determines when operations are issued.
const OPEN_ROOM: u32 = 2;
/// The maximum in the table of keys.
const QUEUE_DEPTH_MAX: u32 = 4096;
/// A variance needs two repeats, and a usable one three.
const LEAST_WITH_UNTIL: u32 = 3;

/// The settings of `[search]`.
pub(crate) struct SearchSettings {
    /// Add queue depths where the closed curve bends.
    refined: bool,
    /// Measure an open curve, too.
    open: bool,
    step: u32,
    gain_min_permille: u16,
    response_time_max_ns: Option<u64>,
    refine_max: u32,
    load_points: u32,
    beyond: u32,
    /// Tolerated overload and precision of a search for users, in thousandths; `None` for other searches.
    users: Option<(u16, u16)>,
    span: SourceSpan,
}

impl SearchSettings {
    /// The settings of an experiment; `None` without a search, or without its method.
    pub(crate) fn of(
        experiment: &Experiment,
        problems: &mut Vec<Diagnostic>,
    ) -> Option<SearchSettings> {
        let span = experiment.search.first()?.span.clone();
        let layer = Layer::over(&[&experiment.search], Section::Search);
        if !layer.is_written("method") {
            if let Some(key) = keys::key(Section::Search, "method") {
                problems.push(missing_key(&span, key, "[search]"));
            }
            return None;
        }
        let Some((Value::Text(method), span)) = layer.at("method", &[]) else { return None };
        let count = |name| match layer.at(name, &[]) {
            Some((Value::Count(count), _)) => u32::try_from(*count).ok(),
            _ => None,
        };
        let share = |name| match layer.at(name, &[]) {
            Some((Value::Share(permille), _)) => Some(*permille),
            _ => None,
        };
        let gain_min_permille = share("gain_min")?;
        let (overload_max, precision) = (share("overload_max")?, share("precision")?);
        let is_users = method == "users";
        if is_users && let Some((_, span)) = layer.at("response_time_max", &[]) {
            let wrong = span.diagnostic(
                "a search for users has no objective for the response time",
                "`overload_max`",
            );
            problems.push(wrong.with_hint("omit `response_time_max`"));
        }
        let response_time_max_ns = match layer.at("response_time_max", &[]) {
            Some((Value::Duration(ns), _)) => Some(*ns),
            _ => None,
        };
        Some(SearchSettings {
            refined: method != "offered-rate",
            open: !is_users && method != "queue-depth",
            users: is_users.then_some((overload_max, precision)),
            step: count("step")?,
            gain_min_permille,
            response_time_max_ns,
            refine_max: count("refine")?,
            load_points: count("load_points")?,
            beyond: count("beyond")?,
            span: span.clone(),
        })
    }

    /// Reports streams that cannot be searched, independent of sweeps.
    pub(crate) fn check(
        &self,
        run: &Layer<'_>,
        layers: &[Layer<'_>],
        problems: &mut Vec<Diagnostic>,
    ) {
        if let Some(shared) = run.setting("arrival") {
            let wrong = "a search chooses the arrival process itself";
            problems.push(shared.span.diagnostic(wrong, "[run] without `arrival`"));
        }
        if layers.len() > 1 {
            let wrong = self.span.diagnostic(
                "a search needs exactly one stream",
                "one stream in an experiment with [search]",
            );
            problems.push(wrong.with_found(format!("{} streams", layers.len())));
        }
        for layer in layers {
            if self.users.is_some() != layer.has_users() {
                problems.push(self.wrong_load(layer));
                continue;
            }
            if let Some(users) = layer.setting("users").filter(|own| own.choices.len() > 1) {
                let wrong = users.span.diagnostic(
                    "a search chooses the number of users itself",
                    "one `users`: the maximum that is tried",
                );
                problems.push(wrong.with_found(format!("{} numbers", users.choices.len())));
            }
            if let Some(depths) = layer.setting("queue_depth").filter(|own| own.choices.len() > 1) {
                let wrong = depths.span.diagnostic(
                    "a search chooses the queue depths itself",
                    "one `queue_depth`: the maximum that is tried",
                );
                problems.push(wrong.with_found(format!("{} queue depths", depths.choices.len())));
            }
            for limit in ["start", "end"].into_iter().filter_map(|key| layer.setting(key)) {
                let wrong = "the stream of a search is active from the start of a run to its end";
                let allowed = format!("a stream without `{}`", limit.key.name);
                problems.push(limit.span.diagnostic(wrong, allowed));
            }
            if let Some(replay) = layer.setting("replay") {
                let wrong = "a search chooses the load itself, and a replay is that of a trace";
                let wrong = replay.span.diagnostic(wrong, "a stream without `replay`");
                problems.push(wrong.with_hint("sweep `speed` instead: `speed = [1, 2, 4]`"));
                continue;
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
                let wrong =
                    wrong.span.diagnostic("a search chooses the arrival process itself", allowed);
                problems.push(wrong.with_found(found));
            }
        }
    }

    /// A search that does not fit the load of a stream.
    fn wrong_load(&self, layer: &Layer<'_>) -> Diagnostic {
        match layer.setting("users") {
            Some(users) => users
                .span
                .diagnostic("a search for queue depths or rates has no users", "`queue_depth`")
                .with_hint("set `method = \"users\"` in [search]"),
            None => self
                .span
                .diagnostic("a search for users needs a stream with users", "a stream with `users`")
                .with_hint("set `users`, `cycle` and `scenario`, or choose another `method`"),
        }
    }

    /// Refuses runs of a search for users that cannot show overload: no user starts twice.
    pub(crate) fn check_streams(
        &self,
        streams: &[Stream],
        phases: &Phases,
        problems: &mut Vec<Diagnostic>,
    ) {
        let users = streams.iter().filter_map(|stream| stream.arrival.users());
        let Some(cycle_ns) = users.map(|users| users.cycle_ns).max() else { return };
        if self.users.is_some() && phases.total_ns() <= cycle_ns {
            let shown = |ns| print_duration(Duration::from_nanos(ns));
            let wrong = self.span.diagnostic(
                "a run of the search is not longer than a cycle of its users, so no scenario can \
                 be late",
                format!("`warm_up` and `measure` of more than {} together", shown(cycle_ns)),
            );
            let wrong = wrong.with_found(shown(phases.total_ns()));
            problems.push(wrong.with_hint(
                "set `warm_up` to one cycle and `measure` to one or more, or shorten `cycle`",
            ));
        }
    }

    /// Raises a stream to the largest load of any run of the search.
    pub(crate) fn widen(&self, stream: &mut Stream) {
        if self.open {
            stream.queue_depth = (stream.queue_depth * OPEN_ROOM).min(QUEUE_DEPTH_MAX);
        }
    }

    /// The search for one load point of the sweeps.
    ///
    /// * `depth` - the maximum queue depth, over all workers
    pub(crate) fn search(&self, template: Run, depth: u32, repeats: Repeats) -> Search {
        let ladder = QueueDepthLadder {
            queue_depth_max: depth,
            step: self.step,
            gain_min_permille: self.gain_min_permille,
            response_time_max_ns: self.response_time_max_ns,
            refine_max: if self.refined { self.refine_max } else { 0 },
        };
        let users = template.streams.first().and_then(|stream| stream.arrival.users());
        if let (Some((overload_max_permille, precision_permille)), Some(users)) =
            (self.users, users)
        {
            let method = SearchMethod::Users(UserSearch {
                users_max: users.count,
                users_min: template.streams.iter().map(|s| s.workers).max().unwrap_or(1),
                step: self.step,
                overload_max_permille,
                precision_permille,
            });
            let name = template.load_point();
            return bounded(Search { name, template, method, repeats, runs_max: 0 });
        }
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

/// A search that repeats fixed load points until they are precise enough; `None` without load points.
/// The search assigns the indexes of the runs.
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

/// The repeats that `[run]` requires.
pub(crate) fn repeats(run: &Layer<'_>, problems: &mut Vec<Diagnostic>) -> Repeats {
    let count = |name| match run.at(name, &[]) {
        Some((Value::Count(count), span)) => {
            Some((u32::try_from(*count).unwrap_or(u32::MAX), span))
        }
        _ => None,
    };
    let written = count("repeats");
    let Some((Value::Share(until), span)) = run.at("until", &[]) else {
        return Repeats::exactly(written.map_or(1, |(count, _)| count));
    };
    let by_user = written.filter(|(_, span)| span.file.as_ref() != DEFAULTS_FILE);
    let least = by_user.map_or(LEAST_WITH_UNTIL, |(count, _)| count);
    let most = count("repeats_max").map_or(least, |(count, _)| count);
    if most < least {
        let wrong = span.diagnostic(
            "the minimum number of repeats exceeds the maximum",
            "`repeats` up to `repeats_max`",
        );
        problems.push(wrong.with_found(format!("at least {least}, at most {most}")));
    }
    Repeats { least, most: most.max(least), until_permille: Some(*until) }
}
