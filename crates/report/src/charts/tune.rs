//! The measurements of a tuning: rate and response time by outstanding operations, with the required
//! rate.

use analysis::estimate::Estimate;
use analysis::tune::findings::{Tried, TuneFindings};

use super::shown_curve::axis;
use crate::drawing::{Chart, Level, Mark, Panel, Point, Scale, Series, Shape, Stroke};
use crate::number::{TimeUnit, plain};
use crate::results::rate_unit;

/// The chart of a tuning; `None` if nothing was measured.
pub(super) fn tune(found: &TuneFindings) -> Option<Chart> {
    found.tried.first()?;
    let line = |name: &str, right: bool, point: &dyn Fn(&Tried) -> Point| Series {
        name: name.to_owned(),
        right,
        shape: Shape::Line {
            points: found.tried.iter().map(point).collect(),
            stroke: Stroke::Solid,
        },
    };
    let unit = TimeUnit::of(found.tried.iter().map(|tried| tried.response_ns.value));
    let at = |tried: &Tried, estimate: Estimate, scale: &dyn Fn(f64) -> f64| {
        let half = estimate.uncertainty.map(scale);
        Point::with_half_width(tried.outstanding as f64, Some(scale(estimate.value)), half)
    };
    let mut series = vec![
        line("achieved rate", false, &|tried| at(tried, tried.rate, &|rate| rate)),
        line("mean response time", true, &|tried| {
            at(tried, tried.response_ns, &|ns| unit.scale(ns))
        }),
    ];
    let required = found.target_rate.get();
    let rate_unit = rate_unit(found.stream.is_on_names());
    let mut notes = format!(" Dashed: the required rate, {} {rate_unit}.", plain(required));
    let mut marks = Vec::new();
    if let Some(arithmetic) = &found.arithmetic {
        marks.push(Mark { name: "Little's law".to_owned(), x: arithmetic.outstanding });
        notes.push_str(&format!(
            " Little's law with the response time at queue depth 1 gives {}.",
            plain(arithmetic.outstanding)
        ));
    }
    if let Some(enough) = found.outcome.enough() {
        let points = vec![Point::at(enough.outstanding as f64, Some(enough.rate.value))];
        series.push(Series {
            name: "lowest sufficient".to_owned(),
            right: false,
            shape: Shape::Line { points, stroke: Stroke::Rings },
        });
        notes.push_str(&format!(" Ring: the lowest sufficient number, {}.", enough.outstanding));
    }
    Some(Chart {
        name: "tuning".to_owned(),
        title: "Tuning: rate and response time by outstanding operations".to_owned(),
        caption: format!(
            "Achieved rate in {rate_unit} (left) and mean response time in {} (right) by the numbers of \
             outstanding operations that were measured.{notes}",
            unit.symbol()
        ),
        panels: vec![Panel {
            x: axis("outstanding operations", Scale::Log(2)),
            y: axis(&format!("achieved rate, {rate_unit}"), Scale::Linear),
            right: Some(axis(&format!("mean response time, {}", unit.symbol()), Scale::Linear)),
            series,
            marks,
            levels: vec![Level {
                name: format!("required rate, {} {rate_unit}", plain(required)),
                y: required,
            }],
            ..Panel::default()
        }],
        ..Chart::default()
    })
}
