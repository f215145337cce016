//! A section as the page's template takes it, and the assets that every page embeds: macros, style
//! and scripts.

use minijinja::{Value, context};

use super::{Block, Section};
use crate::buy::utilization;
use crate::drawing::echarts::{Charts, legend_height};
use crate::drawing::theme::Theme;
use crate::drawing::{Chart, Panel, Scale, Shape, numbers};
use crate::prose;
use crate::table;

/// Macros of the templates.
pub(crate) const MACROS: &str = include_str!("../../assets/macros.html");
/// The style of pages.
const STYLE: &str = include_str!("../../assets/report.css");
/// The style of pages on paper.
const PRINT_STYLE: &str = include_str!("../../assets/print.css");
/// ECharts, as vendored under `assets/echarts`.
pub(crate) const ECHARTS: &str = include_str!("../../assets/echarts/echarts.min.js");
/// The script that draws a page's charts with ECharts.
pub(crate) const CHARTS_JS: &str = include_str!("../../assets/charts.js");

/// A chart with more names than this on its x axis has the page's whole width.
const NAMES_MAX: usize = 14;

/// A page could not be rendered: a bug in its template.
#[derive(Debug, thiserror::Error)]
#[error("render the report: {0}")]
pub struct RenderError(#[from] minijinja::Error);

/// The style of a page. A page for paper looks the same on a screen.
pub(crate) fn style(theme: Theme) -> Value {
    let media = if theme == Theme::Print { "all" } else { "print" };
    Value::from_safe_string(format!("{STYLE}@media {media} {{\n{PRINT_STYLE}}}\n"))
}

/// The section as the macro `show_section` takes it; its charts are added to `charts`.
pub(crate) fn value(section: &Section, charts: &mut Charts) -> Value {
    let blocks = section.blocks.iter().map(|block| match block {
        Block::Heading(text) => context! { kind => "heading", text },
        Block::Paragraph(text) => context! { kind => "paragraph", text => prose::html(text) },
        Block::List(points) => {
            let points: Vec<Value> = points.iter().map(|point| prose::html(point)).collect();
            context! { kind => "list", points }
        }
        Block::Table(table) => context! { kind => "table", table => table::html::value(table) },
        Block::Commands(lines) => context! { kind => "commands", lines => lines.join("\n") },
        Block::Charts(all) => {
            context! { kind => "charts", figures => figures(all, all.len(), charts) }
        }
        Block::Bars(bars) => {
            let bars: Vec<Value> = bars.iter().map(utilization::page_value).collect();
            context! { kind => "bars", bars }
        }
        Block::Diagram(diagram) => {
            context! { kind => "diagram", svg => Value::from_safe_string(diagram.svg()) }
        }
    });
    context! {
        id => section.id,
        title => &section.title,
        blocks => blocks.collect::<Vec<_>>(),
        method => crate::method::links(&section.method),
    }
}

/// The sections, each with a prefix that makes its anchor unique among those with the same id.
pub(crate) fn with_unique_anchors(sections: &[Section], charts: &mut Charts) -> Vec<Value> {
    let each = sections.iter().enumerate().map(|(index, section)| {
        let before = sections[..index].iter().filter(|other| other.id == section.id).count();
        let prefix = if before == 0 { String::new() } else { format!("c{}-", before + 1) };
        context! { prefix, section => value(section, charts) }
    });
    each.collect()
}

/// A chart with its caption and its numbers as a table. A chart that is not on paper is shown on
/// screens only.
pub(crate) fn figure(chart: &Chart, on_paper: bool, charts: &mut Charts) -> Value {
    let tables: Vec<Value> = numbers::tables(chart).iter().map(table::html::value).collect();
    context! {
        chart => charts.add(chart),
        name => &chart.name,
        title => &chart.title,
        caption => &chart.caption,
        tall => chart.is_tall(),
        higher => legend_height(chart),
        tables,
        wide => is_wide(chart),
        aside => !on_paper,
    }
}

/// Several charts, of which the first are on paper.
pub(crate) fn figures(all: &[Chart], on_paper: usize, charts: &mut Charts) -> Vec<Value> {
    let each = all.iter().enumerate();
    each.map(|(index, chart)| figure(chart, index < on_paper, charts)).collect()
}

/// Whether a chart needs the page's whole width: several panels, a heat map, or many names.
fn is_wide(chart: &Chart) -> bool {
    let has_cells = |panel: &Panel| {
        panel.series.iter().any(|series| matches!(series.shape, Shape::Cells { .. }))
    };
    let has_many_names = |panel: &Panel| match &panel.x.scale {
        Scale::Names(names) => names.len() > NAMES_MAX,
        _ => false,
    };
    let needs_width = |panel: &Panel| has_cells(panel) || has_many_names(panel);
    chart.panels.len() > 1 || chart.panels.iter().any(needs_width)
}
