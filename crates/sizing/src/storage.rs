//! Pools and volumes for a throughput and a capacity, by exact arithmetic.
//!
//! With auto QoS a volume's limit is `quota x KiB/s per GiB` up to a ceiling: the quotas together
//! are the larger of what is stored and `throughput / KiB/s per GiB`; with manual QoS throughput
//! is assigned in whole MiB/s, and the pool is the larger of quotas and `throughput / KiB/s per
//! GiB`; with Flexible it is bought separately. Volumes of unequal sizes are placed in pools by
//! [`crate::arrange`]. The load is taken to be spread over the volumes of a part in proportion to
//! their limits.

use cloud::catalog::Catalog;
use cloud::pool_throughput::PoolThroughput;
use cloud::reason::RowRef;
use cloud::row::LimitName;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use cloud::volume_limit::VolumeSettings;
use units::{Bytes, percent, thousands};

use crate::arrange::{Placed, PoolOf, Share, arrange};
use crate::capability::Abilities;
use crate::claim::Claim;
use crate::design::{Decides, Pool, Volumes};
use crate::need::{Need, PERMILLE, Part, bought};
use crate::shortfall::{Constraint, Shortfall};

/// Throughput of volumes and Flexible pools is assigned in these: 1 MiB/s.
const MIB: u64 = 1024;

/// One of the ways to build the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What pools are bought as.
    pub level: ServiceLevel,
    /// How throughput is given to volumes.
    pub qos: QosType,
    /// What volumes are built as.
    pub kind: VolumeKind,
    /// Volumes of each part beyond the fewest that can carry it.
    pub more_volumes: u64,
    /// Pools at least; no more than there are volumes.
    pub pools: u64,
    /// The share of the throughput that is bought and stays unused, in thousandths.
    pub spare_permille: u64,
}

impl Choice {
    /// `premium, auto QoS, regular volumes`.
    pub fn name(&self) -> String {
        let (level, qos, kind) = (self.level, self.qos.name(), self.kind.name());
        format!("{level}, {qos} QoS, {kind} volumes")
    }
}

/// What a choice comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storage {
    /// The choice, or that of the first pool where pools are of several levels.
    pub choice: Choice,
    /// What is bought.
    pub pools: Vec<Pool>,
    /// What its size comes from.
    pub decides: Decides,
    /// The arithmetic.
    pub reasons: Vec<Claim>,
}

impl Storage {
    /// Volumes of all pools.
    pub fn volume_count(&self) -> u64 {
        self.pools.iter().flat_map(|pool| &pool.volumes).map(|v| v.count).sum()
    }
}

/// Volumes of each of these parts in these pools.
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
/// The first constraint that does not hold.
pub fn build(
    need: &Need,
    choice: &Choice,
    abilities: &Abilities,
    catalog: &Catalog,
) -> Result<Storage, Shortfall> {
    let places: Vec<usize> = (0..need.parts.len()).collect();
    build_for(need, &places, choice, abilities, catalog)
}

/// The storage of a choice for some parts of a need.
///
/// # Errors
/// The first constraint that does not hold.
pub(crate) fn build_for(
    need: &Need,
    places: &[usize],
    choice: &Choice,
    abilities: &Abilities,
    catalog: &Catalog,
) -> Result<Storage, Shortfall> {
    let mut shares = Vec::new();
    let mut reasons = Vec::new();
    let mut decides = Decides::Minimum;
    for (place, part) in places.iter().map(|place| (*place, &need.parts[*place])) {
        // One part has at least as many volumes as there are to be pools.
        let least_count = if places.len() == 1 { choice.pools } else { 1 };
        let fewest = (able(abilities, place, choice), least_count);
        let (share, by) = part_share(need, part, choice, fewest, catalog, &mut reasons)?;
        reasons.extend(capability_reason(abilities, place, choice));
        shares.push((part, share));
        if by == Decides::Throughput || decides == Decides::Minimum {
            decides = by;
        }
    }
    let pools = placed(&shares, choice, catalog)?;
    let (quotas, sizes): (u64, u64) =
        pools.iter().fold((0, 0), |(q, s), pool| (q + pool.quota_gib(), s + pool.size_gib));
    let step = catalog.limit(LimitName::PoolSizeStep);
    if choice.qos == QosType::Manual && sizes >= quotas.saturating_add(step) {
        decides = Decides::Throughput;
    }
    if pools.iter().all(|pool| pool.size_gib == catalog.limit(LimitName::PoolSizeMin)) {
        decides = Decides::Minimum;
    }
    for pool in &pools {
        reasons.push(pool_reason(pool, catalog));
    }
    reasons.dedup();
    Ok(Storage { choice: *choice, pools, decides, reasons })
}

