//! Percentiles of the response time on an axis of nines, as HdrHistogram's plotters draw them.

use analysis::times::FRACTIONS;

use super::shown_curve::{ShownCurve, axis, file_name};
use crate::drawing::{Alternative, Chart, Panel, Point, Scale, Series, Shape, Stroke};
use crate::number::{NONE, percentile_name, thousands};
use crate::results::percentile_with_interval;
use crate::table::{Column, Table};

/// More lines cannot be distinguished.
const LINES_MAX: usize = 12;

/// The chart of a curve with a line for each load point, or for every n-th of many.
pub(super) fn percentiles(one: &ShownCurve<'_>) -> Chart {
    let unit = one.unit;
    let points = &one.curve.points;
    let every = points.len().div_ceil(LINES_MAX).max(1);
    let last = points.len().saturating_sub(1);
    let shown = || points.iter().enumerate().filter(|(n, _)| n % every == 0 || *n == last);
    let series = shown().map(|(_, point)| {
        let times = &one.data(point).response;
        let rows = times.drawable().filter(|row| row.fraction < 1.0 && row.value_ns > 0);
        let points = rows.map(|row| {
            Point::at(1.0 / (1.0 - row.fraction), Some(unit.scale(row.value_ns as f64)))
        });
        Series {
            name: format!("{} {}", one.curve.axis, point.label),
            right: false,
            shape: Shape::Line { points: points.collect(), stroke: Stroke::Plain },
        }
    });
    let rows = shown().map(|(_, point)| {
        let times = &one.data(point).response;
        let mut cells = vec![point.label.clone(), thousands(i128::from(times.samples))];
        cells.extend(times.percentiles.iter().map(|p| percentile_with_interval(p, unit)));
        cells.push(times.max_ns.map_or(NONE.to_owned(), |ns| unit.print(ns as f64)));
        cells
    });
    let mut columns = vec![Column::numbers(&one.curve.axis, ""), Column::numbers("samples", "")];
    columns.extend(FRACTIONS.map(|f| Column::numbers(&percentile_name(f), unit.symbol())));
    columns.push(Column::numbers("maximum", unit.symbol()));
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
            "Response time in {} by percentile: {}, a line for each {}.{left_out}",
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
            series: series.collect(),
            ..Panel::default()
        }],
    }
}
