//! A curve as JSON: its points, latency floor, knees, saturation and models.
//!
//! A missing number is `{"missing": "why"}`, so that a reader can distinguish "not measured" from
//! "not requested".

use std::collections::BTreeMap;

use analysis::curve::floor::Floor;
use analysis::curve::knee::{Knee, Knees};
use analysis::curve::plateau::Plateau;
use analysis::curve::{Curve, CurvePoint, Missing};
use analysis::fit::{Fit, Fits, FittedParameter};
use schemars::JsonSchema;
use serde::Serialize;

use super::estimate::{EstimateJson, estimate};
use super::users::{OverloadPointJson, overload_point};
use super::verdicts::{GrowthJson, growth, saturation_name};
use crate::number::exported;
use crate::verdict::words;

/// A series of load points and what it shows.
#[derive(Serialize, JsonSchema)]
pub(super) struct CurveJson<'a> {
    /// Its name: the parameters that all its points have in common.
    name: &'a str,
    /// The swept parameter; without one the kind of load: `queue depth`, `users`, `offered rate`, or
    /// `load` for several of these next to each other.
    axis: &'a str,
    /// `closed`: load is the queue depth over all workers; `open`: the offered rate in ops/s;
    /// `not_raised`: the swept key is not a load.
    load: &'static str,
    /// The point with the largest achieved rate.
    saturation_point: Option<usize>,
    /// The latency floor: the response at the lowest load.
    floor: Found<FloorJson>,
    /// Whether throughput has stopped rising.
    saturation: Found<SaturationJson>,
    /// The knees, by method.
    knees: Found<KneesJson>,
    /// Fitted models; not measured.
    fitted: Found<FittedJson>,
    /// The point whose two sides of Little's law differ most.
    little_worst_point: Option<usize>,
    /// Only for curves over users.
    #[serde(skip_serializing_if = "Option::is_none")]
    overload_point: Option<OverloadPointJson>,
    /// The points, in order of the load.
    points: Vec<CurvePointJson<'a>>,
}

/// A point of a curve.
#[derive(Serialize, JsonSchema)]
pub(super) struct CurvePointJson<'a> {
    /// The load point, by its index in `load_points`.
    load_point: usize,
    /// The value of the swept parameter.
    x: f64,
    /// The same as text, with the hosts of the totals if some were lost: `16 (23/24 hosts)`.
    label: &'a str,
    /// The load: operations in flight or ops/s, see the curve's `load`; null if hosts were lost.
    load: Option<f64>,
    /// The difference between the sides of Little's law, as a share.
    little_mismatch_fraction: Option<f64>,
}

/// A value, or the reason why there is none.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Found<T> {
    /// It was found.
    Found(T),
    /// It is missing.
    Missing(MissingJson),
}

/// Why a value is missing.
#[derive(Serialize, JsonSchema)]
struct MissingJson {
    /// The reason.
    missing: String,
}

/// The latency floor.
#[derive(Serialize, JsonSchema)]
struct FloorJson {
    /// The load point, by its index in `load_points`.
    load_point: usize,
    /// The point, by its index in the curve.
    point: usize,
    /// The mean service time.
    service_mean_ns: EstimateJson,
    /// The median service time; null with too few samples.
    service_p50_ns: Option<u64>,
    /// The shortest service time.
    service_min_ns: Option<u64>,
    /// Connections of the built-in client; null without it.
    connections: Option<usize>,
    /// Throughput is already at a limit, which determines this time.
    is_pace_of_a_limit: bool,
}

/// Whether throughput has stopped rising.
#[derive(Serialize, JsonSchema)]
struct SaturationJson {
    /// The point with the highest throughput.
    point: usize,
    /// Its load.
    load: Option<f64>,
    /// The rate at saturation; the highest rate if it is not reached.
    achieved_rate_ops_per_sec: EstimateJson,
    /// `reached`, `not_reached` or `inconclusive`.
    reached: &'static str,
    /// The first point at this rate.
    from_point: Option<usize>,
    /// How much throughput grew at the end of the curve.
    growth: Option<GrowthJson>,
    /// How much throughput falls behind the highest point, as a share.
    falls_fraction: Option<f64>,
}

/// The knees of a curve.
#[derive(Serialize, JsonSchema)]
struct KneesJson {
    /// The highest throughput divided by latency.
    knee_power: Found<KneeJson>,
    /// The last point that meets the latency objective.
    knee_slo: Found<KneeJson>,
    /// By the method Kneedle.
    knee_kneedle: Found<KneeJson>,
    /// The crossing of the asymptotic bounds.
    knee_bounds: Found<KneeJson>,
    /// The latency objective of `knee_slo`.
    objective: Option<ObjectiveJson>,
    /// The methods disagree.
    disagreement: Option<DisagreementJson>,
}

/// A knee.
#[derive(Serialize, JsonSchema)]
struct KneeJson {
    /// The point, by its index in the curve; null if the knee is between points.
    point: Option<usize>,
    /// The load.
    load: f64,
    /// The lower end of its 95 % interval.
    low: f64,
    /// The upper end; null if it is unbounded.
    high: Option<f64>,
}

/// A latency objective.
#[derive(Serialize, JsonSchema)]
struct ObjectiveJson {
    /// The highest acceptable mean response time.
    response_mean_ns: f64,
    /// Where it comes from.
    origin: &'static str,
}

