//! Values and labels of ticks on an axis.

use crate::number::{plain, thousands};

/// About this many ticks on a linear axis.
const COUNT: f64 = 6.0;
/// A logarithmic axis with fewer decades has ticks between the powers of ten.
const FEW_DECADES: f64 = 3.5;
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

/// Round values that enclose `min` to `max`, which may be negative.
pub(crate) fn spanning(min: f64, max: f64) -> Vec<f64> {
    let size = if max > min { max - min } else { 1.0 };
    let steps = linear(size);
    let step = steps[1] - steps[0];
    let (first, last) = ((min / step + 1e-9).floor() as i64, (max / step - 1e-9).ceil() as i64);
    (first..=last.max(first + 1)).map(|n| n as f64 * step).collect()
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

/// An axis that reaches this has its labels in thousands, so that they stay short.
const IN_THOUSANDS: f64 = 10_000.0;
/// The same for millions.
const IN_MILLIONS: f64 = 10_000_000.0;

/// The divisor and its suffix of the labels of an axis that ends with `last`: `16k`, `16M`.
pub(crate) fn magnitude(last: f64) -> (f64, &'static str) {
    match last {
        v if v >= IN_MILLIONS => (1e6, "M"),
        v if v >= IN_THOUSANDS => (1e3, "k"),
        _ => (1.0, ""),
    }
}

/// The labels of an axis, all of one magnitude.
pub(crate) fn labels(ticks: &[f64], (divisor, suffix): (f64, &str)) -> Vec<String> {
    let of = |tick: &f64| match *tick {
        0.0 => "0".to_owned(),
        tick => format!("{}{suffix}", label(tick / divisor)),
    };
    ticks.iter().map(of).collect()
}

/// A value in short, for a bar: three digits, in thousands or millions.
pub(crate) fn short(value: f64) -> String {
    let (divisor, suffix) = magnitude(value.abs());
    format!("{}{suffix}", plain(value / divisor))
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
    fn ticks_of_differences_enclose_both_signs() {
        assert_eq!(spanning(-3.0, 7.0), [-4.0, -2.0, 0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(spanning(0.0, 0.0).len(), 2);
    }

    #[test]
    fn labels_of_an_axis_are_of_one_magnitude() {
        let of = |ticks: &[f64]| labels(ticks, magnitude(ticks[ticks.len() - 1]));
        assert_eq!(of(&[0.0, 5_000.0, 10_000.0, 15_000.0]), ["0", "5k", "10k", "15k"]);
        assert_eq!(of(&[0.0, 500.0, 1_000.0]), ["0", "500", "1,000"]);
        assert_eq!(of(&[1e6, 2e7]), ["1M", "20M"]);
        assert_eq!(
            [short(16_384.0), short(128.0), short(0.441), short(2_267.0)],
            ["16.4k", "128", "0.441", "2,267"]
        );
    }

    #[test]
    fn labels_have_no_trailing_zeros() {
        assert_eq!(label(20_000.0), "20,000");
        assert_eq!(label(0.5), "0.5");
        assert_eq!(label(0.0), "0");
    }
}
