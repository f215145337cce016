//! A measured number as JSON, and the check of Little's law.

use analysis::estimate::Estimate;
use analysis::little::LittleCheck;
use schemars::JsonSchema;
use serde::Serialize;

use crate::number::exported;

/// A measured number with its uncertainty.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EstimateJson {
    /// The value, in the unit of the field.
    value: f64,
    /// The half-width of its 95 % confidence interval; null with too few samples.
    uncertainty: Option<f64>,
    /// The number of independent samples behind the interval.
    samples: f64,
    /// The source of the uncertainty: `intervals`, `repeats` or `unknown`.
    method: &'static str,
}

/// The check of Little's law.
#[derive(Serialize, JsonSchema)]
pub(super) struct LittleJson {
    /// Operations in flight, counted.
    counted_ops: f64,
    /// Rate times mean time.
    expected_ops: f64,
    /// The difference, as a share of `counted_ops`.
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
