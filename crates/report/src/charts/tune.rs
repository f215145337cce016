//! What a tuning measured on its way: rate and response time over the operations outstanding, with
//! the rate that was wanted.

use analysis::estimate::Estimate;
use analysis::tune::findings::{Tried, TuneFindings};

use super::{NS_PER_MS, axis};
use crate::chart::{Chart, Mark, Panel, Point, Scale, Series, Shape, Stroke};
use crate::number::plain;

/// The chart of a tuning; nothing where nothing was measured.
pub(super) fn tune(found: &TuneFindings) -> Option<Chart> {
    let (first, last) = (found.tried.first()?, found.tried.last()?);
    let line = |name: &str, right: bool, point: &dyn Fn(&Tried) -> Point| Series {
        name: name.to_owned(),
        right,
        shape: Shape::Line {
            points: found.tried.iter().map(point).collect(),
            stroke: Stroke::Solid,
        },
    };
    let at = |tried: &Tried, estimate: Estimate, unit: f64| {
        let half = estimate.uncertainty.map(|half| half / unit);
        Point::with_half_width(tried.outstanding as f64, Some(estimate.value / unit), half)
    };
    let ends = [first, last]
        .map(|tried| Point::at(tried.outstanding as f64, Some(found.wanted_ops_per_s)));
    let mut series = vec![
        line("achieved rate", false, &|tried| at(tried, tried.rate, 1.0)),
        line("mean response time", true, &|tried| at(tried, tried.response_ns, NS_PER_MS)),
        Series {
            name: "wanted".to_owned(),
            right: false,
            shape: Shape::Line { points: ends.to_vec(), stroke: Stroke::Dotted },
        },
    ];
    let mut said = format!(" Dotted: the rate wanted, {} ops/s.", plain(found.wanted_ops_per_s));
    let mut marks = Vec::new();
    if let Some(arithmetic) = &found.arithmetic {
        marks.push(Mark { name: "Little's law".to_owned(), x: arithmetic.outstanding });
        said.push_str(&format!(
            " Little's law with the time of one operation alone says {}.",
            plain(arithmetic.outstanding)
        ));
    }
    if let Some(enough) = found.outcome.enough() {
        let points = vec![Point::at(enough.outstanding as f64, Some(enough.rate.value))];
        series.push(Series {
            name: "least that is enough".to_owned(),
            right: false,
            shape: Shape::Line { points, stroke: Stroke::Rings },
        });
        said.push_str(&format!(" Ring: the least that is enough, {}.", enough.outstanding));
    }
    Some(Chart {
        name: "tuning".to_owned(),
        title: "Tuning: rate and response time by operations outstanding".to_owned(),
        caption: format!(
            "Achieved rate in ops/s (left) and mean response time in ms (right) by the operations \
             outstanding that the tuning tried.{said}"
        ),
        panels: vec![Panel {
            x: axis("operations outstanding", Scale::Log(2)),
            y: axis("achieved rate, ops/s", Scale::Linear),
            right: Some(axis("mean response time, ms", Scale::Linear)),
            series,
            marks,
            ..Panel::default()
        }],
        ..Chart::default()
    })
}
