//! Percentiles of the response time on an axis of nines, as HdrHistogram's plotters draw them.

use analysis::times::FRACTIONS;

use super::shown_curve::{ShownCurve, axis, file_name, load_label};
use crate::drawing::{Alternative, Chart, Flag, Panel, Point, Scale, Series, Shape, Stroke};
use crate::number::{NONE, percentile_name, thousands};
use crate::results::{percentile_with_interval, time_unit};
use crate::table::{Column, Table};

/// More lines cannot be distinguished.
const LINES_MAX: usize = 12;

/// The chart of a curve with a line for each load point, or for every n-th of many.
///
/// * `colours` - of all curves
pub(super) fn percentiles(one: &ShownCurve<'_>, colours: Vec<(String, usize)>) -> Chart {
    let unit = one.unit;
    let points = &one.curve.points;
    let every = points.len().div_ceil(LINES_MAX).max(1);
    let last = points.len().saturating_sub(1);
    let shown = || points.iter().enumerate().filter(|(n, _)| n % every == 0 || *n == last);
    // The sweep is one series in one colour; the end of each line names its load.
    let series: Vec<Series> = shown()
        .map(|(_, point)| {
            let times = &one.data(point).response;
            let rows = times.drawable().filter(|row| row.fraction < 1.0 && row.value_ns > 0);
            let points = rows.map(|row| {
                Point::at(1.0 / (1.0 - row.fraction), Some(unit.scale(row.value_ns as f64)))
            });
            let shape = Shape::Line { points: points.collect(), stroke: Stroke::Plain };
            Series { name: one.name(), right: false, shape }
        })
        .collect();
    let ends = series.iter().zip(shown()).filter_map(|(series, (_, point))| {
        let Point { x, y, .. } = *series.points().last()?;
        Some(Flag { name: load_label(one.curve, point), x, y: y? })
    });
    let flags: Vec<Flag> = ends.collect();
    // The table has more digits than the axis.
    let table_unit = time_unit(&[one.findings]);
    let rows = shown().map(|(_, point)| {
        let times = &one.data(point).response;
        let mut cells = vec![point.label.clone(), thousands(i128::from(times.samples))];
        cells.extend(times.percentiles.iter().map(|p| percentile_with_interval(p, table_unit)));
        cells.push(times.max_ns.map_or(NONE.to_owned(), |ns| table_unit.print(ns as f64)));
        cells
    });
    let mut columns = vec![Column::numbers(&one.curve.axis, ""), Column::numbers("samples", "")];
    columns.extend(FRACTIONS.map(|f| Column::numbers(&percentile_name(f), table_unit.symbol())));
    columns.push(Column::numbers("maximum", table_unit.symbol()));
    let left_out = match every {
        1 => String::new(),
        _ => format!(
            " {} of {} load points are shown; the export has all.",
            shown().count(),
            points.len()
        ),
    };
    Chart {
        name: file_name(&format!("percentiles-{}", one.name())),
        title: format!("Response time by percentile: {}", one.name()),
        caption: format!(
            "Response time in {} by percentile: {}, a line for each {}, named at its end.{left_out}",
            unit.symbol(),
            one.name(),
            one.curve.axis
        ),
        alternative: Alternative::Given(Table {
            caption: String::new(),
            columns,
            rows: rows.collect(),
        }),
        panels: vec![Panel {
            x: axis("percentile", Scale::Nines),
            y: axis(&format!("response time, {}", unit.symbol()), Scale::Log(10)),
            series,
            flags,
            ..Panel::default()
        }],
        colours,
        ..Chart::default()
    }
}
