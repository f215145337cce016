//! A section as Markdown: what GitHub, GitLab and most wikis read (CommonMark with tables).

use super::{Block, Section};
use crate::buy::utilization;
use crate::prose::{markdown, markdown_text};
use crate::table;

/// The page with the definitions, by name: the report may be read without the repository.
const METHOD_PAGE: &str = "docs/method.md";

/// Appends the section to `out`, under a heading of the given level.
pub(crate) fn write(section: &Section, level: usize, out: &mut String) {
    out.push_str(&format!("{} {}\n\n", "#".repeat(level), markdown_text(&section.title)));
    for block in &section.blocks {
        match block {
            Block::Heading(text) => {
                out.push_str(&format!("{} {}\n\n", "#".repeat(level + 1), markdown_text(text)));
            }
            Block::Paragraph(text) => out.push_str(&format!("{}\n\n", markdown(text))),
            Block::List(points) => {
                for point in points {
                    out.push_str(&format!("- {}\n", markdown(point)));
                }
                out.push('\n');
            }
            Block::Table(table) => table::markdown::write(table, out),
            Block::Bars(bars) => table::markdown::write(&utilization::table(bars), out),
            Block::Charts(_) | Block::Diagram(_) => {}
            Block::Commands(lines) => write_commands(&lines.join("\n"), out),
        }
    }
    if !section.method.is_empty() {
        let links = section.method.iter().map(|name| {
            format!("[{}]({METHOD_PAGE}#{})", markdown_text(name), crate::method::anchor(name))
        });
        let links: Vec<String> = links.collect();
        out.push_str(&format!("Method: {}.\n\n", links.join(", ")));
    }
}

/// Appends lines in a fence longer than any run of backticks inside them.
pub(crate) fn write_commands(lines: &str, out: &mut String) {
    let longest = lines.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    out.push_str(&format!("{fence}text\n{lines}\n{fence}\n\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_command_can_end_its_fence() {
        let mut out = String::new();
        write_commands("a\n```\nb ````", &mut out);
        assert!(out.starts_with("`````text\na\n```\nb ````\n`````\n"), "{out}");
    }
}
