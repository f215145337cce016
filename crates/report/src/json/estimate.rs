//! A measured number as JSON, and the check of Little's law.

use analysis::estimate::Estimate;
use analysis::little::LittleCheck;
use serde::Serialize;

use crate::number::exported;

#[derive(Serialize)]
pub(crate) struct EstimateJson {
    value: f64,
    uncertainty: Option<f64>,
    samples: f64,
    method: &'static str,
}

#[derive(Serialize)]
pub(super) struct LittleJson {
    counted_ops: f64,
    expected_ops: f64,
    mismatch_fraction: f64,
}

pub(crate) fn estimate(estimate: Estimate) -> EstimateJson {
    EstimateJson {
        value: exported(estimate.value),
        uncertainty: estimate.uncertainty.map(exported),
        samples: exported(estimate.samples),
        method: estimate.method.name(),
    }
}

/// The number without its uncertainty, for keys that are older than the uncertainty.
pub(super) fn value(estimate: Option<Estimate>) -> Option<f64> {
    estimate.map(|estimate| exported(estimate.value))
}

/// The half-width of the 95 % confidence interval, for a separate key.
pub(super) fn half_width(estimate: Option<Estimate>) -> Option<f64> {
    estimate.and_then(|estimate| estimate.uncertainty).map(exported)
}

pub(super) fn little(check: LittleCheck) -> LittleJson {
    LittleJson {
        counted_ops: exported(check.counted),
        expected_ops: exported(check.expected),
        mismatch_fraction: exported(check.mismatch),
    }
}
