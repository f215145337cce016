//! The prediction for one load, and the bounds of a topology.

use crate::interval::Interval;
use crate::resource::Resource;

/// Why a topology cannot be predicted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unpredictable {
    /// It has no hosts, no volumes or no workloads.
    #[error("predict `{topology}`: it has no {what}")]
    Missing {
        /// The topology's name.
        topology: String,
        /// What is missing.
        what: &'static str,
    },
    /// It has neither a response time nor a limit.
    #[error("predict `{topology}`: no response time and no limit is known; give its `floor`")]
    NoTime {
        /// The topology's name.
        topology: String,
    },
    /// Some loads are closed, others are open.
    #[error("predict `{topology}`: either all workloads have `outstanding`, or all have `offered`")]
    TwoKindsOfLoad {
        /// The topology's name.
        topology: String,
    },
}

/// The prediction for one load.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Mean outstanding operations of all hosts, including those that wait for a slot.
    pub outstanding: f64,
    /// Operations per second of all hosts.
    pub ops_per_s: Interval,
    /// Bytes per second of all hosts, reads and writes together.
    pub bytes_per_s: Interval,
    /// Mean response time in seconds.
    pub response_s: Interval,
    /// Operations per second of each workload.
    pub by_workload: Vec<f64>,
    /// The bottleneck at this load.
    pub bounded_by: Resource,
}

/// The highest rate of one resource if nothing else limited.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The resource.
    pub resource: Resource,
    /// Operations per second of all hosts.
    pub ops_per_s: Interval,
    /// The same in bytes per second.
    pub bytes_per_s: Interval,
    /// How many there are.
    pub count: u64,
}

impl Bound {
    /// The share of the resource that a load uses.
    pub fn used_by(&self, load: &Point) -> f64 {
        load.ops_per_s.value / self.ops_per_s.value
    }
}
