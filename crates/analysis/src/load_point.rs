//! A load point: the runs at one queue depth or offered rate, each with a summary, and a summary of
//! all repeats together.

mod summing;

use std::collections::BTreeMap;
use std::ops::Range;

use metrics::run_record::{Outcome, RunRecord};
use units::OpsPerSec;
use workload::op::OpKind;
use workload::outcome::ErrorKind;
use workload::plan::{IoMethodUsed, Plan, Stream};

use crate::connections::{self, ConnectionSummary};
use crate::estimate::{self, Estimate};
use crate::fleet::MissingHosts;
use crate::host_state::HostSummary;
use crate::little::LittleCheck;
use crate::overload::Overload;
use crate::run_measured::RunMeasured;
use crate::times::Times;
use crate::users::UsersSummary;
use crate::workload_signature::{self, WorkloadSignature};
use summing::summary;

/// The name of the entry for all streams of a run together.
pub const ALL_STREAMS: &str = "all streams";

/// The runs of a load point agree if their rates differ by at most this share, or by no more than
/// their intervals.
const AGREE_MAX: f64 = 0.05;

/// The runs of one variant with the same parameters, and their joint summary.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadPoint {
    /// The variant's name.
    pub variant: String,
    /// The parameters in which load points differ, `(key, value)`.
    pub parameters: Vec<(String, String)>,
    /// The limit on outstanding operations over all streams and workers.
    pub queue_depth_total: u64,
    /// Each repeat, in the order of their numbers.
    pub runs: Vec<RunSummary>,
    /// All repeats together.
    pub merged: Summary,
    /// The workload's properties.
    pub signature: WorkloadSignature,
    /// Hosts that are missing from its totals; `None` without a fleet, or if none was lost.
    pub missing_hosts: Option<MissingHosts>,
}

impl LoadPoint {
    /// Whether its totals are those of all hosts. Others are shown with a label, and no conclusion rests
    /// on them.
    pub const fn is_whole(&self) -> bool {
        self.missing_hosts.is_none()
    }

    /// Whether each host, or each target of each host, has one operation in flight, from a separate worker
    /// in a closed loop.
    pub fn is_unloaded(&self) -> bool {
        let work = &self.signature;
        work.closed && work.workers == work.parts && self.queue_depth_total == u64::from(work.parts)
    }

