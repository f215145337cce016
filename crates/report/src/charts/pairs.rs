//! Bars side by side: the same workload with and without a setting (above all nconnect), or on
//! several systems.

use analysis::curve::CurvePoint;

use super::annotations::limits;
use super::loads::capitalized;
use super::quantity::Quantity;
use super::shown_curve::{ShownCurve, axis, file_name, last_part, lost_hosts};
use crate::drawing::{Chart, Panel, Scale, Series, Shape};

/// More workloads do not fit side by side.
const WORKLOADS_MAX: usize = 16;
/// More bars of one workload cannot be compared by eye.
const BARS_MAX: usize = 8;

/// A load point of a workload.
struct Bar<'a> {
    /// Its name, with the hosts of its totals if some were lost.
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
        charts.extend(of_bars("record", &bars_by_record(shown), shown));
    }
    if series(&by_connections).len() > 1 {
        charts.extend(of_bars("nconnect", &by_connections, shown));
    } else if single && !several && shown.len() > 1 {
        charts.extend(Quantity::by_importance(shown).into_iter().map(|q| of_workloads(shown, q)));
    }
    charts
}

/// The highest value of each workload as a bar.
pub(super) fn of_workloads(shown: &[ShownCurve<'_>], quantity: Quantity) -> Chart {
    let bars: Vec<Bar<'_>> = shown.iter().filter_map(|one| bar(one, String::new())).collect();
    chart("workload", &bars, shown, quantity)
}

fn bar<'a>(one: &ShownCurve<'a>, series: String) -> Option<Bar<'a>> {
    let point = one.highest()?;
    Some(Bar { workload: labelled(one, point, &one.curve.name), series, one: *one, point })
}

fn labelled(one: &ShownCurve<'_>, point: &CurvePoint, workload: &str) -> String {
    match one.missing_hosts(point) {
        Some(missing) => format!("{workload} ({missing})"),
        None => workload.to_owned(),
    }
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
            let workload = labelled(one, point, &load_point.variant);
            bars.push(Bar { workload, series, one: *one, point });
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
fn of_bars(by: &str, bars: &[Bar<'_>], shown: &[ShownCurve<'_>]) -> Vec<Chart> {
    let workloads = each_once(bars.iter().map(|bar| bar.workload.as_str()));
    if bars.is_empty() || workloads.len() > WORKLOADS_MAX || series(bars).len() > BARS_MAX {
        return Vec::new();
    }
    let quantities = Quantity::by_importance(shown).into_iter();
    quantities.map(|quantity| chart(by, bars, shown, quantity)).collect()
}

fn chart(by: &str, bars: &[Bar<'_>], shown: &[ShownCurve<'_>], quantity: Quantity) -> Chart {
    // A workload with one load point has no highest.
    let is_highest = bars.iter().any(|bar| bar.one.curve.points.len() > 1);
    let workloads = each_once(bars.iter().map(|bar| bar.workload.as_str()));
    let drawn = series(bars).into_iter().map(|name| {
        let of_series = bars.iter().filter(|bar| bar.series == name);
        let points = of_series.map(|bar| {
            let index = workloads.iter().position(|name| *name == bar.workload).unwrap_or(0);
            quantity.point(&bar.one, bar.point, index as f64)
        });
        let name = match name {
            "" if is_highest => format!("highest {}", quantity.name()),
            "" => quantity.name().to_owned(),
            name => name.to_owned(),
        };
        let points = points.collect();
        Series { name, right: false, shape: Shape::Bars { points, stacked: false } }
    });
    let limits = limits(shown, quantity);
    let named = bars.iter().filter(|bar| bar.one.missing_hosts(bar.point).is_some());
    let named: Vec<ShownCurve<'_>> = named.map(|bar| bar.one).collect();
    let what = quantity.name();
    let (title, of_each) = match is_highest {
        true => (format!("Highest {what}"), " over its load points, which the results list"),
        false => (capitalized(what), ""),
    };
    Chart {
        name: file_name(&format!("highest-{what}-by-{by}")),
        title: format!("{title} by {by}"),
        caption: format!(
            "{title} in {} of each workload{of_each}. Whiskers: 95 % CI.{}{}",
            quantity.unit(),
            lost_hosts(&named),
            limits.sentence
        ),
        panels: vec![Panel {
            x: axis("", Scale::Names(workloads.iter().map(|w| (*w).to_owned()).collect())),
            y: quantity.axis(),
            series: drawn.collect(),
            levels: limits.levels(),
            ..Panel::default()
        }],
        ..Chart::default()
    }
}
