//! A table in a terminal: columns as wide as their widest cell.

use super::{Column, Content, Table, with_unit};
use crate::prose::wrap;

/// The margins of a table, in columns of the terminal.
#[derive(Clone, Copy)]
struct Margins {
    /// Left of the table.
    indent: usize,
    /// Between columns.
    gap: usize,
}

/// Room for the words of a last column.
const LAST_WORDS: usize = 16;

const SECTION: Margins = Margins { indent: 2, gap: 1 };
const RESULTS: Margins = Margins { indent: 0, gap: 1 };
const LISTING: Margins = Margins { indent: 0, gap: 2 };

/// A cell with the width it is padded to.
struct Cell<'a> {
    text: &'a str,
    width: usize,
    content: Content,
}

/// A table of a section. In a terminal that is too narrow for it dispensable columns are left out;
/// if that does not suffice, each row is a list of names and values, because broken numbers cannot
/// be read.
pub(crate) fn write(table: &Table, width: usize, out: &mut String) {
    match narrowed(std::slice::from_ref(table), SECTION, width) {
        Some((shown, widths)) => draw(&shown[0], &widths, SECTION, width, out),
        None => write_rows(table, width, out),
    }
}

/// Tables without the dispensable columns for which there is no room, and the widths of the others;
/// `None` if there is no room for the others either.
fn narrowed(tables: &[Table], margins: Margins, width: usize) -> Option<(Vec<Table>, Vec<usize>)> {
    let mut tables = tables.to_vec();
    loop {
        let widths = widths(&tables, margins);
        let columns = tables.first().map_or(&[][..], |table| &table.columns);
        if fits(columns, &widths, margins, width) {
            return Some((tables, widths));
        }
        let ranks = columns.iter().enumerate().map(|(at, one)| (one.dispensable, at));
        let (_, at) = ranks.max().filter(|(rank, _)| *rank > 0)?;
        for table in &mut tables {
            table.columns.remove(at);
            table.rows.iter_mut().for_each(|row| drop(row.remove(at)));
        }
    }
}

/// Whether no line would be wider than `width`. Words in the last column are broken, but need some
/// room.
fn fits(columns: &[Column], widths: &[usize], margins: Margins, width: usize) -> bool {
    let mut widths = widths.to_vec();
    if let Some((last, column)) = widths.last_mut().zip(columns.last())
        && column.content != Content::Numbers
    {
        *last = (*last).min(LAST_WORDS);
    }
    margins.indent + span(&widths, margins) <= width
}

/// Each row as a list: its first cell, and below it the names and values of the others.
fn write_rows(table: &Table, width: usize, out: &mut String) {
    if !table.caption.is_empty() {
        wrap(&table.caption, "  ", "  ", width, out);
    }
    for row in &table.rows {
        let cells = row.iter().zip(&table.columns).enumerate();
        for (index, (cell, column)) in cells.filter(|(_, (cell, _))| !cell.is_empty()) {
            let group = if column.group.is_empty() { "" } else { " " };
            let name = with_unit(&format!("{}{group}{}", column.group, column.name), &column.unit);
            match index {
                0 => wrap(cell, "  ", "    ", width, out),
                _ if name.is_empty() => wrap(cell, "    ", "      ", width, out),
                _ => wrap(&format!("{name}: {cell}"), "    ", "      ", width, out),
            }
        }
    }
}

/// A table that is the output of a command.
pub(crate) fn write_listing(table: &Table, width: usize, out: &mut String) {
    draw(table, &widths(std::slice::from_ref(table), LISTING), LISTING, width, out);
}

/// The same if no line is broken except in the last column; otherwise nothing is written.
pub(crate) fn write_listing_if_it_fits(table: &Table, width: usize, out: &mut String) -> bool {
    let fitting = narrowed(std::slice::from_ref(table), LISTING, width);
    if let Some((tables, widths)) = &fitting {
        draw(&tables[0], widths, LISTING, width, out);
    }
    fitting.is_some()
}

