//! Pools and volumes for a throughput and a capacity, in exact integer arithmetic.
//!
//! With auto QoS a volume's limit is `quota x rate per GiB` up to a ceiling, so the quotas add up
//! to the larger of the capacity and `throughput / rate`. With manual QoS throughput is assigned in
//! whole MiB/s, and the pool's size is the larger of the quotas and `throughput / rate`. Flexible
//! throughput is bought separately. [`crate::arrange`] places volumes of unequal sizes in pools.
//! The load is assumed to be distributed over the volumes of a part in proportion to their limits.

use cloud::catalog::Catalog;
use cloud::pool_throughput::PoolThroughput;
use cloud::reason::RowRef;
use cloud::row::LimitName;
use cloud::service_level::{QosType, VolumeKind};
use cloud::throughput::KibPerSec;
use cloud::volume_limit::VolumeSettings;
use units::{Bytes, BytesPerSec, OpsPerSec, Share};

use crate::arrange::{PartTotals, PlacedVolume, PoolVolumes, arrange};
use crate::capability::Abilities;
use crate::choice::Choice;
use crate::claim::{Claim, ClaimKind};
use crate::need::{Need, Part, bought};
use crate::pool::{Pool, PoolSizedBy, Volumes};
use crate::shortfall::{Lack, Shortfall};
use crate::statement::{PoolNeed, StorageStatement, VolumeMost};

/// Throughput of volumes and Flexible pools is assigned in steps of 1 MiB/s: KiB/s of one.
const MIB: u64 = 1024;

/// The storage of a choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Storage {
    /// The choice, or that of the first pool if levels differ.
    pub choice: Choice,
    /// Pools with their volumes.
    pub pools: Vec<Pool>,
    /// The requirement that sets the size of the pools.
    pub sized_by: PoolSizedBy,
    /// The arithmetic.
    pub reasons: Vec<Claim>,
}

impl Storage {
    /// Number of volumes.
    pub fn volume_count(&self) -> u64 {
        self.pools.iter().flat_map(|pool| &pool.volumes).map(|v| v.count).sum()
    }
}

/// Number of volumes of each part in these pools.
pub(crate) fn volumes_of(pools: &[Pool], parts: &[Part]) -> Vec<u64> {
    let of = |part: &Part| {
        let all = pools.iter().flat_map(|pool| &pool.volumes);
        all.filter(|v| v.part == part.name).map(|v| v.count).sum()
    };
    parts.iter().map(of).collect()
}

/// The storage of a choice for a need without growth.
///
/// # Errors
/// The first violated constraint.
pub fn build(
    need: &Need,
    choice: &Choice,
    abilities: &Abilities,
    catalog: &Catalog,
) -> Result<Storage, Shortfall> {
    let parts: Vec<usize> = (0..need.parts.len()).collect();
    build_for(need, &parts, choice, abilities, catalog)
}

/// The storage of a choice for some parts of a need, given by their indices.
///
/// # Errors
/// The first violated constraint.
pub(crate) fn build_for(
    need: &Need,
    parts: &[usize],
    choice: &Choice,
    abilities: &Abilities,
    catalog: &Catalog,
) -> Result<Storage, Shortfall> {
    let mut totals = Vec::new();
    let mut reasons = Vec::new();
    let mut sized_by = PoolSizedBy::Minimum;
    for (index, part) in parts.iter().map(|index| (*index, &need.parts[*index])) {
        // A single part has at least as many volumes as pools.
        let least_count = if parts.len() == 1 { choice.pools } else { 1 };
        let fewest = (fewest_able(abilities, index, choice), least_count);
        let (total, by) = part_totals(need, part, choice, fewest, catalog, &mut reasons)?;
        reasons.extend(capability_reason(abilities, index, choice));
        reasons.extend(names_reason(abilities, index, choice));
        totals.push((part, total));
        if by == PoolSizedBy::Throughput || sized_by == PoolSizedBy::Minimum {
            sized_by = by;
        }
    }
    let pools = fill_pools(&totals, choice, catalog)?;
    let (quotas, sizes): (u64, u64) =
        pools.iter().fold((0, 0), |(q, s), pool| (q + pool.quota_gib(), s + pool.size_gib));
    let step = catalog.limit(LimitName::PoolSizeStep);
    if choice.qos == QosType::Manual && sizes >= quotas.saturating_add(step) {
        sized_by = PoolSizedBy::Throughput;
    }
    if pools.iter().all(|pool| pool.size_gib == catalog.limit(LimitName::PoolSizeMin)) {
        sized_by = PoolSizedBy::Minimum;
    }
    for pool in &pools {
        reasons.push(pool_reason(pool, catalog));
    }
    reasons.dedup();
    Ok(Storage { choice: *choice, pools, sized_by, reasons })
}

