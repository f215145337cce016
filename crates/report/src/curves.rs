//! Curves as CSV: one line for each point of each curve, with floor, saturation, knees and model.
//! `docs/reference/curves.md` describes the columns.

use std::io::{self, Write};

use analysis::Findings;
use analysis::curve::knee::Knees;
use analysis::curve::{Curve, CurvePoint};
use analysis::estimate::Estimate;
use analysis::fit::Fit;
use analysis::load_point::LoadPoint;

use crate::csv::quoted;
use crate::json::verdicts::saturation_name;
use crate::number::exported;

/// Names of the columns, in order.
pub const COLUMNS: [&str; 26] = [
    "experiment_id",
    "curve",
    "axis",
    "label",
    "x",
    "load_kind",
    "load",
    "load_point",
    "achieved_rate_ops_per_sec",
    "achieved_rate_uncertainty_ops_per_sec",
    "throughput_bytes_per_sec",
    "throughput_uncertainty_bytes_per_sec",
    "response_mean_ns",
    "response_mean_uncertainty_ns",
    "response_p50_ns",
    "response_p99_ns",
    "outstanding_mean_ops",
    "little_mismatch_fraction",
    "is_floor",
    "is_saturation",
    "saturation_reached",
    "is_knee_power",
    "is_knee_slo",
    "is_knee_kneedle",
    "fitted_model",
    "fitted_achieved_rate_or_response_s",
];

/// Writes every point of every curve.
///
/// # Errors
/// Errors of `out`.
pub fn write_csv(findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", COLUMNS.join(","))?;
    for curve in &findings.curves {
        for (index, point) in curve.points.iter().enumerate() {
            let load_point = &findings.load_points[point.load_point];
            let cells = line(&findings.id, curve, index, point, load_point);
            writeln!(out, "{}", cells.join(","))?;
        }
    }
    Ok(())
}

fn line(
    id: &str,
    curve: &Curve,
    index: usize,
    point: &CurvePoint,
    load_point: &LoadPoint,
) -> [String; COLUMNS.len()] {
    let total = &load_point.merged.total;
    let response = &total.data.response;
    let percentile = |fraction: f64| {
        let value_ns = response.percentile(fraction).and_then(|p| p.value_ns);
        value_ns.map_or(String::new(), |ns| ns.to_string())
    };
    let plateau = curve.plateau.as_ref().ok();
    let knees = curve.knees.as_ref().ok();
    let at_knee = |pick: fn(&Knees) -> Option<usize>| {
        flag(knees.is_some_and(|knees| pick(knees) == Some(index)))
    };
    let best: Option<&Fit> =
        curve.fits.as_ref().ok().and_then(|fits| Some(&fits.fits[fits.preferred?]));
    let fitted = best.zip(point.sample).map(|(fit, sample)| fit.predicted(sample.load));
    [
        quoted(id),
        quoted(&curve.name),
        quoted(&curve.axis),
        quoted(&point.label),
        number(Some(point.x)),
        curve.load.name().to_owned(),
        number(point.sample.map(|sample| sample.load)),
        point.load_point.to_string(),
        value(total.data.achieved_rate),
        half_width(total.data.achieved_rate),
        value(total.data.throughput),
        half_width(total.data.throughput),
        value(response.mean_ns),
        half_width(response.mean_ns),
        percentile(0.5),
        percentile(0.99),
        value(total.outstanding_mean),
        number(point.little.map(|check| check.mismatch)),
        flag(curve.floor.as_ref().is_ok_and(|floor| floor.point == index && !floor.is_pace)),
        flag(plateau.is_some_and(|plateau| plateau.top == index)),
        plateau.map_or(String::new(), |plateau| saturation_name(plateau.state).to_owned()),
        at_knee(|knees| knees.power.as_ref().ok()?.point),
        at_knee(|knees| knees.slo.as_ref().ok()?.point),
        at_knee(|knees| knees.kneedle.as_ref().ok()?.point),
        best.map_or(String::new(), |fit| fit.model.name().to_owned()),
        number(fitted.filter(|value| value.is_finite())),
    ]
}

fn flag(value: bool) -> String {
    value.to_string()
}

fn number(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| exported(value).to_string())
}

fn value(estimate: Option<Estimate>) -> String {
    number(estimate.map(|e| e.value))
}

fn half_width(estimate: Option<Estimate>) -> String {
    number(estimate.and_then(|e| e.uncertainty))
}
