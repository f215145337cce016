//! Requirements as a user gives them, and the need that follows from them with what is assumed.

use anyhow::anyhow;
use cloud::avs::AvsLimit;
use cloud::figure::Access;
use cloud::price::{ReplicationInterval, ReservationTerm};
use cloud::region::{Feature, Region};
use cloud::service_level::ServiceLevel;
use cloud::throughput::KibPerSec;
use cloud::vm_size;
use sizing::assumption::Assumption;
use sizing::facts::Facts;
use sizing::host_kind;
use sizing::layout::PARTS_MAX;
use sizing::need::{Charges, Demand, Need, NeedError, Part, Protocol, Replication};
use sizing::region_need::demand;
use store::Store;
use units::{Bytes, Nanos, Percent, Share};

use super::business_metric;
use super::from_run;
use crate::outcome::Failure;
use crate::units_load::Units;

/// The region of prices, unless one is named.
const REGION: &str = "eastus";
const DAYS_PER_WEEK: u64 = 7;
/// The transfer size of a required throughput, as in `tune`.
const TRANSFER_OF_THROUGHPUT: u64 = 64 << 10;
/// The transfer size of a required rate: the page size of databases.
const TRANSFER_OF_RATE: u64 = 8 << 10;

/// Requirements, constraints and pricing. Sizes are in GiB and shares in thousandths unless a type
/// says otherwise; `None` and empty lists are what the user left out.
#[derive(Clone, Debug)]
pub struct Options {
    /// The required throughput.
    pub throughput: Option<KibPerSec>,
    /// The required capacity, snapshots included.
    pub capacity: Option<u64>,
    /// The required operations per second.
    pub iops: Option<u64>,
    /// Bytes of an operation.
    pub transfer_size: Option<u64>,
    /// The share of reads.
    pub read: Percent,
    /// The required mean response time, in nanoseconds.
    pub response_time: Option<u64>,
    /// Parts with separate volumes.
    pub part: Vec<Part>,
    /// The record that throughput, mix and transfer sizes are from.
    pub from_run: Option<String>,
    /// The profile or experiment file that the demand of the units is from.
    pub profile: Option<String>,
    /// The number of units of its business metric.
    pub metric: Option<Units>,
    /// The minimum time between a raise of the service level and a return, in seconds.
    pub cool_down: Option<u64>,
    /// The growth of all requirements.
    pub growth: Share,
    /// The share of every throughput that stays unused.
    pub headroom: Percent,
    /// The region.
    pub region: Option<String>,
    /// Features that the region must have.
    pub require: Vec<Feature>,
    /// How hosts access the volumes.
    pub protocol: Protocol,
    /// The number of hosts.
    pub clients: Option<u32>,
    /// The size of the hosts.
    pub vm: Option<String>,
    /// Allowed service levels.
    pub level: Vec<ServiceLevel>,
    /// Allow features in preview.
    pub previews: bool,
    /// The most Flexible pools.
    pub pools: u64,
    /// Hours of a month.
    pub hours: u32,
    /// The share of the traffic that crosses a peering.
    pub peered: Percent,
    /// The mean throughput as a share of the required one.
    pub mean: Percent,
    /// The share of the capacity in the cool tier.
    pub cool: Percent,
    /// The share of the cool tier that is read or written in a month.
    pub cool_moved: Share,
    /// Retained backups.
    pub backup: Option<u64>,
    /// Space for snapshots, as a share of the data.
    pub snapshots: Share,
    /// The region of the replica.
    pub replicate_to: Option<String>,
    /// How often the replica is updated.
    pub replicate_every: ReplicationInterval,
    /// The share of the data that changes in a day.
    pub daily_change: Option<Share>,
    /// The service level of the replica.
    pub replica_level: Option<ServiceLevel>,
    /// The term of reserved capacity.
    pub reserved: Option<ReservationTerm>,
}

