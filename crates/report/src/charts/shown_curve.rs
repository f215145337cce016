//! A curve in a chart: its name, its points, and the series made of them.

use analysis::Findings;
use analysis::curve::{Curve, CurvePoint};
use analysis::load_point::{OpSummary, Summary};

use crate::drawing::{Axis, Point, Scale, Series, Shape, Stroke};
use crate::number::{BYTES_PER_MIB, TimeUnit};
use crate::results::time_unit;

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
        let unit = time_unit(&[findings]);
        let shown = |curve| ShownCurve { record: None, findings, curve, unit };
        findings.curves.iter().map(shown).collect()
    }

    /// All curves of several records, with the records' labels.
    pub(crate) fn of_all(records: &[&'a Findings], labels: &'a [String]) -> Vec<ShownCurve<'a>> {
        let unit = time_unit(records);
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

    /// Operations per second at a point.
    pub(super) fn rate(&self, point: &CurvePoint, x: f64) -> Point {
        let rate = self.data(point).achieved_rate;
        Point::with_half_width(x, rate.map(|r| r.value), rate.and_then(|r| r.uncertainty))
    }

    /// MiB per second at a point.
    pub(super) fn throughput(&self, point: &CurvePoint, x: f64) -> Point {
        let throughput = self.data(point).throughput;
        let mib = |bytes: f64| bytes / BYTES_PER_MIB;
        let half = throughput.and_then(|t| t.uncertainty).map(mib);
        Point::with_half_width(x, throughput.map(|t| mib(t.value)), half)
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
        }
    }

    /// A line through `point` of each load point.
    pub(super) fn line(
        &self,
        name: String,
        stroke: Stroke,
        point: impl Fn(&CurvePoint) -> Point,
    ) -> Series {
        let points: Vec<Point> = self.curve.points.iter().map(point).collect();
        let stroke = match stroke {
            Stroke::Solid if points.len() > SYMBOLS_MAX => Stroke::Plain,
            Stroke::Dashed if points.len() > SYMBOLS_MAX => Stroke::PlainDashed,
            stroke => stroke,
        };
        Series { name, right: false, shape: Shape::Line { points, stroke } }
    }
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

/// A setting or limit as a dotted line from the lowest to the highest x. It is a series, so that
/// the y axis encloses it.
pub(super) fn level(shown: &[ShownCurve<'_>], name: &str, y: f64) -> Series {
    let xs = || shown.iter().flat_map(|one| &one.curve.points).map(|point| point.x);
    let (left, right) = (xs().fold(f64::INFINITY, f64::min), xs().fold(0.0, f64::max));
    let points = vec![Point::at(left, Some(y)), Point::at(right, Some(y))];
    Series {
        name: name.to_owned(),
        right: false,
        shape: Shape::Line { points, stroke: Stroke::Dotted },
    }
}

/// The last part of a key: `queue_depth` of `data.queue_depth`.
pub(super) fn last_part(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
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
