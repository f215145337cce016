//! Published figures near a configuration as sections: the prediction, the figures with their
//! differences and contradictions, and a measurement compared with them.

pub mod basis;
pub mod json;
mod measured;
pub mod published;
mod words;

use analysis::verdict::Verdict;
use cloud::figure::{Figure, Qualifier, Value};
use predict::Curve;
use predict::configuration::Configuration;
use predict::expect::Near;
use predict::figure_row::what;
use units::{Bytes, Nanos, OpsPerSec};

use crate::document::{Block, Column, Section, Table};
use crate::model::words as prediction;
use crate::number::{NONE, ends, mib, percent, whole};
use crate::sheet::{Reason, Sheet, reasons};
use published::Published;

/// The expectation for one load.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The configuration.
    pub configuration: Configuration,
    /// The prediction; `None` for protocols that the model does not cover.
    pub curve: Option<Curve>,
    /// The nearest figures, nearest first.
    pub near: Vec<Near>,
    /// All figures, for naming contradictions.
    pub figures: Vec<Figure>,
    /// The measurement, if any.
    pub measured: Option<Measured>,
}

/// A measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The record.
    pub id: String,
    /// The workload variant.
    pub variant: String,
    /// Completed operations.
    pub rate: OpsPerSec,
    /// The verdict on the curve that it belongs to.
    pub verdict: Option<Verdict>,
    /// What distinguishes it from published tests.
    pub notes: Vec<Note>,
}

/// What distinguishes a measurement from published tests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Note {
    /// An offered rate limited the load.
    OfferedRate(OpsPerSec),
    /// A think time limited the load.
    ThinkTime,
    /// This host's cache served part of the reads.
    Cached,
}

/// All loads as one sheet; with a measurement, the basis of the comparison comes first.
///
/// * `explain` - with the arithmetic and its rows
pub fn sheet(shown: &Published, explain: bool) -> Sheet {
    let all = &shown.expectations;
    let mut sections = Vec::new();
    if let Some(basis) = &shown.basis {
        let blocks = vec![Block::List(basis::sentences(basis))];
        let title = "Basis of the comparison".to_owned();
        sections.push(Section { id: "compared", title, blocks, method: Vec::new() });
    }
    sections.extend(all.iter().map(section));
    if explain {
        let mut found = rows(all);
        for curve in all.iter().filter_map(|expectation| expectation.curve.as_ref()) {
            for reason in &curve.reasons {
                let reason = prediction::reason(reason);
                if !found.contains(&reason) {
                    found.push(reason);
                }
            }
        }
        let blocks = vec![reasons(&found)];
        sections.push(Section { id: "why", title: "Why".to_owned(), blocks, method: Vec::new() });
    }
    Sheet { title: "Expectations".to_owned(), sections }
}

/// The distinct rows of all shown figures.
fn rows(all: &[Expectation]) -> Vec<Reason> {
    let mut found: Vec<Reason> = Vec::new();
    for near in all.iter().flat_map(|expectation| &expectation.near) {
        let text = format!("{}: {}", near.figure.id, what(&near.figure));
        let reason = Reason { text, rows: vec![near.figure.row_ref()] };
        if !found.contains(&reason) {
            found.push(reason);
        }
    }
    found
}

/// One load.
pub(crate) fn section(of: &Expectation) -> Section {
    let title = match &of.measured {
        Some(measured) => {
            format!("{}: {} of {}", title(&of.configuration), measured.variant, measured.id)
        }
        None => title(&of.configuration),
    };
    let method = vec!["Expectations", "Prediction"];
    Section { id: "expectation", title, blocks: blocks(of), method }
}

/// `8 KiB random, 70 % reads`
fn title(configuration: &Configuration) -> String {
    format!(
        "{} {}, {:.0} % reads",
        Bytes::new(configuration.transfer_bytes),
        configuration.access.name(),
        100.0 * configuration.read
    )
}

/// The content of a section.
fn blocks(of: &Expectation) -> Vec<Block> {
    let mut blocks = Vec::new();
    let is_modelled = of.curve.is_some();
    if !is_modelled {
        blocks.push(Block::Paragraph(expected(of)));
    }
    if let Some(measured) = &of.measured {
        let paragraphs = measured::paragraphs(of, measured).into_iter();
        blocks.extend(paragraphs.map(Block::Paragraph));
    }
    if is_modelled {
        blocks.push(Block::Paragraph(expected(of)));
    }
    blocks.push(Block::Table(table(of)));
    let mut points: Vec<String> = of.near.iter().map(differences).collect();
    points.extend(contradictions(of));
    blocks.push(Block::List(points));
    blocks
}

