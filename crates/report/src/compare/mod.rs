//! A comparison of two or more experiments: the result in words, then the numbers, other differences,
//! and the statistical method. Text and Markdown have the same sections.

mod cases;
mod glance;
pub mod json;
mod one_side;
mod tables;
mod words;

pub(crate) use cases::cases;
pub use glance::glance;
pub use one_side::side_text;

use analysis::compare::{Comparison, Pair};

use crate::document::{Block, Section, markdown, terminal};
use crate::number::date;

/// The anchor of the sections with a verdict.
pub(crate) const VERDICT: &str = "comparison";

/// Load points in the table above the charts of a page; those that differ come first.
const PAGE_ROWS_MAX: usize = 8;

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

/// The comparison for a page: the verdict on each pair with one table, then everything else, which
/// the page folds.
pub fn page_sections(comparison: &Comparison) -> Vec<Section> {
    let verdict = |pair| {
        let mut blocks = verdict(comparison, pair);
        let (table, left_out) = glance::table(comparison, pair, PAGE_ROWS_MAX);
        blocks.push(Block::Table(table));
        if left_out > 0 {
            let more = words::load_points(left_out);
            blocks.push(Block::Paragraph(format!("{more} more below, in all figures.")));
        }
        Section { id: VERDICT, title: title(comparison, pair), blocks, method: Vec::new() }
    };
    let all_figures = |pair| {
        let (a, b) = words::labels(comparison, pair);
        Section {
            id: "figures",
            title: format!("All figures of {b} compared with {a}"),
            blocks: figures(comparison, pair, Detail::Main),
            method: vec!["Comparison"],
        }
    };
    let mut sections: Vec<Section> = comparison.pairs.iter().map(verdict).collect();
    sections.extend(tables::rankings(comparison));
    sections.extend(comparison.pairs.iter().map(all_figures));
    sections.extend([sides(comparison), method(comparison)]);
    sections
}

fn pair_section(comparison: &Comparison, pair: &Pair, detail: Detail) -> Section {
    let blocks = [verdict(comparison, pair), figures(comparison, pair, detail)].concat();
    Section { id: VERDICT, title: title(comparison, pair), blocks, method: vec!["Comparison"] }
}

/// The result for a pair in sentences.
fn verdict(comparison: &Comparison, pair: &Pair) -> Vec<Block> {
    let mut blocks = vec![Block::Paragraph(words::verdict(comparison, pair))];
    let mut points = words::metrics(comparison, pair);
    points.extend(words::findings(comparison, pair));
    if !points.is_empty() {
        blocks.push(Block::List(points));
    }
    let caveats = words::caveats(comparison, pair);
    if !caveats.is_empty() {
        blocks.push(Block::Paragraph("Caveats:".to_owned()));
        blocks.push(Block::List(caveats));
    }
    blocks
}

/// The other differences of a pair, and its figures.
fn figures(comparison: &Comparison, pair: &Pair, detail: Detail) -> Vec<Block> {
    let mut blocks = tables::differences(comparison, pair, detail);
    blocks.extend(tables::points(comparison, pair, detail));
    let unmatched = words::unmatched(comparison, pair);
    if !unmatched.is_empty() {
        blocks.push(Block::List(unmatched));
    }
    blocks
}

fn title(comparison: &Comparison, pair: &Pair) -> String {
    let (a, b) = words::labels(comparison, pair);
    let caveats = if pair.caveats.is_empty() { "" } else { ", with caveats" };
    format!("{b} compared with {a}: {}{caveats}", pair.verdict.name())
}

/// Each pair in one table, for a comment on a pull request.
pub(crate) fn summaries(comparison: &Comparison) -> Vec<Section> {
    let summary = |pair: &Pair| {
        let mut blocks = vec![Block::Paragraph(words::verdict(comparison, pair))];
        blocks.push(Block::Table(tables::summary(comparison, pair)));
        blocks.extend(tables::legend(pair, Detail::Main));
        let caveats = words::caveats(comparison, pair);
        if !caveats.is_empty() {
            blocks.push(Block::List(caveats));
        }
        Section { id: VERDICT, title: title(comparison, pair), blocks, method: Vec::new() }
    };
    let pairs = comparison.pairs.iter().map(summary);
    pairs.chain([sides(comparison)]).collect()
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
