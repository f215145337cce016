//! A table as Markdown (CommonMark with the pipe tables of GitHub and GitLab).

use super::{Column, Content, Table, with_unit};
use crate::prose::{markdown, markdown_text};

/// The table with its caption above it.
pub(crate) fn write(table: &Table, out: &mut String) {
    if !table.caption.is_empty() {
        out.push_str(&format!("{}\n\n", markdown(&table.caption)));
    }
    let headings: Vec<String> = table.columns.iter().map(heading).collect();
    let rule = table.columns.iter().map(|column| match column.content {
        Content::Words | Content::Marks => ":--",
        Content::Numbers => "--:",
    });
    out.push_str(&format!("| {} |\n", headings.join(" | ")));
    out.push_str(&format!("| {} |\n", rule.collect::<Vec<_>>().join(" | ")));
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|cell| markdown_text(cell)).collect();
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    out.push('\n');
}

fn heading(column: &Column) -> String {
    let name = match column.group.as_str() {
        "" => column.name.clone(),
        group => format!("{group} {}", column.name),
    };
    markdown_text(&with_unit(&name, &column.unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_or_a_line_break_in_a_cell_does_not_end_the_cell() {
        let table = Table {
            caption: String::new(),
            columns: vec![
                Column::words("system"),
                Column::numbers("rate", "ops/s"),
                Column::numbers("p99", "µs").grouped("response time"),
            ],
            rows: vec![vec!["a | b\nc".to_owned(), "1,000".to_owned(), "250".to_owned()]],
        };
        let mut out = String::new();
        write(&table, &mut out);
        assert_eq!(
            out,
            "| system | rate, ops/s | response time p99, µs |\n| :-- | --: | --: |\n\
             | a \\| b c | 1,000 | 250 |\n\n"
        );
    }
}
