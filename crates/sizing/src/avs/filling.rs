//! Places machines on the datastores of one pool, and sizes the pool and its datastores.

use cloud::avs::AvsLimit;
use cloud::row::LimitName;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use cloud::volume_limit::VolumeSettings;
use units::{Bytes, BytesPerSec, Share};

use crate::avs::ask::{Ask, Facts};
use crate::avs::design::{Datastore, Design};
use crate::avs::placement::{Item, Placement, pack};
use crate::avs::pool::{ceiling_mib_per_s, pool, qos};
use crate::avs::selection::Selection;
use crate::avs::spread;
use crate::avs::statement::{Reason, Statement};

/// Places machines on the datastores of one pool, adding datastores if they do not fit.
pub(crate) fn fill(
    level: ServiceLevel,
    group: &[usize],
    count: u64,
    design: &mut Design,
    selection: &Selection,
    ask: &Ask,
    facts: &Facts<'_>,
) -> Result<(), Reason> {
    let headroom = headroom(ask, facts);
    let largest = facts.catalog.limit(LimitName::RegularVolumeSizeMax);
    let largest = ask.datastore_gib_max.map_or(largest, |asked| asked.min(largest));
    let stored_max = u128::from(largest) * (1 << 30) * 100 / u128::from(100 + headroom);
    let stored_max = u64::try_from(stored_max).unwrap_or(u64::MAX);
    let items = items(group, selection, facts);
    let ceiling = ceiling_mib_per_s(level, qos(level, knows_loads(&items), facts), facts);
    // A datastore without a machine is useless.
    let count = match (ask.datastores, items.len() as u64) {
        (None, machines) if machines < count => {
            design.reasons.push(Reason::given(Statement::AsManyAsMachines { level, machines }));
            machines
        }
        _ => count,
    };
    let most = match ask.datastores {
        Some(_) => count,
        None => facts.avs.limit(AvsLimit::DatastoresMax),
    };
    let enough = |placement: &Placement| {
        placement.bins.iter().all(|bin| bin.load.div_ceil(1 << 20) <= ceiling)
    };
    let start = least_count(&items, stored_max, ceiling).max(count);
    let placed = (start..=most).find_map(|count| {
        let count = usize::try_from(count).ok()?;
        pack(&items, count, stored_max).filter(enough)
    });
    let Some(placement) = placed else {
        return Err(cannot_pack(&items, level, most, stored_max, ceiling, facts));
    };
    buy(level, &items, &placement, headroom, design, facts)
}

