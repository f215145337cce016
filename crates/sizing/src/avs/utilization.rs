//! How much of the hosts, of vSAN and of the datastores a design uses.

use crate::avs::design::Design;
use crate::avs::recommendation::Sizing;

/// A resource of a design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DesignResource {
    /// Processors of the hosts that are not spare, in hosts.
    Processors,
    /// Memory of the hosts that are not spare, in hosts.
    Memory,
    /// Usable vSAN capacity, in bytes.
    Vsan,
    /// Quotas of the datastores, in GiB.
    Quotas,
    /// Throughput limits of the datastores, in KiB/s.
    Throughput,
}

/// Used and available amount of a resource, in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DesignUse {
    /// The resource.
    pub resource: DesignResource,
    /// The used amount.
    pub used: u64,
    /// The available amount.
    pub limit: u64,
}

impl Sizing {
    /// The use of each resource that a design has; without throughput if no load is known.
    pub fn uses(&self, design: &Design) -> Vec<DesignUse> {
        let hosts = design.hosts - self.hosts.spare(design.hosts);
        let stores = &design.datastores;
        let gib = 1 << 30;
        let stored: u64 = stores.iter().map(|store| store.stored.get().div_ceil(gib)).sum();
        use DesignResource::{Memory, Processors, Quotas, Throughput, Vsan};
        let all = [
            (Processors, self.hosts.by_processors.unwrap_or(0), hosts),
            (Memory, self.hosts.by_memory, hosts),
            (Vsan, design.vsan_stored.get(), design.vsan_usable.get()),
            (Quotas, stored, stores.iter().map(|store| store.quota_gib).sum()),
            (
                Throughput,
                design.load().get(),
                stores.iter().map(|store| store.throughput.get()).sum(),
            ),
        ];
        let uses = all.map(|(resource, used, limit)| DesignUse { resource, used, limit });
        uses.into_iter().filter(|one| one.used > 0 && one.limit > 0).collect()
    }
}
