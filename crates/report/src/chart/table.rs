//! A chart's numbers as a table, for those who cannot see it.

use super::{Alternative, Axis, Chart, Panel, Point, Scale, Series, Shape};
use crate::chart::ticks;
use crate::document::{Column, Table};
use crate::number::{NONE, half_width, plain};

/// A table of more rows is no help, and makes the page large.
const ROWS_MAX: usize = 120;

/// The tables of a chart; none where its caption says what there is to say.
pub(crate) fn of(chart: &Chart) -> Vec<Table> {
    match &chart.alternative {
        Alternative::Caption => Vec::new(),
        Alternative::Given(table) => vec![table.clone()],
        Alternative::OwnPoints => chart.panels.iter().filter_map(of_panel).collect(),
    }
}

fn of_panel(panel: &Panel) -> Option<Table> {
    let measured = || panel.series.iter().filter(|series| is_measured(series));
    let mut xs: Vec<f64> = measured().flat_map(places).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    if xs.is_empty() || xs.len() > ROWS_MAX {
        return None;
    }
    let mut columns = vec![Column::words(&panel.x.name)];
    let (names, units): (Vec<&str>, Vec<String>) =
        measured().map(|s| (s.name.as_str(), unit(panel, s))).unzip();
    columns.extend(names.iter().zip(&units).map(|(name, unit)| Column::numbers(name, unit)));
    let row = |x: &f64| {
        let cells = measured().map(|series| cell(series, *x));
        std::iter::once(place_name(&panel.x, *x)).chain(cells).collect()
    };
    Some(Table { caption: String::new(), columns, rows: xs.iter().map(row).collect() })
}

fn places(series: &Series) -> Vec<f64> {
    match &series.shape {
        Shape::Line { points, .. } | Shape::Bars { points, .. } => {
            points.iter().map(|p| p.x).collect()
        }
        Shape::Cells(_) => Vec::new(),
    }
}

/// The axis of a series names its quantity and unit.
fn unit(panel: &Panel, series: &Series) -> String {
    let axis = panel.right.as_ref().filter(|_| series.right).unwrap_or(&panel.y);
    axis.name.clone()
}

fn cell(series: &Series, x: f64) -> String {
    let (Shape::Line { points, .. } | Shape::Bars { points, .. }) = &series.shape else {
        return NONE.to_owned();
    };
    let Some(point) = points.iter().find(|p| p.x == x) else { return NONE.to_owned() };
    printed(point)
}

/// A value with its interval: `812 ± 0.4 %`, or, where it lies unevenly around it, `812 (790 to
/// 901)`.
fn printed(point: &Point) -> String {
    let Some(y) = point.y else { return NONE.to_owned() };
    match point.interval {
        Some(ends) if y != 0.0 && is_even(y, ends) => {
            format!("{} ± {}", plain(y), half_width((ends[1] - y) / y.abs()))
        }
        Some([low, high]) if low < y || high > y => {
            format!("{} ({} to {})", plain(y), plain(low), plain(high))
        }
        _ => plain(y),
    }
}

/// Both ends are as far from the value, but for rounding.
fn is_even(y: f64, [low, high]: [f64; 2]) -> bool {
    ((high - y) - (y - low)).abs() <= 1e-9 * y.abs()
}

/// What is not measured stands in the caption.
fn is_measured(series: &Series) -> bool {
    match &series.shape {
        Shape::Line { stroke, .. } => stroke.measured(),
        Shape::Bars { .. } | Shape::Cells(_) => true,
    }
}

fn place_name(axis: &Axis, x: f64) -> String {
    match &axis.scale {
        Scale::Names(names) => names.get(x as usize).cloned().unwrap_or_default(),
        _ => ticks::label(x),
    }
}
