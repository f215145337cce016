//! The heat map of a run: how many operations took how long, when.

use analysis::heat::Heat;

use super::{NS_PER_MS, axis};
use crate::chart::{Alternative, Chart, Panel, Scale, Series, Shape, ticks};

/// Nanoseconds in a second.
const NS_PER_S: f64 = 1e9;

/// The chart of a run; colours are logarithmic, so that single operations are seen.
pub(crate) fn heat(heat: &Heat, name: String, title: String, words: &str) -> Chart {
    let columns =
        heat.columns.iter().map(|(start, _)| ticks::label(hundredths(*start as f64 / NS_PER_S)));
    let rows = heat.rows.iter().map(|(low, _)| ticks::label(two_digits(low / NS_PER_MS)));
    let cells = heat.cells.iter().map(|cell| {
        let (start, end) = heat.columns[cell.column];
        let seconds = (end - start).max(1) as f64 / NS_PER_S;
        // Operations per second, so that a last column that is short is not darker.
        (cell.column, cell.row, (1.0 + cell.operations as f64 / seconds).log10())
    });
    Chart {
        name,
        title,
        caption: format!(
            "Operations by response time in ms (upwards, logarithmic) over seconds from the run's \
             start; the brighter, the more operations per second (logarithmic). {words}"
        ),
        alternative: Alternative::Caption,
        panels: vec![Panel {
            x: axis("seconds from the run's start", Scale::Names(columns.collect())),
            y: axis("response time, ms", Scale::Names(rows.collect())),
            series: vec![Series {
                name: "operations".to_owned(),
                right: false,
                shape: Shape::Cells(cells.collect()),
            }],
            ..Panel::default()
        }],
    }
}

/// Hundredths: columns may be a quarter of a second.
fn hundredths(seconds: f64) -> f64 {
    (seconds * 100.0).round() / 100.0
}

/// Two digits, as far as a tick shows them.
fn two_digits(value: f64) -> f64 {
    let scale = 10f64.powi(1 - value.log10().floor() as i32);
    (value * scale).round() / scale
}
