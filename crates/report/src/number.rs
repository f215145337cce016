//! How numbers are printed (at least three digits, thousands separated, units in headings) and
//! exported (nine digits).

use predict::Interval;
use units::Utc;

/// Nanoseconds in a microsecond.
const NS_PER_US: f64 = 1e3;
/// Nanoseconds in a millisecond.
const NS_PER_MS: f64 = 1e6;
/// Nanoseconds in a second.
pub(crate) const NS_PER_S: f64 = 1e9;
pub(crate) const BYTES_PER_MIB: f64 = 1_048_576.0;

/// Printed for a percentile with fewer than ten samples above it.
pub const TOO_FEW: &str = "n/a";
/// Printed where there is no number.
pub const NONE: &str = "-";

/// Half-widths above this share of the value have no significant digit.
const HALF_WIDTH_SHOWN_MAX: f64 = 0.5;

/// The unit of all times in a table, a chart or a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Microseconds.
    Micro,
    /// Milliseconds.
    Milli,
    /// Seconds.
    Second,
}

impl TimeUnit {
    /// The unit for these times in nanoseconds: the largest in which the shortest is at least one,
    /// but milliseconds rather than microseconds if the longest is a second or more.
    pub fn of(times_ns: impl IntoIterator<Item = f64>) -> TimeUnit {
        let (mut shortest, mut longest) = (f64::INFINITY, 0.0f64);
        for ns in times_ns.into_iter().filter(|ns| ns.is_finite() && *ns > 0.0) {
            shortest = shortest.min(ns);
            longest = longest.max(ns);
        }
        match shortest {
            ns if ns.is_infinite() => TimeUnit::Micro,
            ns if ns >= NS_PER_S => TimeUnit::Second,
            ns if ns >= NS_PER_MS || longest >= NS_PER_S => TimeUnit::Milli,
            _ => TimeUnit::Micro,
        }
    }

    /// The unit for a compact table of these times in nanoseconds: milliseconds if the longest is at
    /// least one, unless the shortest would then lose digits.
    pub fn compact(times_ns: impl IntoIterator<Item = f64> + Clone) -> TimeUnit {
        let times = times_ns.clone().into_iter().filter(|ns| ns.is_finite() && *ns > 0.0);
        let (shortest, longest) = times.fold((f64::INFINITY, 0.0f64), |(shortest, longest), ns| {
            (shortest.min(ns), longest.max(ns))
        });
        match longest >= NS_PER_MS && shortest >= NS_PER_MS / 10.0 {
            true if shortest < NS_PER_S => TimeUnit::Milli,
            _ => TimeUnit::of(times_ns),
        }
    }

    /// Its symbol.
    pub const fn symbol(self) -> &'static str {
        match self {
            TimeUnit::Micro => "µs",
            TimeUnit::Milli => "ms",
            TimeUnit::Second => "s",
        }
    }

    /// Nanoseconds in this unit.
    pub fn scale(self, ns: f64) -> f64 {
        ns / match self {
            TimeUnit::Micro => NS_PER_US,
            TimeUnit::Milli => NS_PER_MS,
            TimeUnit::Second => NS_PER_S,
        }
    }

    /// Nanoseconds as a number in this unit.
    pub fn print(self, ns: f64) -> String {
        plain(self.scale(ns))
    }

    /// Nanoseconds with the unit's symbol: `441 µs`.
    pub fn with_symbol(self, ns: f64) -> String {
        format!("{} {}", self.print(ns), self.symbol())
    }
}

/// At least three digits: `0.123`, `4.52`, `60.3`, `812`, `12,345`.
pub fn plain(value: f64) -> String {
    match value.abs() {
        v if !v.is_finite() => NONE.to_owned(),
        0.0 => "0".to_owned(),
        // Only zero is printed as zero.
        v if v < 0.000_000_5 => format!("{value:.0e}"),
        v if v < 0.000_5 => format!("{value:.6}"),
        v if v < 0.9995 => format!("{value:.3}"),
        v if v < 9.995 => format!("{value:.2}"),
        v if v < 99.95 => format!("{value:.1}"),
        _ => thousands(value.round() as i128),
    }
}

/// Three significant digits, the precision of a prediction.
pub(crate) fn whole(number: f64) -> String {
    if !number.is_finite() || number < 1000.0 {
        return plain(number);
    }
    let rounded: f64 = format!("{number:.2e}").parse().expect("a printed number can be parsed");
    thousands(rounded as i128)
}

/// The ends of an interval; [`NONE`] if they print alike.
pub(crate) fn ends(of: Interval, print: impl Fn(f64) -> String) -> String {
    let (low, high) = (print(of.low), print(of.high));
    if low == high { NONE.to_owned() } else { format!("{low}..{high}") }
}

