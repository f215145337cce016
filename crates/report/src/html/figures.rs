//! Charts as figures of the page: the drawing, its caption, and its numbers as a table.

use minijinja::{Value, context};

use crate::chart::echarts::Charts;
use crate::chart::{Chart, Scale, Shape, table};
use crate::document::page::table_value;

/// One figure.
fn figure(chart: &Chart, charts: &mut Charts) -> Value {
    let tables: Vec<Value> = table::of(chart).iter().map(table_value).collect();
    context! {
        chart => charts.add(chart),
        name => &chart.name,
        title => &chart.title,
        caption => &chart.caption,
        tall => chart.panels.len() > 1,
        tables,
        wide => wide(chart),
    }
}

/// Many figures.
pub(super) fn figures(some: &[Chart], charts: &mut Charts) -> Vec<Value> {
    some.iter().map(|chart| figure(chart, charts)).collect()
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
