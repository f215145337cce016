//! Distributes volumes of unequal sizes over pools of unequal sizes, so that pools are small.
//!
//! Pool sizes are whole TiB, so equal volumes waste up to 1 TiB in each pool. Here the sizes of the
//! pools add up to the least that fits the quotas and provides the throughput (`least_steps`), and
//! the volumes fill them as evenly as possible.
//!
//! Bound: with one part the sum is `least_steps`, or the next larger sum that is compatible with
//! whole TiB per pool and the ceilings of the volumes. With several parts it never exceeds the sum
//! for equal volumes, which is less than `least_steps` plus 1 TiB per pool.

use cloud::catalog::Catalog;
use cloud::row::LimitName;
use cloud::service_level::{QosType, ServiceLevel};
use cloud::throughput::KibPerSec;

use crate::choice::Choice;

/// Throughput is assigned in steps of 1 MiB/s: KiB/s of one.
const MIB: u64 = 1024;

/// Totals of the volumes of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartTotals {
    /// Number of volumes.
    pub(crate) count: u64,
    /// The sum of their quotas, in GiB.
    pub(crate) quota_gib: u64,
    /// The largest useful quota of one volume, in GiB: more adds no throughput.
    pub(crate) quota_most_gib: u64,
    /// The sum of their assigned throughput, in MiB/s; 0 with auto QoS.
    pub(crate) assigned_mib: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlacedVolume {
    /// The index of its part.
    pub(crate) part: usize,
    /// In GiB.
    pub(crate) quota_gib: u64,
    /// In MiB/s; 0 with auto QoS.
    pub(crate) assigned_mib: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PoolVolumes {
    /// In GiB.
    pub(crate) size_gib: u64,
    /// Its volumes, in the order of their parts.
    pub(crate) volumes: Vec<PlacedVolume>,
}

/// The limits of a choice.
struct Rules<'a> {
    /// Smallest quota of a volume, in GiB.
    quota_least: u64,
    /// Range of a volume's assigned throughput, in MiB/s.
    assigned: (u64, u64),
    /// Range of pool sizes, in GiB.
    pool: (u64, u64),
    /// Pool sizes are multiples of it, in GiB.
    step: u64,
    /// With manual QoS, the source of a pool's throughput for its size.
    by_size: Option<(&'a Catalog, ServiceLevel)>,
    /// If throughput is bought separately, the throughput that is free of charge, in MiB/s.
    free_mib: Option<u64>,
    volumes_per_pool: u64,
}

impl Rules<'_> {
    fn of<'a>(choice: &Choice, catalog: &'a Catalog) -> Rules<'a> {
        let limit = |name| catalog.limit(name);
        let step = limit(LimitName::PoolSizeStep).max(1);
        let is_manual = choice.qos == QosType::Manual;
        let (least, most) = catalog.assignable(choice.level, choice.kind);
        let is_bought = catalog.level(choice.level).throughput.is_none();
        let free = limit(LimitName::FlexibleThroughputBaseline) / MIB;
        Rules {
            quota_least: catalog.quota_range(choice.kind).0,
            assigned: (
                least.get().div_ceil(MIB).max(1),
                most.map_or(u64::MAX / 2, |most| most.get() / MIB),
            ),
            pool: (limit(LimitName::PoolSizeMin), limit(LimitName::PoolSizeMax)),
            step,
            by_size: is_manual.then_some((catalog, choice.level)),
            free_mib: is_bought.then_some(free),
            volumes_per_pool: limit(LimitName::VolumesPerPoolMax),
        }
    }

    /// Highest throughput of a pool of this size, in MiB/s.
    fn most_mib(&self, size_gib: u64) -> u64 {
        let most = |(catalog, level): (&Catalog, ServiceLevel)| {
            catalog.pool_throughput(level, size_gib).most().get() / MIB
        };
        self.by_size.map_or(0, most)
    }

    /// Smallest pool for this throughput, in GiB.
    fn gib_for(&self, mib: u64) -> u64 {
        let least = |(catalog, level): (&Catalog, ServiceLevel)| {
            catalog.least_size_gib(level, KibPerSec::new(mib.saturating_mul(MIB)))
        };
        self.by_size.map_or(0, least)
    }
}

/// A volume during distribution.
struct Slot {
    part: usize,
    pool: usize,
    quota: u64,
    mib: u64,
}

