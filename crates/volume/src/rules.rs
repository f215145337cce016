//! The rules of the service for an account, its pools, volumes and endpoints.
//!
//! For: finding all breaches together, each with the limit and a remedy. Not for: finding breaches of
//! rules about changes (`live.rs`), whose messages are here too. All numbers come from the catalogue
//! or the account.

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

/// The part of the configuration that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigItem {
    /// The account.
    Account,
    /// A pool: its index in [`Account::pools`].
    Pool(usize),
    /// A volume: its index in [`Account::volumes`].
    Volume(usize),
    /// An endpoint: its index in the configuration.
    Endpoint(usize),
    /// Something that the configuration does not contain.
    Unknown,
}

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// What breaks it.
    pub item: ConfigItem,
    /// The item's name.
    pub name: String,
    /// The key of the configuration that has to change.
    pub key: &'static str,
    /// The rule.
    pub rule: Rule,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.item {
            ConfigItem::Account => "account ",
            ConfigItem::Pool(_) => "pool ",
            ConfigItem::Volume(_) => "volume ",
            ConfigItem::Endpoint(_) => "endpoint ",
            ConfigItem::Unknown => "",
        };
        write!(f, "{kind}`{}`: {} ({})", self.name, self.rule, self.rule.remedy())
    }
}

impl std::error::Error for Breach {}

/// A rule, with the value that breaks it and the limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message explains its fields")]
pub enum Rule {
    #[error("the pools have {sum} in total; the region's capacity quota is {limit}")]
    CapacityQuota { sum: Bytes, limit: Bytes },
    #[error("the account has {count} pools; the maximum is {limit}")]
    TooManyPools { count: u64, limit: u64 },
    #[error("this name is used twice")]
    NameTwice,

    #[error("size {size} is below the minimum of {limit}")]
    PoolTooSmall { size: Bytes, limit: Bytes },
    #[error("size {size} is below the minimum of {limit} with Basic network features")]
    PoolTooSmallForBasic { size: Bytes, limit: Bytes },
    #[error("size {size} is above the maximum of {limit}")]
    PoolTooLarge { size: Bytes, limit: Bytes },
    #[error("size {size} is not a multiple of {step}")]
    PoolStep { size: Bytes, step: Bytes },
    #[error("the pool has {count} volumes; the maximum is {limit}")]
    TooManyVolumes { count: u64, limit: u64 },
    #[error("throughput is missing; service level flexible requires at least {limit}")]
    FlexibleThroughputMissing { limit: KibPerSec },
    #[error("throughput {throughput} is below the minimum of {limit} at service level flexible")]
    FlexibleThroughputTooLow { throughput: KibPerSec, limit: KibPerSec },
    #[error(
        "throughput {throughput} is above the maximum of {limit} for a flexible pool of {size}"
    )]
    FlexibleThroughputTooHigh { throughput: KibPerSec, size: Bytes, limit: KibPerSec },
    #[error("throughput {throughput} is not a multiple of {step}")]
    FlexibleThroughputStep { throughput: KibPerSec, step: KibPerSec },
    #[error("throughput is set, but at service level {level} it follows from the size")]
    PoolThroughputBySize { level: ServiceLevel },
    #[error("the quotas of its volumes add up to {sum}; the pool has {limit}")]
    QuotasExceedPool { sum: Bytes, limit: Bytes },
    #[error("its volumes are assigned {sum}; the pool has {limit}")]
    ThroughputsExceedPool { sum: KibPerSec, limit: KibPerSec },

    #[error("there is no pool `{pool}`")]
    NoSuchPool { pool: String },
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("the volume has {count} endpoints; a {} volume has {required}", .kind.name())]
    EndpointCount { kind: VolumeKind, count: u64, required: u64 },
    #[error(
        "endpoint `{endpoint}` also serves `{other}`; a {} volume needs a dedicated endpoint",
        .kind.name()
    )]
    EndpointShared { kind: VolumeKind, endpoint: String, other: String },

    #[error("quota {quota} is below the {used} that the volume stores")]
    QuotaBelowUsed { quota: Bytes, used: Bytes },
    #[error("quota {quota} is above {limit}, {percent} % over the lowest so far ({lowest})")]
    GrowthTooLarge { quota: Bytes, lowest: Bytes, percent: u64, limit: Bytes },
    #[error("a {} volume cannot become a {} volume", .from.name(), .to.name())]
    KindFixed { from: VolumeKind, to: VolumeKind },
    #[error("after a move to a higher level, a move from {from} down to {to} is allowed in {}",
        print_duration(*.wait))]
    CoolDown { from: ServiceLevel, to: ServiceLevel, wait: Duration },
    #[error("a manual pool cannot become an auto pool")]
    ManualIsPermanent,
    #[error("the service level of a pool cannot change from {from} to {to}")]
    LevelFixed { from: ServiceLevel, to: ServiceLevel },
    #[error("the address {from} cannot change to {to} while the service runs")]
    AddressFixed { from: SocketAddr, to: SocketAddr },
    #[error("an endpoint cannot be added while the service runs")]
    EndpointAdded,
    #[error("an endpoint cannot be removed while the service runs")]
    EndpointRemoved,
}

