//! Charts of curves along which the load was raised: queue depth, offered rate, workers,
//! connections, hosts.

use analysis::curve::CurvePoint;
use analysis::curve::fit_line::FitPoint;
use analysis::emulated::EmulatedFindings;
use analysis::verdict::Limit;

use super::annotations::{Unit, ceilings, end_of_rates, fits, knee_marks, knees};
use super::shown_curve::{ShownCurve, axis, file_name, last_part, level, names, unit};
use crate::drawing::{Axis, Chart, Panel, Point, Scale, Series, Shape, Stroke};
use crate::emulated;
use crate::number::{BYTES_PER_MIB, NS_PER_S};

/// More load points do not fit side by side as names.
const NAMES_MAX: usize = 24;
/// More curves make bars with a second axis unreadable.
const TWO_AXES_MAX: usize = 4;

/// All charts of curves with the same axis.
pub(super) fn charts(shown: &[ShownCurve<'_>], name: &str) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (variant, group) in by_variant(shown) {
        charts.extend(two_axes(&group, name, &variant));
    }
    charts.push(throughput(shown, name));
    if adds_resources(name) {
        charts.push(rate(shown, name));
    }
    charts.push(response_time(shown, name));
    charts.push(response_by_rate(shown, name));
    charts
}

/// Whether the rate should grow in proportion along an axis.
fn adds_resources(name: &str) -> bool {
    let last = last_part(name);
    ["hosts", "volumes", "flows", "workers", "connections", "nconnect"].contains(&last)
}

/// The swept key, logarithmic if all values are above 0.
fn swept(shown: &[ShownCurve<'_>], name: &str) -> Axis {
    let positive = shown.iter().flat_map(|one| &one.curve.points).all(|p| p.x > 0.0);
    axis(name, if positive { Scale::Log(2) } else { Scale::Linear })
}

fn one_panel([name, title, caption]: [String; 3], panel: Panel) -> Chart {
    Chart { name: file_name(&name), title, caption, panels: vec![panel], ..Chart::default() }
}

/// Curves of one workload variant, which belong in one chart: with and without a setting, or of
/// several records.
fn by_variant<'a>(shown: &[ShownCurve<'a>]) -> Vec<(String, Vec<ShownCurve<'a>>)> {
    let mut groups: Vec<(String, Vec<ShownCurve<'a>>)> = Vec::new();
    for one in shown {
        let Some(variant) = one.variant() else { continue };
        match groups.iter_mut().find(|(name, _)| name == variant) {
            Some((_, group)) => group.push(*one),
            None => groups.push((variant.to_owned(), vec![*one])),
        }
    }
    groups.retain(|(_, group)| group.iter().any(|one| one.curve.points.len() > 1));
    groups
}

/// Rate as bars with response time as lines above them, as in the published charts by queue depth.
fn two_axes(shown: &[ShownCurve<'_>], name: &str, variant: &str) -> Option<Chart> {
    let mut labels: Vec<(f64, &str)> = Vec::new();
    for point in shown.iter().flat_map(|one| &one.curve.points) {
        if !labels.iter().any(|(x, _)| *x == point.x) {
            labels.push((point.x, &point.label));
        }
    }
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    if labels.len() > NAMES_MAX || shown.len() > TWO_AXES_MAX {
        return None;
    }
    // The caption has the name of an only curve.
    let named = |one: &ShownCurve<'_>, quantity: &str| match shown.len() {
        1 => quantity.to_owned(),
        _ => format!("{}, {quantity}", one.name()),
    };
    let unit = unit(shown).symbol();
    let index = |x: f64| labels.iter().position(|l| l.0 == x).unwrap_or(0) as f64;
    let bars = shown.iter().map(|one| {
        let points = one.curve.points.iter().map(|p| one.rate(p, index(p.x))).collect();
        Series {
            name: named(one, "achieved rate"),
            right: false,
            shape: Shape::Bars { points, stacked: false },
        }
    });
    let lines = shown.iter().map(|one| {
        let name = named(one, "mean response time");
        let line = one.line(name, Stroke::Solid, |p| one.mean(p, index(p.x)));
        Series { right: true, ..line }
    });
    let series = bars.chain(lines).collect();
    let labels = labels.iter().map(|(_, label)| (*label).to_owned()).collect();
    let caption = format!(
        "Achieved rate in ops/s (bars, left) and mean response time in {unit} (lines, right) by \
         {name}: {}.",
        names(shown)
    );
    let title = format!("Rate and response time by {name}: {variant}");
    let panel = Panel {
        x: axis(name, Scale::Names(labels)),
        y: axis("achieved rate, ops/s", Scale::Linear),
        right: Some(axis(&format!("mean response time, {unit}"), Scale::Linear)),
        series,
        ..Panel::default()
    };
    Some(one_panel([format!("rate-and-response-time-by-{name}-{variant}"), title, caption], panel))
}

/// The emulated volume, if all curves are of the same one.
fn emulated_volume<'a>(shown: &[ShownCurve<'a>]) -> Option<&'a EmulatedFindings> {
    let first = shown.first()?.findings.emulated.as_ref()?;
    let same = |one: &ShownCurve<'_>| {
        one.findings.emulated.as_ref().is_some_and(|e| e.volume == first.volume)
    };
    shown.iter().all(same).then_some(first)
}

