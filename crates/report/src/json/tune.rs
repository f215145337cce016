//! What a tuning found, as JSON.

use analysis::tune::findings::{HostShare, Tried, TuneFindings, Verdict};
use analysis::tune::limit::{LevelQuota, Stop};
use serde_json::{Value, json};
use workload::reach::Wanted;

use super::estimate::estimate;
use crate::number::exported;

pub(super) fn tune(tune: &TuneFindings) -> Value {
    let said = match tune.reach.wanted {
        Wanted::Throughput { .. } => "throughput",
        Wanted::Rate { .. } => "rate",
    };
    let number = |value: f64| json!(exported(value));
    json!({
        "verdict": verdict_name(&tune.verdict),
        "wanted": {
            "said_as": said,
            "ops_per_sec": number(tune.wanted_ops_per_s),
            "bytes_per_sec": number(tune.wanted_bytes_per_s),
            "least_ops_per_sec": number(tune.least_ops_per_s),
            "response_time_max_ns": tune.reach.response_time_max_ns,
            "outstanding_max": tune.reach.outstanding_max,
        },
        "arithmetic": tune.arithmetic.map(|worked| json!({
            "response_time_alone_ns": number(worked.response_ns),
            "transfer_size_bytes": number(worked.transfer_bytes),
            "ops_per_sec": number(worked.ops_per_s),
            "outstanding": number(worked.outstanding),
            "outstanding_whole": worked.outstanding_whole,
        })),
        "enough": tune.verdict.enough().as_ref().map(tried),
        "too_little": match &tune.verdict {
            Verdict::Reached { too_little, .. } => too_little.as_ref().map(tried),
            _ => None,
        },
        "saturation": match &tune.verdict {
            Verdict::Saturated { top, .. } => Some(tried(top)),
            _ => None,
        },
        "within_noise": match &tune.verdict {
            Verdict::Reached { open, .. } => Some(*open),
            _ => None,
        },
        "held": tune.held.as_ref().map(tried),
        "best_within_objective": tune.best_within_objective.as_ref().map(tried),
        "tried": tune.tried.iter().map(tried).collect::<Vec<_>>(),
        "stopped_by": tune.stop.as_ref().map(stop),
        "quotas": tune.quotas.iter().map(quota).collect::<Vec<_>>(),
        "settings": tune.settings.as_ref().map(|settings| json!({
            "outstanding": settings.outstanding,
            "hosts": settings.shares.iter().map(share).collect::<Vec<_>>(),
        })),
    })
}

const fn verdict_name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Reached { .. } => "reached",
        Verdict::TooSlow { .. } => "too_slow",
        Verdict::Saturated { .. } => "saturated",
        Verdict::Bounded { .. } => "bounded",
        Verdict::Unfinished => "unfinished",
    }
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

fn stop(stop: &Stop) -> Value {
    match stop {
        Stop::ThroughputLimit { bytes_per_s, level, quota_bytes } => json!({
            "what": "volume_throughput",
            "bytes_per_sec": exported(*bytes_per_s),
            "service_level": level,
            "quota_bytes": quota_bytes,
        }),
        Stop::Generator { busy } => json!({
            "what": "client_cpu",
            "worker_busy_fraction": exported(*busy),
        }),
        Stop::Ceiling => json!({ "what": "generator_ceiling" }),
        Stop::Attributed { limit, confidence, .. } => json!({
            "what": limit.code(),
            "probability": exported(*confidence),
        }),
        Stop::Unknown => json!({ "what": "unknown" }),
    }
}

fn quota(quota: &LevelQuota) -> Value {
    json!({
        "service_level": quota.level,
        "quota_bytes": quota.quota_bytes,
        "most_bytes_per_sec": quota.ceiling_bytes_per_s,
    })
}

fn share(share: &HostShare) -> Value {
    json!({
        "hosts": share.hosts,
        "outstanding": share.outstanding,
        "workers": share.workers,
        "queue_depth": share.queue_depth,
        "held_at_ops_per_sec": share.ops_per_s.map(exported),
    })
}
