//! The scaling experiments, one after another: which run tells most about what limits a rate.
//!
//! First how the rate goes with what is asked, then one change of circumstances at a time, each for
//! two explanations that it tells apart, until one of them is left or nothing tells them apart.

use workload::pattern::AccessPattern;
use workload::plan::{Run, Stream, WeightedSize};
use workload::search::{Search, SearchMethod};

use crate::load_point::LoadPoint;
use crate::work::Order;

use super::groups::{self, Group, State};
use super::known::Known;
use super::scale::{self, Change};
use super::{CLAIM_MIN, Limit, judge};

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

/// The next run that tells something of what limits `template`; `None` where one explanation is
/// left, or nothing would tell them apart. Its parameters say what it changes.
pub fn next(template: &Run, may: May, done: &[LoadPoint], known: &Known) -> Option<Run> {
    let workers: u64 = template.streams.iter().map(|stream| u64::from(stream.workers)).sum();
    let groups = groups::groups(done);
    let Some(base) = groups.first() else { return Some(at_depth(template, &[], 1)) };
    let depth_max = u64::from(may.queue_depth_max) * workers.max(1);
    let deepest = base.last().depth as u64;
    if base.state != State::Flat && base.points.len() < LADDER_MAX && deepest < depth_max {
        return Some(at_depth(template, &[], (deepest * STEP / workers.max(1)).max(1)));
    }
    let candidates = judge::candidates(base, &groups, known);
    let best = candidates.first()?;
    if best.probability >= CLAIM_MIN && best.limit != Limit::Unknown || base.state != State::Flat {
        return None;
    }
    let base_depth = (deepest / workers.max(1)).max(1);
    let allowed = |change: &Change| match change {
        Change::Connections => may.connections,
        Change::Mix | Change::Direction => may.direction && base.work.read_share.fract() == 0.0,
        Change::Volumes => may.volumes,
        Change::TransferSize => template.streams.iter().all(|s| s.transfer_sizes.len() == 1),
        Change::Workers => true,
        Change::Order => base.work.order != Order::Both,
        Change::Deeper => false,
    };
    for change in scale::tellings(base, &candidates).into_iter().filter(allowed) {
        let changed = change.of(base);
        // A smaller transfer needs as many times more operations for the same bytes.
        let smaller = (base.work.transfer_bytes / changed.work.transfer_bytes).max(1.0) as u64;
        let most = match change {
            Change::Connections | Change::Volumes => STEP * base_depth,
            Change::Workers => 2 * base_depth,
            _ => 2 * base_depth * smaller,
        };
        let most = most.min(u64::from(may.queue_depth_max));
        let settings = settings(change, &changed);
        let mine = groups.iter().find(|group| is_of(group, &changed));
        let keeps_kind = matches!(change, Change::Connections | Change::Workers | Change::Volumes);
        let depths = if keeps_kind { vec![most] } else { vec![1, most] };
        let done = |depth: &&u64| {
            let total = **depth * u64::from(changed.work.workers.max(1));
            mine.is_some_and(|group| group.points.iter().any(|p| p.depth == total as f64))
        };
        if let Some(depth) = depths.iter().find(|depth| !done(depth)) {
            let mut run = at_depth(template, &settings, *depth);
            // More workers must not bring connections of their own.
            if change == Change::Workers && may.connections {
                run.connections =
                    base.work.connections.map(|count| count.max(changed.work.workers));
            }
            if has_the_same_files(&run, template) && run.is_possible() {
                return Some(run);
            }
        }
    }
    None
}

/// Whether a load point is evidence of such a search and not the workload itself: something besides
/// the queue depth was changed for it.
pub(crate) fn is_changed(search: &Search, point: &LoadPoint) -> bool {
    matches!(search.method, SearchMethod::Scale(_))
        && point.runs.iter().any(|run| search.owns(run.index))
        && point.parameters.iter().any(|(key, _)| key != QUEUE_DEPTH)
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
            let other = scale::other_size(size.size_bytes as f64) as u64;
            size.size_bytes = size.size_bytes.max(other);
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

/// Whether a group was measured under these circumstances.
fn is_of(group: &Group, changed: &Group) -> bool {
    let (a, b) = (&group.work, &changed.work);
    (a.read_share - b.read_share).abs() < 1e-6
        && (a.transfer_bytes - b.transfer_bytes).abs() < 1.0
        && a.order == b.order
        && a.workers == b.workers
        && a.volumes == b.volumes
        && a.connections.unwrap_or(1) == b.connections.unwrap_or(1)
}

/// A change as keys and values, as a user would write them.
fn settings(change: Change, changed: &Group) -> Vec<(String, String)> {
    let work = &changed.work;
    let one = |key: &str, value: String| vec![(key.to_owned(), value)];
    match change {
        Change::Deeper => Vec::new(),
        Change::Connections => {
            one("run.nconnect", work.connections.map_or("1".to_owned(), |count| count.to_string()))
        }
        Change::TransferSize => {
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

/// The template at a queue depth for each worker, with these settings.
fn at_depth(template: &Run, settings: &[(String, String)], queue_depth: u64) -> Run {
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
    for stream in &mut run.streams {
        stream.queue_depth = u32::try_from(queue_depth).unwrap_or(u32::MAX);
    }
    run.parameters.push((QUEUE_DEPTH.to_owned(), queue_depth.to_string()));
    run
}