fn throughput(shown: &[ShownCurve<'_>], name: &str) -> Chart {
    let mut series: Vec<Series> = shown
        .iter()
        .map(|one| one.line(one.name(), Stroke::Solid, |p| one.throughput(p, p.x)))
        .collect();
    let mut notes = String::new();
    let mut configured = None;
    if let Some(emulated) = emulated_volume(shown) {
        let limit = emulated.volume.throughput_limit_bytes_per_s as f64 / BYTES_PER_MIB;
        series.push(level(shown, "throughput limit", limit));
        notes = emulated::captions(shown[0].findings, unit(shown))[0].clone();
        configured = Some(Limit::VolumeThroughput);
    }
    let of_fit = |p: &FitPoint| Some(Point::at(p.x, Some(p.throughput?.as_mib())));
    for (more, sentence) in [ceilings(shown, Unit::MibPerSecond, configured), fits(shown, of_fit)] {
        series.extend(more);
        notes.push_str(&sentence);
    }
    let caption = format!("Throughput in MiB/s by {name}: {}.{notes}", names(shown));
    let panel = Panel {
        x: swept(shown, name),
        y: axis("throughput, MiB/s", Scale::Linear),
        series,
        marks: knee_marks(shown),
        ..Panel::default()
    };
    let title = format!("Throughput by {name}");
    one_panel([format!("throughput-by-{name}"), title, caption], panel)
}

fn rate(shown: &[ShownCurve<'_>], name: &str) -> Chart {
    let lines = shown.iter().map(|one| one.line(one.name(), Stroke::Solid, |p| one.rate(p, p.x)));
    let mut series: Vec<Series> = lines.collect();
    let mut notes = String::new();
    let of_fit = |p: &FitPoint| Some(Point::at(p.x, Some(p.rate.get())));
    for (more, sentence) in [ceilings(shown, Unit::OpsPerSecond, None), fits(shown, of_fit)] {
        series.extend(more);
        notes.push_str(&sentence);
    }
    let panel = Panel {
        x: swept(shown, name),
        y: axis("achieved rate, ops/s", Scale::Linear),
        series,
        ..Panel::default()
    };
    let caption = format!("Achieved rate in ops/s by {name}: {}.{notes}", names(shown));
    let title = format!("Achieved rate by {name}");
    one_panel([format!("rate-by-{name}"), title, caption], panel)
}

/// Mean and p99 of the response time by the swept key, with the configured delays of an emulated
/// volume.
fn response_time(shown: &[ShownCurve<'_>], name: &str) -> Chart {
    let unit = unit(shown);
    let means = shown.iter().map(|one| one.line(one.name(), Stroke::Solid, |p| one.mean(p, p.x)));
    let p99s = shown.iter().map(|one| one.line(one.name(), Stroke::Dashed, |p| one.p99(p, p.x)));
    let mut series: Vec<Series> = means.chain(p99s).collect();
    let mut notes = String::new();
    if let Some(emulated) = emulated_volume(shown) {
        let delays = [
            ("read delay", emulated.volume.read_delay_ns),
            ("write delay", emulated.volume.write_delay_ns),
        ];
        // A logarithmic axis has no zero, and no delay is no bound.
        for (name, ns) in delays.into_iter().filter(|(_, ns)| *ns > 0) {
            series.push(level(shown, name, unit.scale(ns as f64)));
        }
        notes = emulated::captions(shown[0].findings, unit)[1].clone();
    }
    let (of_fit, sentence) =
        fits(shown, |p| Some(Point::at(p.x, Some(unit.scale(p.response_s * NS_PER_S)))));
    series.extend(of_fit);
    notes.push_str(&sentence);
    let caption = format!(
        "Mean (solid) and p99 (dashed) response time in {} by {name}: {}.{notes}",
        unit.symbol(),
        names(shown)
    );
    let panel = Panel {
        x: swept(shown, name),
        y: axis(&format!("response time, {}", unit.symbol()), Scale::Log(10)),
        series,
        marks: knee_marks(shown),
        ..Panel::default()
    };
    let title = format!("Response time by {name}");
    one_panel([format!("response-time-by-{name}"), title, caption], panel)
}

/// Response time against achieved rate, in the order of the swept key: past saturation the curve
/// turns back. The chart shows the difference between near and far clients, or two systems.
fn response_by_rate(shown: &[ShownCurve<'_>], name: &str) -> Chart {
    let unit = unit(shown);
    let at = |one: &ShownCurve<'_>, p: &CurvePoint| {
        let rate = one.data(p).achieved_rate.map_or(f64::NAN, |r| r.value);
        one.mean(p, rate)
    };
    let lines = shown.iter().map(|one| one.line(one.name(), Stroke::Solid, |p| at(one, p)));
    let mut series: Vec<Series> = lines.collect();
    let mut notes = String::new();
    let of_fit =
        fits(shown, |p| Some(Point::at(p.rate.get(), Some(unit.scale(p.response_s * NS_PER_S)))));
    let rings = knees(shown, at).map(|(rings, sentence)| (vec![rings], sentence));
    for (more, sentence) in [Some(of_fit), rings].into_iter().flatten() {
        series.extend(more);
        notes.push_str(&sentence);
    }
    let marks = match shown {
        [one] => end_of_rates(one),
        _ => Vec::new(),
    };
    let panel = Panel {
        x: axis("achieved rate, ops/s", Scale::Linear),
        y: axis(&format!("mean response time, {}", unit.symbol()), Scale::Log(10)),
        series,
        marks,
        ..Panel::default()
    };
    let caption = format!(
        "Mean response time in {} by achieved rate in ops/s, along the {name}: {}.{notes}",
        unit.symbol(),
        names(shown)
    );
    let title = "Response time against rate".to_owned();
    one_panel([format!("response-time-by-rate-along-{name}"), title, caption], panel)
}
