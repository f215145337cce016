//! The outcome of a tuning as JSON.

use analysis::Findings;
use analysis::tune::findings::{HostShare, Outcome, Tried, TuneFindings};
use analysis::tune::limit::LevelQuota;
use analysis::verdict::Answer;
use schemars::JsonSchema;
use serde::Serialize;
use workload::reach::RequiredRate;

use super::estimate::{EstimateJson, estimate};
use crate::number::exported;

/// The outcome of a tuning.
#[derive(Serialize, JsonSchema)]
pub(super) struct TuneJson {
    /// `reached`, `too_slow`, `saturated`, `bounded`, `inconclusive` or `unfinished`.
    verdict: &'static str,
    /// The requirement.
    required: RequiredJson,
    /// The calculation with Little's law; null if nothing was measured.
    arithmetic: Option<ArithmeticJson>,
    /// The least concurrency that reaches the rate.
    enough: Option<TriedJson>,
    /// The concurrency below it, which does not.
    too_little: Option<TriedJson>,
    /// The concurrency at which throughput stopped rising below the required rate.
    saturation: Option<TriedJson>,
    /// The least concurrency is known only within noise.
    within_noise: Option<bool>,
    /// A run at the required rate.
    paced: Option<TriedJson>,
    /// The highest rate within the latency objective.
    best_within_objective: Option<TriedJson>,
    /// Every concurrency that was measured.
    tried: Vec<TriedJson>,
    /// What limits a rate that is not reached.
    limited_by: Option<LimitedByJson>,
    /// The quota that each service level needs for the rate.
    quotas: Vec<LevelQuotaJson>,
    /// The settings that reach the rate.
    settings: Option<SettingsJson>,
}

/// The requirement of a tuning.
#[derive(Serialize, JsonSchema)]
struct RequiredJson {
    /// The quantity that the user gave: `throughput` or `rate`.
    quantity: &'static str,
    /// The required rate.
    ops_per_sec: f64,
    /// The required throughput; null if no operation moves data.
    bytes_per_sec: Option<f64>,
    /// The lowest rate that counts as reached.
    least_ops_per_sec: f64,
    /// The latency objective: the highest mean response time.
    response_time_max_ns: Option<u64>,
    /// The most operations in flight that were allowed.
    outstanding_max: u32,
}

/// Little's law with the measured latency at queue depth 1.
#[derive(Serialize, JsonSchema)]
struct ArithmeticJson {
    /// The response time at queue depth 1.
    response_time_unloaded_ns: f64,
    /// The mean transfer size; null if no operation moves data.
    transfer_size_bytes: Option<f64>,
    /// The required rate.
    ops_per_sec: f64,
    /// Rate times response time.
    outstanding: f64,
    /// The same, rounded up.
    outstanding_whole: u64,
}

/// A measured concurrency.
#[derive(Serialize, JsonSchema)]
struct TriedJson {
    /// The load point, by its index in `load_points`.
    load_point: usize,
    /// Operations in flight.
    outstanding: u64,
    /// The achieved rate.
    achieved_rate_ops_per_sec: EstimateJson,
    /// The throughput; null if no data moved.
    throughput_bytes_per_sec: Option<EstimateJson>,
    /// The mean response time.
    response_time_mean_ns: EstimateJson,
    /// The number of runs.
    runs: u32,
}

/// What limits a rate that is not reached.
#[derive(Serialize, JsonSchema)]
struct LimitedByJson {
    /// The codes of the limits; several if the data cannot distinguish them.
    limits: Vec<&'static str>,
    /// The probability of this answer.
    probability: f64,
}

/// The quota that a service level needs.
#[derive(Serialize, JsonSchema)]
struct LevelQuotaJson {
    /// The service level.
    service_level: &'static str,
    /// The least quota; null if no quota is enough.
    quota_bytes: Option<u64>,
    /// The most that a volume of this level can have; null if it has no such limit.
    max_bytes_per_sec: Option<u64>,
}

/// Settings that reach the rate.
#[derive(Serialize, JsonSchema)]
struct SettingsJson {
    /// Operations in flight on all hosts.
    outstanding: u64,
    /// The shares of the hosts.
    hosts: Vec<HostShareJson>,
}

