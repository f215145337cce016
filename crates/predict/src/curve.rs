//! The curve that a topology gives: rate and response time against concurrency, what bounds each
//! stretch of it, and why.

use cloud::reason::Reason;

use crate::interval::Interval;
use crate::model::Model;
use crate::parameters::Parameters;
use crate::resource::Resource;
use crate::topology::Topology;

/// Why nothing can be predicted of a topology.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unpredictable {
    /// There is nobody who sends, nothing that is sent to, or nothing that is done.
    #[error("predict `{topology}`: it has no {what}")]
    Missing {
        /// The topology's name.
        topology: String,
        /// What is missing.
        what: &'static str,
    },
    /// Nothing takes any time.
    #[error("predict `{topology}`: no response time and no limit is known; give its `floor`")]
    NoTime {
        /// The topology's name.
        topology: String,
    },
    /// Some loads are closed, others are offered.
    #[error("predict `{topology}`: either all workloads have `outstanding`, or all have `offered`")]
    TwoKindsOfLoad {
        /// The topology's name.
        topology: String,
    },
}

/// One load, and what comes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Operations outstanding on average, over all hosts, those that wait for a slot among them.
    pub outstanding: f64,
    /// Operations per second of all hosts.
    pub ops_per_s: Interval,
    /// Bytes per second of all hosts, reads and writes together.
    pub bytes_per_s: Interval,
    /// Mean response time in seconds.
    pub response_s: Interval,
    /// Operations per second of each workload.
    pub by_workload: Vec<f64>,
    /// What bounds the rate here.
    pub bounded_by: Resource,
}

/// What a resource would let through if nothing else bounded.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// Which.
    pub resource: Resource,
    /// Operations per second of all hosts.
    pub ops_per_s: Interval,
    /// The same in bytes per second.
    pub bytes_per_s: Interval,
    /// How many of it there are.
    pub count: u64,
}

/// A part of the curve on which one resource bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    /// From so many operations outstanding on.
    pub from: f64,
    /// To so many.
    pub to: f64,
    /// What bounds.
    pub bounded_by: Resource,
}

/// Everything that is predicted of a topology.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The load that the topology asks for; `None` where it offers more than is let through.
    pub asked: Option<Point>,
    /// With rising load.
    pub points: Vec<Point>,
    /// The point of the largest rate that is expected.
    pub most: Point,
    /// Which resource bounds where.
    pub stretches: Vec<Stretch>,
    /// What every resource would let through, the least first.
    pub bounds: Vec<Bound>,
    /// Operations outstanding at which the line of the floor and the least bound cross (Little).
    pub knee_outstanding: Interval,
    /// The arithmetic, with the rows of data that it rests on.
    pub reasons: Vec<Reason>,
    /// What the topology asks for and the model does not have: to be said before any number.
    pub not_modelled: Vec<String>,
    /// What was assumed because nothing says it.
    pub assumptions: Vec<String>,
}

/// Predicts a topology.
///
/// # Errors
/// It has nothing to be predicted.
pub fn curve(topology: &Topology, parameters: &Parameters) -> Result<Curve, Unpredictable> {
    let model = Model::of(topology, parameters)?;
    let bounds = model.bounds();
    let knee = model.knee();
    let loads = model.loads(topology, knee.value);
    let points: Vec<Point> = loads.iter().filter_map(|load| model.point(topology, load)).collect();
    let most = points.iter().max_by(|a, b| a.ops_per_s.value.total_cmp(&b.ops_per_s.value));
    let missing = || Unpredictable::NoTime { topology: topology.name.clone() };
    let most = most.cloned().ok_or_else(missing)?;
    let asked = model.point(topology, &model.asked());
    Ok(Curve {
        asked,
        stretches: stretches(&points),
        points,
        most,
        bounds,
        knee_outstanding: knee,
        reasons: crate::reasons::of(topology, parameters, &model.middle),
        not_modelled: crate::reasons::not_modelled(topology),
        assumptions: crate::reasons::assumptions(topology),
    })
}

/// One load without intervals: so many operations outstanding over all hosts, divided among the
/// workloads as the topology divides them. What searches over many designs ask for.
///
/// # Errors
/// It has nothing to be predicted.
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

/// The largest rate that the bounds allow, in operations per second of all hosts, and what bounds
/// it: the asymptotic bound for very many operations outstanding.
///
/// # Errors
/// It has nothing to be predicted.
pub fn capacity(topology: &Topology, parameters: &Parameters) -> Result<Bound, Unpredictable> {
    let model = Model::of_one(topology, parameters)?;
    let slots = model.bounds_with_slots(topology);
    let missing = || Unpredictable::NoTime { topology: topology.name.clone() };
    slots.into_iter().next().ok_or_else(missing)
}

/// Neighbouring points with the same bounding resource as one stretch.
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
