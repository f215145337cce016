//! What a sizing for Azure VMware Solution states: arithmetic, shortages, assumptions and warnings,
//! without words.

use cloud::price::Usd;
use cloud::reason::RowRef;
use cloud::service_level::{KibPerSecPerGib, ServiceLevel};
use cloud::throughput::KibPerSec;
use predict::Resource;
use units::{Bytes, BytesPerSec, OpsPerSec, Share};

use crate::avs::class_load::ClassLoad;
use crate::avs::ratio::Ratio;

/// A statement with the rows of `data/` it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// The arithmetic or the shortage.
    pub statement: Statement,
    /// The rows used; none if it follows from the inventory and the options.
    pub rows: Vec<RowRef>,
}

impl Reason {
    /// A statement that follows from the inventory and the options.
    pub(crate) fn given(statement: Statement) -> Reason {
        Reason { statement, rows: Vec::new() }
    }

    /// A statement that rests on facts.
    pub(crate) fn from_rows(
        statement: Statement,
        rows: impl IntoIterator<Item = RowRef>,
    ) -> Reason {
        Reason { statement, rows: rows.into_iter().collect() }
    }
}

/// What a [`Reason`] states.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "fields are named as in the arithmetic of each variant")]
pub enum Statement {
    /// `vcpus / (ratio x cores of a host) = hosts`
    HostsByProcessors { vcpus: u64, ratio: Ratio, cores: u64, hosts: u64 },
    /// The ratio of processors to cores is unknown, so processors do not count.
    ProcessorsUnknown { vcpus: u64 },
    /// `memory / each = hosts`
    HostsByMemory { memory: Bytes, each: Bytes, hosts: u64 },
    /// `stored / each = hosts`
    HostsByStorage { stored: Bytes, each: Bytes, hosts: u64, usable: VsanUsable },
    /// The smallest cluster, and the smallest for the storage policy.
    SmallestCluster { hosts: u64, policy: String, hosts_of_policy: u64 },
    /// `busy + spare = hosts`, with spare hosts in each cluster of at most `cluster_max`.
    SpareHosts { busy: u64, spare: u64, cluster_max: u64, hosts: u64 },
    /// `hosts` is the largest of the hosts by processors and memory, by storage, and of the
    /// smallest cluster; of them `spare` are spare.
    LargestOf { candidates: [u64; 3], hosts: u64, spare: u64 },
    /// More hosts than a private cloud can have.
    HostsOfCloud { hosts: u64, excess: u64 },
    /// Fewer hosts than processors, memory and the cluster require.
    FewHosts { hosts: u64, missing: u64 },
    /// vSAN of these hosts holds the machines with the least load for their size.
    OnVsan { hosts: u64, usable: Bytes, machines: u64, stored: Bytes },
    /// vSAN of the hosts required by processors and memory holds everything.
    AllOnVsan,
    /// More datastores than the service allows without a support request.
    ManyDatastores { datastores: u64, default: u64 },
    /// Fewer datastores than the load requires.
    FewDatastores { datastores: u64, missing: u64 },
    /// The recommended number of datastores.
    RecommendedDatastores { recommended: u64 },
    /// No more datastores than machines on them.
    AsManyAsMachines { level: ServiceLevel, machines: u64 },
    /// A machine stores more than a datastore can hold.
    LargeMachine { stored: Bytes, excess: Bytes },
    /// A machine moves more than a volume can, in MiB/s.
    BusyMachine { level: ServiceLevel, mib_per_s: u64, excess: u64 },
    /// The machines do not fit on the allowed datastores.
    DatastoresRequired { level: ServiceLevel, required: u64, allowed: u64 },
    /// The fullest and the busiest datastore, each with the lower bound of any placement.
    Placement {
        level: ServiceLevel,
        datastores: u64,
        stored: (Bytes, Bytes),
        headroom: Share,
        load: Option<(BytesPerSec, BytesPerSec)>,
    },
    /// `datastores` can carry the load of these hosts.
    Carried { load: LoadRate, hosts: u64, datastores: u64, capacity: Capacity, endpoints: u64 },
    /// No number of datastores can carry the load of these hosts.
    NotCarried { load: LoadRate, hosts: u64, excess: LoadRate, capacity: Capacity },
    /// The model cannot predict the datastores.
    Unpredictable(predict::Unpredictable),
    /// A pool for quotas and a throughput; `throughput / rate = gib_for_throughput`.
    Pool {
        level: ServiceLevel,
        quotas_gib: u64,
        throughput: KibPerSec,
        rate: KibPerSecPerGib,
        gib_for_throughput: u64,
        size_gib: u64,
    },
    /// A pool larger than the service sells.
    LargePool { level: ServiceLevel, size_gib: u64, excess_gib: u64 },
    /// `size x price x hours`, and MiB/s above the baseline with their price.
    PoolPrice {
        size_gib: u64,
        price: Usd,
        above_baseline: Option<(u64, Usd)>,
        hours: u64,
        month: Usd,
    },
    /// One machine needs several datastores.
    Spread { ops: Option<SpreadOps>, throughput: Option<SpreadThroughput> },
    /// A raw device, which no datastore can hold.
    RawDevice,
    /// A disk larger than the largest file.
    LargeDisk { size: Bytes, most: Bytes },
    /// The load of a class of the profile; a built-in one with its description and arithmetic.
    ClassLoad { class: String, load: ClassLoad, built_in: Option<(String, String)> },
}

