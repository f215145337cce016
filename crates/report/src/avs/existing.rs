//! The current estate, compared with the proposed design.

use sizing::avs::current_estate::{
    CurrentEstate, DatastoreTotals, EstateRow, GuestTotals, HostTotals,
};
use units::{Bytes, counted, thousands};

use super::tables::tib;
use crate::document::{Block, Column, Table};
use crate::number::NONE;

/// The current estate compared with designs, and its details.
pub(super) fn blocks(today: &CurrentEstate) -> Vec<Block> {
    let mut blocks = Vec::new();
    if !today.comparison.is_empty() {
        blocks.push(Block::Table(comparison(&today.comparison)));
    }
    let mut points = Vec::new();
    points.extend(today.hosts.as_ref().and_then(hosts));
    points.extend(today.datastores.iter().map(stores));
    if let Some(guests) = &today.guests {
        points.extend(self::guests(guests, today.comparison.last()));
    }
    if !points.is_empty() {
        blocks.push(Block::List(points));
    }
    blocks
}

fn comparison(all: &[EstateRow]) -> Table {
    let mut columns = vec![Column::words("Quantity")];
    columns.extend(all.iter().map(|one| Column::numbers(&one.name, "")));
    let number = |of: fn(&EstateRow) -> Option<u64>| {
        all.iter().map(|one| of(one).map_or(NONE.to_owned(), thousands)).collect::<Vec<_>>()
    };
    let size = |of: fn(&EstateRow) -> Option<Bytes>| {
        all.iter().map(|one| of(one).map_or(NONE.to_owned(), tib)).collect::<Vec<_>>()
    };
    let row = |name: &str, cells: Vec<String>| [vec![name.to_owned()], cells].concat();
    let rows = vec![
        row("hosts", number(|one| one.hosts)),
        row("clusters", number(|one| one.clusters)),
        row("cores", number(|one| one.cores)),
        row("memory, TiB", size(|one| one.memory)),
        row("datastores", number(|one| one.datastores)),
        row("capacity, TiB", size(|one| one.capacity)),
        row("stored, TiB", size(|one| one.stored)),
    ];
    let rows = rows.into_iter().filter(|row| row.get(1).is_some_and(|cell| cell != NONE));
    let caption =
        "Today is the whole inventory, including machines that are not sized. Datastores of \
                   a design include one of vSAN per cluster."
            .to_owned();
    Table { caption, columns, rows: rows.collect() }
}

/// Details of the hosts.
fn hosts(hosts: &HostTotals) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(vcpus) = hosts.vcpus {
        parts.push(format!("{} vCPUs", thousands(vcpus)));
    }
    if let Some(share) = hosts.processors {
        parts.push(format!("processors {share} busy"));
    }
    if let Some(share) = hosts.memory_used {
        parts.push(format!("memory {share} full"));
    }
    if let Some(failover) = hosts.failover {
        let host = if failover == 1 { "host" } else { "hosts" };
        parts.push(format!("configured to tolerate {failover} failed {host} over all clusters"));
    }
    (!parts.is_empty()).then(|| format!("Hosts: {}.", parts.join(", ")))
}

fn stores(stores: &DatastoreTotals) -> String {
    let count = counted(stores.count, "datastore");
    if stores.unknown == stores.count {
        return format!("{} ({count}), with no sizes in the export.", stores.kind);
    }
    let mut text = format!(
        "{} ({count}): {} TiB, {} TiB in use, {} TiB free",
        stores.kind,
        tib(stores.capacity),
        tib(stores.in_use),
        tib(stores.free())
    );
    if let Some(share) = stores.committed() {
        text.push_str(&format!("; {share} of it is provisioned"));
    }
    if stores.unknown > 0 {
        let which = match stores.unknown {
            1 => "1 datastore without size or usage is".to_owned(),
            many => format!("{} datastores without size or usage are", thousands(many)),
        };
        text.push_str(&format!("; {which} not included"));
    }
    text + "."
}

fn guests(guests: &GuestTotals, proposed: Option<&EstateRow>) -> Vec<String> {
    let mut points = Vec::new();
    let who = format!("{} of {} machines", thousands(guests.machines), thousands(guests.of));
    let storage_use = guests.storage_use;
    if let (Some(used), Some(in_use), Some(less)) =
        (storage_use.guest_used, storage_use.in_use, guests.reclaimable())
    {
        points.push(format!(
            "Guests of {who} use {} TiB in their file systems and {} TiB on datastores: {} TiB are \
             snapshots, swap and blocks that guests freed (`--storage guest` excludes them).",
            tib(used),
            tib(in_use),
            tib(less)
        ));
    }
    if let (Some(capacity), Some(growth)) = (storage_use.guest_capacity, guests.growth()) {
        let mut text = format!(
            "Their file systems have a capacity of {} TiB: they can grow by {} TiB without a new \
             disk, and so can thin datastores",
            tib(capacity),
            tib(growth)
        );
        if let Some(provisioned) = storage_use.provisioned {
            text.push_str(&format!("; {} TiB are provisioned", tib(provisioned)));
        }
        if let Some((free, design)) = proposed.and_then(|one| Some((one.free()?, &one.name))) {
            text.push_str(&format!("; datastores of {design} have {} TiB free", tib(free)));
        }
        points.push(text + ".");
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_datastores_that_say_nothing_no_sizes_are_shown() {
        let vmfs = DatastoreTotals {
            kind: "VMFS".to_owned(),
            count: 3,
            unknown: 1,
            capacity: Bytes::gib(2048),
            provisioned: None,
            in_use: Bytes::gib(1024),
        };
        let some = stores(&vmfs);
        assert!(some.starts_with("VMFS (3 datastores): 2.0 TiB, 1.0 TiB in use"), "{some}");
        assert!(some.ends_with("; 1 datastore without size or usage is not included."));
        let fewer = stores(&DatastoreTotals { unknown: 2, ..vmfs.clone() });
        assert!(fewer.contains("; 2 datastores without size or usage are not included"));
        let none = stores(&DatastoreTotals { unknown: 3, ..vmfs });
        assert_eq!(none, "VMFS (3 datastores), with no sizes in the export.");
    }
}
