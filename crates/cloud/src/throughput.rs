//! Throughput limits as whole KiB/s, so that they are exact.
//!
//! The service states MiB/s per TiB; that is KiB/s per GiB, and quotas are whole GiB. So every
//! limit is a whole number of KiB/s, and no rounding ever decides whether a volume is at its limit.

use std::fmt;
use std::iter::Sum;

/// Bytes in a KiB.
const KIB: u64 = 1024;

/// A throughput limit in whole KiB/s. Prints as MiB/s, exactly: `6.25 MiB/s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KibPerSec(u64);

impl KibPerSec {
    /// `rate` KiB/s.
    pub const fn new(rate: u64) -> KibPerSec {
        KibPerSec(rate)
    }

    /// `rate` MiB/s; `None` where that does not fit.
    pub const fn from_mib(rate: u64) -> Option<KibPerSec> {
        match rate.checked_mul(KIB) {
            Some(kib) => Some(KibPerSec(kib)),
            None => None,
        }
    }

    /// The rate in KiB/s.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The rate in bytes per second; at the largest number where it does not fit.
    pub const fn bytes_per_s(self) -> u64 {
        self.0.saturating_mul(KIB)
    }

    /// In MiB/s, for tables that say so in their heading.
    pub fn as_mib(self) -> f64 {
        self.0 as f64 / KIB as f64
    }
}

impl fmt::Display for KibPerSec {
    /// Ten binary places have ten decimal ones, so this is never rounded.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / KIB, self.0 % KIB);
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
    fn limits_add_up_and_stop_at_the_largest_number() {
        let sum: KibPerSec = [KibPerSec(3), KibPerSec(4)].into_iter().sum();
        assert_eq!(sum, KibPerSec(7));
        assert_eq!([KibPerSec(u64::MAX), KibPerSec(4)].into_iter().sum::<KibPerSec>().0, u64::MAX);
        assert_eq!(KibPerSec::from_mib(64).map(KibPerSec::bytes_per_s), Some(67_108_864));
        assert_eq!(KibPerSec::from_mib(u64::MAX), None);
    }
}
