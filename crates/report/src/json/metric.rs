//! The business metric as JSON.

use analysis::metric::{
    Criterion, Doubt, Judgement, Largest, MetricFindings, MetricPoint, MetricSeries,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::estimate::{EstimateJson, estimate};
use crate::number::exported;

/// A business metric by which the load was chosen.
#[derive(Serialize, JsonSchema)]
pub(super) struct MetricJson<'a> {
    /// Its name, in the plural.
    name: &'a str,
    /// The share of its offered rate that every stream must achieve.
    rate_min_fraction: f64,
    /// The longest response time; null for any.
    response_time_max_ns: Option<u64>,
    /// Which response time: `mean`, `p50`, `p90`, `p99` or `p99.9`.
    response_time: &'static str,
    /// Each workload.
    series: Vec<MetricSeriesJson<'a>>,
}

/// The load points of one workload.
#[derive(Serialize, JsonSchema)]
pub(super) struct MetricSeriesJson<'a> {
    /// The workload variant with the parameters other than the metric.
    name: &'a str,
    /// `between` a value that passes and one that fails; `at_least`: all pass; `unbounded`: a value
    /// above is undecided; `below_all`: none passes; `not_enough_data`.
    largest: &'static str,
    /// The largest value that passes; null if none is known to pass.
    largest_passing: Option<f64>,
    /// The smallest value above it that is known to fail; null if there is none.
    first_failing: Option<f64>,
    /// The overall response time up to the largest value that passes.
    overall_response_time_ns: Option<f64>,
    /// Its load points, by rising value.
    points: Vec<MetricPointJson>,
}

/// A load point of a metric.
#[derive(Serialize, JsonSchema)]
pub(super) struct MetricPointJson {
    /// Index in `load_points`.
    load_point: usize,
    /// The value of the metric.
    value: f64,
    /// The rate that all streams offer together.
    offered_rate_ops_per_sec: Option<f64>,
    /// The rate that all streams achieved together.
    achieved_rate_ops_per_sec: Option<EstimateJson>,
    /// The lowest share of its offered rate that a stream achieved.
    rate_fraction: Option<EstimateJson>,
    /// The response time that the criterion is about.
    response_time_ns: Option<f64>,
    /// Both ends of its 95 % confidence interval.
    response_time_interval_ns: Option<[f64; 2]>,
    /// `passed`, `failed` or `undecided`.
    result: &'static str,
    /// Why it did not pass: `rate` or `response_time` that fails, has no confidence interval
    /// (`rate_without_interval`) or one that includes the bound (`rate_includes_bound`),
    /// `not_measured` or `hosts_lost`; null if it passed.
    reason: Option<&'static str>,
}

pub(super) fn metric(found: &MetricFindings) -> MetricJson<'_> {
    MetricJson {
        name: &found.metric.name,
        rate_min_fraction: f64::from(found.metric.rate_min_permille) / 1000.0,
        response_time_max_ns: found.metric.response_time_max_ns,
        response_time: found.metric.response_time.name(),
        series: found.series.iter().map(series).collect(),
    }
}

fn series(series: &MetricSeries) -> MetricSeriesJson<'_> {
    MetricSeriesJson {
        name: &series.name,
        largest: match series.largest {
            Largest::Between { .. } => "between",
            Largest::AtLeast { .. } => "at_least",
            Largest::Unbounded { .. } => "unbounded",
            Largest::BelowAll => "below_all",
            Largest::NotEnoughData => "not_enough_data",
        },
        largest_passing: series.value(),
        first_failing: series.fails_at(),
        overall_response_time_ns: series.overall_response_ns.map(exported),
        points: series.points.iter().map(point).collect(),
    }
}

fn point(point: &MetricPoint) -> MetricPointJson {
    let (result, reason) = match point.judgement {
        Judgement::Passed => ("passed", None),
        Judgement::Failed(Criterion::Rate) => ("failed", Some("rate")),
        Judgement::Failed(Criterion::ResponseTime) => ("failed", Some("response_time")),
        Judgement::Undecided(doubt) => ("undecided", Some(doubt_name(doubt))),
    };
    MetricPointJson {
        load_point: point.load_point,
        value: point.value,
        offered_rate_ops_per_sec: point.offered_rate.map(exported),
        achieved_rate_ops_per_sec: point.achieved_rate.map(estimate),
        rate_fraction: point.rate_share.map(estimate),
        response_time_ns: point.response_ns.map(exported),
        response_time_interval_ns: point.response_interval_ns.map(|ends| ends.map(exported)),
        result,
        reason,
    }
}

const fn doubt_name(doubt: Doubt) -> &'static str {
    match doubt {
        Doubt::NotMeasured => "not_measured",
        Doubt::HostsLost => "hosts_lost",
        Doubt::NoInterval(Criterion::Rate) => "rate_without_interval",
        Doubt::NoInterval(Criterion::ResponseTime) => "response_time_without_interval",
        Doubt::IncludesBound(Criterion::Rate) => "rate_includes_bound",
        Doubt::IncludesBound(Criterion::ResponseTime) => "response_time_includes_bound",
    }
}
