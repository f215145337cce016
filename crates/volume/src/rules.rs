//! What the service allows: every rule that an account can break, by how it is described.
//!
//! For: finding all breaches at once, each with what is wrong, the limit, and what to do. Not for:
//! rules about a change (`live.rs` finds those; the words are here). No number stands here: all
//! come from the catalogue or from the account.

use std::collections::BTreeSet;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use cloud::catalog::Catalog;
use cloud::pool_throughput::PoolThroughput;
use cloud::row::LimitName;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use cloud::volume_limit::SettingsError;
use units::{Bytes, print_duration};

use crate::model::{Account, NetworkFeatures, Pool, whole_gib};

/// Where a rule is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The account as a whole.
    Account,
    /// A pool, by its place in [`Account::pools`].
    Pool(usize),
    /// A volume, by its place in [`Account::volumes`].
    Volume(usize),
    /// An endpoint, by its place in the description.
    Endpoint(usize),
    /// What was named is not there.
    Unknown,
}

/// A broken rule and where it is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Of what.
    pub subject: Subject,
    /// What it is called.
    pub name: String,
    /// The key that would have to change, as the configuration writes it.
    pub key: &'static str,
    /// Which rule.
    pub rule: Rule,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.subject {
            Subject::Account => "account",
            Subject::Pool(_) => "pool",
            Subject::Volume(_) => "volume",
            Subject::Endpoint(_) => "endpoint",
            Subject::Unknown => "",
        };
        let place = format!("{kind} `{}`", self.name);
        write!(f, "{}: {} ({})", place.trim_start(), self.rule, self.rule.remedy())
    }
}

impl std::error::Error for Breach {}

/// What is wrong and what the limit is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what its fields are")]
pub enum Rule {
    #[error("all pools have {sum}, the region's capacity quota is {limit}")]
    CapacityQuota { sum: Bytes, limit: Bytes },
    #[error("{count} pools, an account has at most {limit}")]
    TooManyPools { count: u64, limit: u64 },
    #[error("this name stands twice")]
    NameTwice,

    #[error("a size of {size}, a pool has at least {limit}")]
    PoolTooSmall { size: Bytes, limit: Bytes },
    #[error("a size of {size}, a pool with Basic network features has at least {limit}")]
    PoolTooSmallForBasic { size: Bytes, limit: Bytes },
    #[error("a size of {size}, a pool has at most {limit}")]
    PoolTooLarge { size: Bytes, limit: Bytes },
    #[error("a size of {size}, a pool has a multiple of {step}")]
    PoolStep { size: Bytes, step: Bytes },
    #[error("{count} volumes, a pool has at most {limit}")]
    TooManyVolumes { count: u64, limit: u64 },
    #[error("no throughput, a pool of the level flexible has at least {limit}")]
    FlexibleThroughputMissing { limit: KibPerSec },
    #[error("a throughput of {throughput}, a pool of the level flexible has at least {limit}")]
    FlexibleThroughputTooLow { throughput: KibPerSec, limit: KibPerSec },
    #[error("a throughput of {throughput}, a flexible pool of {size} has at most {limit}")]
    FlexibleThroughputTooHigh { throughput: KibPerSec, size: Bytes, limit: KibPerSec },
    #[error("a throughput of {throughput}, a pool of the level flexible has a multiple of {step}")]
    FlexibleThroughputStep { throughput: KibPerSec, step: KibPerSec },
    #[error("a throughput for a pool of the level {level}, which has it by its size")]
    PoolThroughputBySize { level: ServiceLevel },
    #[error("the quotas of its volumes are {sum}, the pool has {limit}")]
    QuotasExceedPool { sum: Bytes, limit: Bytes },
    #[error("its volumes are assigned {sum}, the pool has {limit}")]
    ThroughputsExceedPool { sum: KibPerSec, limit: KibPerSec },

    #[error("no pool is called `{pool}`")]
    NoSuchPool { pool: String },
    #[error("no volume is called so")]
    NoSuchVolume,
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("{count} endpoints, a {} volume has {wanted}", .kind.name())]
    EndpointCount { kind: VolumeKind, count: u64, wanted: u64 },
    #[error("endpoint `{endpoint}` serves `{other}` too, a {} volume has its own", .kind.name())]
    EndpointShared { kind: VolumeKind, endpoint: String, other: String },

    #[error("a quota of {quota}, the volume holds {used}")]
    QuotaBelowUsed { quota: Bytes, used: Bytes },
    #[error("a quota of {quota}, {percent} % over the lowest so far ({lowest}) is {limit}")]
    GrowthTooLarge { quota: Bytes, lowest: Bytes, percent: u64, limit: Bytes },
    #[error("a {} volume cannot become a {} one", .from.name(), .to.name())]
    KindFixed { from: VolumeKind, to: VolumeKind },
    #[error("moved up lately, a move down from {from} to {to} must wait for {}",
        print_duration(*.wait))]
    CoolDown { from: ServiceLevel, to: ServiceLevel, wait: Duration },
    #[error("a manual pool cannot become auto again")]
    ManualIsPermanent,
    #[error("a pool of the level {from} cannot become {to}")]
    LevelFixed { from: ServiceLevel, to: ServiceLevel },
    #[error("it listens at {from}, which cannot become {to} while the service runs")]
    AddressFixed { from: SocketAddr, to: SocketAddr },
    #[error("an endpoint cannot come while the service runs")]
    EndpointAdded,
    #[error("an endpoint cannot go while the service runs")]
    EndpointRemoved,
}

