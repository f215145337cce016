//! Nonlinear least squares by Levenberg and Marquardt, with lower bounds and fixed parameters.
//!
//! For smooth residuals; see [`crate::positive_least_squares`] for those with kinks. The same input
//! gives the same bits.
//!
//! Sources: Moré, "The Levenberg-Marquardt algorithm", 1978, as MINPACK and CMPFIT implement it
//! (Markwardt 2009).

use rmpfit::{MPFitter, MPPar, MPResult};

/// A parameter to be fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Where the search starts.
    pub start: f64,
    /// The lowest value allowed.
    pub least: f64,
    /// The parameter keeps its start value.
    pub fixed: bool,
}

/// The parameters with the smallest sum of squared residuals.
#[derive(Clone, Debug, PartialEq)]
pub struct Minimum {
    /// In the order of the parameters.
    pub values: Vec<f64>,
    /// The sum of squared residuals at `values`.
    pub sum_of_squares: f64,
}

/// Minimizes the sum of squares of `count` residuals, which `residuals` writes for given parameter
/// values.
///
/// `None` if the search fails, for example with fewer residuals than parameters, or ends at a value that is not finite.
pub fn minimize(
    parameters: &[Parameter],
    count: usize,
    residuals: impl FnMut(&[f64], &mut [f64]),
) -> Option<Minimum> {
    let bounds: Vec<MPPar> = parameters
        .iter()
        .map(|parameter| MPPar {
            limited_low: true,
            limit_low: parameter.least,
            fixed: parameter.fixed,
            ..MPPar::new()
        })
        .collect();
    let mut values: Vec<f64> =
        parameters.iter().map(|parameter| parameter.start.max(parameter.least)).collect();
    let status = Problem { bounds, count, residuals }.mpfit(&mut values).ok()?;
    let finite = status.best_norm.is_finite() && values.iter().all(|value| value.is_finite());
    finite.then_some(Minimum { values, sum_of_squares: status.best_norm })
}

struct Problem<F> {
    bounds: Vec<MPPar>,
    count: usize,
    residuals: F,
}

impl<F: FnMut(&[f64], &mut [f64])> MPFitter for Problem<F> {
    fn eval(&mut self, values: &[f64], deviates: &mut [f64]) -> MPResult<()> {
        (self.residuals)(values, deviates);
        Ok(())
    }

    fn number_of_points(&self) -> usize {
        self.count
    }

    fn parameters(&self) -> &[MPPar] {
        &self.bounds
    }
}
