//! Charts of curves along which the load was raised: queue depth, offered rate, workers,
//! connections, hosts.

use analysis::curve::CurvePoint;
use analysis::curve::fit_line::FitPoint;
use analysis::sample::Load;

use super::annotations::{emulated_volume, fits, knee_marks, knees, limits, operating_points};
use super::quantity::Quantity;
use super::shown_curve::{
    ShownCurve, axis, colours, file_name, last_part, latency_axis, lost_hosts, names, unit,
};
use crate::drawing::{Axis, Chart, Level, Panel, Point, Scale, Series, Shape, Stroke};
use crate::emulated;
use crate::number::NS_PER_S;

/// A fall of the throughput by less than this share, about the size of a symbol, is no decline.
const SAME_X: f64 = 0.01;

/// All charts of curves with the same axis.
pub(super) fn charts(shown: &[ShownCurve<'_>], name: &str) -> Vec<Chart> {
    let mut quantities = Quantity::by_importance(shown);
    if !adds_resources(name) {
        quantities.truncate(1);
    }
    let by_load = |quantity| by_load(shown, name, quantity, Detail::Findings);
    let mut charts: Vec<Chart> = quantities.into_iter().map(by_load).collect();
    charts.push(latency(shown, name));
    charts.push(latency_against(shown, name, Quantity::rate(shown), Detail::Findings));
    charts
}

/// How much a chart shows next to the measurements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// Limits and operating points, for the first screen.
    Overview,
    /// Fitted models and knees by every method as well.
    Findings,
}

/// Whether the rate should grow in proportion along an axis.
fn adds_resources(name: &str) -> bool {
    let last = last_part(name);
    ["hosts", "volumes", "flows", "workers", "connections", "nconnect"].contains(&last)
}

