//! Explanations, notes and cautions of a design as values; `report` words them. Each variant's
//! documentation is the arithmetic.

use cloud::price::{ReplicationInterval, ReservationTerm, Usd};
use cloud::reason::RowRef;
use cloud::service_level::{KibPerSecPerGib, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use units::{Bytes, BytesPerSec, Nanos, OpsPerSec, Share};

/// What a [`crate::claim::Claim`] states.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// Demands and capacities grow by this share.
    Growth {
        /// By how much.
        growth: Share,
        /// Throughput today and after growth.
        throughput: (KibPerSec, KibPerSec),
        /// Capacity today and after growth.
        capacity_gib: (u64, u64),
    },
    /// How pools and volumes are sized.
    Storage(StorageStatement),
    /// How hosts are counted.
    Hosts(HostStatement),
    /// What a part of the cost consists of.
    Cost(CostStatement),
    /// Why a client setting has its value.
    Setting(SettingStatement),
    /// Something to know about a design.
    Note(Note),
    /// Something to know before any design.
    Caution(Caution),
    /// What a parameter of the model was fitted to.
    Calibration(predict::Statement),
}

/// How pools and volumes are sized.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "fields are named as in the arithmetic of each variant")]
pub enum StorageStatement {
    /// One of several parts requires `throughput` and `capacity`.
    Part { name: String, throughput: KibPerSec, capacity_gib: u64 },
    /// `required / (1 - spare) = bought`
    Spare { required: KibPerSec, spare: Share, bought: KibPerSec },
    /// One volume can do `throughput` with transfers of this size and share of reads, by the
    /// figures `by`; without any by the model.
    Capability {
        kind: VolumeKind,
        throughput: BytesPerSec,
        transfer: Bytes,
        read: Share,
        by: Vec<RowRef>,
    },
    /// One volume carries `each` operations on names, by a published figure; `required` in total.
    Names { kind: VolumeKind, required: OpsPerSec, each: OpsPerSec, by: RowRef },
    /// `throughput / rate = quota`
    QuotaForThroughput {
        throughput: KibPerSec,
        rate: KibPerSecPerGib,
        quota_gib: u64,
        level: ServiceLevel,
    },
    /// `count` volumes with quotas in this range and at most this throughput each.
    Volumes { count: u64, kind: VolumeKind, quota_gib: (u64, u64), most: VolumeMost },
    /// Quotas of a part together, and the capacity that it requires.
    Quota { quota_gib: u64, capacity_gib: u64 },
    /// A pool of `size_gib` for `quotas_gib`.
    Pool { size_gib: u64, quotas_gib: u64, throughput: PoolNeed },
}

/// The highest throughput of one volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeMost {
    /// Its ceiling.
    Ceiling(KibPerSec),
    /// The service states none; the vendor mentions throughputs up to this.
    Mentioned(KibPerSec),
}

/// What besides quotas a pool is sized for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields are named as in the arithmetic of each variant")]
pub enum PoolNeed {
    /// Nothing: throughput follows from quotas.
    Nothing,
    /// `bought` of at most `most` for its size.
    Bought { bought: KibPerSec, most: KibPerSec },
    /// `assigned` to volumes; `size x rate = throughput`.
    Assigned { assigned: KibPerSec, rate: KibPerSecPerGib, throughput: KibPerSec },
}

