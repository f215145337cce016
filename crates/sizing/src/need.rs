//! The requirement: throughput, operations, capacity, and what the user has already decided.

use std::fmt;

use cloud::figure::Access;
use cloud::price::{ReplicationInterval, ReservationTerm};
use cloud::service_level::ServiceLevel;
use cloud::throughput::KibPerSec;
use units::{Nanos, OpsPerSec, Share};

use crate::business::BusinessDemand;

/// Default for [`Need::pools_max`].
pub const POOLS_MAX: u64 = 4;

/// How hosts access the volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// NFS version 3.
    Nfs3,
    /// NFS version 4.1.
    Nfs41,
    /// SMB 3 with Multichannel.
    Smb,
    /// Datastores of Azure VMware Solution; each host has one connection to each volume.
    Datastores,
}

impl Protocol {
    /// All protocols.
    pub const ALL: [Protocol; 4] =
        [Protocol::Nfs3, Protocol::Nfs41, Protocol::Smb, Protocol::Datastores];

    /// The name that users write.
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::Nfs3 => "nfsv3",
            Protocol::Nfs41 => "nfsv4.1",
            Protocol::Smb => "smb",
            Protocol::Datastores => "datastores",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A required throughput with transfers of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Reads and writes together.
    pub throughput: KibPerSec,
    /// Transfer size of one operation.
    pub transfer_bytes: u64,
    /// Share of reads, by bytes and by operations.
    pub read: Share,
    /// Access pattern.
    pub access: Access,
    /// Operations on names that move no data, per second, at the same time. Only kinds with a
    /// published rate count.
    pub names_per_s: u64,
}

impl Demand {
    /// A rate of random operations, as throughput rounded up to whole KiB/s.
    pub fn of_rate(ops_per_s: u64, transfer_bytes: u64, read: Share) -> Demand {
        let bytes = u128::from(ops_per_s) * u128::from(transfer_bytes);
        let kib = u64::try_from(bytes.div_ceil(1024)).unwrap_or(u64::MAX);
        let (throughput, access) = (KibPerSec::new(kib), Access::Random);
        Demand { throughput, transfer_bytes, read, access, names_per_s: 0 }
    }

    /// Throughput of its writes, rounded up.
    pub fn writes(&self) -> KibPerSec {
        KibPerSec::new(self.read.rest().ceil_of(self.throughput.get()))
    }

    /// Throughput divided by transfer size.
    pub fn rate(&self) -> OpsPerSec {
        let bytes_per_s = self.throughput.bytes_per_s() as f64;
        OpsPerSec::new(bytes_per_s / self.transfer_bytes.max(1) as f64)
    }

    /// The demand times `factor`, rounded up.
    #[must_use]
    pub fn scaled(&self, factor: Share) -> Demand {
        Demand {
            throughput: KibPerSec::new(factor.ceil_of(self.throughput.get())),
            names_per_s: factor.ceil_of(self.names_per_s),
            ..*self
        }
    }
}

/// A part of the data with separate volumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name: `data`, `log`.
    pub name: String,
    /// Required capacity, including snapshots.
    pub capacity_gib: u64,
    /// Files and directories, as far as they are known.
    pub inodes: u64,
    /// Each must be met separately, not all at the same time.
    pub demands: Vec<Demand>,
}

impl Part {
    /// Its largest required throughput.
    pub fn throughput(&self) -> KibPerSec {
        self.demands.iter().map(|d| d.throughput).max().unwrap_or(KibPerSec::new(0))
    }

    /// Its largest required throughput of writes.
    pub fn writes(&self) -> KibPerSec {
        self.demands.iter().map(Demand::writes).max().unwrap_or(KibPerSec::new(0))
    }
}

/// The requirement that designs must meet.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// Parts with separate volumes, all in use at the same time.
    pub parts: Vec<Part>,
    /// Expected growth of all demands and capacities.
    pub growth: Share,
    /// Share of each purchased rate to keep unused.
    pub headroom: Share,
    /// Required mean response time.
    pub response_time: Option<Nanos>,
    /// Azure name of the region.
    pub region: String,
    /// How hosts access the volumes.
    pub protocol: Protocol,
    /// The number of hosts, if the user has chosen it.
    pub hosts: Option<u32>,
    /// The size of the hosts, if the user has chosen it.
    pub vm: Option<String>,
    /// Allowed service levels.
    pub levels: Vec<ServiceLevel>,
    /// Whether features in preview are allowed.
    pub previews: bool,
    /// Hours per month that everything runs and is paid for.
    pub hours_per_month: u32,
    /// What is charged besides pools and hosts.
    pub charges: Charges,
    /// Most pools of a level whose pools each include some throughput free of charge.
    pub pools_max: u64,
    /// The business metric that the demands come from, if they come from one.
    pub business: Option<BusinessDemand>,
}

/// A replica in another region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replication {
    /// Azure name of the other region.
    pub to: String,
    /// How often it is updated.
    pub interval: ReplicationInterval,
    /// Share of the data, without snapshots, that changes per day.
    pub daily_change: Share,
    /// Level of the replica's pools; `None` for that of the source. A Flexible pool of replicas
    /// has the baseline throughput, which is free of charge.
    pub level: Option<ServiceLevel>,
}

