//! Little's law as a rule for tuning: from a wanted rate and a response time to the operations that
//! must be outstanding.

use workload::reach::Wanted;

use crate::little::outstanding_mean;

/// Counts below a whole number by less than this are that number: the product of a rate and a time
/// that were both exact in decimal is not exact in binary.
const ROUNDING: f64 = 1e-9;

/// The worked example: every number on the way from what is wanted to what must be outstanding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arithmetic {
    /// What is wanted.
    pub wanted: Wanted,
    /// Bytes moved by an operation, in the mean.
    pub transfer_bytes: f64,
    /// The same in operations per second.
    pub ops_per_s: f64,
    /// The response time that was used, in nanoseconds: the mean where one operation is
    /// outstanding.
    pub response_ns: f64,
    /// Rate times response time.
    pub outstanding: f64,
    /// The least whole number that is not below it; at least one.
    pub outstanding_whole: u64,
}

impl Arithmetic {
    /// Works it out.
    pub fn new(wanted: Wanted, transfer_bytes: f64, response_ns: f64) -> Arithmetic {
        let ops_per_s = wanted.ops_per_s(transfer_bytes);
        let outstanding = outstanding_mean(ops_per_s, response_ns);
        let outstanding_whole = whole(outstanding);
        Arithmetic {
            wanted,
            transfer_bytes,
            ops_per_s,
            response_ns,
            outstanding,
            outstanding_whole,
        }
    }
}

/// The least whole number of operations that is not below `outstanding`; at least one.
pub fn whole(outstanding: f64) -> u64 {
    // A number beyond any queue depth stays beyond it.
    (outstanding - ROUNDING).ceil().max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_example_comes_out_to_the_digit() {
        let bytes_per_s = f64::from(200 << 20);
        let paper =
            Arithmetic::new(Wanted::Throughput { bytes_per_s }, f64::from(64 << 10), 1_909_000.0);
        assert_eq!(paper.ops_per_s, 3200.0);
        assert_eq!(format!("{:.2}", paper.outstanding), "6.11");
        assert!((paper.outstanding - 6.1088).abs() < 1e-12);
        assert_eq!(paper.outstanding_whole, 7);
    }

    #[test]
    fn a_rate_needs_no_transfer_size_and_whole_products_stay_whole() {
        let of = |ops_per_s: f64, response_ns: f64| {
            let worked = Arithmetic::new(Wanted::Rate { ops_per_s }, 8192.0, response_ns);
            (worked.ops_per_s, worked.outstanding_whole)
        };
        assert_eq!(of(1000.0, 5e6), (1000.0, 5));
        assert_eq!(of(1000.0, 5_000_001.0), (1000.0, 6));
        assert_eq!(of(10.0, 1e6), (10.0, 1), "never none");
        assert_eq!(of(300.0, 10e6), (300.0, 3));
    }
}
