//! Reasons and assumptions of a prediction, as values; `report` words them.

use cloud::reason::RowRef;
use cloud::volume_limit::LimitDerivation;
use units::{BytesPerSec, Nanos};

use crate::parameter::Parameter;

/// One step of the arithmetic, with the rows of `data/` it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// The arithmetic.
    pub statement: Statement,
    /// The rows used; none if it follows from the topology.
    pub rows: Vec<RowRef>,
}

impl Reason {
    /// A step that follows from the topology.
    pub(crate) fn given(statement: Statement) -> Reason {
        Reason { statement, rows: Vec::new() }
    }
}

/// What a [`Reason`] states.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "fields are named as in the arithmetic of each variant")]
pub enum Statement {
    /// The topology gives the unloaded response time.
    FloorGiven(Nanos),
    /// The unloaded response time is the median of `count` published ones in this range.
    FloorPublished { median: Nanos, count: u64, low: Nanos, high: Nanos },
    /// No unloaded response time is published.
    FloorNotPublished,
    /// The model adds no response time to that of the limits.
    NoFloor,
    /// Parameters in their SI unit, fitted to `figures` published figures with this root mean
    /// square of the logarithms of their errors.
    Calibration { parameters: Vec<(Parameter, f64)>, figures: u64, error: f64 },
    /// Demands of operations on names: the inverse of the largest published rates, which may have been
    /// limited by something else.
    NamesPublished { parameters: Vec<(Parameter, f64)> },
    /// `hosts x each x endpoints = connections`; `each` is `None` for VMware, whose hosts have one
    /// connection to each volume, and `paths` are volumes then.
    Connections { workload: String, hosts: u64, each: Option<u64>, paths: u64, connections: u64 },
    /// `connections x slots / calls = outstanding`
    Outstanding { workload: String, connections: u64, slots: u64, calls: f64, outstanding: f64 },
    /// Processors and egress limit of a size of virtual machine.
    VmSize { name: String, vcpu: u64, egress_mbit_s: u64, egress: BytesPerSec },
    /// The topology gives the throughput limit of a volume.
    VolumeLimitGiven { volume: String, limit: BytesPerSec },
    /// The arithmetic of a documented volume limit.
    VolumeLimit(LimitDerivation),
}

/// What the model assumes because the topology does not say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// The unloaded response time is the median of published ones.
    MedianFloor,
    /// The rate of a host grows with a power of its processors, fitted to published sizes.
    HostPower,
    /// Hosts of unknown size never limit.
    HostsDoNotLimit,
    /// VMware hosts perform like the published ones.
    VmwareHosts,
    /// Regular volumes without an endpoint share one.
    SharedEndpoint,
    /// Breakthrough mode follows the only document about it.
    Breakthrough,
    /// Sequential writes to regular volumes follow the majority of figures, which are older.
    SequentialWrites,
    /// Operations are distributed evenly over the volumes of a workload.
    EvenDistribution,
    /// Caches of the service are as warm as in the published tests.
    WarmCaches,
    /// Operations on names cost as much as the mean of those of an EDA mix.
    NamesAsEda,
}
