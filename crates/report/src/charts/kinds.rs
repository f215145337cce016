//! Operations on names over time by kind: rate and percentiles of each kind in one chart, and a heat
//! map for each kind.

use analysis::kinds_over_time::{KindOverTime, KindPoint, KindsOverTime};
use analysis::series::PointPhase;

use super::heat::heat;
use super::over_time::{SYMBOLS_BELOW, seconds};
use super::shown_curve::{axis, file_name};
use crate::drawing::{Alternative, Axis, Chart, Panel, Point, Scale, Series, Shape, Stroke};
use crate::number::TimeUnit;

/// The charts of a run; those of the kinds follow the one of all kinds together.
///
/// * `name` - the load point and repeat, in words
/// * `cells_max` - how many cells the heat maps may have together
pub(super) fn charts(
    found: &KindsOverTime,
    name: &str,
    unit: TimeUnit,
    cells_max: usize,
) -> Vec<Chart> {
    let mut charts = vec![over_time(found, name, unit)];
    let mut cells = 0;
    for one in &found.kinds {
        cells += one.heat.cells.len();
        if cells > cells_max {
            break;
        }
        let kind = one.kind.name();
        let file = file_name(&format!("heat-{kind}-{name}"));
        let title = format!("Response times of {kind} over time: {name}");
        charts.push(heat(&one.heat, [file, title, format!("{kind}: {name}.")], unit));
    }
    charts
}

/// Rate, median and p99 of each kind.
fn over_time(found: &KindsOverTime, name: &str, unit: TimeUnit) -> Chart {
    let time = |ns: Option<u64>| ns.map(|ns| unit.scale(ns as f64));
    let times = |what: &str| axis(&format!("{what}, {}", unit.symbol()), Scale::Log(10));
    let mut panels = vec![
        panel(found, axis("ops/s", Scale::Log(10)), &|p| {
            // A logarithmic axis has no zero.
            Some(p.achieved_rate.get()).filter(|rate| *rate > 0.0)
        }),
        panel(found, times("p50"), &|p| time(p.response_p50_ns)),
        panel(found, times("p99"), &|p| time(p.response_p99_ns)),
    ];
    if let Some(last) = panels.last_mut() {
        last.x.name = "seconds from the start of the run".to_owned();
    }
    let left_out = match found.left_out {
        0 => String::new(),
        more => format!(
            " The {} most frequent kinds of {}.",
            found.kinds.len(),
            found.kinds.len() + more
        ),
    };
    Chart {
        name: file_name(&format!("kinds-over-time-{name}")),
        title: format!("Kinds over time: {name}"),
        caption: format!(
            "Completed operations per second, median and 99th percentile of the response time in {} \
             of each kind over time (all logarithmic): {name}.{left_out} A percentile with fewer \
             than ten operations above it is a gap.",
            unit.symbol()
        ),
        panels,
        alternative: Alternative::Caption,
        ..Chart::default()
    }
}

fn panel(found: &KindsOverTime, y: Axis, value: &dyn Fn(&KindPoint) -> Option<f64>) -> Panel {
    let series = |one: &KindOverTime| {
        let points = one.points.iter().map(|p| Point::at(seconds(p.end_ns), value(p)));
        let points: Vec<Point> = points.collect();
        let stroke = if points.len() < SYMBOLS_BELOW { Stroke::Solid } else { Stroke::Plain };
        Series {
            name: one.kind.name().to_owned(),
            right: false,
            shape: Shape::Line { points, stroke },
        }
    };
    Panel {
        x: axis("", Scale::Linear),
        y,
        series: found.kinds.iter().map(series).collect(),
        shades: shades(found),
        ..Panel::default()
    }
}

/// The times before and after the window.
fn shades(found: &KindsOverTime) -> Vec<[f64; 2]> {
    let Some(points) = found.kinds.first().map(|one| &one.points) else { return Vec::new() };
    let of_phase = |phase: PointPhase| {
        let mut same = points.iter().filter(move |point| point.phase == phase);
        let first = same.next()?;
        let last = same.next_back().unwrap_or(first);
        Some([seconds(first.start_ns), seconds(last.end_ns)])
    };
    [PointPhase::WarmUp, PointPhase::CoolDown].into_iter().filter_map(of_phase).collect()
}
