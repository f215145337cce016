//! The same as JSON: every number with its unit in the name, every reason with its rows.

use std::io::{self, Write};

use cloud::price::Usd;
use cloud::reason::Reason;
use cloud::row::Status;
use serde_json::{Value, json};
use sizing::avs::Sizing;
use sizing::avs::design::{Datastore, Design, Verdict};

use super::Source;

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
        },
        "hosts": {
            "by_processors": hosts.by_processors,
            "by_memory": hosts.by_memory,
            "by_storage": hosts.by_storage,
            "least": hosts.least,
            "least_by_policy": hosts.least_by_policy,
            "reasons": reasons(&hosts.reasons),
        },
        "designs": sizing.designs.iter().map(|one| design(sizing, one)).collect::<Vec<_>>(),
        "best": sizing.best.map(|at| sizing.designs[at].name()),
        "spread": sizing.spread.iter().map(|advice| json!({
            "machine": advice.machine,
            "row": advice.row,
            "datastores": advice.datastores,
            "is_too_much": advice.is_too_much,
            "reason": reason(&advice.reason),
        })).collect::<Vec<_>>(),
        "misfits": sizing.misfits.iter().map(|misfit| json!({
            "machine": misfit.machine,
            "row": misfit.row,
            "disk": misfit.disk,
            "reason": reason(&misfit.reason),
        })).collect::<Vec<_>>(),
        "assumptions": source.senses.iter().chain(&sizing.assumptions).collect::<Vec<_>>(),
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
                Verdict::Less => amount.as_dollars(),
                Verdict::More => -amount.as_dollars(),
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
        "throughput_mib_per_s": store.mib_per_s,
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
    json!({ "text": reason.text, "rows": rows.collect::<Vec<_>>() })
}
