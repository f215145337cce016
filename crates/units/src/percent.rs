//! Shares in percent.

use std::fmt;
use std::str::FromStr;

use crate::ParseError;
use crate::number::{NOT_A_NUMBER, parse_number, split_unit, thousands};

/// A share from 0 % to 100 % in steps of 0.1 %. Prints as `70 %`; parses `70%`, `70`, `66.7 %`.
/// `0.7` without a unit is refused, because it could mean 70 % or 0.7 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percent {
    permille: u16,
}

impl Percent {
    /// 100 %.
    pub const ALL: Percent = Percent { permille: 1000 };

    /// `permille` thousandths; `None` above 1,000.
    pub const fn from_permille(permille: u16) -> Option<Percent> {
        if permille <= 1000 { Some(Percent { permille }) } else { None }
    }

    /// In thousandths, 0 to 1,000.
    pub const fn permille(self) -> u16 {
        self.permille
    }

    /// As a fraction, 0.0 to 1.0.
    pub fn fraction(self) -> f64 {
        f64::from(self.permille) / 1000.0
    }
}

impl FromStr for Percent {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Percent, ParseError> {
        let wrong = || ParseError::new(text, "a share from `0%` to `100%`");
        let (number, unit) = split_unit(text);
        let number = parse_number(number).ok_or_else(wrong)?;
        if !matches!(unit, "" | "%") || !(0.0..=100.0).contains(&number) {
            return Err(wrong());
        }
        if unit.is_empty() && number > 0.0 && number < 1.0 {
            return Err(ParseError::new(text, "a share with its unit, such as `70%`"));
        }
        Ok(Percent { permille: (number * 10.0).round() as u16 })
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&percent(u64::from(self.permille)))
    }
}

/// Thousandths as percent, which may exceed 100 %: `12.5 %`, `1,250 %`.
pub fn percent(permille: u64) -> String {
    let whole = thousands(permille / 10);
    match permille % 10 {
        0 => format!("{whole} %"),
        tenth => format!("{whole}.{tenth} %"),
    }
}

/// A fraction as percent with this many decimals: `12.5 %`; `n/a` if it is not finite. Zero has no
/// sign.
pub fn fraction_percent(fraction: f64, decimals: usize) -> String {
    let percent = fraction * 100.0;
    if !percent.is_finite() {
        return NOT_A_NUMBER.to_owned();
    }
    let text = format!("{percent:.decimals$}");
    let is_zero = |digits: &&str| digits.chars().all(|c| matches!(c, '0' | '.'));
    let unsigned = text.strip_prefix('-').filter(is_zero);
    format!("{} %", unsigned.unwrap_or(&text))
}

/// A ratio to a quantity whose name follows: `7.3 % of`, and above 100 % `1.08 times`.
pub fn part_of(ratio: f64) -> String {
    match ratio {
        r if !r.is_finite() || r < 0.0 => format!("{NOT_A_NUMBER} of"),
        r if r < 0.0995 => format!("{} of", fraction_percent(r, 1)),
        r if r < 1.005 => format!("{} of", fraction_percent(r, 0)),
        r if r < 9.995 => format!("{r:.2} times"),
        r if r < 99.95 => format!("{r:.1} times"),
        r => format!("{} times", thousands(r.round() as u64)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn percentages_parse_and_print() {
        assert_eq!("70%".parse(), Ok(Percent { permille: 700 }));
        assert_eq!("66.7 %".parse(), Ok(Percent { permille: 667 }));
        assert_eq!("0".parse(), Ok(Percent { permille: 0 }));
        assert!("101%".parse::<Percent>().is_err());
        assert!("-1%".parse::<Percent>().is_err());
        assert_eq!("0.7%".parse(), Ok(Percent { permille: 7 }));
        assert!("0.7".parse::<Percent>().unwrap_err().to_string().contains("`70%`"));
        assert_eq!(Percent { permille: 667 }.to_string(), "66.7 %");
        assert_eq!(Percent::ALL.to_string(), "100 %");
    }

    #[test]
    fn thousandths_print_as_percent_also_above_100() {
        assert_eq!(percent(125), "12.5 %");
        assert_eq!(percent(300), "30 %");
        assert_eq!(percent(12_505), "1,250.5 %");
    }

    /// The number at the start of a text, without its thousands separators.
    fn number(text: &str) -> f64 {
        text.split(' ').next().unwrap_or_default().replace(',', "").parse().unwrap()
    }

    #[test]
    fn a_ratio_prints_as_a_share_up_to_100_percent_and_as_a_multiple_above() {
        let printed =
            [0.0, 0.018, 0.0996, 0.56, 1.0, 1.004, 1.08, 1.41, 25.04, 5_023.0].map(part_of);
        let expected = [
            "0.0 % of",
            "1.8 % of",
            "10 % of",
            "56 % of",
            "100 % of",
            "100 % of",
            "1.08 times",
            "1.41 times",
            "25.0 times",
            "5,023 times",
        ];
        assert_eq!(printed, expected);
        assert_eq!(fraction_percent(-0.0001, 1), "0.0 %");
        assert_eq!(fraction_percent(-0.125, 1), "-12.5 %");
    }

    proptest! {
        #[test]
        fn every_printed_share_is_from_0_to_100_percent(ratio: f64) {
            let text = part_of(ratio);
            prop_assert!(!text.contains("NaN") && !text.contains("inf") && !text.starts_with('-'));
            if text.contains('%') {
                prop_assert!((0.0..=100.0).contains(&number(&text)), "{}", text);
            }
        }

        #[test]
        fn a_printed_percentage_is_finite_and_zero_has_no_sign(fraction: f64, decimals in 0..4usize) {
            let text = fraction_percent(fraction, decimals);
            prop_assert!(!text.contains("NaN") && !text.contains("inf"), "{}", text);
            let is_zero = text.chars().any(|c| c.is_ascii_digit())
                && !text.chars().any(|c| matches!(c, '1'..='9'));
            prop_assert!(!(is_zero && text.starts_with('-')), "{}", text);
        }
    }
}
