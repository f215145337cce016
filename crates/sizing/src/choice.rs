//! One of the ways to build the storage of a design.

use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use units::Share;

use crate::shortfall::Tried;

/// One way to build the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Service level of the pools.
    pub level: ServiceLevel,
    /// How volumes get their throughput.
    pub qos: QosType,
    /// Kind of the volumes.
    pub kind: VolumeKind,
    /// Volumes of each part beyond the fewest possible.
    pub more_volumes: u64,
    /// Fewest pools; never more than there are volumes.
    pub pools: u64,
    /// Share of the purchased throughput to keep unused.
    pub spare: Share,
}

impl Choice {
    /// The choice in a [`Shortfall`].
    pub(crate) fn tried(&self, host: Option<&str>) -> Tried {
        let (level, qos, kind) = (self.level, self.qos, self.kind);
        Tried::Design { level, qos, kind, host: host.map(str::to_owned) }
    }
}
