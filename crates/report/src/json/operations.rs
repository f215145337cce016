//! One kind of operations and their times as JSON.

use analysis::load_point::OpSummary;
use analysis::times::Times;
use serde::Serialize;

use super::estimate::{EstimateJson, estimate};
use crate::number::{exported, percentile_name};

#[derive(Serialize)]
pub(super) struct OpJson {
    operation: &'static str,
    completed: u64,
    failed: u64,
    moved_bytes: u64,
    achieved_rate_ops_per_sec: Option<EstimateJson>,
    throughput_bytes_per_sec: Option<EstimateJson>,
    response_time: TimesJson,
    service_time: TimesJson,
}

#[derive(Serialize)]
pub(super) struct TimesJson {
    samples: u64,
    mean_ns: Option<EstimateJson>,
    min_ns: Option<u64>,
    max_ns: Option<u64>,
    deviation_ns: Option<f64>,
    over_range_samples: u64,
    percentiles: Vec<PercentileJson>,
    /// Only for all repeats combined; those of each run would make the file several times as large.
    #[serde(skip_serializing_if = "Option::is_none")]
    distribution: Option<Vec<DistributionJson>>,
}

#[derive(Serialize)]
pub(super) struct PercentileJson {
    name: String,
    fraction: f64,
    value_ns: Option<u64>,
    samples_above: u64,
    /// Both ends of its 95 % confidence interval, which may be asymmetric.
    interval_ns: Option<[f64; 2]>,
    /// The number of independent samples of the interval.
    samples: f64,
    method: &'static str,
}

#[derive(Serialize)]
pub(super) struct DistributionJson {
    value_ns: u64,
    fraction: f64,
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
    let percentiles = times.percentiles.iter().map(|p| PercentileJson {
        name: percentile_name(p.fraction),
        fraction: p.fraction,
        value_ns: p.value_ns,
        samples_above: p.samples_above,
        interval_ns: p.interval_ns.map(|ends| ends.map(exported)),
        samples: exported(p.samples),
        method: p.method.name(),
    });
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