/// Usable capacity of a host's vSAN: `raw x data / parts x used`, less the format, times the
/// saving.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields are named as in the formula")]
pub struct VsanUsable {
    pub raw_gb: u64,
    pub data: u64,
    pub parts: u64,
    pub policy: String,
    pub used: Share,
    pub format: Share,
    pub saving: Share,
}

/// A load on datastores.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields are the rate and the transfer size")]
pub enum LoadRate {
    /// Random operations.
    Operations { rate: OpsPerSec, transfer: Bytes },
    /// Sequential transfers.
    Throughput(BytesPerSec),
}

/// Predicted capacity and its bottleneck.
#[derive(Clone, Debug, PartialEq)]
pub struct Capacity {
    /// The highest load.
    pub load: LoadRate,
    /// The resource that limits it.
    pub bottleneck: Resource,
}

/// `ops / each = datastores`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpreadOps {
    /// Operations per second of the machine.
    pub ops: u64,
    /// Operations per second of one datastore.
    pub each: u64,
    /// The highest published rate of one machine, if the machine exceeds it.
    pub most: Option<u64>,
}

/// `throughput / each = datastores`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpreadThroughput {
    /// Bytes per second of the machine.
    pub bytes_per_s: u64,
    /// Throughput of one datastore.
    pub each: KibPerSec,
    /// The highest published throughput of one machine, if the machine exceeds it.
    pub most: Option<KibPerSec>,
}

/// What a sizing assumes.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "fields are named as in the sentence of each variant")]
pub enum Assumption {
    /// Machines without a figure for storage count as storing nothing.
    WithoutStorage { machines: u64 },
    /// No load is known, so pools are sized for capacity only.
    NoLoad,
    /// The sources of loads, with the number of machines of each.
    LoadSources {
        all: u64,
        measured: u64,
        of_profile: u64,
        profile: String,
        each: EachLoad,
        unknown: u64,
    },
    /// The share of reads; all loads occur at the same time.
    Reads(Share),
    /// Machines without a load count as idle.
    WithoutLoad { machines: u64, all: u64 },
    /// The number of processors per core is unknown.
    ProcessorsUnknown,
    /// Host memory and vSAN capacity that machines can use.
    HostUsage { is_reduced: bool, policy: String, management_memory: Bytes },
    /// Hosts kept free in each cluster, and the unused share of their vSAN.
    SpareHosts { per_cluster: u64, vsan_free: Share },
    /// The list prices used.
    Prices { region: String, date: String, hours_per_month: u64 },
    /// No region, so no prices.
    NoPrices,
    /// The price of a host is unknown.
    NoHostPrice,
}

/// The load assumed for each machine by options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EachLoad {
    /// How many machines have it.
    pub machines: u64,
    /// Operations per second.
    pub ops: Option<u64>,
    /// Bytes per second.
    pub bytes_per_s: Option<u64>,
    /// Transfer size.
    pub transfer: Bytes,
}

/// A probable mistake in the options.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields are named as in the sentence of each variant")]
pub enum Warning {
    /// A class of the profile matches no machine.
    UnmatchedClass { class: String },
    /// A class of the profile matches only machines that are left out.
    ClassLeftOut { class: String, machines: u64 },
    /// All machines of a class have measured loads.
    ClassMeasured { class: String },
    /// The load for each machine applies to none.
    EachLoadUnused,
}
