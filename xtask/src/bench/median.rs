//! The middle of several figures.

/// The middle one, or the mean of the two in the middle; none of nothing.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    let even = sorted.len().is_multiple_of(2);
    Some(if even { f64::midpoint(sorted[middle - 1], upper) } else { upper })
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_middle_does_not_hang_on_the_order() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }
}
