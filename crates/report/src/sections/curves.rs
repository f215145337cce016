//! Latency floor, knees, saturation and fitted model of each curve along which the load was raised.

use analysis::Findings;
use analysis::curve::floor::Floor;
use analysis::curve::knee::{Knee, KneeMethod, Knees, Objective, Origin};
use analysis::curve::{Curve, Missing};
use analysis::fit::{Fit, Fits, FittedParameter, RMS_MAX};
use analysis::load_point::LoadPoint;
use analysis::sample::Load;

use crate::document::{Block, Section};
use crate::number::{NS_PER_S, TimeUnit, percent, plain, thousands};
use crate::results::{time_unit, unloaded};
use crate::verdict::{self, words};

/// A curve has at least this many points.
const POINTS_MIN: usize = 2;
/// More curves are counted, not listed; JSON and the CSV of curves have them all.
const CURVES_MAX: usize = 24;

/// The section; `None` if no load was raised.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let raised = |curve: &&Curve| curve.load != Load::NotRaised && curve.points.len() >= POINTS_MIN;
    let curves: Vec<&Curve> = findings.curves.iter().filter(raised).collect();
    let unit = time_unit(&[findings]);
    let mut blocks = Vec::new();
    for curve in curves.iter().take(CURVES_MAX) {
        blocks.push(Block::Paragraph(curve.name.clone()));
        blocks.push(Block::List(lines(findings, curve, unit)));
    }
    let more = curves.len().saturating_sub(CURVES_MAX);
    if more > 0 {
        blocks.push(Block::Paragraph(format!(
            "{more} more curves; `export --format curves` has all."
        )));
    }
    (!blocks.is_empty()).then(|| Section {
        id: "knee",
        title: "Latency floor, knee and saturation".to_owned(),
        blocks,
        method: vec!["Latency floor", "Saturation", "Knees", "Fitted models", "Little's law"],
    })
}

fn lines(findings: &Findings, curve: &Curve, unit: TimeUnit) -> Vec<String> {
    let mut lines = vec![
        match &curve.floor {
            Ok(found) => floor(found, &findings.load_points[found.load_point], unit),
            Err(why) => missing("latency floor", why),
        },
        match &curve.plateau {
            Ok(_) => saturation(findings, curve),
            Err(why) => missing("saturation", why),
        },
    ];
    match &curve.knees {
        Ok(found) => lines.extend(knees(curve, found, unit)),
        Err(why) => lines.push(missing("knee", why)),
    }
    match &curve.fits {
        Ok(found) => lines.push(fitted(curve, found, unit)),
        Err(why) => lines.push(missing("fitted model", why)),
    }
    lines.extend(little(curve));
    lines
}

fn missing(what: &str, why: &Missing) -> String {
    format!("{what}: none, {}", words::missing(why))
}

/// `queue depth 16`
fn load(curve: &Curve, point: usize) -> String {
    let label = &curve.points[point].label;
    format!("{} {label}", curve.axis)
}

/// * `load_point` - that of the floor
fn floor(floor: &Floor, load_point: &LoadPoint, unit: TimeUnit) -> String {
    let load = unloaded(load_point);
    let mean = unit.with_symbol(floor.service_mean_ns.value);
    if floor.is_pace {
        return format!(
            "latency floor: not measured; throughput is already at a limit at {load}, and that \
             limit sets the {mean} per operation"
        );
    }
    let mut line = format!("latency floor: mean service time {mean}");
    if let Some(p50) = floor.service_p50_ns {
        line.push_str(&format!(" (median {})", unit.with_symbol(p50 as f64)));
    }
    if load_point.queue_depth_total == 1 {
        line.push_str(" with one worker");
    }
    line.push_str(&format!(" at {load}"));
    match floor.connections {
        None | Some(1) => {}
        Some(count) => line.push_str(&format!(", over {count} connections")),
    }
    line
}

/// Whether throughput has stopped rising, from the verdict on the curve.
fn saturation(findings: &Findings, curve: &Curve) -> String {
    let of_curve = curve.points.first().and_then(|point| findings.verdict_of(point.load_point));
    let Some(verdict) = of_curve else { return missing("saturation", &Missing::NothingMeasured) };
    let mut line = super::summary::saturation(findings, verdict);
    if let Some(falls) = verdict.plateau.falls {
        let last = verdict::last_whole(findings, verdict);
        line.push_str(&format!(
            " At {} throughput is {} below its peak.",
            load(curve, last),
            percent(falls)
        ));
    }
    line
}

