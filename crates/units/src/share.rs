//! A part of a whole.

use std::fmt;

use crate::percent::percent;

/// A share in thousandths, which may exceed the whole, such as growth or use of a limit. Prints as
/// percent: `12.5 %`, `1,250 %`. [`crate::Percent`] is the share that a user writes, at most 100 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Share {
    permille: u64,
}

impl Share {
    /// Nothing.
    pub const ZERO: Share = Share { permille: 0 };
    /// The whole.
    pub const WHOLE: Share = Share { permille: 1000 };

    /// `permille` thousandths.
    pub const fn from_permille(permille: u64) -> Share {
        Share { permille }
    }

    /// `percent` hundredths.
    pub const fn from_percent(percent: u64) -> Share {
        Share { permille: percent.saturating_mul(10) }
    }

    /// `part / whole`, rounded down; of no whole everything.
    pub fn of(part: u64, whole: u64) -> Share {
        Share::from_ratio(u128::from(part) * 1000, whole, false)
    }

    /// `part / whole`, rounded up.
    pub fn of_rounded_up(part: u64, whole: u64) -> Share {
        Share::from_ratio(u128::from(part) * 1000, whole, true)
    }

    fn from_ratio(thousandfold: u128, whole: u64, is_up: bool) -> Share {
        let whole = u128::from(whole.max(1));
        let permille = if is_up { thousandfold.div_ceil(whole) } else { thousandfold / whole };
        Share { permille: u64::try_from(permille).unwrap_or(u64::MAX) }
    }

    /// In thousandths.
    pub const fn permille(self) -> u64 {
        self.permille
    }

    /// As a fraction: 0.125.
    pub fn fraction(self) -> f64 {
        self.permille as f64 / 1000.0
    }

    /// The whole without this share; nothing if it is the whole or more.
    #[must_use]
    pub const fn rest(self) -> Share {
        Share { permille: 1000_u64.saturating_sub(self.permille) }
    }

    /// The whole and this share: growth by 20 % gives 120 %.
    #[must_use]
    pub const fn added_to_whole(self) -> Share {
        Share { permille: self.permille.saturating_add(1000) }
    }

    /// This share of `amount`, rounded down.
    pub fn floor_of(self, amount: u64) -> u64 {
        u64::try_from(self.thousandfold(amount) / 1000).unwrap_or(u64::MAX)
    }

    /// This share of `amount`, rounded up.
    pub fn ceil_of(self, amount: u64) -> u64 {
        u64::try_from(self.thousandfold(amount).div_ceil(1000)).unwrap_or(u64::MAX)
    }

    fn thousandfold(self, amount: u64) -> u128 {
        u128::from(amount) * u128::from(self.permille)
    }
}

impl From<crate::Percent> for Share {
    fn from(percent: crate::Percent) -> Share {
        Share { permille: u64::from(percent.permille()) }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&percent(self.permille))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_rounds_as_requested_and_prints_as_percent() {
        assert_eq!(Share::of(2, 3).permille(), 666);
        assert_eq!(Share::of_rounded_up(2, 3).permille(), 667);
        assert_eq!(Share::of(5, 0).permille(), 5000);
        assert_eq!(Share::from_percent(125).to_string(), "125 %");
        assert_eq!(Share::from_permille(125).to_string(), "12.5 %");
    }

    #[test]
    fn shares_of_an_amount_do_not_overflow() {
        let third = Share::from_permille(333);
        assert_eq!((third.floor_of(10), third.ceil_of(10)), (3, 4));
        assert_eq!(Share::from_percent(200).floor_of(u64::MAX), u64::MAX);
        assert_eq!(third.rest().permille(), 667);
        assert_eq!(Share::from_percent(200).rest(), Share::ZERO);
        assert_eq!(third.added_to_whole().permille(), 1333);
    }
}
