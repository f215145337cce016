//! A number with its interval.

/// A value with the ends of its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The expected value.
    pub value: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// A certain value.
    pub const fn exactly(value: f64) -> Interval {
        Interval { low: value, value, high: value }
    }

    /// The value with two ends in any order.
    pub fn around(value: f64, one: f64, other: f64) -> Interval {
        Interval { low: one.min(other).min(value), value, high: one.max(other).max(value) }
    }

    /// The value with the ends `value / exp(off)` and `value * exp(off)`.
    pub fn spread(value: f64, off: f64) -> Interval {
        Interval { low: value * (-off).exp(), value, high: value * off.exp() }
    }

    /// The upper end over the lower one: 1 for a certain value.
    pub fn width(&self) -> f64 {
        self.high / self.low
    }

    /// Whether it contains a number.
    pub fn holds(&self, number: f64) -> bool {
        (self.low..=self.high).contains(&number)
    }

    /// All numbers times a factor.
    #[must_use]
    pub fn times(self, factor: f64) -> Interval {
        Interval { low: self.low * factor, value: self.value * factor, high: self.high * factor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_contains_its_value_and_both_ends() {
        let around = Interval::around(5.0, 9.0, 2.0);
        assert_eq!((around.low, around.value, around.high), (2.0, 5.0, 9.0));
        assert_eq!(around.width(), 4.5);
        assert_eq!(
            [1.9, 2.0, 9.0, 9.1].map(|number| around.holds(number)),
            [false, true, true, false]
        );
        let one_sided = Interval::around(5.0, 6.0, 7.0);
        assert_eq!((one_sided.low, one_sided.high), (5.0, 7.0));
        let one_sided = Interval::around(5.0, 1.0, 2.0);
        assert_eq!((one_sided.low, one_sided.high), (1.0, 5.0));
        let times = around.times(3.0);
        assert_eq!((times.low, times.value, times.high), (6.0, 15.0, 27.0));
        assert_eq!(Interval::exactly(4.0).width(), 1.0);
    }

    #[test]
    fn a_spread_is_a_factor_in_both_directions() {
        let spread = Interval::spread(10.0, 2f64.ln());
        assert!((spread.low - 5.0).abs() < 1e-12 && (spread.high - 20.0).abs() < 1e-12);
        assert_eq!(spread.value, 10.0);
    }
}
