//! Models of queueing fitted to a curve: which explains it, with which parameters, and how badly.
//!
//! A fitted number is not a measured one: it holds if the model does. So everything here carries
//! "fit" in its name, parameters have a confidence interval, and a model that misses the points by
//! more than [`RMS_MAX`] is said not to fit.
//!
//! Reading order: [`Fits`], [`model`] (what each model says), [`queueing`] (the formulas), then how
//! parameters are found (`least_squares`).

mod least_squares;
pub mod line;
pub mod model;
pub mod queueing;

use crate::curve::sample::{Load, Sample};
use crate::curve::{CurvePoint, Missing};
use crate::fit::least_squares::{Data, Solution};
use crate::fit::model::Model;
use crate::load_point::LoadPoint;

/// A model that misses the points by more than this on average (root of the mean square, as a
/// share of what was measured) does not fit.
pub const RMS_MAX: f64 = 0.05;
/// Nor does one that misses any point by more than this.
pub const WORST_MAX: f64 = 0.15;
/// Fewer points leave a model with two parameters nothing to be wrong by.
pub const POINTS_MIN: usize = 5;
/// What a parameter more needs on top.
const POINTS_PER_PARAMETER: usize = 1;
/// Points are not taken for more certain than this share: no model is truer than that.
const RELATIVE_ERROR_MIN: f64 = 0.002;
/// A point's own standard error rests on few intervals or repeats and may be small by luck; it is
/// not taken for smaller than this share of the curve's median.
const OF_MEDIAN_ERROR_MIN: f64 = 0.5;
/// Models whose AICc differ by less are about as good as each other (Burnham and Anderson).
const AICC_NEAR: f64 = 2.0;

/// What models say about a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Fits {
    /// Points that they were fitted to.
    pub points: usize,
    /// Each model, the best by AICc first.
    pub fits: Vec<Fit>,
    /// The model that explains the curve, as a place in `fits`; `None` where none fits within
    /// [`RMS_MAX`] and [`WORST_MAX`].
    pub preferred: Option<usize>,
    /// Models that fit and are about as good as the preferred one, as places in `fits`.
    pub as_good: Vec<usize>,
}

/// One model fitted to a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The model.
    pub model: Model,
    /// Its parameters, in the model's order.
    pub parameters: Vec<FittedParameter>,
    /// Points less parameters.
    pub degrees: usize,
    /// Root of the mean squared difference between measured and model, as a share of the model.
    pub residual_rms: f64,
    /// The largest difference, as a share of the model; above 0 where more was measured.
    pub residual_worst: f64,
    /// Where it is, as a place in the curve's points.
    pub worst_point: usize,
    /// Akaike's information criterion, corrected for few points; less is better, differences count.
    pub aicc: f64,
    /// From a completion to the next operation it makes due, in seconds: known, not fitted.
    pub think_time_s: f64,
}

/// A parameter of a model, with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FittedParameter {
    /// Its name, with the unit: `delay_s`, `capacity_ops_per_s`, `servers`, `sigma`.
    pub name: &'static str,
    /// The value that explains the points best.
    pub value: f64,
    /// Lower end of the confidence interval.
    pub low: f64,
    /// Upper end of the confidence interval; `None` where the points do not bound it.
    pub high: Option<f64>,
}

impl FittedParameter {
    /// The points say something about it: its interval is bounded and narrower than its value.
    pub fn is_determined(&self) -> bool {
        self.high.is_some_and(|high| high - self.low <= 2.0 * self.value.abs())
    }

    /// The confidence interval has `value` inside.
    pub fn is_compatible_with(&self, value: f64) -> bool {
        self.low <= value && self.high.is_none_or(|high| value <= high)
    }
}

impl Fit {
    /// It explains the points within [`RMS_MAX`] and [`WORST_MAX`].
    pub fn is_good(&self) -> bool {
        self.residual_rms <= RMS_MAX && self.residual_worst.abs() <= WORST_MAX
    }

    /// The parameter of this name.
    pub fn parameter(&self, name: &str) -> Option<&FittedParameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Achieved rate (closed) or mean response time in seconds (open) of the model at `load`.
    pub fn predicted(&self, load: f64) -> f64 {
        let values: Vec<f64> = self.parameters.iter().map(|parameter| parameter.value).collect();
        self.model.predicted(&values, load, self.think_time_s)
    }
}

