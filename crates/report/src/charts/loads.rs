//! Charts of what was raised: queue depth, offered rate, workers, connections, hosts.

use analysis::curve::CurvePoint;
use analysis::curve::knee::KneeMethod;
use analysis::curve::sample::Load;
use analysis::emulated::EmulatedFindings;
use analysis::fit::line::FitPoint;
use analysis::verdict::Limit;

use super::limits::{Unit, ceilings, end_of_rates, fits, knees};
use super::{BYTES_PER_MIB, NS_PER_MS, NS_PER_US, Shown, axis, file_name, level, line, names};
use crate::chart::{Axis, Chart, Mark, Panel, Point, Scale, Series, Shape, Stroke};
use crate::emulated;

/// More places than this do not fit side by side as names.
const PLACES_MAX: usize = 24;
/// Curves for which bars and a second axis can be read.
const TWO_AXES_MAX: usize = 4;

/// All charts of curves with one axis.
pub(super) fn charts(shown: &[Shown<'_>], name: &str) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (family, some) in families(shown) {
        charts.extend(two_axes(&some, name, &family));
    }
    charts.push(throughput(shown, name));
    if scales(name) {
        charts.push(rate(shown, name));
    }
    charts.push(response_time(shown, name));
    charts.push(response_by_rate(shown, name));
    charts
}

/// Axes along which something is added that should bring its own share of rate.
fn scales(name: &str) -> bool {
    let last = super::last_word(name);
    ["hosts", "volumes", "flows", "workers", "connections", "nconnect"].contains(&last)
}

/// The swept quantity: doublings are evenly spaced where all are above 0.
fn swept(shown: &[Shown<'_>], name: &str) -> Axis {
    let positive = shown.iter().flat_map(|one| &one.curve.points).all(|p| p.x > 0.0);
    axis(name, if positive { Scale::Log(2) } else { Scale::Linear })
}

fn one_panel(words: [String; 3], panel: Panel) -> Chart {
    let [name, title, caption] = words;
    Chart { name: file_name(&name), title, caption, panels: vec![panel], ..Chart::default() }
}

/// Curves of one variant, which belong into one chart: with and without something, or of several
/// records.
fn families<'a>(shown: &[Shown<'a>]) -> Vec<(String, Vec<Shown<'a>>)> {
    let mut families: Vec<(String, Vec<Shown<'a>>)> = Vec::new();
    for one in shown {
        let Some(first) = one.curve.points.first() else { continue };
        let variant = &one.findings.load_points[first.load_point].variant;
        match families.iter_mut().find(|(name, _)| name == variant) {
            Some((_, some)) => some.push(*one),
            None => families.push((variant.clone(), vec![*one])),
        }
    }
    families.retain(|(_, some)| some.iter().any(|one| one.curve.points.len() > 1));
    families
}

/// Rate as bars and response time as lines over it, as the published charts of depth have it.
fn two_axes(shown: &[Shown<'_>], name: &str, family: &str) -> Option<Chart> {
    let mut labels: Vec<(f64, &str)> = Vec::new();
    for point in shown.iter().flat_map(|one| &one.curve.points) {
        if !labels.iter().any(|(x, _)| *x == point.x) {
            labels.push((point.x, &point.label));
        }
    }
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    if labels.len() > PLACES_MAX || shown.len() > TWO_AXES_MAX {
        return None;
    }
    // The only curve's name stands in the caption.
    let named = |one: &Shown<'_>, what: &str| match shown.len() {
        1 => what.to_owned(),
        _ => format!("{}, {what}", one.name()),
    };
    let place = |x: f64| labels.iter().position(|l| l.0 == x).unwrap_or(0) as f64;
    let bars = shown.iter().map(|one| {
        let points = one.curve.points.iter().map(|p| one.rate(p, place(p.x))).collect();
        Series {
            name: named(one, "achieved rate"),
            right: false,
            shape: Shape::Bars { points, stacked: false },
        }
    });
    let lines = shown.iter().map(|one| {
        let name = named(one, "mean response time");
        let line = line(one, name, Stroke::Solid, |p| one.mean(p, place(p.x), NS_PER_MS));
        Series { right: true, ..line }
    });
    let series = bars.chain(lines).collect();
    let labels = labels.iter().map(|(_, label)| (*label).to_owned()).collect();
    let caption = format!(
        "Achieved rate in ops/s (bars, left) and mean response time in ms (lines, right) by \
         {name}: {}.",
        names(shown)
    );
    let title = format!("Rate and response time by {name}: {family}");
    let panel = Panel {
        x: axis(name, Scale::Names(labels)),
        y: axis("achieved rate, ops/s", Scale::Linear),
        right: Some(axis("mean response time, ms", Scale::Linear)),
        series,
        ..Panel::default()
    };
    Some(one_panel([format!("rate-and-response-time-by-{name}-{family}"), title, caption], panel))
}

/// The only emulated volume, where all curves are of it.
fn limit<'a>(shown: &[Shown<'a>]) -> Option<&'a EmulatedFindings> {
    let first = shown.first()?.findings.emulated.as_ref()?;
    let same =
        |one: &Shown<'_>| one.findings.emulated.as_ref().is_some_and(|e| e.volume == first.volume);
    shown.iter().all(same).then_some(first)
}

