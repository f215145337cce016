//! A section for a terminal.

use super::{Block, Section, Table};
use crate::text::wrap;

/// The section below what is in `out`, wrapped to `width` columns.
pub(crate) fn write(section: &Section, width: usize, out: &mut String) {
    out.push('\n');
    wrap(&section.title, "", "  ", width, out);
    for block in &section.blocks {
        match block {
            Block::Heading(words) => wrap(words, "  ", "  ", width, out),
            Block::Paragraph(words) => wrap(words, "  ", "  ", width, out),
            Block::List(points) => {
                for point in points {
                    wrap(point, "  - ", "    ", width, out);
                }
            }
            Block::Table(table) => write_table(table, width, out),
            Block::Charts(_) => {}
            Block::Commands(lines) => {
                for line in lines {
                    out.push_str(&format!("    {line}\n"));
                }
            }
        }
    }
}

/// A table with columns as wide as their widest cell. The last column, where it is words, takes
/// what is left and is broken; a row that is too wide all the same is broken too, at its end.
fn write_table(table: &Table, width: usize, out: &mut String) {
    if !table.caption.is_empty() {
        wrap(&table.caption, "  ", "  ", width, out);
    }
    let heads: [Vec<&str>; 2] = [
        table.columns.iter().map(|c| c.name.as_str()).collect(),
        table.columns.iter().map(|c| c.unit.as_str()).collect(),
    ];
    let mut widths: Vec<usize> = vec![0; table.columns.len()];
    let rows = table.rows.iter().map(|row| row.iter().map(String::as_str).collect::<Vec<_>>());
    let lines: Vec<Vec<&str>> = heads.into_iter().chain(rows).collect();
    for cells in &lines {
        for (widest, cell) in widths.iter_mut().zip(cells) {
            *widest = (*widest).max(cell.chars().count());
        }
    }
    for cells in lines.iter().filter(|cells| cells.iter().any(|cell| !cell.is_empty())) {
        let mut line = String::from(" ");
        for (place, (cell, widest)) in cells.iter().zip(&widths).enumerate() {
            let words = table.columns[place].words;
            if words && place + 1 == widths.len() {
                let indent = " ".repeat(line.chars().count() + 1);
                let lead = format!("{line} ");
                line.clear();
                wrap(cell, &lead, &indent, width, out);
            } else if words {
                line.push_str(&format!(" {cell:<widest$}"));
            } else {
                line.push_str(&format!(" {cell:>widest$}"));
            }
        }
        if !line.is_empty() {
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
}