/// How hosts are counted.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "fields are named as in the arithmetic of each variant")]
pub enum HostStatement {
    /// Writes are `writes` of `throughput`; `hosts x mbit_s = limit`.
    Egress {
        writes: KibPerSec,
        throughput: KibPerSec,
        hosts: u64,
        vm: String,
        mbit_s: u64,
        limit: KibPerSec,
    },
    /// `hosts` with `vcpu` processors each can do `limit`; `vcpu` is `None` for hosts of Azure
    /// VMware Solution, which are taken as they are.
    Capability {
        hosts: u64,
        vcpu: Option<u64>,
        limit: KibPerSec,
        /// The nearest published number of processors, where `vcpu` is outside their range.
        extrapolated_from: Option<u64>,
    },
    /// `hosts x connections x paths` connections can do `limit`.
    Connections { hosts: u64, connections: u64, paths: Paths, limit: KibPerSec },
    /// `rate x response_time = outstanding`; the rate is the share `reached` of the required one.
    LittlesLaw {
        rate: OpsPerSec,
        reached: Share,
        response_time: Nanos,
        outstanding: u64,
        of_each_host: u64,
    },
    /// The same for the demand of each part that needs most.
    LittlesLawOfParts { outstanding: u64, of_each_host: u64 },
    /// `hosts x paths x each = slots`
    Slots { hosts: u64, paths: Paths, each: u64, slots: u64, used: u64 },
}

/// What a host has connections to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paths {
    /// How many.
    pub count: u64,
    /// Of which kind.
    pub kind: PathKind,
}

/// Kinds of [`Paths`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// Addresses of the volumes.
    Endpoint,
    /// Datastores of Azure VMware Solution.
    Datastore,
}

/// `quantity x price x hours = amount`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hourly {
    /// GiB, MiB/s or hosts.
    pub quantity: u64,
    /// Of one of them for an hour.
    pub price: Usd,
    /// Hours in the month.
    pub hours: u64,
    /// The product.
    pub amount: Usd,
}

impl Hourly {
    /// Computes the amount.
    pub fn new(quantity: u64, price: Usd, hours: u64) -> Hourly {
        Hourly { quantity, price, hours, amount: price.times(quantity).times(hours) }
    }
}

/// What a part of the monthly cost consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields are named as in the arithmetic of each variant")]
pub enum CostStatement {
    /// GiB of pools, pay as you go.
    Capacity(Hourly),
    /// GiB of pools that snapshots use, pay as you go.
    Snapshots(Hourly),
    /// Units of reserved capacity: the sum of `count x size x price x (1 - discount) x hours`.
    Reserved {
        term: ReservationTerm,
        level: ServiceLevel,
        units: Vec<ReservedUnits>,
        price: Usd,
        hours: u64,
        amount: Usd,
    },
    /// MiB/s above the baseline of Flexible pools.
    Throughput(Hourly),
    /// Hosts.
    Hosts { vm: String, cost: Hourly },
    /// GiB in the cool tier, which are the share `cool` of the capacity; moving them there costs
    /// `transfer` once.
    CoolCapacity { cool: Share, cost: Hourly, transfer: Usd },
    /// `capacity_gib x moved x price = amount`
    CoolTraffic { moved: Share, capacity_gib: u64, price: Usd, amount: Usd },
    /// `kept_gib x price = amount`
    Backups { kept_gib: u64, price: Usd, amount: Usd },
    /// `changed_gib x price = amount`, where the share `daily_change` of `data_gib` changes in a
    /// day.
    Replication {
        to: String,
        interval: ReplicationInterval,
        daily_change: Share,
        data_gib: u64,
        changed_gib: u64,
        hours: u64,
        price: Usd,
        amount: Usd,
        first_copy: Usd,
    },
    /// GiB of pools of the replicas.
    Replicas { to: String, level: ServiceLevel, cost: Hourly },
    /// `throughput x mean x crossing x hours = gb`; `gb x price = amount` for both directions.
    Peering {
        throughput: KibPerSec,
        mean: Share,
        crossing: Share,
        hours: u64,
        gb: u64,
        price: Usd,
        amount: Usd,
    },
}

/// Reserved units of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservedUnits {
    /// How many.
    pub count: u64,
    /// The size of each.
    pub size_gib: u64,
    /// Discount from the price by the hour.
    pub discount: Share,
}

/// A part of the cost that is not in the sum because its price is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say where the price is missing")]
pub enum MissingPrice {
    /// Hosts of this size in this region.
    Hosts { vm: String, region: String },
    /// Replication between these regions.
    Replication { from: String, to: String },
    /// Replicas of any level in this region.
    Replicas { region: String },
    /// Replicas of one level in this region.
    ReplicasOfLevel { level: ServiceLevel, region: String },
}

