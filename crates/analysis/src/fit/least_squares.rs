//! Finding the parameters of a model: weighted least squares by Levenberg and Marquardt within
//! bounds, from several starts, and the confidence intervals of what was found.
//!
//! What is made small is the sum of `(ln(measured / model) / e)^2`, with `e` the relative standard
//! error of the point: a point counts by its share, whatever its size, and a change of units
//! changes nothing.
//!
//! Sources: Moré, "The Levenberg-Marquardt algorithm", 1978, as MINPACK and CMPFIT have it
//! (Markwardt 2009); intervals by linearisation: Bates and Watts, "Nonlinear Regression Analysis
//! and Its Applications", 1988, section 2.3.

use rmpfit::{MPFitter, MPPar, MPResult};

use crate::curve::sample::{Load, Sample};
use crate::distributions::t95;
use crate::fit::model::Model;
use crate::fit::relative_errors;

/// The difference where a model has no finite value: far off, but a number.
const FAR: f64 = 1e6;
/// Step of a numeric derivative, as a share of a parameter's scale.
const STEP: f64 = 1e-5;
/// Columns of derivatives this much alike cannot be told apart.
const ALIKE: f64 = 1e-9;

/// Points as a model sees them.
pub(crate) struct Data {
    loads: Vec<f64>,
    /// Achieved rates (closed) or mean response times (open).
    measured: Vec<f64>,
    relative_errors: Vec<f64>,
    /// The errors are the points' own; else only their differences from the model tell.
    errors_known: bool,
    pub(crate) think_time_s: f64,
}

/// Parameters of a model that explain the data best.
pub(crate) struct Solution {
    pub(crate) values: Vec<f64>,
    /// Both ends of their 95 % confidence intervals; infinite where the data say nothing.
    pub(crate) intervals: Vec<(f64, f64)>,
    /// The weighted sum of squares.
    pub(crate) chi_squared: f64,
}

impl Data {
    pub(crate) fn of(samples: &[Sample], load: Load) -> Data {
        let estimate = |sample: &Sample| match load {
            Load::Open => sample.response_s,
            Load::Closed | Load::NotRaised => sample.rate,
        };
        let error = |sample: &Sample| {
            let estimate = estimate(sample);
            estimate.uncertainty.map(|_| estimate.standard_error() / estimate.value)
        };
        let errors: Vec<Option<f64>> = samples.iter().map(error).collect();
        let (relative_errors, errors_known) = relative_errors(&errors);
        Data {
            loads: samples.iter().map(|sample| sample.load).collect(),
            measured: samples.iter().map(|sample| estimate(sample).value).collect(),
            relative_errors,
            errors_known,
            think_time_s: samples.first().map_or(0.0, |sample| sample.think_time_s),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.loads.len()
    }

    /// `measured / model - 1` at each point.
    pub(crate) fn relative_residuals(&self, model: Model, parameters: &[f64]) -> Vec<f64> {
        let predicted = |load: &f64| model.predicted(parameters, *load, self.think_time_s);
        self.loads.iter().zip(&self.measured).map(|(load, y)| y / predicted(load) - 1.0).collect()
    }

    /// The weighted difference at each point.
    fn deviates(&self, model: Model, parameters: &[f64], deviates: &mut [f64]) {
        let points = self.loads.iter().zip(&self.measured).zip(&self.relative_errors);
        for (deviate, ((load, measured), error)) in deviates.iter_mut().zip(points) {
            let predicted = model.predicted(parameters, *load, self.think_time_s);
            let difference = (measured / predicted).ln() / error;
            *deviate = if difference.is_finite() { difference } else { FAR };
        }
    }

    fn largest_load(&self) -> f64 {
        self.loads.iter().copied().fold(0.0, f64::max)
    }

    fn largest(&self) -> f64 {
        self.measured.iter().copied().fold(0.0, f64::max)
    }
}

/// The best of what is found from each start; `None` where nothing is found from any.
pub(crate) fn solve(model: Model, data: &Data) -> Option<Solution> {
    let free = starts(model, data)
        .into_iter()
        .filter_map(|start| Search::from(model, data, start).run())
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let (values, chi_squared) = free?;
    let (values, chi_squared) = match model {
        // Servers are whole; the others follow.
        Model::DelayAndServers | Model::Mmc => {
            let whole = [values[2].floor().max(1.0), values[2].ceil()];
            let fixed = |servers: f64| {
                let start = vec![values[0], values[1], servers];
                Search { fixed_servers: true, ..Search::from(model, data, start) }.run()
            };
            whole
                .into_iter()
                .filter_map(fixed)
                .min_by(|a, b| a.1.total_cmp(&b.1))
                .unwrap_or((values, chi_squared))
        }
        _ => (values, chi_squared),
    };
    let intervals = intervals(model, data, &values, chi_squared);
    Some(Solution { values, intervals, chi_squared })
}

/// Parameters to begin with, by what the ends of the curve say.
fn starts(model: Model, data: &Data) -> Vec<Vec<f64>> {
    let (first_load, first) = (data.loads[0], data.measured[0]);
    let most = data.largest();
    match model {
        Model::Bounds | Model::DelayAndServer | Model::DelayAndServers => {
            let alone_s = (first_load / first - data.think_time_s).max(1e-3 / most);
            let crossing = (alone_s * most).max(1.0);
            let with = |servers: f64| {
                let delay_s = (alone_s - servers / most).max(0.05 * alone_s);
                vec![delay_s, 1.02 * most, servers]
            };
            match model {
                Model::Bounds => vec![vec![alone_s, most]],
                Model::DelayAndServer => vec![with(1.0)[..2].to_vec()],
                _ => vec![with(1.5), with((0.5 * crossing).max(1.2)), with(crossing.max(1.1))],
            }
        }
        Model::Usl => {
            let gamma = first / first_load;
            let (last_load, last) = (data.loads[data.len() - 1], data.measured[data.len() - 1]);
            let hindered = (gamma * last_load / last - 1.0).max(0.01);
            let others = (last_load - 1.0).max(1.0);
            let (sigma, kappa) = (hindered / others, hindered / others / last_load);
            vec![vec![gamma, 0.9 * sigma, 0.1 * kappa], vec![gamma, 0.1 * sigma, 0.9 * kappa]]
        }
        Model::Md1 | Model::Mm1 | Model::Mmc => {
            let highest = data.largest_load();
            let servers: &[f64] = if model == Model::Mmc { &[1.5, 4.0, 16.0] } else { &[1.0] };
            let mut starts = Vec::new();
            for servers in servers {
                for above in [1.05, 2.0] {
                    let capacity = above * highest;
                    let delay_s = (first - servers / capacity).max(0.1 * first);
                    let start = [delay_s, capacity, *servers];
                    starts.push(start[..model.parameters().len()].to_vec());
                }
            }
            starts
        }
    }
}

/// One descent. Parameters are divided by their start, so that all are of one size.
struct Search<'a> {
    model: Model,
    data: &'a Data,
    scale: Vec<f64>,
    fixed_servers: bool,
    bounds: Vec<MPPar>,
    scratch: Vec<f64>,
}

