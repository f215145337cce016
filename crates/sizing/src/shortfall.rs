//! Why a design is impossible: the constraint, the requirement and the limit.

use cloud::reason::RowRef;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use predict::Interval;
use units::{Nanos, Share};

use crate::claim::ClaimKind;
use crate::statement::Paths;

/// What a design exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Constraint {
    /// Number of volumes.
    VolumeCount,
    /// Number and size of pools.
    PoolCount,
    /// Egress of the given hosts.
    Egress,
    /// Connections of the given hosts and their slots.
    Connections,
    /// Endpoints of the volumes.
    Endpoints,
    /// Requests outstanding at an endpoint.
    Outstanding,
    /// Number of hosts, or their capability.
    Hosts,
    /// Response time.
    ResponseTime,
}

/// A constraint that a design violates, with the required amount and the limit.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    missing_docs,
    reason = "fields are the required amount, the limit and what they follow from"
)]
pub enum Lack {
    /// A part needs more volumes than a subscription may have.
    Volumes { required: u64, most: u64, throughput: KibPerSec, capacity_gib: u64 },
    /// A pool of this size is required; an account has at most `pools_max` pools.
    PoolSize { required_gib: u64, most_gib: u64, pools_max: u64 },
    /// More datastores than a host can mount.
    Datastores { required: u64, most: u64 },
    /// More hosts than a private cloud can have.
    HostsOfCloud { required: u64, most: u64 },
    /// Writes exceed the egress of the given hosts.
    Egress { required: KibPerSec, most: KibPerSec, hosts: u64 },
    /// Published figures require more hosts than are given.
    HostCapability {
        required: u64,
        hosts: u64,
        vcpu: Option<u64>,
        /// The nearest published number of processors, where `vcpu` is outside their range.
        extrapolated_from: Option<u64>,
    },
    /// Fewer hosts than a cluster must have.
    HostsOfCluster { required: u64, hosts: u64 },
    /// Fewer connections than the load needs: `hosts x each x paths`.
    Connections { required: u64, hosts: u64, each: u64, paths: Paths },
    /// More requests outstanding than the connections have slots.
    Slots { required: u64, most: u64 },
    /// More requests outstanding than the endpoints accept.
    EndpointRequests { required: u64, most: u64, endpoints: u64 },
    /// More endpoints needed than there are volumes.
    Endpoints { required: u64, volumes: u64 },
    /// The model predicts a longer response time; `predicted` is `None` if only the fact is known.
    /// `unloaded` is the response time at queue depth 1, in nanoseconds.
    ResponseTime { required: Nanos, predicted: Option<Nanos>, unloaded: Interval },
}

impl Lack {
    /// The constraint that is violated.
    pub const fn constraint(&self) -> Constraint {
        match self {
            Lack::Volumes { .. } | Lack::Datastores { .. } => Constraint::VolumeCount,
            Lack::PoolSize { .. } => Constraint::PoolCount,
            Lack::HostsOfCloud { .. }
            | Lack::HostCapability { .. }
            | Lack::HostsOfCluster { .. } => Constraint::Hosts,
            Lack::Egress { .. } => Constraint::Egress,
            Lack::Connections { .. } | Lack::Slots { .. } => Constraint::Connections,
            Lack::EndpointRequests { .. } => Constraint::Outstanding,
            Lack::Endpoints { .. } => Constraint::Endpoints,
            Lack::ResponseTime { .. } => Constraint::ResponseTime,
        }
    }

    /// The required amount and the most that there is, in the same unit: a count, GiB or KiB/s.
    /// For a response time, of which less is better, the predicted and the required nanoseconds.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    pub fn amounts(&self) -> (u64, u64) {
        match *self {
            Lack::Volumes { required, most, .. }
            | Lack::Datastores { required, most }
            | Lack::HostsOfCloud { required, most }
            | Lack::Slots { required, most }
            | Lack::EndpointRequests { required, most, .. } => (required, most),
            Lack::PoolSize { required_gib, most_gib, .. } => (required_gib, most_gib),
            Lack::Egress { required, most, .. } => (required.get(), most.get()),
            Lack::HostCapability { required, hosts, .. }
            | Lack::HostsOfCluster { required, hosts } => (required, hosts),
            Lack::Connections { required, hosts, each, paths } => {
                (required, hosts.saturating_mul(each).saturating_mul(paths.count))
            }
            Lack::Endpoints { required, volumes } => (required, volumes),
            Lack::ResponseTime { required, predicted, .. } => {
                let predicted = predicted.map_or(u64::MAX, |time| time.0.min(1e18) as u64);
                (predicted, required.0 as u64)
            }
        }
    }

    /// The evidence for the limit, unless more is known.
    pub const fn kind(&self) -> ClaimKind {
        match self.constraint() {
            Constraint::VolumeCount
            | Constraint::PoolCount
            | Constraint::Egress
            | Constraint::Outstanding => ClaimKind::DocumentedLimit,
            Constraint::Connections
            | Constraint::Endpoints
            | Constraint::Hosts
            | Constraint::ResponseTime => ClaimKind::Derived,
        }
    }
}

/// The design that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of a design")]
pub enum Tried {
    /// All designs that no other beats.
    Front,
    /// One way to build the storage; `host` is the kind of host, if it matters.
    Design { level: ServiceLevel, qos: QosType, kind: VolumeKind, host: Option<String> },
}

/// A constraint that a design violates.
#[derive(Clone, Debug, PartialEq)]
pub struct Shortfall {
    /// Which, and by how much.
    pub lack: Lack,
    /// The evidence for the limit.
    pub kind: ClaimKind,
    /// What was tried.
    pub tried: Tried,
    /// The rows of `data/` used.
    pub rows: Vec<RowRef>,
}

impl Shortfall {
    /// A shortfall with the usual evidence of its constraint.
    pub fn new(lack: Lack, tried: Tried, rows: Vec<RowRef>) -> Shortfall {
        Shortfall { kind: lack.kind(), lack, tried, rows }
    }

    /// The missing part of the required amount.
    pub fn missing(&self) -> Share {
        let (required, most) = self.lack.amounts();
        Share::of(required.saturating_sub(most), required.max(1))
    }
}
