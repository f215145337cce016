//! One run over time: achieved rate, throughput, response time, and outstanding with processors
//! used, one below the other.

use analysis::series::{PointPhase, Series as OverTime, SeriesPoint};

use super::{BYTES_PER_MIB, NS_PER_US, axis};
use crate::chart::{Alternative, Chart, Panel, Point, Scale, Series, Shape, Stroke};

/// Fewer points than this have symbols.
const SYMBOLS_BELOW: usize = 60;

/// What a point is made of.
type Reading = fn(&SeriesPoint) -> Option<f64>;

/// The streams of a run.
pub(crate) fn over_time(
    streams: &[&OverTime],
    name: String,
    title: String,
    caption: String,
) -> Chart {
    let rate: Reading = |p| Some(p.achieved_rate);
    let throughput: Reading = |p| Some(p.throughput / BYTES_PER_MIB);
    let mean: Reading = |p| p.response_mean_ns.map(|ns| ns / NS_PER_US);
    let p99: Reading = |p| p.response_p99_ns.map(|ns| ns as f64 / NS_PER_US);
    let outstanding: Reading = |p| Some(p.outstanding_mean);
    let mut panels = vec![
        panel(streams, axis("ops/s", Scale::Linear), &[(rate, false)]),
        panel(streams, axis("MiB/s", Scale::Linear), &[(throughput, false)]),
        panel(streams, axis("µs, p99 - -", Scale::Log(10)), &[(mean, false), (p99, true)]),
        panel(streams, axis("ops, CPUs", Scale::Linear), &[(outstanding, false)]),
    ];
    // The process has one CPU time, whatever the number of streams.
    if let (Some(stream), Some(panel)) = (streams.first(), panels.last_mut()) {
        let used = of_stream(stream, "processors used".to_owned(), |p| Some(p.cpu_used), false);
        panel.series.push(used);
        panel.x.name = "seconds from the run's start".to_owned();
    }
    Chart { name, title, caption, panels, alternative: Alternative::Caption }
}

fn panel(streams: &[&OverTime], y: crate::chart::Axis, readings: &[(Reading, bool)]) -> Panel {
    // Lines of one name have one colour: all of a stream's are told from another stream's at a
    // glance.
    let series = readings.iter().flat_map(|(reading, dashed)| {
        streams.iter().map(|stream| of_stream(stream, stream.stream.clone(), *reading, *dashed))
    });
    Panel {
        x: axis("", Scale::Linear),
        y,
        series: series.collect(),
        shades: streams.first().map(|stream| unmeasured(stream)).unwrap_or_default(),
        ..Panel::default()
    }
}

fn of_stream(stream: &OverTime, name: String, reading: Reading, dashed: bool) -> Series {
    let points = stream.points.iter().map(|p| Point::at(seconds(p.end_ns), reading(p)));
    let stroke = match (dashed, stream.points.len() < SYMBOLS_BELOW) {
        (false, true) => Stroke::Solid,
        (false, false) => Stroke::Plain,
        (true, true) => Stroke::Dashed,
        (true, false) => Stroke::PlainDashed,
    };
    Series { name, right: false, shape: Shape::Line { points: points.collect(), stroke } }
}

/// Seconds with milliseconds.
fn seconds(ns: u64) -> f64 {
    (ns / 1_000_000) as f64 / 1e3
}

/// Stretches of time outside the window.
fn unmeasured(series: &OverTime) -> Vec<[f64; 2]> {
    let phases = series.points.chunk_by(|a, b| a.phase == b.phase);
    phases
        .filter(|points| points[0].phase != PointPhase::Measure)
        .map(|points| [seconds(points[0].start_ns), seconds(points[points.len() - 1].end_ns)])
        .collect()
}
