//! Findings drawn next to the points of a curve: the limit that bounds it, its knees, saturation,
//! and the fitted model.

use analysis::curve::CurvePoint;
use analysis::curve::fit_line::{FitLine, FitPoint};
use analysis::curve::knee::{Knee, KneeMethod};
use analysis::sample::Load;
use analysis::verdict::{Answer, Limit, Verdict};

use super::shown_curve::{ShownCurve, level};
use crate::drawing::{Mark, Point, Series, Shape, Stroke};
use crate::number::{BYTES_PER_MIB, mib, plain, probability};
use crate::results::plus_minus;
use crate::verdict::{self, one_of};

/// Ceilings that differ by less than this share are one line.
const SAME_CEILING: f64 = 0.03;
/// More ceilings make a chart unreadable.
const CEILINGS_MAX: usize = 3;
/// With more curves, fitted models cannot be distinguished from measurements.
const FITS_MAX: usize = 4;

/// The unit of a ceiling.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    OpsPerSecond,
    MibPerSecond,
}

/// The verdict on a curve, if it names a limit.
fn limit_of<'a>(one: &ShownCurve<'a>) -> Option<&'a Verdict> {
    let most = one.curve.points.get(one.curve.most?)?.load_point;
    let verdict = one.findings.verdict_of(most)?;
    (!verdict.is_evidence && !verdict.named().is_empty()).then_some(verdict)
}

/// A line for each limit that was found, and the sentence about them for the caption. `configured`
/// is a limit that already has a line.
pub(super) fn ceilings(
    shown: &[ShownCurve<'_>],
    unit: Unit,
    configured: Option<Limit>,
) -> (Vec<Series>, String) {
    let mut lines: Vec<(&[Limit], f64, String)> = Vec::new();
    let found = shown.iter().filter_map(limit_of);
    for verdict in found.filter(|verdict| verdict.named().first() != configured.as_ref()) {
        let Answer::Limited { by, probability: stated } = &verdict.answer else { continue };
        let level = verdict.plateau.level;
        let bytes_per_op = verdict.bytes_per_op();
        let (y, printed) = match unit {
            Unit::OpsPerSecond => (level.value, format!("{} ops/s", plain(level.value))),
            Unit::MibPerSecond => {
                let bytes = level.value * bytes_per_op;
                (bytes / BYTES_PER_MIB, format!("{} MiB/s", mib(bytes)))
            }
        };
        let same = |(limits, other, _): &(&[Limit], f64, String)| {
            *limits == by.as_slice() && (other - y).abs() <= SAME_CEILING * y
        };
        if lines.len() < CEILINGS_MAX && !lines.iter().any(same) {
            let text = format!(
                "{}, {printed}{}, {} sure",
                one_of(by),
                plus_minus(level),
                probability(*stated)
            );
            lines.push((by, y, text));
        }
    }
    if lines.is_empty() {
        return (Vec::new(), String::new());
    }
    let texts: Vec<&str> = lines.iter().map(|(_, _, text)| text.as_str()).collect();
    let sentence = format!(" Dotted: the ceiling of throughput, limited by {}.", texts.join("; "));
    let series = lines.iter().map(|(limits, y, _)| level(shown, &one_of(limits), *y));
    (series.collect(), sentence)
}

/// The highest rate of the only curve, on an axis of rates: at its limit, or at saturation.
pub(super) fn end_of_rates(one: &ShownCurve<'_>) -> Vec<Mark> {
    let limit = limit_of(one)
        .map(|verdict| Mark { name: one_of(verdict.named()), x: verdict.plateau.level.value });
    limit.or_else(|| saturation(one)).into_iter().collect()
}

/// Saturation, if it was reached.
fn saturation(one: &ShownCurve<'_>) -> Option<Mark> {
    let plateau = one.curve.plateau.as_ref().ok().filter(|plateau| plateau.is_reached())?;
    Some(Mark { name: "saturation".to_owned(), x: plateau.level.value })
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
        let is_load =
            one.curve.axis == analysis::curve::QUEUE_DEPTH && one.curve.load == Load::Closed;
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
