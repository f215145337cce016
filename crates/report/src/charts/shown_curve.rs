//! A curve in a chart: its name, its points, and the series made of them.

use analysis::Findings;
use analysis::curve::{Curve, CurvePoint, MIXED_LOAD, OFFERED_RATE, QUEUE_DEPTH};
use analysis::fleet::MissingHosts;
use analysis::load_point::{OpSummary, Summary};
use analysis::sample::Load;

use crate::drawing::{Axis, Point, Scale, Series, Shape, Stroke};
use crate::number::TimeUnit;
use crate::results::response_times_ns;

/// A line with more points has no symbols.
const SYMBOLS_MAX: usize = 60;

/// A curve among those that are shown together.
#[derive(Clone, Copy)]
pub(crate) struct ShownCurve<'a> {
    /// The label of its record, if curves of several records are shown.
    pub(crate) record: Option<&'a str>,
    /// The findings that contain it.
    pub(crate) findings: &'a Findings,
    pub(crate) curve: &'a Curve,
    /// The unit of times, common to all curves shown together.
    pub(crate) unit: TimeUnit,
}

impl<'a> ShownCurve<'a> {
    /// All curves of one record.
    pub(crate) fn of(findings: &'a Findings) -> Vec<ShownCurve<'a>> {
        let unit = chart_unit(&[findings]);
        let shown = |curve| ShownCurve { record: None, findings, curve, unit };
        findings.curves.iter().map(shown).collect()
    }

    /// All curves of several records, with the records' labels.
    pub(crate) fn of_all(records: &[&'a Findings], labels: &'a [String]) -> Vec<ShownCurve<'a>> {
        let unit = chart_unit(records);
        let of_record = |(findings, label): (&&'a Findings, &'a String)| {
            let (findings, record) = (*findings, Some(label.as_str()));
            findings.curves.iter().map(move |curve| ShownCurve { record, findings, curve, unit })
        };
        records.iter().zip(labels).flat_map(of_record).collect()
    }

    /// Its name in legends and captions.
    pub(super) fn name(&self) -> String {
        match self.record {
            Some(record) => format!("{record}: {}", self.curve.name),
            None => self.curve.name.clone(),
        }
    }

    /// Its name among the curves of its workload: of several records, without the workload.
    pub(super) fn name_without_variant(&self) -> String {
        match (self.record, self.variant()) {
            (Some(record), Some(variant)) => {
                let parameters = self.curve.name.strip_prefix(variant);
                format!("{record}{}", parameters.unwrap_or(&self.curve.name))
            }
            _ => self.name(),
        }
    }

    /// Its workload variant.
    pub(super) fn variant(&self) -> Option<&'a str> {
        let first = self.curve.points.first()?;
        Some(&self.findings.load_points[first.load_point].variant)
    }

    /// The load point with the highest rate.
    pub(super) fn highest(&self) -> Option<&'a CurvePoint> {
        self.curve.most.and_then(|index| self.curve.points.get(index))
    }

    /// The window of a point.
    pub(super) fn summary(&self, point: &CurvePoint) -> &'a Summary {
        &self.findings.load_points[point.load_point].merged
    }

    /// Reads and writes of a point.
    pub(super) fn data(&self, point: &CurvePoint) -> &'a OpSummary {
        &self.summary(point).total.data
    }

    /// Whether most operations of one of its points are on names.
    pub(super) fn is_on_names(&self) -> bool {
        self.curve.points.iter().any(|point| self.summary(point).total.is_on_names())
    }

    /// Mean response time at a point, in the curve's unit.
    pub(super) fn mean(&self, point: &CurvePoint, x: f64) -> Point {
        let mean = self.data(point).response.mean_ns;
        let half = mean.and_then(|m| m.uncertainty).map(|half| self.unit.scale(half));
        Point::with_half_width(x, mean.map(|m| self.unit.scale(m.value)), half)
    }

    /// The 99th percentile of the response time at a point, in the curve's unit.
    pub(super) fn p99(&self, point: &CurvePoint, x: f64) -> Point {
        let p99 = self.data(point).response.percentile(0.99);
        let value = p99.and_then(|p| p.value_ns);
        let ends = p99.and_then(|p| p.interval_ns);
        Point {
            x,
            y: value.map(|ns| self.unit.scale(ns as f64)),
            interval: ends.map(|ends| ends.map(|ns| self.unit.scale(ns))),
            load: None,
        }
    }

    /// Hosts that are missing from the totals of a point.
    pub(super) fn missing_hosts(&self, point: &CurvePoint) -> Option<MissingHosts> {
        self.findings.load_points[point.load_point].missing_hosts
    }

    /// A line through `point` of each load point. Those with lost hosts are separate points with a name
    /// that has the hosts of their totals, so that a legend, a table and a tooltip show it.
    pub(super) fn lines(
        &self,
        name: &str,
        stroke: Stroke,
        point: impl Fn(&CurvePoint) -> Point,
    ) -> Vec<Series> {
        let points: Vec<Point> = self.curve.points.iter().map(&point).collect();
        let stroke = match stroke {
            Stroke::Solid if points.len() > SYMBOLS_MAX => Stroke::Plain,
            Stroke::Thin if points.len() > SYMBOLS_MAX => Stroke::PlainThin,
            stroke => stroke,
        };
        let of_all_hosts = |(at, point): (&CurvePoint, Point)| match self.missing_hosts(at) {
            Some(_) => Point { y: None, interval: None, ..point },
            None => point,
        };
        let line: Vec<Point> = self.curve.points.iter().zip(points).map(of_all_hosts).collect();
        let mut series = Vec::new();
        if line.iter().any(|point| point.y.is_some()) || !self.has_lost_hosts() {
            let shape = Shape::Line { points: line, stroke };
            series.push(Series { name: name.to_owned(), right: false, shape });
        }
        series.extend(self.of_fewer_hosts(name, stroke, point));
        series
    }

    /// The load points with lost hosts as separate points, a series for each number of hosts.
    pub(super) fn of_fewer_hosts(
        &self,
        name: &str,
        stroke: Stroke,
        point: impl Fn(&CurvePoint) -> Point,
    ) -> Vec<Series> {
        let stroke = if stroke.is_p99() { Stroke::ThinPoints } else { Stroke::Points };
        let mut groups: Vec<(String, Vec<Point>)> = Vec::new();
        for at in &self.curve.points {
            let Some(missing) = self.missing_hosts(at) else { continue };
            let name = format!("{name} ({missing})");
            match groups.iter_mut().find(|(known, _)| *known == name) {
                Some((_, points)) => points.push(point(at)),
                None => groups.push((name, vec![point(at)])),
            }
        }
        let series = |(name, points)| {
            let shape = Shape::Line { points, stroke };
            Series { name, right: false, shape }
        };
        groups.into_iter().map(series).collect()
    }

    /// Whether a load point has lost hosts.
    pub(super) fn has_lost_hosts(&self) -> bool {
        self.curve.points.iter().any(|point| self.missing_hosts(point).is_some())
    }
}

