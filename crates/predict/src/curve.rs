//! The curve of a topology: rate and response time against concurrency, the bottleneck of each
//! stretch, and the reasons.

use cloud::figure::Protocol;

use crate::interval::Interval;
use crate::model::Model;
use crate::parameters::Parameters;
use crate::point::{Bound, Point, Unpredictable};
use crate::reasons;
use crate::resource::Resource;
use crate::statement::{Assumption, Reason};
use crate::topology::{NameLoad, Topology};

/// A part of the curve with one bottleneck.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    /// Outstanding operations at its start.
    pub from: f64,
    /// Outstanding operations at its end.
    pub to: f64,
    /// The bottleneck.
    pub bounded_by: Resource,
}

/// The prediction for a topology.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// At the load of the topology; `None` if the offered rate exceeds a limit.
    pub requested: Option<Point>,
    /// Points with increasing load.
    pub points: Vec<Point>,
    /// The point with the highest rate.
    pub most: Point,
    /// The bottleneck along the curve.
    pub stretches: Vec<Stretch>,
    /// The highest rate of each resource, lowest first.
    pub bounds: Vec<Bound>,
    /// Outstanding operations at which the lowest bound is reached at the unloaded response time
    /// (Little's law).
    pub knee_outstanding: Interval,
    /// The arithmetic with the rows of data it rests on.
    pub reasons: Vec<Reason>,
    /// Protocols of the topology that the model does not cover; show these before any number.
    pub not_modelled: Vec<Protocol>,
    /// Of each workload on names the kinds without a published rate; show these before any number.
    pub not_counted: Vec<NameLoad>,
    /// What the model assumes because the topology does not say it.
    pub assumptions: Vec<Assumption>,
}

/// Predicts a topology.
///
/// # Errors
/// The topology cannot be predicted.
pub fn curve(topology: &Topology, parameters: &Parameters) -> Result<Curve, Unpredictable> {
    let model = Model::of(topology, parameters)?;
    let bounds = model.bounds();
    let knee = model.knee();
    let loads = model.loads(topology, knee.value);
    let points: Vec<Point> = loads.iter().filter_map(|load| model.point(topology, load)).collect();
    let most = points.iter().max_by(|a, b| a.ops_per_s.value.total_cmp(&b.ops_per_s.value));
    let missing = || Unpredictable::NoTime { topology: topology.name.clone() };
    let most = most.cloned().ok_or_else(missing)?;
    let requested = model.point(topology, &model.requested());
    Ok(Curve {
        requested,
        stretches: stretches(&points),
        points,
        most,
        bounds,
        knee_outstanding: knee,
        reasons: reasons::reasons(topology, parameters, &model.middle),
        not_modelled: reasons::not_modelled(topology),
        not_counted: reasons::not_counted(topology),
        assumptions: reasons::assumptions(topology),
    })
}

/// Predicts one load without intervals, for searches over many designs.
///
/// * `outstanding` - operations of all hosts, divided among workloads as in the topology
///
/// # Errors
/// The topology cannot be predicted.
pub fn at(
    topology: &Topology,
    parameters: &Parameters,
    outstanding: f64,
) -> Result<Point, Unpredictable> {
    let mut only = Model::of_one(topology, parameters)?;
    only.ends = None;
    let load = only.shared(outstanding);
    let missing = || Unpredictable::NoTime { topology: topology.name.clone() };
    only.point(topology, &load).ok_or_else(missing)
}

/// The lowest bound: the highest rate of all hosts as outstanding operations increase, and its
/// bottleneck.
///
/// # Errors
/// The topology cannot be predicted.
pub fn capacity(topology: &Topology, parameters: &Parameters) -> Result<Bound, Unpredictable> {
    let model = Model::of_one(topology, parameters)?;
    let slots = model.bounds_with_slots(topology);
    let missing = || Unpredictable::NoTime { topology: topology.name.clone() };
    slots.into_iter().next().ok_or_else(missing)
}

/// Groups neighbouring points with the same bottleneck.
fn stretches(points: &[Point]) -> Vec<Stretch> {
    let mut all: Vec<Stretch> = Vec::new();
    for point in points {
        match all.last_mut() {
            Some(last) if last.bounded_by == point.bounded_by => last.to = point.outstanding,
            _ => all.push(Stretch {
                from: point.outstanding,
                to: point.outstanding,
                bounded_by: point.bounded_by.clone(),
            }),
        }
    }
    all
}
