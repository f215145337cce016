//! Fits a model's parameters by weighted least squares from several starts, with confidence
//! intervals.
//!
//! The minimized sum is that of `(ln(measured / model) / e)^2`, with `e` the relative standard
//! error of the point: points count by relative error, and a change of units changes nothing.
//!
//! Source of the intervals (linearisation): Bates and Watts, "Nonlinear Regression Analysis and Its
//! Applications", 1988, section 2.3.

use statistics::distributions::t95;
use statistics::least_squares::{Minimum, Parameter, minimize};

use crate::fit::model::Model;
use crate::sample::{Load, Sample};

/// Lower bound of a point's relative standard error; no model is more exact.
const RELATIVE_ERROR_MIN: f64 = 0.002;
/// A point's standard error may be small by chance; its lower bound is this share of the curve's
/// median.
const OF_MEDIAN_ERROR_MIN: f64 = 0.5;
/// The weighted residual where a model has no finite value.
const FAR: f64 = 1e6;
/// Step of a numeric derivative, as a share of a parameter's scale.
const STEP: f64 = 1e-5;
/// Below this pivot, two columns of derivatives are treated as collinear.
const ALIKE: f64 = 1e-9;

/// Measured points, as input of a fit.
pub(crate) struct Data {
    loads: Vec<f64>,
    /// Achieved rates (closed) or mean response times (open).
    measured: Vec<f64>,
    relative_errors: Vec<f64>,
    /// The errors come from the measurements; otherwise only residuals show the spread.
    errors_known: bool,
    pub(crate) think_time_s: f64,
}

/// The best-fitting parameters of a model.
pub(crate) struct Solution {
    pub(crate) values: Vec<f64>,
    /// Both ends of their 95 % confidence intervals; infinite where the data do not bound them.
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

/// The best minimum over all starts; `None` where every search fails.
pub(crate) fn solve(model: Model, data: &Data) -> Option<Solution> {
    let best = |starts: Vec<Vec<f64>>, fix_servers: bool| {
        starts
            .into_iter()
            .filter_map(|start| search(model, data, &start, fix_servers))
            .min_by(|a, b| a.sum_of_squares.total_cmp(&b.sum_of_squares))
    };
    let free = best(starts(model, data), false)?;
    let minimum = match model {
        // Servers are whole; the other parameters follow.
        Model::DelayAndServers | Model::Mmc => {
            let whole = [free.values[2].floor().max(1.0), free.values[2].ceil()];
            let fixed = whole.map(|servers| vec![free.values[0], free.values[1], servers]);
            best(fixed.to_vec(), true).unwrap_or(free)
        }
        _ => free,
    };
    let intervals = intervals(model, data, &minimum.values, minimum.sum_of_squares);
    Some(Solution { values: minimum.values, intervals, chi_squared: minimum.sum_of_squares })
}

/// Start values, from the two ends of the curve.
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

/// The minimum found from one start; `None` where the search fails. Parameters are divided by their
/// start, so that all have the same magnitude.
fn search(model: Model, data: &Data, start: &[f64], fix_servers: bool) -> Option<Minimum> {
    let parameters: Vec<Parameter> = (0..start.len())
        .map(|number| Parameter {
            start: 1.0,
            least: least(model, data, number) / start[number],
            fixed: fix_servers && model.parameters()[number].name == "servers",
        })
        .collect();
    let unscaled = |shares: &[f64]| -> Vec<f64> {
        shares.iter().zip(start).map(|(share, scale)| share * scale).collect()
    };
    let minimum = minimize(&parameters, data.len(), |shares, deviates| {
        data.deviates(model, &unscaled(shares), deviates);
    })?;
    let values = unscaled(&minimum.values);
    values.iter().all(|value| value.is_finite()).then_some(Minimum { values, ..minimum })
}

/// The lower bound of a parameter: an open queue has a capacity above every rate it sustained.
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
    // A parameter without effect has no bounds and is left out, so that the others keep theirs.
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

/// How the weighted residuals change with one parameter.
struct Derivative {
    /// Of each point, for a step of the parameter's scale.
    column: Vec<f64>,
    scale: f64,
    /// Raising the parameter has no effect: the points bound it from below only.
    open_above: bool,
}

/// Central difference; one-sided at a bound.
fn derivative(model: Model, data: &Data, values: &[f64], number: usize) -> Derivative {
    let value = values[number];
    // A parameter of 0 is scaled by what would matter: one in all operations, or in all pairs.
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
/// `None` where two columns are collinear.
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

/// Relative standard errors for weighting points, with lower bounds from the median and the value.
/// Without any uncertainty all are equal, and the flag is `false`.
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
    fn points_are_weighted_by_errors_with_a_lower_bound() {
        let (errors, known) = relative_errors(&[Some(0.0), Some(0.01), Some(0.02)]);
        assert_eq!((errors, known), (vec![0.005, 0.01, 0.02], true));
        let (errors, known) = relative_errors(&[Some(0.0), None]);
        assert_eq!((errors, known), (vec![0.002; 2], false));
    }

    #[test]
    fn the_inverse_of_a_correlation_matrix_has_the_known_diagonal() {
        // 1 / (1 - r^2) with r = 0.6 is 1.5625.
        let diagonal = diagonal_of_inverse(vec![vec![1.0, 0.6], vec![0.6, 1.0]]);
        let diagonal = diagonal.expect("the columns differ");
        assert!(diagonal.iter().all(|d| (d - 1.5625).abs() < 1e-12), "{diagonal:?}");
        assert_eq!(diagonal_of_inverse(vec![vec![1.0, 1.0], vec![1.0, 1.0]]), None);
    }
}
