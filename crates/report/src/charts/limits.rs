//! What is known or said beside the points of a curve: the limit that bounds it, its knee, and the
//! fitted model. Each was found by analysis; here it gets its place.

use analysis::bottleneck::{Limit, LimitFinding};
use analysis::curve::CurvePoint;
use analysis::curve::knee::{Knee, KneeMethod};
use analysis::fit::line::{FitLine, FitPoint};

use super::{BYTES_PER_MIB, Shown, level, loads};
use crate::chart::{Mark, Point, Series, Shape, Stroke};
use crate::number::{half_width, mib, plain, probability};

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

/// What limits a curve, where that is known and the curve is flat there.
fn limit_of<'a>(one: &Shown<'a>) -> Option<&'a LimitFinding> {
    let most = one.curve.points.get(one.curve.most?)?.load_point;
    let mut limits = one.findings.limits.iter();
    let found = limits.find(|found| found.load_points.contains(&most))?;
    let named = !matches!(found.limit, Limit::Unknown | Limit::NotReached);
    (named && found.ceiling_ops_per_s.is_some()).then_some(found)
}

/// A line across for each limit that was found, and its words for the caption. `configured` is a
/// limit that has a line already.
pub(super) fn ceilings(
    shown: &[Shown<'_>],
    unit: Unit,
    configured: Option<Limit>,
) -> (Vec<Series>, String) {
    let mut lines: Vec<(Limit, f64, String)> = Vec::new();
    for found in shown.iter().filter_map(limit_of).filter(|f| Some(f.limit) != configured) {
        let ceiling = match unit {
            Unit::OpsPerSecond => found.ceiling_ops_per_s,
            Unit::MibPerSecond => found.ceiling_bytes_per_s,
        };
        let Some(ceiling) = ceiling else { continue };
        let (y, printed) = match unit {
            Unit::OpsPerSecond => (ceiling.value, format!("{} ops/s", plain(ceiling.value))),
            Unit::MibPerSecond => {
                (ceiling.value / BYTES_PER_MIB, format!("{} MiB/s", mib(ceiling.value)))
            }
        };
        let same = |(limit, other, _): &(Limit, f64, String)| {
            *limit == found.limit && (other - y).abs() <= SAME * y
        };
        if lines.len() < LINES_MAX && !lines.iter().any(same) {
            let plus_minus =
                ceiling.relative().map_or(String::new(), |half| format!(" ± {}", half_width(half)));
            let sure = probability(found.confidence);
            let words = format!("{}, {printed}{plus_minus}, {sure} sure", found.limit.name());
            lines.push((found.limit, y, words));
        }
    }
    if lines.is_empty() {
        return (Vec::new(), String::new());
    }
    let words: Vec<&str> = lines.iter().map(|(_, _, words)| words.as_str()).collect();
    let said = format!(" Dotted: where it is flat, by what limits it: {}.", words.join("; "));
    let series = lines.iter().map(|(limit, y, _)| level(shown, limit.name(), *y));
    (series.collect(), said)
}

/// Where the only curve ends on an axis of rates: at what limits it, or at saturation.
pub(super) fn end_of_rates(one: &Shown<'_>) -> Vec<Mark> {
    let limit = limit_of(one).and_then(|found| {
        Some(Mark { name: found.limit.name().to_owned(), x: found.ceiling_ops_per_s?.value })
    });
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
