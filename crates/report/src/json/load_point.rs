//! A load point with its runs and their connections as JSON.

use analysis::Findings;
use analysis::connections::ConnectionSummary;
use analysis::load_point::{LoadPoint, RunSummary};
use serde::Serialize;
use serde_json::Value;

use super::estimate::{EstimateJson, estimate, half_width, value};
use super::operations::Depth;
use super::summary::{SummaryJson, summary};
use super::{EnvironmentEntry, outcome, pairs};

#[derive(Serialize)]
pub(super) struct LoadPointJson<'a> {
    variant: &'a str,
    parameters: Vec<EnvironmentEntry<'a>>,
    queue_depth_total: u64,
    merged: SummaryJson<'a>,
    runs: Vec<RunJson<'a>>,
    warnings: Vec<&'a str>,
}

#[derive(Serialize)]
pub(super) struct RunJson<'a> {
    index: u32,
    repeat: u32,
    started_unix_ms: u64,
    outcome: Value,
    intervals_planned: u32,
    summary: SummaryJson<'a>,
    /// Only for targets with connections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    connections: Vec<ConnectionJson<'a>>,
}

#[derive(Serialize)]
pub(super) struct ConnectionJson<'a> {
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
    rtt_uncertainty_ns: Option<f64>,
    retransmits: u64,
    reconnects: u64,
    replays: u64,
    retries: u64,
    rewritten_bytes: u64,
    verifier_changes: u64,
    down_ns: u64,
}

pub(super) fn load_point<'a>(
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

pub(super) fn run(run: &RunSummary) -> RunJson<'_> {
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

pub(super) fn connection(connection: &ConnectionSummary) -> ConnectionJson<'_> {
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
        rtt_mean_ns: value(connection.rtt_mean_ns),
        rtt_uncertainty_ns: half_width(connection.rtt_mean_ns),
        retransmits: connection.retransmits,
        reconnects: connection.reconnects,
        replays: connection.replays,
        retries: connection.retries,
        rewritten_bytes: connection.rewritten_bytes,
        verifier_changes: connection.verifier_changes,
        down_ns: connection.down_ns,
    }
}