/// The swept key, logarithmic if all values are above 0.
pub(super) fn swept(shown: &[ShownCurve<'_>], name: &str) -> Axis {
    let positive = shown.iter().flat_map(|one| &one.curve.points).all(|p| p.x > 0.0);
    axis(name, if positive { Scale::Log(2) } else { Scale::Linear })
}

/// Throughput or rate by the swept key.
pub(super) fn by_load(
    shown: &[ShownCurve<'_>],
    name: &str,
    quantity: Quantity,
    detail: Detail,
) -> Chart {
    let lines = shown
        .iter()
        .flat_map(|one| one.lines(&one.name(), Stroke::Solid, |p| quantity.point(one, p, p.x)));
    let mut series: Vec<Series> = lines.collect();
    let limits = limits(shown, quantity);
    let mut notes = format!("{}{}", lost_hosts(shown), limits.sentence);
    let mut marks = Vec::new();
    if detail == Detail::Findings {
        let (models, sentence) = fits(shown, |p| Some(Point::at(p.x, Some(quantity.of_fit(p)?))));
        series.extend(models);
        notes.push_str(&sentence);
        marks = knee_marks(shown);
    }
    let what = quantity.name();
    Chart {
        name: file_name(&format!("{what}-by-{name}")),
        title: format!("{} by {name}", capitalized(what)),
        caption: format!(
            "{} in {} by {name}: {}. Bands and whiskers: 95 % CI.{notes}",
            capitalized(what),
            quantity.unit(),
            names(shown)
        ),
        panels: vec![Panel {
            x: swept(shown, name),
            y: quantity.axis(),
            series,
            marks,
            levels: limits.levels(),
            ..Panel::default()
        }],
        colours: colours(shown),
        ..Chart::default()
    }
}

pub(super) fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    format!("{}{}", first.unwrap_or_default(), chars.as_str())
}

/// The configured delays of an emulated volume, as named lines.
fn delays(shown: &[ShownCurve<'_>]) -> Vec<Level> {
    let Some(emulated) = emulated_volume(shown) else { return Vec::new() };
    let unit = unit(shown);
    let (read, write) = (emulated.volume.read_delay_ns, emulated.volume.write_delay_ns);
    let delays: &[(&str, u64)] = match read == write {
        true => &[("configured delay", read)],
        false => &[("configured read delay", read), ("configured write delay", write)],
    };
    // A logarithmic axis has no zero, and no delay is no bound.
    let shown = delays.iter().filter(|(_, ns)| *ns > 0);
    let level = |(name, ns): &(&str, u64)| Level {
        name: format!("{name}, {}", unit.with_symbol(*ns as f64)),
        y: unit.scale(*ns as f64),
    };
    shown.map(level).collect()
}

/// Mean and p99 of the response time by the swept key, with the configured delays of an emulated
/// volume.
fn latency(shown: &[ShownCurve<'_>], name: &str) -> Chart {
    let unit = unit(shown);
    let mut series = means_and_p99s(shown, ShownCurve::name);
    let mut notes = lost_hosts(shown).to_owned();
    if emulated_volume(shown).is_some() {
        notes.push_str(&emulated::delays_caption(shown[0].findings, unit));
    }
    let (of_fit, sentence) =
        fits(shown, |p| Some(Point::at(p.x, Some(unit.scale(p.response_s * NS_PER_S)))));
    series.extend(of_fit);
    notes.push_str(&sentence);
    Chart {
        name: file_name(&format!("response-time-by-{name}")),
        title: format!("Latency by {name}"),
        caption: format!(
            "Mean (thick) and p99 (thin) response time in {} by {name}: {}. Bands and whiskers: \
             95 % CI.{notes}",
            unit.symbol(),
            names(shown)
        ),
        panels: vec![Panel {
            x: swept(shown, name),
            y: latency_axis(unit),
            series,
            marks: knee_marks(shown),
            levels: delays(shown),
            ..Panel::default()
        }],
        colours: colours(shown),
        ..Chart::default()
    }
}

/// Mean and p99 of the response time of each curve along its axis.
pub(super) fn means_and_p99s<'a>(
    shown: &[ShownCurve<'a>],
    name: fn(&ShownCurve<'a>) -> String,
) -> Vec<Series> {
    let means =
        shown.iter().flat_map(|one| one.lines(&name(one), Stroke::Solid, |p| one.mean(p, p.x)));
    let p99s =
        shown.iter().flat_map(|one| one.lines(&name(one), Stroke::Thin, |p| one.p99(p, p.x)));
    means.chain(p99s).collect()
}

/// Latency against throughput or rate, in the order of the swept key: the curve that vendors
/// publish, with limits, knees and operating points.
pub(super) fn latency_against(
    shown: &[ShownCurve<'_>],
    name: &str,
    quantity: Quantity,
    detail: Detail,
) -> Chart {
    let unit = unit(shown);
    let x = |one: &ShownCurve<'_>, p: &CurvePoint| quantity.point(one, p, 0.0).y;
    let mean = |one: &ShownCurve<'_>, p: &CurvePoint| Point {
        load: Some(p.x),
        ..one.mean(p, x(one, p).unwrap_or(f64::NAN))
    };
    let p99 = |one: &ShownCurve<'_>, p: &CurvePoint| Point {
        load: Some(p.x),
        ..one.p99(p, x(one, p).unwrap_or(f64::NAN))
    };
    let mut series = Vec::new();
    for one in shown {
        series.extend(against(one, Stroke::Solid, |p| mean(one, p)));
        series.extend(against(one, Stroke::Thin, |p| p99(one, p)));
    }
    let limits = limits(shown, quantity);
    let mut notes = format!("{}{}", lost_hosts(shown), limits.sentence);
    if detail == Detail::Findings {
        let of_fit = |p: &FitPoint| {
            let y = unit.scale(p.response_s * NS_PER_S);
            Some(Point::at(quantity.of_fit(p)?, Some(y)))
        };
        let (models, sentence) = fits(shown, of_fit);
        series.extend(models);
        notes.push_str(&sentence);
    }
    if let Some((rings, sentence)) = knees(shown, mean) {
        series.push(rings);
        notes.push_str(&sentence);
    }
    let (flags, sentence) = operating_points(shown, mean);
    notes.push_str(&sentence);
    let what = quantity.name();
    let has_several = shown.iter().any(|one| one.curve.points.len() > 1);
    let along = if has_several { format!(", along the {name}") } else { String::new() };
    let falls = shown.iter().any(|one| {
        let points = joinable(one, |p| mean(one, p));
        one.curve.load != Load::NotRaised && rising(&points) < points.len()
    });
    let separate = match falls {
        true => format!(" Separate points: {what} fell although the load rose."),
        false => String::new(),
    };
    Chart {
        name: file_name(&format!("response-time-by-{what}-along-{name}")),
        title: format!("Latency against {what}"),
        caption: format!(
            "Mean (thick) and p99 (thin) response time in {} against {what} in {}{along}: {}.\
             {separate}{notes}",
            unit.symbol(),
            quantity.unit(),
            names(shown)
        ),
        panels: vec![Panel {
            x: quantity.axis(),
            y: latency_axis(unit),
            series,
            marks: limits.marks(),
            flags,
            load: name.to_owned(),
            ..Panel::default()
        }],
        colours: colours(shown),
        ..Chart::default()
    }
}

/// A curve against throughput. The line joins its points in the order of the load and ends where
/// throughput falls: a line that turns back crosses itself and reads as two latencies at one
/// throughput. The points past the end are drawn separately, because they were measured. Points
/// along an axis that is not a load are not joined, nor are those with lost hosts.
fn against(one: &ShownCurve<'_>, stroke: Stroke, at: impl Fn(&CurvePoint) -> Point) -> Vec<Series> {
    let points = joinable(one, &at);
    let joined = match one.curve.load {
        Load::Closed | Load::Open => rising(&points),
        Load::NotRaised => 0,
    };
    let line = |points: &[Point], stroke: Stroke| Series {
        name: one.name(),
        right: false,
        shape: Shape::Line { points: points.to_vec(), stroke },
    };
    let (before, past) = points.split_at(joined);
    let past_stroke = if stroke == Stroke::Thin { Stroke::ThinPoints } else { Stroke::Points };
    let parts = [(before, stroke), (past, past_stroke)];
    let parts = parts.into_iter().filter(|(part, _)| !part.is_empty()).map(|(p, s)| line(p, s));
    parts.chain(one.of_fewer_hosts(&one.name(), stroke, at)).collect()
}

/// The points that a line can join, in the order of the load.
fn joinable(one: &ShownCurve<'_>, at: impl Fn(&CurvePoint) -> Point) -> Vec<Point> {
    let is_whole = |p: &&CurvePoint| one.findings.load_points[p.load_point].is_whole();
    let whole = one.curve.points.iter().filter(is_whole);
    whole.map(at).filter(|p| p.x.is_finite()).collect()
}

/// The number of leading points along which x does not fall.
fn rising(points: &[Point]) -> usize {
    let mut most = f64::NEG_INFINITY;
    let falls = |point: &Point| {
        let falls = point.x < most * (1.0 - SAME_X);
        most = most.max(point.x);
        falls
    };
    points.iter().position(falls).unwrap_or(points.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_where_throughput_falls_by_more_than_the_size_of_a_symbol() {
        let points = |xs: &[f64]| xs.iter().map(|x| Point::at(*x, Some(1.0))).collect::<Vec<_>>();
        assert_eq!(rising(&points(&[10.0, 40.0, 80.0])), 3);
        assert_eq!(rising(&points(&[10.0, 80.0, 79.5, 60.0, 90.0])), 3);
        // A slow fall in small steps is a fall as well.
        assert_eq!(rising(&points(&[100.0, 99.5, 99.2, 98.7])), 3);
        assert_eq!(rising(&[]), 0);
    }
}
