//! Which charts findings have, and what each shows: findings to [`Chart`]s. A chart is there only
//! where its data are.
//!
//! The charts are those of the papers on Azure NetApp Files, from the user's own data: rate and
//! response time by queue depth, rate against response time for several sets of clients, the range
//! from all reads to all writes, pairs with and without something; and those that show whether to
//! believe them.

mod heat;
mod legend;
mod limits;
mod loads;
mod mix;
mod over_time;
mod pairs;
mod percentiles;
mod predict;
mod record;
mod tune;

use analysis::Findings;
use analysis::curve::{Curve, CurvePoint};
use analysis::load_point::{OpSummary, Summary};

use crate::chart::{Axis, Chart, Point, Scale, Series, Shape, Stroke};

pub(crate) use self::predict::of_prediction;
pub(crate) use heat::heat;
pub(crate) use loads::in_words as method_in_words;
pub(crate) use over_time::over_time;
pub(crate) use percentiles::percentiles;
pub(crate) use record::RecordCharts;

/// Nanoseconds in a microsecond.
const NS_PER_US: f64 = 1e3;
/// Nanoseconds in a millisecond.
const NS_PER_MS: f64 = 1e6;
/// Bytes in a MiB.
const BYTES_PER_MIB: f64 = 1_048_576.0;
/// More curves than this cannot be told apart in one chart.
const CURVES_MAX: usize = 12;
/// More points than this are drawn without symbols.
const SYMBOLS_MAX: usize = 60;

/// A curve among those that are shown together.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'a> {
    /// What it is called where curves of several records are side by side.
    pub(crate) record: Option<&'a str>,
    /// The findings that it is of.
    pub(crate) findings: &'a Findings,
    /// The curve.
    pub(crate) curve: &'a Curve,
}

impl<'a> Shown<'a> {
    /// All curves of some records; each record with what it is called, where there are several.
    pub(crate) fn all(records: &[(Option<&'a str>, &'a Findings)]) -> Vec<Shown<'a>> {
        let of_record = |(record, findings): &(Option<&'a str>, &'a Findings)| {
            let (record, findings) = (*record, *findings);
            findings.curves.iter().map(move |curve| Shown { record, findings, curve })
        };
        records.iter().flat_map(of_record).collect()
    }

    fn name(&self) -> String {
        match self.record {
            Some(record) => format!("{record}: {}", self.curve.name),
            None => self.curve.name.clone(),
        }
    }

    /// The variant that it is of.
    fn variant(&self) -> Option<&'a str> {
        let first = self.curve.points.first()?;
        Some(&self.findings.load_points[first.load_point].variant)
    }

    fn summary(&self, point: &CurvePoint) -> &'a Summary {
        &self.findings.load_points[point.load_point].merged
    }

    fn data(&self, point: &CurvePoint) -> &'a OpSummary {
        &self.summary(point).total.data
    }

    /// Operations per second at a point.
    fn rate(&self, point: &CurvePoint, x: f64) -> Point {
        let rate = self.data(point).achieved_rate;
        Point::with_half_width(x, rate.map(|r| r.value), rate.and_then(|r| r.uncertainty))
    }

    /// MiB per second at a point.
    fn throughput(&self, point: &CurvePoint, x: f64) -> Point {
        let throughput = self.data(point).throughput;
        let mib = |bytes: f64| bytes / BYTES_PER_MIB;
        let half = throughput.and_then(|t| t.uncertainty).map(mib);
        Point::with_half_width(x, throughput.map(|t| mib(t.value)), half)
    }

    /// Mean response time at a point, in units of `ns`.
    fn mean(&self, point: &CurvePoint, x: f64, ns: f64) -> Point {
        let mean = self.data(point).response.mean_ns;
        let half = mean.and_then(|m| m.uncertainty).map(|half| half / ns);
        Point::with_half_width(x, mean.map(|m| m.value / ns), half)
    }
    /// The 99th percentile of the response time at a point, in units of `ns`.
    fn p99(&self, point: &CurvePoint, x: f64, ns: f64) -> Point {
        let p99 = self.data(point).response.percentile(0.99);
        let value = p99.and_then(|p| p.value_ns);
        let ends = p99.and_then(|p| p.interval_ns);
        Point {
            x,
            y: value.map(|value| value as f64 / ns),
            interval: ends.map(|ends| ends.map(|end| end / ns)),
        }
    }
}

