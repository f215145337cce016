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

const SECTION: Margins = Margins { indent: 2, gap: 1 };
const RESULTS: Margins = Margins { indent: 0, gap: 1 };
const LISTING: Margins = Margins { indent: 0, gap: 2 };

/// A cell with the width it is padded to.
struct Cell<'a> {
    text: &'a str,
    width: usize,
    content: Content,
}

/// A table of a section.
pub(crate) fn write(table: &Table, width: usize, out: &mut String) {
    draw(table, &widths(std::slice::from_ref(table), SECTION), SECTION, width, out);
}

/// A table that is the output of a command.
pub(crate) fn write_listing(table: &Table, width: usize, out: &mut String) {
    draw(table, &widths(std::slice::from_ref(table), LISTING), LISTING, width, out);
}

/// Tables with the same columns that are the output of a command.
pub(crate) fn write_listings(tables: &[Table], width: usize, out: &mut String) {
    write_aligned(tables, LISTING, width, out);
}

pub(crate) fn write_results(tables: &[Table], width: usize, out: &mut String) {
    write_aligned(tables, RESULTS, width, out);
}

/// Tables with the same column widths, so that they can be compared by eye, each after an empty
/// line.
fn write_aligned(tables: &[Table], margins: Margins, width: usize, out: &mut String) {
    let widths = widths(tables, margins);
    for table in tables {
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
    fn pairs_have_no_headings_and_long_values_are_broken() {
        let pairs = [("name", "value"), ("longer", "one two three")];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let text = Table::pairs(pairs).text(16);
        assert_eq!(text, "name    value\nlonger  one two\n        three\n");
    }
}
