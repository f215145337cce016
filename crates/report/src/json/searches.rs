//! Searches and mixes as JSON.

use analysis::Findings;
use serde_json::{Value, json};

use crate::number::exported;

/// What became of each search; nothing where there was none.
pub(super) fn searches(findings: &Findings) -> Option<Value> {
    let each = findings.searches.iter().map(|searched| {
        json!({
            "name": searched.name,
            "load_points": searched.load_points,
            "runs": searched.runs,
            "ended": searched.ended.map(|ended| ended.name()),
            "not_narrow": searched.not_narrow,
        })
    });
    let each: Vec<Value> = each.collect();
    (!each.is_empty()).then_some(Value::Array(each))
}

/// The share of reads, asked for and achieved, of each stream that reads and writes.
pub(super) fn mixes(findings: &Findings) -> Option<Value> {
    let each = findings.mixes.iter().map(|mix| {
        json!({
            "load_point": mix.load_point,
            "stream": mix.stream,
            "asked_read_fraction": exported(mix.asked),
            "achieved_read_fraction": exported(mix.achieved),
            "operations": mix.operations,
        })
    });
    let each: Vec<Value> = each.collect();
    (!each.is_empty()).then_some(Value::Array(each))
}
