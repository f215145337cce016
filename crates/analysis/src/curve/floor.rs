//! The floor: how long an operation takes that is alone.
//!
//! Source: the method of NetApp's paper on Azure NetApp Files (section 10): "configure your
//! generator to perform the desired I/O mixture using one thread and one job".

use crate::curve::{CurvePoint, Missing};
use crate::estimate::Estimate;
use crate::load_point::LoadPoint;

/// The service time at queue depth 1 of one worker in a closed loop: nothing waits for anything of
/// ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Floor {
    /// The load point, as a place in `Findings::load_points`.
    pub load_point: usize,
    /// The same as a place in the curve's points.
    pub point: usize,
    /// Mean service time of reads and writes, in nanoseconds.
    pub service_mean_ns: Estimate,
    /// Their mean response time, in nanoseconds: what the response times of the curve's other
    /// points are compared with, since making and checking data takes time at every load.
    pub response_mean_ns: Estimate,
    /// Its median, in nanoseconds; `None` where too few samples stand behind it.
    pub service_p50_ns: Option<u64>,
    /// The shortest, in nanoseconds.
    pub service_min_ns: Option<u64>,
    /// Connections of the process, where it has some of its own. One operation at a time uses more
    /// than one only if it is larger than a call may be.
    pub connections: Option<usize>,
    /// Throughput is already at a limit there: the time is the limit's pace, and the latency of the
    /// target is shorter.
    pub is_pace: bool,
}

impl Floor {
    /// The latency of an operation that waits for nothing; `None` where it was not measured.
    pub fn latency_ns(&self) -> Option<Estimate> {
        (!self.is_pace).then_some(self.service_mean_ns)
    }

    /// The response time of such an operation, in nanoseconds.
    pub fn response_ns(&self) -> Option<Estimate> {
        (!self.is_pace).then_some(self.response_mean_ns)
    }
}

pub(crate) fn of_points(
    points: &[CurvePoint],
    load_points: &[LoadPoint],
    is_pace: bool,
) -> Result<Floor, Missing> {
    let alone = |point: &CurvePoint| {
        let merged = &load_points[point.load_point].merged;
        let closed = merged.streams.iter().all(|stream| stream.offered_rate.is_none());
        merged.total.queue_depth_total == 1 && closed
    };
    let place = points.iter().position(alone).ok_or(Missing::NoQueueDepthOne)?;
    let load_point = &load_points[points[place].load_point];
    let data = &load_point.merged.total.data;
    let service = &data.service;
    let connections = load_point.runs.iter().map(|run| run.connections.len()).max();
    Ok(Floor {
        load_point: points[place].load_point,
        point: place,
        service_mean_ns: service.mean_ns.ok_or(Missing::NothingMeasured)?,
        response_mean_ns: data.response.mean_ns.ok_or(Missing::NothingMeasured)?,
        service_p50_ns: service.percentile(0.5).and_then(|p| p.value_ns),
        service_min_ns: service.min_ns,
        connections: connections.filter(|count| *count > 0),
        is_pace,
    })
}
