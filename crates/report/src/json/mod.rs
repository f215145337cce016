//! All findings as JSON, with units in the names of fields and nine digits. A percentile with too few
//! samples is `null`, next to the number of samples above it.
//!
//! The types here define the format, which has its own version, so that findings can change without
//! it; [`schema`] describes them. A new kind of finding gets a file and a field of [`Document`].

mod curve;
mod emulated;
pub(crate) mod estimate;
mod fleet;
mod host;
mod load_point;
mod metric;
mod operations;
mod overview;
mod scaling;
pub mod schema;
mod searches;
mod series;
mod steadiness;
mod summary;
mod trees;
mod tune;
mod users;
pub(crate) mod verdicts;
mod warning;
mod wire;

use std::io::{self, Write};

use analysis::Findings;
use analysis::condition::Judged;
use metrics::run_record::Outcome;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use curve::{CurveJson, curve};
use emulated::{EmulatedVolumeJson, ServiceCountersJson, emulated_volume, service_counters};
use fleet::{FleetJson, fleet};
use load_point::{LoadPointJson, load_point};
use metric::{MetricJson, metric};
use overview::{HeatJson, OverviewJson, heat, summary};
use scaling::{ScalingJson, scaling};
use searches::{MixJson, SearchJson, mixes, searches};
use series::{SeriesJson, series};
use steadiness::{SteadinessJson, steadiness};
use trees::{TreesJson, trees};
use tune::{TuneJson, tune};
use verdicts::{VerdictJson, verdicts};
use warning::{WarningJson, warning};
use wire::{RunWireJson, wire};

use crate::conditions::{self, ConditionJson};
use crate::expect::json::{PublishedJson, published};
use crate::record::Record;

/// Increased when a reader of the previous version would misread the new one.
const SCHEMA_VERSION: u32 = 2;

/// Writes findings and published figures, indented, with a line break at the end.
///
/// # Errors
/// Errors of `out`.
pub fn write<'a>(record: impl Into<Record<'a>>, out: &mut dyn Write) -> io::Result<()> {
    write_judged(record, &[], out)
}

/// The same with judged conditions, if there are any.
///
/// # Errors
/// Errors of `out`.
pub fn write_judged<'a>(
    record: impl Into<Record<'a>>,
    judged: &'a [Judged],
    out: &mut dyn Write,
) -> io::Result<()> {
    let record: Record<'a> = record.into();
    let conditions = conditions::json(record.findings, judged);
    serde_json::to_writer_pretty(&mut *out, &Document { conditions, ..Document::of(record) })?;
    writeln!(out)
}