/// What a reader of the cost must know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields are named as in the sentence of each variant")]
pub enum CostNote {
    /// The source of the price of `vm` cannot be verified.
    UnverifiedPrice { vm: String },
    /// So much of the snapshots is in the reserved capacity.
    SnapshotsReserved { size_gib: u64 },
    /// The service sells no reservations of this level.
    NotReservable { level: ServiceLevel },
    /// Pay as you go costs less for `required_gib` than one unit reserved for `term`.
    NothingReserved { level: ServiceLevel, required_gib: u64, unit_gib: u64, term: ReservationTerm },
}

/// Why a client setting has its value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "fields are named as in the sentence of each variant")]
pub enum SettingStatement {
    /// SMB Multichannel.
    Multichannel { connections: u64 },
    /// Each host opens one connection to each datastore; mount options cannot be set.
    DatastoreConnections,
    /// NFS mount options.
    Mount { transfer: Bytes, connections: u64 },
    /// Requests that the service processes at a time per connection.
    Slots { slots: u64 },
    /// Slots of an NFSv4.1 session, which all connections of a mount share.
    SessionSlots { slots: u64 },
    /// `throughput x response_time = window`, per connection.
    TcpWindow { throughput: KibPerSec, response_time: Nanos, window: Bytes },
    /// Read-ahead for sequential reads through the page cache.
    ReadAhead { size: Bytes },
}

/// An older figure, or one with another method, that disagrees with the figure that decides.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    /// The figure that decides.
    pub decides: RowRef,
    /// Its throughput.
    pub decides_throughput: BytesPerSec,
    /// The figure that disagrees.
    pub other: RowRef,
    /// Its throughput for the same load.
    pub other_throughput: BytesPerSec,
}

impl Contradiction {
    /// Ratio of the other figure to the one that decides.
    pub fn factor(&self) -> f64 {
        self.other_throughput.get() / self.decides_throughput.get()
    }
}

/// Something to know about a design.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "fields are named as in the sentence of each variant")]
pub enum Note {
    /// A published figure disagrees with the one that decides. By the other the volumes are too
    /// few (`is_short`), or more than needed.
    Contradicted { contradiction: Contradiction, is_short: bool },
    /// The pools exceed the capacity that a subscription may have in a region by default.
    RequestQuota { required_gib: u64, default_gib: u64 },
    /// The load requires several endpoints, and the service assigns them.
    Endpoints { count: u64 },
    /// Every pool has a baseline throughput free of charge, which is why there are several.
    FreeBaseline { level: ServiceLevel, baseline: KibPerSec, pools_max: u64 },
    /// Breakthrough mode is in preview, and no figure is published for it.
    Breakthrough,
    /// Fewer datastores than the vendor recommends.
    FewDatastores { recommended: u64 },
    /// More datastores than the vendor allows without a support request.
    ManyDatastores { default: u64 },
    /// The model describes the hot tier only.
    CoolTier,
}

/// Something to know before any design.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "fields are named as in the sentence of each variant")]
pub enum Caution {
    /// `required` is above the highest published throughput, that of the figure `id`.
    BeyondPublished {
        required: BytesPerSec,
        published: BytesPerSec,
        id: String,
        /// Hosts of the cheapest design and of the largest published test, if those are fewer.
        hosts: Option<(u64, u64)>,
    },
    /// The cheapest design's pools exceed the default capacity of a region.
    BeyondRegion { pools_gib: u64, default_gib: u64 },
}

macro_rules! into_statement {
    ($($variant:ident($of:ty)),* $(,)?) => {
        $(impl From<$of> for Statement {
            fn from(of: $of) -> Statement {
                Statement::$variant(of)
            }
        })*
    };
}

into_statement!(
    Storage(StorageStatement),
    Hosts(HostStatement),
    Cost(CostStatement),
    Setting(SettingStatement),
    Note(Note),
    Caution(Caution),
    Calibration(predict::Statement),
);