impl Rule {
    /// How to comply.
    pub const fn remedy(&self) -> &'static str {
        match self {
            Rule::CapacityQuota { .. } => {
                "make pools smaller, or raise `capacity_quota`; in Azure, request an increase"
            }
            Rule::TooManyPools { .. } => "put volumes of the same level and QoS type into one pool",
            Rule::NameTwice => "use unique names",
            Rule::PoolTooSmall { .. } | Rule::PoolTooLarge { .. } => "change `size`",
            Rule::PoolTooSmallForBasic { .. } => {
                "make the pool larger, or use Standard network features in all its volumes"
            }
            Rule::PoolStep { .. } => "round `size` up or down",
            Rule::TooManyVolumes { .. } => "move volumes to another pool",
            Rule::FlexibleThroughputMissing { .. } => "set `throughput`",
            Rule::FlexibleThroughputTooLow { .. } => {
                "raise `throughput`; the minimum is included in the price"
            }
            Rule::FlexibleThroughputTooHigh { .. } => "lower `throughput`, or make the pool larger",
            Rule::FlexibleThroughputStep { .. } => "round `throughput` up or down",
            Rule::PoolThroughputBySize { .. } => "remove `throughput`, or use level flexible",
            Rule::QuotasExceedPool { .. } => "make the pool larger, or volumes smaller",
            Rule::ThroughputsExceedPool { .. } => {
                "assign less, or raise the pool's size, level or throughput"
            }
            Rule::NoSuchPool { .. } => "use the name of a pool",
            Rule::Settings(error) => remedy_of(error),
            Rule::EndpointCount { .. } => "list that many in `endpoints`",
            Rule::EndpointShared { .. } => "use an endpoint that serves no other volume",
            Rule::QuotaBelowUsed { .. } => "remove files first",
            Rule::GrowthTooLarge { .. } => {
                "set a lower quota; for a real volume Azure support can lift this limit"
            }
            Rule::KindFixed { .. } => "create a new volume and copy the data",
            Rule::CoolDown { .. } => "wait, or set `cool_down` in [account]",
            Rule::ManualIsPermanent => "move the volumes to an auto pool",
            Rule::LevelFixed { .. } => "create a pool of the other level and move the volumes",
            Rule::AddressFixed { .. } | Rule::EndpointAdded | Rule::EndpointRemoved => {
                "restart the service"
            }
        }
    }
}

const fn remedy_of(error: &SettingsError) -> &'static str {
    match error {
        SettingsError::QosType { .. } => "set `qos = \"manual\"`, or use another level",
        SettingsError::QuotaTooSmall { .. } => "raise `quota`",
        SettingsError::QuotaTooLarge { .. } => "lower `quota`, or use a larger `kind`",
        SettingsError::QuotaStep { .. } => "round `quota` up or down",
        SettingsError::ThroughputMissing { .. } => "set `throughput`, or use an auto pool",
        SettingsError::ThroughputByQuota => "remove `throughput`, or use a manual pool",
        SettingsError::ThroughputTooLow { .. } => "raise `throughput`",
        SettingsError::ThroughputTooHigh { .. } => "lower `throughput`, or use several volumes",
    }
}

/// All breaches of an account, in its order.
pub fn check(catalog: &Catalog, account: &Account) -> Vec<Breach> {
    let mut found = Vec::new();
    check_account(catalog, account, &mut found);
    for (index, pool) in account.pools.iter().enumerate() {
        let mut add = |key, rule| {
            let item = ConfigItem::Pool(index);
            found.push(Breach { item, name: pool.name.clone(), key, rule });
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
            let item = ConfigItem::Volume(index);
            found.push(Breach { item, name: name.clone(), key, rule });
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
        found.push(Breach { item: ConfigItem::Account, name, key, rule });
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
    let required = match kind {
        VolumeKind::Regular | VolumeKind::Large => 1,
        VolumeKind::Breakthrough => catalog.limit(LimitName::BreakthroughEndpoints),
    };
    let count = volume.endpoints.iter().collect::<BTreeSet<_>>().len() as u64;
    if count != required {
        add("endpoints", Rule::EndpointCount { kind, count, required });
    }
    if kind == VolumeKind::Regular {
        return;
    }
    for (other_index, other) in account.volumes.iter().enumerate() {
        let shared = volume.endpoints.iter().find(|name| other.endpoints.contains(name));
        if let Some(endpoint) = shared.filter(|_| other_index != index) {
            let (endpoint, other) = (endpoint.clone(), other.name.clone());
            add("endpoints", Rule::EndpointShared { kind, endpoint, other });
        }
    }
}

/// A saturating sum.
fn sum(sizes: impl Iterator<Item = Bytes>) -> Bytes {
    sizes.fold(Bytes::ZERO, |sum, size| sum.checked_add(size).unwrap_or(Bytes::new(u64::MAX)))
}
