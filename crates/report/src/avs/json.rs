//! The same as JSON: every number with its unit in the name, every reason with its rows.

use std::io::{self, Write};

use cloud::price::Usd;
use cloud::row::Status;
use serde_json::{Value, json};
use sizing::avs::Sizing;
use sizing::avs::current_estate::CurrentEstate;
use sizing::avs::design::{Datastore, Design};
use sizing::avs::loads::LoadFrom;
use sizing::avs::recommendation::Direction;
use sizing::avs::statement::Reason;
use units::{Bytes, Share};

use super::{Source, statements, words};

/// Increased when a reader of the previous version would misread the new one. Version 1 had no
/// such field.
const SCHEMA_VERSION: u32 = 2;

/// Writes the document.
///
/// # Errors
/// Those of `out`.
pub fn write(sizing: &Sizing, source: &Source, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &document(sizing, source))?;
    writeln!(out)
}

fn document(sizing: &Sizing, source: &Source) -> Value {
    let (selection, hosts) = (&sizing.selection, &sizing.hosts);
    let totals = &selection.totals;
    let sheets = source.sheets.iter().map(|(name, rows)| json!({ "name": name, "rows": rows }));
    json!({
        "schema_version": SCHEMA_VERSION,
        "read": {
            "files": source.files,
            "sheets": sheets.collect::<Vec<_>>(),
            "sheets_absent": source.absent,
            "notes": source.notes,
        },
        "machines": {
            "counted": selection.machines.len(),
            "left_out": selection.dropped,
            "with_measured_load": selection.measured,
            "vcpus": totals.vcpus,
            "memory_bytes": totals.memory.get(),
            "storage_bytes": totals.storage.get(),
            "ops_per_s": totals.ops_per_s,
            "bytes_per_s": totals.bytes_per_s,
            "loads": {
                "measured": selection.measured,
                "profile": selection.machines.iter()
                    .filter(|machine| machine.load_from == LoadFrom::Class)
                    .count(),
                "options": selection.by_options,
                "none": selection.without_load,
            },
            "each": selection.machines.iter().map(|machine| json!({
                "name": machine.name,
                "row": machine.row,
                "load_from": machine.load_from.name(),
                "class": selection.class_name(machine),
                "ops_per_s": machine.ops_per_s,
                "bytes_per_s": machine.bytes_per_s,
                "read_permille": machine.read.permille(),
            })).collect::<Vec<_>>(),
        },
        "classes": selection.classes.iter().zip(&sizing.loads).map(|(class, why)| json!({
            "name": class.name,
            "machines": class.machines,
            "measured": class.measured,
            "left_out": class.left_out,
            "assumed_ops_per_s": class.ops_per_s,
            "assumed_bytes_per_s": class.bytes_per_s,
            "reason": reason(why),
        })).collect::<Vec<_>>(),
        "warnings": super::warnings(sizing),
        "today": today(&source.today),
        "hosts": {
            "by_processors": hosts.by_processors,
            "by_memory": hosts.by_memory,
            "by_storage": hosts.by_storage,
            "least": hosts.least,
            "least_by_policy": hosts.least_by_policy,
            "spare_per_cluster": hosts.spare_per_cluster,
            "cluster_max": hosts.cluster_max,
            "reasons": reasons(&hosts.reasons),
        },
        "designs": sizing.designs.iter().map(|one| design(sizing, one)).collect::<Vec<_>>(),
        "best": sizing.best.map(|at| sizing.designs[at].name()),
        "spread": sizing.spread.iter().map(|advice| json!({
            "machine": advice.machine,
            "row": advice.row,
            "datastores": advice.datastores,
            "disks": advice.disks,
            "is_too_much": advice.is_too_much,
            "reason": reason(&advice.reason),
        })).collect::<Vec<_>>(),
        "misfits": sizing.misfits.iter().map(|misfit| json!({
            "machine": misfit.machine,
            "row": misfit.row,
            "disk": misfit.disk,
            "reason": reason(&misfit.reason),
        })).collect::<Vec<_>>(),
        "assumptions": words::assumptions(sizing, source),
    })
}