impl<'a> Search<'a> {
    fn from(model: Model, data: &'a Data, start: Vec<f64>) -> Search<'a> {
        let scratch = start.clone();
        Search { model, data, scale: start, fixed_servers: false, bounds: Vec::new(), scratch }
    }

    fn run(mut self) -> Option<(Vec<f64>, f64)> {
        for (number, parameter) in self.model.parameters().iter().enumerate() {
            let least = least(self.model, self.data, number);
            self.bounds.push(MPPar {
                limited_low: true,
                limit_low: least / self.scale[number],
                fixed: self.fixed_servers && parameter.name == "servers",
                ..MPPar::new()
            });
        }
        let begin = self.bounds.iter().map(|bound| bound.limit_low.max(1.0));
        let mut shares: Vec<f64> = begin.collect();
        let status = self.mpfit(&mut shares).ok()?;
        let values: Vec<f64> = shares.iter().zip(&self.scale).map(|(a, b)| a * b).collect();
        let fine = status.best_norm.is_finite() && values.iter().all(|value| value.is_finite());
        fine.then_some((values, status.best_norm))
    }
}

impl MPFitter for Search<'_> {
    fn eval(&mut self, shares: &[f64], deviates: &mut [f64]) -> MPResult<()> {
        for ((value, share), scale) in self.scratch.iter_mut().zip(shares).zip(&self.scale) {
            *value = share * scale;
        }
        self.data.deviates(self.model, &self.scratch, deviates);
        Ok(())
    }

    fn number_of_points(&self) -> usize {
        self.data.len()
    }

    fn parameters(&self) -> &[MPPar] {
        &self.bounds
    }
}

/// The least that a parameter may be: an open queue has a capacity above every rate that was kept.
fn least(model: Model, data: &Data, number: usize) -> f64 {
    let parameter = model.parameters()[number];
    match model {
        Model::Md1 | Model::Mm1 | Model::Mmc if parameter.name == "capacity_ops_per_s" => {
            data.largest_load() * (1.0 + 1e-6)
        }
        // A rate and a time of 0 have no logarithm.
        _ if number == 1 && model != Model::Usl => data.largest() * 1e-3,
        Model::Usl if number == 0 => data.largest() * 1e-9,
        Model::Bounds if number == 0 => 1e-9 / data.largest(),
        _ => parameter.least,
    }
}

