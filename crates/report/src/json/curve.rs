//! A curve as JSON: its points, latency floor, knees, saturation and models.
//!
//! A missing number is `{"missing": "why"}`, so that a reader can distinguish "not measured" from
//! "not requested".

use analysis::curve::floor::Floor;
use analysis::curve::knee::{Knee, Knees};
use analysis::curve::plateau::Plateau;
use analysis::curve::{Curve, CurvePoint, Missing};
use analysis::fit::{Fit, Fits, FittedParameter};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::estimate::estimate;
use super::verdicts::{growth, saturation_name};
use crate::number::exported;
use crate::verdict::words;

#[derive(Serialize)]
pub(super) struct CurveJson<'a> {
    name: &'a str,
    axis: &'a str,
    /// `closed`: load is the queue depth over all workers; `open`: the offered rate in ops/s;
    /// `not_raised`: the swept key is not a load.
    load: &'static str,
    /// The point with the largest achieved rate.
    saturation_point: Option<usize>,
    floor: Value,
    saturation: Value,
    knees: Value,
    /// Fitted models; not measured.
    fitted: Value,
    /// The point whose two sides of Little's law differ most.
    little_worst_point: Option<usize>,
    points: Vec<CurvePointJson<'a>>,
}

#[derive(Serialize)]
pub(super) struct CurvePointJson<'a> {
    load_point: usize,
    x: f64,
    label: &'a str,
    load: Option<f64>,
    little_mismatch_fraction: Option<f64>,
}

pub(super) fn curve(curve: &Curve) -> CurveJson<'_> {
    CurveJson {
        name: &curve.name,
        axis: &curve.axis,
        load: curve.load.name(),
        saturation_point: curve.most,
        floor: or_missing(&curve.floor, floor),
        saturation: or_missing(&curve.plateau, |plateau| saturation(curve, plateau)),
        knees: or_missing(&curve.knees, knees),
        fitted: or_missing(&curve.fits, |fits| fitted(curve, fits)),
        little_worst_point: curve.little_worst,
        points: curve.points.iter().map(point).collect(),
    }
}

fn point(point: &CurvePoint) -> CurvePointJson<'_> {
    CurvePointJson {
        load_point: point.load_point,
        x: exported(point.x),
        label: &point.label,
        load: point.sample.map(|sample| exported(sample.load)),
        little_mismatch_fraction: point.little.map(|check| exported(check.mismatch)),
    }
}

fn or_missing<T>(found: &Result<T, Missing>, write: impl Fn(&T) -> Value) -> Value {
    match found {
        Ok(found) => write(found),
        Err(missing) => json!({"missing": words::missing(missing)}),
    }
}

fn floor(floor: &Floor) -> Value {
    json!({
        "load_point": floor.load_point,
        "point": floor.point,
        "service_mean_ns": estimate(floor.service_mean_ns),
        "service_p50_ns": floor.service_p50_ns,
        "service_min_ns": floor.service_min_ns,
        "connections": floor.connections,
        "is_pace_of_a_limit": floor.is_pace,
    })
}

fn saturation(curve: &Curve, plateau: &Plateau) -> Value {
    json!({
        "point": plateau.top,
        "load": curve.points.get(plateau.top).and_then(|p| p.sample).map(|s| exported(s.load)),
        "achieved_rate_ops_per_sec": estimate(plateau.level),
        "reached": saturation_name(plateau.state),
        "from_point": plateau.from,
        "growth": plateau.growth.map(growth),
        "falls_fraction": plateau.falls.map(exported),
    })
}

fn knees(knees: &Knees) -> Value {
    let mut all: Map<String, Value> = knees
        .each()
        .into_iter()
        .map(|(method, found)| (method.name().to_owned(), or_missing(found, knee)))
        .collect();
    let objective = knees.objective.map(|objective| {
        json!({
            "response_mean_ns": exported(objective.response_s * 1e9),
            "origin": objective.origin.name(),
        })
    });
    all.insert("objective".to_owned(), json!(objective));
    let disagreement = knees.disagreement.map(|apart| {
        json!({
            "lowest": apart.lowest.name(),
            "highest": apart.highest.name(),
            "factor": exported(apart.factor),
        })
    });
    all.insert("disagreement".to_owned(), json!(disagreement));
    Value::Object(all)
}

fn knee(knee: &Knee) -> Value {
    json!({
        "point": knee.point,
        "load": exported(knee.load),
        "low": exported(knee.low),
        "high": knee.high.map(exported),
    })
}

fn fitted(curve: &Curve, fits: &Fits) -> Value {
    json!({
        "points": fits.points,
        "preferred": fits.preferred.map(|index| fits.fits[index].model.name()),
        "as_good": fits.as_good.iter().map(|p| fits.fits[*p].model.name()).collect::<Vec<_>>(),
        "models": fits.fits.iter().map(|fit| model(curve, fit)).collect::<Vec<_>>(),
    })
}

fn model(curve: &Curve, fit: &Fit) -> Value {
    let parameters: Map<String, Value> =
        fit.parameters.iter().map(|p| (format!("fitted_{}", p.name), parameter(p))).collect();
    // For charts: the rate of a closed curve, the response time of an open one.
    let at = |point: &CurvePoint| {
        point.sample.map(|sample| exported(fit.predicted(sample.load))).filter(|v| v.is_finite())
    };
    json!({
        "model": fit.model.name(),
        "description": words::model(fit.model),
        "fits": fit.is_good(),
        "parameters": parameters,
        "degrees_of_freedom": fit.degrees,
        "residual_rms_fraction": exported(fit.residual_rms),
        "residual_worst_fraction": exported(fit.residual_worst),
        "residual_worst_point": fit.worst_point,
        "aicc": exported(fit.aicc),
        "think_time_s": exported(fit.think_time_s),
        "fitted": curve.points.iter().map(at).collect::<Vec<_>>(),
    })
}

/// `high` is `null` if the interval has no upper bound.
fn parameter(parameter: &FittedParameter) -> Value {
    json!({
        "value": exported(parameter.value),
        "low": exported(parameter.low),
        "high": parameter.high.map(exported),
        "determined": parameter.is_determined(),
    })
}
