//! A fact: what it says, where from, from when, and whether it still holds.

use std::fmt;

use crate::service_level::{KibPerSecPerGib, QosType, ServiceLevel, VolumeKind};
use crate::throughput::KibPerSec;

/// Where a row comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The document, as one would look for it.
    pub source: String,
    /// Of the copy that says so: `2026-01-29`, or a year or month where no more is known.
    pub date: String,
    /// Whether the product goes by it.
    pub status: Status,
    /// What is to be known besides.
    pub note: Option<String>,
}

/// Whether a fact still holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The product goes by it.
    Current,
    /// An older or contradicted source says so.
    Superseded,
}

/// What a service level gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelRow {
    /// Which level.
    pub level: ServiceLevel,
    /// Throughput for each GiB; none where it is bought apart.
    pub throughput: Option<KibPerSecPerGib>,
    /// QoS types that its pools may have.
    pub qos: Vec<QosType>,
    /// Where from.
    pub origin: Origin,
}

/// The most throughput of a volume, whatever its quota.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CeilingRow {
    /// Of the volume's pool.
    pub level: ServiceLevel,
    /// Of the volume.
    pub kind: VolumeKind,
    /// The ceiling.
    pub throughput: KibPerSec,
    /// Where from.
    pub origin: Origin,
}

/// A single limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitRow {
    /// What it limits.
    pub name: LimitName,
    /// In the unit that belongs to the name.
    pub value: u64,
    /// Where from.
    pub origin: Origin,
}

/// What the number of a limit counts. Rows may be written in larger units of the same dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Whole GiB.
    Gib,
    /// Whole KiB/s.
    KibPerSec,
    /// Things.
    Count,
    /// Hundredths.
    Percent,
    /// Whole seconds.
    Seconds,
}

impl Dimension {
    /// What one `unit` of a row is in this dimension; `None` for a unit of another.
    pub(crate) fn factor(self, unit: &str) -> Option<u64> {
        Some(match (self, unit) {
            (Dimension::Gib, "GiB") => 1,
            (Dimension::Gib, "TiB") | (Dimension::KibPerSec, "MiB/s") => 1024,
            (Dimension::KibPerSec, "GiB/s") => 1024 * 1024,
            (Dimension::KibPerSec, "KiB/s") => 1,
            (Dimension::Count, "count") | (Dimension::Percent, "percent") => 1,
            (Dimension::Seconds, "hours") => 3600,
            _ => return None,
        })
    }
}

