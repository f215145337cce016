//! A run over time as JSON.

use analysis::series::Series;
use serde::Serialize;

use crate::number::exported;

#[derive(Serialize)]
pub(super) struct SeriesJson<'a> {
    run_index: u32,
    stream: &'a str,
    intervals_per_point: u32,
    points: Vec<SeriesPointJson>,
}

#[derive(Serialize)]
pub(super) struct SeriesPointJson {
    start_ns: u64,
    end_ns: u64,
    phase: &'static str,
    achieved_rate_ops_per_sec: f64,
    throughput_bytes_per_sec: f64,
    response_mean_ns: Option<f64>,
    response_p99_ns: Option<u64>,
    outstanding_mean_ops: f64,
    backlog_mean_ops: f64,
    failed: u64,
    process_cpu_used_processors: f64,
}

pub(super) fn series(series: &Series) -> SeriesJson<'_> {
    let points = series.points.iter().map(|p| SeriesPointJson {
        start_ns: p.start_ns,
        end_ns: p.end_ns,
        phase: p.phase.name(),
        achieved_rate_ops_per_sec: exported(p.achieved_rate.get()),
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
        points: points.collect(),
    }
}
