//! A load point: the runs at one queue depth or offered rate, each summarised, and all repeats
//! together.

mod summing;

use std::collections::BTreeMap;

use metrics::run_record::{Outcome, RunRecord};
use workload::op::OpKind;
use workload::outcome::ErrorKind;
use workload::plan::{EngineChoice, Plan, Stream, TargetSpec};

use crate::connections::{self, ConnectionSummary};
use crate::curve::plateau;
use crate::estimate::Estimate;
use crate::host_state::{self, HostSample, HostSummary};
use crate::little::LittleCheck;
use crate::overload::Overload;
use crate::times::Times;
use crate::window::{self, Measured};
use crate::work::{self, Work};
use summing::summary;

/// The name of the entry that stands for all streams of a run together.
pub const ALL_STREAMS: &str = "all streams";

/// Runs of a load point agree where their rates lie within this share of one another, or within
/// their intervals.
const AGREE_MAX: f64 = 0.05;

/// The runs of one variant with the same parameters, and what they say together.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadPoint {
    /// The variant's name.
    pub variant: String,
    /// What this load point differs by, `(key, value)`.
    pub parameters: Vec<(String, String)>,
    /// The limit on outstanding operations over all streams and workers.
    pub queue_depth_total: u64,
    /// Each repeat, in the order of their numbers.
    pub runs: Vec<RunSummary>,
    /// All repeats together.
    pub merged: Summary,
    /// What it did to the target.
    pub work: Work,
}

impl LoadPoint {
    /// The rate by which verdicts judge this load point: operations of all kinds per second, the
    /// runs weighted by their precision, so that a run in which something stalled does not count as
    /// much as those in which nothing did. With the number of runs, and whether they agree.
    pub fn rate_for_judgement(&self) -> Option<(Estimate, u32, bool)> {
        let of_run = |run: &RunSummary| {
            run.summary.total.achieved_rate_all_kinds().filter(|_| run.summary.intervals > 0)
        };
        let rates: Vec<Estimate> = self.runs.iter().filter_map(of_run).collect();
        let merged = self.merged.total.achieved_rate_all_kinds()?;
        let rate = match &rates[..] {
            [] | [_] => merged,
            many if many.iter().all(|rate| rate.uncertainty.is_some()) => {
                plateau::weighted(many.iter().copied()).unwrap_or(merged)
            }
            _ => merged,
        };
        let half = |rate: &Estimate| rate.relative().unwrap_or(f64::INFINITY);
        let agree = |a: &Estimate, b: &Estimate| {
            let apart = (a.value - b.value).abs() / rate.value.max(f64::MIN_POSITIVE);
            apart <= half(a).hypot(half(b)).max(AGREE_MAX)
        };
        let all_agree = rates.iter().all(|a| rates.iter().all(|b| agree(a, b)));
        Some((rate, rates.len() as u32, all_agree))
    }
}

/// One run of a load point.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    /// Its place in the plan.
    pub index: u32,
    /// Which repeat, from 0.
    pub repeat: u32,
    /// When it began, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Intervals that its window was planned to have.
    pub intervals_planned: u32,
    /// What it measured.
    pub summary: Summary,
    /// What each connection did; none where the target has no connections.
    pub connections: Vec<ConnectionSummary>,
}

/// What a window (of one run, or of all repeats) says.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Whole intervals in the window.
    pub intervals: u32,
    /// Their length together, in nanoseconds.
    pub window_ns: u64,
    /// All streams together; equal to the only stream where there is one.
    pub total: StreamSummary,
    /// Each stream, in the plan's order.
    pub streams: Vec<StreamSummary>,
    /// CPU time of the whole process, user and system, for each completed operation, in
    /// nanoseconds.
    pub cpu_ns_per_op: Option<Estimate>,
    /// CPU time of the whole process over the window's length: processors used.
    pub cpu_used: Option<Estimate>,
    /// Who used the processors of the measuring host; `None` where the record does not have it.
    pub host: Option<HostSummary>,
}

