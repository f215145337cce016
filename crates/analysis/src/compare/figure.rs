//! The figures that are compared, and which direction of each is the good one.

use metrics::histogram::{bucket_high_ns, bucket_low_ns, bucket_of};

/// A number of a load point that two systems can differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// Operations completed per second.
    AchievedRate,
    /// Bytes per second.
    Throughput,
    /// Mean response time, in nanoseconds.
    ResponseMean,
    /// The time that half of the response times do not exceed, in nanoseconds.
    ResponseP50,
    /// The 99th percentile of the response times, in nanoseconds.
    ResponseP99,
    /// The 99.9th percentile of the response times, in nanoseconds.
    ResponseP999,
    /// Mean service time, in nanoseconds.
    ServiceMean,
    /// CPU time of the whole process for each operation, in nanoseconds.
    CpuPerOp,
}

impl Figure {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Figure; 8] = [
        Figure::AchievedRate,
        Figure::Throughput,
        Figure::ResponseMean,
        Figure::ResponseP50,
        Figure::ResponseP99,
        Figure::ResponseP999,
        Figure::ServiceMean,
        Figure::CpuPerOp,
    ];

    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Figure::AchievedRate => "achieved_rate",
            Figure::Throughput => "throughput",
            Figure::ResponseMean => "response_mean",
            Figure::ResponseP50 => "response_p50",
            Figure::ResponseP99 => "response_p99",
            Figure::ResponseP999 => "response_p99.9",
            Figure::ServiceMean => "service_mean",
            Figure::CpuPerOp => "cpu_per_op",
        }
    }

    /// The unit of its values.
    pub const fn unit(self) -> &'static str {
        match self {
            Figure::AchievedRate => "ops/s",
            Figure::Throughput => "bytes/s",
            _ => "ns",
        }
    }

    /// Whether more of it is better.
    pub const fn more_is_better(self) -> bool {
        matches!(self, Figure::AchievedRate | Figure::Throughput)
    }

    /// How far apart two values can be and still be counted as the same: the width of the
    /// histogram's bucket of a percentile, in nanoseconds. Other figures are sums and exact.
    pub(super) fn resolution(self, value: f64) -> f64 {
        if self.percentile().is_none() {
            return 0.0;
        }
        let bucket = bucket_of(value as u64);
        (bucket_high_ns(bucket) + 1 - bucket_low_ns(bucket)) as f64
    }

    /// Which percentile of the response times it is, as a fraction.
    pub(super) const fn percentile(self) -> Option<f64> {
        match self {
            Figure::ResponseP50 => Some(0.5),
            Figure::ResponseP99 => Some(0.99),
            Figure::ResponseP999 => Some(0.999),
            _ => None,
        }
    }
}