fn throughput(shown: &[Shown<'_>], name: &str) -> Chart {
    let mut series: Vec<Series> = shown
        .iter()
        .map(|one| line(one, one.name(), Stroke::Solid, |p| one.throughput(p, p.x)))
        .collect();
    let mut said = String::new();
    let mut configured = None;
    if let Some(emulated) = limit(shown) {
        let limit = emulated.volume.throughput_limit_bytes_per_s as f64 / BYTES_PER_MIB;
        series.push(level(shown, "throughput limit", limit));
        said = emulated::in_captions(shown[0].findings)[0].clone();
        configured = Some(Limit::VolumeThroughput);
    }
    let of_fit = |p: &FitPoint| Some(Point::at(p.x, Some(p.throughput? / BYTES_PER_MIB)));
    for (more, words) in [ceilings(shown, Unit::MibPerSecond, configured), fits(shown, of_fit)] {
        series.extend(more);
        said.push_str(&words);
    }
    let caption = format!("Throughput in MiB/s by {name}: {}.{said}", names(shown));
    let panel = Panel {
        x: swept(shown, name),
        y: axis("throughput, MiB/s", Scale::Linear),
        series,
        marks: knees_along(shown),
        ..Panel::default()
    };
    let title = format!("Throughput by {name}");
    one_panel([format!("throughput-by-{name}"), title, caption], panel)
}

fn rate(shown: &[Shown<'_>], name: &str) -> Chart {
    let lines = shown.iter().map(|one| line(one, one.name(), Stroke::Solid, |p| one.rate(p, p.x)));
    let mut series: Vec<Series> = lines.collect();
    let mut said = String::new();
    let of_fit = |p: &FitPoint| Some(Point::at(p.x, Some(p.rate)));
    for (more, words) in [ceilings(shown, Unit::OpsPerSecond, None), fits(shown, of_fit)] {
        series.extend(more);
        said.push_str(&words);
    }
    let panel = Panel {
        x: swept(shown, name),
        y: axis("achieved rate, ops/s", Scale::Linear),
        series,
        ..Panel::default()
    };
    let caption = format!("Achieved rate in ops/s by {name}: {}.{said}", names(shown));
    let title = format!("Achieved rate by {name}");
    one_panel([format!("rate-by-{name}"), title, caption], panel)
}

/// Response time, mean and p99, over what was swept, and the delays below which nothing can be
/// where they are known.
fn response_time(shown: &[Shown<'_>], name: &str) -> Chart {
    let means = shown
        .iter()
        .map(|one| line(one, one.name(), Stroke::Solid, |p| one.mean(p, p.x, NS_PER_US)));
    let p99s = shown
        .iter()
        .map(|one| line(one, one.name(), Stroke::Dashed, |p| one.p99(p, p.x, NS_PER_US)));
    let mut series: Vec<Series> = means.chain(p99s).collect();
    let mut said = String::new();
    if let Some(emulated) = limit(shown) {
        let delays = [
            ("read delay", emulated.volume.read_delay_ns),
            ("write delay", emulated.volume.write_delay_ns),
        ];
        // Zero has no place on a logarithmic axis, and is no bound.
        for (name, ns) in delays.into_iter().filter(|(_, ns)| *ns > 0) {
            series.push(level(shown, name, ns as f64 / NS_PER_US));
        }
        said = emulated::in_captions(shown[0].findings)[1].clone();
    }
    let (of_fit, words) =
        fits(shown, |p| Some(Point::at(p.x, Some(p.response_s * 1e9 / NS_PER_US))));
    series.extend(of_fit);
    said.push_str(&words);
    let caption = format!(
        "Mean (solid) and p99 (dashed) response time in µs by {name}: {}.{said}",
        names(shown)
    );
    let panel = Panel {
        x: swept(shown, name),
        y: axis("response time, µs", Scale::Log(10)),
        series,
        marks: knees_along(shown),
        ..Panel::default()
    };
    let title = format!("Response time by {name}");
    one_panel([format!("response-time-by-{name}"), title, caption], panel)
}

/// Response time over achieved rate, drawn in the order of what was swept: past saturation the
/// curve bends back. Near and far clients, or two systems, are told apart here at a glance.
fn response_by_rate(shown: &[Shown<'_>], name: &str) -> Chart {
    let at = |one: &Shown<'_>, p: &CurvePoint| {
        let rate = one.data(p).achieved_rate.map_or(f64::NAN, |r| r.value);
        one.mean(p, rate, NS_PER_US)
    };
    let lines = shown.iter().map(|one| line(one, one.name(), Stroke::Solid, |p| at(one, p)));
    let mut series: Vec<Series> = lines.collect();
    let mut said = String::new();
    let of_fit = fits(shown, |p| Some(Point::at(p.rate, Some(p.response_s * 1e9 / NS_PER_US))));
    let rings = knees(shown, at).map(|(rings, words)| (vec![rings], words));
    for (more, words) in [Some(of_fit), rings].into_iter().flatten() {
        series.extend(more);
        said.push_str(&words);
    }
    let marks = match shown {
        [one] => end_of_rates(one),
        _ => Vec::new(),
    };
    let panel = Panel {
        x: axis("achieved rate, ops/s", Scale::Linear),
        y: axis("mean response time, µs", Scale::Log(10)),
        series,
        marks,
        ..Panel::default()
    };
    let caption = format!(
        "Mean response time in µs by achieved rate in ops/s, along the {name}: {}.{said}",
        names(shown)
    );
    let title = "Response time against rate".to_owned();
    one_panel([format!("response-time-by-rate-along-{name}"), title, caption], panel)
}

/// Saturation, where it was reached.
pub(super) fn saturation(one: &Shown<'_>) -> Option<Mark> {
    let plateau = one.curve.plateau.as_ref().ok().filter(|plateau| plateau.is_reached())?;
    Some(Mark { name: "saturation".to_owned(), x: plateau.level.value })
}

/// The knees of the only curve, by their methods: with several, marks could not be told apart.
fn knees_along(shown: &[Shown<'_>]) -> Vec<Mark> {
    let [one] = shown else { return Vec::new() };
    let Ok(knees) = &one.curve.knees else { return Vec::new() };
    let mut marks: Vec<Mark> = Vec::new();
    for (method, knee) in knees.each() {
        let Ok(knee) = knee else { continue };
        // A load is a place on the axis only where the axis is that load.
        let place = knee.point.and_then(|point| one.curve.points.get(point)).map(|p| p.x);
        let on_axis =
            one.curve.axis == analysis::curve::QUEUE_DEPTH && one.curve.load == Load::Closed;
        let Some(x) = place.or(on_axis.then_some(knee.load)) else { continue };
        let name = in_words(method);
        match marks.iter_mut().find(|mark| mark.x == x) {
            Some(mark) => mark.name.push_str(&format!(", {name}")),
            None => marks.push(Mark { name: format!("knee: {name}"), x }),
        }
    }
    marks
}

/// A method in a mark's words.
pub(crate) const fn in_words(method: KneeMethod) -> &'static str {
    match method {
        KneeMethod::Power => "power",
        KneeMethod::Slo => "objective",
        KneeMethod::Kneedle => "Kneedle",
        KneeMethod::Bounds => "bounds",
    }
}