/// Methods whose knees differ.
#[derive(Serialize, JsonSchema)]
struct DisagreementJson {
    /// The method with the lowest load.
    lowest: &'static str,
    /// The method with the highest load.
    highest: &'static str,
    /// The ratio of the loads.
    factor: f64,
}

/// Models fitted to a curve.
#[derive(Serialize, JsonSchema)]
struct FittedJson {
    /// Points that were fitted.
    points: usize,
    /// The model to prefer; null if none fits.
    preferred: Option<&'static str>,
    /// Models that fit as well.
    as_good: Vec<&'static str>,
    /// Every model.
    models: Vec<ModelJson>,
}

/// A fitted model.
#[derive(Serialize, JsonSchema)]
struct ModelJson {
    /// Its name.
    model: &'static str,
    /// What it assumes.
    description: &'static str,
    /// It fits the points.
    fits: bool,
    /// Its parameters: `fitted_` and the parameter's name.
    parameters: BTreeMap<String, ParameterJson>,
    /// Points minus parameters.
    degrees_of_freedom: usize,
    /// The root mean square of the relative residuals.
    residual_rms_fraction: f64,
    /// The largest relative residual.
    residual_worst_fraction: f64,
    /// The point that has it.
    residual_worst_point: usize,
    /// The corrected information criterion of Akaike; null without enough points.
    aicc: Option<f64>,
    /// The time between operations of a client in this model.
    think_time_s: f64,
    /// The fitted value at each point, for charts: the rate of a closed curve, the response time in
    /// s of an open one.
    fitted: Vec<Option<f64>>,
}

/// A parameter of a model.
#[derive(Serialize, JsonSchema)]
struct ParameterJson {
    /// The value.
    value: f64,
    /// The lower end of its 95 % interval.
    low: f64,
    /// The upper end; null if it is unbounded.
    high: Option<f64>,
    /// The points determine its value.
    determined: bool,
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
        overload_point: curve.overload_point.map(overload_point),
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

fn or_missing<'f, T, J>(found: &'f Result<T, Missing>, write: impl Fn(&'f T) -> J) -> Found<J> {
    match found {
        Ok(found) => Found::Found(write(found)),
        Err(missing) => Found::Missing(MissingJson { missing: words::missing(missing) }),
    }
}

fn floor(floor: &Floor) -> FloorJson {
    FloorJson {
        load_point: floor.load_point,
        point: floor.point,
        service_mean_ns: estimate(floor.service_mean_ns),
        service_p50_ns: floor.service_p50_ns,
        service_min_ns: floor.service_min_ns,
        connections: floor.connections,
        is_pace_of_a_limit: floor.is_pace,
    }
}

fn saturation(curve: &Curve, plateau: &Plateau) -> SaturationJson {
    SaturationJson {
        point: plateau.top,
        load: curve.points.get(plateau.top).and_then(|p| p.sample).map(|s| exported(s.load)),
        achieved_rate_ops_per_sec: estimate(plateau.level),
        reached: saturation_name(plateau.state),
        from_point: plateau.from,
        growth: plateau.growth.map(growth),
        falls_fraction: plateau.falls.map(exported),
    }
}

fn knees(knees: &Knees) -> KneesJson {
    KneesJson {
        knee_power: or_missing(&knees.power, knee),
        knee_slo: or_missing(&knees.slo, knee),
        knee_kneedle: or_missing(&knees.kneedle, knee),
        knee_bounds: or_missing(&knees.bounds, knee),
        objective: knees.objective.map(|objective| ObjectiveJson {
            response_mean_ns: exported(objective.response_s * 1e9),
            origin: objective.origin.name(),
        }),
        disagreement: knees.disagreement.map(|apart| DisagreementJson {
            lowest: apart.lowest.name(),
            highest: apart.highest.name(),
            factor: exported(apart.factor),
        }),
    }
}

fn knee(knee: &Knee) -> KneeJson {
    KneeJson {
        point: knee.point,
        load: exported(knee.load),
        low: exported(knee.low),
        high: knee.high.map(exported),
    }
}

fn fitted(curve: &Curve, fits: &Fits) -> FittedJson {
    FittedJson {
        points: fits.points,
        preferred: fits.preferred.map(|index| fits.fits[index].model.name()),
        as_good: fits.as_good.iter().map(|p| fits.fits[*p].model.name()).collect(),
        models: fits.fits.iter().map(|fit| model(curve, fit)).collect(),
    }
}

fn model(curve: &Curve, fit: &Fit) -> ModelJson {
    let parameters = fit.parameters.iter().map(|p| (format!("fitted_{}", p.name), parameter(p)));
    let at = |point: &CurvePoint| {
        point.sample.map(|sample| exported(fit.predicted(sample.load))).filter(|v| v.is_finite())
    };
    ModelJson {
        model: fit.model.name(),
        description: words::model(fit.model),
        fits: fit.is_good(),
        parameters: parameters.collect(),
        degrees_of_freedom: fit.degrees,
        residual_rms_fraction: exported(fit.residual_rms),
        residual_worst_fraction: exported(fit.residual_worst),
        residual_worst_point: fit.worst_point,
        aicc: Some(exported(fit.aicc)).filter(|aicc| aicc.is_finite()),
        think_time_s: exported(fit.think_time_s),
        fitted: curve.points.iter().map(at).collect(),
    }
}

fn parameter(parameter: &FittedParameter) -> ParameterJson {
    ParameterJson {
        value: exported(parameter.value),
        low: exported(parameter.low),
        high: parameter.high.map(exported),
        determined: parameter.is_determined(),
    }
}
