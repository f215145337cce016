//! Places of ticks on an axis and how they are printed.

use crate::number::thousands;

/// About this many ticks are wanted.
const WANTED: f64 = 6.0;
/// Fewer decades than this and a logarithmic axis has ticks between them.
const FEW_DECADES: f64 = 2.5;

/// Round places from 0 to at least `max`: steps of 1, 2 or 5 times a power of ten (Heckbert, "Nice
/// numbers for graph labels", Graphics Gems, 1990).
pub(crate) fn linear(max: f64) -> Vec<f64> {
    let max = if max > 0.0 && max.is_finite() { max } else { 1.0 };
    let raw = max / WANTED;
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

/// Places on a logarithmic axis that holds `min` to `max`, both above 0: powers of the base, with
/// steps between them where a base of ten has few.
pub(crate) fn logarithmic(min: f64, max: f64, base: u32) -> Vec<f64> {
    let base = f64::from(base);
    let first = (min.log10() / base.log10() + 1e-9).floor() as i32;
    let last = (max.log10() / base.log10() - 1e-9).ceil().max(f64::from(first) + 1.0) as i32;
    let powers = || (first..=last).map(|n| base.powi(n));
    if base == 10.0 && (max / min).log10() < FEW_DECADES {
        let steps = powers().flat_map(|power| [1.0, 2.0, 5.0].map(|step| step * power));
        let places: Vec<f64> = steps.collect();
        // From the last place below to the first above.
        let from = places.iter().rposition(|p| *p <= min * 1.000_001).unwrap_or(0);
        let to = places.iter().position(|p| *p >= max * 0.999_999).unwrap_or(places.len() - 1);
        return places[from..=to.max(from + 1).min(places.len() - 1)].to_vec();
    }
    let places: Vec<f64> = powers().collect();
    let every = places.len().div_ceil(14);
    places.into_iter().step_by(every).collect()
}

/// The number at a tick.
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
    fn linear_ticks_are_round_and_reach_beyond_the_largest_value() {
        assert_eq!(linear(97.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(linear(0.0).len(), 6);
        assert_eq!(linear(60_000.0), [0.0, 1e4, 2e4, 3e4, 4e4, 5e4, 6e4]);
    }

    #[test]
    fn logarithmic_ticks_hold_all_values_between_them() {
        assert_eq!(logarithmic(1.0, 64.0, 2), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
        assert_eq!(logarithmic(110.0, 900.0, 10), [100.0, 200.0, 500.0, 1000.0]);
        assert_eq!(logarithmic(0.02, 9_000.0, 10).len(), 7);
        assert_eq!(logarithmic(5.0, 5.0, 10), [5.0, 10.0]);
        assert_eq!(logarithmic(3.0, 3.0, 2), [2.0, 4.0]);
    }

    #[test]
    fn labels_are_short() {
        assert_eq!(label(20_000.0), "20,000");
        assert_eq!(label(0.5), "0.5");
        assert_eq!(label(0.0), "0");
    }
}
