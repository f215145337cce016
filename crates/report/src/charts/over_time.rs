//! The runs of a curve over time in panels: achieved rate, throughput if data was moved, response
//! time, and outstanding operations with processors used.

use analysis::series::{PointPhase, Series as OverTime, SeriesPoint};

use super::shown_curve::axis;
use crate::drawing::{Alternative, Axis, Chart, Mark, Panel, Point, Scale, Series, Shape, Stroke};
use crate::number::TimeUnit;

/// Lines with fewer points have symbols.
pub(super) const SYMBOLS_BELOW: usize = 60;

type Quantity<'q> = &'q dyn Fn(&SeriesPoint) -> Option<f64>;

/// A run in a chart of several.
pub(super) struct Segment<'a> {
    /// Where the run begins in the chart, in seconds.
    pub(super) start_s: f64,
    /// Its load; empty if that is the one of the run before it.
    pub(super) label: String,
    /// Its streams.
    pub(super) streams: Vec<&'a OverTime>,
}

impl Segment<'_> {
    /// Where the run ends in the chart, in seconds.
    pub(super) fn end_s(&self) -> f64 {
        let ends = self.streams.iter().filter_map(|stream| stream.points.last());
        self.start_s + ends.map(|point| seconds(point.end_ns)).fold(0.0, f64::max)
    }
}

/// The chart of a curve: its runs one after another, so that a sweep is one series.
///
/// * `colour` - that of the workload, if it has a single stream
/// * `rate_unit` - what operations per second are called
pub(super) fn over_time(
    runs: &[Segment<'_>],
    [name, title, caption]: [String; 3],
    unit: TimeUnit,
    (colour, rate_unit): (usize, &str),
) -> Chart {
    let rate: Quantity<'_> = &|p| Some(p.achieved_rate.get());
    let throughput: Quantity<'_> = &|p| Some(p.throughput.as_mib());
    let mean: Quantity<'_> = &|p| p.response_mean.map(|mean| unit.scale(mean.0));
    let p99: Quantity<'_> = &|p| p.response_p99_ns.map(|ns| unit.scale(ns as f64));
    let outstanding: Quantity<'_> = &|p| Some(p.outstanding_mean);
    let times = axis(&format!("p99 thin, {}", unit.symbol()), Scale::Log(10));
    let mut panels = vec![panel(runs, axis(rate_unit, Scale::Linear), &[(rate, false)])];
    if moves_data(runs) {
        panels.push(panel(runs, axis("MiB/s", Scale::Linear), &[(throughput, false)]));
    }
    panels.push(panel(runs, times, &[(mean, false), (p99, true)]));
    panels.push(panel(runs, axis("ops and CPUs", Scale::Linear), &[(outstanding, false)]));
    if let Some(panel) = panels.first_mut() {
        panel.series.extend(offered(runs));
        let labelled = runs.iter().filter(|run| !run.label.is_empty());
        let mark = |run: &Segment<'_>| Mark { name: run.label.clone(), x: run.start_s };
        let lost = runs.iter().filter_map(|run| {
            let missing = run.streams.first()?.missing_hosts?;
            Some(Mark { name: missing.to_string(), x: run.start_s + seconds(missing.from_ns) })
        });
        panel.marks = labelled.map(mark).chain(lost).collect();
    }
    // The CPU time is that of the process, so one stream's points have it.
    if let Some(panel) = panels.last_mut() {
        let used = of_stream(runs, 0, "processors used", &|p| Some(p.cpu_used), false);
        panel.series.push(used);
        panel.x.name = match runs.len() {
            1 => "seconds from the start of the run".to_owned(),
            _ => "seconds, runs one after another".to_owned(),
        };
    }
    let colours = match names(runs)[..] {
        [only] => vec![(only.to_owned(), colour)],
        _ => Vec::new(),
    };
    let alternative = Alternative::Caption;
    Chart { name, title, caption, panels, alternative, colours, ..Chart::default() }
}

/// Whether an operation of the runs moved data.
pub(super) fn moves_data(runs: &[Segment<'_>]) -> bool {
    let mut points = runs.iter().flat_map(|run| &run.streams).flat_map(|stream| &stream.points);
    points.any(|point| point.throughput.get() > 0.0)
}

/// The offered rates of the open streams, to compare with the achieved ones: bursts, and rates that
/// were not met.
fn offered(runs: &[Segment<'_>]) -> Vec<Series> {
    let rate: Quantity<'_> = &|p| p.offered_rate.map(|rate| rate.get());
    let is_open = |index: usize| {
        let streams = runs.iter().filter_map(|run| run.streams.get(index));
        streams.flat_map(|stream| &stream.points).any(|point| point.offered_rate.is_some())
    };
    let names = names(runs);
    let open = names.iter().enumerate().filter(|(index, _)| is_open(*index));
    let series = open.map(|(index, name)| {
        let name = match names.len() {
            1 => "offered".to_owned(),
            _ => format!("{name}, offered"),
        };
        let mut series = of_stream(runs, index, &name, rate, false);
        if let Shape::Line { stroke, .. } = &mut series.shape {
            *stroke = Stroke::Model;
        }
        series
    });
    series.collect()
}

/// The names of the streams, which all runs of a curve have.
fn names<'a>(runs: &[Segment<'a>]) -> Vec<&'a str> {
    let first = runs.first().map(|run| run.streams.as_slice()).unwrap_or_default();
    first.iter().map(|stream| stream.stream.as_str()).collect()
}

