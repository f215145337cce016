//! Floor, knees, saturation and fitted models of each curve along which the load was raised, in
//! plain words.

use analysis::Findings;
use analysis::curve::floor::Floor;
use analysis::curve::knee::{Knee, KneeMethod, Knees, Origin};
use analysis::curve::sample::Load;
use analysis::curve::{Curve, Missing};
use analysis::fit::{Fit, Fits, FittedParameter, RMS_MAX};
use units::Nanos;

use crate::document::{Block, Section};
use crate::number::{percent, plain};

/// Fewer points are no curve.
const POINTS_MIN: usize = 2;
/// More curves than this are counted, not listed; JSON and the CSV of curves have them all.
const CURVES_MAX: usize = 24;

/// The section; nothing where no load was raised.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let raised = |curve: &&Curve| curve.load != Load::NotRaised && curve.points.len() >= POINTS_MIN;
    let curves: Vec<&Curve> = findings.curves.iter().filter(raised).collect();
    let mut blocks = Vec::new();
    for curve in curves.iter().take(CURVES_MAX) {
        blocks.push(Block::Paragraph(curve.name.clone()));
        blocks.push(Block::List(lines(findings, curve)));
    }
    let more = curves.len().saturating_sub(CURVES_MAX);
    if more > 0 {
        let words = format!("And {more} curves more: `export --format curves` has them all.");
        blocks.push(Block::Paragraph(words));
    }
    (!blocks.is_empty()).then(|| Section {
        id: "bends",
        title: "Latency floor, knee and saturation".to_owned(),
        blocks,
        method: vec!["Floor", "Saturation", "Knees", "Fitted models", "Little's law"],
    })
}

fn lines(findings: &Findings, curve: &Curve) -> Vec<String> {
    let mut lines = vec![
        curve.floor.as_ref().map_or_else(|why| missing("latency floor", why), floor),
        match &curve.plateau {
            Ok(_) => saturation(findings, curve),
            Err(why) => missing("saturation", why),
        },
    ];
    match &curve.knees {
        Ok(found) => lines.extend(knees(curve, found)),
        Err(why) => lines.push(missing("knee", why)),
    }
    match &curve.fits {
        Ok(found) => lines.push(fitted(curve, found)),
        Err(why) => lines.push(missing("fitted model", why)),
    }
    lines.extend(little(curve));
    lines
}

fn missing(what: &str, why: &Missing) -> String {
    format!("{what}: none, {}", why.in_words())
}

/// `queue depth 16`
fn place(curve: &Curve, point: usize) -> String {
    let label = &curve.points[point].label;
    format!("{} {label}", curve.axis)
}

fn floor(floor: &Floor) -> String {
    if floor.is_pace {
        return format!(
            "latency floor: not measured; at queue depth 1 throughput is already at a limit, and \
             {} is that limit's pace",
            Nanos(floor.service_mean_ns.value)
        );
    }
    let mut words =
        format!("latency floor: {} mean service time", Nanos(floor.service_mean_ns.value));
    if let Some(p50) = floor.service_p50_ns {
        words.push_str(&format!(" (median {})", Nanos(p50 as f64)));
    }
    words.push_str(" at queue depth 1 of one worker");
    match floor.connections {
        None | Some(1) => {}
        Some(count) => words.push_str(&format!(", over {count} connections")),
    }
    words
}

/// Whether throughput has stopped rising, from the verdict on the curve.
fn saturation(findings: &Findings, curve: &Curve) -> String {
    let of_curve = curve.points.first().and_then(|point| findings.verdict_of(point.load_point));
    let Some(verdict) = of_curve else { return missing("saturation", &Missing::NothingMeasured) };
    let mut words = super::summary::end(findings, verdict);
    if let Some(falls) = verdict.plateau.falls {
        let last = curve.points.len() - 1;
        words.push_str(&format!(
            " At {} throughput is {} below the highest.",
            place(curve, last),
            percent(falls)
        ));
    }
    words
}

