//! The business metric: response time and achieved share of the offered rate by its value, with the
//! bounds of the criterion.

use analysis::estimate::Estimate;
use analysis::metric::{MetricFindings, MetricPoint, MetricSeries};

use super::shown_curve::{axis, file_name};
use crate::drawing::{
    Axis, Chart, Layout, Level, Mark, Panel, Point, Scale, Series, Shape, Stroke, ticks,
};
use crate::number::{TimeUnit, percent};
use crate::sections::metric::response_name;

/// The chart of a metric.
pub(super) fn metric(found: &MetricFindings) -> Chart {
    let metric = &found.metric;
    let response = response_name(metric.response_time);
    let by_value = || axis(&metric.name, Scale::Linear);
    let ceiling = metric.response_time_max_ns.map(|ns| ns as f64);
    let points = found.series.iter().flat_map(|series| &series.points);
    let unit = TimeUnit::of(points.filter_map(|point| point.response_ns).chain(ceiling));
    let least = f64::from(metric.rate_min_permille) / 1000.0;
    let times = Panel {
        x: by_value(),
        y: axis(&format!("{response}, {}", unit.symbol()), Scale::Log(10)),
        series: lines(found, &|point| Point {
            interval: point.response_interval_ns.map(|ends| ends.map(|ns| unit.scale(ns))),
            ..Point::at(point.value, point.response_ns.map(|ns| unit.scale(ns)))
        }),
        levels: ceiling
            .map(|ns| Level {
                name: format!("at most {}", unit.with_symbol(ns)),
                y: unit.scale(ns),
            })
            .into_iter()
            .collect(),
        marks: found.series.iter().filter_map(|series| largest(found, series)).collect(),
        ..Panel::default()
    };
    let in_percent = |share: Estimate| share.scaled(100.0);
    let rates = Panel {
        x: by_value(),
        y: Axis { name: "achieved of offered rate, %".to_owned(), scale: Scale::Linear },
        series: lines(found, &|point| {
            let share = point.rate_share.map(in_percent);
            // No share is below zero, however wide its interval is.
            let ends = share.and_then(|share| {
                let half = share.uncertainty?;
                Some([(share.value - half).max(0.0), share.value + half])
            });
            Point { interval: ends, ..Point::at(point.value, share.map(|share| share.value)) }
        }),
        levels: vec![Level { name: format!("at least {}", percent(least)), y: 100.0 * least }],
        ..Panel::default()
    };
    let bounds = match ceiling {
        Some(_) => "Dashed: what a load point needs to pass.",
        None => "Dashed: the share that a load point needs to pass.",
    };
    Chart {
        name: file_name(&format!("metric-{}", metric.name)),
        title: format!("Response time and achieved rate by {}", metric.name),
        caption: format!(
            "The {response} in {} (above) and the lowest share of the offered rate that a stream \
             achieved (below) by {}. {bounds} Bands and whiskers: 95 % CI.",
            unit.symbol(),
            metric.name
        ),
        panels: vec![times, rates],
        layout: Layout::Grid(1),
        ..Chart::default()
    }
}

fn lines(found: &MetricFindings, point: &dyn Fn(&MetricPoint) -> Point) -> Vec<Series> {
    let line = |series: &MetricSeries| Series {
        name: series.name.clone(),
        right: false,
        shape: Shape::Line {
            points: series.points.iter().map(point).collect(),
            stroke: Stroke::Solid,
        },
    };
    found.series.iter().map(line).collect()
}

/// The largest value that passes, as a named line.
fn largest(found: &MetricFindings, series: &MetricSeries) -> Option<Mark> {
    let value = series.value()?;
    let of = if found.series.len() > 1 { format!("{}: ", series.name) } else { String::new() };
    Some(Mark { name: format!("{of}{} passes", ticks::label(value)), x: value })
}