/// Fits every model of the curve's kind to its points, with operations of all kinds: a queue depth
/// and an offered rate count fsyncs too.
pub(crate) fn of_points(
    points: &[CurvePoint],
    load_points: &[LoadPoint],
    load: Load,
) -> Result<Fits, Missing> {
    let totals = || points.iter().map(|point| &load_points[point.load_point].merged.total);
    match load {
        Load::NotRaised => return Err(Missing::NotALoad),
        // Formulas of open queues are those of Poisson arrivals.
        Load::Open if totals().any(|total| !total.poisson) => return Err(Missing::NotPoisson),
        Load::Open | Load::Closed => {}
    }
    let measured = |(place, point): (usize, &CurvePoint)| {
        let sample = Sample::of_all_kinds(&load_points[point.load_point], load)?;
        (!sample.overloaded).then_some((place, sample))
    };
    let (places, samples): (Vec<usize>, Vec<Sample>) =
        points.iter().enumerate().filter_map(measured).unzip();
    let mut fits = of_samples(&samples, load)?;
    for fit in &mut fits.fits {
        fit.worst_point = places[fit.worst_point];
    }
    Ok(fits)
}

/// Fits every model of the load's kind to `samples`, ascending in load. Places in the result are
/// those in `samples`.
///
/// # Errors
/// Where there are too few of them, or the axis is no load.
pub fn of_samples(samples: &[Sample], load: Load) -> Result<Fits, Missing> {
    let points = samples.len();
    if points < POINTS_MIN {
        return Err(Missing::TooFewPoints { points, wanted: POINTS_MIN });
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
    // Stable: of equal ones the simpler stands first.
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
    let (worst_point, residual_worst) = worst.map_or((0, 0.0), |(place, r)| (place, *r));
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
/// `k` counts the parameters and the unknown scale of the errors. `S` is not taken for smaller than
/// rounding makes it.
///
/// Source: Burnham and Anderson, "Model Selection and Multimodel Inference", 2nd ed. 2002, 2.4.
fn aicc(chi_squared: f64, points: usize, parameters: usize) -> f64 {
    let (n, k) = (points as f64, (parameters + 1) as f64);
    let least = n * 1e-4;
    n * (chi_squared.max(least) / n).ln() + 2.0 * k + 2.0 * k * (k + 1.0) / (n - k - 1.0)
}

/// The relative standard errors that points are weighed with: their own, but none for smaller than
/// a share of the median and of what was measured. Without any uncertainty all are equal, and
/// `false` says so.
fn relative_errors(errors: &[Option<f64>]) -> (Vec<f64>, bool) {
    let Some(mut known) = errors.iter().copied().collect::<Option<Vec<f64>>>() else {
        return (vec![RELATIVE_ERROR_MIN; errors.len()], false);
    };
    let own = known.clone();
    known.sort_by(f64::total_cmp);
    let median = known[known.len() / 2];
    let least = RELATIVE_ERROR_MIN.max(OF_MEDIAN_ERROR_MIN * median);
    (own.into_iter().map(|error| error.max(least)).collect(), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_weighed_by_their_errors_but_none_is_taken_for_exact() {
        let (errors, known) = relative_errors(&[Some(0.0), Some(0.01), Some(0.02)]);
        assert_eq!((errors, known), (vec![0.005, 0.01, 0.02], true));
        let (errors, known) = relative_errors(&[Some(0.0), None]);
        assert_eq!((errors, known), (vec![0.002; 2], false));
    }

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
    fn a_parameter_more_must_earn_its_place() {
        // n = 10, S = 10: 2 (k) + 2 k (k + 1) / (n - k - 1) with k = 3: 6 + 24 / 6 = 10.
        assert!((aicc(10.0, 10, 2) - 10.0).abs() < 1e-12);
        // k = 4: 8 + 40 / 5 = 16.
        assert!((aicc(10.0, 10, 3) - 16.0).abs() < 1e-12);
        assert!(aicc(0.0, 10, 2).is_finite());
    }
}
