//! Queueing models fitted to a curve, with parameters and errors.
//!
//! Fitted values are not measurements: they hold only if the model does. Parameters have a
//! confidence interval, and a model that misses the points by more than [`RMS_MAX`] does not fit.
//!
//! Reading order: [`Fits`], [`model`] (predictions; formulas are in [`statistics::queueing`]),
//! `least_squares` (estimation).

mod least_squares;
pub mod model;

use crate::curve_point::{CurvePoint, Missing};
use crate::fit::least_squares::{Data, Solution};
use crate::fit::model::Model;
use crate::load_point::LoadPoint;
use crate::sample::{Load, Sample};

/// A model with a larger relative root mean square error does not fit.
pub const RMS_MAX: f64 = 0.05;
/// A model with a larger relative error at any point does not fit.
pub const WORST_MAX: f64 = 0.15;
/// With fewer points a model with two parameters always fits.
pub const POINTS_MIN: usize = 5;
/// Additional points required per parameter beyond two.
const POINTS_PER_PARAMETER: usize = 1;
/// Models whose AICc differ by less are about equally good (Burnham and Anderson).
const AICC_NEAR: f64 = 2.0;

/// All models fitted to a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Fits {
    /// Number of points.
    pub points: usize,
    /// All models, best by AICc first.
    pub fits: Vec<Fit>,
    /// Index of the preferred model in `fits`; `None` if none fits within [`RMS_MAX`] and
    /// [`WORST_MAX`].
    pub preferred: Option<usize>,
    /// Indices of models that fit about as well as the preferred one.
    pub as_good: Vec<usize>,
}

/// One model fitted to a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The model.
    pub model: Model,
    /// Its parameters, in the model's order.
    pub parameters: Vec<FittedParameter>,
    /// Number of points minus number of parameters.
    pub degrees: usize,
    /// Root mean square error, relative to the model.
    pub residual_rms: f64,
    /// The largest error, relative to the model; positive if the measurement is higher.
    pub residual_worst: f64,
    /// Index of its point in the curve.
    pub worst_point: usize,
    /// Akaike's information criterion corrected for few points (AICc); lower is better.
    pub aicc: f64,
    /// Think time in seconds; given, not fitted.
    pub think_time_s: f64,
}

/// A parameter of a model, with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FittedParameter {
    /// Its name, with the unit: `delay_s`, `capacity_ops_per_s`, `servers`, `sigma`.
    pub name: &'static str,
    /// The best estimate.
    pub value: f64,
    /// Lower end of the confidence interval.
    pub low: f64,
    /// Upper end of the confidence interval; `None` if unbounded.
    pub high: Option<f64>,
}

impl FittedParameter {
    /// Whether its interval is bounded and narrower than its value.
    pub fn is_determined(&self) -> bool {
        self.high.is_some_and(|high| high - self.low <= 2.0 * self.value.abs())
    }
}

impl Fit {
    /// Whether it fits within [`RMS_MAX`] and [`WORST_MAX`].
    pub fn is_good(&self) -> bool {
        self.residual_rms <= RMS_MAX && self.residual_worst.abs() <= WORST_MAX
    }

    /// The parameter of this name.
    pub fn parameter(&self, name: &str) -> Option<&FittedParameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Achieved rate (closed) or mean response time in seconds (open) at `load`.
    pub fn predicted(&self, load: f64) -> f64 {
        let values: Vec<f64> = self.parameters.iter().map(|parameter| parameter.value).collect();
        self.model.predicted(&values, load, self.think_time_s)
    }
}

/// Fits all models of the curve's kind to operations of all kinds, because queue depth and offered
/// rate include fsync.
pub(crate) fn of_points(
    points: &[CurvePoint],
    load_points: &[LoadPoint],
    load: Load,
) -> Result<Fits, Missing> {
    let totals = || points.iter().map(|point| &load_points[point.load_point].merged.total);
    match load {
        Load::NotRaised => return Err(Missing::NotALoad),
        // The formulas of open queues assume Poisson arrivals.
        Load::Open if totals().any(|total| !total.poisson) => return Err(Missing::NotPoisson),
        Load::Open | Load::Closed => {}
    }
    let measured = |(index, point): (usize, &CurvePoint)| {
        let sample = Sample::of_all_kinds(&load_points[point.load_point], load)?;
        (!sample.overloaded).then_some((index, sample))
    };
    let (indices, samples): (Vec<usize>, Vec<Sample>) =
        points.iter().enumerate().filter_map(measured).unzip();
    let mut fits = of_samples(&samples, load)?;
    for fit in &mut fits.fits {
        fit.worst_point = indices[fit.worst_point];
    }
    Ok(fits)
}

