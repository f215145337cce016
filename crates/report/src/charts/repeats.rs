//! The spread of repeats: boxes from five repeats on, separate points below.

use super::shown_curve::{ShownCurve, axis, colours, file_name};
use crate::drawing::{Alternative, Chart, Layout, Panel, Point, Scale, Series, Shape, Stroke};

/// More panels side by side are too narrow to read.
const COLUMNS_MAX: usize = 4;
/// More panels are too many for one figure.
const PANELS_MAX: usize = 8;
/// More load points do not fit side by side.
const LOADS_MAX: usize = 12;

/// The repeats of all curves with the same axis; `None` if nothing was repeated.
pub(super) fn figure(shown: &[ShownCurve<'_>], name: &str) -> Option<Chart> {
    let panels: Vec<Panel> =
        shown.iter().filter_map(|one| panel(one, name)).take(PANELS_MAX).collect();
    if panels.is_empty() {
        return None;
    }
    Some(Chart {
        name: file_name(&format!("repeats-by-{name}")),
        title: format!("Repeats by {name}"),
        caption: format!(
            "Rate of each repeat compared with that of its load point, in %, by {name}. With five \
             repeats or more: box from the first to the third quartile, median, and whiskers to \
             the lowest and highest; with fewer: each repeat as a point."
        ),
        // The table of runs has the rate of each.
        alternative: Alternative::Caption,
        layout: Layout::Grid(panels.len().min(COLUMNS_MAX)),
        panels,
        colours: colours(shown),
    })
}

fn panel(one: &ShownCurve<'_>, name: &str) -> Option<Panel> {
    let points = &one.curve.points;
    if points.len() > LOADS_MAX {
        return None;
    }
    let (mut boxes, mut separate) = (Vec::new(), Vec::new());
    for (index, point) in points.iter().enumerate() {
        let spread = one.findings.load_points[point.load_point].repeat_spread();
        let Some(spread) = spread else { continue };
        match spread.quartiles_percent {
            Some(five) => boxes.push((index as f64, five)),
            None => separate.extend(
                spread.differences_percent.iter().map(|y| Point::at(index as f64, Some(*y))),
            ),
        }
    }
    if boxes.is_empty() && separate.is_empty() {
        return None;
    }
    let mut series = Vec::new();
    let mut add = |shape: Shape| series.push(Series { name: one.name(), right: false, shape });
    if !separate.is_empty() {
        add(Shape::Line { points: separate, stroke: Stroke::Points });
    }
    if !boxes.is_empty() {
        add(Shape::Boxes(boxes));
    }
    let labels = points.iter().map(|point| point.label.clone()).collect();
    Some(Panel {
        title: one.name(),
        x: axis(name, Scale::Names(labels)),
        y: axis("difference, %", Scale::Span),
        series,
        ..Panel::default()
    })
}
