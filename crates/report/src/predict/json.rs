//! A prediction as JSON: units in the names of fields, numbers with nine digits, intervals as
//! `low`, `value`, `high`.

use std::io::{self, Write};

use cloud::reason::{Reason, RowRef};
use predict::coverage::Coverage;
use predict::{Bound, Curve, Interval, Point, Resource, Stretch, Topology};
use serde::Serialize;

use super::{Beside, MeasuredRun};
use crate::expect::json::{ExpectationJson, expectation};
use crate::number::exported;

/// Changes when a reader of the old form would misread the new one.
pub const SCHEMA_VERSION: u32 = 1;

/// Writes the prediction, indented, with a line break at the end.
///
/// # Errors
/// What `out` says.
pub fn write(
    topology: &Topology,
    curve: &Curve,
    beside: &Beside,
    out: &mut dyn Write,
) -> io::Result<()> {
    let document = Document {
        schema_version: SCHEMA_VERSION,
        name: &topology.name,
        hosts: topology.host_count(),
        connections: topology.workloads.iter().map(|one| topology.flows(one)).collect(),
        workloads: topology.workloads.iter().map(|one| one.name.as_str()).collect(),
        asked: curve.asked.as_ref().map(point),
        most: point(&curve.most),
        knee_outstanding: interval(curve.knee_outstanding),
        bounds: curve.bounds.iter().map(bound).collect(),
        points: curve.points.iter().map(point).collect(),
        stretches: curve.stretches.iter().map(stretch).collect(),
        not_modelled: &curve.not_modelled,
        coverage: CoverageJson {
            rates: coverage(Coverage::RATES),
            latencies: coverage(Coverage::LATENCIES),
        },
        reasons: curve.reasons.iter().map(reason).collect(),
        assumptions: &curve.assumptions,
        against_published: beside.published.iter().map(expectation).collect(),
        against_measured: beside.measured.iter().map(measured).collect(),
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
    /// Null where more is offered than is let through.
    asked: Option<PointJson<'a>>,
    most: PointJson<'a>,
    knee_outstanding: IntervalJson,
    bounds: Vec<BoundJson<'a>>,
    points: Vec<PointJson<'a>>,
    stretches: Vec<StretchJson<'a>>,
    /// What is asked for and the model does not have.
    not_modelled: &'a [String],
    coverage: CoverageJson,
    reasons: Vec<ReasonJson<'a>>,
    assumptions: &'a [String],
    /// Of each workload, where it was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    against_published: Vec<ExpectationJson<'a>>,
    /// Of each run that was named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    against_measured: Vec<MeasuredJson<'a>>,
}

/// How many published figures the intervals hold, each predicted without its document.
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
    points: Vec<BesideJson>,
}

#[derive(Serialize)]
struct BesideJson {
    outstanding: f64,
    measured_ops_per_s: f64,
    predicted_ops_per_s: f64,
    measured_response_s: f64,
    predicted_response_s: f64,
}

fn measured(of: &MeasuredRun) -> MeasuredJson<'_> {
    let one = |point: &predict::measured::Beside| BesideJson {
        outstanding: exported(point.outstanding),
        measured_ops_per_s: exported(point.ops_per_s),
        predicted_ops_per_s: exported(point.predicted.ops_per_s.value),
        measured_response_s: exported(point.response_s),
        predicted_response_s: exported(point.predicted.response_s.value),
    };
    MeasuredJson { id: &of.id, points: of.points.iter().map(one).collect() }
}

#[derive(Serialize)]
pub(crate) struct IntervalJson {
    low: f64,
    value: f64,
    /// Null where there is no end.
    high: Option<f64>,
}

fn interval(of: Interval) -> IntervalJson {
    IntervalJson {
        low: exported(of.low),
        value: exported(of.value),
        high: of.high.is_finite().then(|| exported(of.high)),
    }
}

#[derive(Serialize)]
pub(crate) struct ResourceJson<'a> {
    kind: &'static str,
    name: &'a str,
}

fn resource(of: &Resource) -> ResourceJson<'_> {
    ResourceJson { kind: of.kind.name(), name: &of.name }
}

#[derive(Serialize)]
pub(crate) struct PointJson<'a> {
    outstanding: f64,
    ops_per_s: IntervalJson,
    bytes_per_s: IntervalJson,
    response_s: IntervalJson,
    ops_per_s_by_workload: Vec<f64>,
    bounded_by: ResourceJson<'a>,
}

pub(crate) fn point(of: &Point) -> PointJson<'_> {
    PointJson {
        outstanding: exported(of.outstanding),
        ops_per_s: interval(of.ops_per_s),
        bytes_per_s: interval(of.bytes_per_s),
        response_s: interval(of.response_s),
        ops_per_s_by_workload: of.by_workload.iter().map(|rate| exported(*rate)).collect(),
        bounded_by: resource(&of.bounded_by),
    }
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
    text: &'a str,
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
    ReasonJson { text: &of.text, rows: of.rows.iter().map(row).collect() }
}

fn row(of: &RowRef) -> RowJson<'_> {
    RowJson { file: of.file, row: &of.row, source: &of.source, date: &of.date }
}
