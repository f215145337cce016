//! A section as Markdown: what GitHub, GitLab and most wikis read (CommonMark with tables).

use super::{Block, Section, Table};

/// Where the definitions are: the report stands alone, so it names the published page.
const METHOD_PAGE: &str = "docs/method.md";

/// The section below what is in `out`, under a heading of the given level.
pub(crate) fn write(section: &Section, level: usize, out: &mut String) {
    out.push_str(&format!("{} {}\n\n", "#".repeat(level), escaped(&section.title)));
    for block in &section.blocks {
        match block {
            Block::Heading(words) => {
                out.push_str(&format!("{} {}\n\n", "#".repeat(level + 1), escaped(words)));
            }
            Block::Paragraph(words) => out.push_str(&format!("{}\n\n", marked_up(words))),
            Block::List(points) => {
                for point in points {
                    out.push_str(&format!("- {}\n", marked_up(point)));
                }
                out.push('\n');
            }
            Block::Table(table) => write_table(table, out),
            Block::Charts(_) => {}
            Block::Commands(lines) => write_commands(&lines.join("\n"), out),
        }
    }
    if !section.method.is_empty() {
        let links = section.method.iter().map(|name| {
            format!("[{}]({METHOD_PAGE}#{})", escaped(name), crate::method::anchor(name))
        });
        let links: Vec<String> = links.collect();
        out.push_str(&format!("How: {}.\n\n", links.join(", ")));
    }
}

/// Lines to be typed, in a fence that nothing inside them can end.
pub(crate) fn write_commands(lines: &str, out: &mut String) {
    let longest = lines.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    out.push_str(&format!("{fence}text\n{lines}\n{fence}\n\n"));
}

/// A table of pipes, its caption above it.
pub(crate) fn write_table(table: &Table, out: &mut String) {
    if !table.caption.is_empty() {
        out.push_str(&format!("{}\n\n", marked_up(&table.caption)));
    }
    let heading = table.columns.iter().map(|column| match column.unit.as_str() {
        "" => escaped(&column.name),
        unit => escaped(&format!("{}, {unit}", column.name)),
    });
    let rule = table.columns.iter().map(|column| if column.words { ":--" } else { "--:" });
    out.push_str(&format!("| {} |\n", heading.collect::<Vec<_>>().join(" | ")));
    out.push_str(&format!("| {} |\n", rule.collect::<Vec<_>>().join(" | ")));
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|cell| escaped(cell)).collect();
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    out.push('\n');
}

/// Words with what stands between backticks as code, and nothing else as markup.
pub(crate) fn marked_up(words: &str) -> String {
    let parts: Vec<&str> = words.split('`').collect();
    let paired = if parts.len() % 2 == 1 { parts.len() } else { parts.len() - 1 };
    let mut out = String::new();
    for (place, part) in parts.iter().enumerate() {
        match place {
            // Inside code only a pipe means something, in a table.
            code if code % 2 == 1 && code < paired => {
                out.push_str(&format!("`{}`", one_line(part)));
            }
            odd if odd >= paired => out.push_str(&format!("\\`{}", escaped(part))),
            _ => out.push_str(&escaped(part)),
        }
    }
    out
}

/// Text that means itself: every character that Markdown or HTML could take for markup is escaped.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in one_line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Column;

    #[test]
    fn what_looks_like_markup_means_itself() {
        assert_eq!(
            escaped("<b>a|b</b> *x* _y_ [z](u)"),
            "&lt;b&gt;a\\|b&lt;/b&gt; \\*x\\* \\_y\\_ \\[z\\](u)"
        );
        assert_eq!(marked_up("say `nconnect=8` and <i>"), "say `nconnect=8` and &lt;i&gt;");
        assert_eq!(marked_up("a ` alone"), "a \\` alone");
    }

    #[test]
    fn no_command_can_end_its_fence() {
        let mut out = String::new();
        write_commands("a\n```\nb ````", &mut out);
        assert!(out.starts_with("`````text\na\n```\nb ````\n`````\n"), "{out}");
    }

    #[test]
    fn a_table_keeps_its_columns_whatever_its_cells_say() {
        let table = Table {
            caption: String::new(),
            columns: vec![Column::words("what"), Column::numbers("rate", "ops/s")],
            rows: vec![vec!["a | b\nc".to_owned(), "1,000".to_owned()]],
        };
        let mut out = String::new();
        write_table(&table, &mut out);
        assert_eq!(out, "| what | rate, ops/s |\n| :-- | --: |\n| a \\| b c | 1,000 |\n\n");
    }
}