/// The fewest volumes that can do what a part needs, by the capability of one.
fn able(abilities: &Abilities, place: usize, choice: &Choice) -> u64 {
    let used = (PERMILLE - choice.spare_permille.min(PERMILLE - 1)) as f64 / PERMILLE as f64;
    (abilities.share_of(place, |ability| ability.volume.kib_s) / used).ceil() as u64
}

fn capability_reason(abilities: &Abilities, place: usize, choice: &Choice) -> Option<Claim> {
    let (demand, ability) = abilities.hardest(place)?;
    let volume = &ability.volume;
    Some(Claim::new(
        volume.kind,
        format!(
            "one {} volume can do {} MiB/s with {} KiB transfers, {} reads{}",
            choice.kind.name(),
            thousands((volume.kib_s / 1024.0).round() as u64),
            demand.transfer_bytes as f64 / 1024.0,
            percent(demand.read_permille),
            volume.source_words()
        ),
        volume.rows(),
    ))
}

/// What the volumes of a part need together, and what decides their size.
fn part_share(
    need: &Need,
    part: &Part,
    choice: &Choice,
    (able, least_count): (u64, u64),
    catalog: &Catalog,
    reasons: &mut Vec<Claim>,
) -> Result<(Share, Decides), Shortfall> {
    let wanted = part.throughput();
    let buy = bought(wanted, choice.spare_permille);
    if need.parts.len() > 1 {
        let text = format!("{}: {wanted} and {} GiB", part.name, thousands(part.capacity_gib));
        reasons.push(Claim::derived(text, []));
    }
    if choice.spare_permille > 0 {
        let spare = percent(choice.spare_permille);
        let text = format!("{wanted} / (1 - {spare} spare) = {buy} to be bought");
        reasons.push(Claim::derived(text, []));
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
    let count = (by_ceiling.max(by_size).max(able).max(1) + choice.more_volumes).max(least_count);
    let max_count = catalog.limit(LimitName::VolumesPerPoolMax);
    if count > max_count {
        return Err(Shortfall {
            constraint: Constraint::VolumeCount,
            kind: Constraint::VolumeCount.kind(),
            tried: choice.name(),
            text: format!(
                "{} volumes are needed for {buy:.1} and {} GiB; a subscription has at most {}",
                thousands(count),
                thousands(part.capacity_gib),
                thousands(max_count)
            ),
            wanted: count,
            most: max_count,
            rows: vec![catalog.limit_row(LimitName::VolumesPerPoolMax)],
        });
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
        quota if by_rate == quota && by_rate > part.capacity_gib => Decides::Throughput,
        quota if part.capacity_gib == quota => Decides::Capacity,
        _ => Decides::Minimum,
    };
    // A quota beyond the one that reaches the ceiling adds no throughput.
    let ceiling = catalog.volume_ceiling(choice.level, choice.qos, choice.kind);
    let useful = match (choice.qos, ceiling) {
        (QosType::Auto, Some(ceiling)) => catalog.least_size_gib(choice.level, ceiling),
        _ => most,
    };
    let quota_most_gib = useful.max(quota.div_ceil(count)).min(most);
    Ok((Share { count, quota_gib: quota, quota_most_gib, assigned_mib }, by))
}

/// The throughput that a plan counts on: the volume's limit, or where the service states none what
/// is paid for.
fn planned_throughput(catalog: &Catalog, settings: &VolumeSettings) -> KibPerSec {
    let limit = catalog.volume_limit(settings);
    let limit = limit.expect("the number of volumes keeps each within the range of its kind");
    limit.throughput.unwrap_or(limit.granted)
}

/// Puts volumes into as few pools as can hold them, or as many as are asked for.
fn placed(
    parts: &[(&Part, Share)],
    choice: &Choice,
    catalog: &Catalog,
) -> Result<Vec<Pool>, Shortfall> {
    let most = catalog.limit(LimitName::PoolSizeMax);
    let pools_max = catalog.limit(LimitName::PoolsPerAccountMax);
    let shares: Vec<Share> = parts.iter().map(|(_, share)| share.clone()).collect();
    let quotas: u64 = shares.iter().map(|share| share.quota_gib).sum();
    let volumes: u64 = shares.iter().map(|share| share.count).sum();
    let least = choice.pools.max(quotas.div_ceil(most)).clamp(1, volumes.max(1));
    for count in least..=pools_max.min(volumes) {
        if let Some(found) = arrange(&shares, count, choice, catalog) {
            return Ok(found.iter().map(|one| pool(one, parts, choice, catalog)).collect());
        }
    }
    let largest = quotas.div_ceil(pools_max.min(volumes).max(1));
    Err(Shortfall {
        constraint: Constraint::PoolCount,
        kind: Constraint::PoolCount.kind(),
        tried: choice.name(),
        text: format!(
            "a pool of {} GiB is needed; a pool has at most {} GiB, an account {pools_max} pools",
            thousands(largest),
            thousands(most)
        ),
        wanted: largest,
        most,
        rows: vec![
            catalog.limit_row(LimitName::PoolSizeMax),
            catalog.limit_row(LimitName::PoolsPerAccountMax),
        ],
    })
}

/// A pool with its volumes, those that are alike together.
fn pool(of: &PoolOf, parts: &[(&Part, Share)], choice: &Choice, catalog: &Catalog) -> Pool {
    let mut volumes: Vec<Volumes> = Vec::new();
    let mut last: Option<Placed> = None;
    for one in &of.volumes {
        match volumes.last_mut().filter(|_| last == Some(*one)) {
            Some(alike) => alike.count += 1,
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
        let text = format!(
            "{buy} = {} KiB/s; / {} = {} GiB of {level} quota",
            thousands(buy.get()),
            catalog.pool_rate(level),
            thousands(catalog.least_size_gib(level, buy))
        );
        reasons.push(Claim::derived(text, [catalog.level_row(level)]));
    }
    let (least, most) = catalog.quota_range(choice.kind);
    let kind = choice.kind.name();
    let row = catalog.volume_ceiling_row(level, choice.qos, choice.kind);
    let mut rows: Vec<RowRef> = row.into_iter().collect();
    let ceiling = match catalog.volume_ceiling(level, choice.qos, choice.kind) {
        Some(ceiling) => format!("at most {ceiling}"),
        None => {
            rows.push(catalog.limit_row(LimitName::BreakthroughThroughput));
            let most = KibPerSec::new(catalog.limit(LimitName::BreakthroughThroughput));
            format!("no stated limit, of which the vendor names up to {most}")
        }
    };
    let text = format!(
        "{count} {kind} volume{} of {} to {} GiB and {ceiling} each",
        if count == 1 { "" } else { "s" },
        thousands(least),
        thousands(most)
    );
    reasons.push(Claim::documented(text, rows));
    let text = format!(
        "quota: {} GiB, the capacity being {} GiB",
        thousands(quota),
        thousands(part.capacity_gib)
    );
    reasons.push(Claim::derived(text, []));
    reasons
}

fn pool_reason(pool: &Pool, catalog: &Catalog) -> Claim {
    let mut rows = vec![catalog.limit_row(LimitName::PoolSizeStep)];
    let quotas = thousands(pool.quota_gib());
    let size = pool.size_gib >> 10;
    let throughput = match (catalog.pool_throughput(pool.level, pool.size_gib), pool.qos) {
        (PoolThroughput::Bought { most, .. }, _) => {
            rows.push(catalog.pool_rate_row(pool.level));
            rows.push(catalog.limit_row(LimitName::FlexibleThroughputBaseline));
            format!(", with {} bought; {size} TiB may have {most}", pool.throughput)
        }
        (PoolThroughput::BySize(_), QosType::Manual) => {
            rows.push(catalog.pool_rate_row(pool.level));
            format!(
                " and for {} assigned; {} GiB x {} = {}",
                pool.limits(),
                thousands(pool.size_gib),
                catalog.pool_rate(pool.level),
                pool.throughput
            )
        }
        (PoolThroughput::BySize(_), QosType::Auto) => String::new(),
    };
    let text = format!("pool: {size} TiB, in whole TiB, for quotas of {quotas} GiB{throughput}");
    Claim::derived(text, rows)
}
