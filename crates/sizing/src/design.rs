//! A design: what is bought, how it is set, what it costs, and why.

use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;

use crate::claim::{Claim, ClaimKind};
use crate::client::Settings;
use crate::cost::Cost;
use crate::hosts::Hosts;
use crate::need::{PERMILLE, Part};
use crate::response::Response;
use crate::storage;

/// Volumes that are alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volumes {
    /// The part of the data that is on them.
    pub part: String,
    /// How many there are.
    pub count: u64,
    /// What they are built as.
    pub kind: VolumeKind,
    /// The size of each.
    pub quota_gib: u64,
    /// The throughput limit of each: by quota, or as assigned.
    pub throughput: KibPerSec,
}

/// A capacity pool with its volumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// What it is bought as.
    pub level: ServiceLevel,
    /// How its throughput is given to volumes.
    pub qos: QosType,
    /// Its size.
    pub size_gib: u64,
    /// What all its volumes can have together: by size, or as bought.
    pub throughput: KibPerSec,
    /// What is in it.
    pub volumes: Vec<Volumes>,
}

impl Pool {
    /// Its volumes' quotas together.
    pub fn quota_gib(&self) -> u64 {
        self.volumes.iter().map(|v| v.count.saturating_mul(v.quota_gib)).sum()
    }

    /// Its volumes' limits together.
    pub fn limits(&self) -> KibPerSec {
        let of = |v: &Volumes| KibPerSec::new(v.count.saturating_mul(v.throughput.get()));
        self.volumes.iter().map(of).sum()
    }
}

/// Something that a design can run out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// The volumes' throughput limits.
    VolumeLimits,
    /// What volumes can do by published figures.
    VolumeCapability,
    /// The volumes' quotas.
    Capacity,
    /// What hosts can send, which is writes.
    Egress,
    /// What hosts can do by published figures.
    HostCapability,
    /// What connections can carry by published figures, each being a network flow.
    Flows,
    /// Requests outstanding on connections.
    Slots,
    /// What the addresses of regular volumes give by published figures.
    Endpoints,
    /// The capacity of all pools that a subscription may have in a region by default.
    RegionalQuota,
}

impl Resource {
    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Resource::VolumeLimits => "throughput limits of the volumes",
            Resource::VolumeCapability => "capability of the volumes",
            Resource::HostCapability => "capability of the hosts",
            Resource::Capacity => "quotas",
            Resource::Egress => "VM egress",
            Resource::Flows => "network flows",
            Resource::Slots => "slots",
            Resource::Endpoints => "endpoints",
            Resource::RegionalQuota => "regional capacity quota",
        }
    }

    /// Whether spare of it shortens queues; spare capacity and quota do not.
    pub const fn is_rate(self) -> bool {
        !matches!(self, Resource::Capacity | Resource::RegionalQuota)
    }
}

/// How much of something a design uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// Of what.
    pub resource: Resource,
    /// What the limit rests on.
    pub kind: ClaimKind,
    /// What is used, in the unit of the resource: KiB/s, GiB, or counted.
    pub used: u64,
    /// What there is, in the same unit.
    pub limit: u64,
}

impl Use {
    /// The share that is used, in thousandths, rounded up.
    pub fn permille(&self) -> u64 {
        let share = u128::from(self.used) * u128::from(PERMILLE);
        u64::try_from(share.div_ceil(u128::from(self.limit.max(1)))).unwrap_or(u64::MAX)
    }

    /// The share that is left, in thousandths; 0 where nothing is.
    pub fn spare_permille(&self) -> u64 {
        PERMILLE.saturating_sub(self.permille())
    }
}

/// What the size of the pools comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decides {
    /// What must be stored.
    Capacity,
    /// What must be moved.
    Throughput,
    /// The smallest thing that can be bought.
    Minimum,
}