    /// The rate that verdicts use, with the number of runs and whether they agree: operations of
    /// all kinds per second, weighted by the runs' precision, so that a run with a stall counts
    /// less than the others.
    pub fn rate_for_judgement(&self) -> Option<(Estimate, u32, bool)> {
        let of_run = |run: &RunSummary| {
            run.summary.total.achieved_rate_all_kinds().filter(|_| run.summary.intervals > 0)
        };
        let rates: Vec<Estimate> = self.runs.iter().filter_map(of_run).collect();
        let merged = self.merged.total.achieved_rate_all_kinds()?;
        let rate = match &rates[..] {
            [] | [_] => merged,
            many if many.iter().all(|rate| rate.uncertainty.is_some()) => {
                estimate::weighted(many.iter().copied()).unwrap_or(merged)
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
    /// Its index in the plan.
    pub index: u32,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// When it began, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Planned number of intervals in its window.
    pub intervals_planned: u32,
    /// Its measurements.
    pub summary: Summary,
    /// Each connection's counts; empty if the target has no connections.
    pub connections: Vec<ConnectionSummary>,
}

/// Summary of a window (of one run, or of all repeats).
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Number of whole intervals in the window in which all streams are active.
    pub intervals: u32,
    /// Their total length, in nanoseconds.
    pub window_ns: u64,
    /// All streams together; equal to the stream if there is only one.
    pub total: StreamSummary,
    /// Each stream, in the plan's order.
    pub streams: Vec<StreamSummary>,
    /// CPU time of the whole process, user and system, per completed operation, in nanoseconds.
    pub cpu_ns_per_op: Option<Estimate>,
    /// CPU time of the whole process over the window's length: processors used.
    pub cpu_used: Option<Estimate>,
    /// Use of the measuring host's processors; `None` if the record does not contain it.
    pub host: Option<HostSummary>,
}

impl Summary {
    /// Whether a stream has a whole interval.
    pub fn is_measured(&self) -> bool {
        self.intervals > 0 || self.streams.iter().any(|stream| stream.intervals > 0)
    }

    /// Whether closed loops, offered rates and users ran next to each other, so that there is no single
    /// load.
    pub fn is_mixed(&self) -> bool {
        let load = |stream: &StreamSummary| (stream.offered_rate.is_some(), stream.users.is_some());
        self.streams.windows(2).any(|pair| load(&pair[0]) != load(&pair[1]))
    }
}

/// Summary of one stream in a window.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSummary {
    /// Its name, or [`ALL_STREAMS`].
    pub name: String,
    /// The limit on outstanding operations over all workers.
    pub queue_depth_total: u64,
    /// Number of workers.
    pub workers: u32,
    /// Offered rate; `None` in a closed loop.
    pub offered_rate: Option<OpsPerSec>,
    /// The offered rate changes by plan, and `offered_rate` is its mean over the window.
    pub rate_varies: bool,
    /// Mean think time from a completion to the next operation, in nanoseconds: the longest of the
    /// streams; 0 in an open loop.
    pub think_time_ns: u64,
    /// Its operations arrive as a Poisson process, as open queueing models require.
    pub poisson: bool,
    /// Number of whole intervals that it covers.
    pub intervals: u32,
    /// Their total length, in nanoseconds.
    pub window_ns: u64,
    /// The time that it covers, in nanoseconds from the run's start, if it is not the whole window: the
    /// part in which the stream is active, or all streams are. Empty if there is none.
    pub covers: Option<Range<u64>>,
    /// All kinds but fsyncs together.
    pub data: OpSummary,
    /// All kinds together; `None` without fsyncs, where it equals `data`. An offered
    /// rate counts all kinds and must be compared with this.
    pub all_kinds: Option<OpSummary>,
    /// Each kind of operation in the window.
    pub kinds: Vec<OpSummary>,
    /// What its users did; `None` without users.
    pub users: Option<UsersSummary>,
    /// Mean number of operations outstanding.
    pub outstanding_mean: Option<Estimate>,
    /// Mean number of operations due but not issued.
    pub backlog_mean: Option<Estimate>,
    /// Operations due but not issued at the end of the window; over repeats, their mean.
    pub backlog_end: u64,
    /// Mean time from due to issued, in nanoseconds, of all operations that succeeded.
    pub schedule_delay_mean_ns: Option<Estimate>,
    /// The stream fell behind its schedule.
    pub overload: Option<Overload>,
    /// Little's law: outstanding operations against achieved rate times service time.
    pub little_service: Option<LittleCheck>,
    /// Little's law: outstanding operations and backlog against achieved rate times response time;
    /// `None` if the backlog changed over the window, because the law does not apply then.
    pub little_response: Option<LittleCheck>,
    /// Failures: kind of operation, kind of error, count; only counts above 0.
    pub errors: Vec<(OpKind, ErrorKind, u64)>,
    /// CPU time of its workers per completed operation, in nanoseconds.
    pub worker_cpu_ns_per_op: Option<Estimate>,
    /// The busiest worker's use of the processors that its threads can use, 0 to 1.
    pub worker_busy_max: Option<Estimate>,
}

impl StreamSummary {
    /// Whether most of its operations are on names, so that operations rather than bytes measure it.
    pub fn is_on_names(&self) -> bool {
        let ended = |ops: &OpSummary| ops.completed + ops.failed;
        let on_names = self.kinds.iter().filter(|ops| ops.is_on_names());
        2 * on_names.map(ended).sum::<u64>() > self.kinds.iter().map(ended).sum()
    }

