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
