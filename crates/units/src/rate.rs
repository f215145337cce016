//! Rates: operations and bytes per second.

use std::fmt;
use std::str::FromStr;

use crate::number::{NOT_A_NUMBER, parse_number, split_unit, thousands};
use crate::{Bytes, ParseError};

/// Operations per second. Prints as `12,345 ops/s`; parses `10000`, `10k` (decimal), `10000/s`,
/// `2.5k ops/s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct OpsPerSec(f64);

/// Bytes per second. Prints as `64.00 MiB/s`; parses `64MiB/s`, `64m`, `1GB/s` (decimal),
/// and bandwidths such as `10Gbit/s` (decimal).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct BytesPerSec(f64);

impl OpsPerSec {
    /// `rate` operations per second.
    pub const fn new(rate: f64) -> OpsPerSec {
        OpsPerSec(rate)
    }

    /// The rate itself.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl BytesPerSec {
    /// `rate` bytes per second.
    pub const fn new(rate: f64) -> BytesPerSec {
        BytesPerSec(rate)
    }

    /// The rate itself.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// In MiB/s, for charts with that unit in their heading.
    pub fn as_mib(self) -> f64 {
        self.0 / (1u64 << 20) as f64
    }
}

impl FromStr for OpsPerSec {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<OpsPerSec, ParseError> {
        let wrong = || ParseError::new(text, "a rate such as `10000/s` or `2.5k ops/s`");
        let (number, unit) = split_unit(text);
        let number = parse_number(number).ok_or_else(wrong)?;
        let unit = unit.to_ascii_lowercase();
        let unit = unit.strip_suffix("/s").unwrap_or(&unit).trim();
        let unit = unit.strip_suffix("iops").or_else(|| unit.strip_suffix("ops")).unwrap_or(unit);
        // Decimal, unlike the units of bytes.
        let factor = match unit.trim() {
            "" => 1.0,
            "k" => 1e3,
            "m" => 1e6,
            _ => return Err(wrong()),
        };
        Ok(OpsPerSec(number * factor))
    }
}

impl FromStr for BytesPerSec {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<BytesPerSec, ParseError> {
        let wrong = || {
            let allowed = "a throughput such as `64MiB/s`, `1GB/s` (decimal) or `10Gbit/s`";
            ParseError::new(text, allowed)
        };
        let (number, unit) = split_unit(text);
        let bits_per_unit = match unit {
            "Gbit/s" => 1e9,
            "Mbit/s" | "Mbps" => 1e6,
            _ => {
                let size = text.trim();
                let size = size.strip_suffix("/s").unwrap_or(size);
                let bytes: Bytes = size.parse().map_err(|_| wrong())?;
                return Ok(BytesPerSec(bytes.get() as f64));
            }
        };
        let rate = parse_number(number).ok_or_else(wrong)? * bits_per_unit / 8.0;
        if rate.is_finite() { Ok(BytesPerSec(rate)) } else { Err(wrong()) }
    }
}

impl fmt::Display for OpsPerSec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            rate if !rate.is_finite() => write!(f, "{NOT_A_NUMBER} ops/s"),
            rate if rate >= 100.0 => write!(f, "{} ops/s", thousands(rate.round() as u64)),
            // Adding 0.0 removes the sign of negative zero.
            rate => write!(f, "{:.1} ops/s", rate + 0.0),
        }
    }
}

impl fmt::Display for BytesPerSec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 5] = ["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s"];
        if !self.0.is_finite() {
            return write!(f, "{NOT_A_NUMBER} B/s");
        }
        let mut rest = self.0 + 0.0;
        let mut step = 0;
        while step < 4 && rest >= 1024.0 {
            rest /= 1024.0;
            step += 1;
        }
        write!(f, "{rest:.2} {}", UNITS[step])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_parse_and_print() {
        for (text, rate) in [
            ("10000", 1e4),
            ("10000/s", 1e4),
            ("10k", 1e4),
            ("2.5k ops/s", 2500.0),
            ("300 iops", 300.0),
            ("100k iops", 1e5),
        ] {
            assert_eq!(text.parse::<OpsPerSec>(), Ok(OpsPerSec(rate)), "{text}");
        }
        assert!("10 apples".parse::<OpsPerSec>().is_err());
        assert_eq!("64MiB/s".parse(), Ok(BytesPerSec(67_108_864.0)));
        assert_eq!("10Gbit/s".parse(), Ok(BytesPerSec(1.25e9)));
        assert_eq!("800 Mbps".parse(), Ok(BytesPerSec(1e8)));
        assert!("-1Gbit/s".parse::<BytesPerSec>().is_err());
        assert!("NaNGbit/s".parse::<BytesPerSec>().is_err());
        assert_eq!(OpsPerSec(1_234_567.0).to_string(), "1,234,567 ops/s");
        assert_eq!(OpsPerSec(1.26).to_string(), "1.3 ops/s");
        assert_eq!(BytesPerSec(209_715_200.0).to_string(), "200.00 MiB/s");
    }
}
