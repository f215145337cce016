//! Percentiles of the response time, each further nine as far from the last one, as HdrHistogram's
//! plotters draw them.

use analysis::times::FRACTIONS;

use super::{NS_PER_US, Shown, axis, file_name};
use crate::chart::{Alternative, Chart, Panel, Point, Scale, Series, Shape, Stroke};
use crate::document::{Column, Table};
use crate::number::{NONE, percentile_name, thousands, us};
use crate::rows::{TimeUnit, percentile_with_interval};

/// More lines than this cannot be told apart.
const LINES_MAX: usize = 12;

/// The chart of a curve, a line for each load point; of many load points some, evenly taken.
pub(crate) fn percentiles(one: &Shown<'_>) -> Chart {
    let points = &one.curve.points;
    let every = points.len().div_ceil(LINES_MAX).max(1);
    let last = points.len().saturating_sub(1);
    let shown = || points.iter().enumerate().filter(|(n, _)| n % every == 0 || *n == last);
    let series = shown().map(|(_, point)| {
        let times = &one.data(point).response;
        let rows = times.drawable().filter(|row| row.fraction < 1.0 && row.value_ns > 0);
        let points = rows.map(|row| {
            Point::at(1.0 / (1.0 - row.fraction), Some(row.value_ns as f64 / NS_PER_US))
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
        cells.extend(times.percentiles.iter().map(|p| percentile_with_interval(p, TimeUnit::Us)));
        cells.push(times.max_ns.map_or(NONE.to_owned(), |ns| us(ns as f64)));
        cells
    });
    let mut columns = vec![Column::numbers(&one.curve.axis, ""), Column::numbers("samples", "")];
    columns.extend(FRACTIONS.map(|f| Column::numbers(&percentile_name(f), "µs")));
    columns.push(Column::numbers("maximum", "µs"));
    let left_out = match every {
        1 => String::new(),
        _ => format!(" {} of {} load points; the export has all.", shown().count(), points.len()),
    };
    Chart {
        name: file_name(&format!("percentiles-{}", one.name())),
        title: format!("Response time by percentile: {}", one.name()),
        caption: format!(
            "Response time by percentile: {}, a line for each {}.{left_out}",
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
            y: axis("response time, µs", Scale::Log(10)),
            series: series.collect(),
            ..Panel::default()
        }],
    }
}