/// The fewest volumes that can carry a part, by the capability of one.
fn fewest_able(abilities: &Abilities, part: usize, choice: &Choice) -> u64 {
    let used = choice.spare.rest().max(Share::from_permille(1)).fraction();
    (abilities.volumes_for(part) / used).ceil() as u64
}

fn capability_reason(abilities: &Abilities, part: usize, choice: &Choice) -> Option<Claim> {
    let (demand, ability) = abilities.hardest(part)?;
    let volume = &ability.volume;
    let statement = StorageStatement::Capability {
        kind: choice.kind,
        throughput: BytesPerSec::new(volume.kib_s * 1024.0),
        transfer: Bytes::new(demand.transfer_bytes),
        read: demand.read,
        by: volume.by.clone(),
    };
    Some(Claim::new(volume.kind, statement, volume.rows()))
}

/// Operations on names are part of every volume's load, so their rate divides by the same share.
fn names_reason(abilities: &Abilities, part: usize, choice: &Choice) -> Option<Claim> {
    let (_, demand, (rate, row)) = abilities.volumes_for_names(part)?;
    let statement = StorageStatement::Names {
        kind: choice.kind,
        required: OpsPerSec::new(demand.names_per_s as f64),
        each: *rate,
        by: row.clone(),
    };
    Some(Claim::new(ClaimKind::Published, statement, [row.clone()]))
}

