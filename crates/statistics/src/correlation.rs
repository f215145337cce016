//! How closely one quantity follows another.
//!
//! Source: K. Pearson, Proceedings of the Royal Society of London 58, 1895.

use crate::average::{mean, sum_of_squares};

/// Pearson's correlation coefficient of pairs, -1 to 1; `None` if one quantity is constant.
pub fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let deviations = |pick: fn(&(f64, f64)) -> f64| {
        let values: Vec<f64> = pairs.iter().map(pick).collect();
        let mean = mean(&values);
        values.into_iter().map(|value| value - mean).collect::<Vec<f64>>()
    };
    let (a, b) = (deviations(|pair| pair.0), deviations(|pair| pair.1));
    let spread = (sum_of_squares(&a) * sum_of_squares(&b)).sqrt();
    let product: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
    (spread > 0.0).then(|| (product / spread).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anscombes_first_set_has_its_known_correlation() {
        // F. J. Anscombe, The American Statistician 27, 1973: r = 0.81642.
        let x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
        let pairs: Vec<(f64, f64)> = x.into_iter().zip(y).collect();
        let r = correlation(&pairs).unwrap();
        assert!((r - 0.81642).abs() < 5e-6, "{r}");
    }

    #[test]
    fn a_constant_has_no_correlation() {
        assert_eq!(correlation(&[(1.0, 5.0), (2.0, 5.0)]), None);
        assert_eq!(correlation(&[]), None);
        assert_eq!(correlation(&[(1.0, 3.0), (2.0, 1.0)]), Some(-1.0));
    }
}