fn knees(curve: &Curve, knees: &Knees) -> Vec<String> {
    let unit = match curve.load {
        Load::Open => "ops/s offered",
        Load::Closed | Load::NotRaised => "outstanding",
    };
    let objective = knees.objective.map(|one| (one.origin, Nanos(one.response_s * 1e9)));
    let each = knees.each().into_iter().filter_map(|(method, found)| {
        let name = match method {
            KneeMethod::Power => "largest rate per response time".to_owned(),
            KneeMethod::Slo => match &objective {
                Some((Origin::Given, time)) => format!("last within {time}"),
                Some((Origin::TwiceFloor, time)) => format!("last within twice the floor ({time})"),
                Some((Origin::TwiceShortest, time)) => {
                    format!("last within twice the shortest ({time})")
                }
                None => "last within an objective".to_owned(),
            },
            KneeMethod::Kneedle => "Kneedle".to_owned(),
            // Only a closed loop has such bounds.
            KneeMethod::Bounds if curve.load == Load::Open => return None,
            KneeMethod::Bounds => "floor times saturation".to_owned(),
        };
        Some(match found {
            Ok(knee) => format!("{name} {}", bracketed(knee)),
            Err(why) => format!("{name} none, {}", why.in_words()),
        })
    });
    let mut lines = vec![format!("knee, {unit}: {}", each.collect::<Vec<_>>().join("; "))];
    if let Some(apart) = knees.disagreement {
        lines.push(format!(
            "the knees disagree: {} and {} lie a factor of {} apart, so the curve has no one bend",
            apart.lowest.name(),
            apart.highest.name(),
            plain(apart.factor)
        ));
    }
    lines
}

/// `16 (8 to 32)`
fn bracketed(knee: &Knee) -> String {
    let number = |value: f64| match value.fract() == 0.0 {
        true => crate::number::thousands(value as i128),
        false => plain(value),
    };
    let high = knee.high.map_or("more".to_owned(), number);
    format!("{} ({} to {high})", number(knee.load), number(knee.low))
}

fn fitted(curve: &Curve, fits: &Fits) -> String {
    let Some(best) = fits.preferred.map(|place| &fits.fits[place]) else {
        let closest = fits.fits.iter().min_by(|a, b| a.residual_rms.total_cmp(&b.residual_rms));
        let words = closest.map_or(String::new(), |fit| {
            format!("; the closest, {}, {}", fit.model.in_words(), misses(curve, fit))
        });
        return format!("fitted model: none fits within {}{words}", percent(RMS_MAX));
    };
    let parameters: Vec<String> = best.parameters.iter().map(parameter).collect();
    let mut words = format!(
        "fitted, not measured: {}, {}; it {}",
        best.model.in_words(),
        parameters.join(", "),
        misses(curve, best)
    );
    if !fits.as_good.is_empty() {
        let names: Vec<&str> =
            fits.as_good.iter().map(|place| fits.fits[*place].model.in_words()).collect();
        words.push_str(&format!("; about as good: {}", names.join(", ")));
    }
    words
}

/// `misses the points by 0.2 %, at most by 0.6 % at queue depth 8`
fn misses(curve: &Curve, fit: &Fit) -> String {
    format!(
        "misses the points by {}, at most by {} at {}",
        percent(fit.residual_rms),
        percent(fit.residual_worst.abs()),
        place(curve, fit.worst_point)
    )
}

/// `capacity 8,192 ops/s +- 0.4 %`, `servers 4 (3 to 5)`, `capacity above 8,000 ops/s`.
fn parameter(parameter: &FittedParameter) -> String {
    let FittedParameter { value, low, high, .. } = *parameter;
    let (name, print): (&str, fn(f64) -> String) = match parameter.name {
        "delay_s" => ("delay", |s| Nanos(s * 1e9).to_string()),
        "alone_s" => ("alone", |s| Nanos(s * 1e9).to_string()),
        "capacity_ops_per_s" => ("capacity", |rate| format!("{} ops/s", plain(rate))),
        "gamma_ops_per_s" => ("gamma", |rate| format!("{} ops/s", plain(rate))),
        "servers" => ("servers", |servers| format!("{servers:.0}")),
        name => (name, share),
    };
    let whole = parameter.name == "servers";
    let Some(high) = high else { return format!("{name} above {}", print(low)) };
    if whole || !parameter.is_determined() {
        format!("{name} {} ({} to {})", print(value), print(low), print(high))
    } else {
        format!("{name} {} +- {}", print(value), percent((high - low) / 2.0 / value))
    }
}

/// A share without unit, which may be very small.
fn share(value: f64) -> String {
    if value != 0.0 && value < 0.001 { format!("{value:.1e}") } else { format!("{value:.3}") }
}

fn little(curve: &Curve) -> Option<String> {
    let worst = curve.little_worst?;
    let check = curve.points[worst].little?;
    Some(format!(
        "Little's law: its two sides differ by {} at most, at {}",
        percent(check.mismatch.abs()),
        place(curve, worst)
    ))
}
