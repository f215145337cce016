//! Sequential scaling experiments: the next run that is most informative about what limits
//! throughput.
//!
//! First a ladder of queue depths until throughput stops rising, with repeats of imprecise points;
//! then one change of circumstances at a time, the most informative first, until none is
//! worthwhile; last the workload itself again, because a comparison of ceilings requires that
//! nothing else changed meanwhile.

use units::{Bytes, Percent};
use workload::pattern::AccessPattern;
use workload::plan::{Run, Stream, WeightedSize};
use workload::search::{Search, SearchMethod};

use crate::curve;
use crate::curve::plateau::{self, Inconclusive, RUNS_PER_POINT, State};
use crate::load_point::LoadPoint;
use crate::workload_signature::{Order, WorkloadSignature};

use super::experiment::{self, Change, fewer};
use super::known::Known;
use super::series::{self, Series};
use super::{Answer, Weighed, certain};

/// Factor between steps of the ladder.
const STEP: u64 = 4;
/// Number of steps of the ladder.
const LADDER_MAX: usize = 7;

/// The changes that a search may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PossibleChanges {
    /// The number of connections: with the program's own client.
    pub connections: bool,
    /// Whether operations of the other direction are allowed.
    pub direction: bool,
    /// Most outstanding operations of a worker.
    pub queue_depth_max: u32,
}

