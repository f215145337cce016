//! The range from all reads to all writes, stacked, as in the published charts.

use workload::op::OpKind;

use super::shown_curve::{ShownCurve, axis, file_name, names, unit};
use crate::drawing::{Chart, Panel, Point, Scale, Series, Shape, Stroke, ticks};
use crate::number::BYTES_PER_MIB;

/// A chart of rates and one of throughputs for each curve, and one of the response times of all.
pub(super) fn charts(shown: &[ShownCurve<'_>], name: &str) -> Vec<Chart> {
    let mut charts: Vec<Chart> = shown
        .iter()
        .flat_map(|one| [stacked(one, Quantity::Rate), stacked(one, Quantity::Throughput)])
        .collect();
    charts.push(response_time(shown, name));
    charts
}

#[derive(Clone, Copy)]
enum Quantity {
    Rate,
    Throughput,
}

/// Mixes from all reads to all writes, as they are published: `100/0`, `90/10`, …, `0/100`.
fn mixes(one: &ShownCurve<'_>) -> Vec<String> {
    let percent = |x: f64| ticks::label((x * 1000.0).round() / 10.0);
    one.curve
        .points
        .iter()
        .rev()
        .map(|p| format!("{}/{}", percent(p.x), percent(1.0 - p.x)))
        .collect()
}

fn stacked(one: &ShownCurve<'_>, quantity: Quantity) -> Chart {
    let series = [OpKind::Read, OpKind::Write].map(|kind| {
        let points = one.curve.points.iter().rev().enumerate().map(|(index, point)| {
            let ops = one.summary(point).total.kinds.iter().find(|ops| ops.name == kind.name());
            let y = ops.and_then(|ops| match quantity {
                Quantity::Rate => ops.achieved_rate.map(|rate| rate.value),
                Quantity::Throughput => ops.throughput.map(|t| t.value / BYTES_PER_MIB),
            });
            Point::at(index as f64, y)
        });
        Series {
            name: kind.name().to_owned(),
            right: false,
            shape: Shape::Bars { points: points.collect(), stacked: true },
        }
    });
    let (unit, what) = match quantity {
        Quantity::Rate => ("ops/s", "Achieved rate"),
        Quantity::Throughput => ("MiB/s", "Throughput"),
    };
    let name = one.name();
    Chart {
        name: file_name(&format!("range-{unit}-{name}")),
        title: format!("{what} from all reads to all writes: {name}"),
        caption: format!(
            "{what} in {unit} by read/write mix (reads at the bottom, writes stacked on top): \
             {name}."
        ),
        panels: vec![Panel {
            x: axis("read/write, %", Scale::Names(mixes(one))),
            y: axis(&format!("{}, {unit}", what.to_lowercase()), Scale::Linear),
            series: series.into(),
            ..Panel::default()
        }],
        ..Chart::default()
    }
}

fn response_time(shown: &[ShownCurve<'_>], name: &str) -> Chart {
    let unit = unit(shown).symbol();
    let percent = |x: f64| (1000.0 * x).round() / 10.0;
    let means =
        shown.iter().map(|one| one.line(one.name(), Stroke::Solid, |p| one.mean(p, percent(p.x))));
    let p99s =
        shown.iter().map(|one| one.line(one.name(), Stroke::Dashed, |p| one.p99(p, percent(p.x))));
    Chart {
        name: file_name(&format!("response-time-by-{name}")),
        title: "Response time by share of reads".to_owned(),
        caption: format!(
            "Mean (solid) and p99 (dashed) response time in {unit} by share of reads: {}.",
            names(shown)
        ),
        panels: vec![Panel {
            x: axis("reads, %", Scale::Linear),
            y: axis(&format!("response time, {unit}"), Scale::Linear),
            series: means.chain(p99s).collect(),
            ..Panel::default()
        }],
        ..Chart::default()
    }
}
