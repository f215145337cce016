//! How a number is printed: three digits where there are no more, thousands apart, units in
//! headings. How it is exported: with nine digits.

use units::Utc;

/// Nanoseconds in a microsecond.
const NS_PER_US: f64 = 1e3;
/// Nanoseconds in a millisecond.
const NS_PER_MS: f64 = 1e6;
/// Bytes in a MiB.
const BYTES_PER_MIB: f64 = 1_048_576.0;

/// What stands where fewer than ten samples lie above a percentile, in a narrow column.
pub const TOO_FEW: &str = "too few";
/// What stands where there is no number.
pub const NONE: &str = "-";

/// Half-widths above this share of the value say only that the value is not known.
const HALF_WIDTH_SHOWN_MAX: f64 = 0.5;

/// At least three digits: `0.123`, `4.52`, `60.3`, `812`, `12,345`.
pub fn plain(value: f64) -> String {
    match value.abs() {
        v if !v.is_finite() => NONE.to_owned(),
        0.0 => "0".to_owned(),
        // What is not zero is not printed as zero.
        v if v < 0.000_000_5 => format!("{value:.0e}"),
        v if v < 0.000_5 => format!("{value:.6}"),
        v if v < 0.9995 => format!("{value:.3}"),
        v if v < 9.995 => format!("{value:.2}"),
        v if v < 99.95 => format!("{value:.1}"),
        _ => thousands(value.round() as i128),
    }
}

/// Nanoseconds as milliseconds.
pub fn ms(ns: f64) -> String {
    plain(ns / NS_PER_MS)
}

/// Nanoseconds as microseconds.
pub fn us(ns: f64) -> String {
    plain(ns / NS_PER_US)
}

/// Bytes per second as MiB/s.
pub fn mib(bytes_per_sec: f64) -> String {
    plain(bytes_per_sec / BYTES_PER_MIB)
}

/// A fraction as percent, with two digits: `0.8 %`, `12 %`.
pub fn percent(fraction: f64) -> String {
    match fraction.abs() * 100.0 {
        p if !p.is_finite() => NONE.to_owned(),
        p if p < 9.95 => units::fraction_percent(fraction, 1),
        _ => units::fraction_percent(fraction, 0),
    }
}

/// How probable something is: never 100 %, for certainty is not to be had from measurements.
pub fn probability(probability: f64) -> String {
    match 100.0 * probability {
        high if high > 99.0 => "over 99 %".to_owned(),
        other => format!("{other:.0} %"),
    }
}

/// A half-width as a share of its value: above half of it no digit of either means anything, so
/// none is shown.
pub fn half_width(relative: f64) -> String {
    if relative > HALF_WIDTH_SHOWN_MAX { ">50 %".to_owned() } else { percent(relative) }
}

/// Nine significant digits, for files: finer than anything that can be measured, and without the
/// binary fraction's tail (`9447.500000000002`).
pub fn exported(value: f64) -> f64 {
    let whole = value.fract() == 0.0 && value.abs() < 1e9;
    if !value.is_finite() || whole {
        return value;
    }
    format!("{value:.8e}").parse().expect("what was printed as a number is one")
}

/// A fraction such as 0.999 as `p99.9`.
pub fn percentile_name(fraction: f64) -> String {
    // Those of every summary, because many thousand of them are exported.
    const KNOWN: [(f64, &str); 5] =
        [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99")];
    if let Some((_, name)) = KNOWN.iter().find(|(known, _)| *known == fraction) {
        return (*name).to_owned();
    }
    // 0.9999 times 100 is not 99.99 in binary; six digits are exact for every percentile in use.
    let percent = format!("{:.6}", fraction * 100.0);
    format!("p{}", percent.trim_end_matches('0').trim_end_matches('.'))
}

/// `1234567` as `1,234,567`.
pub fn thousands(number: i128) -> String {
    let sign = if number < 0 { "-" } else { "" };
    let size = number.unsigned_abs();
    let digits = u64::try_from(size).map_or_else(|_| size.to_string(), units::thousands);
    format!("{sign}{digits}")
}

/// Milliseconds since 1970 as `2026-11-21 06:15:33 UTC`.
pub fn date(unix_ms: u64) -> String {
    let utc = Utc::from_unix_ms(unix_ms);
    format!("{} {} UTC", utc.date(), utc.time())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_with_three_digits_or_whole() {
        assert_eq!(plain(0.0), "0");
        assert_eq!(plain(0.0123), "0.012");
        assert_eq!(plain(0.000_152), "0.000152");
        assert_eq!(plain(0.000_000_03), "3e-8");
        assert_eq!(plain(9.996), "10.0");
        assert_eq!(plain(60.34), "60.3");
        assert_eq!(plain(812.4), "812");
        assert_eq!(plain(1_234_567.8), "1,234,568");
        assert_eq!(plain(f64::NAN), "-");
        assert_eq!(us(60_300.0), "60.3");
        assert_eq!(mib(134_217_728.0), "128");
        assert_eq!(percent(0.008), "0.8 %");
        assert_eq!(percent(0.123), "12 %");
        assert_eq!(percent(-0.000_1), "0.0 %");
        assert_eq!(thousands(-1234), "-1,234");
    }

    proptest::proptest! {
        #[test]
        fn a_number_that_is_not_zero_is_not_printed_as_zero(value: f64) {
            let text = plain(value);
            let has_digit = text.chars().any(|c| matches!(c, '1'..='9'));
            proptest::prop_assert_eq!(has_digit, value.is_finite() && value != 0.0, "{}", text);
        }
    }

    #[test]
    fn a_half_width_above_half_of_its_value_is_no_number() {
        assert_eq!(half_width(0.004), "0.4 %");
        assert_eq!(half_width(0.5), "50 %");
        assert_eq!(half_width(0.501), ">50 %");
        assert_eq!(half_width(8.01), ">50 %");
    }

    #[test]
    fn exported_numbers_have_nine_digits_and_no_binary_tail() {
        assert_eq!(exported(9447.500000000002).to_string(), "9447.5");
        assert_eq!(exported(1.0 / 3.0).to_string(), "0.333333333");
        assert_eq!(exported(123_456_789_012.0), 123_456_789_000.0);
        assert_eq!(exported(0.0), 0.0);
        assert_eq!(exported(-0.000_012_345_678_91), -0.000_012_345_678_9);
    }

    #[test]
    fn percentiles_have_their_usual_names() {
        let names = [0.5, 0.9, 0.99, 0.999, 0.9999].map(percentile_name);
        assert_eq!(names, ["p50", "p90", "p99", "p99.9", "p99.99"]);
        assert_eq!([0.95, 0.999_99].map(percentile_name), ["p95", "p99.999"]);
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(date(951_827_696_000), "2000-02-29 12:34:56 UTC");
        assert_eq!(date(1_795_241_733_999), "2026-11-21 06:15:33 UTC");
    }
}
