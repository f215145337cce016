//! Expectations as JSON: units in the names of fields, numbers with nine digits.

use std::io::{self, Write};

use analysis::verdict::{Answer, Verdict};
use cloud::figure::Value;
use predict::expect::Near;
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::Expectation;
use super::published::Published;
use crate::number::exported;
use crate::predict::json::{PointJson, point};

/// Changes when a reader of the old form would misread the new one.
pub const SCHEMA_VERSION: u32 = 1;
/// Bytes in a MiB.
const MIB: f64 = 1_048_576.0;

/// Writes all expectations with what is compared, indented, with a line break at the end.
///
/// # Errors
/// What `out` says.
pub fn write(shown: &Published, out: &mut dyn Write) -> io::Result<()> {
    let document = Document {
        schema_version: SCHEMA_VERSION,
        basis: &shown.basis,
        expectations: shown.expectations.iter().map(expectation).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// What stands beside a record, as a part of its document.
pub(crate) fn published(of: &Published) -> Json {
    let expectations: Vec<ExpectationJson<'_>> = of.expectations.iter().map(expectation).collect();
    json!({
        "basis": of.basis,
        "expectations": expectations,
        "variants_left_out": of.left_out,
    })
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    /// Empty where nothing was measured.
    basis: &'a [String],
    expectations: Vec<ExpectationJson<'a>>,
}

#[derive(Serialize)]
pub(crate) struct ExpectationJson<'a> {
    protocol: &'static str,
    vm: Option<&'a str>,
    hosts: u64,
    nconnect: u64,
    volumes: u64,
    volume_kind: &'static str,
    limit_bytes_per_sec: Option<f64>,
    outstanding: Option<u64>,
    transfer_bytes: u64,
    read_fraction: f64,
    pattern: &'static str,
    predicted: Option<PointJson<'a>>,
    measured: Option<MeasuredJson<'a>>,
    figures: Vec<NearJson<'a>>,
}

#[derive(Serialize)]
struct MeasuredJson<'a> {
    id: &'a str,
    variant: &'a str,
    ops_per_s: f64,
    limited_by: Vec<&'static str>,
    limited_by_probability: Option<f64>,
    apart: &'a [String],
}

#[derive(Serialize)]
struct NearJson<'a> {
    id: &'a str,
    value: f64,
    unit: &'static str,
    qualifier: &'static str,
    source: &'a str,
    date: &'a str,
    distance: f64,
    differences: Vec<DifferenceJson<'a>>,
    steps: Vec<StepJson>,
    here_ops_per_s: Option<f64>,
    measured_of_published: Option<f64>,
    explained: Option<f64>,
    unexplained: Option<f64>,
    contradicts: &'a [String],
}

#[derive(Serialize)]
struct DifferenceJson<'a> {
    field: &'static str,
    words: &'a str,
    weight: f64,
}

#[derive(Serialize)]
struct StepJson {
    what: &'static str,
    factor: f64,
}

pub(crate) fn expectation(of: &Expectation) -> ExpectationJson<'_> {
    let configuration = &of.configuration;
    let asked = of.curve.as_ref().and_then(|curve| curve.asked.as_ref());
    ExpectationJson {
        protocol: configuration.protocol.name(),
        vm: configuration.vm.as_ref().map(|size| size.name.as_str()),
        hosts: configuration.hosts,
        nconnect: configuration.nconnect,
        volumes: configuration.volumes,
        volume_kind: configuration.kind.name(),
        limit_bytes_per_sec: configuration.limit_bytes_per_s.map(exported),
        outstanding: configuration.outstanding,
        transfer_bytes: configuration.transfer_bytes,
        read_fraction: exported(configuration.read),
        pattern: configuration.access.name(),
        predicted: asked.map(point),
        measured: of.measured.as_ref().map(|measured| MeasuredJson {
            id: &measured.id,
            variant: &measured.variant,
            ops_per_s: exported(measured.ops_per_s),
            limited_by: measured
                .verdict
                .iter()
                .flat_map(Verdict::named)
                .map(|l| l.code())
                .collect(),
            limited_by_probability: measured.verdict.as_ref().and_then(|own| match &own.answer {
                Answer::Limited { probability, .. } => Some(exported(*probability)),
                _ => None,
            }),
            apart: &measured.apart,
        }),
        figures: of.near.iter().map(|one| near(one, of)).collect(),
    }
}

fn near<'a>(of: &'a Near, all: &Expectation) -> NearJson<'a> {
    let figure = &of.figure;
    let (value, unit) = match figure.value {
        Value::OpsPerSec(rate) => (rate, "ops/s"),
        Value::BytesPerSec(rate) => (rate / MIB, "MiB/s"),
        Value::Seconds(s) => (s, "s"),
    };
    let transfer = all.configuration.transfer_bytes;
    let measured = all.measured.as_ref();
    let beside = measured.and_then(|one| of.beside(one.ops_per_s, transfer));
    let rates = measured.and_then(|one| of.rates(one.ops_per_s, transfer));
    NearJson {
        id: &figure.id,
        value: exported(value),
        unit,
        qualifier: figure.qualifier.name(),
        source: &figure.origin.source,
        date: &figure.origin.date,
        distance: exported(of.distance),
        differences: of
            .differences
            .iter()
            .map(|one| DifferenceJson {
                field: one.field,
                words: &one.words,
                weight: exported(one.weight),
            })
            .collect(),
        steps: of
            .steps
            .iter()
            .map(|step| StepJson { what: step.what, factor: exported(step.factor) })
            .collect(),
        here_ops_per_s: of.here_ops_per_s.map(exported),
        measured_of_published: rates.map(|rates| exported(rates.ratio())),
        explained: beside.map(|beside| exported(beside.explained)),
        unexplained: beside.map(|beside| exported(beside.unexplained)),
        contradicts: &figure.contradicts,
    }
}
