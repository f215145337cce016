//! What is wanted: throughput, operations, capacity, and what is already decided.

use std::fmt;

use cloud::figure::Access;
use cloud::price::{ReplicationInterval, ReservationTerm};
use cloud::row::LimitName;
use cloud::service_level::ServiceLevel;
use cloud::throughput::KibPerSec;
use units::{Bytes, BytesPerSec, percent};

use crate::facts::Facts;
use crate::host_kind;
use crate::region_need;

/// Thousandths in a whole.
pub const PERMILLE: u64 = 1000;
/// More than the largest regional offer by orders; above it sums could leave 64 bits.
const THROUGHPUT_MAX_KIB: u64 = 1 << 50;
/// As for throughput: an exbibyte.
const CAPACITY_MAX_GIB: u64 = 1 << 30;
/// Hours in the longest month.
const HOURS_MAX: u32 = 744;
/// Pools of one level whose pools each have some throughput that is not paid for, unless the user
/// allows more.
pub const POOLS_MAX: u64 = 4;
/// Hosts of one design.
const HOSTS_MAX: u32 = 10_000;

/// How hosts speak to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// NFS version 3.
    Nfs3,
    /// NFS version 4.1.
    Nfs41,
    /// SMB 3 with Multichannel.
    Smb,
    /// Datastores of Azure VMware Solution, whose hosts have one connection to each volume.
    Datastores,
}

impl Protocol {
    /// All of them.
    pub const ALL: [Protocol; 4] =
        [Protocol::Nfs3, Protocol::Nfs41, Protocol::Smb, Protocol::Datastores];

    /// As a user writes it.
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

/// A rate that must be carried, of transfers of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Reads and writes together.
    pub throughput: KibPerSec,
    /// Bytes moved by one operation.
    pub transfer_bytes: u64,
    /// Share of reads, by bytes and by operations, in thousandths.
    pub read_permille: u64,
    /// Where operations go.
    pub access: Access,
}

impl Demand {
    /// So many random operations per second of a size, as throughput rounded up to whole KiB/s.
    pub fn of_rate(ops_per_s: u64, transfer_bytes: u64, read_permille: u64) -> Demand {
        let bytes = u128::from(ops_per_s) * u128::from(transfer_bytes);
        let kib = u64::try_from(bytes.div_ceil(1024)).unwrap_or(u64::MAX);
        Demand {
            throughput: KibPerSec::new(kib),
            transfer_bytes,
            read_permille,
            access: Access::Random,
        }
    }

    /// The throughput of its writes, rounded up.
    pub fn writes(&self) -> KibPerSec {
        let share = u128::from(PERMILLE.saturating_sub(self.read_permille));
        let kib = (u128::from(self.throughput.get()) * share).div_ceil(u128::from(PERMILLE));
        KibPerSec::new(u64::try_from(kib).unwrap_or(u64::MAX))
    }

    /// Operations per second: throughput over the size of a transfer.
    pub fn ops_per_s(&self) -> f64 {
        self.throughput.bytes_per_s() as f64 / self.transfer_bytes.max(1) as f64
    }

    /// The demand times `factor` thousandths, rounded up.
    #[must_use]
    pub fn scaled(&self, permille: u64) -> Demand {
        let kib = u128::from(self.throughput.get()) * u128::from(permille);
        let kib = u64::try_from(kib.div_ceil(u128::from(PERMILLE))).unwrap_or(u64::MAX);
        Demand { throughput: KibPerSec::new(kib), ..*self }
    }
}

/// A part of the data that has volumes of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it is called: `data`, `log`.
    pub name: String,
    /// What its volumes must hold, snapshots included.
    pub capacity_gib: u64,
    /// Each is to be carried by itself, not all of them at the same time.
    pub demands: Vec<Demand>,
}

impl Part {
    /// The largest throughput that is wanted of it.
    pub fn throughput(&self) -> KibPerSec {
        self.demands.iter().map(|d| d.throughput).max().unwrap_or(KibPerSec::new(0))
    }

    /// The largest throughput of writes that is wanted of it.
    pub fn writes(&self) -> KibPerSec {
        self.demands.iter().map(Demand::writes).max().unwrap_or(KibPerSec::new(0))
    }
}

/// What a design has to give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// Parts with volumes of their own, all of them in use at the same time.
    pub parts: Vec<Part>,
    /// By how much all demands and capacities will grow, in thousandths.
    pub growth_permille: u64,
    /// The share of every rate that is bought and stays unused, in thousandths.
    pub headroom_permille: u64,
    /// The mean response time that is wanted.
    pub response_time_ns: Option<u64>,
    /// Where, as Azure names it.
    pub region: String,
    /// How hosts speak to the store.
    pub protocol: Protocol,
    /// The number of hosts, if it is given.
    pub hosts: Option<u32>,
    /// The size of the hosts, if it is given.
    pub vm: Option<String>,
    /// The levels that may be used.
    pub levels: Vec<ServiceLevel>,
    /// Whether what is in preview may be used.
    pub previews: bool,
    /// Hours for which everything runs and is paid in a month.
    pub hours_per_month: u32,
    /// What is paid for besides pools and hosts.
    pub charges: Charges,
    /// The most pools that are bought for the throughput that each of them has without payment.
    pub pools_max: u64,
}