fn today(today: &CurrentEstate) -> Value {
    let bytes = |size: Option<Bytes>| size.map(Bytes::get);
    json!({
        "hosts": today.hosts.as_ref().map(|hosts| json!({
            "count": hosts.count,
            "clusters": hosts.clusters,
            "cores": hosts.cores,
            "memory_bytes": bytes(hosts.memory),
            "vcpus": hosts.vcpus,
            "processors_busy_permille": hosts.processors.map(Share::permille),
            "memory_full_permille": hosts.memory_used.map(Share::permille),
            "failover": hosts.failover,
        })),
        "datastores": today.datastores.iter().map(|stores| json!({
            "type": stores.kind,
            "count": stores.count,
            "without_size_or_use": stores.unknown,
            "capacity_bytes": stores.capacity.get(),
            "provisioned_bytes": bytes(stores.provisioned),
            "in_use_bytes": stores.in_use.get(),
            "free_bytes": stores.free().get(),
            "committed_permille": stores.committed().map(Share::permille),
        })).collect::<Vec<_>>(),
        "guests": today.guests.as_ref().map(|guests| json!({
            "machines": guests.machines,
            "of": guests.of,
            "provisioned_bytes": bytes(guests.storage_use.provisioned),
            "in_use_bytes": bytes(guests.storage_use.in_use),
            "guest_used_bytes": bytes(guests.storage_use.guest_used),
            "guest_capacity_bytes": bytes(guests.storage_use.guest_capacity),
            "reclaimable_bytes": bytes(guests.reclaimable()),
            "growth_bytes": bytes(guests.growth()),
        })),
        "comparison": today.comparison.iter().map(|one| json!({
            "name": one.name,
            "hosts": one.hosts,
            "clusters": one.clusters,
            "cores": one.cores,
            "memory_bytes": bytes(one.memory),
            "datastores": one.datastores,
            "capacity_bytes": bytes(one.capacity),
            "stored_bytes": bytes(one.stored),
            "free_bytes": bytes(one.free()),
        })).collect::<Vec<_>>(),
    })
}

fn design(sizing: &Sizing, design: &Design) -> Value {
    let saving = sizing.saving(design);
    let pools = design.pools.iter().map(|pool| {
        json!({
            "level": pool.level.name(),
            "qos": pool.qos.name(),
            "size_gib": pool.size_gib,
            "throughput_kib_per_s": pool.throughput.get(),
            "usd_per_month": dollars(pool.month),
        })
    });
    json!({
        "name": design.name(),
        "is_possible": design.is_possible(),
        "lacks": design.lacks.iter().map(|lack| reason(&lack.reason)).collect::<Vec<_>>(),
        "hosts": design.hosts,
        "clusters": design.clusters,
        "vsan": {
            "machines": design.on_vsan.len(),
            "stored_bytes": design.vsan_stored.get(),
            "usable_bytes": design.vsan_usable.get(),
        },
        "pools": pools.collect::<Vec<_>>(),
        "datastores": design.datastores.iter()
            .map(|store| datastore(sizing, store))
            .collect::<Vec<_>>(),
        "files_usd_per_month": dollars(design.files_month),
        "hosts_usd_per_month": dollars(design.hosts_month),
        "usd_per_month": dollars(design.month()),
        "saving": {
            "hosts": saving.hosts,
            "usd_per_month": saving.month.map(|(amount, verdict)| match verdict {
                Direction::Less => amount.as_dollars(),
                Direction::More => -amount.as_dollars(),
            }),
            "break_even_host_usd_per_month": dollars(saving.break_even),
        },
        "reasons": reasons(&design.reasons),
    })
}

fn datastore(sizing: &Sizing, store: &Datastore) -> Value {
    let machines = store.machines.iter().map(|&(at, part, parts)| {
        let machine = &sizing.selection.machines[at];
        json!({ "name": machine.name, "row": machine.row, "part": part, "parts": parts })
    });
    json!({
        "name": store.name,
        "level": store.level.name(),
        "quota_gib": store.quota_gib,
        "throughput_mib_per_s": store.throughput.as_mib(),
        "stored_bytes": store.stored.get(),
        "load_bytes_per_s": store.load_bytes_per_s,
        "machines": machines.collect::<Vec<_>>(),
    })
}

fn dollars(amount: Option<Usd>) -> Option<f64> {
    amount.map(Usd::as_dollars)
}

fn reasons(all: &[Reason]) -> Vec<Value> {
    all.iter().map(reason).collect()
}

fn reason(reason: &Reason) -> Value {
    let rows = reason.rows.iter().map(|row| {
        json!({
            "file": row.file,
            "row": row.row,
            "source": row.source,
            "date": row.date,
            "status": if row.status == Status::Current { "current" } else { "superseded" },
        })
    });
    json!({ "text": statements::text(reason), "rows": rows.collect::<Vec<_>>() })
}
