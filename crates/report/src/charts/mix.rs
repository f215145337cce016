//! The range from all reads to all writes, stacked, as in the published charts.

use workload::op::OpKind;

use super::{BYTES_PER_MIB, NS_PER_MS, Shown, axis, file_name, line};
use crate::chart::{Chart, Panel, Point, Scale, Series, Shape, Stroke};

/// A chart of rates and one of throughputs for each curve, and the response times of all.
pub(super) fn charts(shown: &[Shown<'_>], name: &str) -> Vec<Chart> {
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

/// Mixes from all reads on, as they are published: `100/0`, `90/10`, …, `0/100`.
fn mixes(one: &Shown<'_>) -> Vec<String> {
    let percent = |x: f64| crate::chart::ticks::label((x * 1000.0).round() / 10.0);
    one.curve
        .points
        .iter()
        .rev()
        .map(|p| format!("{}/{}", percent(p.x), percent(1.0 - p.x)))
        .collect()
}

fn stacked(one: &Shown<'_>, quantity: Quantity) -> Chart {
    let series = [OpKind::Read, OpKind::Write].map(|kind| {
        let points = one.curve.points.iter().rev().enumerate().map(|(place, point)| {
            let ops = one.summary(point).total.kinds.iter().find(|ops| ops.name == kind.name());
            let y = ops.and_then(|ops| match quantity {
                Quantity::Rate => ops.achieved_rate.map(|rate| rate.value),
                Quantity::Throughput => ops.throughput.map(|t| t.value / BYTES_PER_MIB),
            });
            Point::at(place as f64, y)
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
            "{what} in {unit} by the mix of reads and writes, reads below and writes upon them: \
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

fn response_time(shown: &[Shown<'_>], name: &str) -> Chart {
    let percent = |x: f64| (1000.0 * x).round() / 10.0;
    let means = shown
        .iter()
        .map(|one| line(one, one.name(), Stroke::Solid, |p| one.mean(p, percent(p.x), NS_PER_MS)));
    let p99s = shown
        .iter()
        .map(|one| line(one, one.name(), Stroke::Dashed, |p| one.p99(p, percent(p.x), NS_PER_MS)));
    Chart {
        name: file_name(&format!("response-time-by-{name}")),
        title: "Response time by the share of reads".to_owned(),
        caption: format!(
            "Mean (solid) and p99 (dashed) response time in ms by the share of reads: {}.",
            super::names(shown)
        ),
        panels: vec![Panel {
            x: axis("reads, %", Scale::Linear),
            y: axis("response time, ms", Scale::Linear),
            series: means.chain(p99s).collect(),
            ..Panel::default()
        }],
        ..Chart::default()
    }
}