/// Totals of the volumes of a part, and the requirement that sets their size.
fn part_totals(
    need: &Need,
    part: &Part,
    choice: &Choice,
    (able, least_count): (u64, u64),
    catalog: &Catalog,
    reasons: &mut Vec<Claim>,
) -> Result<(PartTotals, PoolSizedBy), Shortfall> {
    let required = part.throughput();
    let buy = bought(required, choice.spare);
    if need.parts.len() > 1 {
        let (name, capacity_gib) = (part.name.clone(), part.capacity_gib);
        let statement = StorageStatement::Part { name, throughput: required, capacity_gib };
        reasons.push(Claim::derived(statement, []));
    }
    if choice.spare > Share::ZERO {
        let statement = StorageStatement::Spare { required, spare: choice.spare, bought: buy };
        reasons.push(Claim::derived(statement, []));
    }
    let (least, most) = catalog.quota_range(choice.kind);
    let by_rate = match choice.qos {
        QosType::Auto => catalog.least_size_gib(choice.level, buy),
        QosType::Manual => 0,
    };
    let most_of_one = match choice.kind {
        VolumeKind::Breakthrough => Some(catalog.limit(LimitName::BreakthroughThroughput)),
        _ => catalog.volume_ceiling(choice.level, choice.qos, choice.kind).map(KibPerSec::get),
    };
    let by_ceiling = most_of_one.map_or(1, |most| buy.get().div_ceil(most.max(1)));
    let by_size = part.capacity_gib.max(by_rate).div_ceil(most);
    let by_inodes = part.inodes.div_ceil(catalog.inodes_max(choice.kind).max(1));
    let count = (by_ceiling.max(by_size).max(by_inodes).max(able).max(1) + choice.more_volumes)
        .max(least_count);
    let max_count = catalog.limit(LimitName::VolumesPerPoolMax);
    if count > max_count {
        let lack = Lack::Volumes {
            required: count,
            most: max_count,
            throughput: buy,
            capacity_gib: part.capacity_gib,
        };
        let rows = vec![catalog.limit_row(LimitName::VolumesPerPoolMax)];
        return Err(Shortfall::new(lack, choice.tried(None), rows));
    }
    let quota = part.capacity_gib.max(by_rate).max(count.saturating_mul(least));
    let assigned_mib = match choice.qos {
        QosType::Auto => 0,
        QosType::Manual => {
            let (least, _) = catalog.assignable(choice.level, choice.kind);
            buy.get().max(count * least.get()).div_ceil(MIB)
        }
    };
    reasons.extend(part_reasons(part, choice, catalog, buy, count, quota));
    let by = match quota {
        quota if by_rate == quota && by_rate > part.capacity_gib => PoolSizedBy::Throughput,
        quota if part.capacity_gib == quota => PoolSizedBy::Capacity,
        _ => PoolSizedBy::Minimum,
    };
    // A quota beyond the one that reaches the ceiling adds no throughput.
    let ceiling = catalog.volume_ceiling(choice.level, choice.qos, choice.kind);
    let useful = match (choice.qos, ceiling) {
        (QosType::Auto, Some(ceiling)) => catalog.least_size_gib(choice.level, ceiling),
        _ => most,
    };
    let quota_most_gib = useful.max(quota.div_ceil(count)).min(most);
    Ok((PartTotals { count, quota_gib: quota, quota_most_gib, assigned_mib }, by))
}

/// The throughput to plan with: the volume's limit, or the purchased throughput if the service
/// states no limit.
fn planned_throughput(catalog: &Catalog, settings: &VolumeSettings) -> KibPerSec {
    let limit = catalog.volume_limit(settings);
    let limit = limit.expect("the number of volumes keeps each within the range of its kind");
    limit.throughput.unwrap_or(limit.granted)
}

/// Places volumes in as few pools as possible, but at least as many as chosen.
fn fill_pools(
    parts: &[(&Part, PartTotals)],
    choice: &Choice,
    catalog: &Catalog,
) -> Result<Vec<Pool>, Shortfall> {
    let most = catalog.limit(LimitName::PoolSizeMax);
    let pools_max = catalog.limit(LimitName::PoolsPerAccountMax);
    let totals: Vec<PartTotals> = parts.iter().map(|(_, total)| total.clone()).collect();
    let quotas: u64 = totals.iter().map(|total| total.quota_gib).sum();
    let volumes: u64 = totals.iter().map(|total| total.count).sum();
    let least = choice.pools.max(quotas.div_ceil(most)).clamp(1, volumes.max(1));
    for count in least..=pools_max.min(volumes) {
        if let Some(found) = arrange(&totals, count, choice, catalog) {
            return Ok(found.iter().map(|one| pool(one, parts, choice, catalog)).collect());
        }
    }
    let largest = quotas.div_ceil(pools_max.min(volumes).max(1));
    let lack = Lack::PoolSize { required_gib: largest, most_gib: most, pools_max };
    let rows = [LimitName::PoolSizeMax, LimitName::PoolsPerAccountMax];
    let rows = rows.map(|name| catalog.limit_row(name)).to_vec();
    Err(Shortfall::new(lack, choice.tried(None), rows))
}