    /// Operations of all kinds completed per second, for comparison with an offered rate.
    pub fn achieved_rate_all_kinds(&self) -> Option<Estimate> {
        self.all_kinds.as_ref().unwrap_or(&self.data).achieved_rate
    }
}

/// Properties of the host and engine that the numbers depend on.
#[derive(Clone, Copy, Debug)]
pub struct Generator {
    /// Processors of the host; `None` if not recorded.
    pub processors: Option<u32>,
    /// A worker has a thread per outstanding operation, and its threads may run on different
    /// processors.
    pub threads_apart: bool,
}

impl Generator {
    /// For `plan` with `engine`. Blocking calls need a thread per outstanding operation; the
    /// threads of a pinned worker share its processor. The null target does not block.
    pub fn of(plan: &Plan, engine: IoMethodUsed, processors: Option<u32>) -> Generator {
        let blocks = engine == IoMethodUsed::Psync && plan.target().capabilities().local_files;
        Generator { processors, threads_apart: blocks && !plan.pin }
    }

    /// Number of processors that one worker of `stream` can use.
    fn processors_of_worker(&self, stream: &Stream) -> u32 {
        let threads = if self.threads_apart { stream.queue_depth } else { 1 };
        threads.min(self.processors.unwrap_or(u32::MAX)).max(1)
    }
}

/// Operations of one kind, or reads and writes together.
#[derive(Clone, Debug, PartialEq)]
pub struct OpSummary {
    /// `read`, `write`, `fsync`, `data` for reads and writes together, or `all` for all kinds.
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
    /// Service times: from issue to completion.
    pub service: Times,
    /// Response times: from the intended start to completion.
    pub response: Times,
}

impl OpSummary {
    /// Whether its operations are of one kind that acts on names.
    pub fn is_on_names(&self) -> bool {
        OpKind::named(self.name).is_some_and(OpKind::is_on_names)
    }

    /// Bytes per second of operations that move data; `None` if none of those that completed moved
    /// any, as of a kind that cannot.
    pub fn throughput_of_data(&self) -> Option<Estimate> {
        self.throughput.filter(|_| self.bytes > 0 || self.completed == 0)
    }
}

/// The load points of `runs`, in the order of their first runs.
pub fn load_points(runs: &[RunRecord], generator: Generator) -> Vec<LoadPoint> {
    by_load_point(runs).iter().map(|group| load_point(group, generator)).collect()
}

/// The properties that the runs of a load point share: variant, parameters, number of streams.
type LoadPointKey<'a> = (&'a str, &'a [(String, String)], usize);

/// Groups runs by load point, whatever the order of the runs.
pub(crate) fn by_load_point(runs: &[RunRecord]) -> Vec<Vec<&RunRecord>> {
    let mut indices: BTreeMap<LoadPointKey<'_>, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<&RunRecord>> = Vec::new();
    for record in runs {
        let run = &record.run;
        let key = (run.variant.as_str(), run.parameters.as_slice(), run.streams.len());
        let index = *indices.entry(key).or_insert(groups.len());
        match groups.get_mut(index) {
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
        dispersions.extend(workload_signature::dispersion(&measured));
        let (first, end) = record.run.common_window();
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
            Some(sum) => sum.append(&measured),
            None => all = Some(measured),
        }
    }
    // A repeat that ended before its window does not contribute to the variation of repeats.
    let repeats: Vec<&Summary> =
        runs.iter().map(|r| &r.summary).filter(|s| s.is_measured()).collect();
    let merged = match &all {
        // A single run keeps its own.
        Some(_) if runs.len() == 1 => runs[0].summary.clone(),
        Some(measured) => {
            let repeats: &[&Summary] = if repeats.len() > 1 { &repeats } else { &[] };
            summary(run, generator, measured, repeats)
        }
        None => unreachable!("a load point has at least one run"),
    };
    let connections: Vec<_> = runs.iter().map(|run| run.connections.as_slice()).collect();
    let signature = WorkloadSignature::of(records, &dispersions, &connections, &merged.total);
    LoadPoint {
        variant: run.variant.clone(),
        parameters: run.parameters.clone(),
        queue_depth_total: run.streams.iter().map(Stream::queue_depth_total).sum(),
        runs,
        merged,
        signature,
        missing_hosts: records
            .iter()
            .filter_map(|record| MissingHosts::of(&record.hosts))
            .min_by_key(|missing| (missing.remaining, missing.from_ns)),
    }
}
