//! All findings as JSON, with units in the names of fields and nine digits. A percentile with too few
//! samples is `null`, next to the number of samples above it.
//!
//! The types here define the format, which has its own version, so that findings can change without
//! it. A new kind of finding gets a file and a line in [`sections`].

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

/// Increased when a reader of the previous version would misread the new one.
const SCHEMA_VERSION: u32 = 2;

/// Writes findings and published figures, indented, with a line break at the end.
///
/// # Errors
/// Errors of `out`.
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
    io_method: &'a str,
    io_method_reason: &'a str,
    seed: u64,
    started_unix_ms: u64,
    outcome: Value,
    repeat_command: &'a str,
    environment: Vec<EnvironmentEntry<'a>>,
    #[serde(serialize_with = "each_load_point")]
    load_points: &'a Findings,
    curves: Vec<CurveJson<'a>>,
    series: Vec<SeriesJson<'a>>,
    /// Fields that only some records have, see [`sections`].
    #[serde(flatten)]
    sections: Map<String, Value>,
    warnings: Vec<WarningJson<'a>>,
    notes: Vec<String>,
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
            io_method: findings.io_method,
            io_method_reason: &findings.io_method_reason,
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
            notes: findings.notes.iter().map(crate::verdict::words::note).collect(),
        }
    }
}

/// Serialises load points one by one, because ten thousand of them would take a gigabyte of memory.
fn each_load_point<S: Serializer>(findings: &&Findings, out: S) -> Result<S::Ok, S::Error> {
    let points = findings.load_points.iter().enumerate();
    out.collect_seq(points.map(|(index, point)| load_point(findings, index, point)))
}

/// The name of an outcome, and the reason for a failure.
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