/// The region, or the default for prices.
pub(super) fn region<'a>(
    options: &Options,
    facts: &'a Facts,
    assumptions: &mut Vec<Assumption>,
) -> Result<&'a Region, NeedError> {
    if options.region.is_none() {
        assumptions.push(Assumption::DefaultRegion(REGION.to_owned()));
    }
    let name = options.region.as_deref().unwrap_or(REGION);
    let unknown = || NeedError::UnknownRegion { name: name.to_owned() };
    let region = facts.regions.find(name).ok_or_else(unknown)?;
    for feature in &options.require {
        demand(*feature, region, &facts.regions)?;
    }
    if region.features.is_none() {
        assumptions.push(Assumption::FeaturesNotKnown(region.display_name.clone()));
    } else if !region.has(Feature::LargeVolumes) {
        assumptions.push(Assumption::NoLargeVolumes(region.display_name.clone()));
    }
    Ok(region)
}

/// The need, with assumptions for options that the user left out.
pub(super) fn need(
    options: &Options,
    store: &Store,
    facts: &Facts,
    assumptions: &mut Vec<Assumption>,
) -> Result<Need, Failure> {
    let refused = |error| refused(error, options.protocol, facts);
    let region = region(options, facts, assumptions).map_err(refused)?;
    assumptions.push(Assumption::ListPrices {
        is_pay_as_you_go: options.reserved.is_none(),
        hours_per_month: options.hours,
    });
    let business = match (&options.profile, &options.metric) {
        (Some(profile), Some(units)) => {
            let capacity = options.capacity;
            Some(business_metric::need(profile, units, capacity, facts, assumptions)?)
        }
        _ => None,
    };
    let of_metric = business.as_ref().and_then(|one| one.response_time_ns);
    let parts = match (&business, &options.from_run, options.part.is_empty()) {
        (Some(business), ..) => vec![business.part.clone()],
        (None, Some(id), _) => {
            let capacity = options.capacity;
            vec![from_run::part(id, store, capacity, assumptions)?]
        }
        (None, None, true) => vec![only_part(options, assumptions)],
        (None, None, false) => {
            let mut parts = options.part.clone();
            let demands = parts.iter_mut().flat_map(|part| &mut part.demands);
            demands.for_each(|demand| {
                demand.read = options.read.into();
            });
            parts
        }
    };
    if options.read == Percent::ALL && options.from_run.is_none() && business.is_none() {
        assumptions.push(Assumption::ReadsOnly);
    }
    assumptions.extend([Assumption::ProportionalLoad, Assumption::PublishedCapabilities]);
    let levels = levels_allowed(options, region, facts, assumptions);
    if levels.contains(&ServiceLevel::Flexible) {
        assumptions.push(Assumption::FlexiblePools(options.pools));
    }
    match options.protocol {
        Protocol::Nfs3 | Protocol::Nfs41 => assumptions.push(Assumption::HostsByProcessors),
        Protocol::Smb => {
            assumptions.extend([Assumption::HostsByProcessors, Assumption::SmbAsNfs]);
        }
        Protocol::Datastores => assumptions.push(Assumption::HostsAsAv36),
    }
    if parts.len() > PARTS_MAX && levels.len() > 1 {
        assumptions.push(Assumption::OneLevel(PARTS_MAX));
    }
    let need = Need {
        parts,
        growth: options.growth,
        headroom: options.headroom.into(),
        response_time: options.response_time.or(of_metric).map(|ns| Nanos(ns as f64)),
        region: region.name.clone(),
        protocol: options.protocol,
        hosts: options.clients,
        vm: options.vm.clone(),
        levels,
        previews: options.previews,
        hours_per_month: options.hours,
        charges: charges(options, facts, assumptions),
        pools_max: options.pools,
        business: business.map(|one| one.demand),
    };
    Ok(need.with_snapshots(options.snapshots))
}

/// The allowed levels: those that are named, or all levels of the region.
fn levels_allowed(
    options: &Options,
    region: &Region,
    facts: &Facts,
    assumptions: &mut Vec<Assumption>,
) -> Vec<ServiceLevel> {
    if !options.level.is_empty() {
        return options.level.clone();
    }
    let levels = facts.levels_of(&region.name);
    let lacking = ServiceLevel::ALL.into_iter().filter(|level| !levels.contains(level));
    let lacking: Vec<ServiceLevel> = lacking.collect();
    if !lacking.is_empty() {
        let region = region.display_name.clone();
        assumptions.push(Assumption::LevelsLacking { levels: lacking, region });
    }
    levels
}