/// Tables with the same columns that are the output of a command.
pub(crate) fn write_listings(tables: &[Table], width: usize, out: &mut String) {
    write_aligned(tables, LISTING, width, out);
}

pub(crate) fn write_results(tables: &[Table], width: usize, out: &mut String) {
    write_aligned(tables, RESULTS, width, out);
}

/// Tables with the same column widths, so that they can be compared by eye, each after an empty
/// line. Dispensable columns for which there is no room are left out of all of them.
fn write_aligned(tables: &[Table], margins: Margins, width: usize, out: &mut String) {
    let whole = || (tables.to_vec(), widths(tables, margins));
    let (tables, widths) = narrowed(tables, margins, width).unwrap_or_else(whole);
    for table in &tables {
        out.push('\n');
        draw(table, &widths, margins, width, out);
    }
}

/// Upper and lower line of a column's heading; the upper line of a group is the group's.
fn heading(column: &Column) -> [&str; 2] {
    match &column.narrow {
        _ if !column.group.is_empty() => ["", &column.name],
        Some([upper, lower]) => [upper, lower],
        None => [&column.name, &column.unit],
    }
}

/// Columns with their indices, those of one group together.
fn groups(columns: &[Column]) -> impl Iterator<Item = (usize, &[Column])> {
    let same = |a: &Column, b: &Column| !a.group.is_empty() && a.group == b.group;
    let mut first = 0;
    columns.chunk_by(same).map(move |group| {
        first += group.len();
        (first - group.len(), group)
    })
}

/// The widest cell or heading of each column of tables with the same columns.
fn widths(tables: &[Table], margins: Margins) -> Vec<usize> {
    let Some(first) = tables.first() else { return Vec::new() };
    let wide = |text: &str| text.chars().count();
    let headings = |index: usize| {
        let of_table = move |table: &Table| heading(&table.columns[index]).map(wide);
        tables.iter().flat_map(of_table)
    };
    let cells = |index: usize| {
        tables.iter().flat_map(|table| &table.rows).map(move |row| wide(&row[index]))
    };
    let widest = |index: usize| headings(index).chain(cells(index)).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..first.columns.len()).map(widest).collect();
    for (index, group) in groups(&first.columns).filter(|(_, group)| group.len() > 1) {
        let shared = wide(&with_unit(&group[0].group, &group[0].unit));
        let room = span(&widths[index..index + group.len()], margins);
        widths[index] += shared.saturating_sub(room);
    }
    widths
}

/// The width of neighbouring columns with the gaps between them.
fn span(widths: &[usize], margins: Margins) -> usize {
    widths.iter().sum::<usize>() + margins.gap * widths.len().saturating_sub(1)
}

fn draw(table: &Table, widths: &[usize], margins: Margins, width: usize, out: &mut String) {
    if !table.caption.is_empty() {
        let indent = " ".repeat(margins.indent);
        let indent_more: &str = if margins.indent == 0 { "  " } else { &indent };
        wrap(&table.caption, &indent, indent_more, width, out);
    }
    if table.has_headings() {
        upper_headings(table, widths, margins, width, out);
        let lower = table.columns.iter().map(|column| heading(column)[1]);
        row(table, lower, widths, margins, width, out);
    }
    for cells in &table.rows {
        row(table, cells.iter().map(String::as_str), widths, margins, width, out);
    }
}

/// The upper line of the headings, in which the columns of a group share a cell.
fn upper_headings(
    table: &Table,
    widths: &[usize],
    margins: Margins,
    width: usize,
    out: &mut String,
) {
    let texts: Vec<String> = groups(&table.columns)
        .map(|(index, group)| match group {
            [column] if column.group.is_empty() => heading(column)[0].to_owned(),
            _ => {
                let room = span(&widths[index..index + group.len()], margins);
                format!("{:^room$}", with_unit(&group[0].group, &group[0].unit))
            }
        })
        .collect();
    let cells = groups(&table.columns).zip(&texts).map(|((index, group), text)| Cell {
        text,
        width: span(&widths[index..index + group.len()], margins),
        content: group[0].content,
    });
    line(cells.collect(), margins, width, out);
}

