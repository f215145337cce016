//! A section in a terminal.

use super::{Block, Section};
use crate::buy::utilization;
use crate::prose::wrap;
use crate::table;

/// Appends the section to `out`, wrapped to `width` columns.
pub(crate) fn write(section: &Section, width: usize, out: &mut String) {
    out.push('\n');
    wrap(&section.title, "", "  ", width, out);
    for block in &section.blocks {
        match block {
            Block::Heading(text) | Block::Paragraph(text) => wrap(text, "  ", "  ", width, out),
            Block::List(points) => {
                for point in points {
                    wrap(point, "  - ", "    ", width, out);
                }
            }
            Block::Table(table) => table::terminal::write(table, width, out),
            Block::Bars(bars) => utilization::write(bars, width, out),
            Block::Charts(_) | Block::Diagram(_) => {}
            Block::Commands(lines) => {
                for line in lines {
                    out.push_str(&format!("    {line}\n"));
                }
            }
        }
    }
}
