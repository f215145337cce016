//! A window, of all streams and of each, as JSON.

use analysis::load_point::{StreamSummary, Summary};
use serde::Serialize;
use serde_json::{Value, json};

use super::estimate::{EstimateJson, LittleJson, estimate, half_width, little, value};
use super::host::{HostJson, host};
use super::operations::{Depth, OpJson, op};
use crate::number::exported;

#[derive(Serialize)]
pub(super) struct SummaryJson<'a> {
    intervals: u32,
    window_ns: u64,
    process_cpu_ns_per_op: Option<EstimateJson>,
    process_cpu_used_processors: Option<EstimateJson>,
    total: StreamJson<'a>,
    streams: Vec<StreamJson<'a>>,
    /// Only in records with host state.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<HostJson>,
}

#[derive(Serialize)]
pub(super) struct StreamJson<'a> {
    name: &'a str,
    queue_depth_total: u64,
    workers: u32,
    offered_rate_ops_per_sec: Option<f64>,
    /// Reads, writes and fsyncs together, to compare with the offered rate.
    achieved_rate_all_kinds_ops_per_sec: Option<EstimateJson>,
    data: OpJson,
    kinds: Vec<OpJson>,
    /// Only for streams with fsyncs; for others it would equal `data`.
    #[serde(skip_serializing_if = "Option::is_none")]
    all_kinds: Option<OpJson>,
    outstanding_mean_ops: Option<EstimateJson>,
    backlog_mean_ops: Option<EstimateJson>,
    backlog_end_ops: u64,
    schedule_delay_mean_ns: Option<f64>,
    schedule_delay_uncertainty_ns: Option<f64>,
    overload: Option<Value>,
    little_service: Option<LittleJson>,
    little_response: Option<LittleJson>,
    errors: Vec<Value>,
    worker_cpu_ns_per_op: Option<f64>,
    worker_cpu_uncertainty_ns_per_op: Option<f64>,
    worker_busy_max_fraction: Option<f64>,
    worker_busy_max_uncertainty_fraction: Option<f64>,
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
    let errors = stream.errors.iter().map(|(kind, error, count)| {
        json!({"operation": kind.name(), "error": error.name(), "count": count})
    });
    StreamJson {
        name: &stream.name,
        queue_depth_total: stream.queue_depth_total,
        workers: stream.workers,
        offered_rate_ops_per_sec: stream.offered_rate.map(|rate| exported(rate.get())),
        achieved_rate_all_kinds_ops_per_sec: stream.achieved_rate_all_kinds().map(estimate),
        data: op(&stream.data, depth),
        kinds: stream.kinds.iter().map(|ops| op(ops, depth)).collect(),
        all_kinds: stream.all_kinds.as_ref().map(|ops| op(ops, depth)),
        outstanding_mean_ops: stream.outstanding_mean.map(estimate),
        backlog_mean_ops: stream.backlog_mean.map(estimate),
        backlog_end_ops: stream.backlog_end,
        schedule_delay_mean_ns: value(stream.schedule_delay_mean_ns),
        schedule_delay_uncertainty_ns: half_width(stream.schedule_delay_mean_ns),
        overload: stream.overload.map(|overload| {
            json!({
                "offered_rate_ops_per_sec": exported(overload.offered_rate.get()),
                "achieved_rate_ops_per_sec": exported(overload.achieved_rate.get()),
                "backlog_growth_ops": overload.backlog_growth,
            })
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