/// Nanoseconds as milliseconds.
pub fn ms(ns: f64) -> String {
    TimeUnit::Milli.print(ns)
}

/// Nanoseconds as microseconds.
pub fn us(ns: f64) -> String {
    TimeUnit::Micro.print(ns)
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

/// A probability, at most "over 99 %": measurements give no certainty.
pub fn probability(probability: f64) -> String {
    match 100.0 * probability {
        high if high > 99.0 => "over 99 %".to_owned(),
        other => format!("{other:.0} %"),
    }
}

/// A half-width as a share of its value; above half of the value no digit is significant, so none
/// is shown.
pub fn half_width(relative: f64) -> String {
    if relative > HALF_WIDTH_SHOWN_MAX { ">50 %".to_owned() } else { percent(relative) }
}

/// Nine significant digits, for files: finer than any measurement, and without the tail of a binary
/// fraction (`9447.500000000002`).
pub fn exported(value: f64) -> f64 {
    let whole = value.fract() == 0.0 && value.abs() < 1e9;
    if !value.is_finite() || whole {
        return value;
    }
    format!("{value:.8e}").parse().expect("a printed number can be parsed")
}

/// A fraction such as 0.999 as `p99.9`.
pub fn percentile_name(fraction: f64) -> String {
    // Exports print many thousands of these names.
    const KNOWN: [(f64, &str); 5] =
        [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99")];
    if let Some((_, name)) = KNOWN.iter().find(|(known, _)| *known == fraction) {
        return (*name).to_owned();
    }
    // 0.9999 x 100 is not 99.99 in binary; six digits are exact for every percentile in use.
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
    fn numbers_are_printed_with_three_digits_or_as_integers() {
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
        assert_eq!(whole(194_936.0), "195,000");
        assert_eq!(whole(512.0), "512");
    }

    proptest::proptest! {
        #[test]
        fn only_zero_is_printed_as_zero(value: f64) {
            let text = plain(value);
            let has_digit = text.chars().any(|c| matches!(c, '1'..='9'));
            proptest::prop_assert_eq!(has_digit, value.is_finite() && value != 0.0, "{}", text);
        }
    }

    #[test]
    fn a_half_width_above_half_of_its_value_is_not_printed_as_a_number() {
        assert_eq!(half_width(0.004), "0.4 %");
        assert_eq!(half_width(0.5), "50 %");
        assert_eq!(half_width(0.501), ">50 %");
        assert_eq!(half_width(8.01), ">50 %");
    }

    #[test]
    fn a_time_unit_is_chosen_by_the_shortest_and_the_longest_time() {
        assert_eq!(TimeUnit::of([400e3, 12e6]), TimeUnit::Micro);
        assert_eq!(TimeUnit::of([1.2e6, 800e6]), TimeUnit::Milli);
        assert_eq!(TimeUnit::of([400e3, 2e9]), TimeUnit::Milli);
        assert_eq!(TimeUnit::of([2e9, 3e9]), TimeUnit::Second);
        assert_eq!(TimeUnit::of([]), TimeUnit::Micro);
        assert_eq!(TimeUnit::Milli.with_symbol(1_950_000.0), "1.95 ms");
        assert_eq!(TimeUnit::compact([441e3, 10e6]), TimeUnit::Milli);
        assert_eq!(TimeUnit::compact([441e3, 990e3]), TimeUnit::Micro);
        assert_eq!(TimeUnit::compact([60e3, 8e6]), TimeUnit::Micro);
        assert_eq!(TimeUnit::compact([2e9, 3e9]), TimeUnit::Second);
    }

    #[test]
    fn exported_numbers_have_nine_significant_digits() {
        assert_eq!(exported(9447.500000000002).to_string(), "9447.5");
        assert_eq!(exported(1.0 / 3.0).to_string(), "0.333333333");
        assert_eq!(exported(123_456_789_012.0), 123_456_789_000.0);
        assert_eq!(exported(0.0), 0.0);
        assert_eq!(exported(-0.000_012_345_678_91), -0.000_012_345_678_9);
    }

    #[test]
    fn percentiles_are_named_p50_to_p99_999() {
        let names = [0.5, 0.9, 0.99, 0.999, 0.9999].map(percentile_name);
        assert_eq!(names, ["p50", "p90", "p99", "p99.9", "p99.99"]);
        assert_eq!([0.95, 0.999_99].map(percentile_name), ["p95", "p99.999"]);
    }

    #[test]
    fn dates_are_printed_in_utc() {
        assert_eq!(date(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(date(951_827_696_000), "2000-02-29 12:34:56 UTC");
        assert_eq!(date(1_795_241_733_999), "2026-11-21 06:15:33 UTC");
    }
}