/// The next run to find what limits `template`; `None` if no run is worthwhile. Its parameters
/// contain the changes.
pub fn next(
    template: &Run,
    may: PossibleChanges,
    done: &[LoadPoint],
    known: &Known,
) -> Option<Run> {
    let workers: u64 = template.streams.iter().map(|stream| u64::from(stream.workers)).sum();
    let workers = workers.max(1);
    let all = series::series(&curve::outlines(done, certain(known)), done);
    let unloaded = u64::from(template.parts());
    let Some(base) = all.first() else { return Some(at_depth(template, None, unloaded)) };
    if let State::Inconclusive(Inconclusive::Precision(point) | Inconclusive::Stability(point)) =
        base.plateau.state
        && let Some(step) = base.steps[point].filter(|step| step.runs < RUNS_PER_POINT)
    {
        return Some(at_depth(template, None, step.load as u64));
    }
    if !base.is_reached() {
        let deepest = base.deepest() as u64;
        let depth_max = u64::from(may.queue_depth_max) * workers;
        let deeper = deepest < depth_max && base.measured().count() < LADDER_MAX;
        let depth = (deepest * STEP).next_multiple_of(workers).min(depth_max);
        return deeper.then(|| at_depth(template, None, depth));
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

/// The same run again.
fn again(template: &Run, point: &LoadPoint) -> Run {
    let setting = point.parameters.iter().find_map(|(key, value)| Setting::parse(key, value));
    let connections = point.signature.connections.filter(|_| template.connections.is_some());
    let run = at_depth(template, setting, point.queue_depth_total);
    let connections = connections.map(|count| on_each(count, connection_parts(template, setting)));
    Run { connections: connections.or(run.connections), ..run }
}

/// Whether the workload itself was measured again after everything it is compared with. If a limit
/// changed meanwhile, or a burst credit was used up, the comparison would be invalid.
fn is_controlled(top: &LoadPoint, base: &Series, done: &[LoadPoint]) -> bool {
    let last_run = |point: &LoadPoint| point.runs.iter().map(|run| run.index).max();
    let own = |index: &usize| base.load_points.contains(index);
    let others = (0..done.len()).filter(|index| !own(index)).filter_map(|i| last_run(&done[i]));
    let enough = top.runs.len() as u32 > RUNS_PER_POINT;
    enough || others.max().is_none_or(|last| last_run(top).is_some_and(|own| own > last))
}

fn allowed(change: Change, template: &Run, may: PossibleChanges, base: &Series) -> bool {
    match change {
        Change::Connections => may.connections,
        Change::Mix | Change::Direction => {
            may.direction && base.signature.read_share.fract() == 0.0
        }
        // Equal loads on fewer volumes or hosts, and no reads of files that are filled elsewhere.
        Change::Volumes | Change::Hosts => {
            let run = Setting::of(change, &change.of(base).signature, template).applied(template);
            let is_own = |stream: &Stream| stream.file_use.filled_by_others.is_none();
            let is_fewer =
                (run.hosts, target_count(&run)) != (template.hosts, target_count(template));
            is_fewer && run.streams.iter().all(is_own) && has_equal_loads(&run)
        }
        Change::LargerTransfers | Change::SmallerTransfers => {
            template.streams.iter().all(|s| s.transfer_sizes.len() == 1)
        }
        Change::Workers => true,
        Change::Order => base.signature.order != Order::Both,
    }
}

/// The next run under changed circumstances: one operation at a time if the change affects the kind
/// of operation, then a load that reaches the ceiling, repeated if imprecise.
fn changed(
    template: &Run,
    may: PossibleChanges,
    base: &Series,
    done: &[LoadPoint],
    change: Change,
) -> Option<Run> {
    let base_depth = base.deepest() as u64;
    let changed = change.of(base);
    // Smaller transfers need proportionally more operations for the same bytes.
    let smaller =
        (base.signature.transfer_bytes / changed.signature.transfer_bytes).max(1.0) as u64;
    let most = match change {
        Change::Connections => STEP * base_depth,
        Change::Workers => 2 * base_depth,
        // No ceiling is higher with fewer of them.
        Change::Volumes | Change::Hosts => base_depth,
        _ => 2 * base_depth * smaller,
    };
    let workers = u64::from(changed.signature.workers.max(1));
    let most = most.next_multiple_of(workers).min(u64::from(may.queue_depth_max) * workers);
    let setting = Setting::of(change, &changed.signature, template);
    let unloaded = u64::from(template.parts());
    let keeps_kind =
        matches!(change, Change::Connections | Change::Workers | Change::Volumes | Change::Hosts);
    let totals = if keeps_kind { vec![most] } else { vec![unloaded, most] };
    let run = |total: u64| {
        let mut run = at_depth(template, Some(setting), total);
        if change == Change::Workers && may.connections {
            let all = changed.signature.connections;
            run.connections = all.map(|count| on_each(count, connection_parts(template, None)));
        }
        run
    };
    let run = totals.into_iter().map(run).find(|run| needs_run(run, done))?;
    (has_the_same_files(&run, template) && run.is_possible()).then_some(run)
}

/// Whether a run is missing or not precise enough.
fn needs_run(run: &Run, done: &[LoadPoint]) -> bool {
    let same = |p: &&LoadPoint| p.variant == run.variant && p.parameters == run.parameters;
    let Some(point) = done.iter().find(same) else { return true };
    let step = plateau::steps(&[point]).into_iter().next().flatten();
    step.is_some_and(|step| step.needs_another_run())
}

/// Whether a load point is an experiment of such a search, with a change besides the queue depth.
pub(crate) fn is_changed(search: &Search, point: &LoadPoint) -> bool {
    matches!(search.method, SearchMethod::Scale(_))
        && point.runs.iter().any(|run| search.owns(run.index))
        && point.parameters.iter().any(|(key, _)| !key.starts_with(QUEUE_DEPTH))
}

const QUEUE_DEPTH: &str = "queue_depth";

/// A run with the largest resource needs of any experiment of `template`: connections, threads,
/// memory for outstanding transfers.
pub fn largest(template: &Run, may: PossibleChanges) -> Run {
    let mut run = template.clone();
    // Twice the workers, or the same on fewer hosts.
    let more = fewer(template.hosts).map_or(2, |few| (template.hosts / few).max(2));
    for stream in &mut run.streams {
        stream.workers = stream.workers.saturating_mul(more);
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
    let parts = connection_parts(template, None);
    run.connections = run.connections.map(|count| count.max(on_each(workers, parts)));
    run
}

/// Each part of a number of connections or workers.
fn on_each(count: u32, parts: u32) -> u32 {
    count.div_ceil(parts.max(1))
}

/// Pairs of a host and a target with connections, if `template` is measured with this setting.
fn connection_parts(template: &Run, setting: Option<Setting>) -> u32 {
    setting.map_or_else(
        || template.connection_parts(),
        |setting| setting.applied(template).connection_parts(),
    )
}

fn target_count(run: &Run) -> u32 {
    run.streams.iter().map(|stream| stream.targets.count()).max().unwrap_or(1)
}

/// Whether each target that a stream uses has the same number of workers, and each host as well.
fn has_equal_loads(run: &Run) -> bool {
    run.streams.iter().all(|stream| {
        let mut workers = vec![0u32; stream.targets.count() as usize];
        for lane in 0..stream.workers {
            let target = stream.target_lane(run.hosts, lane).target;
            let at = stream.targets.positions.iter().position(|known| *known == target);
            workers[at.expect("a worker sends to a target of its stream")] += 1;
        }
        stream.workers.is_multiple_of(run.hosts.max(1))
            && workers.iter().all(|count| *count > 0 && *count == workers[0])
    })
}

/// Other files would have to be filled first, and may be elsewhere.
fn has_the_same_files(run: &Run, template: &Run) -> bool {
    let files = |run: &Run| run.streams.iter().map(Stream::file_set).collect::<Vec<_>>();
    files(run) == files(template)
}

/// A setting that an experiment changes, with its new value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Setting {
    /// Of each host to each target.
    Connections(u32),
    TransferBytes(u64),
    /// Of all streams together, as an experiment counts them: twice the template's.
    Workers(u32),
    Pattern(AccessPattern),
    ReadPermille(u16),
    /// The first targets, with all workers.
    Volumes(u32),
    /// The first hosts, with all workers.
    Hosts(u32),
}

impl Setting {
    /// The setting for `change`, given the changed workload.
    fn of(change: Change, work: &WorkloadSignature, template: &Run) -> Setting {
        match change {
            Change::Connections => {
                let parts = template.connection_parts();
                Setting::Connections(on_each(work.connections.unwrap_or(1), parts))
            }
            Change::LargerTransfers | Change::SmallerTransfers => {
                Setting::TransferBytes(work.transfer_bytes as u64)
            }
            Change::Workers => Setting::Workers(on_each(work.workers, template.parts())),
            Change::Order if work.order == Order::Sequential => {
                Setting::Pattern(AccessPattern::Sequential)
            }
            Change::Order => Setting::Pattern(AccessPattern::Uniform),
            Change::Mix | Change::Direction => {
                Setting::ReadPermille((1000.0 * work.read_share).round() as u16)
            }
            Change::Volumes => Setting::Volumes(work.volumes),
            Change::Hosts => Setting::Hosts(work.hosts),
        }
    }

    /// Parses a parameter of a recorded run; `None` for the queue depth, which no change sets.
    fn parse(key: &str, value: &str) -> Option<Setting> {
        Some(match key {
            CONNECTIONS => Setting::Connections(value.parse().ok()?),
            TRANSFER_SIZE => Setting::TransferBytes(value.parse().map(Bytes::get).ok()?),
            WORKERS => Setting::Workers(value.parse().ok()?),
            PATTERN if value == SEQUENTIAL => Setting::Pattern(AccessPattern::Sequential),
            PATTERN => Setting::Pattern(AccessPattern::Uniform),
            READ => Setting::ReadPermille(value.parse().map(Percent::permille).ok()?),
            VOLUMES => Setting::Volumes(value.parse().ok()?),
            HOSTS => Setting::Hosts(value.parse().ok()?),
            _ => return None,
        })
    }

    /// The parameter of the run, as a user writes it.
    fn parameter(self) -> (String, String) {
        let (key, value) = match self {
            Setting::Connections(count) => (CONNECTIONS, count.to_string()),
            Setting::TransferBytes(bytes) => (TRANSFER_SIZE, exactly(Bytes::new(bytes))),
            Setting::Workers(count) => (WORKERS, count.to_string()),
            Setting::Pattern(AccessPattern::Sequential) => (PATTERN, SEQUENTIAL.to_owned()),
            Setting::Pattern(_) => (PATTERN, "random".to_owned()),
            Setting::ReadPermille(permille) => (READ, format!("{}%", permille / 10)),
            Setting::Volumes(count) => (VOLUMES, count.to_string()),
            Setting::Hosts(count) => (HOSTS, count.to_string()),
        };
        (key.to_owned(), value)
    }

    /// The template with this setting.
    fn applied(self, template: &Run) -> Run {
        let mut run = template.clone();
        match self {
            Setting::Connections(count) => run.connections = Some(count),
            Setting::Hosts(count) => run.hosts = count,
            _ => {}
        }
        for stream in &mut run.streams {
            match self {
                Setting::TransferBytes(size_bytes) => {
                    stream.transfer_sizes = vec![WeightedSize { size_bytes, weight: 1 }];
                }
                Setting::Workers(_) => stream.workers *= 2,
                Setting::Pattern(pattern) => stream.access_pattern = pattern,
                Setting::ReadPermille(permille) => stream.read_permille = permille,
                Setting::Volumes(count) => stream.targets.positions.truncate(count as usize),
                Setting::Hosts(count) if !stream.file_use.is_all() => stream.file_use.hosts = count,
                // Connections and hosts are properties of the run.
                Setting::Connections(_) | Setting::Hosts(_) => {}
            }
        }
        if let Setting::Volumes(_) | Setting::Hosts(_) = self {
            // As many connections as before.
            let all = |count: u32| count * template.connection_parts();
            let parts = run.connection_parts();
            run.connections = run.connections.map(|count| on_each(all(count), parts));
        }
        run
    }
}

const CONNECTIONS: &str = "run.nconnect";
const TRANSFER_SIZE: &str = "transfer_size";
const WORKERS: &str = "workers";
const PATTERN: &str = "pattern";
const SEQUENTIAL: &str = "sequential";
const READ: &str = "read";
const VOLUMES: &str = "run.targets";
const HOSTS: &str = "run.hosts";

/// The value as a user writes it, without rounding.
fn exactly(size: Bytes) -> String {
    let words = size.to_string().replace(' ', "");
    match words.parse::<Bytes>() {
        Ok(read) if read == size => words,
        _ => size.get().to_string(),
    }
}

/// The template with a changed setting and `total` outstanding operations over all workers.
fn at_depth(template: &Run, setting: Option<Setting>, total: u64) -> Run {
    let mut run = setting.map_or_else(|| template.clone(), |setting| setting.applied(template));
    run.parameters = setting.iter().map(|setting| setting.parameter()).collect();
    run.with_queue_depth(u32::try_from(total).unwrap_or(u32::MAX))
}
