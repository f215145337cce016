//! Durations: parsed as users write them, and printed.

use std::fmt;
use std::time::Duration;

use crate::ParseError;
use crate::number::{NOT_A_NUMBER, parse_number, split_unit};

/// Parses `30s`, `2m`, `1m30s`, `500ms`, `10us`, `1.5h`, `0`. A number without a unit is refused,
/// except 0.
///
/// # Errors
/// The text found, and what is allowed.
pub fn parse_duration(text: &str) -> Result<Duration, ParseError> {
    let wrong = || ParseError::new(text, "a duration such as `30s`, `2m`, `500ms` or `10us`");
    let mut rest = text.trim();
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    let mut ns_sum = 0.0;
    while !rest.is_empty() {
        let (number, tail) = split_unit(rest);
        let unit_end = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let number = parse_number(number).ok_or_else(wrong)?;
        let ns_per_unit = ns_per_unit(tail[..unit_end].trim()).ok_or_else(wrong)?;
        ns_sum += number * ns_per_unit;
        rest = &tail[unit_end..];
    }
    if text.trim().is_empty() || ns_sum >= u64::MAX as f64 {
        return Err(wrong());
    }
    Ok(Duration::from_nanos(ns_sum.round() as u64))
}

fn ns_per_unit(unit: &str) -> Option<f64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "ns" => 1.0,
        "us" | "µs" | "usec" => 1e3,
        "ms" | "msec" => 1e6,
        "s" | "sec" | "second" | "seconds" => 1e9,
        "m" | "min" | "minute" | "minutes" => 60e9,
        "h" | "hour" | "hours" => 3600e9,
        "d" | "day" | "days" => 86_400e9,
        _ => return None,
    })
}

/// Prints a duration so that it parses back: `30s`, `2m`, `1m30s`, `500ms`, `10us`.
pub fn print_duration(time: Duration) -> String {
    let ns = time.as_nanos();
    if ns == 0 {
        return "0s".to_owned();
    }
    if !ns.is_multiple_of(1_000_000_000) {
        return match ns {
            _ if ns.is_multiple_of(1_000_000) => format!("{}ms", ns / 1_000_000),
            _ if ns.is_multiple_of(1_000) => format!("{}us", ns / 1_000),
            _ => format!("{ns}ns"),
        };
    }
    let seconds = time.as_secs();
    let (hours, minutes, rest) = (seconds / 3600, seconds % 3600 / 60, seconds % 60);
    let mut out = String::new();
    for (count, unit) in [(hours, "h"), (minutes, "m"), (rest, "s")] {
        if count > 0 {
            out.push_str(&format!("{count}{unit}"));
        }
    }
    out
}

/// Prints a duration rounded up to whole seconds: `1m30s` for 89.001 s.
pub fn print_whole_seconds(time: Duration) -> String {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    print_duration(Duration::from_secs(seconds))
}

/// A measured time in nanoseconds, printed with three digits and the unit that fits: `812 ns`,
/// `60.3 µs`, `1.91 ms`, `2.50 s`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Nanos(pub f64);

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0.abs() {
            ns if !ns.is_finite() => return f.write_str(NOT_A_NUMBER),
            0.0 => return f.write_str("0 ns"),
            // Too short to be measured: a mean of many samples, or a difference.
            ns if ns < 0.005 => return f.write_str("<0.01 ns"),
            ns if ns < 999.5 => (self.0, "ns"),
            ns if ns < 999.5e3 => (self.0 / 1e3, "µs"),
            ns if ns < 999.5e6 => (self.0 / 1e6, "ms"),
            _ => (self.0 / 1e9, "s"),
        };
        match value.abs() {
            v if v < 9.995 => write!(f, "{value:.2} {unit}"),
            v if v < 99.95 => write!(f, "{value:.1} {unit}"),
            _ => write!(f, "{value:.0} {unit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations_parse_and_print() {
        for (text, ns) in [
            ("30s", 30_000_000_000),
            ("2m", 120_000_000_000),
            ("500ms", 500_000_000),
            ("10us", 10_000),
            ("1.5h", 5_400_000_000_000),
            ("0", 0),
            ("1m30s", 90_000_000_000),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_nanos(ns)), "{text}");
        }
        for text in ["30", "s", "-1s", "1fortnight", "1e30s", "1m30"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        assert_eq!(print_duration(Duration::from_secs(90)), "1m30s");
        assert_eq!(print_duration(Duration::from_millis(2500)), "2500ms");
        assert_eq!(print_duration(Duration::from_secs(7200)), "2h");
        assert_eq!(print_whole_seconds(Duration::from_millis(89_001)), "1m30s");
        assert_eq!(print_whole_seconds(Duration::ZERO), "0s");
    }

    #[test]
    fn measured_times_print_with_the_unit_that_fits() {
        assert_eq!(Nanos(812.0).to_string(), "812 ns");
        assert_eq!(Nanos(60_300.0).to_string(), "60.3 µs");
        assert_eq!(Nanos(1_909_000.0).to_string(), "1.91 ms");
        assert_eq!(Nanos(999_600.0).to_string(), "1.00 ms");
        assert_eq!(Nanos(2.5e9).to_string(), "2.50 s");
    }

    proptest! {
        #[test]
        fn a_time_that_is_not_zero_is_not_printed_as_zero(ns: f64) {
            let text = Nanos(ns).to_string();
            prop_assert!(!text.contains("NaN") && !text.contains("inf"), "{}", text);
            let is_zero = text.starts_with(['0', '-'])
                && !text.chars().any(|c| matches!(c, '1'..='9'));
            prop_assert_eq!(is_zero, ns == 0.0, "{}", text);
        }
    }
}
