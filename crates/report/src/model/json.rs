//! The prediction for one load as JSON.

use predict::{Interval, Point, Resource};
use schemars::JsonSchema;
use serde::Serialize;

use crate::number::exported;

/// A predicted number with its 90 % interval.
#[derive(Serialize, JsonSchema)]
pub(crate) struct IntervalJson {
    /// The lower end.
    low: f64,
    /// The most likely value.
    value: f64,
    /// Null if unlimited.
    high: Option<f64>,
}

pub(crate) fn interval(of: Interval) -> IntervalJson {
    IntervalJson {
        low: exported(of.low),
        value: exported(of.value),
        high: of.high.is_finite().then(|| exported(of.high)),
    }
}

/// A resource of the model.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ResourceJson<'a> {
    /// The kind of resource.
    kind: &'static str,
    /// Its name.
    name: &'a str,
}

pub(crate) fn resource(of: &Resource) -> ResourceJson<'_> {
    ResourceJson { kind: of.kind.name(), name: &of.name }
}

/// The prediction for one load.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PointJson<'a> {
    /// Operations in flight.
    outstanding: f64,
    /// The rate.
    ops_per_s: IntervalJson,
    /// The throughput.
    bytes_per_s: IntervalJson,
    /// The response time.
    response_s: IntervalJson,
    /// The rate of each workload.
    ops_per_s_by_workload: Vec<f64>,
    /// The bottleneck.
    bounded_by: ResourceJson<'a>,
}

pub(crate) fn point(of: &Point) -> PointJson<'_> {
    PointJson {
        outstanding: exported(of.outstanding),
        ops_per_s: interval(of.ops_per_s),
        bytes_per_s: interval(of.bytes_per_s),
        response_s: interval(of.response_s),
        ops_per_s_by_workload: of.by_workload.iter().map(|rate| exported(*rate)).collect(),
        bounded_by: resource(&of.bounded_by),
    }
}
