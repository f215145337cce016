//! The sheets that add to the machines: disks, memory, file systems, loads; and hosts and
//! datastores.

use std::collections::BTreeMap;

use units::Bytes;

use crate::error::{CellMistake, Error};
use crate::headings::{Field, Tab};
use crate::inventory::{Cluster, Datastore, Disk, Host, Inventory, Load, Machine};
use crate::machines::{Skipped, mebibytes};
use crate::sheet::{Columns, Row, Sheet};

/// Bytes in a KB of Live Optics, which has it from vSphere's counters, which count in 1,024s.
const KIB: f64 = 1024.0;

/// Adds what a sheet says.
///
/// # Errors
/// A needed heading is missing. Wrong cells go to `mistakes`.
pub(crate) fn add(
    tab: Tab,
    sheet: &Sheet,
    inventory: &mut Inventory,
    mistakes: &mut Vec<CellMistake>,
    notes: &mut Vec<String>,
) -> Result<(), Error> {
    let columns = sheet.columns(tab, notes)?;
    match tab {
        Tab::Host => inventory.hosts = hosts(&columns, sheet, mistakes),
        Tab::Cluster => inventory.clusters = clusters(&columns, sheet, mistakes),
        Tab::Datastore => inventory.datastores = datastores(&columns, sheet, mistakes),
        _ => {
            let index = Index::of(&inventory.machines, &columns);
            index.tell(sheet, notes);
            let mut skipped = Skipped::default();
            for row in &sheet.rows {
                let Some(name) = columns.text(row, Field::Name) else { continue };
                match index.find(&columns, row, &name) {
                    Some(place) => {
                        let machine = &mut inventory.machines[place];
                        add_row(tab, &columns, row, machine, mistakes);
                    }
                    // Rows of machines that were skipped themselves end here too.
                    None => skipped.add("of unknown machines", columns.place(row, Field::Name)),
                }
            }
            skipped.tell(&sheet.name, notes);
        }
    }
    if tab == Tab::LiveDisks {
        count_all_disks(&mut inventory.machines);
    }
    Ok(())
}

fn add_row(
    tab: Tab,
    columns: &Columns<'_>,
    row: &Row,
    machine: &mut Machine,
    mistakes: &mut Vec<CellMistake>,
) {
    let sum = |known: Option<Bytes>, more: Option<Bytes>| match (known, more) {
        (Some(known), Some(more)) => known.checked_add(more),
        (known, more) => known.or(more),
    };
    match tab {
        Tab::Disk | Tab::LiveDisks => {
            let capacity = columns.read(row, Field::Capacity, mistakes, mebibytes);
            let raw = columns.read(row, Field::Raw, mistakes, |cell, _| cell.truth());
            if let Some(capacity) = capacity {
                let number = machine.disks.len() + 1;
                let label = columns.text(row, Field::Label);
                let label = label.unwrap_or_else(|| format!("disk {number}"));
                machine.disks.push(Disk { label, capacity, is_raw: raw.unwrap_or(false) });
            }
        }
        Tab::Memory => {
            let consumed = columns.read(row, Field::Consumed, mistakes, mebibytes);
            machine.memory_consumed = sum(machine.memory_consumed, consumed);
        }
        Tab::Partition => {
            let consumed = columns.read(row, Field::Consumed, mistakes, mebibytes);
            machine.guest_used = sum(machine.guest_used, consumed);
            let capacity = columns.read(row, Field::Capacity, mistakes, mebibytes);
            machine.guest_capacity = sum(machine.guest_capacity, capacity);
        }
        _ => {
            let mut number =
                |field| columns.read(row, field, mistakes, |cell, decimal| cell.number(decimal));
            machine.load = Some(Load {
                peak_ops_per_s: number(Field::PeakOps),
                mean_ops_per_s: number(Field::MeanOps),
                peak_bytes_per_s: number(Field::PeakKb).map(|kb| kb * KIB),
                mean_bytes_per_s: number(Field::MeanKb).map(|kb| kb * KIB),
            });
        }
    }
}

/// Live Optics writes the size of the first disk only where a machine has several.
fn count_all_disks(machines: &mut [Machine]) {
    for machine in machines.iter_mut().filter(|machine| !machine.disks.is_empty()) {
        let mut all = Bytes::ZERO;
        for disk in &machine.disks {
            all = all.checked_add(disk.capacity).unwrap_or(all);
        }
        machine.provisioned = Some(machine.provisioned.map_or(all, |first| first.max(all)));
    }
}

