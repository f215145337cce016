//! Bars side by side: the same workload with and without something (nconnect above all), or on
//! several systems.

use super::{Shown, axis, file_name, highest};
use crate::chart::{Chart, Panel, Point, Scale, Series, Shape};

/// More workloads than this do not fit side by side.
const WORKLOADS_MAX: usize = 16;
/// More bars than this beside each other are no pairs.
const BARS_MAX: usize = 8;

/// One bar: a workload, what sets it apart, and its curve's load point.
struct Bar<'a> {
    workload: String,
    apart: String,
    one: Shown<'a>,
    point: &'a analysis::curve::CurvePoint,
}

/// Pairs by record where there are several, by `nconnect` where it differs; else, where nothing was
/// swept, the workloads beside each other.
pub(super) fn pairs(shown: &[Shown<'_>]) -> Vec<Chart> {
    let several = shown.iter().any(|one| one.record.is_some());
    let by_connections = bars_by_connections(shown);
    let single = !shown.is_empty() && shown.iter().all(|one| one.curve.points.len() == 1);
    let mut charts = Vec::new();
    if several {
        charts.extend(of_bars("record", &bars_by_record(shown)));
    }
    if differing(&by_connections) > 1 {
        charts.extend(of_bars("nconnect", &by_connections));
    } else if single && !several && shown.len() > 1 {
        let bars: Vec<Bar<'_>> = shown.iter().filter_map(|one| bar(one, String::new())).collect();
        charts.extend(of_bars("workload", &bars));
    }
    charts
}

fn bar<'a>(one: &Shown<'a>, apart: String) -> Option<Bar<'a>> {
    Some(Bar { workload: one.curve.name.clone(), apart, one: *one, point: highest(one)? })
}

fn bars_by_record<'a>(shown: &[Shown<'a>]) -> Vec<Bar<'a>> {
    let bars = shown.iter().map(|one| bar(one, one.record.unwrap_or_default().to_owned()));
    bars.flatten().collect()
}

/// Load points that say how many connections they had: along the axis each, else the highest of
/// each curve.
fn bars_by_connections<'a>(shown: &[Shown<'a>]) -> Vec<Bar<'a>> {
    let is_key = |key: &str| super::last_word(key) == "nconnect";
    let mut bars = Vec::new();
    for one in shown {
        let points: Vec<&analysis::curve::CurvePoint> = match is_key(&one.curve.axis) {
            true => one.curve.points.iter().collect(),
            false => highest(one).into_iter().collect(),
        };
        for point in points {
            let load_point = &one.findings.load_points[point.load_point];
            let count = load_point.parameters.iter().find(|(key, _)| is_key(key));
            let Some((_, count)) = count else { continue };
            let apart = match one.record {
                Some(record) => format!("{record}, nconnect {count}"),
                None => format!("nconnect {count}"),
            };
            bars.push(Bar { workload: load_point.variant.clone(), apart, one: *one, point });
        }
    }
    bars
}

fn differing(bars: &[Bar<'_>]) -> usize {
    let mut apart: Vec<&str> = bars.iter().map(|bar| bar.apart.as_str()).collect();
    apart.sort_unstable();
    apart.dedup();
    apart.len()
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

/// Two charts, of throughputs and of rates, with a group of bars for each workload.
fn of_bars(by: &str, bars: &[Bar<'_>]) -> Vec<Chart> {
    let workloads = each_once(bars.iter().map(|bar| bar.workload.as_str()));
    let apart = each_once(bars.iter().map(|bar| bar.apart.as_str()));
    if bars.is_empty() || workloads.len() > WORKLOADS_MAX || apart.len() > BARS_MAX {
        return Vec::new();
    }
    let chart = |what: &str, unit: &str, value: &dyn Fn(&Bar<'_>, f64) -> Point| {
        let series = apart.iter().map(|apart| {
            let mine = bars.iter().filter(|bar| bar.apart == *apart);
            let points = mine.map(|bar| {
                let place = workloads.iter().position(|name| *name == bar.workload);
                value(bar, place.unwrap_or(0) as f64)
            });
            let name =
                if apart.is_empty() { format!("highest, {unit}") } else { (*apart).to_owned() };
            let points = points.collect();
            Series { name, right: false, shape: Shape::Bars { points, stacked: false } }
        });
        Chart {
            name: file_name(&format!("highest-{what}-by-{by}")),
            title: format!("Highest {what} by {by}"),
            caption: format!(
                "Highest {what} in {unit} of each workload, at the load point where it is; the \
                 results name it."
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