/// Both ends of each parameter's interval, by linearisation: half-widths are
/// `t(0.975, n - k) s sqrt(diag((J'J)^-1))`. Where the points' own errors are known `s` is 1, or
/// larger where the differences are larger than those errors explain (the root of chi-squared over
/// `n - k`); else that root.
fn intervals(model: Model, data: &Data, values: &[f64], chi_squared: f64) -> Vec<(f64, f64)> {
    let (points, count) = (data.len(), values.len());
    let degrees = (points - count) as f64;
    let spread = (chi_squared / degrees).sqrt();
    let spread = if data.errors_known { spread.max(1.0) } else { spread };
    let columns: Vec<Derivative> =
        (0..count).map(|number| derivative(model, data, values, number)).collect();
    let norm = |column: &[f64]| column.iter().map(|d| d * d).sum::<f64>().sqrt();
    let norms: Vec<f64> = columns.iter().map(|d| norm(&d.column)).collect();
    let largest = norms.iter().copied().fold(0.0, f64::max);
    // A parameter that moves nothing is bounded by nothing, and does not blur the others.
    let moving: Vec<usize> = (0..count).filter(|j| norms[*j] > ALIKE * largest).collect();
    let product = |a: usize, b: usize| -> f64 {
        let sum: f64 = columns[a].column.iter().zip(&columns[b].column).map(|(x, y)| x * y).sum();
        sum / (norms[a] * norms[b])
    };
    let matrix: Vec<Vec<f64>> =
        moving.iter().map(|a| moving.iter().map(|b| product(*a, *b)).collect()).collect();
    let mut half_widths = vec![f64::INFINITY; count];
    if let Some(diagonal) = diagonal_of_inverse(matrix) {
        for (number, variance) in moving.into_iter().zip(diagonal) {
            let scale = columns[number].scale;
            half_widths[number] = t95(degrees) * spread * variance.sqrt() / norms[number] * scale;
        }
    }
    let bound = |number: usize| {
        let (value, half) = (values[number], half_widths[number]);
        let high = if columns[number].open_above { f64::INFINITY } else { value + half };
        ((value - half).max(model.parameters()[number].least), high)
    };
    (0..count).map(bound).collect()
}

/// How the weighted differences move with one parameter.
struct Derivative {
    /// Of each point, for a step of the parameter's scale.
    column: Vec<f64>,
    scale: f64,
    /// More of the parameter moves nothing: the points bound it from below only.
    open_above: bool,
}

/// By a small step to both sides; at a bound to the one side only.
fn derivative(model: Model, data: &Data, values: &[f64], number: usize) -> Derivative {
    let value = values[number];
    // A parameter of 0 is measured by what would matter: one in all operations, or in all pairs.
    let highest = data.largest_load();
    let scale = match (model, number) {
        (Model::Usl, 1) => value.max(1.0 / highest),
        (Model::Usl, 2) => value.max(1.0 / highest.powi(2)),
        (_, 0) => value.max(1.0 / values[1]),
        _ => value,
    };
    let step = STEP * scale;
    let low = (value - step).max(least(model, data, number));
    let high = value + step;
    let mut moved = values.to_vec();
    let mut at = |value: f64| {
        moved[number] = value;
        let mut deviates = vec![0.0; data.len()];
        data.deviates(model, &moved, &mut deviates);
        deviates
    };
    let (below, here, above) = (at(low), at(value), at(high));
    let share = (high - low) / scale;
    Derivative {
        column: below.iter().zip(&above).map(|(a, b)| (b - a) / share).collect(),
        scale,
        open_above: here == above,
    }
}

/// The diagonal of the inverse of a symmetric matrix with ones on its diagonal, by elimination;
/// `None` where two columns are alike.
fn diagonal_of_inverse(matrix: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let size = matrix.len();
    let mut rows: Vec<Vec<f64>> = matrix;
    for (number, row) in rows.iter_mut().enumerate() {
        row.extend((0..size).map(|column| f64::from(u8::from(column == number))));
    }
    for pivot in 0..size {
        let best =
            (pivot..size).max_by(|a, b| rows[*a][pivot].abs().total_cmp(&rows[*b][pivot].abs()))?;
        rows.swap(pivot, best);
        if rows[pivot][pivot].abs() < ALIKE {
            return None;
        }
        let divisor = rows[pivot][pivot];
        rows[pivot].iter_mut().for_each(|x| *x /= divisor);
        let pivot_row = rows[pivot].clone();
        for (number, row) in rows.iter_mut().enumerate() {
            let factor = row[pivot];
            if number != pivot {
                row.iter_mut().zip(&pivot_row).for_each(|(x, p)| *x -= factor * p);
            }
        }
    }
    Some((0..size).map(|number| rows[number][size + number]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_of_a_correlation_has_its_known_diagonal() {
        // 1 / (1 - r^2) with r = 0.6 is 1.5625.
        let diagonal = diagonal_of_inverse(vec![vec![1.0, 0.6], vec![0.6, 1.0]]);
        let diagonal = diagonal.expect("the columns differ");
        assert!(diagonal.iter().all(|d| (d - 1.5625).abs() < 1e-12), "{diagonal:?}");
        assert_eq!(diagonal_of_inverse(vec![vec![1.0, 1.0], vec![1.0, 1.0]]), None);
    }
}