fn hosts(columns: &Columns<'_>, sheet: &Sheet, mistakes: &mut Vec<CellMistake>) -> Vec<Host> {
    let host = |row: &Row| {
        let mut count =
            |field| columns.read(row, field, mistakes, |cell, decimal| cell.count(decimal));
        let (cores, vcpus) = (count(Field::Cores), count(Field::Vcpus));
        let mut number =
            |field| columns.read(row, field, mistakes, |cell, decimal| cell.number(decimal));
        let ratio = number(Field::VcpusPerCore);
        let usage = (number(Field::CpuUsage), number(Field::MemoryUsage));
        let memory = columns.read(row, Field::Memory, mistakes, mebibytes);
        Some(Host {
            name: columns.text(row, Field::Name)?,
            cluster: columns.text(row, Field::Cluster),
            cores,
            memory,
            cpu_usage_percent: usage.0,
            memory_usage_percent: usage.1,
            vcpus,
            vcpus_per_core: ratio,
        })
    };
    sheet.rows.iter().filter_map(host).collect()
}

fn clusters(columns: &Columns<'_>, sheet: &Sheet, mistakes: &mut Vec<CellMistake>) -> Vec<Cluster> {
    let cluster = |row: &Row| {
        let mut count =
            |field| columns.read(row, field, mistakes, |cell, decimal| cell.count(decimal));
        let (hosts, cores) = (count(Field::Hosts), count(Field::Cores));
        // Where nothing is kept free there may be words.
        let failover = columns.cell(row, Field::Failover);
        let failover = failover.and_then(|cell| cell.count(sheet.decimal).ok());
        Some(Cluster { name: columns.text(row, Field::Name)?, hosts, cores, failover })
    };
    sheet.rows.iter().filter_map(cluster).collect()
}

fn datastores(
    columns: &Columns<'_>,
    sheet: &Sheet,
    mistakes: &mut Vec<CellMistake>,
) -> Vec<Datastore> {
    let datastore = |row: &Row| {
        let mut size = |field| columns.read(row, field, mistakes, mebibytes);
        let (capacity, in_use) = (size(Field::Capacity), size(Field::InUse));
        let provisioned = size(Field::Provisioned);
        let name = columns.text(row, Field::Name)?;
        let kind = columns.text(row, Field::Kind);
        Some(Datastore { name, kind, capacity, provisioned, in_use })
    };
    sheet.rows.iter().filter_map(datastore).collect()
}

/// Finds the machine that a row is about.
struct Index {
    /// By what tells machines apart, where both sheets have it.
    by_id: Option<BTreeMap<String, usize>>,
    /// By name; of several the first.
    by_name: BTreeMap<String, usize>,
    /// Machines whose name another has too.
    namesakes: usize,
}

impl Index {
    fn of(machines: &[Machine], columns: &Columns<'_>) -> Index {
        let mut by_name = BTreeMap::new();
        let mut by_id = BTreeMap::new();
        let mut namesakes = 0;
        for (place, machine) in machines.iter().enumerate() {
            if by_name.contains_key(&machine.name) {
                namesakes += 1;
            } else {
                by_name.insert(machine.name.clone(), place);
            }
            if let Some(id) = &machine.id {
                by_id.entry(id.clone()).or_insert(place);
            }
        }
        let by_id = (columns.has(Field::Id) && !by_id.is_empty()).then_some(by_id);
        Index { by_id, by_name, namesakes }
    }

    /// Says what cannot be told apart.
    fn tell(&self, sheet: &Sheet, notes: &mut Vec<String>) {
        if self.by_id.is_none() && self.namesakes > 0 {
            notes.push(format!(
                "{}: {} machines have the name of another; what it says of them was counted for \
                 the first of that name.",
                sheet.name, self.namesakes
            ));
        }
    }

    fn find(&self, columns: &Columns<'_>, row: &Row, name: &str) -> Option<usize> {
        let id = columns.text(row, Field::Id);
        let by_id = self.by_id.as_ref().zip(id).and_then(|(index, id)| index.get(&id));
        by_id.or_else(|| self.by_name.get(name)).copied()
    }
}