/// Fits all models of the load's kind to `samples` with ascending load. Indices in the result are
/// those of `samples`.
///
/// # Errors
/// There are too few samples, or the axis is not a load.
pub fn of_samples(samples: &[Sample], load: Load) -> Result<Fits, Missing> {
    let points = samples.len();
    if points < POINTS_MIN {
        return Err(Missing::TooFewPoints { points, required: POINTS_MIN });
    }
    let data = Data::of(samples, load);
    let models = match load {
        Load::Closed => Model::CLOSED,
        Load::Open => Model::OPEN,
        Load::NotRaised => return Err(Missing::NotALoad),
    };
    let enough = |model: &Model| {
        let more = model.parameters().len().saturating_sub(2);
        points >= POINTS_MIN + more * POINTS_PER_PARAMETER
    };
    let mut fits: Vec<Fit> = models
        .iter()
        .filter(|model| enough(model))
        .filter_map(|model| Some(fit(*model, &data, &least_squares::solve(*model, &data)?)))
        .collect();
    // A stable sort keeps the simpler of equal models first.
    fits.sort_by(|a, b| a.aicc.total_cmp(&b.aicc));
    let preferred = fits.iter().position(Fit::is_good);
    let near = |best: &Fit, other: &Fit| other.is_good() && other.aicc - best.aicc < AICC_NEAR;
    let as_good = preferred.map_or(Vec::new(), |best| {
        (best + 1..fits.len()).filter(|other| near(&fits[best], &fits[*other])).collect()
    });
    Ok(Fits { points, fits, preferred, as_good })
}

fn fit(model: Model, data: &Data, solution: &Solution) -> Fit {
    let residuals = data.relative_residuals(model, &solution.values);
    let squares: f64 = residuals.iter().map(|r| r * r).sum();
    let worst = residuals.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
    let (worst_point, residual_worst) = worst.map_or((0, 0.0), |(index, r)| (index, *r));
    let points = data.len();
    let parameters = model.parameters().iter().enumerate().map(|(number, parameter)| {
        let (low, high) = solution.intervals[number];
        let high = high.is_finite().then_some(high);
        FittedParameter { name: parameter.name, value: solution.values[number], low, high }
    });
    Fit {
        model,
        parameters: parameters.collect(),
        degrees: points - solution.values.len(),
        residual_rms: (squares / points as f64).sqrt(),
        residual_worst,
        worst_point,
        aicc: aicc(solution.chi_squared, points, solution.values.len()),
        think_time_s: data.think_time_s,
    }
}

/// `n ln(S / n) + 2 k + 2 k (k + 1) / (n - k - 1)`, where `S` is the weighted sum of squares and
/// `k` counts the parameters and the unknown scale of the errors. `S` has a lower bound due to
/// rounding.
///
/// Source: Burnham and Anderson, "Model Selection and Multimodel Inference", 2nd ed. 2002, 2.4.
fn aicc(chi_squared: f64, points: usize, parameters: usize) -> f64 {
    let (n, k) = (points as f64, (parameters + 1) as f64);
    let least = n * 1e-4;
    n * (chi_squared.max(least) / n).ln() + 2.0 * k + 2.0 * k * (k + 1.0) / (n - k - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_fit_misses_the_points_little_on_average_and_no_point_by_much() {
        let fit = |residual_rms: f64, residual_worst: f64| Fit {
            model: Model::Mm1,
            parameters: Vec::new(),
            degrees: 3,
            residual_rms,
            residual_worst,
            worst_point: 0,
            aicc: 0.0,
            think_time_s: 0.0,
        };
        assert!(fit(RMS_MAX, WORST_MAX).is_good());
        assert!(fit(RMS_MAX, -WORST_MAX).is_good());
        assert!(!fit(1.01 * RMS_MAX, WORST_MAX).is_good());
        assert!(!fit(RMS_MAX, 1.01 * WORST_MAX).is_good());
        assert!(!fit(RMS_MAX, -1.01 * WORST_MAX).is_good());
    }

    #[test]
    fn an_additional_parameter_must_reduce_the_error() {
        // n = 10, S = 10: 2 (k) + 2 k (k + 1) / (n - k - 1) with k = 3: 6 + 24 / 6 = 10.
        assert!((aicc(10.0, 10, 2) - 10.0).abs() < 1e-12);
        // k = 4: 8 + 40 / 5 = 16.
        assert!((aicc(10.0, 10, 3) - 16.0).abs() < 1e-12);
        assert!(aicc(0.0, 10, 2).is_finite());
    }
}
