//! A count of bytes.

use std::fmt;
use std::str::FromStr;

use crate::ParseError;
use crate::number::{parse_number, split_unit};

/// A count of bytes. Prints as `1.50 GiB`; parses `4k`, `4KiB`, `1.5g`, `10GB` (decimal).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

const ALLOWED: &str = "a size such as `8k`, `8KiB`, `1.5GiB` or `10GB` (decimal)";

impl Bytes {
    /// No bytes.
    pub const ZERO: Bytes = Bytes(0);

    /// `count` bytes.
    pub const fn new(count: u64) -> Bytes {
        Bytes(count)
    }

    /// `count` KiB.
    pub const fn kib(count: u64) -> Bytes {
        Bytes(count << 10)
    }

    /// `count` MiB.
    pub const fn mib(count: u64) -> Bytes {
        Bytes(count << 20)
    }

    /// `count` GiB.
    pub const fn gib(count: u64) -> Bytes {
        Bytes(count << 30)
    }

    /// The count itself.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The sum, or `None` if it overflows.
    pub fn checked_add(self, other: Bytes) -> Option<Bytes> {
        self.0.checked_add(other.0).map(Bytes)
    }
}

impl FromStr for Bytes {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Bytes, ParseError> {
        let wrong = || ParseError::new(text, ALLOWED);
        let (number, unit) = split_unit(text);
        let number_f = parse_number(number).ok_or_else(wrong)?;
        let factor: u64 = match unit.to_ascii_lowercase().as_str() {
            "" | "b" | "byte" | "bytes" => 1,
            "k" | "ki" | "kib" => 1 << 10,
            "m" | "mi" | "mib" => 1 << 20,
            "g" | "gi" | "gib" => 1 << 30,
            "t" | "ti" | "tib" => 1 << 40,
            "p" | "pi" | "pib" => 1 << 50,
            "kb" => 1_000,
            "mb" => 1_000_000,
            "gb" => 1_000_000_000,
            "tb" => 1_000_000_000_000,
            "pb" => 1_000_000_000_000_000,
            _ => return Err(wrong()),
        };
        // Whole numbers stay exact beyond 2^53; only fractions use floating point.
        let digits: String = number.chars().filter(|c| *c != '_').collect();
        let count = match digits.parse::<u64>() {
            Ok(whole) => whole.checked_mul(factor).ok_or_else(wrong)?,
            Err(_) => {
                let count = number_f * factor as f64;
                if count >= u64::MAX as f64 {
                    return Err(wrong());
                }
                count.round() as u64
            }
        };
        Ok(Bytes(count))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
        let mut step = 0;
        let mut rest = self.0;
        while step < 5 && rest >= 1024 {
            rest >>= 10;
            step += 1;
        }
        let divisor = 1u64 << (10 * step);
        if self.0.is_multiple_of(divisor) {
            write!(f, "{} {}", self.0 / divisor, UNITS[step])
        } else {
            write!(f, "{:.2} {}", self.0 as f64 / divisor as f64, UNITS[step])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_parse_in_binary_and_decimal_units() {
        for (text, bytes) in [
            ("4k", 4096),
            ("4KiB", 4096),
            ("8K", 8192),
            ("1.5g", 1_610_612_736),
            ("1.5GiB", 1_610_612_736),
            ("10GB", 10_000_000_000),
            ("512", 512),
            ("1_024", 1024),
            ("64 MiB", 64 << 20),
            ("2TiB", 2 << 40),
            ("18014398509481983", 18_014_398_509_481_983),
        ] {
            assert_eq!(text.parse::<Bytes>(), Ok(Bytes(bytes)), "{text}");
        }
        for text in ["", "k", "4q", "-1", "fast", "4 k s", "1e400", "99999999P", "NaN", "1.2.3k"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_print_in_iec_units() {
        assert_eq!(Bytes(512).to_string(), "512 B");
        assert_eq!(Bytes(8192).to_string(), "8 KiB");
        assert_eq!(Bytes(1_610_612_736).to_string(), "1.50 GiB");
        assert_eq!(Bytes::mib(256).to_string(), "256 MiB");
        assert_eq!(Bytes(u64::MAX).to_string(), "16384.00 PiB");
    }
}
