//! A run over time as JSON.

use analysis::series::Series;
use schemars::JsonSchema;
use serde::Serialize;

use super::load_point::MissingHostsJson;
use crate::number::exported;

/// A stream of a run over time.
#[derive(Serialize, JsonSchema)]
pub(super) struct SeriesJson<'a> {
    /// The run, by its index in the plan.
    run_index: u32,
    /// The stream's name.
    stream: &'a str,
    /// Intervals that a point combines.
    intervals_per_point: u32,
    /// Hosts that the run lost while the others continued, which are missing from the points since.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing_hosts: Option<MissingHostsJson>,
    /// The points, in order.
    points: Vec<SeriesPointJson>,
}

/// Neighbouring intervals of one phase.
#[derive(Serialize, JsonSchema)]
pub(super) struct SeriesPointJson {
    /// Start, from the start of the run.
    start_ns: u64,
    /// End, from the start of the run.
    end_ns: u64,
    /// `warm_up`, `measure` or `cool_down`.
    phase: &'static str,
    /// Reads and writes completed per second.
    achieved_rate_ops_per_sec: f64,
    /// Mean offered rate, fsyncs included; null in a closed loop.
    offered_rate_ops_per_sec: Option<f64>,
    /// Bytes moved per second.
    throughput_bytes_per_sec: f64,
    /// Mean response time of reads and writes; null if none completed.
    response_mean_ns: Option<f64>,
    /// Its p99; null if fewer than ten samples are above it.
    response_p99_ns: Option<u64>,
    /// Mean number of operations in flight.
    outstanding_mean_ops: f64,
    /// Mean number of operations due but not sent.
    backlog_mean_ops: f64,
    /// Operations that failed.
    failed: u64,
    /// Processors used by the process.
    process_cpu_used_processors: f64,
}

pub(super) fn series(series: &Series) -> SeriesJson<'_> {
    let points = series.points.iter().map(|p| SeriesPointJson {
        start_ns: p.start_ns,
        end_ns: p.end_ns,
        phase: p.phase.name(),
        achieved_rate_ops_per_sec: exported(p.achieved_rate.get()),
        offered_rate_ops_per_sec: p.offered_rate.map(|rate| exported(rate.get())),
        throughput_bytes_per_sec: exported(p.throughput.get()),
        response_mean_ns: p.response_mean.map(|mean| exported(mean.0)),
        response_p99_ns: p.response_p99_ns,
        outstanding_mean_ops: exported(p.outstanding_mean),
        backlog_mean_ops: exported(p.backlog_mean),
        failed: p.failed,
        process_cpu_used_processors: exported(p.cpu_used),
    });
    SeriesJson {
        run_index: series.run_index,
        stream: &series.stream,
        intervals_per_point: series.intervals_per_point,
        missing_hosts: series.missing_hosts.map(MissingHostsJson::of),
        points: points.collect(),
    }
}
