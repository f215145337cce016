//! Scaling experiments, one after another: which run tells most about what limits throughput.
//!
//! First a ladder of queue depths until throughput has stopped rising, with points that are not
//! precise enough measured again; then one change of circumstances at a time, the most telling
//! first, until none would tell more; last the workload itself once more, because a comparison of
//! ceilings holds only if nothing else changed meanwhile.

use workload::pattern::AccessPattern;
use workload::plan::{Run, Stream, WeightedSize};
use workload::search::{Search, SearchMethod};

use crate::curve;
use crate::curve::plateau::{self, Inconclusive, RUNS_PER_POINT, State};
use crate::load_point::LoadPoint;
use crate::work::Order;

use super::experiment::{self, Change};
use super::known::Known;
use super::series::{self, Series};
use super::{Answer, Weighed, certain};

/// How much deeper each step of the ladder is.
const STEP: u64 = 4;
/// Steps of the ladder.
const LADDER_MAX: usize = 7;

/// What may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct May {
    /// The number of connections: the client is our own.
    pub connections: bool,
    /// Operations of the other direction may be sent.
    pub direction: bool,
    /// The number of volumes.
    pub volumes: bool,
    /// Most outstanding operations of a worker.
    pub queue_depth_max: u32,
}

/// The next run that tells something of what limits `template`; `None` where nothing would tell
/// more. Its parameters say what it changes.
pub fn next(template: &Run, may: May, done: &[LoadPoint], known: &Known) -> Option<Run> {
    let workers: u64 = template.streams.iter().map(|stream| u64::from(stream.workers)).sum();
    let workers = workers.max(1);
    let all = series::series(&curve::outlines(done, certain(known)), done);
    let Some(base) = all.first() else { return Some(at_depth(template, &[], 1)) };
    if let State::Inconclusive(Inconclusive::Precision(point) | Inconclusive::Stability(point)) =
        base.plateau.state
        && let Some(step) = base.steps[point].filter(|step| step.runs < RUNS_PER_POINT)
    {
        return Some(at_depth(template, &[], step.load as u64));
    }
    if !base.is_reached() {
        let deepest = base.deepest() as u64;
        let depth_max = u64::from(may.queue_depth_max) * workers;
        let deeper = deepest < depth_max && base.measured().count() < LADDER_MAX;
        let depth = (deepest * STEP).next_multiple_of(workers).min(depth_max);
        return deeper.then(|| at_depth(template, &[], depth));
    }
    if base.is_at_certain_limit() {
        return None;
    }
    let weighed = Weighed::of(base, &all, known);
    let telling = experiment::telling(base, &weighed, known);
    let mut changes = telling.into_iter().filter(|change| allowed(*change, template, may, base));
    if let Some(run) = changes.find_map(|change| changed(template, may, base, done, change)) {
        return Some(run);
    }
    let answer = weighed.answer(base);
    let Answer::Limited { by, .. } = &answer else { return None };
    if let Some(point) = weighed.decisive(by).filter(|point| done[*point].runs.len() == 1) {
        return Some(again(template, &done[point]));
    }
    let top = &done[base.top_load_point()];
    (!is_controlled(top, base, done)).then(|| again(template, top))
}

/// The same run once more.
fn again(template: &Run, point: &LoadPoint) -> Run {
    let is_depth = |key: &str| key.starts_with(QUEUE_DEPTH);
    let settings: Vec<(String, String)> =
        point.parameters.iter().filter(|(key, _)| !is_depth(key)).cloned().collect();
    let connections = point.work.connections.filter(|_| template.connections.is_some());
    let run = at_depth(template, &settings, point.queue_depth_total);
    Run { connections: connections.or(run.connections), ..run }
}

/// Whether the workload itself was measured again after everything that it is compared with: if a
/// limit moved meanwhile, or a burst credit was used up, the comparison would not hold.
fn is_controlled(top: &LoadPoint, base: &Series, done: &[LoadPoint]) -> bool {
    let last_run = |point: &LoadPoint| point.runs.iter().map(|run| run.index).max();
    let own = |index: &usize| base.load_points.contains(index);
    let others = (0..done.len()).filter(|index| !own(index)).filter_map(|i| last_run(&done[i]));
    let enough = top.runs.len() as u32 > RUNS_PER_POINT;
    enough || others.max().is_none_or(|last| last_run(top).is_some_and(|own| own > last))
}

fn allowed(change: Change, template: &Run, may: May, base: &Series) -> bool {
    match change {
        Change::Connections => may.connections,
        Change::Mix | Change::Direction => may.direction && base.work.read_share.fract() == 0.0,
        Change::Volumes => may.volumes,
        Change::LargerTransfers | Change::SmallerTransfers => {
            template.streams.iter().all(|s| s.transfer_sizes.len() == 1)
        }
        Change::Workers => true,
        Change::Order => base.work.order != Order::Both,
    }
}

