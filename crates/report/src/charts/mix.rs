//! The range from all reads to all writes, as in the published charts: reads at the left, writes at
//! the right, in every chart.

use analysis::curve::CurvePoint;
use analysis::fleet::MissingHosts;
use workload::op::OpKind;

use super::annotations::limits;
use super::loads::capitalized;
use super::quantity::Quantity;
use super::shown_curve::{
    ShownCurve, axis, colours, file_name, latency_axis, lost_hosts, names, unit,
};
use crate::drawing::{Axis, Chart, Panel, Point, Scale, Series, Shape, Stroke, ticks};
use crate::results::in_reading_order;

/// A stacked chart of rates and one of throughputs for each curve, and one of the response times of
/// all.
pub(super) fn charts(shown: &[ShownCurve<'_>], name: &str) -> Vec<Chart> {
    let stacks = shown.iter().flat_map(|one| {
        let quantities = [
            Quantity::rate(std::slice::from_ref(one)),
            Quantity::throughput(std::slice::from_ref(one)),
        ];
        quantities.map(|quantity| stacked(one, quantity))
    });
    let mut charts: Vec<Chart> = stacks.collect();
    charts.push(latency(shown, name));
    charts
}

/// The mixes of all curves from all reads to all writes, as they are published: `100/0`, `90/10`, …,
/// `0/100`.
struct Mixes(Vec<f64>);

impl Mixes {
    fn of(shown: &[ShownCurve<'_>]) -> Mixes {
        let points = shown.iter().flat_map(|one| &one.curve.points);
        let mut shares: Vec<f64> = points.map(|point| point.x).collect();
        shares.sort_by(|a, b| b.total_cmp(a));
        shares.dedup();
        Mixes(shares)
    }

    fn axis(&self) -> Axis {
        self.axis_with(|_| None)
    }

    /// The axis, with the hosts of the totals at a mix if some were lost.
    fn axis_with(&self, missing: impl Fn(f64) -> Option<MissingHosts>) -> Axis {
        let percent = |x: f64| ticks::label((x * 1000.0).round() / 10.0);
        let mix = |x: &f64| {
            let missing = missing(*x).map_or(String::new(), |missing| format!(" ({missing})"));
            format!("{}/{}{missing}", percent(*x), percent(1.0 - x))
        };
        axis("read/write mix, %", Scale::Names(self.0.iter().map(mix).collect()))
    }

    fn position(&self, share: f64) -> f64 {
        self.0.iter().position(|other| *other == share).unwrap_or(0) as f64
    }
}

/// A curve in the order of the axis.
fn lines(
    one: &ShownCurve<'_>,
    stroke: Stroke,
    point: impl Fn(&CurvePoint) -> Point,
) -> Vec<Series> {
    let mut all = one.lines(&one.name(), stroke, point);
    for series in &mut all {
        if let Shape::Line { points, .. } = &mut series.shape {
            points.reverse();
        }
    }
    all
}

/// Throughput or rate of all curves by the mix.
pub(super) fn by_mix(shown: &[ShownCurve<'_>], quantity: Quantity) -> Chart {
    let mixes = Mixes::of(shown);
    let lines = shown
        .iter()
        .flat_map(|one| lines(one, Stroke::Solid, |p| quantity.point(one, p, mixes.position(p.x))));
    let limits = limits(shown, quantity);
    let what = capitalized(quantity.name());
    Chart {
        name: file_name(&format!("range-{}", quantity.name())),
        title: format!("{what} from all reads to all writes"),
        caption: format!(
            "{what} in {} by read/write mix: {}. Whiskers: 95 % CI.{}{}",
            quantity.unit(),
            names(shown),
            lost_hosts(shown),
            limits.sentence
        ),
        panels: vec![Panel {
            x: mixes.axis(),
            y: quantity.axis(),
            series: lines.collect(),
            levels: limits.levels(),
            ..Panel::default()
        }],
        colours: colours(shown),
        ..Chart::default()
    }
}

fn stacked(one: &ShownCurve<'_>, quantity: Quantity) -> Chart {
    let shown = std::slice::from_ref(one);
    let mixes = Mixes::of(shown);
    let in_order = || in_reading_order(one.curve).into_iter();
    let kinds = [OpKind::Read, OpKind::Write].map(|kind| {
        let points = in_order().map(|point| {
            let ops = one.summary(point).total.kinds.iter().find(|ops| ops.name == kind.name());
            let value = ops.and_then(|ops| quantity.estimate(ops.achieved_rate, ops.throughput));
            Point::at(mixes.position(point.x), value.map(|value| value.value))
        });
        Series {
            name: kind.name().to_owned(),
            right: false,
            shape: Shape::Bars { points: points.collect(), stacked: true },
        }
    });
    let totals = in_order().map(|point| quantity.point(one, point, mixes.position(point.x)));
    let total = Series {
        name: "reads and writes".to_owned(),
        right: false,
        shape: Shape::Line { points: totals.collect(), stroke: Stroke::Points },
    };
    let limits = limits(shown, quantity);
    let missing = |share: f64| {
        let point = one.curve.points.iter().find(|point| point.x == share)?;
        one.missing_hosts(point)
    };
    let (what, name) = (capitalized(quantity.name()), one.name());
    Chart {
        name: file_name(&format!("range-{}-{name}", quantity.name())),
        title: format!("{what} from all reads to all writes: {name}"),
        caption: format!(
            "{what} in {} by read/write mix (reads at the bottom, writes stacked on top): {name}. \
             Whiskers: 95 % CI of both together.{}{}",
            quantity.unit(),
            lost_hosts(shown),
            limits.sentence
        ),
        panels: vec![Panel {
            x: mixes.axis_with(missing),
            y: quantity.axis(),
            series: kinds.into_iter().chain([total]).collect(),
            levels: limits.levels(),
            ..Panel::default()
        }],
        ..Chart::default()
    }
}

fn latency(shown: &[ShownCurve<'_>], name: &str) -> Chart {
    let (unit, mixes) = (unit(shown), Mixes::of(shown));
    let means = shown
        .iter()
        .flat_map(|one| lines(one, Stroke::Solid, |p| one.mean(p, mixes.position(p.x))));
    let p99s =
        shown.iter().flat_map(|one| lines(one, Stroke::Thin, |p| one.p99(p, mixes.position(p.x))));
    Chart {
        name: file_name(&format!("response-time-by-{name}")),
        title: "Latency from all reads to all writes".to_owned(),
        caption: format!(
            "Mean (thick) and p99 (thin) response time in {} by read/write mix: {}. Whiskers: 95 % \
             CI.{}",
            unit.symbol(),
            names(shown),
            lost_hosts(shown)
        ),
        panels: vec![Panel {
            x: mixes.axis(),
            y: latency_axis(unit),
            series: means.chain(p99s).collect(),
            ..Panel::default()
        }],
        colours: colours(shown),
        ..Chart::default()
    }
}
