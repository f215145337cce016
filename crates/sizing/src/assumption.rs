//! What a sizing assumes where a requirement leaves something open, as values; `report` words them.

use cloud::service_level::ServiceLevel;
use cloud::throughput::KibPerSec;
use units::{Bytes, Share};

/// An assumption. Regions have their display name, except where noted.
#[derive(Clone, Debug, PartialEq)]
pub enum Assumption {
    /// Prices are those of the default region, by its name, because none is named.
    DefaultRegion(String),
    /// The vendor's list of features lacks this region: only regular volumes of the levels with a
    /// price are considered.
    FeaturesNotKnown(String),
    /// This region has no large volumes.
    NoLargeVolumes(String),
    /// List prices; hosts run all hours.
    ListPrices {
        /// Without reserved capacity.
        is_pay_as_you_go: bool,
        /// Hours of a month.
        hours_per_month: u32,
    },
    /// There are no writes, so the egress limit of hosts does not apply.
    ReadsOnly,
    /// Volumes get load in proportion to their limits; hosts and connections get equal loads.
    ProportionalLoad,
    /// Figures and the model are the source of capabilities.
    PublishedCapabilities,
    /// A part's load is shared by at most this many Flexible pools.
    FlexiblePools(u64),
    /// A host's throughput grows with its processors.
    HostsByProcessors,
    /// Volumes deliver the same over SMB as over NFS.
    SmbAsNfs,
    /// Every host of Azure VMware Solution delivers the published figures of AV36.
    HostsAsAv36,
    /// All parts have one level, because levels are mixed for at most this many parts.
    OneLevel(usize),
    /// The region lacks these levels.
    LevelsLacking {
        /// The levels.
        levels: Vec<ServiceLevel>,
        /// The region.
        region: String,
    },
    /// The required throughput flows at all hours.
    TrafficAtAllHours,
    /// Data in the cool tier stays there, and limits are those of the hot tier.
    CoolTier,
    /// This share of the data changes in a day: the vendor's rule for a week of snapshots.
    DailyChange {
        /// The share of a day.
        day: Share,
        /// The rule, in percent of a week.
        week_percent: u64,
    },
    /// The replica's pools are those of the source.
    ReplicaAsSource,
    /// The throughput consists of transfers of this size.
    ThroughputTransfers(Bytes),
    /// Operations transfer this size.
    OperationTransfers(Bytes),
    /// The demand is that of a measured variant.
    Measured {
        /// The record.
        id: String,
        /// The variant.
        variant: String,
        /// Its largest throughput.
        throughput: KibPerSec,
        /// Its transfer size.
        transfer: Bytes,
        /// The share of reads in its bytes.
        read: Share,
    },
    /// The demand is that of this profile or experiment file.
    OfProfile {
        /// Its name.
        profile: String,
    },
    /// Operations on names are limited by the largest published rate of a volume, measured together
    /// with the reads and writes of an EDA mix.
    NamesAsPublished,
    /// The volumes store the files of the record, with this size.
    FilesOfRecord(Bytes),
    /// The data fits into every phase.
    DataFitsPhases,
    /// The volume is the only one in its pool, with auto QoS.
    OnlyVolume,
    /// All times are in one time zone, and a change takes effect immediately.
    ImmediateChanges,
}
