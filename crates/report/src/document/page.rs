//! A section for an HTML page, as what its template takes, and what every page has: macros, style
//! and the scripts that draw.

use minijinja::{HtmlEscape, Value, context};

use super::figures::figures;
use super::{Block, Section, Table};
use crate::chart::echarts::Charts;

/// Macros of the templates.
pub(crate) const MACROS: &str = include_str!("../../assets/macros.html");
/// The style of pages.
pub(crate) const STYLE: &str = include_str!("../../assets/report.css");
/// ECharts, as it is vendored under `assets/echarts`.
pub(crate) const ECHARTS: &str = include_str!("../../assets/echarts/echarts.min.js");
/// What draws the charts of a page with it.
pub(crate) const CHARTS_JS: &str = include_str!("../../assets/charts.js");

/// The report could not be laid out: a mistake of ours, in the template.
#[derive(Debug, thiserror::Error)]
#[error("lay out the report: {0}")]
pub struct RenderError(#[from] minijinja::Error);

/// The section as the template's `section` macro takes it; its drawings go to `charts`.
pub(crate) fn value(section: &Section, charts: &mut Charts) -> Value {
    let blocks = section.blocks.iter().map(|block| match block {
        Block::Heading(words) => context! { kind => "heading", words },
        Block::Paragraph(words) => context! { kind => "paragraph", words => marked_up(words) },
        Block::List(points) => {
            let points: Vec<Value> = points.iter().map(|point| marked_up(point)).collect();
            context! { kind => "list", points }
        }
        Block::Table(table) => context! { kind => "table", table => table_value(table) },
        Block::Commands(lines) => context! { kind => "commands", lines => lines.join("\n") },
        Block::Charts(some) => {
            context! { kind => "charts", figures => figures(some, some.len(), charts) }
        }
    });
    context! {
        id => section.id,
        title => &section.title,
        blocks => blocks.collect::<Vec<_>>(),
        method => crate::method::links(&section.method),
    }
}

/// The sections, each with what keeps its anchor apart from that of others of its kind.
pub(crate) fn apart(sections: &[Section], charts: &mut Charts) -> Vec<Value> {
    let each = sections.iter().enumerate().map(|(place, section)| {
        let before = sections[..place].iter().filter(|other| other.id == section.id).count();
        let prefix = if before == 0 { String::new() } else { format!("c{}-", before + 1) };
        context! { prefix, section => value(section, charts) }
    });
    each.collect()
}

/// A table as the template's `table` macro takes it.
pub(crate) fn table_value(table: &Table) -> Value {
    let columns: Vec<Value> = table
        .columns
        .iter()
        .map(|c| context! { name => &c.name, unit => &c.unit, words => c.words })
        .collect();
    context! { caption => marked_up(&table.caption), columns, rows => &table.rows }
}

/// Words with what stands between backticks as code, escaped.
pub(crate) fn marked_up(words: &str) -> Value {
    let parts: Vec<&str> = words.split('`').collect();
    // A backtick without its other half is one.
    let paired = if parts.len() % 2 == 1 { parts.len() } else { parts.len() - 1 };
    let mut html = String::new();
    for (place, part) in parts.iter().enumerate() {
        match place {
            code if code % 2 == 1 && code < paired => {
                html.push_str(&format!("<code>{}</code>", HtmlEscape(part)));
            }
            odd if odd >= paired => html.push_str(&format!("`{}", HtmlEscape(part))),
            _ => html.push_str(&HtmlEscape(part).to_string()),
        }
    }
    Value::from_safe_string(html)
}
