//! The requested and the achieved mix of reads and writes.

use analysis::Findings;
use analysis::mix::{DIFFERENCE_MAX, MixCheck};

use crate::document::{Block, Column, Section, Table};
use crate::number::thousands;
use crate::results::load_point_name;

/// The section; `None` if no stream both reads and writes.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let mixes = &findings.mixes;
    if mixes.is_empty() {
        return None;
    }
    let close = mixes.iter().filter(|mix| mix.holds()).count();
    let sentence = format!(
        "The achieved share of reads was within {} percentage points of the requested one at \
         {close} of {} load points.",
        DIFFERENCE_MAX * 100.0,
        mixes.len()
    );
    let row = |mix: &MixCheck| {
        vec![
            load_point_name(&findings.load_points[mix.load_point]),
            percent(mix.planned),
            percent(mix.achieved),
            format!("{:+.2}", mix.difference() * 100.0),
            thousands(i128::from(mix.operations)),
        ]
    };
    let table = Table {
        caption: "Share of reads.".to_owned(),
        columns: vec![
            Column::words("load point"),
            Column::numbers("requested", "%"),
            Column::numbers("achieved", "%"),
            Column::numbers("difference", "points"),
            Column::numbers("reads and writes", ""),
        ],
        rows: mixes.iter().map(row).collect(),
    };
    Some(Section {
        id: "mix",
        title: "Read/write mix".to_owned(),
        blocks: vec![Block::Paragraph(sentence), Block::Table(table)],
        method: vec!["Mix"],
    })
}

fn percent(share: f64) -> String {
    format!("{:.2}", share * 100.0)
}
