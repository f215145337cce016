//! Volumes of unequal sizes in pools of unequal sizes, so that the pools are as small as possible.
//!
//! Pools have whole TiB, so equal volumes waste up to 1 TiB in each of several pools. Here the
//! pools' sizes add up to the least that holds the quotas and gives the throughput
//! (`least_steps`), and the volumes fill them. Within that, volumes are as even as possible.
//!
//! Bound: with one part the sum is `least_steps` unless whole TiB of a pool and the ceilings of its
//! volumes forbid it, and then the next larger sum that works; with several parts it is never
//! more than equal volumes would need, that is less than `least_steps` plus 1 TiB for each pool.

use cloud::catalog::Catalog;
use cloud::row::LimitName;
use cloud::service_level::{QosType, ServiceLevel};
use cloud::throughput::KibPerSec;

use crate::storage::Choice;

/// Throughput is assigned in steps of 1 MiB/s: this many KiB/s.
const MIB: u64 = 1024;

/// What the volumes of one part need together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    /// Volumes of the part.
    pub(crate) count: u64,
    /// Their quotas together, in GiB.
    pub(crate) quota_gib: u64,
    /// The largest quota of one of them: beyond it throughput would be lost, in GiB.
    pub(crate) quota_most_gib: u64,
    /// With manual QoS, their throughput together, in MiB/s; otherwise 0.
    pub(crate) assigned_mib: u64,
}

/// One volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    /// The index of its part.
    pub(crate) part: usize,
    /// In GiB.
    pub(crate) quota_gib: u64,
    /// In MiB/s; 0 with auto QoS.
    pub(crate) assigned_mib: u64,
}

/// A pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PoolOf {
    /// In GiB.
    pub(crate) size_gib: u64,
    /// Its volumes, in the order of their parts.
    pub(crate) volumes: Vec<Placed>,
}

/// The limits that an arrangement keeps, of one choice.
struct Rules<'a> {
    /// The smallest quota of a volume in GiB.
    quota_least: u64,
    /// Throughput of one volume in MiB/s with manual QoS.
    assigned: (u64, u64),
    /// Size of a pool in GiB.
    pool: (u64, u64),
    /// Pools have a multiple of it, in GiB.
    step: u64,
    /// With manual QoS, what says how much throughput a pool of a size may have.
    by_size: Option<(&'a Catalog, ServiceLevel)>,
    /// With a level whose throughput is bought separately, what a pool has for free, in MiB/s.
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

    /// The most throughput of a pool of a size, in MiB/s.
    fn most_mib(&self, size_gib: u64) -> u64 {
        let most = |(catalog, level): (&Catalog, ServiceLevel)| {
            catalog.pool_throughput(level, size_gib).most().get() / MIB
        };
        self.by_size.map_or(0, most)
    }

    /// The least size that gives a throughput, in GiB.
    fn gib_for(&self, mib: u64) -> u64 {
        let least = |(catalog, level): (&Catalog, ServiceLevel)| {
            catalog.least_size_gib(level, KibPerSec::new(mib.saturating_mul(MIB)))
        };
        self.by_size.map_or(0, least)
    }
}

/// A volume while amounts are shared out.
struct Slot {
    part: usize,
    pool: usize,
    quota: u64,
    mib: u64,
}

