//! Least squares for positive parameters whose residuals have kinks and flat regions, as a model has
//! that is the minimum of several bounds.
//!
//! Levenberg (1944) and Marquardt (1963) on the logarithms of the parameters, with derivatives by
//! differences and limited steps. The solver in [`crate::least_squares`] ends at wrong parameters
//! here, also with small first steps. The same input gives the same bits.

use crate::average::sum_of_squares;

/// Maximum number of steps; the fits of the tests need fewer than thirty.
const STEPS_MAX: u32 = 200;
/// A step that lowers the sum of squares by less ends the search.
const GAIN_MIN: f64 = 1e-14;
/// The change of a logarithm for a derivative.
const DERIVATIVE_STEP: f64 = 1e-6;
/// A parameter moves by at most this factor (as a logarithm) in one step.
const STEP_MAX: f64 = 1.0;

/// The parameters that minimize the sum of squares of `residuals`, searched from `start`.
pub fn minimize_positive(start: &[f64], residuals: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let exponents = |logs: &[f64]| logs.iter().map(|log| log.exp()).collect::<Vec<f64>>();
    let at = |logs: &[f64]| residuals(&exponents(logs));
    let mut logs: Vec<f64> = start.iter().map(|value| value.ln()).collect();
    let mut now = at(&logs);
    let mut damping = 1e-3;
    for _ in 0..STEPS_MAX {
        let slopes: Vec<Vec<f64>> = (0..logs.len())
            .map(|index| {
                let mut moved = logs.clone();
                moved[index] += DERIVATIVE_STEP;
                at(&moved)
                    .iter()
                    .zip(&now)
                    .map(|(there, here)| (there - here) / DERIVATIVE_STEP)
                    .collect()
            })
            .collect();
        let Some(step) = step(&slopes, &now, damping) else { break };
        let tried: Vec<f64> =
            logs.iter().zip(&step).map(|(l, s)| l - s.clamp(-STEP_MAX, STEP_MAX)).collect();
        let there = at(&tried);
        let gained = sum_of_squares(&now) - sum_of_squares(&there);
        if gained >= 0.0 {
            (logs, now) = (tried, there);
            damping = (damping / 10.0f64).max(1e-12);
            if gained < GAIN_MIN {
                break;
            }
        } else {
            damping *= 10.0;
            if damping > 1e12 {
                break;
            }
        }
    }
    exponents(&logs)
}

/// Solves the damped normal equations by Gaussian elimination with pivoting.
fn step(slopes: &[Vec<f64>], residuals: &[f64], damping: f64) -> Option<Vec<f64>> {
    let n = slopes.len();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let mut row: Vec<f64> = (0..n).map(|j| dot(&slopes[i], &slopes[j])).collect();
            // Keeps a parameter without effect where it is.
            row[i] = row[i] * (1.0 + damping) + 1e-12;
            row.push(dot(&slopes[i], residuals));
            row
        })
        .collect();
    for column in 0..n {
        let pivot =
            (column..n).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        rows.swap(column, pivot);
        let top = rows[column].clone();
        if top[column] == 0.0 {
            return None;
        }
        for row in rows.iter_mut().skip(column + 1) {
            let factor = row[column] / top[column];
            row.iter_mut().zip(&top).for_each(|(cell, above)| *cell -= factor * above);
        }
    }
    let mut solution = vec![0.0; n];
    for index in (0..n).rev() {
        let known = dot(&rows[index][index + 1..n], &solution[index + 1..]);
        solution[index] = (rows[index][n] - known) / rows[index][index];
    }
    Some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_a_sum_of_two_costs_are_found_from_any_start() {
        let seen = [(4.0, 14.0), (8.0, 18.0), (64.0, 74.0)];
        let residuals = |p: &[f64]| -> Vec<f64> {
            seen.iter().map(|(x, y): &(f64, f64)| (p[0] + p[1] * x).ln() - y.ln()).collect()
        };
        for start in [[1.0, 1.0], [100.0, 1e-3], [1e-3, 100.0]] {
            let found = minimize_positive(&start, residuals);
            assert!((found[0] - 10.0).abs() < 1e-5 && (found[1] - 1.0).abs() < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn a_parameter_without_effect_keeps_its_start() {
        let found = minimize_positive(&[3.0, 5.0], |p| vec![p[0].ln() - 2f64.ln()]);
        assert!((found[0] - 2.0).abs() < 1e-6);
        assert!((found[1] - 5.0).abs() < 1e-9);
    }

    #[test]
    fn contradicting_measurements_give_their_geometric_mean() {
        let found =
            minimize_positive(&[7.0], |p| vec![p[0].ln() - 2f64.ln(), p[0].ln() - 8f64.ln()]);
        assert!((found[0] - 4.0).abs() < 1e-6, "the geometric mean");
    }
}
