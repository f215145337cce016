//! Exact throughput limits in whole KiB/s.
//!
//! The service's MiB/s per TiB equal KiB/s per GiB, and quotas are whole GiB. So every limit is a
//! whole number of KiB/s, and rounding never decides whether a volume is at its limit.

use std::fmt;
use std::iter::Sum;

use units::{BytesPerSec, thousands};

/// Bytes in a KiB.
const KIB: u64 = 1024;

/// Up to this many KiB/s (2^53 bytes/s), a floating-point number of bytes per second is exact.
const EXACT_KIB: f64 = (1u64 << 43) as f64;

/// A throughput limit in whole KiB/s. Prints as exact MiB/s (`6.25 MiB/s`), or rounded if a precision
/// is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KibPerSec(u64);

impl KibPerSec {
    /// `rate` KiB/s.
    pub const fn new(rate: u64) -> KibPerSec {
        KibPerSec(rate)
    }

    /// `rate` MiB/s; `None` if it overflows.
    pub const fn from_mib(rate: u64) -> Option<KibPerSec> {
        match rate.checked_mul(KIB) {
            Some(kib) => Some(KibPerSec(kib)),
            None => None,
        }
    }

    /// Converts from bytes per second; `None` unless the result is exact and above 0.
    pub fn whole(rate: BytesPerSec) -> Option<KibPerSec> {
        let kib = rate.get() / KIB as f64;
        let is_whole = (1.0..=EXACT_KIB).contains(&kib) && kib.fract() == 0.0;
        is_whole.then_some(KibPerSec(kib as u64))
    }

    /// The rate in KiB/s.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The rate in bytes per second; saturates.
    pub const fn bytes_per_s(self) -> u64 {
        self.0.saturating_mul(KIB)
    }

    /// In MiB/s, for tables with that unit in their heading.
    pub fn as_mib(self) -> f64 {
        self.0 as f64 / KIB as f64
    }
}

impl From<KibPerSec> for BytesPerSec {
    fn from(rate: KibPerSec) -> BytesPerSec {
        BytesPerSec::new(rate.bytes_per_s() as f64)
    }
}

impl fmt::Display for KibPerSec {
    /// Ten binary digits after the point need ten decimal ones, so this is exact without a precision.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / KIB, self.0 % KIB);
        if let Some(decimals) = f.precision() {
            // Rounding first, because it may carry into the thousands.
            let rounded = format!("{:.decimals$}", self.as_mib());
            let (digits, fraction) = rounded.split_at(rounded.find('.').unwrap_or(rounded.len()));
            let whole = digits.parse().unwrap_or(whole);
            return write!(f, "{}{fraction} MiB/s", thousands(whole));
        }
        let whole = thousands(whole);
        if rest == 0 {
            return write!(f, "{whole} MiB/s");
        }
        let fraction = format!("{:010}", rest * (10_000_000_000 / KIB));
        write!(f, "{whole}.{} MiB/s", fraction.trim_end_matches('0'))
    }
}

impl Sum for KibPerSec {
    fn sum<I: Iterator<Item = KibPerSec>>(all: I) -> KibPerSec {
        all.fold(KibPerSec(0), |sum, one| KibPerSec(sum.0.saturating_add(one.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_prints_exactly() {
        assert_eq!(KibPerSec(6400).to_string(), "6.25 MiB/s");
        assert_eq!(KibPerSec(972_800).to_string(), "950 MiB/s");
        assert_eq!(KibPerSec(1).to_string(), "0.0009765625 MiB/s");
        assert_eq!(KibPerSec(0).to_string(), "0 MiB/s");
    }

    #[test]
    fn a_large_limit_prints_with_separators_and_is_rounded_to_a_given_precision() {
        let large = KibPerSec(5_836_800 * KIB);
        assert_eq!(large.to_string(), "5,836,800 MiB/s");
        assert_eq!(format!("{large:.1}"), "5,836,800.0 MiB/s");
        assert_eq!(KibPerSec(1_024_064).to_string(), "1,000.0625 MiB/s");
        // Rounding carries before digits are grouped.
        let short = KibPerSec(1000 * KIB - 1);
        assert_eq!(
            format!("{short:.0} {short:.1} {short:.3}"),
            "1,000 MiB/s 1,000.0 MiB/s 999.999 MiB/s"
        );
        assert_eq!(format!("{:.1}", KibPerSec(1)), "0.0 MiB/s");
    }

    #[test]
    fn limits_add_up_and_stop_at_the_largest_number() {
        let sum: KibPerSec = [KibPerSec(3), KibPerSec(4)].into_iter().sum();
        assert_eq!(sum, KibPerSec(7));
        assert_eq!([KibPerSec(u64::MAX), KibPerSec(4)].into_iter().sum::<KibPerSec>().0, u64::MAX);
        assert_eq!(KibPerSec::from_mib(64).map(KibPerSec::bytes_per_s), Some(67_108_864));
        assert_eq!(KibPerSec::from_mib(u64::MAX), None);
    }

    #[test]
    fn only_a_whole_number_of_kib_per_second_above_0_is_a_limit() {
        let whole =
            |bytes_per_s| KibPerSec::whole(BytesPerSec::new(bytes_per_s)).map(KibPerSec::get);
        assert_eq!(whole(64.0 * 1_048_576.0), Some(65_536));
        assert_eq!(whole(1024.0), Some(1));
        assert_eq!(whole(9_007_199_254_740_992.0), Some(1 << 43));
        for wrong in [0.0, -1024.0, 1023.0, 1025.0, 1e9, 1e300, f64::INFINITY, f64::NAN] {
            assert_eq!(whole(wrong), None, "{wrong}");
        }
    }
}
