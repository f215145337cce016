//! A load point with its runs and their connections as JSON.

use analysis::Findings;
use analysis::connections::ConnectionSummary;
use analysis::fleet::MissingHosts;
use analysis::load_point::{LoadPoint, RunSummary};
use schemars::JsonSchema;
use serde::Serialize;

use super::estimate::{EstimateJson, estimate, half_width, value};
use super::operations::Depth;
use super::summary::{SummaryJson, summary};
use super::wire::{self, HostWireJson};
use super::{EnvironmentEntry, OutcomeJson, outcome, pairs};
use crate::connections::Owners;

/// Runs with the same parameters.
#[derive(Serialize, JsonSchema)]
pub(super) struct LoadPointJson<'a> {
    /// The workload variant's name.
    variant: &'a str,
    /// The parameters that differ between load points.
    parameters: Vec<EnvironmentEntry<'a>>,
    /// The limit on operations in flight, over all workers.
    queue_depth_total: u64,
    /// All repeats combined.
    merged: SummaryJson<'a>,
    /// Each repeat.
    runs: Vec<RunJson<'a>>,
    /// The codes of the warnings about it.
    warnings: Vec<&'a str>,
    /// Hosts that are missing from its totals, if some were lost while the others continued.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing_hosts: Option<MissingHostsJson>,
    /// Each host's share, if several measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hosts: Vec<HostJson<'a>>,
    /// What was measured on each target, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    targets: Vec<TargetJson<'a>>,
}

/// A target's part of a load point.
#[derive(Serialize, JsonSchema)]
pub(super) struct TargetJson<'a> {
    /// Its name.
    name: &'a str,
    /// What was measured on it, over all repeats.
    summary: SummaryJson<'a>,
}

/// Hosts that were lost while the others continued.
#[derive(Serialize, JsonSchema)]
pub(super) struct MissingHostsJson {
    /// Hosts that remained.
    remaining: usize,
    /// Hosts of the run.
    of: usize,
    /// Time from the run's start from which the first was missing.
    from_ns: u64,
}

impl MissingHostsJson {
    pub(super) fn of(missing: MissingHosts) -> MissingHostsJson {
        let MissingHosts { remaining, of, from_ns } = missing;
        MissingHostsJson { remaining, of, from_ns }
    }
}

/// One host's share of a load point.
#[derive(Serialize, JsonSchema)]
pub(super) struct HostJson<'a> {
    /// Its name.
    name: &'a str,
    /// What it measured, over all repeats.
    summary: SummaryJson<'a>,
    /// Why it was lost, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<LostJson<'a>>,
    /// Its network counters in each repeat; absent if another host is the same machine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    wire: Vec<HostWireJson>,
}

/// How a host was lost.
#[derive(Serialize, JsonSchema)]
pub(super) struct LostJson<'a> {
    /// Time from the run's start.
    at_ns: u64,
    /// The reason.
    reason: &'a str,
}

/// One repeat of a load point.
#[derive(Serialize, JsonSchema)]
pub(super) struct RunJson<'a> {
    /// Its index in the plan.
    index: u32,
    /// The repeat, from 0.
    repeat: u32,
    /// Its start, in milliseconds since 1970 (UTC).
    started_unix_ms: u64,
    /// How it ended.
    outcome: OutcomeJson<'a>,
    /// The number of intervals in the planned window.
    intervals_planned: u32,
    /// Its window.
    summary: SummaryJson<'a>,
    /// Only for targets with connections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    connections: Vec<ConnectionJson<'a>>,
}

/// A connection of a run.
#[derive(Serialize, JsonSchema)]
pub(super) struct ConnectionJson<'a> {
    /// The host whose worker owns it, if several measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a str>,
    /// The target that it leads to, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'a str>,
    /// The stream's name.
    stream: &'a str,
    /// The worker, by its number in the stream.
    lane: u32,
    /// Its number among the worker's connections.
    number: u32,
    /// The address on this host.
    local: &'a str,
    /// The address of the server.
    remote: &'a str,
    /// Operations completed.
    operations: u64,
    /// Calls answered.
    calls: u64,
    /// Bytes moved.
    moved_bytes: u64,
    /// The rate.
    rate_ops_per_sec: Option<EstimateJson>,
    /// The throughput.
    throughput_bytes_per_sec: Option<EstimateJson>,
    /// Mean number of unanswered calls.
    outstanding_mean_calls: Option<EstimateJson>,
    /// TCP's mean round-trip time.
    rtt_mean_ns: Option<f64>,
    /// The half-width of its 95 % confidence interval.
    rtt_uncertainty_ns: Option<f64>,
    /// Segments sent again by TCP.
    retransmits: u64,
    /// New connections after a loss.
    reconnects: u64,
    /// Calls repeated on a new connection.
    replays: u64,
    /// Calls that the server asked to repeat.
    retries: u64,
    /// Bytes written again after the server lost them.
    rewritten_bytes: u64,
    /// Restarts of the server, by its write verifier.
    verifier_changes: u64,
    /// Time without a connection.
    down_ns: u64,
}

pub(super) fn load_point<'a>(
    findings: &'a Findings,
    index: usize,
    load_point: &'a LoadPoint,
) -> LoadPointJson<'a> {
    let marks = findings.marks(index, None);
    let warnings = findings.warnings.iter().filter(|g| marks.contains(g.mark));
    let owners = Owners::of(findings);
    LoadPointJson {
        variant: &load_point.variant,
        parameters: pairs(&load_point.parameters),
        queue_depth_total: load_point.queue_depth_total,
        merged: summary(&load_point.merged, Depth::Whole),
        runs: load_point.runs.iter().map(|one| run(owners, one)).collect(),
        warnings: warnings.map(|g| g.code).collect(),
        missing_hosts: load_point.missing_hosts.map(MissingHostsJson::of),
        hosts: hosts(findings, index),
        targets: targets(findings, index),
    }
}

fn targets(findings: &Findings, load_point: usize) -> Vec<TargetJson<'_>> {
    let Some(targets) = &findings.targets else { return Vec::new() };
    let parts = targets.load_points.get(load_point).into_iter().flatten();
    parts
        .map(|part| TargetJson {
            name: targets.names.get(part.target).map_or("", String::as_str),
            summary: summary(&part.summary, Depth::WithoutDistributions),
        })
        .collect()
}

fn hosts(findings: &Findings, load_point: usize) -> Vec<HostJson<'_>> {
    let Some(fleet) = &findings.fleet else { return Vec::new() };
    let shares = fleet.load_points.get(load_point).into_iter().flat_map(|point| &point.hosts);
    shares
        .map(|share| HostJson {
            name: fleet.hosts.get(share.host).map_or("", String::as_str),
            summary: summary(&share.summary, Depth::WithoutDistributions),
            lost: share.lost.as_ref().map(|(at_ns, reason)| LostJson { at_ns: *at_ns, reason }),
            wire: wire::of_host(&share.wire),
        })
        .collect()
}

fn run<'a>(owners: Owners<'a>, run: &'a RunSummary) -> RunJson<'a> {
    RunJson {
        index: run.index,
        repeat: run.repeat,
        started_unix_ms: run.started_unix_ms,
        outcome: outcome(&run.outcome),
        intervals_planned: run.intervals_planned,
        summary: summary(&run.summary, Depth::WithoutDistributions),
        connections: run.connections.iter().map(|one| connection(owners, one)).collect(),
    }
}

fn connection<'a>(owners: Owners<'a>, connection: &'a ConnectionSummary) -> ConnectionJson<'a> {
    ConnectionJson {
        host: owners.host(connection),
        target: owners.target(connection),
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
