//! Expectations as JSON: units in the names of fields, numbers with nine digits.

use std::io::{self, Write};

use analysis::verdict::{Answer, Verdict};
use cloud::figure::Value;
use predict::expect::Near;
use schemars::JsonSchema;
use serde::Serialize;

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
pub(crate) fn published(of: &Published) -> PublishedJson<'_> {
    PublishedJson {
        basis: of.basis.as_ref().map(sentences).unwrap_or_default(),
        expectations: of.expectations.iter().map(expectation).collect(),
        variants_left_out: of.left_out,
    }
}

/// The comparison of a record with published figures.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PublishedJson<'a> {
    /// What is compared, in sentences.
    basis: Vec<String>,
    /// The load point with the highest rate of each variant, compared with figures.
    expectations: Vec<ExpectationJson<'a>>,
    /// Variants that are not listed here.
    variants_left_out: usize,
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    /// Empty where nothing was measured.
    basis: Vec<String>,
    expectations: Vec<ExpectationJson<'a>>,
}

/// A configuration with the published figures nearest to it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ExpectationJson<'a> {
    /// The protocol.
    protocol: &'static str,
    /// The VM size of the clients.
    vm: Option<&'a str>,
    /// The number of client hosts.
    hosts: u64,
    /// Connections of each host.
    nconnect: u64,
    /// The number of volumes.
    volumes: u64,
    /// The kind of volume.
    volume_kind: &'static str,
    /// The throughput limit.
    limit_bytes_per_sec: Option<f64>,
    /// Operations in flight.
    outstanding: Option<u64>,
    /// The transfer size.
    transfer_bytes: u64,
    /// The share of reads.
    read_fraction: f64,
    /// `random` or `sequential`.
    pattern: &'static str,
    /// The model's prediction.
    predicted: Option<PointJson<'a>>,
    /// What was measured.
    measured: Option<MeasuredJson<'a>>,
    /// Published figures, the nearest first.
    figures: Vec<NearJson<'a>>,
}

/// A measured load point.
#[derive(Serialize, JsonSchema)]
struct MeasuredJson<'a> {
    /// The ID of its record.
    id: &'a str,
    /// The workload variant's name.
    variant: &'a str,
    /// The rate.
    ops_per_s: f64,
    /// The codes of what limits it.
    limited_by: Vec<&'static str>,
    /// The probability of that answer.
    limited_by_probability: Option<f64>,
    /// Remarks.
    notes: Vec<String>,
}

/// A published figure.
#[derive(Serialize, JsonSchema)]
struct NearJson<'a> {
    /// The ID of its row in `data/published.toml`.
    id: &'a str,
    /// The figure.
    value: f64,
    /// Its unit.
    unit: &'static str,
    /// How the source qualifies it: `up_to`, for example.
    qualifier: &'static str,
    /// The address of the source.
    source: &'a str,
    /// The date of the source.
    date: &'a str,
    /// How much the configurations differ; 0 if they are equal.
    distance: f64,
    /// In what they differ.
    differences: Vec<DifferenceJson>,
    /// The model's correction for each difference.
    steps: Vec<StepJson>,
    /// The figure after these corrections.
    here_ops_per_s: Option<f64>,
    /// The measured rate divided by the figure.
    measured_over_published: Option<f64>,
    /// The part of that ratio that the corrections explain.
    explained: Option<f64>,
    /// The rest of the ratio.
    unexplained: Option<f64>,
    /// IDs of figures that contradict it.
    contradicts: &'a [String],
}

/// A difference between two configurations.
#[derive(Serialize, JsonSchema)]
struct DifferenceJson {
    /// The property.
    field: &'static str,
    /// The difference in words.
    description: String,
    /// Its part of the distance.
    weight: f64,
}

/// A correction by the model.
#[derive(Serialize, JsonSchema)]
struct StepJson {
    /// What is corrected.
    what: &'static str,
    /// The factor.
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
