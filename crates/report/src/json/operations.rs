//! One kind of operations and their times as JSON.

use analysis::load_point::OpSummary;
use analysis::percentile::Percentile;
use analysis::times::Times;
use schemars::JsonSchema;
use serde::Serialize;

use super::estimate::{EstimateJson, estimate};
use crate::number::{exported, percentile_name};

/// Operations of one kind in a window.
#[derive(Serialize, JsonSchema)]
pub(super) struct OpJson {
    /// `read`, `write`, `fsync`; `data` for reads and writes; `all` for every kind.
    operation: &'static str,
    /// Operations that succeeded.
    completed: u64,
    /// Operations that failed.
    failed: u64,
    /// Bytes moved by those that succeeded.
    moved_bytes: u64,
    /// Completed operations per second.
    achieved_rate_ops_per_sec: Option<EstimateJson>,
    /// Bytes moved per second.
    throughput_bytes_per_sec: Option<EstimateJson>,
    /// Latency including time spent waiting to be sent.
    response_time: TimesJson,
    /// Latency from sending to completion.
    service_time: TimesJson,
}

/// Times of operations.
#[derive(Serialize, JsonSchema)]
pub(super) struct TimesJson {
    /// The number of operations.
    samples: u64,
    /// The mean.
    mean_ns: Option<EstimateJson>,
    /// The exact minimum.
    min_ns: Option<u64>,
    /// The exact maximum.
    max_ns: Option<u64>,
    /// The standard deviation.
    deviation_ns: Option<f64>,
    /// Operations above the range of the histogram, 60 s.
    over_range_samples: u64,
    /// The percentiles.
    percentiles: Vec<PercentileJson>,
    /// Only for all repeats combined; those of each run would make the file several times as large.
    #[serde(skip_serializing_if = "Option::is_none")]
    distribution: Option<Vec<DistributionJson>>,
}

/// A percentile.
#[derive(Serialize, JsonSchema)]
pub(super) struct PercentileJson {
    /// Its name: `p99.9`.
    name: String,
    /// The share of samples that do not exceed it.
    fraction: f64,
    /// The value; null if fewer than ten samples are above it.
    value_ns: Option<u64>,
    /// The number of samples above it.
    samples_above: u64,
    /// Both ends of its 95 % confidence interval, which may be asymmetric.
    interval_ns: Option<[f64; 2]>,
    /// The number of independent samples of the interval.
    samples: f64,
    /// The source of the interval: `intervals`, `repeats` or `unknown`.
    method: &'static str,
}

/// A row of the distribution.
#[derive(Serialize, JsonSchema)]
pub(super) struct DistributionJson {
    /// A time.
    value_ns: u64,
    /// The share of samples that do not exceed it.
    fraction: f64,
    /// The number of those samples.
    samples_to_here: u64,
}

/// The parts of a summary that are written.
#[derive(Clone, Copy)]
pub(super) enum Depth {
    Whole,
    WithoutDistributions,
}

impl Depth {
    fn distributions(self) -> bool {
        matches!(self, Depth::Whole)
    }
}

pub(super) fn op(ops: &OpSummary, depth: Depth) -> OpJson {
    OpJson {
        operation: ops.name,
        completed: ops.completed,
        failed: ops.failed,
        moved_bytes: ops.bytes,
        achieved_rate_ops_per_sec: ops.achieved_rate.map(estimate),
        throughput_bytes_per_sec: ops.throughput.map(estimate),
        response_time: times(&ops.response, depth),
        service_time: times(&ops.service, depth),
    }
}

pub(super) fn times(times: &Times, depth: Depth) -> TimesJson {
    let percentiles = times.percentiles.iter().map(percentile);
    let distribution = times.distribution.iter().map(|row| DistributionJson {
        value_ns: row.value_ns,
        fraction: row.fraction,
        samples_to_here: row.samples_to_here,
    });
    TimesJson {
        samples: times.samples,
        mean_ns: times.mean_ns.map(estimate),
        min_ns: times.min_ns,
        max_ns: times.max_ns,
        deviation_ns: times.deviation.map(|deviation| exported(deviation.0)),
        over_range_samples: times.over_range,
        percentiles: percentiles.collect(),
        distribution: depth.distributions().then(|| distribution.collect()),
    }
}

/// A percentile as JSON.
pub(super) fn percentile(p: &Percentile) -> PercentileJson {
    PercentileJson {
        name: percentile_name(p.fraction),
        fraction: p.fraction,
        value_ns: p.value_ns,
        samples_above: p.samples_above,
        interval_ns: p.interval_ns.map(|ends| ends.map(exported)),
        samples: exported(p.samples),
        method: p.method.name(),
    }
}
