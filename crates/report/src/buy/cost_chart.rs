//! The chart of monthly cost by throughput: a line for each service level, and the chosen design.

use crate::charts::axis;
use crate::drawing::{Alternative, Chart, Panel, Point, Scale, Series, Shape, Stroke};

/// Throughput in MiB/s, and dollars per month.
pub(crate) type CostPoint = (f64, f64);

/// The cost of one service level, by increasing throughput.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CostLine {
    /// The service level.
    pub(crate) name: String,
    /// Its points.
    pub(crate) points: Vec<CostPoint>,
}

/// The chart; `None` without a line.
///
/// * `chosen` - name and point of the recommended design
/// * `what` - the cost that is drawn, for the caption
pub(crate) fn cost_chart(
    lines: &[CostLine],
    chosen: Option<(String, CostPoint)>,
    what: &str,
) -> Option<Chart> {
    let point = |(x, y): &CostPoint| Point::at(*x, Some(*y));
    let line = |name: &str, points: &[CostPoint], stroke| Series {
        name: name.to_owned(),
        right: false,
        shape: Shape::Line { points: points.iter().map(point).collect(), stroke },
    };
    let mut series: Vec<Series> =
        lines.iter().map(|one| line(&one.name, &one.points, Stroke::Solid)).collect();
    if series.is_empty() {
        return None;
    }
    let ring = match &chosen {
        Some((name, _)) => format!(" Ring: {name}."),
        None => String::new(),
    };
    series.extend(chosen.map(|(name, at)| line(&name, &[at], Stroke::Rings)));
    Some(Chart {
        name: "monthly-cost".to_owned(),
        title: "Monthly cost by throughput".to_owned(),
        caption: format!("{what} by throughput, for each service level.{ring}"),
        panels: vec![Panel {
            x: axis("throughput, MiB/s", Scale::Linear),
            y: axis("cost per month, $", Scale::Linear),
            series,
            ..Panel::default()
        }],
        alternative: Alternative::OwnPoints,
        ..Chart::default()
    })
}
