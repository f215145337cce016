//! The whole findings as JSON, units in the names of the fields, numbers with nine digits.
//! Percentiles that too few samples
//! stand behind are `null`, with the number of samples above them beside.
//!
//! The types here are the format: findings may change without it, and it carries its own version.

use std::io::{self, Write};

use analysis::Findings;
use analysis::connections::ConnectionSummary;
use analysis::curve::Curve;
use analysis::emulated::{EmulatedFindings, Seen};
use analysis::estimate::Estimate;
use analysis::little::LittleCheck;
use analysis::load_point::{LoadPoint, OpSummary, RunSummary, StreamSummary, Summary};
use analysis::series::Series;
use analysis::times::Times;
use analysis::warnings::WarningGroup;
use metrics::run_record::Outcome;
use serde::Serialize;
use serde_json::{Value, json};

use crate::number::{exported, percentile_name};

/// Changes when a reader of the old form would misread the new one.
pub const SCHEMA_VERSION: u32 = 1;

/// Writes the findings, indented, with a line break at the end.
///
/// # Errors
/// What `out` says.
pub fn write(findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Document::of(findings))?;
    writeln!(out)
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    id: &'a str,
    name: &'a str,
    source: &'a str,
    target: &'a str,
    plan_hash: &'a str,
    engine: &'a str,
    engine_reason: &'a str,
    seed: u64,
    started_unix_ms: u64,
    outcome: Value,
    repeat_command: &'a str,
    environment: Vec<EnvironmentEntry<'a>>,
    load_points: Vec<LoadPointJson<'a>>,
    curves: Vec<CurveJson<'a>>,
    series: Vec<SeriesJson<'a>>,
    /// Of an emulated volume only.
    #[serde(skip_serializing_if = "Option::is_none")]
    emulated_volume: Option<Value>,
    /// Where an independent witness counted too.
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<Value>,
    warnings: Vec<WarningJson<'a>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct EnvironmentEntry<'a> {
    name: &'a str,
    value: &'a str,
}

#[derive(Serialize)]
struct LoadPointJson<'a> {
    variant: &'a str,
    parameters: Vec<EnvironmentEntry<'a>>,
    queue_depth_total: u64,
    merged: SummaryJson<'a>,
    runs: Vec<RunJson<'a>>,
    warnings: Vec<&'a str>,
}

#[derive(Serialize)]
struct RunJson<'a> {
    index: u32,
    repeat: u32,
    started_unix_ms: u64,
    outcome: Value,
    intervals_planned: u32,
    summary: SummaryJson<'a>,
    /// Of targets with connections only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    connections: Vec<ConnectionJson<'a>>,
}

#[derive(Serialize)]
struct ConnectionJson<'a> {
    stream: &'a str,
    lane: u32,
    number: u32,
    local: &'a str,
    remote: &'a str,
    operations: u64,
    calls: u64,
    moved_bytes: u64,
    rate_ops_per_sec: Option<EstimateJson>,
    throughput_bytes_per_sec: Option<EstimateJson>,
    outstanding_mean_calls: Option<EstimateJson>,
    rtt_mean_ns: Option<f64>,
    retransmits: u64,
    reconnects: u64,
    replays: u64,
    retries: u64,
}

#[derive(Serialize)]
struct SummaryJson<'a> {
    intervals: u32,
    window_ns: u64,
    process_cpu_ns_per_op: Option<EstimateJson>,
    process_cpu_used_processors: Option<EstimateJson>,
    total: StreamJson<'a>,
    streams: Vec<StreamJson<'a>>,
}

#[derive(Serialize)]
struct StreamJson<'a> {
    name: &'a str,
    queue_depth_total: u64,
    workers: u32,
    offered_rate_ops_per_sec: Option<f64>,
    /// What the offered rate is to be compared with: reads, writes and fsyncs together.
    achieved_rate_all_kinds_ops_per_sec: Option<EstimateJson>,
    data: OpJson,
    kinds: Vec<OpJson>,
    /// Of streams with fsyncs only: elsewhere it would repeat `data`.
    #[serde(skip_serializing_if = "Option::is_none")]
    all_kinds: Option<OpJson>,
    outstanding_mean_ops: Option<EstimateJson>,
    backlog_mean_ops: Option<EstimateJson>,
    backlog_end_ops: u64,
    schedule_delay_mean_ns: Option<f64>,
    overload: Option<Value>,
    little_service: Option<LittleJson>,
    little_response: Option<LittleJson>,
    errors: Vec<Value>,
    worker_cpu_ns_per_op: Option<f64>,
    worker_busy_max_fraction: Option<f64>,
}

