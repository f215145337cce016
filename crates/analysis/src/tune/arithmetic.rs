//! Little's law for tuning: the outstanding operations for a target rate and a response time.

use units::{Nanos, OpsPerSec};
use workload::reach::RequiredRate;

use crate::little::outstanding_mean;

/// Tolerance for rounding up to a whole number: the product of a rate and a time that are exact in
/// decimal is not exact in binary.
const ROUNDING: f64 = 1e-9;

/// The worked example: every step from the target rate to the required outstanding operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arithmetic {
    /// The target rate.
    pub required: RequiredRate,
    /// Mean bytes per operation; 0 if none moves data.
    pub operation_bytes: f64,
    /// The target rate in operations.
    pub rate: OpsPerSec,
    /// The response time: the mean with one operation outstanding.
    pub response: Nanos,
    /// Rate times response time.
    pub outstanding: f64,
    /// The product rounded up to a whole number; at least one.
    pub outstanding_whole: u64,
}

impl Arithmetic {
    /// Computes the example.
    pub fn new(required: RequiredRate, operation_bytes: f64, response: Nanos) -> Arithmetic {
        let rate = required.rate(operation_bytes);
        let outstanding = outstanding_mean(rate, response);
        let outstanding_whole = whole(outstanding);
        Arithmetic { required, operation_bytes, rate, response, outstanding, outstanding_whole }
    }
}

/// `outstanding` rounded up to a whole number of operations; at least one.
pub fn whole(outstanding: f64) -> u64 {
    // A number above any queue depth stays above it.
    (outstanding - ROUNDING).ceil().max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_example_comes_out_to_the_digit() {
        let bytes_per_s = f64::from(200 << 20);
        let paper = Arithmetic::new(
            RequiredRate::Throughput { bytes_per_s },
            f64::from(64 << 10),
            Nanos(1_909_000.0),
        );
        assert_eq!(paper.rate.get(), 3200.0);
        assert_eq!(format!("{:.2}", paper.outstanding), "6.11");
        assert!((paper.outstanding - 6.1088).abs() < 1e-12);
        assert_eq!(paper.outstanding_whole, 7);
    }

    #[test]
    fn a_rate_needs_no_transfer_size_and_whole_products_stay_whole() {
        let of = |ops_per_s: f64, response_ns: f64| {
            let rate = RequiredRate::Rate { ops_per_s };
            let worked = Arithmetic::new(rate, 8192.0, Nanos(response_ns));
            (worked.rate.get(), worked.outstanding_whole)
        };
        assert_eq!(of(1000.0, 5e6), (1000.0, 5));
        assert_eq!(of(1000.0, 5_000_001.0), (1000.0, 6));
        assert_eq!(of(10.0, 1e6), (10.0, 1), "never none");
        assert_eq!(of(300.0, 10e6), (300.0, 3));
    }
}
