//! The section of a record's own report that sets published figures beside what was measured.

use super::{Expectation, blocks, contradictions, measured, rows, title};
use crate::document::{Block, Section};
use crate::sheet::reasons;

/// What was published beside what was measured of one record.
#[derive(Clone, Debug, Default)]
pub struct Published {
    /// What is compared with what, how that is known, and what is assumed, in whole sentences.
    pub basis: Vec<String>,
    /// The load point of each variant with the largest rate, beside figures.
    pub expectations: Vec<Expectation>,
    /// Variants that there is no room for.
    pub left_out: usize,
}

/// How much of it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The share that is reached and what contradicts what, for the end of a run.
    Short,
    /// The figures with all that differs, and their rows.
    Whole,
}

/// The section of the record `id`.
pub(crate) fn section(published: &Published, id: &str, detail: Detail) -> Section {
    let mut all = vec![Block::List(published.basis.clone())];
    for one in &published.expectations {
        match detail {
            Detail::Short => all.push(Block::List(short(one))),
            Detail::Whole => {
                all.push(Block::Heading(heading(one)));
                all.extend(blocks(one));
            }
        }
    }
    if published.left_out > 0 {
        all.push(Block::Paragraph(format!(
            "{} more variants are left out here.",
            published.left_out
        )));
    }
    let shown = match detail {
        Detail::Short => "the figures, how each differs, and the rows they rest on",
        Detail::Whole => "what the model rests on",
    };
    if detail == Detail::Whole {
        all.push(Block::Heading("The figures' rows".to_owned()));
        all.push(reasons(&rows(&published.expectations)));
    }
    let command = format!("`fourcorners expect --run {id} --explain` shows {shown}.");
    all.push(Block::Paragraph(command));
    Section {
        id: "published",
        title: "Beside published figures".to_owned(),
        blocks: all,
        method: vec!["Expectations", "Prediction"],
    }
}

/// The variant, with its load where the name does not say it.
fn heading(of: &Expectation) -> String {
    match &of.measured {
        Some(measured) => format!("{} ({})", measured.variant, title(&of.configuration)),
        None => title(&of.configuration),
    }
}

fn short(of: &Expectation) -> Vec<String> {
    let variant = of.measured.as_ref().map_or_else(String::new, |one| one.variant.clone());
    let said = of.measured.iter().flat_map(|one| measured::paragraphs(of, one));
    let words = said.collect::<Vec<_>>().join(" ");
    let mut points = vec![format!("{variant}: {words}")];
    points.extend(contradictions(of));
    points
}
