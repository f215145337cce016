//! Reads the sheets that add to the machines (disks, memory, file systems, loads), and those of
//! hosts, clusters and datastores.

use std::collections::BTreeMap;

use units::{Bytes, BytesPerSec, OpsPerSec};

use crate::error::{CellError, Error};
use crate::headings::{Field, Tab};
use crate::inventory::{Cluster, Datastore, Disk, Host, Inventory, Load, Machine};
use crate::machines::{Skipped, mebibytes};
use crate::sheet::{Columns, Row, Sheet};

/// Bytes in a KB of Live Optics: vSphere's counters are in units of 1,024 bytes.
const KIB: f64 = 1024.0;

/// Adds a sheet to the inventory.
///
/// # Errors
/// A required heading is missing. Wrong cells are added to `wrong_cells`.
pub(crate) fn add(
    tab: Tab,
    sheet: &Sheet,
    inventory: &mut Inventory,
    wrong_cells: &mut Vec<CellError>,
    notes: &mut Vec<String>,
) -> Result<(), Error> {
    let columns = sheet.columns(tab, notes)?;
    match tab {
        Tab::Host => inventory.hosts = hosts(&columns, sheet, wrong_cells),
        Tab::Cluster => inventory.clusters = clusters(&columns, sheet, wrong_cells),
        Tab::Datastore => inventory.datastores = datastores(&columns, sheet, wrong_cells),
        _ => {
            let index = Index::of(&inventory.machines, &columns);
            index.add_note(sheet, notes);
            let mut skipped = Skipped::default();
            for row in &sheet.rows {
                let Some(name) = columns.text(row, Field::Name) else { continue };
                match index.find(&columns, row, &name) {
                    Some(number) => {
                        let machine = &mut inventory.machines[number];
                        add_row(tab, &columns, row, machine, wrong_cells);
                    }
                    // Includes rows of skipped machines.
                    None => skipped.add("of unknown machines", columns.cell_ref(row, Field::Name)),
                }
            }
            skipped.add_notes(&sheet.name, notes);
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
    wrong_cells: &mut Vec<CellError>,
) {
    let sum = |known: Option<Bytes>, more: Option<Bytes>| match (known, more) {
        (Some(known), Some(more)) => known.checked_add(more),
        (known, more) => known.or(more),
    };
    match tab {
        Tab::Disk | Tab::LiveDisks => {
            let capacity = columns.read(row, Field::Capacity, wrong_cells, mebibytes);
            let raw = columns.read(row, Field::Raw, wrong_cells, |cell, _| cell.boolean());
            if let Some(capacity) = capacity {
                let number = machine.disks.len() + 1;
                let label = columns.text(row, Field::Label);
                let label = label.unwrap_or_else(|| format!("disk {number}"));
                machine.disks.push(Disk { label, capacity, is_raw: raw.unwrap_or(false) });
            }
        }
        Tab::Memory => {
            let consumed = columns.read(row, Field::Consumed, wrong_cells, mebibytes);
            machine.memory_consumed = sum(machine.memory_consumed, consumed);
        }
        Tab::Partition => {
            let consumed = columns.read(row, Field::Consumed, wrong_cells, mebibytes);
            machine.guest_used = sum(machine.guest_used, consumed);
            let capacity = columns.read(row, Field::Capacity, wrong_cells, mebibytes);
            machine.guest_capacity = sum(machine.guest_capacity, capacity);
        }
        _ => {
            let mut number =
                |field| columns.read(row, field, wrong_cells, |cell, decimal| cell.number(decimal));
            let throughput = |kib_per_s: f64| BytesPerSec::new(kib_per_s * KIB);
            machine.load = Some(Load {
                peak_rate: number(Field::PeakOps).map(OpsPerSec::new),
                mean_rate: number(Field::MeanOps).map(OpsPerSec::new),
                peak_throughput: number(Field::PeakKb).map(throughput),
                mean_throughput: number(Field::MeanKb).map(throughput),
            });
        }
    }
}

/// Corrects the provisioned size: Live Optics exports only the first of several disks.
fn count_all_disks(machines: &mut [Machine]) {
    for machine in machines.iter_mut().filter(|machine| !machine.disks.is_empty()) {
        let mut all = Bytes::ZERO;
        for disk in &machine.disks {
            all = all.checked_add(disk.capacity).unwrap_or(all);
        }
        machine.provisioned = Some(machine.provisioned.map_or(all, |first| first.max(all)));
    }
}

fn hosts(columns: &Columns<'_>, sheet: &Sheet, wrong_cells: &mut Vec<CellError>) -> Vec<Host> {
    let host = |row: &Row| {
        let mut count =
            |field| columns.read(row, field, wrong_cells, |cell, decimal| cell.count(decimal));
        let (cores, vcpus) = (count(Field::Cores), count(Field::Vcpus));
        let mut number =
            |field| columns.read(row, field, wrong_cells, |cell, decimal| cell.number(decimal));
        let ratio = number(Field::VcpusPerCore);
        let usage = (number(Field::CpuUsage), number(Field::MemoryUsage));
        let memory = columns.read(row, Field::Memory, wrong_cells, mebibytes);
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

fn clusters(
    columns: &Columns<'_>,
    sheet: &Sheet,
    wrong_cells: &mut Vec<CellError>,
) -> Vec<Cluster> {
    let cluster = |row: &Row| {
        let mut count =
            |field| columns.read(row, field, wrong_cells, |cell, decimal| cell.count(decimal));
        let (hosts, cores) = (count(Field::Hosts), count(Field::Cores));
        // May be a text if no failover capacity is reserved.
        let failover = columns.cell(row, Field::Failover);
        let failover = failover.and_then(|cell| cell.count(sheet.decimal).ok());
        Some(Cluster { name: columns.text(row, Field::Name)?, hosts, cores, failover })
    };
    sheet.rows.iter().filter_map(cluster).collect()
}

fn datastores(
    columns: &Columns<'_>,
    sheet: &Sheet,
    wrong_cells: &mut Vec<CellError>,
) -> Vec<Datastore> {
    let datastore = |row: &Row| {
        let mut size = |field| columns.read(row, field, wrong_cells, mebibytes);
        let (capacity, in_use) = (size(Field::Capacity), size(Field::InUse));
        let provisioned = size(Field::Provisioned);
        let name = columns.text(row, Field::Name)?;
        let kind = columns.text(row, Field::Kind);
        Some(Datastore { name, kind, capacity, provisioned, in_use })
    };
    sheet.rows.iter().filter_map(datastore).collect()
}

/// Finds the machine of a row.
struct Index {
    /// By ID, if both sheets have one.
    by_id: Option<BTreeMap<String, usize>>,
    /// By name; the first of several.
    by_name: BTreeMap<String, usize>,
    /// Machines with the name of an earlier one.
    namesakes: usize,
}

impl Index {
    fn of(machines: &[Machine], columns: &Columns<'_>) -> Index {
        let mut by_name = BTreeMap::new();
        let mut by_id = BTreeMap::new();
        let mut namesakes = 0;
        for (number, machine) in machines.iter().enumerate() {
            if by_name.contains_key(&machine.name) {
                namesakes += 1;
            } else {
                by_name.insert(machine.name.clone(), number);
            }
            if let Some(id) = &machine.id {
                by_id.entry(id.clone()).or_insert(number);
            }
        }
        let by_id = (columns.has(Field::Id) && !by_id.is_empty()).then_some(by_id);
        Index { by_id, by_name, namesakes }
    }

    /// Notes machines that cannot be distinguished.
    fn add_note(&self, sheet: &Sheet, notes: &mut Vec<String>) {
        if self.by_id.is_none() && self.namesakes > 0 {
            notes.push(format!(
                "{}: {} machines share their name with an earlier one; their rows were added to the \
                 first machine of that name.",
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
