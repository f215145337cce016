//! A share in percent.

use std::fmt;
use std::str::FromStr;

use crate::error::{parse_number, split_unit};
use crate::{ParseError, thousands};

/// A share from 0 % to 100 % in steps of 0.1 %. Prints as `70 %`; parses `70%`, `70`, `66.7 %`.
/// A bare `0.7` is refused: it is seven tenths to some and less than a percent to others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percent {
    permille: u16,
}

impl Percent {
    /// 0 %.
    pub const ZERO: Percent = Percent { permille: 0 };
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

/// Thousandths as percent, also where they are more than all: `12.5 %`, `1,250 %`.
pub fn percent(permille: u64) -> String {
    let whole = thousands(permille / 10);
    match permille % 10 {
        0 => format!("{whole} %"),
        tenth => format!("{whole}.{tenth} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_parse_and_print() {
        assert_eq!("70%".parse(), Ok(Percent { permille: 700 }));
        assert_eq!("66.7 %".parse(), Ok(Percent { permille: 667 }));
        assert_eq!("0".parse(), Ok(Percent::ZERO));
        assert!("101%".parse::<Percent>().is_err());
        assert!("-1%".parse::<Percent>().is_err());
        assert_eq!("0.7%".parse(), Ok(Percent { permille: 7 }));
        assert!("0.7".parse::<Percent>().unwrap_err().to_string().contains("`70%`"));
        assert_eq!(Percent { permille: 667 }.to_string(), "66.7 %");
        assert_eq!(Percent::ALL.to_string(), "100 %");
    }

    #[test]
    fn thousandths_are_printed_as_percent_also_above_all() {
        assert_eq!(percent(125), "12.5 %");
        assert_eq!(percent(300), "30 %");
        assert_eq!(percent(12_505), "1,250.5 %");
    }
}