/// What one stream did in a window.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSummary {
    /// Its name, or [`ALL_STREAMS`].
    pub name: String,
    /// The limit on outstanding operations over all workers.
    pub queue_depth_total: u64,
    /// Number of workers.
    pub workers: u32,
    /// Operations per second asked for; `None` in a closed loop.
    pub offered_rate: Option<f64>,
    /// From a completion to the next operation it makes due, in nanoseconds: the longest of the
    /// streams; 0 in an open loop.
    pub think_time_ns: u64,
    /// Its operations become due as a Poisson process, as open queueing models want them.
    pub poisson: bool,
    /// Reads and writes together: what the stream is for.
    pub data: OpSummary,
    /// Reads, writes and fsyncs together, where there were fsyncs; else the same as `data`, and not
    /// repeated. An offered rate counts all kinds, so this is what it must be compared with.
    pub all_kinds: Option<OpSummary>,
    /// Each kind of operation that occurred.
    pub kinds: Vec<OpSummary>,
    /// Mean number of operations outstanding.
    pub outstanding_mean: Option<Estimate>,
    /// Mean number of operations due but not issued.
    pub backlog_mean: Option<Estimate>,
    /// Operations due but not issued when the window ended; over repeats, the mean of them.
    pub backlog_end: u64,
    /// Mean time from due to issued, in nanoseconds, of all operations that succeeded.
    pub schedule_delay_mean_ns: Option<Estimate>,
    /// The schedule could not be kept.
    pub overload: Option<Overload>,
    /// Outstanding against achieved rate times service time.
    pub little_service: Option<LittleCheck>,
    /// Outstanding and backlog against achieved rate times response time; `None` where the backlog
    /// changed from the window's beginning to its end, because the law says nothing there.
    pub little_response: Option<LittleCheck>,
    /// Failures: kind of operation, kind of error, count; only those above 0.
    pub errors: Vec<(OpKind, ErrorKind, u64)>,
    /// CPU time of its workers for each completed operation, in nanoseconds.
    pub worker_cpu_ns_per_op: Option<Estimate>,
    /// Share of the processors that its threads can use, used by its busiest worker, 0 to 1.
    pub worker_busy_max: Option<Estimate>,
}

impl StreamSummary {
    /// Operations of all kinds completed per second: what an offered rate is compared with.
    pub fn achieved_rate_all_kinds(&self) -> Option<Estimate> {
        self.all_kinds.as_ref().unwrap_or(&self.data).achieved_rate
    }
}

/// What the operations were made with, as far as numbers depend on it.
#[derive(Clone, Copy, Debug)]
pub struct Generator {
    /// Processors of the host; `None` where the record does not say.
    pub processors: Option<u32>,
    /// A worker has a thread for each operation that may be outstanding, and these may run on
    /// different processors.
    pub threads_apart: bool,
}

impl Generator {
    /// Of `plan`, done with `engine`. Blocking calls need a thread for each outstanding operation;
    /// those of a pinned worker share its processor. The null target blocks nobody.
    pub fn of(plan: &Plan, engine: EngineChoice, processors: Option<u32>) -> Generator {
        let blocks = engine == EngineChoice::Psync && plan.target != TargetSpec::Null;
        Generator { processors, threads_apart: blocks && !plan.pin }
    }

    /// How many processors one worker of `stream` can fill.
    fn processors_of_worker(&self, stream: &Stream) -> u32 {
        let threads = if self.threads_apart { stream.queue_depth } else { 1 };
        threads.min(self.processors.unwrap_or(u32::MAX)).max(1)
    }
}

/// Operations of one kind, or reads and writes together.
#[derive(Clone, Debug, PartialEq)]
pub struct OpSummary {
    /// `read`, `write`, `fsync`, `data` for reads and writes together, or `all` for every kind.
    pub name: &'static str,
    /// Operations that succeeded.
    pub completed: u64,
    /// Operations that failed.
    pub failed: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Operations completed per second.
    pub achieved_rate: Option<Estimate>,
    /// Bytes per second.
    pub throughput: Option<Estimate>,
    /// Issue to completion.
    pub service: Times,
    /// Intended instant to completion.
    pub response: Times,
}

/// The window of one run, added up but not yet summarised.
pub(crate) struct RunMeasured<'a> {
    pub(crate) streams: Vec<Measured<'a>>,
    /// CPU of the process in each interval, in nanoseconds.
    pub(crate) cpu_ns: Vec<f64>,
    /// CPU of each worker in each interval, in nanoseconds.
    pub(crate) workers: Vec<WorkerMeasured>,
    /// The intervals in which the host was read.
    pub(crate) host: Vec<HostSample>,
}

/// One worker over a window.
#[derive(Clone, Debug)]
pub(crate) struct WorkerMeasured {
    stream: u32,
    lane: u32,
    /// Its CPU time in each interval, in nanoseconds.
    cpu_ns: Vec<f64>,
}

impl<'a> RunMeasured<'a> {
    pub(crate) fn of(record: &'a RunRecord) -> RunMeasured<'a> {
        let intervals = window::measured(record);
        let before = intervals.first().and_then(|first| {
            record.intervals.iter().find(|i| first.index.checked_sub(1) == Some(i.index))
        });
        let backlog_start =
            |s: usize| before.and_then(|i| i.streams.get(s)).map_or(0, |stream| stream.backlog_end);
        let mut workers: Vec<WorkerMeasured> = Vec::new();
        for (number, interval) in intervals.iter().enumerate() {
            for worker in &interval.workers {
                let cpu_ns = worker_of(&mut workers, worker.stream, worker.lane);
                cpu_ns.resize(intervals.len(), 0.0);
                cpu_ns[number] += worker.cpu_ns as f64;
            }
        }
        let streams = record.run.streams.iter().enumerate().map(|(s, stream)| {
            let mut measured = Measured::of(&intervals, s, backlog_start(s));
            // In a closed loop nothing piles up: what is due and not issued at an edge is no more
            // than what may be outstanding there.
            measured.backlog_changed &= stream.arrival.offered_rate().is_some();
            measured
        });
        RunMeasured {
            streams: streams.collect(),
            cpu_ns: intervals
                .iter()
                .map(|i| (i.process_user_ns + i.process_system_ns) as f64)
                .collect(),
            workers,
            host: host_state::samples(&intervals),
        }
    }

    /// All streams together.
    pub(crate) fn total(&self) -> Measured<'a> {
        let mut total = self.streams[0].clone();
        for stream in &self.streams[1..] {
            total.add_beside(stream);
        }
        total
    }

