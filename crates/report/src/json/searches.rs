//! Searches and mixes as JSON.

use analysis::Findings;
use serde_json::{Value, json};

use crate::number::exported;

/// The outcome of each search; `None` if there was none.
pub(super) fn searches(findings: &Findings) -> Option<Value> {
    let each = findings.searches.iter().map(|searched| {
        json!({
            "name": searched.name,
            "load_points": searched.load_points,
            "runs": searched.runs,
            "ended": searched.ended.map(|ended| ended.name()),
            "not_converged": searched.not_converged,
        })
    });
    let each: Vec<Value> = each.collect();
    (!each.is_empty()).then_some(Value::Array(each))
}

/// The requested and achieved shares of reads of each stream that reads and writes.
pub(super) fn mixes(findings: &Findings) -> Option<Value> {
    let each = findings.mixes.iter().map(|mix| {
        json!({
            "load_point": mix.load_point,
            "stream": mix.stream,
            "requested_read_fraction": exported(mix.planned),
            "achieved_read_fraction": exported(mix.achieved),
            "operations": mix.operations,
        })
    });
    let each: Vec<Value> = each.collect();
    (!each.is_empty()).then_some(Value::Array(each))
}
