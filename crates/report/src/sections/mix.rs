//! The mix of reads and writes: asked for and achieved.

use analysis::Findings;
use analysis::mix::{DIFFERENCE_MAX, MixCheck};

use crate::document::{Block, Column, Section, Table};
use crate::number::thousands;
use crate::rows;

/// The section, where something both reads and writes.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let mixes = &findings.mixes;
    if mixes.is_empty() {
        return None;
    }
    let held = mixes.iter().filter(|mix| mix.holds()).count();
    let sentence = format!(
        "The share of reads was within {} % of the operations of what was asked for at {held} of \
         {} load points.",
        DIFFERENCE_MAX * 100.0,
        mixes.len()
    );
    let row = |mix: &MixCheck| {
        vec![
            rows::load_point_name(&findings.load_points[mix.load_point]),
            percent(mix.asked),
            percent(mix.achieved),
            format!("{:+.2}", mix.difference() * 100.0),
            thousands(i128::from(mix.operations)),
        ]
    };
    let table = Table {
        caption: "Share of reads".to_owned(),
        columns: vec![
            Column::words("load point"),
            Column::numbers("asked", "%"),
            Column::numbers("achieved", "%"),
            Column::numbers("difference", "%"),
            Column::numbers("reads and writes", ""),
        ],
        rows: mixes.iter().map(row).collect(),
    };
    Some(Section {
        id: "mix",
        title: "Mix".to_owned(),
        blocks: vec![Block::Paragraph(sentence), Block::Table(table)],
        method: vec!["Mix"],
    })
}

fn percent(share: f64) -> String {
    format!("{:.2}", share * 100.0)
}
