//! The section of a record's own report that compares its results with published figures.

use super::basis::{Basis, sentences};
use super::{Expectation, blocks, contradictions, measured, rows, title};
use crate::document::{Block, Section};
use crate::sheet::reasons;

/// One record's results compared with published figures.
#[derive(Clone, Debug, Default)]
pub struct Published {
    /// What the comparison is based on; `None` without a measurement.
    pub basis: Option<Basis>,
    /// The load point with the highest rate of each variant, compared with figures.
    pub expectations: Vec<Expectation>,
    /// Number of variants omitted for lack of space.
    pub left_out: usize,
}

/// How much of the section is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The share that is reached and what contradicts what, for the end of a run.
    Short,
    /// The figures with all that differs, and their rows.
    Whole,
}

/// The section of the record `id`.
pub(crate) fn section(published: &Published, id: &str, detail: Detail) -> Section {
    let basis = published.basis.as_ref().map(sentences);
    let mut all: Vec<Block> = basis.into_iter().map(Block::List).collect();
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
            "{} more variants are not shown here.",
            published.left_out
        )));
    }
    let shown = match detail {
        Detail::Short => "the figures, how each configuration differs, and their sources",
        Detail::Whole => "what the model is based on",
    };
    if detail == Detail::Whole {
        all.push(Block::Heading("The figures' rows".to_owned()));
        all.push(reasons(&rows(&published.expectations)));
    }
    let command = format!("`fourcorners expect --run {id} --full` shows {shown}.");
    all.push(Block::Paragraph(command));
    Section {
        id: "published",
        title: "Comparison with published figures".to_owned(),
        blocks: all,
        method: vec!["Expectations", "Prediction"],
    }
}

/// The variant, with its load if the name does not contain it.
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
    points.extend(contradictions(std::iter::once((of, &of.near[..]))));
    points
}
