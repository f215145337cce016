//! A design: pools, volumes, hosts, their settings, cost and reasons.

use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use units::Share;

use crate::claim::{Claim, ClaimKind};
use crate::client::Settings;
use crate::cost::Cost;
use crate::hosts::Hosts;
use crate::need::Part;
use crate::pool::{Pool, PoolSizedBy};
use crate::resource_use::Use;
use crate::response::Response;
use crate::storage;
use crate::trade_offs::TradeOff;

/// A design that satisfies every constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// Service level of its pools, or of the first if they differ.
    pub level: ServiceLevel,
    /// QoS type of its pools, or of the first if they differ.
    pub qos: QosType,
    /// Kind of its volumes.
    pub kind: VolumeKind,
    /// Pools with their volumes.
    pub pools: Vec<Pool>,
    /// The requirement that sets the pools' size.
    pub sized_by: PoolSizedBy,
    /// Hosts; `None` if the need is capacity alone.
    pub hosts: Option<Hosts>,
    /// Settings of the hosts.
    pub settings: Settings,
    /// Monthly cost.
    pub cost: Cost,
    /// How much of each resource is used.
    pub uses: Vec<Use>,
    /// The arithmetic, in order.
    pub reasons: Vec<Claim>,
    /// Predicted response time at the required throughput.
    pub response: Option<Response>,
    /// Whether an older published figure says that the volumes do less than required. The newest
    /// decides, and says that they do enough.
    pub contradicted: bool,
    /// What else to know.
    pub notes: Vec<Claim>,
    /// What a cheaper design would lose; `None` until the designs are sorted by cost.
    pub trade_off: Option<TradeOff>,
}

impl Design {
    /// How much of each purchased resource is used: without those of hosts that are not charged.
    pub fn purchased_uses(&self) -> impl Iterator<Item = &Use> {
        let is_charged = self.hosts.as_ref().is_some_and(|hosts| hosts.is_charged);
        self.uses.iter().filter(move |one| is_charged || !one.resource.is_of_hosts())
    }

    /// The purchased resource that is exhausted first as load grows.
    pub fn binding(&self) -> Option<&Use> {
        let rates = self.purchased_uses().filter(|one| one.resource.is_rate());
        rates.max_by_key(|one| (one.share(), std::cmp::Reverse(one.resource)))
    }

    /// The unused share of that resource, which keeps response times short.
    pub fn spare(&self) -> Share {
        self.binding().map_or(Share::WHOLE, |one| one.share().rest())
    }

    /// The evidence for the response time and the number of hosts: the weakest of that for hosts,
    /// connections, volumes and endpoints.
    pub fn basis(&self) -> ClaimKind {
        let rates = self.uses.iter().filter(|one| one.resource.is_rate());
        rates.map(|one| one.kind).fold(ClaimKind::Derived, ClaimKind::max)
    }

    /// The distinct service levels and QoS types of its pools, in order.
    pub fn levels(&self) -> Vec<(ServiceLevel, QosType)> {
        let mut levels: Vec<(ServiceLevel, QosType)> = Vec::new();
        for pool in &self.pools {
            if !levels.contains(&(pool.level, pool.qos)) {
                levels.push((pool.level, pool.qos));
            }
        }
        levels
    }

    /// The names of the distinct levels of its pools, in order.
    pub fn level_names(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for pool in &self.pools {
            if !names.contains(&pool.level.name()) {
                names.push(pool.level.name());
            }
        }
        names
    }

    /// Number of volumes of each of these parts.
    pub fn volumes_of(&self, parts: &[Part]) -> Vec<u64> {
        storage::volumes_of(&self.pools, parts)
    }

    /// Number of volumes.
    pub fn volume_count(&self) -> u64 {
        self.pools.iter().flat_map(|pool| &pool.volumes).map(|v| v.count).sum()
    }

    /// Number of hosts that are charged.
    pub fn host_count(&self) -> u64 {
        let charged = self.hosts.as_ref().filter(|hosts| hosts.is_charged);
        charged.map_or(0, |hosts| u64::from(hosts.count))
    }

    /// Number of pools, volumes and hosts to manage.
    pub fn things(&self) -> u64 {
        self.pools.len() as u64 + self.volume_count() + self.host_count()
    }

    /// Size of all pools together.
    pub fn pool_gib(&self) -> u64 {
        self.pools.iter().map(|pool| pool.size_gib).sum()
    }

    /// The sum of all quotas.
    pub fn quota_gib(&self) -> u64 {
        self.pools.iter().map(Pool::quota_gib).sum()
    }

    /// The sum of all throughput limits.
    pub fn limits(&self) -> KibPerSec {
        self.pools.iter().map(Pool::limits).sum()
    }
}
