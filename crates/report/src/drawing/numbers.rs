//! The numbers of a chart as tables, for readers who cannot see it.

use super::{Alternative, Axis, Chart, Panel, Point, Scale, Series, ticks};
use crate::number::{NONE, half_width, plain};
use crate::table::{Column, Table};

/// Panels with more values on the x axis have no table, to keep the page small.
const ROWS_MAX: usize = 120;

/// The tables of a chart; none if its caption replaces them.
pub(crate) fn tables(chart: &Chart) -> Vec<Table> {
    match &chart.alternative {
        Alternative::Caption => Vec::new(),
        Alternative::Given(table) => vec![table.clone()],
        Alternative::OwnPoints => chart.panels.iter().filter_map(of_panel).collect(),
    }
}

fn of_panel(panel: &Panel) -> Option<Table> {
    let measured = || panel.series.iter().filter(|series| series.is_measured());
    let mut xs: Vec<f64> = measured().flat_map(values_of_x).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    if xs.is_empty() || xs.len() > ROWS_MAX {
        return None;
    }
    // A line and its separate points are one column.
    let mut groups: Vec<(String, Vec<&Series>)> = Vec::new();
    for series in measured() {
        let percentile = if series.is_p99() { ", p99" } else { "" };
        let name = format!("{}{percentile}", series.name);
        match groups
            .iter_mut()
            .find(|(known, same)| *known == name && same[0].right == series.right)
        {
            Some((_, same)) => same.push(series),
            None => groups.push((name, vec![series])),
        }
    }
    let mut columns = vec![Column::words(&panel.x.name)];
    let units: Vec<String> = groups.iter().map(|(_, same)| unit(panel, same[0])).collect();
    let named = groups.iter().zip(units);
    columns.extend(named.map(|((name, _), unit)| Column::numbers(name, &unit)));
    let row = |x: &f64| {
        let cells = groups.iter().map(|(_, same)| cell(same, *x));
        std::iter::once(row_name(&panel.x, *x)).chain(cells).collect()
    };
    Some(Table { caption: panel.title.clone(), columns, rows: xs.iter().map(row).collect() })
}

fn values_of_x(series: &Series) -> Vec<f64> {
    series.points().iter().map(|point| point.x).collect()
}

/// Quantity and unit of a series: the name of its axis, without what explains the drawing.
fn unit(panel: &Panel, series: &Series) -> String {
    let axis = panel.right.as_ref().filter(|_| series.right).unwrap_or(&panel.y);
    match axis.name.split_once(" (") {
        Some((quantity, _)) => format!("{quantity}, {}", axis.unit()),
        None => axis.name.clone(),
    }
}

fn cell(same: &[&Series], x: f64) -> String {
    let mut points = same.iter().flat_map(|series| series.points());
    points.find(|point| point.x == x).map_or(NONE.to_owned(), printed)
}

/// A value with its confidence interval: `812 ± 0.4 %`, or `812 (790 to 901)` if it is asymmetric.
fn printed(point: &Point) -> String {
    let Some(y) = point.y else { return NONE.to_owned() };
    match point.interval {
        Some(ends) if y != 0.0 && is_symmetric(y, ends) => {
            format!("{} ± {}", plain(y), half_width((ends[1] - y) / y.abs()))
        }
        Some([low, high]) if low < y || high > y => {
            format!("{} ({} to {})", plain(y), plain(low), plain(high))
        }
        _ => plain(y),
    }
}

/// Whether both ends are equally far from the value, except for rounding.
fn is_symmetric(y: f64, [low, high]: [f64; 2]) -> bool {
    ((high - y) - (y - low)).abs() <= 1e-9 * y.abs()
}

fn row_name(axis: &Axis, x: f64) -> String {
    match &axis.scale {
        Scale::Names(names) => names.get(x as usize).cloned().unwrap_or_default(),
        _ => ticks::label(x),
    }
}
