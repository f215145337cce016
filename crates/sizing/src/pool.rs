//! Capacity pools with their volumes.

use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;

/// Identical volumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volumes {
    /// The part of the data that they store.
    pub part: String,
    /// How many.
    pub count: u64,
    /// Their kind.
    pub kind: VolumeKind,
    /// Quota of each.
    pub quota_gib: u64,
    /// Throughput limit of each, by quota or assigned.
    pub throughput: KibPerSec,
}

/// A capacity pool with its volumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Its service level.
    pub level: ServiceLevel,
    /// How volumes get their throughput.
    pub qos: QosType,
    /// Its size.
    pub size_gib: u64,
    /// Throughput of all its volumes together, by size or purchased.
    pub throughput: KibPerSec,
    /// Its volumes.
    pub volumes: Vec<Volumes>,
}

impl Pool {
    /// The sum of its volumes' quotas.
    pub fn quota_gib(&self) -> u64 {
        self.volumes.iter().map(|v| v.count.saturating_mul(v.quota_gib)).sum()
    }

    /// The sum of its volumes' throughput limits.
    pub fn limits(&self) -> KibPerSec {
        let of = |v: &Volumes| KibPerSec::new(v.count.saturating_mul(v.throughput.get()));
        self.volumes.iter().map(of).sum()
    }
}

/// The requirement that sets the size of the pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolSizedBy {
    /// The data to store.
    Capacity,
    /// The required throughput.
    Throughput,
    /// The smallest pool that is sold.
    Minimum,
}
