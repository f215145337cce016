//! Scaling over hosts and targets as JSON.

use analysis::scaling::{Scaling, ScalingPoint};
use schemars::JsonSchema;
use serde::Serialize;

/// Load points that differ only in the number of hosts or of targets.
#[derive(Serialize, JsonSchema)]
pub(super) struct ScalingJson<'a> {
    /// The variant and the other parameters.
    name: &'a str,
    /// What is counted: `hosts` or `targets`.
    counted: &'a str,
    /// By their number, ascending.
    points: Vec<ScalingPointJson>,
}

/// One load point of a scaling.
#[derive(Serialize, JsonSchema)]
pub(super) struct ScalingPointJson {
    /// Index in `load_points`.
    load_point: usize,
    /// Number of hosts or targets.
    count: u32,
    /// The rate for each host or target over that of the first point; null if it is not known.
    efficiency: Option<f64>,
    /// The half-width of its 95 % interval; null for the first point, and if it is not known.
    efficiency_uncertainty: Option<f64>,
}

pub(super) fn scaling(scaling: &Scaling) -> ScalingJson<'_> {
    let point = |point: &ScalingPoint| ScalingPointJson {
        load_point: point.load_point,
        count: point.count,
        efficiency: point.efficiency.map(|one| one.value),
        efficiency_uncertainty: point.efficiency.and_then(|one| one.uncertainty),
    };
    ScalingJson {
        name: &scaling.name,
        counted: scaling.counted,
        points: scaling.points.iter().map(point).collect(),
    }
}
