//! Published figures near a configuration as a sheet: what to expect, the nearest figures with their
//! contradictions, and a measurement compared with them; all differences are folded.

pub mod basis;
pub mod json;
mod measured;
pub(crate) mod nearest;
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
use crate::model::quantity::with_range;
use crate::model::words as prediction;
use crate::number::{NONE, mib, percent, whole};
use crate::predict::{Comparison, system};
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
    /// A client's cache served part of the reads.
    Cached,
}

/// All loads as one sheet: what to expect of each, the nearest figures, and with a measurement how
/// it compares with them.
pub fn sheet(shown: &Published) -> Sheet {
    let all = &shown.expectations;
    let mut sections = Vec::new();
    let about = |id, title: &str, blocks| Section {
        id,
        title: title.to_owned(),
        blocks,
        method: vec!["Expectations", "Prediction"],
    };
    sections.push(about("published", "Nearest published figures", published_blocks(all)));
    for (of, measured) in all.iter().filter_map(|of| Some((of, of.measured.as_ref()?))) {
        let title = format!("Measured: {}", measured.variant);
        let paragraphs = measured::paragraphs(of, measured).into_iter().map(Block::Paragraph);
        sections.push(about("measured", &title, paragraphs.collect()));
    }
    if let Some(basis) = &shown.basis {
        let points = vec![Block::List(basis::sentences(basis))];
        sections.push(about("compared", "Basis of the comparison", points));
    }
    // Several loads have the same system, but each has its own bottleneck.
    if let [of] = &all[..] {
        sections.extend(modelled(of));
    } else if let Some(of) = all.first() {
        let system = Block::Diagram(system::diagram(&of.configuration.topology()));
        sections.push(about("system", "System", vec![system]));
    }
    let mut folded: Vec<Section> = all.iter().map(section).collect();
    let curves = || all.iter().filter_map(|expectation| expectation.curve.as_ref());
    let mut found = rows(all);
    for reason in curves().flat_map(|curve| &curve.reasons).map(prediction::reason) {
        if !found.contains(&reason) {
            found.push(reason);
        }
    }
    folded.push(about("why", "Why", vec![reasons(&found)]));
    if let Some(curve) = curves().next() {
        folded.push(crate::predict::model_section(curve));
    }
    let mut answer: Vec<String> =
        all.iter().map(|of| nearest::sentence(of, all.len() > 1)).collect();
    if shown.left_out > 0 {
        answer.push(format!("{} more variants are not shown.", shown.left_out));
    }
    Sheet { title: "Expectations".to_owned(), answer, sections, folded }
}

/// The nearest figures in one table, and those that contradict each other.
pub(crate) fn published_blocks(all: &[Expectation]) -> Vec<Block> {
    let shown = all.iter().map(|of| (of, nearest::shown(of, all.len() == 1)));
    let points = contradictions(shown);
    let mut blocks = vec![Block::Table(nearest::table(all))];
    if !points.is_empty() {
        blocks.push(Block::List(points));
    }
    blocks
}

/// The charts, the system and the use of its resources, if the model covers the load.
fn modelled(of: &Expectation) -> Vec<Section> {
    let Some(curve) = &of.curve else { return Vec::new() };
    let with = Comparison { published: vec![of.clone()], ..Comparison::default() };
    system::sections(&of.configuration.topology(), curve, &with)
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
    points.extend(contradictions(std::iter::once((of, &of.near[..]))));
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
    format!(
        "Predicted: {}, {} MiB/s, with {} operations outstanding; bottleneck: {}.",
        with_range(point.ops_per_s, "IOPS", whole),
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
                Column::numbers("adjusted", "IOPS"),
                Column::numbers("reached", "of adjusted"),
            ]);
            "The nearest published figures, and the same figures adjusted to this configuration \
             by the model; next to each, the measured value as a share of it."
        }
        None => {
            columns.extend([
                Column::numbers("adjusted", "IOPS"),
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
        Value::Rate(rate) => format!("{} IOPS", whole(rate.get())),
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
fn contradictions<'e>(shown: impl Iterator<Item = (&'e Expectation, &'e [Near])>) -> Vec<String> {
    let mut said: Vec<[&str; 2]> = Vec::new();
    let mut words = Vec::new();
    for (of, near) in shown.flat_map(|(of, all)| all.iter().map(move |near| (of, near))) {
        for id in &near.figure.contradicts {
            let Some(other) = of.figures.iter().find(|figure| figure.id == *id) else { continue };
            let mut pair = [near.figure.id.as_str(), other.id.as_str()];
            pair.sort_unstable();
            if said.contains(&pair) {
                continue;
            }
            said.push(pair);
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