/// Usage-based charges.
fn charges(options: &Options, facts: &Facts, assumptions: &mut Vec<Assumption>) -> Charges {
    let charges = Charges {
        mean: options.mean.into(),
        crossing: options.peered.into(),
        cool: options.cool.into(),
        cool_moved: options.cool_moved,
        backup_gib: options.backup.unwrap_or(0),
        snapshots: Share::ZERO,
        replication: replication(options, facts, assumptions),
        reserved: options.reserved,
        hosts: options.clients.is_some() || options.vm.is_some(),
    };
    if charges.crossing > Share::ZERO && options.mean == Percent::ALL {
        assumptions.push(Assumption::TrafficAtAllHours);
    }
    if charges.cool > Share::ZERO {
        assumptions.push(Assumption::CoolTier);
    }
    charges
}

/// The replica, and what is assumed about it.
fn replication(
    options: &Options,
    facts: &Facts,
    assumptions: &mut Vec<Assumption>,
) -> Option<Replication> {
    let to = options.replicate_to.as_ref()?;
    let daily_change = options.daily_change.unwrap_or_else(|| {
        let week = facts.avs.limit(AvsLimit::DatastoreHeadroom);
        let day = Share::from_permille((week * 10).div_ceil(DAYS_PER_WEEK));
        assumptions.push(Assumption::DailyChange { day, week_percent: week });
        day
    });
    if options.replica_level.is_none() {
        assumptions.push(Assumption::ReplicaAsSource);
    }
    Some(Replication {
        // An unknown region is refused with the other problems.
        to: facts.regions.find(to).map_or(to, |region| &region.name).clone(),
        interval: options.replicate_every,
        daily_change,
        level: options.replica_level,
    })
}

/// The requirement without `--part`.
fn only_part(options: &Options, assumptions: &mut Vec<Assumption>) -> Part {
    let read = Share::from(options.read);
    let mut demands = Vec::new();
    if let Some(throughput) = options.throughput {
        let own = options.transfer_size.filter(|_| options.iops.is_none());
        let transfer_bytes = own.unwrap_or(TRANSFER_OF_THROUGHPUT);
        if own.is_none() {
            assumptions.push(Assumption::ThroughputTransfers(Bytes::new(transfer_bytes)));
        }
        let access = Access::Sequential;
        demands.push(Demand { throughput, transfer_bytes, read, access, names_per_s: 0 });
    }
    if let Some(rate) = options.iops {
        let transfer_bytes = options.transfer_size.unwrap_or(TRANSFER_OF_RATE);
        if options.transfer_size.is_none() {
            assumptions.push(Assumption::OperationTransfers(Bytes::new(transfer_bytes)));
        }
        demands.push(Demand::of_rate(rate, transfer_bytes, read));
    }
    let capacity_gib = options.capacity.unwrap_or(0);
    Part { name: "data".to_owned(), capacity_gib, demands, inodes: 0 }
}

/// The failure of a need, with the nearest alternative.
pub(super) fn refused(error: NeedError, protocol: Protocol, facts: &Facts) -> Failure {
    let alternative = match &error {
        NeedError::UnknownRegion { name } => Some(match facts.regions.similar(name) {
            Some(region) => format!("did you mean `{}`?", region.name),
            None => format!("there are {}", facts.prices.regions().join(", ")),
        }),
        NeedError::UnknownVm { name } => {
            let kinds = host_kind::all(protocol, facts);
            let names: Vec<&str> = kinds.iter().map(|kind| kind.name.as_str()).collect();
            let is_vm = protocol != Protocol::Datastores;
            let near = match is_vm {
                true => vm_size::find(name).map_or_else(|near| near, |size| Some(size.name)),
                false => units::nearest(name, names.iter().copied()).map(str::to_owned),
            };
            // There are too many names to list them after the nearest.
            Some(match near {
                _ if is_vm && facts.avs.host(name).is_some() => {
                    "hosts of Azure VMware Solution require --protocol datastores".to_owned()
                }
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", names.join(", ")),
            })
        }
        _ => None,
    };
    Failure::input(match alternative {
        Some(words) => anyhow!("size: {error}; {words}"),
        None => anyhow!("size: {error}"),
    })
}
