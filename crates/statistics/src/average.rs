//! Means, medians and sums of squares.

/// The arithmetic mean; NaN for an empty slice.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The middle value, or the mean of the two middle values; `None` for an empty slice.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

/// The median of values in ascending order; `None` for an empty slice.
pub fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    Some(f64::midpoint(sorted[(sorted.len() - 1) / 2], upper))
}

/// Minimum, first quartile, median, third quartile and maximum, with linear interpolation between
/// neighbours; `None` for an empty slice.
pub fn five_numbers(values: &[f64]) -> Option<[f64; 5]> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some([0.0, 0.25, 0.5, 0.75, 1.0].map(|share| {
        let position = share * last as f64;
        let (low, high) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
        low + (high - low) * position.fract()
    }))
}

/// The sum of the squared values.
pub fn sum_of_squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_interpolated_between_neighbours() {
        // As R's quantile(c(1, 2, 4, 8, 16, 32)).
        assert_eq!(
            five_numbers(&[32.0, 1.0, 16.0, 2.0, 8.0, 4.0]),
            Some([1.0, 2.5, 6.0, 14.0, 32.0])
        );
        assert_eq!(five_numbers(&[3.0]), Some([3.0; 5]));
        assert_eq!(five_numbers(&[]), None);
    }

    #[test]
    fn the_median_does_not_depend_on_the_order() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }
}