/// A replica in another region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replication {
    /// The other region, as Azure names it.
    pub to: String,
    /// How often it is brought up to date.
    pub interval: ReplicationInterval,
    /// The share of the data, without snapshots, that changes in a day, in thousandths.
    pub daily_change_permille: u64,
    /// The level of the replica's pools; `None`: that of the pools that they replicate. A Flexible
    /// pool of replicas has the baseline throughput, which is not paid for.
    pub level: Option<ServiceLevel>,
}

/// What changes the cost besides pools and hosts; shares in thousandths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charges {
    /// The mean throughput over the month, of the largest that is wanted.
    pub mean_permille: u64,
    /// The share of the traffic that crosses from one peered network into another.
    pub crossing_permille: u64,
    /// The share of the capacity that lies in the cool tier.
    pub cool_permille: u64,
    /// The share of what lies there that is read or written in a month.
    pub cool_moved_permille: u64,
    /// What backups keep.
    pub backup_gib: u64,
    /// What snapshots take, as a share of the data. The capacities of the parts include it
    /// ([`Need::with_snapshots`]).
    pub snapshot_permille: u64,
    /// The replica in another region, if there is one.
    pub replication: Option<Replication>,
    /// For how long capacity is reserved; `None`: all is paid as you go.
    pub reserved: Option<ReservationTerm>,
}

impl Default for Charges {
    fn default() -> Charges {
        Charges {
            mean_permille: PERMILLE,
            crossing_permille: 0,
            cool_permille: 0,
            cool_moved_permille: 0,
            backup_gib: 0,
            snapshot_permille: 0,
            replication: None,
            reserved: None,
        }
    }
}

/// Why a need cannot be looked at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NeedError {
    /// There is nothing to size.
    #[error("nothing is wanted: give a throughput, a rate of operations or a capacity above 0")]
    Nothing,
    /// A number that no design could mean.
    #[error("{what} is {found}; wanted {wanted}")]
    OutOfRange {
        /// Which number.
        what: String,
        /// It.
        found: String,
        /// What is possible.
        wanted: String,
    },
    /// Two parts that nothing tells apart.
    #[error("two parts are called `{name}`; give each a name of its own")]
    SameName {
        /// What both are called.
        name: String,
    },
    /// A region without prices.
    #[error("no prices of region `{name}` are known")]
    UnknownRegion {
        /// As it was written.
        name: String,
    },
    /// A feature that the region lacks.
    #[error("{region} has no {feature}; {}", region_need::nearest_words(.nearest))]
    RegionLacks {
        /// In words.
        feature: String,
        /// As the portal shows it.
        region: String,
        /// Names of the nearest regions that have it, the nearest first.
        nearest: Vec<String>,
    },
    /// Regions between which volumes cannot be replicated.
    #[error("volumes in {from} cannot be replicated to {to}; {}", region_need::pair_words(.pairs))]
    NoReplication {
        /// Where the volumes are, as the portal shows it.
        from: String,
        /// Where the replica should be, as the user wrote it.
        to: String,
        /// Names of the regions to which they can be.
        pairs: Vec<String>,
    },
    /// A size of machine that is in no row.
    #[error("no size of host `{name}` is known")]
    UnknownVm {
        /// As it was written.
        name: String,
    },
}

