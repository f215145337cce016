//! The whole findings as JSON, units in the names of the fields, numbers with nine digits.
//! Percentiles that too few samples stand behind are `null`, with the number of samples above them
//! beside.
//!
//! The types here are the format: findings may change without it, and it carries its own version.
//! A new kind of finding gets a file of its own and one line in [`sections`].

mod curve;
mod emulated;
pub(crate) mod estimate;
mod host;
mod load_point;
mod operations;
mod overview;
mod searches;
mod sections;
mod series;
mod steadiness;
mod summary;
mod tune;
pub(crate) mod verdicts;
mod warning;
mod wire;

use std::io::{self, Write};

use analysis::Findings;
use metrics::run_record::Outcome;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use curve::{CurveJson, curve};
use load_point::load_point;
use series::{SeriesJson, series};
use warning::{WarningJson, warning};

use crate::record::Record;

/// Changes when a reader of the old form would misread the new one.
pub const SCHEMA_VERSION: u32 = 1;

/// Writes findings and what was published beside them, indented, with a line break at the end.
///
/// # Errors
/// What `out` says.
pub fn write<'a>(record: impl Into<Record<'a>>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Document::of(record.into()))?;
    writeln!(out)
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    id: &'a str,
    name: &'a str,
    source: &'a str,
    overrides: &'a [String],
    target: &'a str,
    plan_hash: &'a str,
    engine: &'a str,
    engine_reason: &'a str,
    seed: u64,
    started_unix_ms: u64,
    outcome: Value,
    repeat_command: &'a str,
    environment: Vec<EnvironmentEntry<'a>>,
    #[serde(serialize_with = "each_load_point")]
    load_points: &'a Findings,
    curves: Vec<CurveJson<'a>>,
    series: Vec<SeriesJson<'a>>,
    /// What only some records have: see [`sections`].
    #[serde(flatten)]
    sections: Map<String, Value>,
    warnings: Vec<WarningJson<'a>>,
    notes: &'a [String],
}

#[derive(Serialize)]
pub(crate) struct EnvironmentEntry<'a> {
    name: &'a str,
    value: &'a str,
}

impl<'a> Document<'a> {
    fn of(record: Record<'a>) -> Document<'a> {
        let findings = record.findings;
        Document {
            schema_version: SCHEMA_VERSION,
            id: &findings.id,
            name: &findings.name,
            source: &findings.source,
            overrides: &findings.overrides,
            target: &findings.target,
            plan_hash: &findings.plan_hash,
            engine: findings.engine,
            engine_reason: &findings.engine_reason,
            seed: findings.seed,
            started_unix_ms: findings.started_unix_ms,
            outcome: outcome(&findings.outcome),
            repeat_command: &findings.repeat_command,
            environment: pairs(&findings.environment),
            load_points: findings,
            curves: findings.curves.iter().map(curve).collect(),
            series: findings.series.iter().map(series).collect(),
            sections: sections::of(record),
            warnings: findings.warnings.iter().map(warning).collect(),
            notes: &findings.notes,
        }
    }
}

/// One after the other: ten thousand of them take a gigabyte together.
fn each_load_point<S: Serializer>(findings: &&Findings, out: S) -> Result<S::Ok, S::Error> {
    let points = findings.load_points.iter().enumerate();
    out.collect_seq(points.map(|(index, point)| load_point(findings, index, point)))
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