/// Distributes volumes over this many pools; `None` if a pool would be too large or have too many
/// volumes.
pub(crate) fn arrange(
    parts: &[PartTotals],
    pools: u64,
    choice: &Choice,
    catalog: &Catalog,
) -> Option<Vec<PoolVolumes>> {
    let rules = Rules::of(choice, catalog);
    let pools = usize::try_from(pools).ok()?;
    let owners =
        parts.iter().enumerate().flat_map(|(part, total)| (0..total.count).map(move |_| part));
    let empty =
        |(index, part): (usize, usize)| Slot { part, pool: index % pools, quota: 0, mib: 0 };
    let mut slots: Vec<Slot> = owners.enumerate().map(empty).collect();
    let in_pool = |pool: usize| slots.iter().filter(move |slot| slot.pool == pool);
    if (0..pools).any(|pool| in_pool(pool).count() as u64 > rules.volumes_per_pool) {
        return None;
    }
    // Of each pool with equal volumes: its smallest size and its size rounded down, both in steps,
    // and the remainder in thousandths of a step.
    let needs: Vec<(u64, u64, u64)> = (0..pools)
        .map(|pool| {
            let (mut quota, mut mib) = (0u128, 0u128);
            for slot in in_pool(pool) {
                let total = &parts[slot.part];
                quota += u128::from(total.quota_gib) * 1000 / u128::from(total.count.max(1));
                mib += u128::from(total.assigned_mib) * 1000 / u128::from(total.count.max(1));
            }
            // A thousand times the throughput needs a thousand times the size.
            let by_rate = rules.gib_for(u64::try_from(mib).unwrap_or(u64::MAX));
            let by_rate = u128::from(by_rate / rules.step);
            let thousandths = (quota / u128::from(rules.step)).max(by_rate);
            let thousandths = u64::try_from(thousandths).unwrap_or(u64::MAX);
            let volumes = in_pool(pool).count() as u64;
            let least = rules.pool.0.max(volumes * rules.quota_least).div_ceil(rules.step);
            (least, (thousandths / 1000).max(least), thousandths % 1000)
        })
        .collect();
    let base: u64 = needs.iter().map(|(_, base, _)| base).sum();
    let first = least_steps(parts, &rules).max(base);
    let mut neediest: Vec<usize> = (0..pools).collect();
    neediest.sort_by_key(|pool| std::cmp::Reverse(needs[*pool].2));
    // Equal volumes need less than one more step per pool, and rounding adds at most another.
    for steps in first..=first + 2 * pools as u64 {
        let mut sizes: Vec<u64> = needs.iter().map(|(_, base, _)| *base).collect();
        let more = steps - base;
        for (rank, pool) in neediest.iter().enumerate() {
            sizes[*pool] += more / pools as u64 + u64::from((rank as u64) < more % pools as u64);
        }
        let sizes: Vec<u64> = sizes.into_iter().map(|steps| steps * rules.step).collect();
        if sizes.iter().any(|size| *size > rules.pool.1) {
            return None;
        }
        if fills(&mut slots, parts, &sizes, &rules) {
            let volumes = |pool: usize| {
                let own = slots.iter().filter(move |slot| slot.pool == pool);
                let placed = |slot: &Slot| PlacedVolume {
                    part: slot.part,
                    quota_gib: slot.quota,
                    assigned_mib: slot.mib,
                };
                own.map(placed).collect()
            };
            let pool =
                |(pool, size): (usize, u64)| PoolVolumes { size_gib: size, volumes: volumes(pool) };
            return Some(sizes.into_iter().enumerate().map(pool).collect());
        }
    }
    None
}

/// Lower bound of the size of all pools together, in steps, as if size and throughput were
/// divisible.
fn least_steps(parts: &[PartTotals], rules: &Rules<'_>) -> u64 {
    let quota: u64 = parts.iter().map(|total| total.quota_gib).sum();
    let mib: u64 = parts.iter().map(|total| total.assigned_mib).sum();
    quota.div_ceil(rules.step).max(rules.gib_for(mib).div_ceil(rules.step))
}