/// What changes the cost besides pools and hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charges {
    /// Mean throughput over the month, as a share of the required one.
    pub mean: Share,
    /// Share of the traffic that crosses a network peering.
    pub crossing: Share,
    /// Share of the capacity in the cool tier.
    pub cool: Share,
    /// Share of the cool data that is read or written per month.
    pub cool_moved: Share,
    /// Retained backups.
    pub backup_gib: u64,
    /// Space for snapshots, as a share of the data. The capacities of the parts include it
    /// ([`Need::with_snapshots`]).
    pub snapshots: Share,
    /// The replica in another region, if any.
    pub replication: Option<Replication>,
    /// Reservation term; `None` for pay as you go.
    pub reserved: Option<ReservationTerm>,
    /// Whether hosts are part of the cost. The clients of a file service usually exist already, so
    /// they are charged only if the user chooses their size or number.
    pub hosts: bool,
}

impl Default for Charges {
    fn default() -> Charges {
        Charges {
            mean: Share::WHOLE,
            crossing: Share::ZERO,
            cool: Share::ZERO,
            cool_moved: Share::ZERO,
            backup_gib: 0,
            snapshots: Share::ZERO,
            replication: None,
            reserved: None,
            hosts: true,
        }
    }
}

/// Why a need is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NeedError {
    /// There is nothing to size.
    #[error("give a throughput, a rate of operations or a capacity above 0")]
    Nothing,
    /// A number outside its range.
    #[error("{what} is {found}; allowed: {allowed}")]
    OutOfRange {
        /// The quantity.
        what: &'static str,
        /// Its value.
        found: String,
        /// The allowed range.
        allowed: String,
    },
    /// Two parts with the same name.
    #[error("two parts are called `{name}`; names must differ")]
    SameName {
        /// The name.
        name: String,
    },
    /// A region without prices.
    #[error("no prices are known for region `{name}`")]
    UnknownRegion {
        /// As the user wrote it.
        name: String,
    },
    /// A feature that the region lacks.
    #[error("{region} has no {feature}; {}", nearest_words(.nearest))]
    RegionLacks {
        /// The feature.
        feature: String,
        /// Display name of the region.
        region: String,
        /// Names of the nearest regions that have it, nearest first.
        nearest: Vec<String>,
    },
    /// Regions between which volumes cannot be replicated.
    #[error("volumes in {from} cannot be replicated to {to}; {}", pair_words(.pairs))]
    NoReplication {
        /// Display name of the region of the volumes.
        from: String,
        /// Region of the replica, as the user wrote it.
        to: String,
        /// Names of the allowed regions.
        pairs: Vec<String>,
    },
    /// An unknown size of virtual machine.
    #[error("unknown host size `{name}`")]
    UnknownVm {
        /// As the user wrote it.
        name: String,
    },
}

impl Need {
    /// The need with space for snapshots in every part, rounded up to whole GiB.
    #[must_use]
    pub fn with_snapshots(&self, snapshots: Share) -> Need {
        let mut need = self.scaled(Share::WHOLE, snapshots.added_to_whole());
        need.growth = self.growth;
        need.charges.snapshots = snapshots;
        need
    }

    /// Throughput of all parts together after growth.
    pub fn throughput(&self) -> KibPerSec {
        self.grown().parts.iter().map(Part::throughput).sum()
    }

    /// Throughput of writes of all parts together after growth.
    pub fn writes(&self) -> KibPerSec {
        self.grown().parts.iter().map(Part::writes).sum()
    }

    /// The need after its growth.
    #[must_use]
    pub fn grown(&self) -> Need {
        let factor = self.growth.added_to_whole();
        self.scaled(factor, factor)
    }

    /// The need with all demands and all capacities times a factor, rounded up, and without
    /// further growth.
    #[must_use]
    pub fn scaled(&self, demand: Share, capacity: Share) -> Need {
        let part = |part: &Part| Part {
            name: part.name.clone(),
            capacity_gib: capacity.ceil_of(part.capacity_gib),
            inodes: capacity.ceil_of(part.inodes),
            demands: part.demands.iter().map(|one| one.scaled(demand)).collect(),
        };
        let parts = self.parts.iter().map(part).collect();
        Need { parts, growth: Share::ZERO, ..self.clone() }
    }
}

/// The throughput to buy so that `required` is used and the share `headroom` stays unused:
/// `required / (1 - headroom)`, rounded up.
pub fn bought(required: KibPerSec, headroom: Share) -> KibPerSec {
    let kib = u128::from(required.get()) * u128::from(Share::WHOLE.permille());
    let used = u128::from(headroom.rest().permille().max(1));
    KibPerSec::new(u64::try_from(kib.div_ceil(used)).unwrap_or(u64::MAX))
}

fn nearest_words(nearest: &[String]) -> String {
    match nearest {
        [] => "no region has it".to_owned(),
        [one] => format!("the nearest region that has it is {one}"),
        several => format!("the nearest regions that have it are {}", several.join(", ")),
    }
}

fn pair_words(pairs: &[String]) -> String {
    match pairs {
        [] => "the region has no replication pair".to_owned(),
        pairs => format!("they can be replicated to {}", pairs.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_of_operations_converts_to_throughput_and_back() {
        let demand = Demand::of_rate(60_000, 8192, Share::from_percent(70));
        assert_eq!(demand.throughput.to_string(), "468.75 MiB/s");
        assert_eq!(demand.rate(), OpsPerSec::new(60_000.0));
        assert_eq!(demand.writes().to_string(), "140.625 MiB/s");
        assert_eq!(Demand::of_rate(1, 512, Share::ZERO).throughput.get(), 1);
    }

    #[test]
    fn headroom_is_a_share_of_the_purchased_throughput() {
        let required = KibPerSec::new(80);
        assert_eq!(bought(required, Share::from_percent(20)).get(), 100);
        assert_eq!(bought(required, Share::ZERO), required);
        assert_eq!(bought(KibPerSec::new(1), Share::from_percent(90)).get(), 10);
    }
}
