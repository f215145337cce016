//! The rows of `data/service_levels.toml`, and the origin of every row of `data/`.

use std::fmt;

use crate::service_level::{KibPerSecPerGib, QosType, ServiceLevel, VolumeKind};
use crate::throughput::KibPerSec;

/// The origin of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The document.
    pub source: String,
    /// The date of the copy that was read: `2026-01-29`, or a year or month if no more is known.
    pub date: String,
    /// Whether the row is in use.
    pub status: Status,
    /// A remark.
    pub note: Option<String>,
}

/// Whether a row is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// In use.
    Current,
    /// From an older or contradicted source.
    Superseded,
}

/// A service level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelRow {
    /// The level.
    pub level: ServiceLevel,
    /// Throughput per GiB; `None` if it is bought separately.
    pub throughput: Option<KibPerSecPerGib>,
    /// Possible QoS types of its pools.
    pub qos: Vec<QosType>,
    /// Its source.
    pub origin: Origin,
}

/// The maximum throughput of a volume, for any quota.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CeilingRow {
    /// The service level of the volume's pool.
    pub level: ServiceLevel,
    /// The kind of volume.
    pub kind: VolumeKind,
    /// The ceiling.
    pub throughput: KibPerSec,
    /// Its source.
    pub origin: Origin,
}

/// A single limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitRow {
    /// Its name.
    pub name: LimitName,
    /// In the unit of the name's dimension.
    pub value: u64,
    /// Its source.
    pub origin: Origin,
}

/// The dimension of a limit. Rows may use larger units of the same dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Whole GiB.
    Gib,
    /// Whole KiB/s.
    KibPerSec,
    /// A count.
    Count,
    /// Percent.
    Percent,
    /// Whole seconds.
    Seconds,
}

impl Dimension {
    /// One `unit` of a row in the unit of this dimension; `None` for a unit of another dimension.
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
        /// The name of a limit.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum LimitName { $($(#[$doc])* $variant,)* }

        impl LimitName {
            /// All values.
            pub const ALL: &[LimitName] = &[$(LimitName::$variant,)*];

            /// The name in the data.
            pub const fn name(self) -> &'static str {
                match self { $(LimitName::$variant => $name,)* }
            }

            /// Its dimension.
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
    /// Inodes of a regular volume, for any quota.
    RegularVolumeInodesMax = "regular_volume_inodes_max" in Count;
    /// Inodes of a large volume, for any quota.
    LargeVolumeInodesMax = "large_volume_inodes_max" in Count;
    /// The smallest pool.
    PoolSizeMin = "pool_size_min" in Gib;
    /// The smallest pool with a volume on Basic network features.
    PoolSizeMinBasicNetwork = "pool_size_min_basic_network" in Gib;
    /// The smallest pool in a preview.
    PoolSizeMinPreview = "pool_size_min_preview" in Gib;
    /// Increment of pool sizes.
    PoolSizeStep = "pool_size_step" in Gib;
    /// The largest pool.
    PoolSizeMax = "pool_size_max" in Gib;
    /// The smallest regular volume.
    RegularVolumeSizeMin = "regular_volume_size_min" in Gib;
    /// The largest regular volume.
    RegularVolumeSizeMax = "regular_volume_size_max" in Gib;
    /// Increment of volume sizes.
    VolumeSizeStep = "volume_size_step" in Gib;
    /// The smallest large volume.
    LargeVolumeSizeMin = "large_volume_size_min" in Gib;
    /// The largest large volume.
    LargeVolumeSizeMax = "large_volume_size_max" in Gib;
    /// Maximum growth of a large volume over its smallest size.
    LargeVolumeGrowthMax = "large_volume_growth_max" in Percent;
    /// The smallest volume in breakthrough mode.
    BreakthroughVolumeSizeMin = "breakthrough_volume_size_min" in Gib;
    /// The largest volume in breakthrough mode.
    BreakthroughVolumeSizeMax = "breakthrough_volume_size_max" in Gib;
    /// Endpoints of a volume in breakthrough mode.
    BreakthroughEndpoints = "breakthrough_endpoints" in Count;
    /// Maximum throughput of a volume in breakthrough mode according to the vendor.
    BreakthroughThroughput = "breakthrough_throughput" in KibPerSec;
    /// Minimum throughput that can be assigned to a volume.
    ManualThroughputMin = "manual_throughput_min" in KibPerSec;
    /// Maximum throughput that can be assigned to a regular volume.
    ManualThroughputMax = "manual_throughput_max" in KibPerSec;
    /// Included throughput of a Flexible pool.
    FlexibleThroughputBaseline = "flexible_throughput_baseline" in KibPerSec;
    /// Maximum throughput of a Flexible pool per TiB of its size.
    FlexibleThroughputMaxPerTib = "flexible_throughput_max_per_tib" in KibPerSec;
    /// Increment of the throughput of Flexible pools.
    FlexibleThroughputStep = "flexible_throughput_step" in KibPerSec;
    /// Minimum time before a volume may move back to a lower service level.
    LevelCoolDown = "level_cool_down" in Seconds;
    /// Burst: tokens that accumulate, in percent of one refill.
    BurstOfRefill = "burst_of_refill" in Percent;
    /// Maximum overshoot of a real volume over its limit.
    OvershootMax = "overshoot_max" in Percent;
    /// Requests in progress on one connection.
    OutstandingPerConnectionMax = "outstanding_per_connection_max" in Count;
    /// Slots of an NFSv4.1 session.
    SlotsPerNfs41SessionMax = "slots_per_nfs41_session_max" in Count;
    /// Connections of a mount.
    NconnectMax = "nconnect_max" in Count;
    /// Throughput of one storage endpoint.
    EndpointThroughput = "endpoint_throughput" in KibPerSec;
    /// Observed throughput of one network flow.
    FlowThroughput = "flow_throughput" in KibPerSec;
}

impl LimitName {
    /// The limit with this name.
    pub fn named(name: &str) -> Option<LimitName> {
        LimitName::ALL.iter().copied().find(|limit| limit.name() == name)
    }
}

impl fmt::Display for LimitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