    /// Adds another repeat of the same load point.
    fn add_after(&mut self, other: &RunMeasured<'a>) {
        for (stream, theirs) in self.streams.iter_mut().zip(&other.streams) {
            stream.add_after(theirs);
        }
        let before = self.cpu_ns.len();
        self.cpu_ns.extend(&other.cpu_ns);
        self.host.extend(&other.host);
        for worker in &other.workers {
            let cpu_ns = worker_of(&mut self.workers, worker.stream, worker.lane);
            // A worker of one repeat only did nothing in the others.
            cpu_ns.resize(before, 0.0);
            cpu_ns.extend(&worker.cpu_ns);
        }
        for worker in &mut self.workers {
            worker.cpu_ns.resize(self.cpu_ns.len(), 0.0);
        }
    }
}

/// The CPU times of a worker, which is added where it is new.
fn worker_of(workers: &mut Vec<WorkerMeasured>, stream: u32, lane: u32) -> &mut Vec<f64> {
    let same = |worker: &WorkerMeasured| (worker.stream, worker.lane) == (stream, lane);
    let place = workers.iter().position(same).unwrap_or(workers.len());
    if place == workers.len() {
        workers.push(WorkerMeasured { stream, lane, cpu_ns: Vec::new() });
    }
    &mut workers[place].cpu_ns
}

/// The load points of `runs`, in the order of their first runs.
pub fn load_points(runs: &[RunRecord], generator: Generator) -> Vec<LoadPoint> {
    by_load_point(runs).iter().map(|group| load_point(group, generator)).collect()
}

/// What the runs of a load point have in common: variant, parameters, number of streams.
type LoadPointKey<'a> = (&'a str, &'a [(String, String)], usize);

/// The runs sorted into load points, repeats together whatever the order in which they were done.
pub(crate) fn by_load_point(runs: &[RunRecord]) -> Vec<Vec<&RunRecord>> {
    let mut places: BTreeMap<LoadPointKey<'_>, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<&RunRecord>> = Vec::new();
    for record in runs {
        let run = &record.run;
        let key = (run.variant.as_str(), run.parameters.as_slice(), run.streams.len());
        let place = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(record),
            None => groups.push(vec![record]),
        }
    }
    for group in &mut groups {
        group.sort_by_key(|run| run.run.repeat);
    }
    groups
}

/// Summarises the runs of one load point. At least one; all of the same variant and parameters.
pub fn load_point(records: &[&RunRecord], generator: Generator) -> LoadPoint {
    let run = &records[0].run;
    let mut runs = Vec::new();
    let mut all: Option<RunMeasured<'_>> = None;
    let mut dispersions = Vec::new();
    for record in records {
        let measured = RunMeasured::of(record);
        dispersions.extend(work::dispersion(&measured));
        let (first, end) = record.run.phases.window();
        runs.push(RunSummary {
            index: record.run.index,
            repeat: record.run.repeat,
            started_unix_ms: record.started_unix_ms,
            outcome: record.outcome.clone(),
            intervals_planned: end.saturating_sub(first),
            summary: summary(run, generator, &measured, &[]),
            connections: connections::of_run(record),
        });
        match &mut all {
            Some(sum) => sum.add_after(&measured),
            None => all = Some(measured),
        }
    }
    // A repeat that was ended before its window says nothing about how repeats differ.
    let repeats: Vec<&Summary> =
        runs.iter().map(|r| &r.summary).filter(|s| s.intervals > 0).collect();
    let merged = match &all {
        // Of one run it is that run's own.
        Some(_) if runs.len() == 1 => runs[0].summary.clone(),
        Some(measured) => {
            let repeats: &[&Summary] = if repeats.len() > 1 { &repeats } else { &[] };
            summary(run, generator, measured, repeats)
        }
        None => unreachable!("a load point has at least one run"),
    };
    let connections: Vec<_> = runs.iter().map(|run| run.connections.as_slice()).collect();
    let work = Work::of(run, &dispersions, &connections);
    LoadPoint {
        variant: run.variant.clone(),
        parameters: run.parameters.clone(),
        queue_depth_total: run.streams.iter().map(Stream::queue_depth_total).sum(),
        runs,
        merged,
        work,
    }
}
