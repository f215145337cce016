//! The sheet of machines.

use std::collections::BTreeSet;

use units::Bytes;

use crate::cell::{Cell, Decimal};
use crate::error::{CellMistake, Error};
use crate::headings::{Field, Tab};
use crate::inventory::{Machine, Power};
use crate::sheet::{Columns, Row, Sheet};

/// Bytes in a MiB. RVTools 3.x and Live Optics wrote MB for the same numbers.
const MIB: f64 = 1_048_576.0;

/// Reads the machines of `vInfo` or of Live Optics' `VMs`, in the order of their rows, with what
/// stands below the headings `asked`.
///
/// # Errors
/// A needed heading is missing, or no row has a name. Wrong cells go to `mistakes`.
pub(crate) fn read(
    tab: Tab,
    sheet: &Sheet,
    asked: &[String],
    mistakes: &mut Vec<CellMistake>,
    notes: &mut Vec<String>,
) -> Result<Vec<Machine>, Error> {
    let columns = sheet.columns(tab, notes)?;
    let asked: Vec<Option<u32>> = asked.iter().map(|name| sheet.asked(name, notes)).collect();
    let mut skipped = Skipped::default();
    let mut machines = Vec::new();
    for row in &sheet.rows {
        if let Some(mut machine) = machine(&columns, row, mistakes, &mut skipped) {
            machine.columns = asked.iter().map(|column| row.shown((*column)?)).collect();
            machines.push(machine);
        }
    }
    skipped.tell(&sheet.name, notes);
    let again = again(&machines);
    if again > 0 {
        notes.push(format!(
            "{}: {again} rows have the name and the ID of another; every row counts, so take one \
             export of each vCenter.",
            sheet.name
        ));
    }
    if machines.is_empty() && mistakes.is_empty() {
        return Err(Error::NoRows { sheet: sheet.name.clone(), rows: sheet.rows.len() });
    }
    Ok(machines)
}

/// Machines that stand there before: two exports of one vCenter in one file.
fn again(machines: &[Machine]) -> usize {
    let mut seen = BTreeSet::new();
    let known = machines.iter().filter(|machine| machine.id.is_some());
    known.filter(|machine| !seen.insert((&machine.id, &machine.name))).count()
}

fn machine(
    columns: &Columns<'_>,
    row: &Row,
    mistakes: &mut Vec<CellMistake>,
    skipped: &mut Skipped,
) -> Option<Machine> {
    let Some(name) = columns.text(row, Field::Name) else {
        skipped.add("without a name", columns.place(row, Field::Name));
        return None;
    };
    let before = mistakes.len();
    let power = columns.read(row, Field::Power, mistakes, |cell, _| power(cell));
    let vcpus = columns.read(row, Field::Cpus, mistakes, |cell, decimal| cell.count(decimal));
    let memory = columns.read(row, Field::Memory, mistakes, mebibytes);
    let truth = |field, mistakes: &mut Vec<CellMistake>| {
        columns.read(row, field, mistakes, |cell, _| cell.truth()).unwrap_or(false)
    };
    let is_template = truth(Field::Template, mistakes);
    let is_placeholder = truth(Field::Placeholder, mistakes);
    let provisioned = columns.read(row, Field::Provisioned, mistakes, mebibytes);
    let in_use = columns.read(row, Field::InUse, mistakes, mebibytes);
    if mistakes.len() > before {
        return None;
    }
    let (Some(power), Some(vcpus), Some(memory)) = (power, vcpus, memory) else {
        // An inaccessible machine has a name and nothing else.
        let (what, field) = match (power, vcpus) {
            (None, _) => ("without a power state", Field::Power),
            (_, None) => ("without processors", Field::Cpus),
            _ => ("without memory", Field::Memory),
        };
        skipped.add(what, columns.place(row, field));
        return None;
    };
    Some(Machine {
        name,
        row: row.number,
        id: columns.text(row, Field::Id),
        power,
        is_template,
        is_placeholder,
        vcpus,
        memory,
        memory_consumed: None,
        provisioned,
        in_use,
        guest_used: None,
        guest_capacity: None,
        disks: Vec::new(),
        os: columns.text(row, Field::Os),
        os_by_tools: columns.text(row, Field::OsByTools),
        folder: columns.text(row, Field::Folder),
        resource_pool: columns.text(row, Field::ResourcePool),
        annotation: columns.text(row, Field::Annotation),
        datacenter: columns.text(row, Field::Datacenter),
        cluster: columns.text(row, Field::Cluster),
        host: columns.text(row, Field::Host),
        columns: Vec::new(),
        load: None,
    })
}

fn power(cell: &Cell) -> Result<Power, &'static str> {
    match cell.shown().to_lowercase().as_str() {
        "poweredon" => Ok(Power::On),
        "poweredoff" => Ok(Power::Off),
        "suspended" => Ok(Power::Suspended),
        _ => Err("poweredOn, poweredOff or suspended"),
    }
}

/// A number of MiB as bytes.
pub(crate) fn mebibytes(cell: &Cell, decimal: Decimal) -> Result<Bytes, &'static str> {
    let bytes = cell.number(decimal)? * MIB;
    // A quarter of what a u64 holds: sums of thousands of machines must fit too.
    if bytes > 2f64.powi(50) * 1024.0 {
        return Err("a size in MiB, less than 1 EiB");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    Ok(Bytes::new(bytes.round() as u64))
}

/// Rows that say too little, by what they lack.
#[derive(Default)]
pub(crate) struct Skipped(Vec<(&'static str, Vec<String>)>);

/// More places than this are counted only.
const PLACES: usize = 3;

impl Skipped {
    pub(crate) fn add(&mut self, what: &'static str, place: String) {
        match self.0.iter_mut().find(|(known, _)| *known == what) {
            Some((_, places)) => places.push(place),
            None => self.0.push((what, vec![place])),
        }
    }

    /// A sentence for each.
    pub(crate) fn tell(&self, sheet: &str, notes: &mut Vec<String>) {
        for (what, places) in &self.0 {
            let (rows, were) = if places.len() == 1 { ("row", "was") } else { ("rows", "were") };
            let mut shown = places[..places.len().min(PLACES)].join(", ");
            if places.len() > PLACES {
                shown.push_str(", …");
            }
            notes
                .push(format!("{sheet}: {} {rows} {what} {were} skipped ({shown}).", places.len()));
        }
    }
}
