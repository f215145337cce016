//! What is known or said beside the points of a curve: the limit that bounds it, its knee, and the
//! fitted model. Each was found by analysis; here it gets its place.

use analysis::curve::CurvePoint;
use analysis::curve::knee::{Knee, KneeMethod};
use analysis::fit::line::{FitLine, FitPoint};
use analysis::verdict::{Answer, Limit, Verdict};

use super::{BYTES_PER_MIB, Shown, level, loads};
use crate::chart::{Mark, Point, Series, Shape, Stroke};
use crate::number::{half_width, mib, plain, probability};
use crate::verdict::one_of;

/// Ceilings that differ by less than this share are one line.
const SAME: f64 = 0.03;
/// More lines across cannot be read.
const LINES_MAX: usize = 3;
/// Fitted models of more curves cannot be told from what was measured.
const FITS_MAX: usize = 4;

/// In which unit a ceiling is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    OpsPerSecond,
    MibPerSecond,
}

/// The verdict on a curve, where it names what limits it.
fn limit_of<'a>(one: &Shown<'a>) -> Option<&'a Verdict> {
    let most = one.curve.points.get(one.curve.most?)?.load_point;
    let verdict = one.findings.verdict_of(most)?;
    (!verdict.is_evidence && !verdict.named().is_empty()).then_some(verdict)
}

/// A line across for each limit that was found, and its words for the caption. `configured` is a
/// limit that has a line already.
pub(super) fn ceilings(
    shown: &[Shown<'_>],
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
            *limits == by.as_slice() && (other - y).abs() <= SAME * y
        };
        if lines.len() < LINES_MAX && !lines.iter().any(same) {
            let plus_minus =
                level.relative().map_or(String::new(), |half| format!(" ± {}", half_width(half)));
            let words =
                format!("{}, {printed}{plus_minus}, {} sure", one_of(by), probability(*stated));
            lines.push((by, y, words));
        }
    }
    if lines.is_empty() {
        return (Vec::new(), String::new());
    }
    let words: Vec<&str> = lines.iter().map(|(_, _, words)| words.as_str()).collect();
    let said =
        format!(" Dotted: where throughput is flat, and what limits it: {}.", words.join("; "));
    let series = lines.iter().map(|(limits, y, _)| level(shown, &one_of(limits), *y));
    (series.collect(), said)
}

/// Where the only curve ends on an axis of rates: at what limits it, or at saturation.
pub(super) fn end_of_rates(one: &Shown<'_>) -> Vec<Mark> {
    let limit = limit_of(one)
        .map(|verdict| Mark { name: one_of(verdict.named()), x: verdict.plateau.level.value });
    limit.or_else(|| loads::saturation(one)).into_iter().collect()
}

/// A ring around the point of each curve that is its knee by power, and what the caption says of
/// it. `place` is where the curve's point is in the chart.
pub(super) fn knees<'a>(
    shown: &[Shown<'a>],
    place: impl Fn(&Shown<'a>, &CurvePoint) -> Point,
) -> Option<(Series, String)> {
    let of = |one: &Shown<'a>| -> Option<Point> {
        let knee: &Knee = one.curve.knees.as_ref().ok()?.power.as_ref().ok()?;
        let point = place(one, one.curve.points.get(knee.point?)?);
        Some(Point { interval: None, ..point })
    };
    let points: Vec<Point> = shown.iter().filter_map(of).collect();
    if points.is_empty() {
        return None;
    }
    let name = format!("knee, {}", loads::in_words(KneeMethod::Power));
    let said = " Ring: the knee, where rate over response time is largest.".to_owned();
    let shape = Shape::Line { points, stroke: Stroke::Rings };
    Some((Series { name, right: false, shape }, said))
}

/// The fitted model of each curve that has one, in its colour, and what the caption says of it.
pub(super) fn fits<'a>(
    shown: &[Shown<'a>],
    place: impl Fn(&FitPoint) -> Option<Point>,
) -> (Vec<Series>, String) {
    if shown.len() > FITS_MAX {
        return (Vec::new(), String::new());
    }
    let mut words: Vec<&str> = Vec::new();
    let mut series = Vec::new();
    for one in shown {
        let Some(line) = FitLine::of(one.curve, &one.findings.load_points) else { continue };
        let points: Option<Vec<Point>> = line.points.iter().map(&place).collect();
        let Some(points) = points else { continue };
        words.push(line.model.in_words());
        let shape = Shape::Line { points, stroke: Stroke::Model };
        series.push(Series { name: one.name(), right: false, shape });
    }
    words.dedup();
    let said = match words.is_empty() {
        true => String::new(),
        false => format!(" Dash-dotted: fitted, not measured: {}.", words.join("; ")),
    };
    (series, said)
}