/// Volumes in so many pools; `None` where a pool would be too large or have too many volumes.
pub(crate) fn arrange(
    parts: &[Share],
    pools: u64,
    choice: &Choice,
    catalog: &Catalog,
) -> Option<Vec<PoolOf>> {
    let rules = Rules::of(choice, catalog);
    let pools = usize::try_from(pools).ok()?;
    let owners =
        parts.iter().enumerate().flat_map(|(part, share)| (0..share.count).map(move |_| part));
    let empty =
        |(place, part): (usize, usize)| Slot { part, pool: place % pools, quota: 0, mib: 0 };
    let mut slots: Vec<Slot> = owners.enumerate().map(empty).collect();
    let in_pool = |pool: usize| slots.iter().filter(move |slot| slot.pool == pool);
    if (0..pools).any(|pool| in_pool(pool).count() as u64 > rules.volumes_per_pool) {
        return None;
    }
    // What each pool needs with equal volumes: its least size, its size without the last step, and
    // what is left of that step, in thousandths.
    let needs: Vec<(u64, u64, u64)> = (0..pools)
        .map(|pool| {
            let (mut quota, mut mib) = (0u128, 0u128);
            for slot in in_pool(pool) {
                let share = &parts[slot.part];
                quota += u128::from(share.quota_gib) * 1000 / u128::from(share.count.max(1));
                mib += u128::from(share.assigned_mib) * 1000 / u128::from(share.count.max(1));
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
    // Equal volumes need less than one step more in each pool, and one for what rounding adds.
    for steps in first..=first + 2 * pools as u64 {
        let mut sizes: Vec<u64> = needs.iter().map(|(_, base, _)| *base).collect();
        let more = steps - base;
        for (place, pool) in neediest.iter().enumerate() {
            sizes[*pool] += more / pools as u64 + u64::from((place as u64) < more % pools as u64);
        }
        let sizes: Vec<u64> = sizes.into_iter().map(|steps| steps * rules.step).collect();
        if sizes.iter().any(|size| *size > rules.pool.1) {
            return None;
        }
        if fills(&mut slots, parts, &sizes, &rules) {
            let volumes = |pool: usize| {
                let own = slots.iter().filter(move |slot| slot.pool == pool);
                let placed = |slot: &Slot| Placed {
                    part: slot.part,
                    quota_gib: slot.quota,
                    assigned_mib: slot.mib,
                };
                own.map(placed).collect()
            };
            let pool =
                |(pool, size): (usize, u64)| PoolOf { size_gib: size, volumes: volumes(pool) };
            return Some(sizes.into_iter().enumerate().map(pool).collect());
        }
    }
    None
}

/// The least size of all pools together, in steps: what holds the quotas and gives the throughput
/// if sizes and throughput could be divided at will.
fn least_steps(parts: &[Share], rules: &Rules<'_>) -> u64 {
    let quota: u64 = parts.iter().map(|share| share.quota_gib).sum();
    let mib: u64 = parts.iter().map(|share| share.assigned_mib).sum();
    quota.div_ceil(rules.step).max(rules.gib_for(mib).div_ceil(rules.step))
}

/// Shares quotas and throughput out to the volumes; `false` where pools of these sizes have too
/// little of either.
fn fills(slots: &mut [Slot], parts: &[Share], sizes: &[u64], rules: &Rules<'_>) -> bool {
    // The part with the fewest volumes has the least choice of pools and comes first.
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|part| parts[*part].count);
    let taken = |slots: &[Slot], each: u64| -> Vec<u64> {
        (0..sizes.len())
            .map(|pool| slots.iter().filter(|slot| slot.pool == pool).count() as u64 * each)
            .collect()
    };
    let least = rules.quota_least;
    slots.iter_mut().for_each(|slot| slot.quota = least);
    let held = taken(slots, least);
    let mut room: Vec<u64> =
        sizes.iter().zip(&held).map(|(size, held)| size.saturating_sub(*held)).collect();
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
    let held = taken(slots, least);
    let mut more: Vec<u64> =
        parts.iter().map(|share| share.assigned_mib.saturating_sub(share.count * least)).collect();
    // First what is free in every pool, then what is bought or given by size.
    let mut from = held.clone();
    let free = rules.free_mib.map(|free| sizes.iter().map(|_| free).collect::<Vec<u64>>());
    let all: Vec<u64> = sizes.iter().map(|size| rules.most_mib(*size)).collect();
    if all.iter().zip(&held).any(|(all, held)| all < held) {
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

/// What one volume has of something, and the most that it may have.
struct Amount<'a> {
    pool: usize,
    value: &'a mut u64,
    most: u64,
}

impl Amount<'_> {
    /// What it takes to bring it up to `level`.
    fn up_to(&self, level: u64) -> u64 {
        level.min(self.most).saturating_sub(*self.value)
    }
}

/// Gives `amount` to the volumes that have least, as far as their pools have room; what is left.
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

/// Gives `amount` to the volumes of one pool that have least, the first of them first.
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

/// The largest number up to `highest` for which `holds`, which holds of 0 and of all below it.
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
