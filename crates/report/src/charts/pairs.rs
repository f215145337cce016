//! Bars side by side: the same workload with and without a setting (above all nconnect), or on
//! several systems.

use analysis::curve::CurvePoint;

use super::shown_curve::{ShownCurve, axis, file_name, last_part};
use crate::drawing::{Chart, Panel, Point, Scale, Series, Shape};

/// More workloads do not fit side by side.
const WORKLOADS_MAX: usize = 16;
/// More bars of one workload cannot be compared by eye.
const BARS_MAX: usize = 8;

/// A load point of a workload.
struct Bar<'a> {
    workload: String,
    /// The record or setting that distinguishes it from other bars of the workload.
    series: String,
    one: ShownCurve<'a>,
    point: &'a CurvePoint,
}

/// Pairs by record if there are several, and by `nconnect` if it differs; otherwise, if nothing was
/// swept, the workloads side by side.
pub(super) fn pairs(shown: &[ShownCurve<'_>]) -> Vec<Chart> {
    let several = shown.iter().any(|one| one.record.is_some());
    let by_connections = bars_by_connections(shown);
    let single = !shown.is_empty() && shown.iter().all(|one| one.curve.points.len() == 1);
    let mut charts = Vec::new();
    if several {
        charts.extend(of_bars("record", &bars_by_record(shown)));
    }
    if series(&by_connections).len() > 1 {
        charts.extend(of_bars("nconnect", &by_connections));
    } else if single && !several && shown.len() > 1 {
        let bars: Vec<Bar<'_>> = shown.iter().filter_map(|one| bar(one, String::new())).collect();
        charts.extend(of_bars("workload", &bars));
    }
    charts
}

fn bar<'a>(one: &ShownCurve<'a>, series: String) -> Option<Bar<'a>> {
    Some(Bar { workload: one.curve.name.clone(), series, one: *one, point: one.highest()? })
}

fn bars_by_record<'a>(shown: &[ShownCurve<'a>]) -> Vec<Bar<'a>> {
    let bars = shown.iter().map(|one| bar(one, one.record.unwrap_or_default().to_owned()));
    bars.flatten().collect()
}

/// Load points with a known number of connections: all of a curve along that number, the highest of
/// other curves.
fn bars_by_connections<'a>(shown: &[ShownCurve<'a>]) -> Vec<Bar<'a>> {
    let is_key = |key: &str| last_part(key) == "nconnect";
    let mut bars = Vec::new();
    for one in shown {
        let points: Vec<&CurvePoint> = match is_key(&one.curve.axis) {
            true => one.curve.points.iter().collect(),
            false => one.highest().into_iter().collect(),
        };
        for point in points {
            let load_point = &one.findings.load_points[point.load_point];
            let count = load_point.parameters.iter().find(|(key, _)| is_key(key));
            let Some((_, count)) = count else { continue };
            let series = match one.record {
                Some(record) => format!("{record}, nconnect {count}"),
                None => format!("nconnect {count}"),
            };
            bars.push(Bar { workload: load_point.variant.clone(), series, one: *one, point });
        }
    }
    bars
}

fn series<'a>(bars: &'a [Bar<'_>]) -> Vec<&'a str> {
    each_once(bars.iter().map(|bar| bar.series.as_str()))
}

fn each_once<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// A chart of throughputs and one of rates, with a group of bars for each workload.
fn of_bars(by: &str, bars: &[Bar<'_>]) -> Vec<Chart> {
    let workloads = each_once(bars.iter().map(|bar| bar.workload.as_str()));
    let names = series(bars);
    if bars.is_empty() || workloads.len() > WORKLOADS_MAX || names.len() > BARS_MAX {
        return Vec::new();
    }
    let chart = |what: &str, unit: &str, value: &dyn Fn(&Bar<'_>, f64) -> Point| {
        let series = names.iter().map(|name| {
            let of_series = bars.iter().filter(|bar| bar.series == *name);
            let points = of_series.map(|bar| {
                let index = workloads.iter().position(|name| *name == bar.workload);
                value(bar, index.unwrap_or(0) as f64)
            });
            let name =
                if name.is_empty() { format!("highest, {unit}") } else { (*name).to_owned() };
            let points = points.collect();
            Series { name, right: false, shape: Shape::Bars { points, stacked: false } }
        });
        Chart {
            name: file_name(&format!("highest-{what}-by-{by}")),
            title: format!("Highest {what} by {by}"),
            caption: format!(
                "Highest {what} in {unit} of each workload over its load points, which the results \
                 list."
            ),
            panels: vec![Panel {
                x: axis("", Scale::Names(workloads.iter().map(|w| (*w).to_owned()).collect())),
                y: axis(&format!("{what}, {unit}"), Scale::Linear),
                series: series.collect(),
                ..Panel::default()
            }],
            ..Chart::default()
        }
    };
    vec![
        chart("throughput", "MiB/s", &|bar, x| bar.one.throughput(bar.point, x)),
        chart("rate", "ops/s", &|bar, x| bar.one.rate(bar.point, x)),
    ]
}
