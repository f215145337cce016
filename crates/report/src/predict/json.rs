//! A prediction as JSON: units in the names of fields, numbers with nine digits, intervals as
//! `low`, `value`, `high`.

use std::io::{self, Write};

use cloud::reason::RowRef;
use predict::coverage::Coverage;
use predict::measured::MeasuredPoint;
use predict::{Bound, Curve, Reason, Stretch, Topology};
use serde::Serialize;

use super::{Comparison, MeasuredRun};
use crate::expect::json::{ExpectationJson, expectation};
use crate::model::json::{IntervalJson, PointJson, ResourceJson, interval, point, resource};
use crate::model::words;
use crate::number::exported;

/// Changes when a reader of the old form would misread the new one.
pub const SCHEMA_VERSION: u32 = 2;

/// Writes the prediction, indented, with a line break at the end.
///
/// # Errors
/// Writing to `out` fails.
pub fn write(
    topology: &Topology,
    curve: &Curve,
    with: &Comparison,
    out: &mut dyn Write,
) -> io::Result<()> {
    let document = Document {
        schema_version: SCHEMA_VERSION,
        name: &topology.name,
        hosts: topology.host_count(),
        connections: topology.workloads.iter().map(|one| topology.flows(one)).collect(),
        workloads: topology.workloads.iter().map(|one| one.name.as_str()).collect(),
        requested: curve.requested.as_ref().map(point),
        most: point(&curve.most),
        knee_outstanding: interval(curve.knee_outstanding),
        bounds: curve.bounds.iter().map(bound).collect(),
        points: curve.points.iter().map(point).collect(),
        stretches: curve.stretches.iter().map(stretch).collect(),
        not_modelled: curve.not_modelled.iter().copied().map(words::not_modelled).collect(),
        not_counted: curve.not_counted.iter().map(words::not_counted).collect(),
        coverage: CoverageJson {
            rates: coverage(Coverage::RATES),
            latencies: coverage(Coverage::LATENCIES),
        },
        reasons: curve.reasons.iter().map(reason).collect(),
        assumptions: curve.assumptions.iter().copied().map(words::assumption).collect(),
        against_published: with.published.iter().map(expectation).collect(),
        against_measured: with.measured.iter().map(measured).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    name: &'a str,
    hosts: u64,
    connections: Vec<u64>,
    workloads: Vec<&'a str>,
    /// Null if the offered rate exceeds a limit.
    requested: Option<PointJson<'a>>,
    most: PointJson<'a>,
    knee_outstanding: IntervalJson,
    bounds: Vec<BoundJson<'a>>,
    points: Vec<PointJson<'a>>,
    stretches: Vec<StretchJson<'a>>,
    /// Protocols that the model does not cover.
    not_modelled: Vec<String>,
    /// Kinds of operations without a published rate, which are left out.
    not_counted: Vec<String>,
    coverage: CoverageJson,
    reasons: Vec<ReasonJson<'a>>,
    assumptions: Vec<String>,
    /// Of each workload, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    against_published: Vec<ExpectationJson<'a>>,
    /// Of each requested run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    against_measured: Vec<MeasuredJson<'a>>,
}

/// How many published figures, each predicted without its document, are in their interval.
#[derive(Serialize)]
struct CoverageJson {
    rates: OneCoverageJson,
    latencies: OneCoverageJson,
}

#[derive(Serialize)]
struct OneCoverageJson {
    inside: usize,
    count: usize,
    /// Upper end of the interval over its lower one.
    median_width: f64,
}

fn coverage(of: Coverage) -> OneCoverageJson {
    OneCoverageJson { inside: of.inside, count: of.count, median_width: exported(of.width) }
}

#[derive(Serialize)]
struct MeasuredJson<'a> {
    id: &'a str,
    points: Vec<MeasuredPointJson>,
}

#[derive(Serialize)]
struct MeasuredPointJson {
    outstanding: f64,
    measured_ops_per_s: f64,
    predicted_ops_per_s: f64,
    measured_response_s: f64,
    predicted_response_s: f64,
}

fn measured(of: &MeasuredRun) -> MeasuredJson<'_> {
    let one = |point: &MeasuredPoint| MeasuredPointJson {
        outstanding: exported(point.outstanding),
        measured_ops_per_s: exported(point.rate.get()),
        predicted_ops_per_s: exported(point.predicted.ops_per_s.value),
        measured_response_s: exported(point.response_s),
        predicted_response_s: exported(point.predicted.response_s.value),
    };
    MeasuredJson { id: &of.id, points: of.points.iter().map(one).collect() }
}

#[derive(Serialize)]
struct BoundJson<'a> {
    resource: ResourceJson<'a>,
    count: u64,
    ops_per_s: IntervalJson,
    bytes_per_s: IntervalJson,
}

fn bound(of: &Bound) -> BoundJson<'_> {
    BoundJson {
        resource: resource(&of.resource),
        count: of.count,
        ops_per_s: interval(of.ops_per_s),
        bytes_per_s: interval(of.bytes_per_s),
    }
}

#[derive(Serialize)]
struct StretchJson<'a> {
    from_outstanding: f64,
    to_outstanding: f64,
    bounded_by: ResourceJson<'a>,
}

fn stretch(of: &Stretch) -> StretchJson<'_> {
    StretchJson {
        from_outstanding: exported(of.from),
        to_outstanding: exported(of.to),
        bounded_by: resource(&of.bounded_by),
    }
}

#[derive(Serialize)]
struct ReasonJson<'a> {
    text: String,
    rows: Vec<RowJson<'a>>,
}

#[derive(Serialize)]
struct RowJson<'a> {
    file: &'a str,
    row: &'a str,
    source: &'a str,
    date: &'a str,
}

fn reason(of: &Reason) -> ReasonJson<'_> {
    ReasonJson { text: words::statement(&of.statement), rows: of.rows.iter().map(row).collect() }
}

fn row(of: &RowRef) -> RowJson<'_> {
    RowJson { file: of.file, row: &of.row, source: &of.source, date: &of.date }
}
