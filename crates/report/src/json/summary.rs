//! A window, of all streams and of each, as JSON.

use analysis::load_point::{StreamSummary, Summary};
use schemars::JsonSchema;
use serde::Serialize;

use super::estimate::{EstimateJson, LittleJson, estimate, half_width, little, value};
use super::host::{HostJson, host};
use super::operations::{Depth, OpJson, op};
use super::users::{UsersJson, users};
use crate::number::exported;

/// A window: the measure phase of a run, or of all repeats.
#[derive(Serialize, JsonSchema)]
pub(super) struct SummaryJson<'a> {
    /// Complete intervals in which all streams are active.
    intervals: u32,
    /// Their total length.
    window_ns: u64,
    /// CPU time of the process per operation.
    process_cpu_ns_per_op: Option<EstimateJson>,
    /// Processors used by the process.
    process_cpu_used_processors: Option<EstimateJson>,
    /// All streams.
    total: StreamJson<'a>,
    /// Each stream.
    streams: Vec<StreamJson<'a>>,
    /// Only in records with host state.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<HostJson>,
}

/// A stream in a window.
#[derive(Serialize, JsonSchema)]
pub(super) struct StreamJson<'a> {
    /// Its name.
    name: &'a str,
    /// The limit on operations in flight, over all workers.
    queue_depth_total: u64,
    /// The number of workers.
    workers: u32,
    /// Only if that is a part of the window: the time in which the stream is active, or all streams are.
    #[serde(skip_serializing_if = "Option::is_none")]
    covers: Option<CoversJson>,
    /// The mean offered rate in the window; null in a closed loop.
    offered_rate_ops_per_sec: Option<f64>,
    /// Only if the offered rate changes by plan: true.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    offered_rate_varies: bool,
    /// All kinds together, to compare with the offered rate.
    achieved_rate_all_kinds_ops_per_sec: Option<EstimateJson>,
    /// All kinds but fsyncs.
    data: OpJson,
    /// Each kind of operation.
    kinds: Vec<OpJson>,
    /// Only for streams with fsyncs; for others it would equal `data`.
    #[serde(skip_serializing_if = "Option::is_none")]
    all_kinds: Option<OpJson>,
    /// Only for streams with users.
    #[serde(skip_serializing_if = "Option::is_none")]
    users: Option<UsersJson>,
    /// Mean number of operations in flight.
    outstanding_mean_ops: Option<EstimateJson>,
    /// Mean number of operations due but not sent.
    backlog_mean_ops: Option<EstimateJson>,
    /// Operations due but not sent at the end.
    backlog_end_ops: u64,
    /// Mean response time minus mean service time.
    schedule_delay_mean_ns: Option<f64>,
    /// The half-width of its 95 % confidence interval.
    schedule_delay_uncertainty_ns: Option<f64>,
    /// The schedule could not be kept; null if it was.
    overload: Option<OverloadJson>,
    /// Little's law with service times.
    little_service: Option<LittleJson>,
    /// Little's law with response times and the backlog.
    little_response: Option<LittleJson>,
    /// Failed operations, by kind and error.
    errors: Vec<ErrorsJson>,
    /// CPU time of the workers per operation.
    worker_cpu_ns_per_op: Option<f64>,
    /// The half-width of its 95 % confidence interval.
    worker_cpu_uncertainty_ns_per_op: Option<f64>,
    /// The utilisation of a processor by the busiest worker.
    worker_busy_max_fraction: Option<f64>,
    /// The half-width of its 95 % confidence interval.
    worker_busy_max_uncertainty_fraction: Option<f64>,
}

/// A part of a run's window.
#[derive(Serialize, JsonSchema)]
struct CoversJson {
    /// Its start, from the start of the run.
    start_ns: u64,
    /// Its end, from the start of the run; the same if there is no such time.
    end_ns: u64,
    /// Its complete intervals, of all repeats.
    intervals: u32,
}

/// A schedule that could not be kept.
#[derive(Serialize, JsonSchema)]
struct OverloadJson {
    /// The offered rate.
    offered_rate_ops_per_sec: f64,
    /// The achieved rate.
    achieved_rate_ops_per_sec: f64,
    /// The growth of the backlog over the window.
    backlog_growth_ops: u64,
}

/// Failed operations of one kind with one error.
#[derive(Serialize, JsonSchema)]
struct ErrorsJson {
    /// The kind of operation.
    operation: &'static str,
    /// The error: `timed_out`, `no_space`, ...
    error: &'static str,
    /// How many failed.
    count: u64,
}

pub(super) fn summary(summary: &Summary, depth: Depth) -> SummaryJson<'_> {
    SummaryJson {
        intervals: summary.intervals,
        window_ns: summary.window_ns,
        process_cpu_ns_per_op: summary.cpu_ns_per_op.map(estimate),
        process_cpu_used_processors: summary.cpu_used.map(estimate),
        total: stream(&summary.total, depth),
        streams: summary.streams.iter().map(|s| stream(s, depth)).collect(),
        host: summary.host.as_ref().map(host),
    }
}

pub(super) fn stream(stream: &StreamSummary, depth: Depth) -> StreamJson<'_> {
    let errors = stream.errors.iter().map(|(kind, error, count)| ErrorsJson {
        operation: kind.name(),
        error: error.name(),
        count: *count,
    });
    StreamJson {
        name: &stream.name,
        queue_depth_total: stream.queue_depth_total,
        workers: stream.workers,
        covers: stream.covers.as_ref().map(|time| CoversJson {
            start_ns: time.start,
            end_ns: time.end,
            intervals: stream.intervals,
        }),
        offered_rate_ops_per_sec: stream.offered_rate.map(|rate| exported(rate.get())),
        offered_rate_varies: stream.rate_varies,
        achieved_rate_all_kinds_ops_per_sec: stream.achieved_rate_all_kinds().map(estimate),
        data: op(&stream.data, depth),
        kinds: stream.kinds.iter().map(|ops| op(ops, depth)).collect(),
        all_kinds: stream.all_kinds.as_ref().map(|ops| op(ops, depth)),
        users: stream.users.as_ref().map(users),
        outstanding_mean_ops: stream.outstanding_mean.map(estimate),
        backlog_mean_ops: stream.backlog_mean.map(estimate),
        backlog_end_ops: stream.backlog_end,
        schedule_delay_mean_ns: value(stream.schedule_delay_mean_ns),
        schedule_delay_uncertainty_ns: half_width(stream.schedule_delay_mean_ns),
        overload: stream.overload.map(|overload| OverloadJson {
            offered_rate_ops_per_sec: exported(overload.offered_rate.get()),
            achieved_rate_ops_per_sec: exported(overload.achieved_rate.get()),
            backlog_growth_ops: overload.backlog_growth,
        }),
        little_service: stream.little_service.map(little),
        little_response: stream.little_response.map(little),
        errors: errors.collect(),
        worker_cpu_ns_per_op: value(stream.worker_cpu_ns_per_op),
        worker_cpu_uncertainty_ns_per_op: half_width(stream.worker_cpu_ns_per_op),
        worker_busy_max_fraction: value(stream.worker_busy_max),
        worker_busy_max_uncertainty_fraction: half_width(stream.worker_busy_max),
    }
}
