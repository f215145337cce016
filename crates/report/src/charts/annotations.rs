//! Findings drawn next to the points of a curve: the limit that bounds it, its knees, saturation,
//! and the fitted model.

use analysis::curve::fit_line::{FitLine, FitPoint};
use analysis::curve::knee::{Knee, KneeMethod};
use analysis::curve::{CurvePoint, QUEUE_DEPTH};
use analysis::emulated::EmulatedFindings;
use analysis::sample::Load;
use analysis::verdict::{Answer, Limit, Verdict};

use super::quantity::Quantity;
use super::shown_curve::{ShownCurve, load_label};
use crate::drawing::{Flag, Level, Mark, Point, Series, Shape, Stroke};
use crate::number::probability;
use crate::results::plus_minus;
use crate::verdict::{self, one_of};

/// Limits that differ by less than this share are one line.
const SAME_LIMIT: f64 = 0.03;
/// More limits make a chart unreadable.
const LIMITS_MAX: usize = 3;
/// A configured limit further above the measurements than this would flatten them.
const CONFIGURED_MAX: f64 = 2.0;
/// With more curves, fitted models cannot be distinguished from measurements.
const FITS_MAX: usize = 4;

/// The limits in a chart, as named values on the axis of a quantity.
#[derive(Default)]
pub(super) struct Limits {
    lines: Vec<(String, f64)>,
    /// A sentence about them for the caption.
    pub(super) sentence: String,
}

impl Limits {
    /// As horizontal lines.
    pub(super) fn levels(&self) -> Vec<Level> {
        self.lines.iter().map(|(name, y)| Level { name: name.clone(), y: *y }).collect()
    }

    /// As vertical lines.
    pub(super) fn marks(&self) -> Vec<Mark> {
        self.lines.iter().map(|(name, x)| Mark { name: name.clone(), x: *x }).collect()
    }
}

/// The verdict on a curve, if it names a limit.
fn limit_of<'a>(one: &ShownCurve<'a>) -> Option<&'a Verdict> {
    let most = one.curve.points.get(one.curve.most?)?.load_point;
    let verdict = one.findings.verdict_of(most)?;
    (!verdict.is_evidence && !verdict.named().is_empty()).then_some(verdict)
}

/// The emulated volume, if all curves are of the same one.
pub(super) fn emulated_volume<'a>(shown: &[ShownCurve<'a>]) -> Option<&'a EmulatedFindings> {
    let first = shown.first()?.findings.emulated.as_ref()?;
    let same = |one: &ShownCurve<'_>| {
        one.findings.emulated.as_ref().is_some_and(|e| e.volume == first.volume)
    };
    shown.iter().all(same).then_some(first)
}