/// The share of hosts with the same settings.
#[derive(Serialize, JsonSchema)]
struct HostShareJson {
    /// The number of these hosts.
    hosts: u64,
    /// Operations in flight on each.
    outstanding: u64,
    /// Workers on each.
    workers: u32,
    /// The queue depth of each worker.
    queue_depth: u32,
    /// The rate to offer on each; null if the load is not paced.
    paced_at_ops_per_sec: Option<f64>,
}

pub(super) fn tune(findings: &Findings, tune: &TuneFindings) -> TuneJson {
    TuneJson {
        verdict: outcome_name(&tune.outcome),
        required: required(tune),
        arithmetic: tune.arithmetic.map(|worked| ArithmeticJson {
            response_time_unloaded_ns: exported(worked.response.0),
            transfer_size_bytes: Some(exported(worked.operation_bytes))
                .filter(|bytes| *bytes > 0.0),
            ops_per_sec: exported(worked.rate.get()),
            outstanding: exported(worked.outstanding),
            outstanding_whole: worked.outstanding_whole,
        }),
        enough: tune.outcome.enough().as_ref().map(tried),
        too_little: match &tune.outcome {
            Outcome::Reached { too_little, .. } => too_little.as_ref().map(tried),
            _ => None,
        },
        saturation: match &tune.outcome {
            Outcome::Saturated { top, .. } => Some(tried(top)),
            _ => None,
        },
        within_noise: match &tune.outcome {
            Outcome::Reached { open, .. } => Some(*open),
            _ => None,
        },
        paced: tune.paced.as_ref().map(tried),
        best_within_objective: tune.best_within_objective.as_ref().map(tried),
        tried: tune.tried.iter().map(tried).collect(),
        limited_by: limited_by(findings, tune),
        quotas: tune.quotas.iter().map(quota).collect(),
        settings: tune.settings.as_ref().map(|settings| SettingsJson {
            outstanding: settings.outstanding,
            hosts: settings.shares.iter().map(share).collect(),
        }),
    }
}

fn required(tune: &TuneFindings) -> RequiredJson {
    RequiredJson {
        quantity: match tune.reach.required {
            RequiredRate::Throughput { .. } => "throughput",
            RequiredRate::Rate { .. } => "rate",
        },
        ops_per_sec: exported(tune.target_rate.get()),
        bytes_per_sec: tune.target_throughput.map(|target| exported(target.get())),
        least_ops_per_sec: exported(tune.least_rate.get()),
        response_time_max_ns: tune.reach.response_time_max_ns,
        outstanding_max: tune.reach.outstanding_max,
    }
}

const fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Reached { .. } => "reached",
        Outcome::TooSlow { .. } => "too_slow",
        Outcome::Saturated { .. } => "saturated",
        Outcome::Bounded { .. } => "bounded",
        Outcome::Inconclusive { .. } => "inconclusive",
        Outcome::Unfinished => "unfinished",
    }
}

/// What limits a rate that is not reached, from the verdict on the curve.
fn limited_by(findings: &Findings, tune: &TuneFindings) -> Option<LimitedByJson> {
    if !matches!(tune.outcome, Outcome::Saturated { .. }) {
        return None;
    }
    let verdict = &findings.verdicts[tune.verdict?];
    let Answer::Limited { by, probability } = &verdict.answer else { return None };
    let limits = by.iter().map(|limit| limit.code()).collect();
    Some(LimitedByJson { limits, probability: exported(*probability) })
}

fn tried(tried: &Tried) -> TriedJson {
    TriedJson {
        load_point: tried.load_point,
        outstanding: tried.outstanding,
        achieved_rate_ops_per_sec: estimate(tried.rate),
        throughput_bytes_per_sec: tried.throughput.map(estimate),
        response_time_mean_ns: estimate(tried.response_ns),
        runs: tried.runs,
    }
}

fn quota(quota: &LevelQuota) -> LevelQuotaJson {
    LevelQuotaJson {
        service_level: quota.level,
        quota_bytes: quota.quota.map(|bytes| bytes.get()),
        max_bytes_per_sec: quota.ceiling.map(|max| max.bytes_per_s()),
    }
}

fn share(share: &HostShare) -> HostShareJson {
    HostShareJson {
        hosts: share.hosts,
        outstanding: share.outstanding,
        workers: share.workers,
        queue_depth: share.queue_depth,
        paced_at_ops_per_sec: share.rate.map(|rate| exported(rate.get())),
    }
}