impl Rule {
    /// What to do about it.
    pub const fn remedy(&self) -> &'static str {
        match self {
            Rule::CapacityQuota { .. } => {
                "make pools smaller, or raise `capacity_quota` as one would by a request to Azure"
            }
            Rule::TooManyPools { .. } => "put volumes of one level and QoS type into one pool",
            Rule::NameTwice => "give each its own name",
            Rule::PoolTooSmall { .. } | Rule::PoolTooLarge { .. } => "change `size`",
            Rule::PoolTooSmallForBasic { .. } => {
                "make the pool larger, or use Standard network features in all its volumes"
            }
            Rule::PoolStep { .. } => "round `size` up or down",
            Rule::TooManyVolumes { .. } => "move volumes into another pool",
            Rule::FlexibleThroughputMissing { .. } => "write `throughput`",
            Rule::FlexibleThroughputTooLow { .. } => "raise `throughput`; the least costs nothing",
            Rule::FlexibleThroughputTooHigh { .. } => "lower `throughput`, or make the pool larger",
            Rule::FlexibleThroughputStep { .. } => "round `throughput` up or down",
            Rule::PoolThroughputBySize { .. } => {
                "leave `throughput` out, or choose the level flexible"
            }
            Rule::QuotasExceedPool { .. } => "make the pool larger, or volumes smaller",
            Rule::ThroughputsExceedPool { .. } => {
                "assign less, or give the pool more size, a higher level, or more throughput"
            }
            Rule::NoSuchPool { .. } => "name one of the pools",
            Rule::NoSuchVolume => "name one of the volumes",
            Rule::Settings(error) => remedy_of(error),
            Rule::EndpointCount { .. } => "name as many in `endpoints`",
            Rule::EndpointShared { .. } => "give it an endpoint that serves nothing else",
            Rule::QuotaBelowUsed { .. } => "remove files first",
            Rule::GrowthTooLarge { .. } => {
                "grow less; Azure's support lifts this for a real volume"
            }
            Rule::KindFixed { .. } => "make a new volume and copy the data",
            Rule::CoolDown { .. } => "wait, or set `cool_down` in [account]",
            Rule::ManualIsPermanent => "move the volumes into an auto pool",
            Rule::LevelFixed { .. } => "make a pool of the wanted level and move the volumes",
            Rule::AddressFixed { .. } | Rule::EndpointAdded | Rule::EndpointRemoved => {
                "stop the service and start it anew"
            }
        }
    }
}

const fn remedy_of(error: &SettingsError) -> &'static str {
    match error {
        SettingsError::QosType { .. } => "write `qos = \"manual\"`, or choose another level",
        SettingsError::QuotaTooSmall { .. } => "raise `quota`",
        SettingsError::QuotaTooLarge { .. } => "lower `quota`, or choose a larger `kind`",
        SettingsError::QuotaStep { .. } => "round `quota` up or down",
        SettingsError::ThroughputMissing { .. } => "write `throughput`, or use an auto pool",
        SettingsError::ThroughputByQuota => "leave `throughput` out, or use a manual pool",
        SettingsError::ThroughputTooLow { .. } => "raise `throughput`",
        SettingsError::ThroughputTooHigh { .. } => {
            "lower `throughput`, or spread over several volumes"
        }
    }
}

/// All breaches of an account as it is described, in its order.
pub fn check(catalog: &Catalog, account: &Account) -> Vec<Breach> {
    let mut found = Vec::new();
    check_account(catalog, account, &mut found);
    for (index, pool) in account.pools.iter().enumerate() {
        let mut add = |key, rule| {
            found.push(Breach {
                subject: Subject::Pool(index),
                name: pool.name.clone(),
                key,
                rule,
            });
        };
        if account.pools[..index].iter().any(|other| other.name == pool.name) {
            add("name", Rule::NameTwice);
        }
        check_pool_size(catalog, account, pool, &mut add);
        check_pool_throughput(catalog, account, pool, &mut add);
    }
    for (index, volume) in account.volumes.iter().enumerate() {
        let name = volume.name.clone();
        let mut add = |key, rule| {
            let subject = Subject::Volume(index);
            found.push(Breach { subject, name: name.clone(), key, rule });
        };
        if account.volumes[..index].iter().any(|other| other.name == volume.name) {
            add("name", Rule::NameTwice);
        }
        for error in catalog.quota_errors(volume.kind, volume.quota) {
            add("quota", Rule::Settings(error));
        }
        check_endpoints(catalog, account, index, &mut add);
        match account.pool(&volume.pool) {
            Some(pool) => {
                if let Some(error) = catalog.assignment_error(&volume.settings(pool)) {
                    add("throughput", Rule::Settings(error));
                }
            }
            None => add("pool", Rule::NoSuchPool { pool: volume.pool.clone() }),
        }
    }
    found
}