/// The charts of curves: one set for each thing that was swept, in the order in which the curves
/// come.
pub(crate) fn of_curves(shown: &[Shown<'_>]) -> Vec<Chart> {
    let mut axes: Vec<&str> = Vec::new();
    for one in shown {
        if !axes.contains(&one.curve.axis.as_str()) {
            axes.push(&one.curve.axis);
        }
    }
    let mut charts = pairs::pairs(shown);
    for axis in axes {
        let of_axis: Vec<Shown<'_>> =
            shown.iter().filter(|one| one.curve.axis == axis).copied().collect();
        for (part, (variant, some)) in groups(&of_axis).into_iter().enumerate() {
            let charts_of_part = match last_word(axis) {
                "read" => mix::charts(&some, axis),
                _ => loads::charts(&some, axis),
            };
            charts.extend(charts_of_part.into_iter().map(|mut chart| {
                if let Some(variant) = variant.filter(|variant| !chart.title.contains(variant)) {
                    chart.title.push_str(&format!(": {variant}"));
                }
                if part > 0 {
                    chart.name.push_str(&format!("-{}", part + 1));
                }
                chart
            }));
        }
    }
    charts.retain(Chart::shows_something);
    charts.iter_mut().for_each(legend::shorten);
    charts
}

/// Curves that are shown together: those of one variant where several records are side by side, so
/// that each is beside its like; else as many as can be told apart.
fn groups<'a>(shown: &[Shown<'a>]) -> Vec<(Option<&'a str>, Vec<Shown<'a>>)> {
    if shown.iter().all(|one| one.record.is_none()) {
        return shown.chunks(CURVES_MAX).map(|some| (None, some.to_vec())).collect();
    }
    let mut variants: Vec<&str> = shown.iter().filter_map(Shown::variant).collect();
    variants.dedup();
    let mut groups = Vec::new();
    for (place, variant) in variants.iter().enumerate() {
        if variants[..place].contains(variant) {
            continue;
        }
        let of_variant = shown.iter().filter(|one| one.variant() == Some(variant)).copied();
        let of_variant: Vec<Shown<'_>> = of_variant.collect();
        groups.extend(of_variant.chunks(CURVES_MAX).map(|some| (Some(*variant), some.to_vec())));
    }
    groups
}

fn last_word(axis: &str) -> &str {
    axis.rsplit('.').next().unwrap_or(axis)
}

/// The names of the curves in a caption.
fn names(shown: &[Shown<'_>]) -> String {
    let names: Vec<String> = shown.iter().map(Shown::name).collect();
    names.join("; ")
}

/// What a file of a chart is called: letters, digits and hyphens.
pub(crate) fn file_name(words: &str) -> String {
    let mut name = String::new();
    for c in words.to_lowercase().chars() {
        match c {
            c if c.is_ascii_alphanumeric() => name.push(c),
            _ if !name.is_empty() && !name.ends_with('-') => name.push('-'),
            _ => {}
        }
        // Long enough to tell, short enough for every file system.
        if name.len() >= 80 {
            break;
        }
    }
    name.trim_end_matches('-').to_owned()
}

/// Of all load points of a curve, the line of what `point` makes of each.
fn line(
    one: &Shown<'_>,
    name: String,
    stroke: Stroke,
    point: impl Fn(&CurvePoint) -> Point,
) -> Series {
    let points: Vec<Point> = one.curve.points.iter().map(point).collect();
    let stroke = match stroke {
        Stroke::Solid if points.len() > SYMBOLS_MAX => Stroke::Plain,
        Stroke::Dashed if points.len() > SYMBOLS_MAX => Stroke::PlainDashed,
        stroke => stroke,
    };
    Series { name, right: false, shape: Shape::Line { points, stroke } }
}

/// What was set or is known, as a dotted line across everything that was swept. A line of its own,
/// so that the axis reaches to it where nothing measured does.
fn level(shown: &[Shown<'_>], name: &str, y: f64) -> Series {
    let xs = || shown.iter().flat_map(|one| &one.curve.points).map(|point| point.x);
    let (left, right) = (xs().fold(f64::INFINITY, f64::min), xs().fold(0.0, f64::max));
    let points = vec![Point::at(left, Some(y)), Point::at(right, Some(y))];
    Series {
        name: name.to_owned(),
        right: false,
        shape: Shape::Line { points, stroke: Stroke::Dotted },
    }
}

fn axis(name: &str, scale: Scale) -> Axis {
    Axis { name: name.to_owned(), scale }
}

/// The load point with the highest rate, in words.
fn highest<'a>(one: &Shown<'a>) -> Option<&'a CurvePoint> {
    one.curve.most.and_then(|place| one.curve.points.get(place))
}