/// A pool with its volumes, identical ones grouped.
fn pool(
    of: &PoolVolumes,
    parts: &[(&Part, PartTotals)],
    choice: &Choice,
    catalog: &Catalog,
) -> Pool {
    let mut volumes: Vec<Volumes> = Vec::new();
    let mut last: Option<PlacedVolume> = None;
    for one in &of.volumes {
        match volumes.last_mut().filter(|_| last == Some(*one)) {
            Some(identical) => identical.count += 1,
            None => volumes.push(Volumes {
                part: parts[one.part].0.name.clone(),
                count: 1,
                kind: choice.kind,
                quota_gib: one.quota_gib,
                throughput: planned_throughput(
                    catalog,
                    &VolumeSettings {
                        level: choice.level,
                        kind: choice.kind,
                        qos: choice.qos,
                        quota: Bytes::gib(one.quota_gib),
                        assigned: (choice.qos == QosType::Manual)
                            .then(|| KibPerSec::new(one.assigned_mib * MIB)),
                    },
                ),
            }),
        }
        last = Some(*one);
    }
    let (level, qos, size_gib) = (choice.level, choice.qos, of.size_gib);
    let mut pool = Pool { level, qos, size_gib, throughput: KibPerSec::new(0), volumes };
    pool.throughput = match catalog.pool_throughput(level, size_gib) {
        PoolThroughput::BySize(throughput) => throughput,
        PoolThroughput::Bought { .. } => catalog.least_purchase(pool.limits()),
    };
    pool
}

fn part_reasons(
    part: &Part,
    choice: &Choice,
    catalog: &Catalog,
    buy: KibPerSec,
    count: u64,
    quota: u64,
) -> Vec<Claim> {
    let mut reasons = Vec::new();
    let level = choice.level;
    if choice.qos == QosType::Auto && buy.get() > 0 {
        let statement = StorageStatement::QuotaForThroughput {
            throughput: buy,
            rate: catalog.pool_rate(level),
            quota_gib: catalog.least_size_gib(level, buy),
            level,
        };
        reasons.push(Claim::derived(statement, [catalog.level_row(level)]));
    }
    let row = catalog.volume_ceiling_row(level, choice.qos, choice.kind);
    let mut rows: Vec<RowRef> = row.into_iter().collect();
    let most = match catalog.volume_ceiling(level, choice.qos, choice.kind) {
        Some(ceiling) => VolumeMost::Ceiling(ceiling),
        None => {
            rows.push(catalog.limit_row(LimitName::BreakthroughThroughput));
            let most = catalog.limit(LimitName::BreakthroughThroughput);
            VolumeMost::Mentioned(KibPerSec::new(most))
        }
    };
    let (kind, quota_gib) = (choice.kind, catalog.quota_range(choice.kind));
    let statement = StorageStatement::Volumes { count, kind, quota_gib, most };
    reasons.push(Claim::documented(statement, rows));
    let statement = StorageStatement::Quota { quota_gib: quota, capacity_gib: part.capacity_gib };
    reasons.push(Claim::derived(statement, []));
    reasons
}

fn pool_reason(pool: &Pool, catalog: &Catalog) -> Claim {
    let mut rows = vec![catalog.limit_row(LimitName::PoolSizeStep)];
    let throughput = match (catalog.pool_throughput(pool.level, pool.size_gib), pool.qos) {
        (PoolThroughput::Bought { most, .. }, _) => {
            rows.push(catalog.pool_rate_row(pool.level));
            rows.push(catalog.limit_row(LimitName::FlexibleThroughputBaseline));
            PoolNeed::Bought { bought: pool.throughput, most }
        }
        (PoolThroughput::BySize(_), QosType::Manual) => {
            rows.push(catalog.pool_rate_row(pool.level));
            let rate = catalog.pool_rate(pool.level);
            PoolNeed::Assigned { assigned: pool.limits(), rate, throughput: pool.throughput }
        }
        (PoolThroughput::BySize(_), QosType::Auto) => PoolNeed::Nothing,
    };
    let (size_gib, quotas_gib) = (pool.size_gib, pool.quota_gib());
    Claim::derived(StorageStatement::Pool { size_gib, quotas_gib, throughput }, rows)
}