impl Decides {
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Decides::Capacity => "capacity",
            Decides::Throughput => "throughput",
            Decides::Minimum => "smallest size",
        }
    }
}

/// A design that satisfies every constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// Of its pools, or of the first of them where there are several levels.
    pub level: ServiceLevel,
    /// The same of their type of QoS.
    pub qos: QosType,
    /// Of all its volumes.
    pub kind: VolumeKind,
    /// What is bought.
    pub pools: Vec<Pool>,
    /// What the pools' size comes from.
    pub decides: Decides,
    /// What uses it; none where only a capacity is wanted.
    pub hosts: Option<Hosts>,
    /// How they are set.
    pub settings: Settings,
    /// What it costs.
    pub cost: Cost,
    /// How much of everything is used.
    pub uses: Vec<Use>,
    /// The arithmetic, in order.
    pub reasons: Vec<Claim>,
    /// The response time at the wanted throughput, as the model expects it.
    pub response: Option<Response>,
    /// Whether some published figure says that the volumes do less than is wanted, though the
    /// newest does not.
    pub contradicted: bool,
    /// What is to be known besides.
    pub notes: Vec<Claim>,
    /// What is lost with the next cheaper design, or with a smaller pool.
    pub cheaper: String,
}

impl Design {
    /// The resource that would be exhausted first, of those that carry load.
    pub fn binding(&self) -> Option<&Use> {
        let rates = self.uses.iter().filter(|one| one.resource.is_rate());
        rates.max_by_key(|one| (one.permille(), std::cmp::Reverse(one.resource)))
    }

    /// The share of that resource that is left, in thousandths: what keeps response times short.
    pub fn spare_permille(&self) -> u64 {
        self.binding().map_or(PERMILLE, Use::spare_permille)
    }

    /// What the response time and the number of hosts rest on: the weakest of what hosts,
    /// connections, volumes and endpoints can do.
    pub fn basis(&self) -> ClaimKind {
        let rates = self.uses.iter().filter(|one| one.resource.is_rate());
        rates.map(|one| one.kind).fold(ClaimKind::Derived, ClaimKind::max)
    }

    /// Levels and types of QoS of its pools, each once.
    pub fn levels(&self) -> Vec<(ServiceLevel, QosType)> {
        let mut levels: Vec<(ServiceLevel, QosType)> = Vec::new();
        for pool in &self.pools {
            if !levels.contains(&(pool.level, pool.qos)) {
                levels.push((pool.level, pool.qos));
            }
        }
        levels
    }

    /// The names of its levels, each once, in the order of its pools.
    pub fn level_names(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for pool in &self.pools {
            if !names.contains(&pool.level.name()) {
                names.push(pool.level.name());
            }
        }
        names
    }

    /// Volumes of each of these parts.
    pub fn volumes_of(&self, parts: &[Part]) -> Vec<u64> {
        storage::volumes_of(&self.pools, parts)
    }

    /// Volumes of all pools.
    pub fn volume_count(&self) -> u64 {
        self.pools.iter().flat_map(|pool| &pool.volumes).map(|v| v.count).sum()
    }

    /// Hosts; 0 where none is sized.
    pub fn host_count(&self) -> u64 {
        self.hosts.as_ref().map_or(0, |hosts| u64::from(hosts.count))
    }

    /// Pools, volumes and hosts: what has to be looked after.
    pub fn things(&self) -> u64 {
        self.pools.len() as u64 + self.volume_count() + self.host_count()
    }

    /// Sizes of all pools together.
    pub fn pool_gib(&self) -> u64 {
        self.pools.iter().map(|pool| pool.size_gib).sum()
    }

    /// Quotas of all volumes together.
    pub fn quota_gib(&self) -> u64 {
        self.pools.iter().map(Pool::quota_gib).sum()
    }

    /// Limits of all volumes together.
    pub fn limits(&self) -> KibPerSec {
        self.pools.iter().map(Pool::limits).sum()
    }
}
