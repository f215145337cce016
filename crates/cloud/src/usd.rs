//! Exact amounts of money.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

/// Millionths in a dollar.
const MICROS: u64 = 1_000_000;

/// An amount in millionths of a US dollar. Prints in whole dollars from $100, otherwise with cents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Usd(u64);

impl Usd {
    /// No money.
    pub const ZERO: Usd = Usd(0);

    /// `micros` millionths of a dollar.
    pub const fn from_micros(micros: u64) -> Usd {
        Usd(micros)
    }

    /// In millionths of a dollar.
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// In dollars, for exports.
    pub fn as_dollars(self) -> f64 {
        self.0 as f64 / MICROS as f64
    }

    /// The amount multiplied; saturates.
    pub const fn times(self, count: u64) -> Usd {
        Usd(self.0.saturating_mul(count))
    }

    /// The difference; zero if `other` is more.
    pub const fn less(self, other: Usd) -> Usd {
        Usd(self.0.saturating_sub(other.0))
    }

    /// Parses `0.000202`, with up to six decimals.
    pub fn parse(text: &str) -> Option<Usd> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || decimals.len() > 6 || !digits(whole) || !digits(decimals) {
            return None;
        }
        let whole: u64 = whole.parse().ok()?;
        let decimals: u64 = format!("{decimals:0<6}").parse().ok()?;
        whole.checked_mul(MICROS)?.checked_add(decimals).map(Usd)
    }

    /// All decimals up to the last that is not zero, at least two: for unit prices.
    pub fn exact(self) -> String {
        let decimals = format!("{:06}", self.0 % MICROS);
        let shown = decimals.trim_end_matches('0').len().max(2);
        format!("${}.{}", self.0 / MICROS, &decimals[..shown])
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 >= 100 * MICROS {
            let dollars = (self.0 + MICROS / 2) / MICROS;
            return write!(f, "${}", units::thousands(dollars));
        }
        let cents = (self.0 + 5_000) / 10_000;
        write!(f, "${}.{:02}", cents / 100, cents % 100)
    }
}

impl Add for Usd {
    type Output = Usd;

    fn add(self, other: Usd) -> Usd {
        Usd(self.0.saturating_add(other.0))
    }
}

impl Sum for Usd {
    fn sum<I: Iterator<Item = Usd>>(all: I) -> Usd {
        all.fold(Usd::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact_and_print_as_money() {
        assert_eq!(Usd::parse("0.000202"), Some(Usd(202)));
        assert_eq!(Usd::parse("3"), Some(Usd(3_000_000)));
        for text in ["", ".5", "-1", "1.2.3", "0.0000001", "1e3", "1 "] {
            assert_eq!(Usd::parse(text), None, "{text}");
        }
        assert_eq!(Usd(1_608_663_000).to_string(), "$1,609");
        assert_eq!(Usd(99_990_000).to_string(), "$99.99");
        assert_eq!(Usd(4_000).to_string(), "$0.00");
        assert_eq!(Usd(1_500_000).exact(), "$1.50");
        assert_eq!(Usd(u64::MAX).times(2), Usd(u64::MAX));
        assert_eq!(Usd(3).less(Usd(5)), Usd::ZERO);
    }
}
