//! Summaries of a window: sums over its intervals as estimates, with the uncertainty from the
//! repeats or, without repeats, from the intervals.

use std::ops::Range;

use metrics::histogram::Counts;
use metrics::interval::KindInterval;
use units::{Nanos, OpsPerSec};
use workload::op::OpKind;
use workload::outcome::ErrorKind;
use workload::plan::{Phases, Run, Stream};

use super::{ALL_STREAMS, Generator, OpSummary, StreamSummary, Summary};
use crate::estimate::{Estimate, of_repeats, with_repeats};
use crate::host_state::{self, HostSummary};
use crate::little::{LittleCheck, outstanding_mean};
use crate::overload;
use crate::percentile::{Percentile, percentiles};
use crate::run_measured::{RunMeasured, WorkerMeasured};
use crate::times::{FRACTIONS, Times};
use crate::window::{Ops, WindowSums};

/// Summarises a window. The uncertainty comes from the differences between `repeats`, if any,
/// otherwise from the intervals.
pub(super) fn summary(
    run: &Run,
    generator: Generator,
    measured: &RunMeasured<'_>,
    repeats: &[&Summary],
) -> Summary {
    let total = measured.total();
    let workers = |workers: &[WorkerMeasured], wanted: &dyn Fn(usize) -> bool| {
        worker_cpu(run, generator, workers, wanted)
    };
    let pick = |pick: fn(&Summary) -> Option<Estimate>| of_repeats(repeats, pick);
    let completed = total.together(&OpKind::ALL).completed;
    let streams: Vec<StreamSummary> = run
        .streams
        .iter()
        .enumerate()
        .map(|(s, stream)| {
            let repeats: Vec<&StreamSummary> = repeats.iter().map(|r| &r.streams[s]).collect();
            let spec = StreamSpec::of(stream, &run.phases);
            let cpu = workers(&measured.workers, &|of_stream| of_stream == s);
            stream_summary(spec, &measured.streams[s], cpu, &repeats)
        })
        .collect();
    let totals: Vec<&StreamSummary> = repeats.iter().map(|r| &r.total).collect();
    let hosts: Vec<&HostSummary> = repeats.iter().filter_map(|r| r.host.as_ref()).collect();
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
        total: stream_summary(
            StreamSpec::all(run),
            &total,
            workers(measured.workers_of_total(), &|_| true),
            &totals,
        ),
        streams,
        host: host_state::summary(&measured.host, &hosts),
    }
}

/// The properties of a stream's plan that its summary contains.
struct StreamSpec {
    name: String,
    queue_depth_total: u64,
    workers: u32,
    offered_rate: Option<OpsPerSec>,
    think_time_ns: u64,
    poisson: bool,
    users: u64,
    covers: Option<Range<u64>>,
}

impl StreamSpec {
    fn of(stream: &Stream, phases: &Phases) -> StreamSpec {
        StreamSpec {
            name: stream.name.clone(),
            queue_depth_total: stream.queue_depth_total(),
            workers: stream.workers,
            offered_rate: stream.offered_rate(phases),
            think_time_ns: stream.arrival.think_time_mean_ns(),
            poisson: stream.arrival.is_poisson(),
            users: users(stream),
            covers: covered(stream.active.window(phases), phases),
        }
    }

    /// All streams together; with an offered rate only if every stream has one.
    fn all(run: &Run) -> StreamSpec {
        let (streams, phases) = (&run.streams[..], &run.phases);
        let covers = covered(run.common_window(), phases);
        let Range { start, end } = covers.clone().unwrap_or(phases.warm_up_ns..phases.total_ns());
        StreamSpec {
            name: match streams {
                [only] => only.name.clone(),
                _ => ALL_STREAMS.to_owned(),
            },
            queue_depth_total: streams.iter().map(Stream::queue_depth_total).sum(),
            workers: streams.iter().map(|s| s.workers).sum(),
            offered_rate: streams
                .iter()
                .map(|s| s.arrival.offered_rate(start, end).map(OpsPerSec::get))
                .sum::<Option<f64>>()
                .map(OpsPerSec::new),
            think_time_ns: streams
                .iter()
                .map(|stream| stream.arrival.think_time_mean_ns())
                .max()
                .unwrap_or(0),
            // The sum of Poisson processes is a Poisson process.
            poisson: streams.iter().all(|stream| stream.arrival.is_poisson()),
            users: streams.iter().map(users).sum(),
            covers,
        }
    }
}

/// The number of a stream's users; 0 without users.
fn users(stream: &Stream) -> u64 {
    stream.arrival.users().map_or(0, |users| u64::from(users.count))
}

/// The time that these intervals cover, if it is not the whole window; empty without intervals.
fn covered((first, end): (u32, u32), phases: &Phases) -> Option<Range<u64>> {
    let at = |index: u32| u64::from(index) * phases.interval_ns;
    ((first, end) != phases.window()).then(|| at(first)..at(end.max(first)))
}

/// CPU time of a stream's workers in each interval: of all, and of the busiest worker per processor
/// it can use; empty without workers.
#[derive(Default)]
struct WorkerCpu {
    together_ns: Vec<f64>,
    busiest_ns: Vec<f64>,
}

