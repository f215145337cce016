//! The prediction for one load as JSON.

use predict::{Interval, Point, Resource};
use serde::Serialize;

use crate::number::exported;

#[derive(Serialize)]
pub(crate) struct IntervalJson {
    low: f64,
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

#[derive(Serialize)]
pub(crate) struct ResourceJson<'a> {
    kind: &'static str,
    name: &'a str,
}

pub(crate) fn resource(of: &Resource) -> ResourceJson<'_> {
    ResourceJson { kind: of.kind.name(), name: &of.name }
}

#[derive(Serialize)]
pub(crate) struct PointJson<'a> {
    outstanding: f64,
    ops_per_s: IntervalJson,
    bytes_per_s: IntervalJson,
    response_s: IntervalJson,
    ops_per_s_by_workload: Vec<f64>,
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