impl Need {
    /// Says what is wrong with it before anything is worked out.
    ///
    /// # Errors
    /// The first thing that is.
    pub fn check(&self, facts: &Facts) -> Result<(), NeedError> {
        let wanted = |part: &Part| part.capacity_gib > 0 || part.throughput().get() > 0;
        if !self.parts.iter().any(wanted) {
            return Err(NeedError::Nothing);
        }
        let range = |what: &str, found: String, wanted: &str| {
            Err(NeedError::OutOfRange { what: what.to_owned(), found, wanted: wanted.to_owned() })
        };
        for (place, part) in self.parts.iter().enumerate() {
            if self.parts[..place].iter().any(|other| other.name == part.name) {
                return Err(NeedError::SameName { name: part.name.clone() });
            }
            let throughput = part.throughput();
            if throughput.get() > THROUGHPUT_MAX_KIB {
                let found = BytesPerSec::new(throughput.bytes_per_s() as f64).to_string();
                return range("the throughput", found, "less than 1 EiB/s");
            }
            if part.capacity_gib > CAPACITY_MAX_GIB {
                let found = Bytes::gib(part.capacity_gib.min(1 << 33)).to_string();
                return range("the capacity", found, "at most 1 EiB");
            }
            if part.demands.iter().any(|demand| demand.transfer_bytes == 0) {
                return range("the transfer size", "0".to_owned(), "a size above 0");
            }
            let reads = part.demands.iter().map(|demand| demand.read_permille).max();
            if let Some(reads) = reads.filter(|reads| *reads > PERMILLE) {
                return range("the share of reads", percent(reads), "at most 100%");
            }
        }
        if self.headroom_permille > 900 {
            let found = percent(self.headroom_permille);
            return range("the headroom", found, "from 0% to 90%, of what is bought");
        }
        if self.growth_permille > 100 * PERMILLE {
            return range("the growth", percent(self.growth_permille), "at most 10000%");
        }
        if !(1..=HOURS_MAX).contains(&self.hours_per_month) {
            let found = format!("{} hours", self.hours_per_month);
            return range("the month", found, "from 1 to 744 hours");
        }
        if self.hosts.is_some_and(|hosts| !(1..=HOSTS_MAX).contains(&hosts)) {
            let found = self.hosts.unwrap_or_default().to_string();
            return range("the number of clients", found, "from 1 to 10,000");
        }
        let pools_most = facts.catalog.limit(LimitName::PoolsPerAccountMax);
        if !(1..=pools_most).contains(&self.pools_max) {
            let wanted = format!("from 1 to {pools_most}");
            return range("the number of pools", self.pools_max.to_string(), &wanted);
        }
        if self.response_time_ns == Some(0) {
            return range("the response time", "0".to_owned(), "a duration above 0");
        }
        let charges = &self.charges;
        for (what, share) in [
            ("the mean throughput", charges.mean_permille),
            ("the share of the traffic that crosses a peering", charges.crossing_permille),
            ("the share of data in the cool tier", charges.cool_permille),
        ] {
            if share > PERMILLE {
                return range(what, percent(share), "at most 100%");
            }
        }
        if charges.backup_gib > CAPACITY_MAX_GIB {
            return range(
                "what backups keep",
                format!("{} GiB", charges.backup_gib),
                "at most 1 EiB",
            );
        }
        region_need::check(self, facts)?;
        match &self.vm {
            Some(name) if host_kind::named(name, self.protocol, facts).is_none() => {
                Err(NeedError::UnknownVm { name: name.clone() })
            }
            _ => Ok(()),
        }
    }

    /// The need with room for snapshots in every part: `share` thousandths of the data, rounded up
    /// to whole GiB.
    #[must_use]
    pub fn with_snapshots(&self, permille: u64) -> Need {
        let mut need = self.scaled(PERMILLE, PERMILLE + permille);
        need.growth_permille = self.growth_permille;
        need.charges.snapshot_permille = permille;
        need
    }

    /// All parts' throughput together, grown: what hosts have to move.
    pub fn throughput(&self) -> KibPerSec {
        self.grown().parts.iter().map(Part::throughput).sum()
    }

    /// All parts' throughput of writes together, grown: what hosts have to send.
    pub fn writes(&self) -> KibPerSec {
        self.grown().parts.iter().map(Part::writes).sum()
    }

    /// The need with its growth in it, and none left to come.
    #[must_use]
    pub fn grown(&self) -> Need {
        self.scaled(PERMILLE + self.growth_permille, PERMILLE + self.growth_permille)
    }

    /// The need with all demands and all capacities times so many thousandths.
    #[must_use]
    pub fn scaled(&self, demand_permille: u64, capacity_permille: u64) -> Need {
        let part = |part: &Part| {
            let gib = u128::from(part.capacity_gib) * u128::from(capacity_permille);
            Part {
                name: part.name.clone(),
                capacity_gib: u64::try_from(gib.div_ceil(u128::from(PERMILLE))).unwrap_or(u64::MAX),
                demands: part.demands.iter().map(|d| d.scaled(demand_permille)).collect(),
            }
        };
        Need { parts: self.parts.iter().map(part).collect(), growth_permille: 0, ..self.clone() }
    }
}

/// What must be bought so that `wanted` is used and the share `headroom_permille` is not:
/// `wanted / (1 - headroom)`, rounded up.
pub fn bought(wanted: KibPerSec, headroom_permille: u64) -> KibPerSec {
    let kib = u128::from(wanted.get()) * u128::from(PERMILLE);
    let used = u128::from(PERMILLE.saturating_sub(headroom_permille).max(1));
    KibPerSec::new(u64::try_from(kib.div_ceil(used)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_become_a_throughput_and_back() {
        let demand = Demand::of_rate(60_000, 8192, 700);
        assert_eq!(demand.throughput.to_string(), "468.75 MiB/s");
        assert_eq!(demand.ops_per_s(), 60_000.0);
        assert_eq!(demand.writes().to_string(), "140.625 MiB/s");
        assert_eq!(Demand::of_rate(1, 512, 0).throughput.get(), 1);
    }

    #[test]
    fn headroom_is_a_share_of_what_is_bought() {
        let wanted = KibPerSec::new(80);
        assert_eq!(bought(wanted, 200).get(), 100);
        assert_eq!(bought(wanted, 0), wanted);
        assert_eq!(bought(KibPerSec::new(1), 900).get(), 10);
    }
}