fn row<'a>(
    table: &Table,
    texts: impl Iterator<Item = &'a str>,
    widths: &[usize],
    margins: Margins,
    width: usize,
    out: &mut String,
) {
    let cells = texts.zip(widths).zip(&table.columns);
    let cells =
        cells.map(|((text, width), column)| Cell { text, width: *width, content: column.content });
    line(cells.collect(), margins, width, out);
}

/// A line of cells; nothing where all are empty. Words in the last column are broken at the
/// terminal's edge.
fn line(cells: Vec<Cell<'_>>, margins: Margins, width: usize, out: &mut String) {
    if cells.iter().all(|cell| cell.text.is_empty()) {
        return;
    }
    let mut line = " ".repeat(margins.indent);
    let count = cells.len();
    for (index, Cell { text, width: cell_width, content }) in cells.into_iter().enumerate() {
        if index > 0 {
            line.push_str(&" ".repeat(margins.gap));
        }
        let is_last = index + 1 == count;
        match content {
            Content::Words if is_last => {
                let indent = " ".repeat(line.chars().count());
                return wrap(text, &line, &indent, width, out);
            }
            Content::Words => line.push_str(&format!("{text:<cell_width$}")),
            Content::Numbers => line.push_str(&format!("{text:>cell_width$}")),
            Content::Marks => line.push_str(&cut(text, width.saturating_sub(line.chars().count()))),
        }
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

/// Marks that fit into `room`; a `+` at the end stands for those that do not.
fn cut(marks: &str, room: usize) -> String {
    match marks.chars().count() > room {
        true => {
            let kept: String = marks.chars().take(room.saturating_sub(1)).collect();
            format!("{kept}+")
        }
        false => marks.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table {
            caption: String::new(),
            columns: vec![
                Column::numbers("queue depth", "").narrow("queue", "depth"),
                Column::numbers("mean", "µs").grouped("response time"),
                Column::numbers("p99", "µs").grouped("response time"),
                Column::marks("warnings").narrow("", "!"),
            ],
            rows: vec![
                vec!["1".to_owned(), "100".to_owned(), "n/a".to_owned(), String::new()],
                vec!["64".to_owned(), "1,000".to_owned(), "2,000".to_owned(), "abcd".to_owned()],
            ],
        }
    }

    #[test]
    fn columns_of_a_group_share_a_heading_and_marks_are_cut_at_the_edge() {
        let mut out = String::new();
        write_results(&[table()], 27, &mut out);
        let expected = "\nqueue response time, µs\ndepth        mean   p99 !\n";
        assert!(out.starts_with(expected), "{out}");
        assert!(out.ends_with("   64       1,000 2,000 ab+\n"), "{out}");
        assert!(out.lines().all(|line| line.chars().count() <= 27), "{out}");
    }

    #[test]
    fn a_narrow_section_leaves_columns_out_and_then_lists_its_rows() {
        let table = Table {
            caption: String::new(),
            columns: vec![
                Column::words("level"),
                Column::numbers("size", "GiB"),
                Column::numbers("spare", "").dispensable(1),
            ],
            rows: vec![vec!["premium".to_owned(), "15,360".to_owned(), "0.0 %".to_owned()]],
        };
        let at = |width: usize| {
            let mut out = String::new();
            write(&table, width, &mut out);
            out
        };
        assert!(at(40).contains("spare") && at(40).contains("0.0 %"));
        assert_eq!(at(20), "  level     size\n             GiB\n  premium 15,360\n");
        assert_eq!(at(15), "  premium\n    size, GiB:\n      15,360\n    spare:\n      0.0 %\n");
    }

    #[test]
    fn pairs_have_no_headings_and_long_values_are_broken() {
        let pairs = [("name", "value"), ("longer", "one two three")];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let text = Table::pairs(pairs).text(16);
        assert_eq!(text, "name    value\nlonger  one two\n        three\n");
    }
}