/// A panel with each quantity, thick or thin, of each stream.
fn panel(runs: &[Segment<'_>], y: Axis, quantities: &[(Quantity<'_>, bool)]) -> Panel {
    let names = names(runs);
    let series = quantities.iter().flat_map(|(quantity, is_p99)| {
        // Series of one name have one colour, so each stream has its own.
        let streams = names.iter().enumerate();
        streams.map(|(index, name)| of_stream(runs, index, name, *quantity, *is_p99))
    });
    Panel {
        x: axis("", Scale::Linear),
        y,
        series: series.collect(),
        shades: runs.iter().flat_map(unmeasured).collect(),
        ..Panel::default()
    }
}

/// A quantity of the stream with this index, with a gap between runs.
fn of_stream(
    runs: &[Segment<'_>],
    index: usize,
    name: &str,
    quantity: Quantity<'_>,
    is_p99: bool,
) -> Series {
    let mut points: Vec<Point> = Vec::new();
    for run in runs {
        let Some(stream) = run.streams.get(index) else { continue };
        if !points.is_empty() {
            points.push(Point::at(run.start_s, None));
        }
        let point = |p: &SeriesPoint| Point::at(run.start_s + seconds(p.end_ns), quantity(p));
        points.extend(stream.points.iter().map(point));
    }
    let stroke = match (is_p99, points.len() < SYMBOLS_BELOW) {
        (false, true) => Stroke::Solid,
        (false, false) => Stroke::Plain,
        (true, true) => Stroke::Thin,
        (true, false) => Stroke::PlainThin,
    };
    Series { name: name.to_owned(), right: false, shape: Shape::Line { points, stroke } }
}

/// Seconds to three decimals.
pub(super) fn seconds(ns: u64) -> f64 {
    (ns / 1_000_000) as f64 / 1e3
}

/// The times outside the windows of all streams.
fn unmeasured(run: &Segment<'_>) -> Vec<[f64; 2]> {
    let points = || run.streams.iter().flat_map(|stream| &stream.points);
    let measured = || points().filter(|point| point.phase == PointPhase::Measure);
    let (Some(begin), Some(end)) =
        (points().map(|point| point.start_ns).min(), points().map(|point| point.end_ns).max())
    else {
        return Vec::new();
    };
    let first = measured().map(|point| point.start_ns).min().unwrap_or(end);
    let last = measured().map(|point| point.end_ns).max().unwrap_or(end);
    let parts = [(begin, first), (last, end)].into_iter().filter(|(from, to)| from < to);
    parts.map(|part| <[u64; 2]>::from(part).map(|ns| run.start_s + seconds(ns))).collect()
}