/// The prediction in a sentence.
fn expected(of: &Expectation) -> String {
    let Some(point) = of.curve.as_ref().and_then(|curve| curve.requested.as_ref()) else {
        return format!(
            "Not modelled: {}. Only published figures are shown.",
            of.configuration.protocol.name().to_uppercase()
        );
    };
    let ends = match ends(point.ops_per_s, whole) {
        alike if alike == NONE => String::new(),
        ends => format!(" [{ends}]"),
    };
    format!(
        "Predicted: {} ops/s{ends}, {} MiB/s, with {} operations outstanding; bottleneck: {}.",
        whole(point.ops_per_s.value),
        mib(point.bytes_per_s.value),
        whole(point.outstanding),
        prediction::kind(point.bounded_by.kind)
    )
}

fn table(of: &Expectation) -> Table {
    let size = of.configuration.transfer_bytes;
    let none = || NONE.to_owned();
    let row = |near: &Near| {
        let mut cells = vec![near.figure.id.clone(), published_value(&near.figure)];
        if let Some(measured) = &of.measured {
            let rates = near.rates(measured.rate, size);
            cells.push(rates.map_or_else(none, |rates| percent(rates.ratio())));
        }
        let here = near.here.map(OpsPerSec::get);
        cells.push(here.map_or_else(none, whole));
        cells.push(match &of.measured {
            Some(measured) => near
                .compare(measured.rate, size)
                .map_or_else(none, |compared| percent(compared.unexplained)),
            None => here.map_or_else(none, |rate| mib(rate * size as f64)),
        });
        cells.extend([format!("{:.2}", near.distance), what(&near.figure)]);
        cells
    };
    let mut columns = vec![Column::words("figure"), Column::numbers("published", "")];
    let caption = match &of.measured {
        Some(_) => {
            columns.extend([
                Column::numbers("reached", ""),
                Column::numbers("adjusted", "ops/s"),
                Column::numbers("reached", "of adjusted"),
            ]);
            "The nearest published figures, and the same figures adjusted to this configuration \
             by the model; next to each, the measured value as a share of it."
        }
        None => {
            columns.extend([
                Column::numbers("adjusted", "ops/s"),
                Column::numbers("adjusted", "MiB/s"),
            ]);
            "The nearest published figures, adjusted to this configuration by the model. Derived \
             figures, which follow from others, come last."
        }
    };
    columns.extend([Column::numbers("distance", ""), Column::words("configuration")]);
    Table { caption: caption.to_owned(), columns, rows: of.near.iter().map(row).collect() }
}

/// The figure in its unit, marked if derived.
pub(crate) fn published_value(figure: &Figure) -> String {
    let number = match figure.value {
        Value::Rate(rate) => format!("{} ops/s", whole(rate.get())),
        Value::Throughput(rate) => format!("{} MiB/s", mib(rate.get())),
        Value::Seconds(s) => Nanos(s * 1e9).to_string(),
    };
    match figure.qualifier {
        Qualifier::Derived => format!("{number} (derived)"),
        _ => number,
    }
}

fn differences(near: &Near) -> String {
    let one = |difference: &predict::distance::Difference| {
        format!("{} ({:.2})", words::contrast(&difference.contrast), difference.weight)
    };
    let words: Vec<String> = near.differences.iter().map(one).collect();
    let differs = match words.is_empty() {
        true => "no stated difference".to_owned(),
        false => format!("differences: {}", words.join("; ")),
    };
    let context = near.figure.why_context.as_ref();
    let context = context.map_or_else(String::new, |why| format!(". Caveat: {why}"));
    let steps = match near.steps.is_empty() {
        true => String::new(),
        false => format!(" ({})", measured::steps(&near.steps)),
    };
    format!("{} {differs}{steps}{context}.", near.figure.id)
}

/// Contradictions of the shown figures, each pair once.
fn contradictions(of: &Expectation) -> Vec<String> {
    let mut said: Vec<(String, String)> = Vec::new();
    let mut words = Vec::new();
    for near in &of.near {
        for id in &near.figure.contradicts {
            let Some(other) = of.figures.iter().find(|figure| figure.id == *id) else { continue };
            if said.contains(&(other.id.clone(), near.figure.id.clone())) {
                continue;
            }
            said.push((near.figure.id.clone(), other.id.clone()));
            words.push(format!(
                "{} and {} contradict each other: {} ({}) and {} ({}).",
                near.figure.id,
                other.id,
                published_value(&near.figure),
                what(&near.figure),
                published_value(other),
                what(other)
            ));
        }
    }
    words
}