/// What a caption says about load points with lost hosts; empty if there are none.
pub(super) fn lost_hosts(shown: &[ShownCurve<'_>]) -> &'static str {
    match shown.iter().any(ShownCurve::has_lost_hosts) {
        true => " Load points with lost hosts are named with the number of hosts that remained.",
        false => "",
    }
}

/// The unit of times in all charts of these records: that of the longest, because an axis has few
/// digits.
pub(super) fn chart_unit(records: &[&Findings]) -> TimeUnit {
    let longest = response_times_ns(records, &[0.999]).into_iter().filter(|ns| ns.is_finite());
    TimeUnit::of(longest.reduce(f64::max))
}

/// The unit of times of curves that are shown together.
pub(super) fn unit(shown: &[ShownCurve<'_>]) -> TimeUnit {
    shown.first().map_or(TimeUnit::Micro, |one| one.unit)
}

/// The names of curves, for a caption.
pub(super) fn names(shown: &[ShownCurve<'_>]) -> String {
    let names: Vec<String> = shown.iter().map(ShownCurve::name).collect();
    names.join("; ")
}

/// The axis of mean and p99 latencies.
pub(super) fn latency_axis(unit: TimeUnit) -> Axis {
    axis(&format!("latency (p99: thin), {}", unit.symbol()), Scale::Log(10))
}

/// The colour of each curve, by its name: the same in every chart of the same curves. Of several
/// records, curves that differ only in the workload have one colour, that of the record.
pub(super) fn colours(shown: &[ShownCurve<'_>]) -> Vec<(String, usize)> {
    let mut known: Vec<String> = Vec::new();
    let mut colours = Vec::new();
    for one in shown {
        let own = one.name_without_variant();
        let index = known.iter().position(|other| *other == own).unwrap_or(known.len());
        if index == known.len() {
            known.push(own.clone());
        }
        colours.extend([(one.name(), index), (own, index)]);
    }
    colours
}

/// A point's load in short, next to it: `QD 4`.
pub(super) fn load_label(curve: &Curve, point: &CurvePoint) -> String {
    if curve.axis == MIXED_LOAD {
        return format!("{} load", point.label);
    }
    let axis = match curve.axis.as_str() {
        axis if axis.ends_with(QUEUE_DEPTH) => "QD",
        // The name of a business metric has no stream before it.
        axis if curve.load == Load::Open && !axis.ends_with(OFFERED_RATE) => axis,
        axis => last_part(axis),
    };
    format!("{axis} {}", point.label)
}

/// The last part of a key or an axis: `nconnect` of `run.nconnect`, `read` of `data read`.
pub(super) fn last_part(key: &str) -> &str {
    key.rsplit(['.', ' ']).next().unwrap_or(key)
}

pub(crate) fn axis(name: &str, scale: Scale) -> Axis {
    Axis { name: name.to_owned(), scale }
}

/// The name of a chart's file: letters, digits and hyphens.
pub(super) fn file_name(text: &str) -> String {
    /// Short enough for every file system.
    const LENGTH_MAX: usize = 80;
    let mut name = String::new();
    for c in text.to_lowercase().chars() {
        match c {
            c if c.is_ascii_alphanumeric() => name.push(c),
            _ if !name.is_empty() && !name.ends_with('-') => name.push('-'),
            _ => {}
        }
        if name.len() >= LENGTH_MAX {
            break;
        }
    }
    name.trim_end_matches('-').to_owned()
}