/// Distributes quotas and throughput over the volumes; `false` if pools of these sizes have too
/// little of either.
fn fills(slots: &mut [Slot], parts: &[PartTotals], sizes: &[u64], rules: &Rules<'_>) -> bool {
    // The part with the fewest volumes can use the fewest pools and comes first.
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|part| parts[*part].count);
    let taken = |slots: &[Slot], each: u64| -> Vec<u64> {
        (0..sizes.len())
            .map(|pool| slots.iter().filter(|slot| slot.pool == pool).count() as u64 * each)
            .collect()
    };
    let least = rules.quota_least;
    slots.iter_mut().for_each(|slot| slot.quota = least);
    let used = taken(slots, least);
    let mut room: Vec<u64> =
        sizes.iter().zip(&used).map(|(size, used)| size.saturating_sub(*used)).collect();
    for part in &order {
        let more = parts[*part].quota_gib.saturating_sub(parts[*part].count * least);
        let mut own: Vec<Amount<'_>> = slots
            .iter_mut()
            .filter(|slot| slot.part == *part)
            .map(|slot| Amount {
                pool: slot.pool,
                value: &mut slot.quota,
                most: parts[*part].quota_most_gib,
            })
            .collect();
        if fill(&mut own, more, &mut room) > 0 {
            return false;
        }
    }
    if rules.by_size.is_none() {
        return true;
    }
    let (least, most) = rules.assigned;
    slots.iter_mut().for_each(|slot| slot.mib = least);
    let used = taken(slots, least);
    let mut more: Vec<u64> =
        parts.iter().map(|total| total.assigned_mib.saturating_sub(total.count * least)).collect();
    // First the throughput that is free of charge in each pool, then the rest.
    let mut from = used.clone();
    let free = rules.free_mib.map(|free| sizes.iter().map(|_| free).collect::<Vec<u64>>());
    let all: Vec<u64> = sizes.iter().map(|size| rules.most_mib(*size)).collect();
    if all.iter().zip(&used).any(|(all, used)| all < used) {
        return false;
    }
    for ceilings in free.into_iter().chain([all.clone()]) {
        let mut room: Vec<u64> = ceilings
            .iter()
            .zip(&all)
            .zip(&from)
            .map(|((ceiling, all), from)| ceiling.min(all).saturating_sub(*from))
            .collect();
        let before = room.clone();
        for part in &order {
            let mut own: Vec<Amount<'_>> = slots
                .iter_mut()
                .filter(|slot| slot.part == *part)
                .map(|slot| Amount { pool: slot.pool, value: &mut slot.mib, most })
                .collect();
            more[*part] = fill(&mut own, more[*part], &mut room);
        }
        for ((from, before), room) in from.iter_mut().zip(&before).zip(&room) {
            *from += before - room;
        }
    }
    more.iter().all(|left| *left == 0)
}

/// A volume's quota or throughput with its maximum.
struct Amount<'a> {
    pool: usize,
    value: &'a mut u64,
    most: u64,
}

impl Amount<'_> {
    /// The amount missing to `level`.
    fn up_to(&self, level: u64) -> u64 {
        level.min(self.most).saturating_sub(*self.value)
    }
}

/// Distributes `amount` over the volumes that have least, within the room of their pools. Returns
/// the remainder.
fn fill(volumes: &mut [Amount<'_>], amount: u64, room: &mut [u64]) -> u64 {
    let taken = |volumes: &[Amount<'_>], room: &[u64], level: u64| -> Vec<u64> {
        let mut of_pool = vec![0u64; room.len()];
        for volume in volumes {
            of_pool[volume.pool] = of_pool[volume.pool].saturating_add(volume.up_to(level));
        }
        of_pool.iter().zip(room).map(|(want, room)| *want.min(room)).collect()
    };
    let fits = |level: u64| taken(volumes, room, level).iter().sum::<u64>() <= amount;
    let highest = volumes.iter().map(|v| v.value.saturating_add(amount)).max().unwrap_or(0);
    let level = last_where(highest, fits);
    let mut of_pool = taken(volumes, room, level);
    let mut left = amount - of_pool.iter().sum::<u64>();
    for (has, could) in of_pool.iter_mut().zip(taken(volumes, room, level.saturating_add(1))) {
        let more = left.min(could - *has);
        *has += more;
        left -= more;
    }
    for (pool, amount) in of_pool.into_iter().enumerate() {
        room[pool] -= amount;
        raise(volumes, pool, amount);
    }
    left
}

/// Distributes `amount` over the volumes of one pool that have least; ties go to the first.
fn raise(volumes: &mut [Amount<'_>], pool: usize, amount: u64) {
    let needs = |volumes: &[Amount<'_>], level: u64| -> u64 {
        volumes.iter().filter(|v| v.pool == pool).map(|v| v.up_to(level)).sum()
    };
    let highest = volumes.iter().map(|v| v.value.saturating_add(amount)).max().unwrap_or(0);
    let level = last_where(highest, |level| needs(volumes, level) <= amount);
    let mut left = amount - needs(volumes, level);
    for volume in volumes.iter_mut().filter(|v| v.pool == pool) {
        let up = volume.up_to(level);
        *volume.value += up;
        let more = left.min(volume.up_to(level.saturating_add(1)));
        *volume.value += more;
        left -= more;
    }
}

/// The largest number up to `highest` for which `holds`; it must hold for 0 and be monotonic.
fn last_where(highest: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, highest);
    while low < high {
        let middle = high - (high - low) / 2;
        match holds(middle) {
            true => low = middle,
            false => high = middle - 1,
        }
    }
    low
}
