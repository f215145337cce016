//! The throughput of load points by host or by target, stacked, and how it grows with their number.

use analysis::Findings;
use analysis::estimate::Estimate;
use analysis::load_point::Summary;
use analysis::scaling::Scaling;

use super::loads::capitalized;
use super::shown_curve::{axis, file_name};
use crate::drawing::{Chart, Panel, Point, Scale, Series, Shape, Stroke};
use crate::number::BYTES_PER_MIB;
use crate::results::{load_point_name, rate_unit};

/// Parts with different colours in one chart; the others are summed.
const PARTS_MAX: usize = 11;
/// Load points in one chart.
const LOAD_POINTS_MAX: usize = 24;

/// The charts that these findings have: none for one host and one target.
pub(super) fn charts(findings: &Findings) -> Vec<Chart> {
    let hosts = findings.fleet.as_ref().and_then(|fleet| {
        let of_point = |point: usize| -> Vec<(usize, &Summary)> {
            fleet.load_points[point].hosts.iter().map(|one| (one.host, &one.summary)).collect()
        };
        stacked(findings, "host", &fleet.hosts, &of_point)
    });
    let targets = findings.targets.as_ref().and_then(|targets| {
        let of_point = |point: usize| -> Vec<(usize, &Summary)> {
            targets.load_points[point].iter().map(|one| (one.target, &one.summary)).collect()
        };
        stacked(findings, "target", &targets.names, &of_point)
    });
    let scalings = findings.scalings.iter().map(|one| scaling(findings, one));
    hosts.into_iter().chain(targets).chain(scalings).filter(Chart::has_measurements).collect()
}

/// A bar for each load point with the throughput of each part on top of the one before it.
///
/// * `of_point` - the parts of the load point with this index, and what each measured
fn stacked<'a>(
    findings: &Findings,
    word: &str,
    names: &[String],
    of_point: &dyn Fn(usize) -> Vec<(usize, &'a Summary)>,
) -> Option<Chart> {
    if names.len() < 2 {
        return None;
    }
    let (what, unit) = quantity(findings);
    let all_points = findings.load_points.len();
    let count = all_points.min(LOAD_POINTS_MAX);
    let shown = if names.len() > PARTS_MAX { PARTS_MAX - 1 } else { names.len() };
    let throughput = |point: usize, parts: std::ops::Range<usize>| -> Option<f64> {
        if !findings.load_points[point].is_whole() {
            return None;
        }
        let of_points = of_point(point);
        let values = of_points.iter().filter(|(part, _)| parts.contains(part));
        let values = values.filter_map(|(_, summary)| Some(output(findings, summary)?.value));
        values.reduce(|sum, value| sum + value)
    };
    let series = |name: String, parts: std::ops::Range<usize>| {
        let point = |at: usize| Point::at(at as f64, throughput(at, parts.clone()));
        let points = (0..count).map(point).collect();
        Series { name, right: false, shape: Shape::Bars { points, stacked: true } }
    };
    let mut all: Vec<Series> =
        (0..shown).map(|part| series(names[part].clone(), part..part + 1)).collect();
    if shown < names.len() {
        all.push(series(format!("{} others", names.len() - shown), shown..names.len()));
    }
    let points = findings.load_points[..count].iter().map(load_point_name).collect();
    let left_out = match all_points > count {
        true => format!(" The first {count} of {all_points} load points."),
        false => String::new(),
    };
    Some(Chart {
        name: file_name(&format!("stacked-by-{word}")),
        title: format!("{} by {word}", capitalized(what)),
        caption: format!(
            "{} in {unit} of each {word}, the first at the bottom. The height of a bar is the sum \
             over all {word}s. Load points without lost hosts only.{left_out}",
            capitalized(what)
        ),
        panels: vec![Panel {
            x: axis("load point", Scale::Names(points)),
            y: axis(&format!("{what}, {unit}"), Scale::Linear),
            series: all,
            ..Panel::default()
        }],
        ..Chart::default()
    })
}

/// What the charts are about: bytes or, with operations on names, operations; with the unit.
fn quantity(findings: &Findings) -> (&'static str, &'static str) {
    if findings.is_on_names() { ("rate", rate_unit(true)) } else { ("throughput", "MiB/s") }
}

/// The [`quantity`] of a part.
fn output(findings: &Findings, summary: &Summary) -> Option<Estimate> {
    let data = &summary.total.data;
    match findings.is_on_names() {
        true => data.achieved_rate,
        false => data.throughput.map(|one| one.scaled(1.0 / BYTES_PER_MIB)),
    }
}

/// Throughput by the number of hosts or targets, and what it would be if each added as much as the first.
fn scaling(findings: &Findings, scaling: &Scaling) -> Chart {
    // A total without lost hosts is not that of their number.
    let throughput = |point: usize| {
        let point = &findings.load_points[point];
        output(findings, &point.merged).filter(|_| point.is_whole())
    };
    let measured = scaling.points.iter().map(|point| {
        let value = throughput(point.load_point);
        let half = value.and_then(|value| value.uncertainty);
        Point::with_half_width(f64::from(point.count), value.map(|one| one.value), half)
    });
    let first = scaling.points.first();
    let of_one = first.and_then(|first| {
        Some(throughput(first.load_point)?.value / f64::from(first.count.max(1)))
    });
    let perfect = scaling.points.iter().map(|point| {
        let count = f64::from(point.count);
        Point::at(count, of_one.filter(|_| point.efficiency.is_some()).map(|one| one * count))
    });
    let line = |name: &str, points: Vec<Point>, stroke| Series {
        name: name.to_owned(),
        right: false,
        shape: Shape::Line { points, stroke },
    };
    let Scaling { counted, name, .. } = scaling;
    let (what, unit) = quantity(findings);
    Chart {
        name: file_name(&format!("scaling-{counted}-{name}")),
        title: format!("{} by number of {counted}: {name}", capitalized(what)),
        caption: format!(
            "{} in {unit} by number of {counted}: {name}. Dash-dotted: as much for each as with the \
             fewest {counted}, 100 % efficiency. Whiskers: 95 % CI. Load points without lost hosts only.",
            capitalized(what)
        ),
        panels: vec![Panel {
            x: axis(counted, Scale::Linear),
            y: axis(&format!("{what}, {unit}"), Scale::Linear),
            series: vec![
                line("100 % efficiency", perfect.collect(), Stroke::Model),
                line("measured", measured.collect(), Stroke::Solid),
            ],
            ..Panel::default()
        }],
        ..Chart::default()
    }
}
