//! Summary of an experiment: highest rates, knees and the most important warnings. It selects
//! findings and computes ratios of two of them, nothing else.
//!
//! For: which findings a reader needs first. Not for: text; see the report.

use crate::curve::Curve;
use crate::curve::knee::{Knee, KneeMethod};
use crate::estimate::Estimate;
use crate::load_point::LoadPoint;
use crate::warnings::WarningGroup;

/// Most curves in a summary.
pub const CURVES_MAX: usize = 8;

/// The findings that a reader needs first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// The best curve of each variant, in the order of the plan.
    pub curves: Vec<CurveSummary>,
    /// Number of other curves.
    pub curves_left_out: usize,
    /// Kinds of warnings that make numbers doubtful, as indices into `Findings::warnings`; those
    /// that affect most load points first.
    pub caveats: Vec<Caveat>,
}

/// Summary of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveSummary {
    /// Index into `Findings::curves`.
    pub curve: usize,
    /// The load point with the highest rate, as an index into the curve's points.
    pub most: usize,
    /// Operations per second there.
    pub rate: Estimate,
    /// Bytes per second there.
    pub throughput: Option<Estimate>,
    /// Mean response time there, in nanoseconds.
    pub response_mean_ns: Option<Estimate>,
    /// Its knee.
    pub bend: Option<Bend>,
}

/// The load above which the rate rises little and the response time rises much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bend {
    /// The knee, with its method.
    pub knee: Knee,
    /// Rate at the knee over the highest rate.
    pub rate_share: f64,
    /// Mean response time at the highest rate over that at the knee.
    pub response_factor: f64,
}

/// A kind of warnings, and the number of load points it affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caveat {
    /// Index into `Findings::warnings`.
    pub warning: usize,
    /// Number of affected load points; all of them if it concerns the whole experiment.
    pub load_points: usize,
}

/// The summary of an experiment's findings.
///
/// * `is_evidence`: a load point that was measured to tell something of another, and is no answer
pub fn summary(
    load_points: &[LoadPoint],
    curves: &[Curve],
    warnings: &[WarningGroup],
    is_evidence: impl Fn(&LoadPoint) -> bool,
) -> Summary {
    let best = best_of_each_variant(load_points, curves, is_evidence);
    let shown = best.iter().take(CURVES_MAX);
    let summaries: Vec<CurveSummary> =
        shown.filter_map(|index| of_curve(*index, &curves[*index], load_points)).collect();
    Summary {
        curves_left_out: curves.len() - summaries.len(),
        curves: summaries,
        caveats: caveats(warnings, load_points.len()),
    }
}

/// Indices of curves: the curve with the highest rate of each variant.
fn best_of_each_variant(
    load_points: &[LoadPoint],
    curves: &[Curve],
    is_evidence: impl Fn(&LoadPoint) -> bool,
) -> Vec<usize> {
    // A rate of fewer hosts is shown only where there is no other.
    let most = |curve: &Curve| -> Option<(usize, (bool, f64))> {
        let point = curve.points.get(curve.most?)?;
        let load_point = &load_points[point.load_point];
        let rate = load_point.merged.total.data.achieved_rate?;
        Some((point.load_point, (load_point.is_whole(), rate.value)))
    };
    let mut best: Vec<(&str, usize, (bool, f64))> = Vec::new();
    for (index, curve) in curves.iter().enumerate() {
        let Some((load_point, rate)) = most(curve) else { continue };
        if is_evidence(&load_points[load_point]) {
            continue;
        }
        let variant = load_points[load_point].variant.as_str();
        match best.iter_mut().find(|(name, _, _)| *name == variant) {
            Some(known) if known.2 < rate => *known = (variant, index, rate),
            Some(_) => {}
            None => best.push((variant, index, rate)),
        }
    }
    best.into_iter().map(|(_, index, _)| index).collect()
}

fn of_curve(index: usize, curve: &Curve, load_points: &[LoadPoint]) -> Option<CurveSummary> {
    let most = curve.most?;
    let data = &load_points[curve.points.get(most)?.load_point].merged.total.data;
    Some(CurveSummary {
        curve: index,
        most,
        rate: data.achieved_rate?,
        throughput: data.throughput,
        response_mean_ns: data.response.mean_ns,
        bend: bend(curve, most),
    })
}

/// The knee by power, otherwise the last point that meets the objective. Both are measured points,
/// so their rate and response time are known. A point at the highest rate is not a knee.
fn bend(curve: &Curve, most: usize) -> Option<Bend> {
    let knees = curve.knees.as_ref().ok()?;
    let top = curve.points.get(most)?.sample?;
    let of = |knee: &Knee| -> Option<Bend> {
        let at = curve.points.get(knee.point?)?.sample?;
        let lower = at.load < top.load && top.rate.value > 0.0 && at.response_s.value > 0.0;
        lower.then(|| Bend {
            knee: *knee,
            rate_share: at.rate.value / top.rate.value,
            response_factor: top.response_s.value / at.response_s.value,
        })
    };
    let wanted = [KneeMethod::Power, KneeMethod::Slo];
    let found = knees.each().into_iter().filter(|(method, _)| wanted.contains(method));
    found.filter_map(|(_, knee)| of(knee.as_ref().ok()?)).next()
}

fn caveats(warnings: &[WarningGroup], load_points: usize) -> Vec<Caveat> {
    let mut caveats: Vec<Caveat> = warnings
        .iter()
        .enumerate()
        .map(|(warning, group)| {
            let mut concerned: Vec<usize> =
                group.sightings.iter().filter_map(|sighting| sighting.load_point).collect();
            concerned.sort_unstable();
            concerned.dedup();
            let whole = group.sightings.iter().any(|sighting| sighting.load_point.is_none());
            Caveat { warning, load_points: if whole { load_points } else { concerned.len() } }
        })
        .collect();
    caveats.sort_by_key(|caveat| std::cmp::Reverse(caveat.load_points));
    caveats
}
