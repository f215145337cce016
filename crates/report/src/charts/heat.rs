//! The heat map of a run: operations by time of completion and response time.

use analysis::heat::Heat;

use super::shown_curve::axis;
use crate::drawing::{Alternative, Chart, Panel, Scale, Series, Shape, ticks};
use crate::number::{NS_PER_S, TimeUnit};

/// The chart of a run, described by `subject`. Colours are logarithmic, so that single operations
/// are visible.
pub(super) fn heat(heat: &Heat, [name, title, subject]: [String; 3], unit: TimeUnit) -> Chart {
    let rows = heat.rows.iter().map(|(low, _)| ticks::label(two_digits(unit.scale(*low))));
    let cells = heat.cells.iter().map(|cell| {
        let (start, end) = heat.columns[cell.column];
        let seconds = (end - start).max(1) as f64 / NS_PER_S;
        // Operations per second, so that a shorter last column is not darker.
        (cell.column, cell.row, (1.0 + cell.operations as f64 / seconds).log10())
    });
    Chart {
        name,
        title,
        caption: format!(
            "Operations by response time in {} (logarithmic) over seconds from the start of the \
             run. Brighter cells have more operations per second (logarithmic). {subject}",
            unit.symbol()
        ),
        alternative: Alternative::Caption,
        panels: vec![Panel {
            x: axis(
                "seconds from the start of the run",
                Scale::Names(seconds_of_columns(&heat.columns)),
            ),
            y: axis(&format!("response time, {}", unit.symbol()), Scale::Names(rows.collect())),
            series: vec![Series {
                name: "operations".to_owned(),
                right: false,
                shape: Shape::Cells {
                    cells: cells.collect(),
                    ends: ["few operations".to_owned(), "many".to_owned()],
                },
            }],
            ..Panel::default()
        }],
        ..Chart::default()
    }
}

/// The labels of columns with these starts and ends, in nanoseconds.
pub(super) fn seconds_of_columns(columns: &[(u64, u64)]) -> Vec<String> {
    columns.iter().map(|(start, _)| ticks::label(hundredths(*start as f64 / NS_PER_S))).collect()
}

/// Seconds to two decimals; a column may be as short as a quarter of a second.
fn hundredths(seconds: f64) -> f64 {
    (seconds * 100.0).round() / 100.0
}

/// A value with two significant digits.
fn two_digits(value: f64) -> f64 {
    let scale = 10f64.powi(1 - value.log10().floor() as i32);
    (value * scale).round() / scale
}