#[derive(Serialize)]
struct OpJson {
    operation: &'static str,
    completed: u64,
    failed: u64,
    moved_bytes: u64,
    achieved_rate_ops_per_sec: Option<EstimateJson>,
    throughput_bytes_per_sec: Option<EstimateJson>,
    response_time: TimesJson,
    service_time: TimesJson,
}

#[derive(Serialize)]
struct TimesJson {
    samples: u64,
    mean_ns: Option<EstimateJson>,
    min_ns: Option<u64>,
    max_ns: Option<u64>,
    deviation_ns: Option<f64>,
    over_range_samples: u64,
    percentiles: Vec<PercentileJson>,
    /// Of all repeats together only: one run's would make the file several times as large.
    #[serde(skip_serializing_if = "Option::is_none")]
    distribution: Option<Vec<DistributionJson>>,
}

#[derive(Serialize)]
struct PercentileJson {
    name: String,
    fraction: f64,
    value_ns: Option<u64>,
    samples_above: u64,
}

#[derive(Serialize)]
struct DistributionJson {
    value_ns: u64,
    fraction: f64,
    samples_to_here: u64,
}

#[derive(Serialize)]
struct EstimateJson {
    value: f64,
    uncertainty: Option<f64>,
    samples: f64,
    method: &'static str,
}

#[derive(Serialize)]
struct LittleJson {
    counted_ops: f64,
    expected_ops: f64,
    mismatch_fraction: f64,
}

#[derive(Serialize)]
struct CurveJson<'a> {
    name: &'a str,
    axis: &'a str,
    saturation_point: Option<usize>,
    points: Vec<CurvePointJson<'a>>,
}

#[derive(Serialize)]
struct CurvePointJson<'a> {
    load_point: usize,
    x: f64,
    label: &'a str,
}

#[derive(Serialize)]
struct SeriesJson<'a> {
    run_index: u32,
    stream: &'a str,
    intervals_per_point: u32,
    points: Vec<SeriesPointJson>,
}

#[derive(Serialize)]
struct SeriesPointJson {
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

#[derive(Serialize)]
struct WarningJson<'a> {
    mark: char,
    code: &'a str,
    matters: &'a str,
    remedy: &'a str,
    sightings: Vec<SightingJson<'a>>,
}

#[derive(Serialize)]
struct SightingJson<'a> {
    load_point: Option<usize>,
    stream: Option<&'a str>,
    repeats: &'a [u32],
    seen: &'a str,
}

impl<'a> Document<'a> {
    fn of(findings: &'a Findings) -> Document<'a> {
        let points = findings.load_points.iter().enumerate();
        Document {
            schema_version: SCHEMA_VERSION,
            id: &findings.id,
            name: &findings.name,
            source: &findings.source,
            target: &findings.target,
            plan_hash: &findings.plan_hash,
            engine: findings.engine,
            engine_reason: &findings.engine_reason,
            seed: findings.seed,
            started_unix_ms: findings.started_unix_ms,
            outcome: outcome(&findings.outcome),
            repeat_command: &findings.repeat_command,
            environment: pairs(&findings.environment),
            load_points: points.map(|(index, p)| load_point(findings, index, p)).collect(),
            curves: findings.curves.iter().map(curve).collect(),
            series: findings.series.iter().map(series).collect(),
            emulated_volume: findings.emulated.as_ref().map(emulated_volume),
            witness: findings.witnessed.map(|witnessed| {
                json!({
                    "runs": witnessed.runs,
                    "runs_that_differ": witnessed.runs_that_differ,
                    "calls": witnessed.calls,
                    "moved_bytes": witnessed.bytes,
                })
            }),
            warnings: findings.warnings.iter().map(warning).collect(),
            notes: &findings.notes,
        }
    }
}

/// The name of an outcome, and the reason of a failure.
pub(crate) fn outcome(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Done => json!({"outcome": "done"}),
        Outcome::Interrupted => json!({"outcome": "interrupted"}),
        Outcome::Failed { reason } => json!({"outcome": "failed", "reason": reason}),
        Outcome::Aborted => json!({"outcome": "aborted"}),
    }
}

