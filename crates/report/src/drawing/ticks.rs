//! Values and labels of ticks on an axis.

use crate::number::thousands;

/// About this many ticks on a linear axis.
const COUNT: f64 = 6.0;
/// A logarithmic axis with fewer decades has ticks between the powers of ten.
const FEW_DECADES: f64 = 2.5;
/// Ticks of an axis of nines: labels and values.
pub(crate) const NINES: [(&str, f64); 5] =
    [("50 %", 2.0), ("90 %", 10.0), ("99 %", 100.0), ("99.9 %", 1e3), ("99.99 %", 1e4)];

/// Round values from 0 to at least `max`: steps of 1, 2 or 5 times a power of ten (Heckbert, "Nice
/// numbers for graph labels", Graphics Gems, 1990).
pub(crate) fn linear(max: f64) -> Vec<f64> {
    let max = if max > 0.0 && max.is_finite() { max } else { 1.0 };
    let raw = max / COUNT;
    let power = 10f64.powi(raw.log10().floor() as i32);
    let step = match raw / power {
        r if r <= 1.0 => 1.0,
        r if r <= 2.0 => 2.0,
        r if r <= 5.0 => 5.0,
        _ => 10.0,
    } * power;
    let count = (max / step - 1e-9).ceil().max(1.0) as u32;
    (0..=count).map(|n| f64::from(n) * step).collect()
}

/// Values on a logarithmic axis from `min` to `max`, both above 0: powers of the base, with steps
/// between them if a base of ten has few.
pub(crate) fn logarithmic(min: f64, max: f64, base: u32) -> Vec<f64> {
    let base = f64::from(base);
    let first = (min.log10() / base.log10() + 1e-9).floor() as i32;
    let last = (max.log10() / base.log10() - 1e-9).ceil().max(f64::from(first) + 1.0) as i32;
    let powers = || (first..=last).map(|n| base.powi(n));
    if base == 10.0 && (max / min).log10() < FEW_DECADES {
        let steps = powers().flat_map(|power| [1.0, 2.0, 5.0].map(|step| step * power));
        let values: Vec<f64> = steps.collect();
        // From the last value at or below `min` to the first at or above `max`.
        let from = values.iter().rposition(|v| *v <= min * 1.000_001).unwrap_or(0);
        let to = values.iter().position(|v| *v >= max * 0.999_999).unwrap_or(values.len() - 1);
        return values[from..=to.max(from + 1).min(values.len() - 1)].to_vec();
    }
    let values: Vec<f64> = powers().collect();
    let every = values.len().div_ceil(14);
    values.into_iter().step_by(every).collect()
}

/// The label of a tick.
pub(crate) fn label(value: f64) -> String {
    if value.abs() >= 1.0 && (value - value.round()).abs() < 1e-6 {
        return thousands(value.round() as i128);
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_ticks_are_round_and_reach_the_largest_value() {
        assert_eq!(linear(97.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(linear(0.0).len(), 6);
        assert_eq!(linear(60_000.0), [0.0, 1e4, 2e4, 3e4, 4e4, 5e4, 6e4]);
    }

    #[test]
    fn logarithmic_ticks_enclose_all_values() {
        assert_eq!(logarithmic(1.0, 64.0, 2), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
        assert_eq!(logarithmic(110.0, 900.0, 10), [100.0, 200.0, 500.0, 1000.0]);
        assert_eq!(logarithmic(0.02, 9_000.0, 10).len(), 7);
        assert_eq!(logarithmic(5.0, 5.0, 10), [5.0, 10.0]);
        assert_eq!(logarithmic(3.0, 3.0, 2), [2.0, 4.0]);
    }

    #[test]
    fn labels_have_no_trailing_zeros() {
        assert_eq!(label(20_000.0), "20,000");
        assert_eq!(label(0.5), "0.5");
        assert_eq!(label(0.0), "0");
    }
}
