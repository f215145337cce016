//! What is there today, beside what is proposed.

use sizing::avs::present::{Beside, GuestsToday, HostsToday, StoresToday, Today};
use units::{Bytes, counted, percent, thousands};

use super::tables::tib;
use crate::document::{Block, Column, Table};
use crate::number::NONE;

/// A table of today and the designs, and what else is known of today.
pub(super) fn blocks(today: &Today) -> Vec<Block> {
    let mut blocks = Vec::new();
    if !today.beside.is_empty() {
        blocks.push(Block::Table(beside(&today.beside)));
    }
    let mut points = Vec::new();
    points.extend(today.hosts.as_ref().and_then(hosts));
    points.extend(today.datastores.iter().map(stores));
    if let Some(guests) = &today.guests {
        points.extend(self::guests(guests, today.beside.last()));
    }
    if !points.is_empty() {
        blocks.push(Block::List(points));
    }
    blocks
}

fn beside(all: &[Beside]) -> Table {
    let mut columns = vec![Column::words("Of")];
    columns.extend(all.iter().map(|one| Column::numbers(&one.name, "")));
    let number = |of: fn(&Beside) -> Option<u64>| {
        all.iter().map(|one| of(one).map_or(NONE.to_owned(), thousands)).collect::<Vec<_>>()
    };
    let size = |of: fn(&Beside) -> Option<Bytes>| {
        all.iter().map(|one| of(one).map_or(NONE.to_owned(), tib)).collect::<Vec<_>>()
    };
    let row = |name: &str, cells: Vec<String>| [vec![name.to_owned()], cells].concat();
    let rows = vec![
        row("hosts", number(|one| one.hosts)),
        row("clusters", number(|one| one.clusters)),
        row("cores", number(|one| one.cores)),
        row("memory, TiB", size(|one| one.memory)),
        row("datastores", number(|one| one.datastores)),
        row("they can hold, TiB", size(|one| one.capacity)),
        row("they hold, TiB", size(|one| one.stored)),
    ];
    let rows = rows.into_iter().filter(|row| row.get(1).is_some_and(|cell| cell != NONE));
    let caption = "Today is the whole inventory, machines that do not count with it. Datastores \
                   of a design are vSAN's, one of each cluster, and those on files."
        .to_owned();
    Table { caption, columns, rows: rows.collect() }
}

/// What the table does not say of hosts.
fn hosts(hosts: &HostsToday) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(vcpus) = hosts.vcpus {
        parts.push(format!("{} vCPUs", thousands(vcpus)));
    }
    if let Some(share) = hosts.processors_permille {
        parts.push(format!("processors {} busy", percent(share)));
    }
    if let Some(share) = hosts.memory_permille {
        parts.push(format!("memory {} full", percent(share)));
    }
    if let Some(failover) = hosts.failover {
        let host = if failover == 1 { "host" } else { "hosts" };
        parts.push(format!("set to stand {failover} failed {host} over all clusters"));
    }
    (!parts.is_empty()).then(|| format!("Hosts: {}.", parts.join(", ")))
}

fn stores(stores: &StoresToday) -> String {
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
    if let Some(share) = stores.committed_permille() {
        text.push_str(&format!("; {} of it was given to machines", percent(share)));
    }
    if stores.unknown > 0 {
        let which = match stores.unknown {
            1 => "1 that does not say its size or what it holds is".to_owned(),
            many => format!("{} that do not say their size or what they hold are", thousands(many)),
        };
        text.push_str(&format!("; {which} not in it"));
    }
    text + "."
}

fn guests(guests: &GuestsToday, proposed: Option<&Beside>) -> Vec<String> {
    let mut points = Vec::new();
    let who = format!("{} of {} machines", thousands(guests.machines), thousands(guests.of));
    let held = guests.held;
    if let (Some(used), Some(in_use), Some(less)) =
        (held.guest_used, held.in_use, guests.reclaimable())
    {
        points.push(format!(
            "Guests of {who} hold {} TiB in their file systems, and {} TiB on datastores: {} TiB \
             are snapshots, swap and blocks that guests gave up (`--storage guest` leaves them \
             out).",
            tib(used),
            tib(in_use),
            tib(less)
        ));
    }
    if let (Some(capacity), Some(growth)) = (held.guest_capacity, guests.growth()) {
        let mut text = format!(
            "Their file systems have room for {} TiB: they may grow by {} TiB before anyone is \
             asked, and thin datastores with them",
            tib(capacity),
            tib(growth)
        );
        if let Some(provisioned) = held.provisioned {
            text.push_str(&format!("; {} TiB are provisioned to them", tib(provisioned)));
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
        let vmfs = StoresToday {
            kind: "VMFS".to_owned(),
            count: 3,
            unknown: 1,
            capacity: Bytes::gib(2048),
            provisioned: None,
            in_use: Bytes::gib(1024),
        };
        let some = stores(&vmfs);
        assert!(some.starts_with("VMFS (3 datastores): 2.0 TiB, 1.0 TiB in use"), "{some}");
        assert!(some.ends_with("; 1 that does not say its size or what it holds is not in it."));
        let fewer = stores(&StoresToday { unknown: 2, ..vmfs.clone() });
        assert!(fewer.contains("; 2 that do not say their size or what they hold are not in it"));
        let none = stores(&StoresToday { unknown: 3, ..vmfs });
        assert_eq!(none, "VMFS (3 datastores), with no sizes in the export.");
    }
}