fn pairs(pairs: &[(String, String)]) -> Vec<EnvironmentEntry<'_>> {
    pairs.iter().map(|(name, value)| EnvironmentEntry { name, value }).collect()
}

fn load_point<'a>(
    findings: &'a Findings,
    index: usize,
    load_point: &'a LoadPoint,
) -> LoadPointJson<'a> {
    let marks = findings.marks(index, None);
    let warnings = findings.warnings.iter().filter(|g| marks.contains(g.mark));
    LoadPointJson {
        variant: &load_point.variant,
        parameters: pairs(&load_point.parameters),
        queue_depth_total: load_point.queue_depth_total,
        merged: summary(&load_point.merged, Depth::Whole),
        runs: load_point.runs.iter().map(run).collect(),
        warnings: warnings.map(|g| g.code).collect(),
    }
}

/// How much of a summary is written.
#[derive(Clone, Copy)]
enum Depth {
    Whole,
    WithoutDistributions,
}

impl Depth {
    fn distributions(self) -> bool {
        matches!(self, Depth::Whole)
    }
}

fn run(run: &RunSummary) -> RunJson<'_> {
    RunJson {
        index: run.index,
        repeat: run.repeat,
        started_unix_ms: run.started_unix_ms,
        outcome: outcome(&run.outcome),
        intervals_planned: run.intervals_planned,
        summary: summary(&run.summary, Depth::WithoutDistributions),
        connections: run.connections.iter().map(connection).collect(),
    }
}

fn connection(connection: &ConnectionSummary) -> ConnectionJson<'_> {
    ConnectionJson {
        stream: &connection.stream,
        lane: connection.lane,
        number: connection.number,
        local: &connection.local,
        remote: &connection.remote,
        operations: connection.operations,
        calls: connection.calls,
        moved_bytes: connection.bytes,
        rate_ops_per_sec: connection.rate.map(estimate),
        throughput_bytes_per_sec: connection.throughput.map(estimate),
        outstanding_mean_calls: connection.outstanding_mean.map(estimate),
        rtt_mean_ns: connection.rtt_mean_ns.map(exported),
        retransmits: connection.retransmits,
        reconnects: connection.reconnects,
        replays: connection.replays,
        retries: connection.retries,
    }
}

fn emulated_volume(emulated: &EmulatedFindings) -> Value {
    let seen = |seen: &Option<Seen>| {
        seen.map(|seen| json!({"load_point": seen.load_point, "value": exported(seen.value.value)}))
    };
    let volume = &emulated.volume;
    json!({
        "service_level": volume.service_level,
        "quota_bytes": volume.quota_bytes,
        "throughput_limit_bytes_per_sec": volume.throughput_limit_bytes_per_s,
        "read_delay_ns": volume.read_delay_ns,
        "write_delay_ns": volume.write_delay_ns,
        "memory_bytes": volume.memory_bytes,
        "throughput_max_bytes_per_sec": seen(&emulated.throughput),
        "read_service_mean_min_ns": seen(&emulated.read),
        "write_service_mean_min_ns": seen(&emulated.write),
    })
}

fn summary(summary: &Summary, depth: Depth) -> SummaryJson<'_> {
    SummaryJson {
        intervals: summary.intervals,
        window_ns: summary.window_ns,
        process_cpu_ns_per_op: summary.cpu_ns_per_op.map(estimate),
        process_cpu_used_processors: summary.cpu_used.map(estimate),
        total: stream(&summary.total, depth),
        streams: summary.streams.iter().map(|s| stream(s, depth)).collect(),
    }
}

