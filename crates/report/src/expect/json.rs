//! Expectations as JSON: units in the names of fields, numbers with nine digits.

use std::io::{self, Write};

use analysis::verdict::{Answer, Verdict};
use cloud::figure::Value;
use predict::expect::Near;
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::Expectation;
use super::basis::sentences;
use super::published::Published;
use super::words;
use crate::model::json::{PointJson, point};
use crate::number::exported;

/// Changes when a reader of the old form would misread the new one.
pub const SCHEMA_VERSION: u32 = 2;

/// Writes all expectations with what is compared, indented, with a line break at the end.
///
/// # Errors
/// What `out` says.
pub fn write(shown: &Published, out: &mut dyn Write) -> io::Result<()> {
    let document = Document {
        schema_version: SCHEMA_VERSION,
        basis: shown.basis.as_ref().map(sentences).unwrap_or_default(),
        expectations: shown.expectations.iter().map(expectation).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// The comparison with published figures, as a part of a record's document.
pub(crate) fn published(of: &Published) -> Json {
    let expectations: Vec<ExpectationJson<'_>> = of.expectations.iter().map(expectation).collect();
    json!({
        "basis": of.basis.as_ref().map(sentences).unwrap_or_default(),
        "expectations": expectations,
        "variants_left_out": of.left_out,
    })
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    /// Empty where nothing was measured.
    basis: Vec<String>,
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
    notes: Vec<String>,
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
    differences: Vec<DifferenceJson>,
    steps: Vec<StepJson>,
    here_ops_per_s: Option<f64>,
    measured_over_published: Option<f64>,
    explained: Option<f64>,
    unexplained: Option<f64>,
    contradicts: &'a [String],
}

#[derive(Serialize)]
struct DifferenceJson {
    field: &'static str,
    description: String,
    weight: f64,
}

#[derive(Serialize)]
struct StepJson {
    what: &'static str,
    factor: f64,
}

pub(crate) fn expectation(of: &Expectation) -> ExpectationJson<'_> {
    let configuration = &of.configuration;
    let requested = of.curve.as_ref().and_then(|curve| curve.requested.as_ref());
    ExpectationJson {
        protocol: configuration.protocol.name(),
        vm: configuration.vm.as_ref().map(|size| size.name.as_str()),
        hosts: configuration.hosts,
        nconnect: configuration.nconnect,
        volumes: configuration.volumes,
        volume_kind: configuration.kind.name(),
        limit_bytes_per_sec: configuration.limit.map(|limit| exported(limit.get())),
        outstanding: configuration.outstanding,
        transfer_bytes: configuration.transfer_bytes,
        read_fraction: exported(configuration.read),
        pattern: configuration.access.name(),
        predicted: requested.map(point),
        measured: of.measured.as_ref().map(|measured| MeasuredJson {
            id: &measured.id,
            variant: &measured.variant,
            ops_per_s: exported(measured.rate.get()),
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
            notes: measured.notes.iter().map(words::note).collect(),
        }),
        figures: of.near.iter().map(|one| near(one, of)).collect(),
    }
}

fn near<'a>(of: &'a Near, all: &Expectation) -> NearJson<'a> {
    let figure = &of.figure;
    let (value, unit) = match figure.value {
        Value::Rate(rate) => (rate.get(), "ops/s"),
        Value::Throughput(rate) => (rate.as_mib(), "MiB/s"),
        Value::Seconds(s) => (s, "s"),
    };
    let transfer = all.configuration.transfer_bytes;
    let measured = all.measured.as_ref();
    let compared = measured.and_then(|one| of.compare(one.rate, transfer));
    let rates = measured.and_then(|one| of.rates(one.rate, transfer));
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
                field: one.contrast.property().name(),
                description: words::contrast(&one.contrast),
                weight: exported(one.weight),
            })
            .collect(),
        steps: of
            .steps
            .iter()
            .map(|step| StepJson {
                what: words::change(step.change),
                factor: exported(step.factor),
            })
            .collect(),
        here_ops_per_s: of.here.map(|here| exported(here.get())),
        measured_over_published: rates.map(|rates| exported(rates.ratio())),
        explained: compared.map(|compared| exported(compared.explained)),
        unexplained: compared.map(|compared| exported(compared.unexplained)),
        contradicts: &figure.contradicts,
    }
}
