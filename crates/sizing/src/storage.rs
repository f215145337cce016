//! Pools and volumes for a throughput and a capacity, by exact arithmetic.
//!
//! With auto QoS a volume's limit is `quota x KiB/s per GiB` up to a ceiling: the quotas together
//! are the larger of what is stored and `throughput / KiB/s per GiB`; with manual QoS throughput
//! is assigned in whole MiB/s, and the pool is the larger of quotas and `throughput / KiB/s per
//! GiB`; with Flexible it is bought apart. The load is taken to be spread over the volumes of a
//! part in proportion to their limits.

use cloud::catalog::Catalog;
use cloud::pool_throughput::PoolThroughput;
use cloud::reason::{Reason, RowRef};
use cloud::row::LimitName;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use cloud::volume_limit::VolumeSettings;
use units::{Bytes, percent, thousands};

use crate::capability::Abilities;
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
    pub reasons: Vec<Reason>,
}

impl Storage {
    /// Volumes of all pools.
    pub fn volume_count(&self) -> u64 {
        self.pools.iter().flat_map(|pool| &pool.volumes).map(|v| v.count).sum()
    }

    /// Volumes of each of these parts.
    pub fn volumes_of_parts(&self, parts: &[Part]) -> Vec<u64> {
        let of = |part: &Part| {
            let all = self.pools.iter().flat_map(|pool| &pool.volumes);
            all.filter(|v| v.part == part.name).map(|v| v.count).sum()
        };
        parts.iter().map(of).collect()
    }
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
    let mut volumes = Vec::new();
    let mut reasons = Vec::new();
    let mut decides = Decides::Minimum;
    for (place, part) in places.iter().map(|place| (*place, &need.parts[*place])) {
        let able = able(abilities, place, choice);
        let (part, by) = part_volumes(need, part, choice, able, catalog, &mut reasons)?;
        reasons.extend(capability_reason(abilities, place, choice));
        volumes.extend(part);
        if by == Decides::Throughput || decides == Decides::Minimum {
            decides = by;
        }
    }
    let pools = deal(&volumes, choice, catalog)?;
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

/// The fewest volumes that were measured to do what a part wants, at the upper end of what the
/// figures say: below that there is no doubt that they do not.
fn able(abilities: &Abilities, place: usize, choice: &Choice) -> u64 {
    let used = (PERMILLE - choice.spare_permille.min(PERMILLE - 1)) as f64 / PERMILLE as f64;
    (abilities.share_of(place, |ability| ability.volume.high) / used).ceil() as u64
}

fn capability_reason(abilities: &Abilities, place: usize, choice: &Choice) -> Option<Reason> {
    let (demand, ability) = abilities.hardest(place)?;
    let mib = |kib: f64| thousands((kib / 1024.0).round() as u64);
    let volume = ability.volume;
    Some(Reason::asked(format!(
        "what one {} volume was measured to do, by the published figures: {} MiB/s with {} KiB \
         transfers, {} reads (in nine cases of ten {} to {} MiB/s)",
        choice.kind.name(),
        mib(volume.value),
        demand.transfer_bytes as f64 / 1024.0,
        percent(demand.read_permille),
        mib(volume.low),
        mib(volume.high)
    )))
}

/// A volume before it is in a pool: its part, quota and throughput.
type Single = (String, u64, KibPerSec);

fn part_volumes(
    need: &Need,
    part: &Part,
    choice: &Choice,
    able: u64,
    catalog: &Catalog,
    reasons: &mut Vec<Reason>,
) -> Result<(Vec<Single>, Decides), Shortfall> {
    let wanted = part.throughput();
    let buy = bought(wanted, choice.spare_permille);
    if need.parts.len() > 1 {
        let text = format!("{}: {wanted} and {} GiB", part.name, thousands(part.capacity_gib));
        reasons.push(Reason::asked(text));
    }
    if choice.spare_permille > 0 {
        let spare = percent(choice.spare_permille);
        let text = format!("{wanted} / (1 - {spare} spare) = {buy} to be bought");
        reasons.push(Reason::asked(text));
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
    let count = by_ceiling.max(by_size).max(able).max(1) + choice.more_volumes;
    let max_count = catalog.limit(LimitName::VolumesPerPoolMax);
    if count > max_count {
        return Err(Shortfall {
            constraint: Constraint::VolumeCount,
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
    let throughputs: Vec<KibPerSec> = match choice.qos {
        QosType::Auto => Vec::new(),
        QosType::Manual => {
            let (least, _) = catalog.assignable(choice.level, choice.kind);
            let total = buy.get().max(count * least.get()).div_ceil(MIB);
            shares(total, count).map(|mib| KibPerSec::new(mib * MIB)).collect()
        }
    };
    // Shares differ by at most 1, so most volumes have the settings of the one before.
    let mut last: Option<(VolumeSettings, KibPerSec)> = None;
    let singles = shares(quota, count).enumerate().map(|(place, gib)| {
        let settings = VolumeSettings {
            level: choice.level,
            kind: choice.kind,
            qos: choice.qos,
            quota: Bytes::gib(gib),
            assigned: throughputs.get(place).copied(),
        };
        let limit = last.filter(|(before, _)| *before == settings).map(|(_, limit)| limit);
        let limit = limit.unwrap_or_else(|| planned_throughput(catalog, &settings));
        last = Some((settings, limit));
        (part.name.clone(), gib, limit)
    });
    let singles: Vec<Single> = singles.collect();
    reasons.extend(part_reasons(part, choice, catalog, buy, count, quota));
    let by = match quota {
        quota if by_rate == quota && by_rate > part.capacity_gib => Decides::Throughput,
        quota if part.capacity_gib == quota => Decides::Capacity,
        _ => Decides::Minimum,
    };
    Ok((singles, by))
}

/// The throughput that a plan counts on: the volume's limit, or where the service states none what
/// is paid for.
fn planned_throughput(catalog: &Catalog, settings: &VolumeSettings) -> KibPerSec {
    let limit = catalog.volume_limit(settings);
    let limit = limit.expect("the number of volumes keeps each within the range of its kind");
    limit.throughput.unwrap_or(limit.granted)
}

/// `total` in `count` shares that differ by at most 1, the larger ones first.
fn shares(total: u64, count: u64) -> impl Iterator<Item = u64> {
    let (each, more) = (total / count, total % count);
    (0..count).map(move |place| each + u64::from(place < more))
}

/// Puts volumes into as few pools as can hold them, or as many as are asked for.
fn deal(volumes: &[Single], choice: &Choice, catalog: &Catalog) -> Result<Vec<Pool>, Shortfall> {
    let most = catalog.limit(LimitName::PoolSizeMax);
    let pools_max = catalog.limit(LimitName::PoolsPerAccountMax);
    let volumes_max = catalog.limit(LimitName::VolumesPerPoolMax);
    let mut largest = 0;
    let volumes_count = volumes.len() as u64;
    for count in choice.pools.clamp(1, volumes_count.max(1))..=pools_max.min(volumes_count) {
        let mut pools: Vec<Vec<Single>> = vec![Vec::new(); count as usize];
        for (place, volume) in volumes.iter().enumerate() {
            pools[place % count as usize].push(volume.clone());
        }
        let pools: Vec<Pool> = pools.iter().map(|of| pool(of, choice, catalog)).collect();
        largest = pools.iter().map(|pool| pool.size_gib).max().unwrap_or(0);
        let fits = |pool: &Pool| {
            pool.size_gib <= most
                && pool.volumes.iter().map(|v| v.count).sum::<u64>() <= volumes_max
        };
        if pools.iter().all(fits) {
            return Ok(pools);
        }
    }
    Err(Shortfall {
        constraint: Constraint::PoolCount,
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

/// The smallest pool for these volumes.
fn pool(singles: &[Single], choice: &Choice, catalog: &Catalog) -> Pool {
    let mut volumes: Vec<Volumes> = Vec::new();
    for (part, quota_gib, throughput) in singles {
        match volumes.last_mut() {
            Some(last)
                if last.part == *part
                    && last.quota_gib == *quota_gib
                    && last.throughput == *throughput =>
            {
                last.count += 1;
            }
            _ => volumes.push(Volumes {
                part: part.clone(),
                count: 1,
                kind: choice.kind,
                quota_gib: *quota_gib,
                throughput: *throughput,
            }),
        }
    }
    let (level, qos) = (choice.level, choice.qos);
    let mut pool = Pool { level, qos, size_gib: 0, throughput: KibPerSec::new(0), volumes };
    let step = catalog.limit(LimitName::PoolSizeStep).max(1);
    let limits = pool.limits();
    let by_throughput = match qos {
        QosType::Auto => 0,
        QosType::Manual => catalog.least_size_gib(level, limits),
    };
    let least = catalog.limit(LimitName::PoolSizeMin);
    pool.size_gib = pool.quota_gib().max(by_throughput).max(least).div_ceil(step) * step;
    pool.throughput = match catalog.pool_throughput(level, pool.size_gib) {
        PoolThroughput::BySize(throughput) => throughput,
        PoolThroughput::Bought { .. } => catalog.least_purchase(limits),
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
) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let level = choice.level;
    if choice.qos == QosType::Auto && buy.get() > 0 {
        let text = format!(
            "{buy} = {} KiB/s; / {} = {} GiB of {level} quota",
            thousands(buy.get()),
            catalog.pool_rate(level),
            thousands(catalog.least_size_gib(level, buy))
        );
        reasons.push(Reason::from_rows(text, [catalog.level_row(level)]));
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
    reasons.push(Reason::from_rows(text, rows));
    let text = format!(
        "quota: {} GiB, the capacity being {} GiB",
        thousands(quota),
        thousands(part.capacity_gib)
    );
    reasons.push(Reason::asked(text));
    reasons
}

fn pool_reason(pool: &Pool, catalog: &Catalog) -> Reason {
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
    Reason::from_rows(text, rows)
}
