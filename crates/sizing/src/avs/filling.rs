//! Machines on the datastores of one pool, and what the pool and its datastores are.

use cloud::avs::AvsLimit;
use cloud::reason::Reason;
use cloud::row::LimitName;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use cloud::volume_limit::VolumeSettings;
use units::{Bytes, counted, thousands};

use crate::avs::ask::{Ask, Facts};
use crate::avs::design::{Datastore, Design};
use crate::avs::machine::Selection;
use crate::avs::placement::{Item, Placement, place};
use crate::avs::pool::{ceiling_mib_per_s, pool, qos};
use crate::avs::spread;

/// Machines on the datastores of one pool; more datastores where they do not fit.
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
    // A datastore without a machine is good for nothing.
    let count = match (ask.datastores, items.len() as u64) {
        (None, machines) if machines < count => {
            let text = format!("{level}: no more datastores than machines on them, {machines}");
            design.reasons.push(Reason::asked(text));
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
        place(&items, count, stored_max).filter(enough)
    });
    let Some(placement) = placed else {
        return Err(cannot_place(&items, level, start.max(most), stored_max, ceiling, facts));
    };
    buy(level, &items, &placement, headroom, design, facts)
}

/// Fewer datastores than this cannot hold or carry the items, however they are placed.
fn least_count(items: &[Item], stored_max: u64, ceiling_mib_per_s: u64) -> u64 {
    let stored: u128 = items.iter().map(|item| u128::from(item.stored)).sum();
    let load: u128 = items.iter().map(|item| u128::from(item.load)).sum();
    let ceiling = u128::from(ceiling_mib_per_s) * (1 << 20);
    let count = stored.div_ceil(u128::from(stored_max).max(1)).max(load.div_ceil(ceiling.max(1)));
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn cannot_place(
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
        let text = format!(
            "a machine stores {}, {} more than a datastore has room for",
            Bytes::new(largest),
            Bytes::new(largest - stored_max)
        );
        return Reason::from_rows(text, [row]);
    }
    let qos = qos(level, knows_loads(items), facts);
    let ceiling_row = facts.catalog.volume_ceiling_row(level, qos, VolumeKind::Regular);
    if busiest > ceiling {
        let text = format!(
            "a machine moves {} MiB/s, {} MiB/s more than a {level} volume can",
            thousands(busiest),
            thousands(busiest - ceiling)
        );
        return Reason::from_rows(text, ceiling_row);
    }
    let least = least_count(items, stored_max, ceiling);
    let text = format!(
        "at least {} {level} datastores are needed for capacity and throughput, and {} are to be",
        thousands(least),
        thousands(count)
    );
    Reason::from_rows(text, ceiling_row.into_iter().chain([row]))
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
        let wanted = u128::from(stored) * u128::from(100 + headroom);
        let gib = wanted.div_ceil(100 * (1 << 30));
        u64::try_from(gib).unwrap_or(u64::MAX).max(least)
    };
    let qos = qos(level, knows_loads(items), facts);
    // Each is assigned at least 1 MiB/s, also where its load is not known.
    let needs: Vec<u64> =
        placement.bins.iter().map(|bin| bin.load.div_ceil(1 << 20).max(1)).collect();
    let quota_gib = placement.bins.iter().map(|bin| quota(bin.stored)).sum();
    let wanted = (qos == QosType::Manual).then(|| needs.iter().sum::<u64>());
    let pool = pool(level, quota_gib, wanted, facts)?;
    let ceiling = ceiling_mib_per_s(level, qos, facts);
    let has = pool.throughput.get() / 1024;
    for (at, bin) in placement.bins.iter().enumerate() {
        let quota_gib = quota(bin.stored);
        // What the pool has beyond what is needed is given in the same proportions.
        let assigned = wanted.map(|wanted| (has * needs[at] / wanted.max(1)).min(ceiling));
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
        let machines = bin.items.iter().map(|&place| {
            let item = &items[place];
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

/// How even a placement is, beside what nobody could do better.
fn fullness(
    level: ServiceLevel,
    placement: &Placement,
    headroom: u64,
    facts: &Facts<'_>,
) -> Reason {
    let stored = placement.bins.iter().map(|bin| bin.stored).max().unwrap_or(0);
    let load = placement.bins.iter().map(|bin| bin.load).max().unwrap_or(0);
    let mut text = format!(
        "{level}: {}; the fullest stores {} (no placement less than {}), with {headroom} \
         % beside it for snapshots",
        counted(placement.bins.len() as u64, "datastore"),
        Bytes::new(stored),
        Bytes::new(placement.stored_bound)
    );
    if load > 0 {
        text.push_str(&format!(
            "; the busiest moves {} (no placement less than {})",
            spread::mib_per_s(load),
            spread::mib_per_s(placement.load_bound)
        ));
    }
    Reason::from_rows(text, [facts.avs.limit_row(AvsLimit::DatastoreHeadroom)])
}

/// Machines, those that are to be spread in equal parts.
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
