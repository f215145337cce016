//! How far off a prediction may be, from how far off the model is where it was fitted.

use crate::calibrate::residual;
use crate::fit::squares;
use crate::of_figure::Case;
use crate::parameters::{Group, Parameter, Parameters};

/// Student's t for a two-sided interval of 90 %, by degrees of freedom from 1 on; beyond the list
/// the last. Source: any table of the distribution.
const T_90: [f64; 30] = [
    6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782, 1.771,
    1.761, 1.753, 1.746, 1.740, 1.734, 1.729, 1.725, 1.721, 1.717, 1.714, 1.711, 1.708, 1.706,
    1.703, 1.701, 1.699, 1.697,
];

/// By group, what the logarithm of a demand may be off by, with a probability of 90 %.
///
/// The residuals of all groups together give one standard deviation; a group that is met worse than
/// that has its own. Groups with few figures would else seem to be without doubt.
pub(crate) fn off(all: &Parameters, used: &[(Group, Vec<&Case>)]) -> Vec<(Group, f64)> {
    let residuals: Vec<Vec<f64>> = used
        .iter()
        .map(|(_, cases)| cases.iter().map(|case| residual(case, all)).collect())
        .collect();
    let count: usize = residuals.iter().map(Vec::len).sum();
    let freedom = count.saturating_sub(Parameter::ALL.len()).max(1);
    let pooled = residuals.iter().map(|of| squares(of)).sum::<f64>() / freedom as f64;
    let t = T_90[freedom.min(T_90.len()) - 1];
    let of_group = |((group, _), own): (&(Group, Vec<&Case>), &Vec<f64>)| {
        let variance = squares(own) / own.len().max(1) as f64;
        (*group, t * variance.max(pooled).sqrt())
    };
    used.iter().zip(&residuals).map(of_group).collect()
}
