//! The compared figures, and whether higher or lower is better.

use metrics::histogram::{bucket_high_ns, bucket_low_ns, bucket_of};

/// A figure of a load point in which two systems can differ.
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
    /// All of them, in the order of reports.
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

    /// Whether higher is better.
    pub const fn more_is_better(self) -> bool {
        matches!(self, Figure::AchievedRate | Figure::Throughput)
    }

    /// Resolution of a value: for percentiles the width of the histogram's bucket, in nanoseconds.
    /// Other figures are exact sums.
    pub(super) fn resolution(self, value: f64) -> f64 {
        if self.percentile().is_none() {
            return 0.0;
        }
        let bucket = bucket_of(value as u64);
        (bucket_high_ns(bucket) + 1 - bucket_low_ns(bucket)) as f64
    }

    /// The percentile of the response times, as a fraction.
    pub(super) const fn percentile(self) -> Option<f64> {
        match self {
            Figure::ResponseP50 => Some(0.5),
            Figure::ResponseP99 => Some(0.99),
            Figure::ResponseP999 => Some(0.999),
            _ => None,
        }
    }
}
