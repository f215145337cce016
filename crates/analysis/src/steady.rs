//! Whether a figure stands still within its window.
//!
//! The criterion has two halves. Size: from the window's first third to its last the figure changes
//! by more than 10 % of its mean, the tolerance that SNIA's performance test specification (PTS
//! 2.0.2, section 2.1.24) gives the slope. Noise: that change is more than twice its standard
//! error, so that a few operations for each interval are not taken for a drift.

/// Change from the first to the last third that is tolerated, as a fraction of the mean.
pub const DRIFT_MAX: f64 = 0.10;
/// Fewer intervals than this are not judged.
const INTERVALS_MIN: usize = 6;

/// Change from the first third of `values` to the last, as a fraction of the mean of all; `None`
/// below six values or where the mean is 0.
pub fn drift(values: &[f64]) -> Option<f64> {
    let (first, last) = thirds(values)?;
    let mean = mean_of(values);
    (mean != 0.0).then(|| (mean_of(last) - mean_of(first)) / mean)
}

/// The drift where it is too large to be called steady and too large to be noise.
pub fn unsteady(values: &[f64]) -> Option<f64> {
    let drift = drift(values)?;
    let (first, last) = thirds(values)?;
    let deviation = (residual_variance(values) * 2.0 / first.len() as f64).sqrt();
    let change = (mean_of(last) - mean_of(first)).abs();
    (drift.abs() > DRIFT_MAX && change > 2.0 * deviation).then_some(drift)
}

fn thirds(values: &[f64]) -> Option<(&[f64], &[f64])> {
    let third = values.len() / 3;
    (values.len() >= INTERVALS_MIN).then(|| (&values[..third], &values[values.len() - third..]))
}

fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Variance around the line of least squares, so that a drift does not count as its own noise.
fn residual_variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let (x_mean, y_mean) = ((n - 1.0) / 2.0, mean_of(values));
    let (mut xy, mut xx) = (0.0, 0.0);
    for (place, y) in values.iter().enumerate() {
        let x = place as f64 - x_mean;
        xy += x * (y - y_mean);
        xx += x * x;
    }
    let slope = xy / xx;
    let residual =
        |(place, y): (usize, &f64)| (y - y_mean - slope * (place as f64 - x_mean)).powi(2);
    values.iter().enumerate().map(residual).sum::<f64>() / (n - 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_is_a_drift_and_a_flat_line_is_not() {
        // 100 110 ... 180: thirds 110 and 170 around 140.
        let ramp: Vec<f64> = (0..9).map(|step| 100.0 + 10.0 * f64::from(step)).collect();
        assert!((drift(&ramp).unwrap() - 60.0 / 140.0).abs() < 1e-12);
        assert!(unsteady(&ramp).is_some());
        assert_eq!(unsteady(&[100.0; 9]), None);
        assert_eq!(drift(&[1.0; 5]), None);
    }

    #[test]
    fn noise_is_not_called_a_drift() {
        let noisy = [80.0, 130.0, 70.0, 120.0, 90.0, 100.0, 140.0, 60.0, 130.0];
        assert!(drift(&noisy).unwrap() > DRIFT_MAX);
        assert_eq!(unsteady(&noisy), None);
    }
}
