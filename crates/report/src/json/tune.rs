//! The outcome of a tuning as JSON.

use analysis::Findings;
use analysis::tune::findings::{HostShare, Outcome, Tried, TuneFindings};
use analysis::tune::limit::LevelQuota;
use analysis::verdict::Answer;
use serde_json::{Value, json};
use workload::reach::RequiredRate;

use super::estimate::estimate;
use crate::number::exported;

pub(super) fn tune(findings: &Findings, tune: &TuneFindings) -> Value {
    let quantity = match tune.reach.required {
        RequiredRate::Throughput { .. } => "throughput",
        RequiredRate::Rate { .. } => "rate",
    };
    let number = |value: f64| json!(exported(value));
    json!({
        "verdict": outcome_name(&tune.outcome),
        "required": {
            "quantity": quantity,
            "ops_per_sec": number(tune.target_rate.get()),
            "bytes_per_sec": number(tune.target_throughput.get()),
            "least_ops_per_sec": number(tune.least_rate.get()),
            "response_time_max_ns": tune.reach.response_time_max_ns,
            "outstanding_max": tune.reach.outstanding_max,
        },
        "arithmetic": tune.arithmetic.map(|worked| json!({
            "response_time_unloaded_ns": number(worked.response.0),
            "transfer_size_bytes": number(worked.transfer_bytes),
            "ops_per_sec": number(worked.rate.get()),
            "outstanding": number(worked.outstanding),
            "outstanding_whole": worked.outstanding_whole,
        })),
        "enough": tune.outcome.enough().as_ref().map(tried),
        "too_little": match &tune.outcome {
            Outcome::Reached { too_little, .. } => too_little.as_ref().map(tried),
            _ => None,
        },
        "saturation": match &tune.outcome {
            Outcome::Saturated { top, .. } => Some(tried(top)),
            _ => None,
        },
        "within_noise": match &tune.outcome {
            Outcome::Reached { open, .. } => Some(*open),
            _ => None,
        },
        "paced": tune.paced.as_ref().map(tried),
        "best_within_objective": tune.best_within_objective.as_ref().map(tried),
        "tried": tune.tried.iter().map(tried).collect::<Vec<_>>(),
        "limited_by": limited_by(findings, tune),
        "quotas": tune.quotas.iter().map(quota).collect::<Vec<_>>(),
        "settings": tune.settings.as_ref().map(|settings| json!({
            "outstanding": settings.outstanding,
            "hosts": settings.shares.iter().map(share).collect::<Vec<_>>(),
        })),
    })
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
fn limited_by(findings: &Findings, tune: &TuneFindings) -> Option<Value> {
    if !matches!(tune.outcome, Outcome::Saturated { .. }) {
        return None;
    }
    let verdict = &findings.verdicts[tune.verdict?];
    let Answer::Limited { by, probability } = &verdict.answer else { return None };
    let limits: Vec<&str> = by.iter().map(|limit| limit.code()).collect();
    Some(json!({ "limits": limits, "probability": exported(*probability) }))
}

fn tried(tried: &Tried) -> Value {
    json!({
        "load_point": tried.load_point,
        "outstanding": tried.outstanding,
        "achieved_rate_ops_per_sec": estimate(tried.rate),
        "throughput_bytes_per_sec": estimate(tried.throughput),
        "response_time_mean_ns": estimate(tried.response_ns),
        "runs": tried.runs,
    })
}

fn quota(quota: &LevelQuota) -> Value {
    json!({
        "service_level": quota.level,
        "quota_bytes": quota.quota.map(|bytes| bytes.get()),
        "max_bytes_per_sec": quota.ceiling.map(|max| max.bytes_per_s()),
    })
}

fn share(share: &HostShare) -> Value {
    json!({
        "hosts": share.hosts,
        "outstanding": share.outstanding,
        "workers": share.workers,
        "queue_depth": share.queue_depth,
        "paced_at_ops_per_sec": share.rate.map(|rate| exported(rate.get())),
    })
}
