//! Published figures near a configuration laid out: what the model expects, the figures with what
//! differs, what contradicts what, and a measurement beside them.

pub mod json;

use cloud::figure::{Figure, Value};
use cloud::reason::Reason;
use predict::Curve;
use predict::expect::{Beside, Configuration, Near, Step};
use predict::validation::what;
use units::Bytes;

use crate::document::{Block, Column, Section, Table};
use crate::number::{mib, percent};
use crate::predict::{ends, whole};
use crate::sheet::{Sheet, reasons};

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
    /// What limited it, in words, with its probability.
    pub limited_by: Option<(&'static str, f64)>,
}

/// All loads as one sheet.
pub fn sheet(all: &[Expectation], explain: bool) -> Sheet {
    let mut sections: Vec<Section> = all.iter().map(section).collect();
    if explain {
        let mut found: Vec<Reason> = Vec::new();
        for expectation in all {
            let figures = expectation.near.iter().map(|near| {
                let text = format!("{}: {}", near.figure.id, what(&near.figure));
                Reason::from_rows(text, [near.figure.row_ref()])
            });
            let curve = expectation.curve.iter().flat_map(|curve| curve.reasons.iter().cloned());
            for reason in figures.chain(curve) {
                if !found.contains(&reason) {
                    found.push(reason);
                }
            }
        }
        let blocks = vec![reasons(&found)];
        sections.push(Section { id: "why", title: "Why".to_owned(), blocks, method: Vec::new() });
    }
    Sheet { title: "What to expect".to_owned(), sections }
}

/// One load.
pub(crate) fn section(of: &Expectation) -> Section {
    let mut blocks = vec![Block::Paragraph(expected(of))];
    if let Some(measured) = &of.measured {
        blocks.push(Block::Paragraph(beside(of, measured)));
    }
    blocks.push(Block::Table(table(of)));
    let mut points: Vec<String> = of.near.iter().map(differences).collect();
    points.extend(contradictions(of));
    blocks.push(Block::List(points));
    let configuration = &of.configuration;
    let title = format!(
        "{} {}, {:.0} % of reads",
        Bytes::new(configuration.transfer_bytes),
        configuration.access.name(),
        100.0 * configuration.read
    );
    Section { id: "expectation", title, blocks, method: vec!["Expectations", "Prediction"] }
}

/// What the model says.
fn expected(of: &Expectation) -> String {
    let Some(point) = of.curve.as_ref().and_then(|curve| curve.asked.as_ref()) else {
        return format!(
            "The model knows nothing of {}; these are the published figures alone.",
            of.configuration.protocol.name()
        );
    };
    format!(
        "The model expects {} ops/s [{}], {} MiB/s, with {} operations outstanding; bounded by {}.",
        whole(point.ops_per_s.value),
        ends(point.ops_per_s, whole),
        mib(point.bytes_per_s.value),
        whole(point.outstanding),
        point.bounded_by.kind.words()
    )
}

/// A measurement beside the nearest figure that the model knows.
fn beside(of: &Expectation, measured: &Measured) -> String {
    let transfer = of.configuration.transfer_bytes;
    let mut words = format!(
        "Measured (`{}`, {}): {} ops/s.",
        measured.id,
        measured.variant,
        whole(measured.ops_per_s)
    );
    let found = of
        .near
        .iter()
        .find_map(|near| near.beside(measured.ops_per_s, transfer).map(|beside| (near, beside)));
    if let Some((near, Beside { of_published, explained, unexplained })) = found {
        words.push_str(&format!(
            " This is {} of the published figure {} ({}). The differences make {} of it by the \
             model{}; of what they leave, {} was measured.",
            percent(of_published),
            near.figure.id,
            published(&near.figure),
            percent(explained),
            steps(&near.steps),
            percent(unexplained),
        ));
    }
    if let Some((limit, confidence)) = measured.limited_by {
        let sure = percent(confidence);
        words.push_str(&format!(" What limits the run, by itself: {limit} ({sure})."));
    }
    words
}

fn steps(steps: &[Step]) -> String {
    if steps.is_empty() {
        return String::new();
    }
    let one = |step: &Step| format!("{} x {:.2}", step.what, step.factor);
    format!(" ({})", steps.iter().map(one).collect::<Vec<_>>().join(", "))
}

fn table(of: &Expectation) -> Table {
    let size = of.configuration.transfer_bytes as f64;
    let row = |near: &Near| {
        vec![
            near.figure.id.clone(),
            published(&near.figure),
            near.here_ops_per_s.map_or_else(|| "-".to_owned(), whole),
            near.here_ops_per_s.map_or_else(|| "-".to_owned(), |rate| mib(rate * size)),
            format!("{:.2}", near.distance),
            what(&near.figure),
        ]
    };
    Table {
        caption: "The nearest published figures, and what they come to here by the model."
            .to_owned(),
        columns: vec![
            Column::words("figure"),
            Column::numbers("published", ""),
            Column::numbers("here", "ops/s"),
            Column::numbers("here", "MiB/s"),
            Column::numbers("distance", ""),
            Column::words("what was measured"),
        ],
        rows: of.near.iter().map(row).collect(),
    }
}

/// In the figure's own unit.
pub(crate) fn published(figure: &Figure) -> String {
    match figure.value {
        Value::OpsPerSec(rate) => format!("{} ops/s", whole(rate)),
        Value::BytesPerSec(rate) => format!("{} MiB/s", mib(rate)),
        Value::Seconds(s) => format!("{} ms", whole(s * 1e3)),
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
    format!("{} {differs}{}{context}.", near.figure.id, steps(&near.steps))
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