/// The results of an experiment.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "Results of fourcorners")]
struct Document<'a> {
    /// The version of this format.
    schema_version: u32,
    /// The record's name in the store.
    id: &'a str,
    /// The experiment's name.
    name: &'a str,
    /// Where the experiment comes from: a profile or a file.
    source: &'a str,
    /// Overrides from the command line, as `KEY=VALUE`.
    overrides: &'a [String],
    /// The target, as the user wrote it.
    target: &'a str,
    /// SHA-256 of the plan.
    plan_hash: &'a str,
    /// How operations were sent to the kernel: `io_uring` or `psync`.
    io_method: &'a str,
    /// Why this method was used.
    io_method_reason: &'a str,
    /// The seed of the operations.
    seed: u64,
    /// The start, in milliseconds since 1970 (UTC).
    started_unix_ms: u64,
    /// How the experiment ended.
    outcome: OutcomeJson<'a>,
    /// The command that repeats the experiment.
    repeat_command: &'a str,
    /// Facts about host, target and program.
    environment: Vec<EnvironmentEntry<'a>>,
    /// The results of each load point.
    #[serde(serialize_with = "each_load_point")]
    #[schemars(with = "Vec<LoadPointJson<'static>>")]
    load_points: &'a Findings,
    /// The load points as series of increasing load.
    curves: Vec<CurveJson<'a>>,
    /// Each stream of each run over time.
    series: Vec<SeriesJson<'a>>,
    /// The warnings.
    warnings: Vec<WarningJson<'a>>,
    /// Remarks about the results.
    notes: Vec<String>,
    /// The conditions of `--fail-if`; only if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<ConditionJson<'a>>,
    /// Only for an emulated volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    emulated_volume: Option<EmulatedVolumeJson<'a>>,
    /// The hosts that measured together; only with `--hosts`.
    #[serde(skip_serializing_if = "Option::is_none")]
    fleet: Option<FleetJson<'a>>,
    /// Heat maps of latency over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    heats: Vec<HeatJson<'a>>,
    /// The business metric by which the load was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    metric: Option<MetricJson<'a>>,
    /// Shares of reads, of streams that read and write.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mixes: Vec<MixJson<'a>>,
    /// How rates grow with the number of hosts or targets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scalings: Vec<ScalingJson<'a>>,
    /// Searches for load points.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    searches: Vec<SearchJson<'a>>,
    /// Steady state of each load point, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steadiness: Vec<SteadinessJson<'a>>,
    /// The comparison with published figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<PublishedJson<'a>>,
    /// The key results; missing if nothing was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<OverviewJson<'a>>,
    /// The outcome of `tune`.
    #[serde(skip_serializing_if = "Option::is_none")]
    tune: Option<TuneJson>,
    /// What limits each curve.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    verdicts: Vec<VerdictJson<'a>>,
    /// Network counters: for each load point, in order, its runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    wire: Option<Vec<Vec<RunWireJson>>>,
    /// Counters of the emulated volume's service, compared with those of the load generator.
    #[serde(skip_serializing_if = "Option::is_none")]
    service_counters: Option<ServiceCountersJson>,
    /// Only with operations on names.
    #[serde(skip_serializing_if = "Option::is_none")]
    trees: Option<TreesJson>,
}

/// A name and its value.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EnvironmentEntry<'a> {
    /// The name.
    name: &'a str,
    /// The value as text.
    value: &'a str,
}

/// How an experiment or a run ended.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OutcomeJson<'a> {
    /// `done`, `interrupted`, `failed` or `aborted`.
    outcome: &'static str,
    /// Why it failed; only if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
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
            warnings: findings.warnings.iter().map(warning).collect(),
            notes: findings.notes.iter().map(crate::verdict::words::note).collect(),
            conditions: Vec::new(),
            emulated_volume: findings.emulated.as_ref().map(emulated_volume),
            fleet: findings.fleet.as_ref().map(fleet),
            heats: findings.heats.iter().map(heat).collect(),
            metric: findings.metric.as_ref().map(metric),
            mixes: mixes(findings),
            scalings: findings.scalings.iter().map(scaling).collect(),
            searches: searches(findings),
            steadiness: findings.steadiness.iter().map(steadiness).collect(),
            published: record.published.map(published),
            summary: summary(findings),
            tune: findings.tune.as_ref().map(|tuned| tune(findings, tuned)),
            verdicts: verdicts(findings),
            wire: wire(findings),
            service_counters: findings.service_check.map(service_counters),
            trees: findings.tree_check.map(trees),
        }
    }
}

/// Serialises load points one by one, because ten thousand of them would take a gigabyte of memory.
fn each_load_point<S: Serializer>(findings: &&Findings, out: S) -> Result<S::Ok, S::Error> {
    let points = findings.load_points.iter().enumerate();
    out.collect_seq(points.map(|(index, point)| load_point(findings, index, point)))
}

/// The name of an outcome, and the reason for a failure.
pub(crate) fn outcome(outcome: &Outcome) -> OutcomeJson<'_> {
    let (outcome, reason) = match outcome {
        Outcome::Done => ("done", None),
        Outcome::Interrupted => ("interrupted", None),
        Outcome::Failed { reason } => ("failed", Some(reason.as_str())),
        Outcome::Aborted => ("aborted", None),
    };
    OutcomeJson { outcome, reason }
}

fn pairs(pairs: &[(String, String)]) -> Vec<EnvironmentEntry<'_>> {
    pairs.iter().map(|(name, value)| EnvironmentEntry { name, value }).collect()
}