fn check_account(catalog: &Catalog, account: &Account, found: &mut Vec<Breach>) {
    let mut add = |key, rule| {
        let name = account.name.clone();
        found.push(Breach { subject: Subject::Account, name, key, rule });
    };
    let sum = sum(account.pools.iter().map(|pool| pool.size));
    if sum > account.capacity_quota {
        add("capacity_quota", Rule::CapacityQuota { sum, limit: account.capacity_quota });
    }
    let (count, limit) = (account.pools.len() as u64, catalog.limit(LimitName::PoolsPerAccountMax));
    if count > limit {
        add("name", Rule::TooManyPools { count, limit });
    }
}

type Add<'a> = &'a mut dyn FnMut(&'static str, Rule);

fn check_pool_size(catalog: &Catalog, account: &Account, pool: &Pool, add: Add<'_>) {
    let size = pool.size;
    let gib = |name| Bytes::gib(catalog.limit(name));
    let basic = account.volumes_of(&pool.name).any(|v| v.network == NetworkFeatures::Basic);
    let (least, least_basic) =
        (gib(LimitName::PoolSizeMin), gib(LimitName::PoolSizeMinBasicNetwork));
    if size < least {
        add("size", Rule::PoolTooSmall { size, limit: least });
    } else if basic && size < least_basic {
        add("size", Rule::PoolTooSmallForBasic { size, limit: least_basic });
    }
    if size > gib(LimitName::PoolSizeMax) {
        add("size", Rule::PoolTooLarge { size, limit: gib(LimitName::PoolSizeMax) });
    }
    let step = gib(LimitName::PoolSizeStep);
    if !size.get().is_multiple_of(step.get()) {
        add("size", Rule::PoolStep { size, step });
    }
    let sum = sum(account.volumes_of(&pool.name).map(|volume| volume.quota));
    if sum > size {
        add("size", Rule::QuotasExceedPool { sum, limit: size });
    }
    let count = account.volumes_of(&pool.name).count() as u64;
    let limit = catalog.limit(LimitName::VolumesPerPoolMax);
    if count > limit {
        add("name", Rule::TooManyVolumes { count, limit });
    }
}

fn check_pool_throughput(catalog: &Catalog, account: &Account, pool: &Pool, add: Add<'_>) {
    let (level, qos, size) = (pool.level, pool.qos, pool.size);
    if !catalog.level(level).qos.contains(&qos) {
        add("qos", Rule::Settings(SettingsError::QosType { level, qos }));
    }
    match (catalog.pool_throughput(level, whole_gib(size)), pool.throughput) {
        (PoolThroughput::BySize(_), Some(_)) => {
            add("throughput", Rule::PoolThroughputBySize { level });
        }
        (PoolThroughput::BySize(_), None) => {}
        (PoolThroughput::Bought { least: limit, .. }, None) => {
            add("throughput", Rule::FlexibleThroughputMissing { limit });
        }
        (PoolThroughput::Bought { least, most, step }, Some(throughput)) => {
            if throughput < least {
                add("throughput", Rule::FlexibleThroughputTooLow { throughput, limit: least });
            }
            if throughput > most {
                let limit = most;
                add("throughput", Rule::FlexibleThroughputTooHigh { throughput, size, limit });
            }
            if !throughput.get().is_multiple_of(step.get()) {
                add("throughput", Rule::FlexibleThroughputStep { throughput, step });
            }
        }
    }
    if let Some(limit) = pool.throughput_total(catalog)
        && qos == QosType::Manual
    {
        let sum = account.volumes_of(&pool.name).filter_map(|volume| volume.throughput).sum();
        if sum > limit {
            add("throughput", Rule::ThroughputsExceedPool { sum, limit });
        }
    }
}

fn check_endpoints(catalog: &Catalog, account: &Account, index: usize, add: Add<'_>) {
    let volume = &account.volumes[index];
    let kind = volume.kind;
    let wanted = match kind {
        VolumeKind::Regular | VolumeKind::Large => 1,
        VolumeKind::Breakthrough => catalog.limit(LimitName::BreakthroughEndpoints),
    };
    let count = volume.endpoints.iter().collect::<BTreeSet<_>>().len() as u64;
    if count != wanted {
        add("endpoints", Rule::EndpointCount { kind, count, wanted });
    }
    if kind == VolumeKind::Regular {
        return;
    }
    for (place, other) in account.volumes.iter().enumerate() {
        let shared = volume.endpoints.iter().find(|name| other.endpoints.contains(name));
        if let Some(endpoint) = shared.filter(|_| place != index) {
            let (endpoint, other) = (endpoint.clone(), other.name.clone());
            add("endpoints", Rule::EndpointShared { kind, endpoint, other });
        }
    }
}

/// A sum that stops at the largest number instead of turning over.
fn sum(sizes: impl Iterator<Item = Bytes>) -> Bytes {
    sizes.fold(Bytes::ZERO, |sum, size| sum.checked_add(size).unwrap_or(Bytes::new(u64::MAX)))
}
