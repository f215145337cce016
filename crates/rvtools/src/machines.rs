//! Reads the sheet of machines.

use std::collections::BTreeSet;

use units::Bytes;

use crate::cell::{Cell, Decimal};
use crate::error::{CellError, Error};
use crate::headings::{Field, Tab};
use crate::inventory::{Machine, Power};
use crate::sheet::{Columns, Row, Sheet};

/// Bytes in a MiB. RVTools 3.x and Live Optics write MB for the same numbers.
const MIB: f64 = 1_048_576.0;

/// Reads the machines of `vInfo` or of Live Optics' `VMs`, in the order of their rows.
///
/// * `requested` - headings of additional columns
///
/// # Errors
/// A required heading is missing, or no row has a name. Wrong cells are added to `wrong_cells`.
pub(crate) fn read(
    tab: Tab,
    sheet: &Sheet,
    requested: &[String],
    wrong_cells: &mut Vec<CellError>,
    notes: &mut Vec<String>,
) -> Result<Vec<Machine>, Error> {
    let columns = sheet.columns(tab, notes)?;
    let requested: Vec<Option<u32>> =
        requested.iter().map(|name| sheet.requested_column(name, notes)).collect();
    let mut skipped = Skipped::default();
    let mut machines = Vec::new();
    for row in &sheet.rows {
        if let Some(mut machine) = machine(&columns, row, wrong_cells, &mut skipped) {
            machine.columns = requested.iter().map(|column| row.shown((*column)?)).collect();
            machines.push(machine);
        }
    }
    skipped.add_notes(&sheet.name, notes);
    let repeated = repeated(&machines);
    if repeated > 0 {
        notes.push(format!(
            "{}: {repeated} rows repeat the name and ID of another row; every row counts, so use only \
             one export of each vCenter.",
            sheet.name
        ));
    }
    if machines.is_empty() && wrong_cells.is_empty() {
        return Err(Error::NoRows { sheet: sheet.name.clone(), rows: sheet.rows.len() });
    }
    Ok(machines)
}

/// Number of repeated machines, as in a file with two exports of one vCenter.
fn repeated(machines: &[Machine]) -> usize {
    let mut seen = BTreeSet::new();
    let known = machines.iter().filter(|machine| machine.id.is_some());
    known.filter(|machine| !seen.insert((&machine.id, &machine.name))).count()
}

fn machine(
    columns: &Columns<'_>,
    row: &Row,
    wrong_cells: &mut Vec<CellError>,
    skipped: &mut Skipped,
) -> Option<Machine> {
    let Some(name) = columns.text(row, Field::Name) else {
        skipped.add("without a name", columns.cell_ref(row, Field::Name));
        return None;
    };
    let before = wrong_cells.len();
    let power = columns.read(row, Field::Power, wrong_cells, |cell, _| power(cell));
    let vcpus = columns.read(row, Field::Cpus, wrong_cells, |cell, decimal| cell.count(decimal));
    let memory = columns.read(row, Field::Memory, wrong_cells, mebibytes);
    let boolean = |field, wrong_cells: &mut Vec<CellError>| {
        columns.read(row, field, wrong_cells, |cell, _| cell.boolean()).unwrap_or(false)
    };
    let is_template = boolean(Field::Template, wrong_cells);
    let is_placeholder = boolean(Field::Placeholder, wrong_cells);
    let provisioned = columns.read(row, Field::Provisioned, wrong_cells, mebibytes);
    let in_use = columns.read(row, Field::InUse, wrong_cells, mebibytes);
    if wrong_cells.len() > before {
        return None;
    }
    let (Some(power), Some(vcpus), Some(memory)) = (power, vcpus, memory) else {
        // An inaccessible machine has only a name.
        let (what, field) = match (power, vcpus) {
            (None, _) => ("without a power state", Field::Power),
            (_, None) => ("without processors", Field::Cpus),
            _ => ("without memory", Field::Memory),
        };
        skipped.add(what, columns.cell_ref(row, field));
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
    // The sum over all machines must fit into a u64, too.
    if bytes > 2f64.powi(60) {
        return Err("a size in MiB, less than 1 EiB");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    Ok(Bytes::new(bytes.round() as u64))
}

/// Skipped rows, by the missing value.
#[derive(Default)]
pub(crate) struct Skipped(Vec<(&'static str, Vec<String>)>);

/// Maximum number of cell references in a note.
const SHOWN: usize = 3;

impl Skipped {
    pub(crate) fn add(&mut self, what: &'static str, cell: String) {
        match self.0.iter_mut().find(|(known, _)| *known == what) {
            Some((_, cells)) => cells.push(cell),
            None => self.0.push((what, vec![cell])),
        }
    }

    /// Adds a note for each kind.
    pub(crate) fn add_notes(&self, sheet: &str, notes: &mut Vec<String>) {
        for (what, cells) in &self.0 {
            let (rows, were) = if cells.len() == 1 { ("row", "was") } else { ("rows", "were") };
            let mut shown = cells[..cells.len().min(SHOWN)].join(", ");
            if cells.len() > SHOWN {
                shown.push_str(", …");
            }
            notes.push(format!("{sheet}: {} {rows} {what} {were} skipped ({shown}).", cells.len()));
        }
    }
}
