//! One run over time in four panels: achieved rate, throughput, response time, and outstanding
//! operations with processors used.

use analysis::series::{PointPhase, Series as OverTime, SeriesPoint};

use super::shown_curve::axis;
use crate::drawing::{Alternative, Axis, Chart, Panel, Point, Scale, Series, Shape, Stroke};
use crate::number::TimeUnit;

/// Lines with fewer points have symbols.
const SYMBOLS_BELOW: usize = 60;

type Quantity<'q> = &'q dyn Fn(&SeriesPoint) -> Option<f64>;

/// The chart of the streams of a run.
pub(super) fn over_time(
    streams: &[&OverTime],
    [name, title, caption]: [String; 3],
    unit: TimeUnit,
) -> Chart {
    let rate: Quantity<'_> = &|p| Some(p.achieved_rate.get());
    let throughput: Quantity<'_> = &|p| Some(p.throughput.as_mib());
    let mean: Quantity<'_> = &|p| p.response_mean.map(|mean| unit.scale(mean.0));
    let p99: Quantity<'_> = &|p| p.response_p99_ns.map(|ns| unit.scale(ns as f64));
    let outstanding: Quantity<'_> = &|p| Some(p.outstanding_mean);
    let times = axis(&format!("{}, p99 - -", unit.symbol()), Scale::Log(10));
    let mut panels = vec![
        panel(streams, axis("ops/s", Scale::Linear), &[(rate, false)]),
        panel(streams, axis("MiB/s", Scale::Linear), &[(throughput, false)]),
        panel(streams, times, &[(mean, false), (p99, true)]),
        panel(streams, axis("ops, CPUs", Scale::Linear), &[(outstanding, false)]),
    ];
    // The CPU time is that of the process, so one stream's points have it.
    if let (Some(stream), Some(panel)) = (streams.first(), panels.last_mut()) {
        let used = of_stream(stream, "processors used".to_owned(), &|p| Some(p.cpu_used), false);
        panel.series.push(used);
        panel.x.name = "seconds from the start of the run".to_owned();
    }
    Chart { name, title, caption, panels, alternative: Alternative::Caption }
}

/// A panel with each quantity, solid or dashed, of each stream.
fn panel(streams: &[&OverTime], y: Axis, quantities: &[(Quantity<'_>, bool)]) -> Panel {
    let series = quantities.iter().flat_map(|(quantity, dashed)| {
        // Series of one name have one colour, so each stream has its own.
        streams.iter().map(|stream| of_stream(stream, stream.stream.clone(), *quantity, *dashed))
    });
    Panel {
        x: axis("", Scale::Linear),
        y,
        series: series.collect(),
        shades: streams.first().map(|stream| unmeasured(stream)).unwrap_or_default(),
        ..Panel::default()
    }
}

fn of_stream(stream: &OverTime, name: String, quantity: Quantity<'_>, dashed: bool) -> Series {
    let points = stream.points.iter().map(|p| Point::at(seconds(p.end_ns), quantity(p)));
    let stroke = match (dashed, stream.points.len() < SYMBOLS_BELOW) {
        (false, true) => Stroke::Solid,
        (false, false) => Stroke::Plain,
        (true, true) => Stroke::Dashed,
        (true, false) => Stroke::PlainDashed,
    };
    Series { name, right: false, shape: Shape::Line { points: points.collect(), stroke } }
}

/// Seconds to three decimals.
fn seconds(ns: u64) -> f64 {
    (ns / 1_000_000) as f64 / 1e3
}

/// The times outside the window.
fn unmeasured(series: &OverTime) -> Vec<[f64; 2]> {
    let phases = series.points.chunk_by(|a, b| a.phase == b.phase);
    phases
        .filter(|points| points[0].phase != PointPhase::Measure)
        .map(|points| [seconds(points[0].start_ns), seconds(points[points.len() - 1].end_ns)])
        .collect()
}