/// The next run under changed circumstances: one operation at a time where the change makes another
/// kind of operation, then a load that reaches the ceiling, again where that is not precise.
fn changed(
    template: &Run,
    may: May,
    base: &Series,
    done: &[LoadPoint],
    change: Change,
) -> Option<Run> {
    let base_depth = base.deepest() as u64;
    let changed = change.of(base);
    // A smaller transfer needs as many times more operations for the same bytes.
    let smaller = (base.work.transfer_bytes / changed.work.transfer_bytes).max(1.0) as u64;
    let most = match change {
        Change::Connections | Change::Volumes => STEP * base_depth,
        Change::Workers => 2 * base_depth,
        _ => 2 * base_depth * smaller,
    };
    let workers = u64::from(changed.work.workers.max(1));
    let most = most.next_multiple_of(workers).min(u64::from(may.queue_depth_max) * workers);
    let settings = settings(change, &changed);
    let keeps_kind = matches!(change, Change::Connections | Change::Workers | Change::Volumes);
    let totals = if keeps_kind { vec![most] } else { vec![1, most] };
    let run = |total: u64| {
        let mut run = at_depth(template, &settings, total);
        if change == Change::Workers && may.connections {
            run.connections = changed.work.connections;
        }
        run
    };
    let run = totals.into_iter().map(run).find(|run| wants_run(run, done))?;
    (has_the_same_files(&run, template) && run.is_possible()).then_some(run)
}

/// Whether a run was not made yet, or not precisely enough.
fn wants_run(run: &Run, done: &[LoadPoint]) -> bool {
    let same = |p: &&LoadPoint| p.variant == run.variant && p.parameters == run.parameters;
    let Some(point) = done.iter().find(same) else { return true };
    let step = plateau::steps(&[point]).into_iter().next().flatten();
    step.is_some_and(|step| step.wants_another_run())
}

/// Whether a load point is evidence of such a search and not the workload itself: something besides
/// the queue depth was changed for it.
pub(crate) fn is_changed(search: &Search, point: &LoadPoint) -> bool {
    matches!(search.method, SearchMethod::Scale(_))
        && point.runs.iter().any(|run| search.owns(run.index))
        && point.parameters.iter().any(|(key, _)| !key.starts_with(QUEUE_DEPTH))
}

const QUEUE_DEPTH: &str = "queue_depth";

/// A run that needs as much as the largest of the experiments of `template`: connections, threads,
/// memory for the transfers that are outstanding.
pub fn largest(template: &Run, may: May) -> Run {
    let mut run = template.clone();
    for stream in &mut run.streams {
        stream.workers = stream.workers.saturating_mul(2);
        stream.queue_depth = stream.queue_depth.max(may.queue_depth_max);
        if let [size] = &mut stream.transfer_sizes[..] {
            size.size_bytes = experiment::larger(size.size_bytes as f64) as u64;
        }
    }
    if !has_the_same_files(&run, template) {
        for (stream, own) in run.streams.iter_mut().zip(&template.streams) {
            stream.transfer_sizes.clone_from(&own.transfer_sizes);
        }
    }
    let workers: u32 = run.streams.iter().map(|stream| stream.workers).sum();
    run.connections = run.connections.map(|count| count.max(workers));
    run
}

/// Other files would have to be filled first, and may lie elsewhere.
fn has_the_same_files(run: &Run, template: &Run) -> bool {
    let files = |run: &Run| run.streams.iter().map(Stream::file_set).collect::<Vec<_>>();
    files(run) == files(template)
}

/// A change as keys and values, as a user would write them.
fn settings(change: Change, changed: &Series) -> Vec<(String, String)> {
    let work = &changed.work;
    let one = |key: &str, value: String| vec![(key.to_owned(), value)];
    match change {
        Change::Connections => {
            one("run.nconnect", work.connections.map_or("1".to_owned(), |count| count.to_string()))
        }
        Change::LargerTransfers | Change::SmallerTransfers => {
            one("transfer_size", exactly(units::Bytes::new(work.transfer_bytes as u64)))
        }
        Change::Workers => one("workers", work.workers.to_string()),
        Change::Order => {
            let pattern = if work.order == Order::Sequential { "sequential" } else { "random" };
            one("pattern", pattern.to_owned())
        }
        Change::Mix | Change::Direction => one("read", format!("{:.0}%", 100.0 * work.read_share)),
        Change::Volumes => one(crate::work::VOLUMES, work.volumes.to_string()),
    }
}

/// As a user would write it, and without rounding.
fn exactly(size: units::Bytes) -> String {
    let words = size.to_string().replace(' ', "");
    match words.parse::<units::Bytes>() {
        Ok(read) if read == size => words,
        _ => size.get().to_string(),
    }
}

/// The template with these settings and so many operations outstanding over all its workers.
fn at_depth(template: &Run, settings: &[(String, String)], total: u64) -> Run {
    let mut run = template.clone();
    run.parameters = settings.to_vec();
    for (key, value) in settings {
        for stream in &mut run.streams {
            match key.as_str() {
                "transfer_size" => {
                    let size_bytes = value.parse().map_or(0, units::Bytes::get);
                    stream.transfer_sizes = vec![WeightedSize { size_bytes, weight: 1 }];
                }
                "read" => {
                    stream.read_permille = match value.as_str() {
                        "0%" => 0,
                        "50%" => 500,
                        _ => 1000,
                    };
                }
                "pattern" if value == "sequential" => {
                    stream.access_pattern = AccessPattern::Sequential;
                }
                "pattern" => stream.access_pattern = AccessPattern::Uniform,
                "workers" => stream.workers *= 2,
                _ => {}
            }
        }
        if key == "run.nconnect" {
            run.connections = value.parse().ok();
        }
    }
    run.with_queue_depth(u32::try_from(total).unwrap_or(u32::MAX))
}