fn knees(curve: &Curve, knees: &Knees, unit: TimeUnit) -> Vec<String> {
    let quantity = match curve.load {
        Load::Open => "ops/s offered",
        Load::Closed | Load::NotRaised => "outstanding",
    };
    let time = |objective: Objective| unit.with_symbol(objective.response_s * NS_PER_S);
    let objective = knees.objective.map(|one| (one.origin, time(one)));
    let each = knees.each().into_iter().filter_map(|(method, found)| {
        let name = match method {
            KneeMethod::Power => "maximum rate/response time".to_owned(),
            KneeMethod::Slo => match &objective {
                Some((Origin::Given, time)) => format!("last within {time}"),
                Some((Origin::TwiceFloor, time)) => format!("last within twice the floor ({time})"),
                Some((Origin::TwiceShortest, time)) => {
                    format!("last within twice the lowest response time ({time})")
                }
                None => "last within an objective".to_owned(),
            },
            KneeMethod::Kneedle => "Kneedle".to_owned(),
            // The bounds are those of a closed loop.
            KneeMethod::Bounds if curve.load == Load::Open => return None,
            KneeMethod::Bounds => "floor x saturation".to_owned(),
        };
        Some(match found {
            Ok(knee) => format!("{name} {}", bracketed(knee)),
            Err(why) => format!("{name} none, {}", words::missing(why)),
        })
    });
    let mut lines = vec![format!("knee, {quantity}: {}", each.collect::<Vec<_>>().join("; "))];
    if let Some(disagreement) = knees.disagreement {
        lines.push(format!(
            "the knees disagree: {} and {} differ by a factor of {}, so the curve has no single \
             bend",
            disagreement.lowest.name(),
            disagreement.highest.name(),
            plain(disagreement.factor)
        ));
    }
    lines
}

/// `16 (8 to 32)`
fn bracketed(knee: &Knee) -> String {
    let number = |value: f64| match value.fract() == 0.0 {
        true => thousands(value as i128),
        false => plain(value),
    };
    let high = knee.high.map_or("more".to_owned(), number);
    format!("{} ({} to {high})", number(knee.load), number(knee.low))
}

fn fitted(curve: &Curve, fits: &Fits, unit: TimeUnit) -> String {
    let Some(best) = fits.preferred.map(|index| &fits.fits[index]) else {
        let closest = fits.fits.iter().min_by(|a, b| a.residual_rms.total_cmp(&b.residual_rms));
        let closest = closest.map_or(String::new(), |fit| {
            format!("; the closest, {}, {}", words::model(fit.model), error(curve, fit))
        });
        return format!("fitted model: none fits within {}{closest}", percent(RMS_MAX));
    };
    let parameters = best.parameters.iter().map(|found| parameter(found, unit));
    let parameters: Vec<String> = parameters.collect();
    let mut line = format!(
        "fitted, not measured: {}, {}; it {}",
        words::model(best.model),
        parameters.join(", "),
        error(curve, best)
    );
    if !fits.as_good.is_empty() {
        let names: Vec<&str> =
            fits.as_good.iter().map(|index| words::model(fits.fits[*index].model)).collect();
        line.push_str(&format!("; about as good: {}", names.join(", ")));
    }
    line
}

/// `misses the points by 0.2 % (RMS), by at most 0.6 % at queue depth 8`
fn error(curve: &Curve, fit: &Fit) -> String {
    format!(
        "misses the points by {} (RMS), by at most {} at {}",
        percent(fit.residual_rms),
        percent(fit.residual_worst.abs()),
        load(curve, fit.worst_point)
    )
}

/// `capacity 8,192 ops/s ± 0.4 %`, `servers 4 (3 to 5)`, `capacity above 8,000 ops/s`.
fn parameter(parameter: &FittedParameter, unit: TimeUnit) -> String {
    let FittedParameter { value, low, high, .. } = *parameter;
    let time = |s: f64| unit.with_symbol(s * NS_PER_S);
    let rate = |rate: f64| format!("{} ops/s", plain(rate));
    let count = |servers: f64| format!("{servers:.0}");
    let (name, print): (&str, &dyn Fn(f64) -> String) = match parameter.name {
        "delay_s" => ("delay", &time),
        "alone_s" => ("unloaded", &time),
        "capacity_ops_per_s" => ("capacity", &rate),
        "gamma_ops_per_s" => ("gamma", &rate),
        "servers" => ("servers", &count),
        name => (name, &fraction),
    };
    let is_count = parameter.name == "servers";
    let Some(high) = high else { return format!("{name} above {}", print(low)) };
    if is_count || !parameter.is_determined() {
        format!("{name} {} ({} to {})", print(value), print(low), print(high))
    } else {
        format!("{name} {} ± {}", print(value), percent((high - low) / 2.0 / value))
    }
}

/// A number without unit, which may be very small.
fn fraction(value: f64) -> String {
    if value != 0.0 && value < 0.001 { format!("{value:.1e}") } else { format!("{value:.3}") }
}

fn little(curve: &Curve) -> Option<String> {
    let worst = curve.little_worst?;
    let check = curve.points[worst].little?;
    Some(format!(
        "Little's law: its two sides differ by at most {}, at {}",
        percent(check.mismatch.abs()),
        load(curve, worst)
    ))
}
