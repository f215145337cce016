//! Rates: operations and bytes per second.

use std::fmt;
use std::ops::Mul;
use std::str::FromStr;
use std::time::Duration;

use crate::error::{parse_number, split_unit};
use crate::percent::NOT_A_NUMBER;
use crate::{Bytes, ParseError};

/// Operations per second. Prints as `12,345 ops/s`; parses `10000`, `10k` (decimal), `10000/s`,
/// `2.5k ops/s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct OpsPerSec(f64);

/// Bytes per second. Prints as `64.00 MiB/s`; parses `64MiB/s`, `64m`, `1GB/s` (decimal).
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

    /// In MiB/s, for charts and tables that say so in their heading.
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
        // Rates of operations are counted in thousands, never in 1,024s.
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
        let trimmed = text.trim();
        let size = trimmed.strip_suffix("/s").unwrap_or(trimmed);
        let bytes: Bytes = size.parse().map_err(|_| {
            ParseError::new(text, "a throughput such as `64MiB/s` or `1GB/s` (decimal)")
        })?;
        Ok(BytesPerSec(bytes.get() as f64))
    }
}

impl fmt::Display for OpsPerSec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            rate if !rate.is_finite() => write!(f, "{NOT_A_NUMBER} ops/s"),
            rate if rate >= 100.0 => write!(f, "{} ops/s", thousands(rate.round() as u64)),
            // The sign of negative zero is not printed.
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

/// `1234567` as `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

impl Mul<Bytes> for OpsPerSec {
    type Output = BytesPerSec;
    fn mul(self, size: Bytes) -> BytesPerSec {
        BytesPerSec(self.0 * size.get() as f64)
    }
}

/// Little's law as a type: ops/s times seconds is a number of operations.
impl Mul<Duration> for OpsPerSec {
    type Output = f64;
    fn mul(self, time: Duration) -> f64 {
        self.0 * time.as_secs_f64()
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
        assert_eq!(OpsPerSec(1_234_567.0).to_string(), "1,234,567 ops/s");
        assert_eq!(OpsPerSec(1.26).to_string(), "1.3 ops/s");
        assert_eq!((OpsPerSec(3200.0) * Bytes::kib(64)).to_string(), "200.00 MiB/s");
    }

    #[test]
    fn littles_law_is_a_type() {
        let outstanding = OpsPerSec(3200.0) * Duration::from_micros(1909);
        assert!((outstanding - 6.1088).abs() < 1e-9);
    }
}