/// The limits that the verdicts name, at the measured ceiling, and the configured limit of an
/// emulated volume. Without either there is no line: the end of a rising curve is not a limit.
pub(super) fn limits(shown: &[ShownCurve<'_>], quantity: Quantity) -> Limits {
    let mut limits = Limits::default();
    if matches!(quantity, Quantity::Rate { .. }) && !have_one_transfer_size(shown) {
        // A limit in bytes is at another rate for each size, so no line is right for all curves.
        return limits;
    }
    let volume = emulated_volume(shown).map(|e| e.volume.throughput_limit_bytes_per_s as f64);
    let configured = volume.and_then(|bytes_per_s| quantity.of_bytes(bytes_per_s));
    if let Some(value) = configured {
        let printed = quantity.print(value);
        let most = shown.iter().flat_map(|one| {
            let values = one.curve.points.iter().map(|p| quantity.point(one, p, p.x).y);
            values.flatten()
        });
        if value <= CONFIGURED_MAX * most.fold(0.0, f64::max) {
            limits.lines.push((format!("configured limit, {printed}"), value));
            limits.sentence = format!(" Dashed: the volume's throughput limit, {printed}.");
        } else {
            limits.sentence =
                format!(" The volume's throughput limit, {printed}, is above the chart.");
        }
    }
    let mut texts: Vec<String> = Vec::new();
    for (one, verdict) in shown.iter().filter_map(|one| Some((one, limit_of(one)?))) {
        let Answer::Limited { by, probability: stated } = &verdict.answer else { continue };
        if configured.is_some() && by.first() == Some(&Limit::VolumeThroughput) {
            continue;
        }
        let level = verdict.plateau.level;
        let value = quantity.of_ops(level.value, verdict.bytes_per_op());
        let (limit, printed) = (one_of(by), quantity.print(value));
        let limit = match one.record {
            Some(record) => format!("{record}: {limit}"),
            None => limit,
        };
        let short = limit.trim_start_matches("the ");
        let name = format!("{short}, {printed}");
        let same = |(other, at): &(String, f64)| {
            other.starts_with(short) && (at - value).abs() <= SAME_LIMIT * value
        };
        if texts.len() < LIMITS_MAX && !limits.lines.iter().any(same) {
            let sure = probability(*stated);
            texts.push(format!("{limit}, {printed}{}, {sure} sure", plus_minus(level)));
            limits.lines.push((name, value));
        }
    }
    if !texts.is_empty() {
        let ceiling = format!(" Dashed: the ceiling, limited by {}.", texts.join("; "));
        limits.sentence.push_str(&ceiling);
    }
    limits
}

/// Whether all curves transfer the same number of bytes with each operation.
fn have_one_transfer_size(shown: &[ShownCurve<'_>]) -> bool {
    let sizes = shown.iter().flat_map(|one| {
        let data = one.curve.points.iter().map(|point| one.data(point));
        data.filter(|data| data.completed > 0).map(|data| data.bytes as f64 / data.completed as f64)
    });
    let sizes: Vec<f64> = sizes.collect();
    sizes.windows(2).all(|pair| (pair[0] - pair[1]).abs() <= SAME_LIMIT * pair[0])
}

/// The recommended operating point of each curve, and the sentence about them for the caption.
///
/// * `position` - of a curve's point in the chart
pub(super) fn operating_points<'a>(
    shown: &[ShownCurve<'a>],
    position: impl Fn(&ShownCurve<'a>, &CurvePoint) -> Point,
) -> (Vec<Flag>, String) {
    let of = |one: &ShownCurve<'a>| -> Option<Flag> {
        let mut summaries = one.findings.summary.curves.iter();
        let is_same = |index: usize| std::ptr::eq(&raw const one.findings.curves[index], one.curve);
        let bend = summaries.find(|summary| is_same(summary.curve))?.bend?;
        let point = one.curve.points.get(bend.knee.point?)?;
        let Point { x, y, .. } = position(one, point);
        Some(Flag { name: load_label(one.curve, point), x, y: y? })
    };
    let flags: Vec<Flag> = shown.iter().filter_map(of).collect();
    let sentence = match flags.is_empty() {
        true => String::new(),
        false => " Named points: the recommended operating points.".to_owned(),
    };
    (flags, sentence)
}

/// A ring around the knee by power of each curve, and the sentence about it for the caption.
///
/// * `position` - of a curve's point in the chart
pub(super) fn knees<'a>(
    shown: &[ShownCurve<'a>],
    position: impl Fn(&ShownCurve<'a>, &CurvePoint) -> Point,
) -> Option<(Series, String)> {
    let of = |one: &ShownCurve<'a>| -> Option<Point> {
        let knee: &Knee = one.curve.knees.as_ref().ok()?.power.as_ref().ok()?;
        let point = position(one, one.curve.points.get(knee.point?)?);
        Some(Point { interval: None, ..point })
    };
    let points: Vec<Point> = shown.iter().filter_map(of).collect();
    if points.is_empty() {
        return None;
    }
    let name = format!("knee, {}", method_name(KneeMethod::Power));
    let sentence = " Ring: the knee, where rate over response time is largest.".to_owned();
    let shape = Shape::Line { points, stroke: Stroke::Rings };
    Some((Series { name, right: false, shape }, sentence))
}

/// The knees of the only curve, by their methods, as vertical lines; with several curves they could
/// not be distinguished.
pub(super) fn knee_marks(shown: &[ShownCurve<'_>]) -> Vec<Mark> {
    let [one] = shown else { return Vec::new() };
    let Ok(knees) = &one.curve.knees else { return Vec::new() };
    let mut marks: Vec<Mark> = Vec::new();
    for (method, knee) in knees.each() {
        let Ok(knee) = knee else { continue };
        // A knee between load points is a value of the axis only if the axis is the load.
        let at_point = knee.point.and_then(|point| one.curve.points.get(point)).map(|p| p.x);
        let is_load = one.curve.axis == QUEUE_DEPTH && one.curve.load == Load::Closed;
        let Some(x) = at_point.or(is_load.then_some(knee.load)) else { continue };
        let name = method_name(method);
        match marks.iter_mut().find(|mark| mark.x == x) {
            Some(mark) => mark.name.push_str(&format!(", {name}")),
            None => marks.push(Mark { name: format!("knee: {name}"), x }),
        }
    }
    marks
}

/// The short name of a knee's method.
pub(crate) const fn method_name(method: KneeMethod) -> &'static str {
    match method {
        KneeMethod::Power => "power",
        KneeMethod::Slo => "objective",
        KneeMethod::Kneedle => "Kneedle",
        KneeMethod::Bounds => "bounds",
    }
}

/// The fitted model of each curve that has one, in its colour, and the sentence about them for the
/// caption.
///
/// * `position` - of a model's point in the chart
pub(super) fn fits<'a>(
    shown: &[ShownCurve<'a>],
    position: impl Fn(&FitPoint) -> Option<Point>,
) -> (Vec<Series>, String) {
    if shown.len() > FITS_MAX {
        return (Vec::new(), String::new());
    }
    let mut models: Vec<&str> = Vec::new();
    let mut series = Vec::new();
    for one in shown {
        let Some(line) = FitLine::of(one.curve, &one.findings.load_points) else { continue };
        let points: Option<Vec<Point>> = line.points.iter().map(&position).collect();
        let Some(points) = points else { continue };
        models.push(verdict::words::model(line.model));
        let shape = Shape::Line { points, stroke: Stroke::Model };
        series.push(Series { name: one.name(), right: false, shape });
    }
    models.dedup();
    let sentence = match models.is_empty() {
        true => String::new(),
        false => format!(" Dash-dotted: fitted, not measured: {}.", models.join("; ")),
    };
    (series, sentence)
}
