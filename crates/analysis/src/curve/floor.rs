//! The floor: the response time at queue depth 1.
//!
//! Source: the method of NetApp's paper on Azure NetApp Files (section 10): "configure your
//! generator to perform the desired I/O mixture using one thread and one job".

use crate::curve_point::{CurvePoint, Missing};
use crate::estimate::Estimate;
use crate::load_point::LoadPoint;

/// The service time of one worker at queue depth 1 in a closed loop, without any queueing in the
/// client; with several hosts or targets, of one such worker for each ([`LoadPoint::is_unloaded`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Floor {
    /// Index of the load point in `Findings::load_points`.
    pub load_point: usize,
    /// Index of the point in the curve.
    pub point: usize,
    /// Mean service time of reads and writes, in nanoseconds.
    pub service_mean_ns: Estimate,
    /// Their mean response time, in nanoseconds, for comparison with the other points of the curve:
    /// generating and verifying data takes time at every load.
    pub response_mean_ns: Estimate,
    /// Median service time, in nanoseconds; `None` with too few samples.
    pub service_p50_ns: Option<u64>,
    /// Shortest service time, in nanoseconds.
    pub service_min_ns: Option<u64>,
    /// Connections of the built-in client, if used. One operation at a time uses several only if it
    /// takes several calls.
    pub connections: Option<usize>,
    /// Whether throughput is already at a limit: then the limit sets the time, and the latency of
    /// the target is shorter.
    pub is_pace: bool,
}

impl Floor {
    /// The unloaded service time, unless a limit sets it.
    pub fn latency_ns(&self) -> Option<Estimate> {
        (!self.is_pace).then_some(self.service_mean_ns)
    }

    /// The unloaded response time in nanoseconds, unless a limit sets it.
    pub fn response_ns(&self) -> Option<Estimate> {
        (!self.is_pace).then_some(self.response_mean_ns)
    }
}

pub(crate) fn of_points(
    points: &[CurvePoint],
    load_points: &[LoadPoint],
    is_pace: bool,
) -> Result<Floor, Missing> {
    let is_unloaded = |point: &CurvePoint| load_points[point.load_point].is_unloaded();
    let is_whole = |point: &CurvePoint| load_points[point.load_point].is_whole();
    let index = points.iter().position(|point| is_unloaded(point) && is_whole(point));
    let index = index.ok_or(match points.iter().any(is_unloaded) {
        true => Missing::HostsLost,
        false => Missing::NoQueueDepthOne,
    })?;
    let load_point = &load_points[points[index].load_point];
    let data = &load_point.merged.total.data;
    let service = &data.service;
    let connections = load_point.runs.iter().map(|run| run.connections.len()).max();
    Ok(Floor {
        load_point: points[index].load_point,
        point: index,
        service_mean_ns: service.mean_ns.ok_or(Missing::NothingMeasured)?,
        response_mean_ns: data.response.mean_ns.ok_or(Missing::NothingMeasured)?,
        service_p50_ns: service.percentile(0.5).and_then(|p| p.value_ns),
        service_min_ns: service.min_ns,
        connections: connections.filter(|count| *count > 0),
        is_pace,
    })
}
