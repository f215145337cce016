//! Published figures near a configuration laid out: what the model expects, the figures with what
//! differs, what contradicts what, and a measurement beside them.

pub mod json;
mod measured;
pub mod published;

use analysis::verdict::Verdict;
use cloud::figure::{Figure, Qualifier, Value};
use cloud::reason::Reason;
use predict::Curve;
use predict::expect::{Configuration, Near};
use predict::validation::what;
use units::{Bytes, Nanos};

use crate::document::{Block, Column, Section, Table};
use crate::number::{NONE, mib, percent};
use crate::predict::{ends, whole};
use crate::sheet::{Sheet, reasons};
use published::Published;

/// What is expected of one load.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// What is expected something of.
    pub configuration: Configuration,
    /// What the model says; nothing of protocols that it does not know.
    pub curve: Option<Curve>,
    /// The nearest figures, the nearest first.
    pub near: Vec<Near>,
    /// All figures, to name those that contradict one of these.
    pub figures: Vec<Figure>,
    /// What was measured, if anything was.
    pub measured: Option<Measured>,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The record.
    pub id: String,
    /// The variant.
    pub variant: String,
    /// Operations per second.
    pub ops_per_s: f64,
    /// The verdict on the curve that it belongs to.
    pub verdict: Option<Verdict>,
    /// What sets it apart from what any figure is of, in whole sentences: a cache that answered, a
    /// rate that was not more than was asked for.
    pub apart: Vec<String>,
}

/// All loads as one sheet, with what is compared before them where something was measured.
///
/// * `explain` - with the arithmetic and its rows
pub fn sheet(shown: &Published, explain: bool) -> Sheet {
    let all = &shown.expectations;
    let mut sections = Vec::new();
    if !shown.basis.is_empty() {
        let blocks = vec![Block::List(shown.basis.clone())];
        let title = "What is compared".to_owned();
        sections.push(Section { id: "compared", title, blocks, method: Vec::new() });
    }
    sections.extend(all.iter().map(section));
    if explain {
        let mut found = rows(all);
        for curve in all.iter().filter_map(|expectation| expectation.curve.as_ref()) {
            for reason in &curve.reasons {
                if !found.contains(reason) {
                    found.push(reason.clone());
                }
            }
        }
        let blocks = vec![reasons(&found)];
        sections.push(Section { id: "why", title: "Why".to_owned(), blocks, method: Vec::new() });
    }
    Sheet { title: "What to expect".to_owned(), sections }
}

/// The row of each figure that is shown, once.
fn rows(all: &[Expectation]) -> Vec<Reason> {
    let mut found: Vec<Reason> = Vec::new();
    for near in all.iter().flat_map(|expectation| &expectation.near) {
        let text = format!("{}: {}", near.figure.id, what(&near.figure));
        let reason = Reason::from_rows(text, [near.figure.row_ref()]);
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

/// The load in words: `8 KiB random, 70 % of reads`.
fn title(configuration: &Configuration) -> String {
    format!(
        "{} {}, {:.0} % of reads",
        Bytes::new(configuration.transfer_bytes),
        configuration.access.name(),
        100.0 * configuration.read
    )
}

/// What is said of one load.
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

/// What the model says.
fn expected(of: &Expectation) -> String {
    let Some(point) = of.curve.as_ref().and_then(|curve| curve.asked.as_ref()) else {
        return format!(
            "Not modelled: {}. These are the published figures alone.",
            of.configuration.protocol.name().to_uppercase()
        );
    };
    let ends = match ends(point.ops_per_s, whole) {
        alike if alike == NONE => String::new(),
        ends => format!(" [{ends}]"),
    };
    format!(
        "The model expects {} ops/s{ends}, {} MiB/s, with {} operations outstanding; bounded by \
         {}.",
        whole(point.ops_per_s.value),
        mib(point.bytes_per_s.value),
        whole(point.outstanding),
        point.bounded_by.kind.words()
    )
}

fn table(of: &Expectation) -> Table {
    let size = of.configuration.transfer_bytes;
    let none = || NONE.to_owned();
    let row = |near: &Near| {
        let mut cells = vec![near.figure.id.clone(), published(&near.figure)];
        if let Some(measured) = &of.measured {
            let rates = near.rates(measured.ops_per_s, size);
            cells.push(rates.map_or_else(none, |rates| percent(rates.ratio())));
        }
        cells.push(near.here_ops_per_s.map_or_else(none, whole));
        cells.push(match &of.measured {
            Some(measured) => near
                .beside(measured.ops_per_s, size)
                .map_or_else(none, |beside| percent(beside.unexplained)),
            None => near.here_ops_per_s.map_or_else(none, |rate| mib(rate * size as f64)),
        });
        cells.extend([format!("{:.2}", near.distance), what(&near.figure)]);
        cells
    };
    let mut columns = vec![Column::words("figure"), Column::numbers("published", "")];
    let caption = match &of.measured {
        Some(_) => {
            columns.extend([
                Column::numbers("reached", ""),
                Column::numbers("here", "ops/s"),
                Column::numbers("reached", "of here"),
            ]);
            "The nearest published figures, what of them was measured, what they come to here by \
             the model, and what of that was measured."
        }
        None => {
            columns.extend([Column::numbers("here", "ops/s"), Column::numbers("here", "MiB/s")]);
            "The nearest published figures, and what they come to here by the model; derived ones, \
             which follow from others and no source prints, come last."
        }
    };
    columns.extend([Column::numbers("distance", ""), Column::words("what was measured")]);
    Table { caption: caption.to_owned(), columns, rows: of.near.iter().map(row).collect() }
}

/// In the figure's own unit, marked where no source prints it.
pub(crate) fn published(figure: &Figure) -> String {
    let number = match figure.value {
        Value::OpsPerSec(rate) => format!("{} ops/s", whole(rate)),
        Value::BytesPerSec(rate) => format!("{} MiB/s", mib(rate)),
        Value::Seconds(s) => Nanos(s * 1e9).to_string(),
    };
    match figure.qualifier {
        Qualifier::Derived => format!("{number} (derived)"),
        _ => number,
    }
}

fn differences(near: &Near) -> String {
    let one = |difference: &predict::distance::Difference| {
        format!("{} ({:.2})", difference.words, difference.weight)
    };
    let words: Vec<String> = near.differences.iter().map(one).collect();
    let differs = match words.is_empty() {
        true => "differs in nothing that is stated".to_owned(),
        false => format!("differs: {}", words.join("; ")),
    };
    let context = near.figure.why_context.as_ref();
    let context = context.map_or_else(String::new, |why| format!(". To be read with care: {why}"));
    let steps = match near.steps.is_empty() {
        true => String::new(),
        false => format!(" ({})", measured::steps(&near.steps)),
    };
    format!("{} {differs}{steps}{context}.", near.figure.id)
}

/// Figures among these that others contradict, each pair once.
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
                published(&near.figure),
                what(&near.figure),
                published(other),
                what(other)
            ));
        }
    }
    words
}
