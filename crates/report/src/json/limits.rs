//! What limits each curve as JSON.

use analysis::bottleneck::LimitFinding;
use serde_json::{Value, json};

use super::estimate::estimate;
use crate::number::exported;

/// The findings; nothing where there are none.
pub(super) fn limits(limits: &[LimitFinding]) -> Option<Value> {
    (!limits.is_empty()).then(|| Value::Array(limits.iter().map(limit).collect()))
}

fn limit(found: &LimitFinding) -> Value {
    json!({
        "curve": found.name,
        "load_points": found.load_points,
        "at_load_point": found.at,
        "limit": found.limit.code(),
        "confidence": exported(found.confidence),
        "candidates": found.candidates.iter().map(|candidate| json!({
            "limit": candidate.limit.code(),
            "probability": exported(candidate.probability),
        })).collect::<Vec<_>>(),
        "ceiling_ops_per_sec": found.ceiling_ops_per_s.map(estimate),
        "ceiling_bytes_per_sec": found.ceiling_bytes_per_s.map(estimate),
        "evidence": found.evidence.iter().map(|evidence| json!({
            "seen": evidence.seen,
            "load_points": evidence.load_points,
        })).collect::<Vec<_>>(),
        "remedy": found.remedy,
        "experiment": found.experiment.as_ref().map(|experiment| json!({
            "why": experiment.why,
            "arguments": experiment.arguments,
        })),
    })
}
