//! What an experiment says in short: what the target can do, where it bends, what to do about it,
//! and what to doubt. Chosen from the findings, nothing is computed anew but ratios of two of them.
//!
//! For: which findings a reader needs first. Not for: words; the report has them.

use crate::curve::Curve;
use crate::curve::knee::{Knee, KneeMethod};
use crate::estimate::Estimate;
use crate::load_point::LoadPoint;
use crate::warnings::WarningGroup;

/// More curves than this are no summary.
pub const CURVES_MAX: usize = 8;

/// The findings that a reader needs first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Of each variant its best curve, in the order of the plan.
    pub curves: Vec<CurveSummary>,
    /// Curves that are not among them.
    pub curves_left_out: usize,
    /// Kinds of warnings that make numbers doubtful, as places in `Findings::warnings`, those that
    /// concern most load points first.
    pub doubts: Vec<Doubt>,
}

/// One curve in short.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveSummary {
    /// The curve, as a place in `Findings::curves`.
    pub curve: usize,
    /// The load point with the largest rate, as a place in the curve's points.
    pub most: usize,
    /// Operations per second there.
    pub rate: Estimate,
    /// Bytes per second there.
    pub throughput: Option<Estimate>,
    /// Mean response time there, in nanoseconds.
    pub response_mean_ns: Option<Estimate>,
    /// Where it bends.
    pub bend: Option<Bend>,
}

/// The load from which response time pays for little rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bend {
    /// The knee, with its method.
    pub knee: Knee,
    /// The rate there over the largest rate.
    pub rate_share: f64,
    /// The mean response time at the largest rate over that at the knee.
    pub response_factor: f64,
}

/// A kind of warnings, and how much it concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// Its place in `Findings::warnings`.
    pub warning: usize,
    /// Load points that it concerns; all of them where it concerns the whole experiment.
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
        shown.filter_map(|place| of_curve(*place, &curves[*place], load_points)).collect();
    Summary {
        curves_left_out: curves.len() - summaries.len(),
        curves: summaries,
        doubts: doubts(warnings, load_points.len()),
    }
}

/// Places of curves: of those of one variant the one with the largest rate.
fn best_of_each_variant(
    load_points: &[LoadPoint],
    curves: &[Curve],
    is_evidence: impl Fn(&LoadPoint) -> bool,
) -> Vec<usize> {
    let most = |curve: &Curve| -> Option<(usize, f64)> {
        let point = curve.points.get(curve.most?)?;
        let rate = load_points[point.load_point].merged.total.data.achieved_rate?;
        Some((point.load_point, rate.value))
    };
    let mut best: Vec<(&str, usize, f64)> = Vec::new();
    for (place, curve) in curves.iter().enumerate() {
        let Some((load_point, rate)) = most(curve) else { continue };
        if is_evidence(&load_points[load_point]) {
            continue;
        }
        let variant = load_points[load_point].variant.as_str();
        match best.iter_mut().find(|(name, _, _)| *name == variant) {
            Some(held) if held.2 < rate => *held = (variant, place, rate),
            Some(_) => {}
            None => best.push((variant, place, rate)),
        }
    }
    best.into_iter().map(|(_, place, _)| place).collect()
}

fn of_curve(place: usize, curve: &Curve, load_points: &[LoadPoint]) -> Option<CurveSummary> {
    let most = curve.most?;
    let data = &load_points[curve.points.get(most)?.load_point].merged.total.data;
    Some(CurveSummary {
        curve: place,
        most,
        rate: data.achieved_rate?,
        throughput: data.throughput,
        response_mean_ns: data.response.mean_ns,
        bend: bend(curve, most),
    })
}

/// The knee by power, else the last point that meets the objective: both are measured points, so
/// what they cost is known. A knee at the largest rate is no bend.
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

fn doubts(warnings: &[WarningGroup], load_points: usize) -> Vec<Doubt> {
    let mut doubts: Vec<Doubt> = warnings
        .iter()
        .enumerate()
        .map(|(warning, group)| {
            let mut concerned: Vec<usize> =
                group.sightings.iter().filter_map(|sighting| sighting.load_point).collect();
            concerned.sort_unstable();
            concerned.dedup();
            let whole = group.sightings.iter().any(|sighting| sighting.load_point.is_none());
            Doubt { warning, load_points: if whole { load_points } else { concerned.len() } }
        })
        .collect();
    doubts.sort_by_key(|doubt| std::cmp::Reverse(doubt.load_points));
    doubts
}