macro_rules! limit_names {
    ($($(#[$doc:meta])* $variant:ident = $name:literal in $dimension:ident;)*) => {
        /// What a single limit limits.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum LimitName { $($(#[$doc])* $variant,)* }

        impl LimitName {
            /// All of them.
            pub const ALL: &[LimitName] = &[$(LimitName::$variant,)*];

            /// As the data write it.
            pub const fn name(self) -> &'static str {
                match self { $(LimitName::$variant => $name,)* }
            }

            /// What its number counts.
            pub const fn dimension(self) -> Dimension {
                match self { $(LimitName::$variant => Dimension::$dimension,)* }
            }
        }
    };
}

limit_names! {
    /// Capacity of all pools of a subscription in a region.
    RegionCapacityMax = "region_capacity_max" in Gib;
    /// Accounts in a region.
    AccountsPerRegionMax = "accounts_per_region_max" in Count;
    /// Pools in an account.
    PoolsPerAccountMax = "pools_per_account_max" in Count;
    /// Volumes in a pool.
    VolumesPerPoolMax = "volumes_per_pool_max" in Count;
    /// Snapshots of a volume.
    SnapshotsPerVolumeMax = "snapshots_per_volume_max" in Count;
    /// Rules of a volume's export policy.
    ExportRulesPerVolumeMax = "export_rules_per_volume_max" in Count;
    /// User and group quotas of a volume.
    QuotaRulesPerVolumeMax = "quota_rules_per_volume_max" in Count;
    /// The largest file.
    FileSizeMax = "file_size_max" in Gib;
    /// Inodes of a regular volume, whatever its quota.
    RegularVolumeInodesMax = "regular_volume_inodes_max" in Count;
    /// Inodes of a large volume, whatever its quota.
    LargeVolumeInodesMax = "large_volume_inodes_max" in Count;
    /// The smallest pool.
    PoolSizeMin = "pool_size_min" in Gib;
    /// The smallest pool with a volume on Basic network features.
    PoolSizeMinBasicNetwork = "pool_size_min_basic_network" in Gib;
    /// The smallest pool under a preview.
    PoolSizeMinPreview = "pool_size_min_preview" in Gib;
    /// Pools have a multiple of it.
    PoolSizeStep = "pool_size_step" in Gib;
    /// The largest pool.
    PoolSizeMax = "pool_size_max" in Gib;
    /// The smallest regular volume.
    RegularVolumeSizeMin = "regular_volume_size_min" in Gib;
    /// The largest regular volume.
    RegularVolumeSizeMax = "regular_volume_size_max" in Gib;
    /// Volumes have a multiple of it.
    VolumeSizeStep = "volume_size_step" in Gib;
    /// The smallest large volume.
    LargeVolumeSizeMin = "large_volume_size_min" in Gib;
    /// The largest large volume.
    LargeVolumeSizeMax = "large_volume_size_max" in Gib;
    /// By how much a large volume may grow over its lowest size.
    LargeVolumeGrowthMax = "large_volume_growth_max" in Percent;
    /// The smallest volume in breakthrough mode.
    BreakthroughVolumeSizeMin = "breakthrough_volume_size_min" in Gib;
    /// The largest volume in breakthrough mode.
    BreakthroughVolumeSizeMax = "breakthrough_volume_size_max" in Gib;
    /// Endpoints of a volume in breakthrough mode.
    BreakthroughEndpoints = "breakthrough_endpoints" in Count;
    /// What the vendor says that a volume in breakthrough mode reaches at most.
    BreakthroughThroughput = "breakthrough_throughput" in KibPerSec;
    /// The least that can be assigned to a volume.
    ManualThroughputMin = "manual_throughput_min" in KibPerSec;
    /// The most that can be assigned to a regular volume.
    ManualThroughputMax = "manual_throughput_max" in KibPerSec;
    /// What a Flexible pool has at least.
    FlexibleThroughputBaseline = "flexible_throughput_baseline" in KibPerSec;
    /// The most of a Flexible pool for each TiB of its size.
    FlexibleThroughputMaxPerTib = "flexible_throughput_max_per_tib" in KibPerSec;
    /// Flexible pools have a multiple of it.
    FlexibleThroughputStep = "flexible_throughput_step" in KibPerSec;
    /// From a move up to the next move down.
    LevelCoolDown = "level_cool_down" in Seconds;
    /// Tokens that accumulate, as a share of one refill.
    BurstOfRefill = "burst_of_refill" in Percent;
    /// By how much a real volume may exceed its limit.
    OvershootMax = "overshoot_max" in Percent;
    /// Requests in progress on one connection.
    OutstandingPerConnectionMax = "outstanding_per_connection_max" in Count;
    /// Slots of an NFSv4.1 session.
    SlotsPerNfs41SessionMax = "slots_per_nfs41_session_max" in Count;
    /// Connections of a mount.
    NconnectMax = "nconnect_max" in Count;
    /// What one storage address gives.
    EndpointThroughput = "endpoint_throughput" in KibPerSec;
    /// What one network flow was seen to give.
    FlowThroughput = "flow_throughput" in KibPerSec;
}

impl LimitName {
    /// The limit of this name.
    pub fn named(name: &str) -> Option<LimitName> {
        LimitName::ALL.iter().copied().find(|limit| limit.name() == name)
    }
}

impl fmt::Display for LimitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
