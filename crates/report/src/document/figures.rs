//! Charts as figures of the page: the drawing, its caption, and its numbers as a table.

use minijinja::{Value, context};

use super::page::table_value;
use crate::chart::echarts::{Charts, legend_height};
use crate::chart::{Chart, Scale, Shape, table};

/// One figure; what is not on paper is there for the screen only.
pub(crate) fn figure(chart: &Chart, on_paper: bool, charts: &mut Charts) -> Value {
    let tables: Vec<Value> = table::of(chart).iter().map(table_value).collect();
    context! {
        chart => charts.add(chart),
        name => &chart.name,
        title => &chart.title,
        caption => &chart.caption,
        tall => chart.panels.len() > 1,
        higher => legend_height(chart),
        tables,
        wide => wide(chart),
        aside => !on_paper,
    }
}

/// Many figures, of which the first are on paper.
pub(crate) fn figures(some: &[Chart], on_paper: usize, charts: &mut Charts) -> Vec<Value> {
    let each = some.iter().enumerate();
    each.map(|(place, chart)| figure(chart, place < on_paper, charts)).collect()
}

/// Charts that want the page's whole width: many panels, cells, or names side by side.
fn wide(chart: &Chart) -> bool {
    let cells = |panel: &crate::chart::Panel| {
        panel.series.iter().any(|series| matches!(series.shape, Shape::Cells(_)))
    };
    let names = |panel: &crate::chart::Panel| match &panel.x.scale {
        Scale::Names(names) => names.len() > 14,
        _ => false,
    };
    chart.panels.len() > 1 || chart.panels.iter().any(|panel| cells(panel) || names(panel))
}
