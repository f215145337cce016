//! A load point: the runs at one queue depth or offered rate, each summarised, and all repeats
//! together.

use std::collections::BTreeMap;

use metrics::histogram::Counts;
use metrics::interval::KindInterval;
use metrics::run_record::{Outcome, RunRecord};
use workload::arrival::Arrival;
use workload::op::OpKind;
use workload::outcome::ErrorKind;
use workload::plan::{EngineChoice, Plan, Run, Stream, TargetSpec};

use crate::connections::{self, ConnectionSummary};
use crate::estimate::Estimate;
use crate::little::{LittleCheck, outstanding_mean};
use crate::overload::{self, Overload};
use crate::percentile::{Percentile, percentiles};
use crate::times::{FRACTIONS, Times};
use crate::window::{self, Measured, Ops};
use crate::work::{self, Work};

/// The name of the entry that stands for all streams of a run together.
pub const ALL_STREAMS: &str = "all streams";

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
        RunMeasured {
            streams: (0..record.run.streams.len())
                .map(|s| Measured::of(&intervals, s, backlog_start(s)))
                .collect(),
            cpu_ns: intervals
                .iter()
                .map(|i| (i.process_user_ns + i.process_system_ns) as f64)
                .collect(),
            workers,
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

/// Summarises a window. With `repeats` the uncertainty comes from their differences, else from the
/// intervals.
fn summary(
    run: &Run,
    generator: Generator,
    measured: &RunMeasured<'_>,
    repeats: &[&Summary],
) -> Summary {
    let total = measured.total();
    let workers = |wanted: &dyn Fn(usize) -> bool| worker_cpu(run, generator, measured, wanted);
    let pick = |pick: fn(&Summary) -> Option<Estimate>| estimates(repeats, pick);
    let completed = total.together(&OpKind::ALL).completed;
    let streams: Vec<StreamSummary> = run
        .streams
        .iter()
        .enumerate()
        .map(|(s, stream)| {
            let repeats: Vec<&StreamSummary> = repeats.iter().map(|r| &r.streams[s]).collect();
            let spec = StreamSpec::of(stream);
            let cpu = workers(&|of_stream| of_stream == s);
            stream_summary(spec, &measured.streams[s], cpu, &repeats)
        })
        .collect();
    let totals: Vec<&StreamSummary> = repeats.iter().map(|r| &r.total).collect();
    Summary {
        intervals: total.length_ns.len() as u32,
        window_ns: total.length_ns.iter().sum::<f64>() as u64,
        cpu_ns_per_op: with_repeats(
            Estimate::of_ratio(&measured.cpu_ns, &completed),
            &pick(|s| s.cpu_ns_per_op),
        ),
        cpu_used: with_repeats(
            Estimate::of_ratio(&measured.cpu_ns, &total.length_ns),
            &pick(|s| s.cpu_used),
        ),
        total: stream_summary(StreamSpec::all(&run.streams), &total, workers(&|_| true), &totals),
        streams,
    }
}

/// What of a stream's plan its summary repeats.
struct StreamSpec {
    name: String,
    queue_depth_total: u64,
    workers: u32,
    offered_rate: Option<f64>,
    think_time_ns: u64,
    poisson: bool,
}

impl StreamSpec {
    fn of(stream: &Stream) -> StreamSpec {
        StreamSpec {
            name: stream.name.clone(),
            queue_depth_total: stream.queue_depth_total(),
            workers: stream.workers,
            offered_rate: stream.arrival.offered_rate(),
            think_time_ns: think_time_ns(stream),
            poisson: is_poisson(stream),
        }
    }

    /// All together. An offered rate of all exists only where every stream has one.
    fn all(streams: &[Stream]) -> StreamSpec {
        StreamSpec {
            name: match streams {
                [only] => only.name.clone(),
                _ => ALL_STREAMS.to_owned(),
            },
            queue_depth_total: streams.iter().map(Stream::queue_depth_total).sum(),
            workers: streams.iter().map(|s| s.workers).sum(),
            offered_rate: streams.iter().map(|s| s.arrival.offered_rate()).sum(),
            think_time_ns: streams.iter().map(think_time_ns).max().unwrap_or(0),
            // Poisson processes together are one.
            poisson: streams.iter().all(is_poisson),
        }
    }
}

fn think_time_ns(stream: &Stream) -> u64 {
    match stream.arrival {
        Arrival::Closed { think_time_ns } => think_time_ns,
        _ => 0,
    }
}

fn is_poisson(stream: &Stream) -> bool {
    matches!(stream.arrival, Arrival::Poisson { .. })
}

/// CPU time of a stream's workers in each interval: of all, and of the busiest for each processor
/// it can fill; empty where there are no workers.
#[derive(Default)]
struct WorkerCpu {
    together_ns: Vec<f64>,
    busiest_ns: Vec<f64>,
}

fn worker_cpu(
    run: &Run,
    generator: Generator,
    measured: &RunMeasured<'_>,
    wanted: &dyn Fn(usize) -> bool,
) -> WorkerCpu {
    let mut cpu = WorkerCpu::default();
    let mut most_ns = f64::NEG_INFINITY;
    for worker in &measured.workers {
        let of_stream = worker.stream as usize;
        let Some(stream) = run.streams.get(of_stream).filter(|_| wanted(of_stream)) else {
            continue;
        };
        cpu.together_ns.resize(worker.cpu_ns.len(), 0.0);
        for (sum, cpu_ns) in cpu.together_ns.iter_mut().zip(&worker.cpu_ns) {
            *sum += cpu_ns;
        }
        let processors = f64::from(generator.processors_of_worker(stream));
        let per_processor_ns = worker.cpu_ns.iter().sum::<f64>() / processors;
        if per_processor_ns > most_ns {
            most_ns = per_processor_ns;
            cpu.busiest_ns = worker.cpu_ns.iter().map(|ns| ns / processors).collect();
        }
    }
    cpu
}

fn stream_summary(
    spec: StreamSpec,
    measured: &Measured<'_>,
    cpu: WorkerCpu,
    repeats: &[&StreamSummary],
) -> StreamSummary {
    let all = measured.together(&OpKind::ALL);
    let window_ns: f64 = measured.length_ns.iter().sum();
    let completed: f64 = all.completed.iter().sum();
    let mean = |sums: &[f64]| (completed > 0.0).then(|| sums.iter().sum::<f64>() / completed);
    let service_mean_ns = mean(&all.service_sum_ns);
    let response_mean_ns = mean(&all.response_sum_ns);
    let pick = |pick: fn(&StreamSummary) -> Option<Estimate>| estimates(repeats, pick);

    let delays = all.response_sum_ns.iter().zip(&all.service_sum_ns);
    let delay_sum_ns: Vec<f64> = delays.map(|(response, service)| response - service).collect();
    let of_workers = |cpu_ns: &[f64], by: &[f64]| {
        (!cpu_ns.is_empty()).then(|| Estimate::of_ratio(cpu_ns, by)).flatten()
    };

    let outstanding = Estimate::of_ratio(&measured.outstanding_time_ns, &measured.length_ns);
    let backlog = Estimate::of_ratio(&measured.backlog_time_ns, &measured.length_ns);
    let little = |counted: Option<f64>, mean_ns: Option<f64>| {
        let achieved_rate = completed / (window_ns / 1e9);
        LittleCheck::new(counted?, outstanding_mean(achieved_rate, mean_ns?))
    };
    let outstanding_value = outstanding.map(|o| o.value);
    let both_value = outstanding
        .zip(backlog)
        .filter(|_| !measured.backlog_changed)
        .map(|(o, b)| o.value + b.value);

    let data = measured.together(&[OpKind::Read, OpKind::Write]);
    let data_repeats: Vec<&OpSummary> = repeats.iter().map(|r| &r.data).collect();
    let kinds = OpKind::ALL
        .iter()
        .filter_map(|kind| {
            let ops = &measured.kinds[*kind as usize];
            let mine = |r: &&StreamSummary| r.kinds.iter().position(|k| k.name == kind.name());
            let of_repeats: Vec<&OpSummary> =
                repeats.iter().filter_map(|r| mine(r).map(|k| &r.kinds[k])).collect();
            (ops.completed_total() + ops.failed_total() > 0)
                .then(|| op_summary(kind.name(), ops, &measured.length_ns, &of_repeats))
        })
        .collect();
    let fsync = &measured.kinds[OpKind::Fsync as usize];
    let all_repeats: Vec<&OpSummary> =
        repeats.iter().map(|r| r.all_kinds.as_ref().unwrap_or(&r.data)).collect();
    let all_kinds = (fsync.completed_total() + fsync.failed_total() > 0)
        .then(|| op_summary("all", &all, &measured.length_ns, &all_repeats));
    let repeat_count = repeats.len().max(1) as u64;
    StreamSummary {
        all_kinds,
        data: op_summary("data", &data, &measured.length_ns, &data_repeats),
        kinds,
        outstanding_mean: with_repeats(outstanding, &pick(|s| s.outstanding_mean)),
        backlog_mean: with_repeats(backlog, &pick(|s| s.backlog_mean)),
        backlog_end: measured.backlog_end / repeat_count,
        schedule_delay_mean_ns: with_repeats(
            Estimate::of_ratio(&delay_sum_ns, &all.completed),
            &pick(|s| s.schedule_delay_mean_ns),
        ),
        overload: overload::judge(
            measured,
            spec.offered_rate,
            spec.queue_depth_total * repeat_count,
        ),
        little_service: little(outstanding_value, service_mean_ns),
        little_response: little(both_value, response_mean_ns),
        errors: errors(measured),
        worker_cpu_ns_per_op: with_repeats(
            of_workers(&cpu.together_ns, &all.completed),
            &pick(|s| s.worker_cpu_ns_per_op),
        ),
        worker_busy_max: with_repeats(
            of_workers(&cpu.busiest_ns, &measured.length_ns),
            &pick(|s| s.worker_busy_max),
        ),
        name: spec.name,
        queue_depth_total: spec.queue_depth_total,
        workers: spec.workers,
        offered_rate: spec.offered_rate,
        think_time_ns: spec.think_time_ns,
        poisson: spec.poisson,
    }
}

fn op_summary(
    name: &'static str,
    ops: &Ops<'_>,
    length_ns: &[f64],
    repeats: &[&OpSummary],
) -> OpSummary {
    let seconds: Vec<f64> = length_ns.iter().map(|ns| ns / 1e9).collect();
    let pick = |pick: fn(&OpSummary) -> Option<Estimate>| estimates(repeats, pick);
    let service_mean = Estimate::of_ratio(&ops.service_sum_ns, &ops.completed);
    let response_mean = Estimate::of_ratio(&ops.response_sum_ns, &ops.completed);
    let (service_percentiles, response_percentiles) = percentiles_of(ops, length_ns.len(), repeats);
    OpSummary {
        name,
        completed: ops.completed_total(),
        failed: ops.failed_total(),
        bytes: ops.bytes.iter().sum::<f64>() as u64,
        achieved_rate: with_repeats(
            Estimate::of_ratio(&ops.completed, &seconds),
            &pick(|o| o.achieved_rate),
        ),
        throughput: with_repeats(Estimate::of_ratio(&ops.bytes, &seconds), &pick(|o| o.throughput)),
        service: Times::of(
            &ops.service,
            with_repeats(service_mean, &pick(|o| o.service.mean_ns)),
            service_percentiles,
        ),
        response: Times::of(
            &ops.response,
            with_repeats(response_mean, &pick(|o| o.response.mean_ns)),
            response_percentiles,
        ),
    }
}

/// The percentiles of a summary: of the service times, and of the response times.
fn percentiles_of(
    ops: &Ops<'_>,
    intervals: usize,
    repeats: &[&OpSummary],
) -> (Vec<Percentile>, Vec<Percentile>) {
    let of = |whole, times: fn(&KindInterval) -> &Counts, own: fn(&OpSummary) -> &Times| {
        let parts = ops.parts.iter().map(|(interval, part)| (*interval, times(part)));
        let repeats: Vec<&[Percentile]> =
            repeats.iter().map(|repeat| own(repeat).percentiles.as_slice()).collect();
        percentiles(&FRACTIONS, whole, parts, intervals, &repeats)
    };
    let service = of(&ops.service, |part| &part.service, |o| &o.service);
    // Where nothing waits before it is issued, both are the same.
    if ops.service == ops.response && ops.service_sum_ns == ops.response_sum_ns {
        return (service.clone(), service);
    }
    let response = of(&ops.response, |part| &part.response, |o| &o.response);
    (service, response)
}

/// One number of each repeat that has it.
fn estimates<T>(repeats: &[&T], pick: fn(&T) -> Option<Estimate>) -> Vec<f64> {
    repeats.iter().filter_map(|r| pick(r)).map(|estimate| estimate.value).collect()
}

/// The estimate over all intervals, with the uncertainty that repeats show where there are some.
fn with_repeats(whole: Option<Estimate>, repeats: &[f64]) -> Option<Estimate> {
    match repeats.len() {
        0 | 1 => whole,
        _ => whole.map(|estimate| Estimate::between_repeats(estimate.value, repeats)),
    }
}

fn errors(measured: &Measured<'_>) -> Vec<(OpKind, ErrorKind, u64)> {
    let of_kind = |kind: OpKind| {
        let failed = &measured.kinds[kind as usize].failed;
        ErrorKind::ALL.into_iter().map(move |error| (kind, error, failed[error as usize]))
    };
    OpKind::ALL.into_iter().flat_map(of_kind).filter(|(_, _, count)| *count > 0).collect()
}