fn stream(stream: &StreamSummary, depth: Depth) -> StreamJson<'_> {
    let errors = stream.errors.iter().map(|(kind, error, count)| {
        json!({"operation": kind.name(), "error": error.name(), "count": count})
    });
    StreamJson {
        name: &stream.name,
        queue_depth_total: stream.queue_depth_total,
        workers: stream.workers,
        offered_rate_ops_per_sec: stream.offered_rate.map(exported),
        achieved_rate_all_kinds_ops_per_sec: stream.achieved_rate_all_kinds().map(estimate),
        data: op(&stream.data, depth),
        kinds: stream.kinds.iter().map(|ops| op(ops, depth)).collect(),
        all_kinds: stream.all_kinds.as_ref().map(|ops| op(ops, depth)),
        outstanding_mean_ops: stream.outstanding_mean.map(estimate),
        backlog_mean_ops: stream.backlog_mean.map(estimate),
        backlog_end_ops: stream.backlog_end,
        schedule_delay_mean_ns: stream.schedule_delay_mean_ns.map(exported),
        overload: stream.overload.map(|overload| {
            json!({
                "offered_rate_ops_per_sec": exported(overload.offered_rate),
                "achieved_rate_ops_per_sec": exported(overload.achieved_rate),
                "backlog_growth_ops": overload.backlog_growth,
            })
        }),
        little_service: stream.little_service.map(little),
        little_response: stream.little_response.map(little),
        errors: errors.collect(),
        worker_cpu_ns_per_op: stream.worker_cpu_ns_per_op.map(exported),
        worker_busy_max_fraction: stream.worker_busy_max.map(exported),
    }
}

fn op(ops: &OpSummary, depth: Depth) -> OpJson {
    OpJson {
        operation: ops.name,
        completed: ops.completed,
        failed: ops.failed,
        moved_bytes: ops.bytes,
        achieved_rate_ops_per_sec: ops.achieved_rate.map(estimate),
        throughput_bytes_per_sec: ops.throughput.map(estimate),
        response_time: times(&ops.response, depth),
        service_time: times(&ops.service, depth),
    }
}

fn times(times: &Times, depth: Depth) -> TimesJson {
    let percentiles = times.percentiles.iter().map(|p| PercentileJson {
        name: percentile_name(p.fraction),
        fraction: p.fraction,
        value_ns: p.value_ns,
        samples_above: p.samples_above,
    });
    let distribution = times.distribution.iter().map(|row| DistributionJson {
        value_ns: row.value_ns,
        fraction: row.fraction,
        samples_to_here: row.samples_to_here,
    });
    TimesJson {
        samples: times.samples,
        mean_ns: times.mean_ns.map(estimate),
        min_ns: times.min_ns,
        max_ns: times.max_ns,
        deviation_ns: times.deviation_ns.map(exported),
        over_range_samples: times.over_range,
        percentiles: percentiles.collect(),
        distribution: depth.distributions().then(|| distribution.collect()),
    }
}

fn estimate(estimate: Estimate) -> EstimateJson {
    EstimateJson {
        value: exported(estimate.value),
        uncertainty: estimate.uncertainty.map(exported),
        samples: exported(estimate.samples),
        method: estimate.method.name(),
    }
}

fn little(check: LittleCheck) -> LittleJson {
    LittleJson {
        counted_ops: exported(check.counted),
        expected_ops: exported(check.expected),
        mismatch_fraction: exported(check.mismatch),
    }
}

fn curve(curve: &Curve) -> CurveJson<'_> {
    let points = curve.points.iter().map(|p| CurvePointJson {
        load_point: p.load_point,
        x: exported(p.x),
        label: &p.label,
    });
    CurveJson {
        name: &curve.name,
        axis: &curve.axis,
        saturation_point: curve.saturation,
        points: points.collect(),
    }
}

fn series(series: &Series) -> SeriesJson<'_> {
    let points = series.points.iter().map(|p| SeriesPointJson {
        start_ns: p.start_ns,
        end_ns: p.end_ns,
        phase: p.phase.name(),
        achieved_rate_ops_per_sec: exported(p.achieved_rate),
        throughput_bytes_per_sec: exported(p.throughput),
        response_mean_ns: p.response_mean_ns.map(exported),
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

fn warning(group: &WarningGroup) -> WarningJson<'_> {
    let sightings = group.sightings.iter().map(|s| SightingJson {
        load_point: s.load_point,
        stream: s.stream.as_deref(),
        repeats: &s.repeats,
        seen: &s.seen,
    });
    WarningJson {
        mark: group.mark,
        code: group.code,
        matters: group.matters,
        remedy: group.remedy,
        sightings: sightings.collect(),
    }
}
