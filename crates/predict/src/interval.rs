//! A number and where it is expected to lie.

/// A value with the ends of its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// What is expected.
    pub value: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// A value that is not in doubt.
    pub const fn exactly(value: f64) -> Interval {
        Interval { low: value, value, high: value }
    }

    /// The value between two others, whichever of them is the larger.
    pub fn around(value: f64, one: f64, other: f64) -> Interval {
        Interval { low: one.min(other).min(value), value, high: one.max(other).max(value) }
    }

    /// The value between itself divided and multiplied by `exp(off)`.
    pub fn spread(value: f64, off: f64) -> Interval {
        Interval { low: value * (-off).exp(), value, high: value * off.exp() }
    }

    /// The upper end over the lower one: 1 for a value that is not in doubt.
    pub fn width(&self) -> f64 {
        self.high / self.low
    }

    /// Whether a number lies in it.
    pub fn holds(&self, number: f64) -> bool {
        (self.low..=self.high).contains(&number)
    }

    /// Every number times a factor.
    #[must_use]
    pub fn times(self, factor: f64) -> Interval {
        Interval { low: self.low * factor, value: self.value * factor, high: self.high * factor }
    }
}