/// Lower bound of the datastores of any placement.
fn least_count(items: &[Item], stored_max: u64, ceiling_mib_per_s: u64) -> u64 {
    let stored: u128 = items.iter().map(|item| u128::from(item.stored)).sum();
    let load: u128 = items.iter().map(|item| u128::from(item.load)).sum();
    let ceiling = u128::from(ceiling_mib_per_s) * (1 << 20);
    let count = stored.div_ceil(u128::from(stored_max).max(1)).max(load.div_ceil(ceiling.max(1)));
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn cannot_pack(
    items: &[Item],
    level: ServiceLevel,
    count: u64,
    stored_max: u64,
    ceiling: u64,
    facts: &Facts<'_>,
) -> Reason {
    let largest = items.iter().map(|item| item.stored).max().unwrap_or(0);
    let busiest = items.iter().map(|item| item.load.div_ceil(1 << 20)).max().unwrap_or(0);
    let row = facts.catalog.limit_row(LimitName::RegularVolumeSizeMax);
    if largest > stored_max {
        let (stored, excess) = (Bytes::new(largest), Bytes::new(largest - stored_max));
        return Reason::from_rows(Statement::LargeMachine { stored, excess }, [row]);
    }
    let qos = qos(level, knows_loads(items), facts);
    let ceiling_row = facts.catalog.volume_ceiling_row(level, qos, VolumeKind::Regular);
    if busiest > ceiling {
        let (mib_per_s, excess) = (busiest, busiest - ceiling);
        return Reason::from_rows(Statement::BusyMachine { level, mib_per_s, excess }, ceiling_row);
    }
    let required = least_count(items, stored_max, ceiling);
    let statement = Statement::DatastoresRequired { level, required, allowed: count };
    Reason::from_rows(statement, ceiling_row.into_iter().chain([row]))
}

/// The pool and datastores of a placement.
fn buy(
    level: ServiceLevel,
    items: &[Item],
    placement: &Placement,
    headroom: u64,
    design: &mut Design,
    facts: &Facts<'_>,
) -> Result<(), Reason> {
    let least = facts.catalog.limit(LimitName::RegularVolumeSizeMin);
    let quota = |stored: u64| {
        let required = u128::from(stored) * u128::from(100 + headroom);
        let gib = required.div_ceil(100 * (1 << 30));
        u64::try_from(gib).unwrap_or(u64::MAX).max(least)
    };
    let qos = qos(level, knows_loads(items), facts);
    // Each is assigned at least 1 MiB/s, even without a known load.
    let needs: Vec<u64> =
        placement.bins.iter().map(|bin| bin.load.div_ceil(1 << 20).max(1)).collect();
    let quota_gib = placement.bins.iter().map(|bin| quota(bin.stored)).sum();
    let required = (qos == QosType::Manual).then(|| needs.iter().sum::<u64>());
    let pool = pool(level, quota_gib, required, facts)?;
    let ceiling = ceiling_mib_per_s(level, qos, facts);
    let has = pool.throughput.get() / 1024;
    for (at, bin) in placement.bins.iter().enumerate() {
        let quota_gib = quota(bin.stored);
        // Throughput beyond the required one is distributed in the same proportions.
        let assigned = required.map(|required| (has * needs[at] / required.max(1)).min(ceiling));
        let settings = VolumeSettings {
            level,
            kind: VolumeKind::Regular,
            qos,
            quota: Bytes::gib(quota_gib),
            assigned: assigned.map(|mib| KibPerSec::new(mib * 1024)),
        };
        let limit = facts.catalog.volume_limit(&settings);
        let limit =
            limit.expect("placement keeps every datastore within the range of a regular volume");
        let machines = bin.items.iter().map(|&index| {
            let item = &items[index];
            let parts = items.iter().filter(|other| other.machine == item.machine).count();
            (item.machine, item.part + 1, parts as u64)
        });
        design.datastores.push(Datastore {
            name: format!("{level}-{}", at + 1),
            level,
            quota_gib,
            throughput: limit.throughput.unwrap_or(limit.granted),
            machines: machines.collect(),
            stored: Bytes::new(bin.stored),
            load_bytes_per_s: bin.load,
        });
    }
    design.reasons.push(fullness(level, placement, headroom, facts));
    design.reasons.extend(pool.reasons.iter().cloned());
    design.files_month = design.files_month.zip(pool.month).map(|(sum, more)| sum + more);
    design.pools.push(pool);
    Ok(())
}

/// Whether the load of any machine is known.
fn knows_loads(items: &[Item]) -> bool {
    items.iter().any(|item| item.load > 0)
}

/// The fullest and busiest datastores of a placement, with lower bounds.
fn fullness(
    level: ServiceLevel,
    placement: &Placement,
    headroom: u64,
    facts: &Facts<'_>,
) -> Reason {
    let stored = placement.bins.iter().map(|bin| bin.stored).max().unwrap_or(0);
    let load = placement.bins.iter().map(|bin| bin.load).max().unwrap_or(0);
    let rate = |bytes: u64| BytesPerSec::new(bytes as f64);
    let statement = Statement::Placement {
        level,
        datastores: placement.bins.len() as u64,
        stored: (Bytes::new(stored), Bytes::new(placement.stored_bound)),
        headroom: Share::from_percent(headroom),
        load: (load > 0).then(|| (rate(load), rate(placement.load_bound))),
    };
    Reason::from_rows(statement, [facts.avs.limit_row(AvsLimit::DatastoreHeadroom)])
}

/// Machines as items; those on several datastores in equal parts.
fn items(group: &[usize], selection: &Selection, facts: &Facts<'_>) -> Vec<Item> {
    let mut items = Vec::new();
    for &at in group {
        let machine = &selection.machines[at];
        let parts = spread::datastores(machine, facts.avs);
        for part in 0..parts {
            items.push(Item {
                machine: at,
                part,
                stored: machine.storage.get().div_ceil(parts),
                load: machine.bytes_per_s.unwrap_or(0).div_ceil(parts),
            });
        }
    }
    items
}

pub(crate) fn headroom(ask: &Ask, facts: &Facts<'_>) -> u64 {
    ask.headroom_percent.unwrap_or_else(|| facts.avs.limit(AvsLimit::DatastoreHeadroom))
}
