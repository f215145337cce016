//! A comparison of two or more experiments: the result in words, then the numbers, other differences,
//! and the statistical method. Text and Markdown have the same sections.

pub mod json;
mod tables;
mod words;

use analysis::compare::{Comparison, Pair};

use crate::document::{Block, Section, markdown, terminal};
use crate::number::date;

/// How much of a comparison is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The main figures, and other figures that differ.
    Main,
    /// All figures.
    All,
}

/// For a terminal, wrapped to `width` columns.
pub fn text(comparison: &Comparison, detail: Detail, width: usize) -> String {
    let mut out = String::new();
    for section in sections(comparison, detail) {
        terminal::write(&section, width, &mut out);
    }
    out
}

/// As Markdown.
pub fn markdown(comparison: &Comparison, detail: Detail) -> String {
    let labels: Vec<&str> = comparison.sides.iter().map(|side| side.label.as_str()).collect();
    let mut out = format!("# Comparison of {}\n\n", words::list(&labels));
    for section in sections(comparison, detail) {
        markdown::write(&section, 2, &mut out);
    }
    out
}

/// The comparison in sections, in reading order.
pub fn sections(comparison: &Comparison, detail: Detail) -> Vec<Section> {
    let mut sections = Vec::new();
    for pair in &comparison.pairs {
        sections.push(pair_section(comparison, pair, detail));
    }
    sections.extend(tables::rankings(comparison));
    sections.push(sides(comparison));
    sections.push(method(comparison));
    sections
}

fn pair_section(comparison: &Comparison, pair: &Pair, detail: Detail) -> Section {
    let (a, b) = words::labels(comparison, pair);
    let mut blocks = vec![Block::Paragraph(words::verdict(comparison, pair))];
    let points = words::findings(comparison, pair);
    if !points.is_empty() {
        blocks.push(Block::List(points));
    }
    let caveats = words::caveats(comparison, pair);
    let has_caveats = !caveats.is_empty();
    if has_caveats {
        blocks.push(Block::Paragraph("Caveats:".to_owned()));
        blocks.push(Block::List(caveats));
    }
    blocks.extend(tables::differences(comparison, pair, detail));
    blocks.extend(tables::points(comparison, pair, detail));
    let unmatched = words::unmatched(comparison, pair);
    if !unmatched.is_empty() {
        blocks.push(Block::List(unmatched));
    }
    Section {
        id: "comparison",
        title: format!(
            "{b} compared with {a}: {}{}",
            pair.verdict.name(),
            if has_caveats { ", with caveats" } else { "" }
        ),
        blocks,
        method: vec!["Comparison"],
    }
}

/// The experiments behind `A`, `B` and so on.
fn sides(comparison: &Comparison) -> Section {
    let mut points = Vec::new();
    for side in &comparison.sides {
        points.push(format!(
            "{}: `{}`, {} on {}, started {}",
            side.label,
            side.id,
            side.name,
            side.target,
            date(side.started_unix_ms)
        ));
        points.extend(side.caveats.iter().map(|caveat| {
            format!("{} {}", side.label, crate::verdict::words::side_caveat(caveat))
        }));
    }
    Section {
        id: "compared",
        title: "Compared experiments".to_owned(),
        blocks: vec![Block::List(points)],
        method: Vec::new(),
    }
}

fn method(comparison: &Comparison) -> Section {
    Section {
        id: "statistics",
        title: "Statistical method".to_owned(),
        blocks: vec![Block::Paragraph(words::method(comparison))],
        method: vec!["Comparison"],
    }
}