fn worker_cpu(
    run: &Run,
    generator: Generator,
    workers: &[WorkerMeasured],
    wanted: &dyn Fn(usize) -> bool,
) -> WorkerCpu {
    let mut cpu = WorkerCpu::default();
    let mut most_ns = f64::NEG_INFINITY;
    for worker in workers {
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
    measured: &WindowSums<'_>,
    cpu: WorkerCpu,
    repeats: &[&StreamSummary],
) -> StreamSummary {
    let all = measured.together(&OpKind::ALL);
    let window_ns: f64 = measured.length_ns.iter().sum();
    let completed: f64 = all.completed.iter().sum();
    let mean = |sums: &[f64]| (completed > 0.0).then(|| sums.iter().sum::<f64>() / completed);
    let service_mean_ns = mean(&all.service_sum_ns);
    let response_mean_ns = mean(&all.response_sum_ns);
    let pick = |pick: fn(&StreamSummary) -> Option<Estimate>| of_repeats(repeats, pick);

    let delays = all.response_sum_ns.iter().zip(&all.service_sum_ns);
    let delay_sum_ns: Vec<f64> = delays.map(|(response, service)| response - service).collect();
    let of_workers = |cpu_ns: &[f64], by: &[f64]| {
        (!cpu_ns.is_empty()).then(|| Estimate::of_ratio(cpu_ns, by)).flatten()
    };

    let outstanding = Estimate::of_ratio(&measured.outstanding_time_ns, &measured.length_ns);
    let backlog = Estimate::of_ratio(&measured.backlog_time_ns, &measured.length_ns);
    let little = |counted: Option<f64>, mean_ns: Option<f64>| {
        let achieved_rate = OpsPerSec::new(completed / (window_ns / 1e9));
        LittleCheck::new(counted?, outstanding_mean(achieved_rate, Nanos(mean_ns?)))
    };
    let outstanding_value = outstanding.map(|o| o.value);
    let both_value = outstanding
        .zip(backlog)
        .filter(|_| !measured.backlog_changed)
        .map(|(o, b)| o.value + b.value);

    let weighted_length_ns = measured.weighted_length_ns();
    let data = measured.together(&OpKind::MAIN);
    let data_repeats: Vec<&OpSummary> = repeats.iter().map(|r| &r.data).collect();
    let kinds = measured
        .ended()
        .map(|(kind, ops)| {
            let mine = |r: &&StreamSummary| r.kinds.iter().position(|k| k.name == kind.name());
            let of_repeats: Vec<&OpSummary> =
                repeats.iter().filter_map(|r| mine(r).map(|k| &r.kinds[k])).collect();
            op_summary(kind.name(), ops, &weighted_length_ns, &of_repeats)
        })
        .collect();
    let all_repeats: Vec<&OpSummary> =
        repeats.iter().map(|r| r.all_kinds.as_ref().unwrap_or(&r.data)).collect();
    let all_kinds = measured
        .ended()
        .any(|(kind, _)| kind == OpKind::Fsync)
        .then(|| op_summary("all", &all, &weighted_length_ns, &all_repeats));
    let repeat_count = repeats.len().max(1) as u64;
    // A run that ended early covers a part of the schedule only.
    let offered_rate = match measured.rate_varies {
        true => measured.offered_rate().or(spec.offered_rate),
        false => spec.offered_rate,
    };
    StreamSummary {
        all_kinds,
        data: op_summary("data", &data, &weighted_length_ns, &data_repeats),
        kinds,
        users: measured
            .users
            .as_ref()
            .map(|sums| sums.summary(spec.users, &measured.length_ns, repeats)),
        outstanding_mean: with_repeats(outstanding, &pick(|s| s.outstanding_mean)),
        backlog_mean: with_repeats(backlog, &pick(|s| s.backlog_mean)),
        backlog_end: measured.backlog_end / repeat_count,
        schedule_delay_mean_ns: with_repeats(
            Estimate::of_ratio(&delay_sum_ns, &all.completed),
            &pick(|s| s.schedule_delay_mean_ns),
        ),
        overload: overload::judge(measured, offered_rate, spec.queue_depth_total * repeat_count),
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
        offered_rate,
        rate_varies: measured.rate_varies,
        think_time_ns: spec.think_time_ns,
        poisson: spec.poisson,
        intervals: measured.length_ns.len() as u32,
        window_ns: window_ns as u64,
        covers: spec.covers,
    }
}

fn op_summary(
    name: &'static str,
    ops: &Ops<'_>,
    weighted_length_ns: &[f64],
    repeats: &[&OpSummary],
) -> OpSummary {
    let seconds: Vec<f64> = weighted_length_ns.iter().map(|ns| ns / 1e9).collect();
    let pick = |pick: fn(&OpSummary) -> Option<Estimate>| of_repeats(repeats, pick);
    let service_mean = Estimate::of_ratio(&ops.service_sum_ns, &ops.completed);
    let response_mean = Estimate::of_ratio(&ops.response_sum_ns, &ops.completed);
    let (service_percentiles, response_percentiles) = percentiles_of(ops, seconds.len(), repeats);
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

/// The percentiles of a summary's service times and response times.
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
    // If no operation waits before it is issued, both are equal; compute them once.
    if ops.service == ops.response && ops.service_sum_ns == ops.response_sum_ns {
        return (service.clone(), service);
    }
    let response = of(&ops.response, |part| &part.response, |o| &o.response);
    (service, response)
}

fn errors(measured: &WindowSums<'_>) -> Vec<(OpKind, ErrorKind, u64)> {
    let of_kind = |(kind, ops): (OpKind, &Ops<'_>)| {
        let failed = ops.failed;
        ErrorKind::ALL.into_iter().map(move |error| (kind, error, failed[error as usize]))
    };
    measured.ended().flat_map(of_kind).filter(|(_, _, count)| *count > 0).collect()
}
