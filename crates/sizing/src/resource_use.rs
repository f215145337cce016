//! Resources that a design can exhaust, and how much of each it uses.

use units::Share;

use crate::claim::ClaimKind;

/// A resource that a design can exhaust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Throughput limits of the volumes.
    VolumeLimits,
    /// Throughput of the volumes by published figures.
    VolumeCapability,
    /// Operations on names of the volumes by published figures.
    VolumeNames,
    /// Files and directories of the volumes.
    Inodes,
    /// Quotas of the volumes.
    Capacity,
    /// Egress of the hosts, which carries writes.
    Egress,
    /// Throughput of the hosts by published figures.
    HostCapability,
    /// Throughput of the connections by published figures; each is a network flow.
    Flows,
    /// Requests outstanding on connections.
    Slots,
    /// Throughput of the endpoints of regular volumes by published figures.
    Endpoints,
    /// The capacity of all pools that a subscription may have in a region by default.
    RegionalQuota,
}

impl Resource {
    /// Whether spare of it shortens queues. Spare capacity and quota do not.
    pub const fn is_rate(self) -> bool {
        !matches!(self, Resource::Inodes | Resource::Capacity | Resource::RegionalQuota)
    }

    /// Whether more or larger hosts have more of it.
    pub const fn is_of_hosts(self) -> bool {
        use Resource::{Egress, Flows, HostCapability, Slots};
        matches!(self, Egress | Flows | HostCapability | Slots)
    }
}

/// How much of a resource a design uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// The resource.
    pub resource: Resource,
    /// The evidence for the limit.
    pub kind: ClaimKind,
    /// The used amount in the unit of the resource: KiB/s, GiB, operations per second, or a count.
    pub used: u64,
    /// The available amount in the same unit.
    pub limit: u64,
}

impl Use {
    /// The used share, rounded up.
    pub fn share(&self) -> Share {
        Share::of_rounded_up(self.used, self.limit)
    }
}
