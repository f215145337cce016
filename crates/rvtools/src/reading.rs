//! Reads files into an inventory.

use crate::delimited;
use crate::error::Error;
use crate::headings::Tab;
use crate::inventory::Inventory;
use crate::machines;
use crate::sheet::Sheet;
use crate::tables;
use crate::workbook;

/// The content of a file.
#[derive(Clone, Debug)]
pub struct NamedBytes {
    /// Its name in messages, which also determines the sheet of a CSV file.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Whether a file with this name belongs to a CSV set and is read.
pub fn is_table_of_a_set(name: &str) -> bool {
    name.to_lowercase().ends_with(".csv") && delimited::of_file(name).is_some()
}

/// Reads an export: a workbook, a CSV set, or one CSV file, optionally with a file of Live Optics
/// that adds loads. Of two sheets of the same kind the first is used.
///
/// * `columns` - headings of additional columns of machines (attributes, tags); a missing one is only
///   noted
///
/// # Errors
/// A file cannot be read, or all wrong cells.
pub fn read(files: &[NamedBytes], columns: &[String]) -> Result<Inventory, Error> {
    let mut sheets: Vec<(Tab, Sheet)> = Vec::new();
    let mut others: Vec<String> = Vec::new();
    let mut close = None;
    let mut notes = Vec::new();
    for file in files {
        let mut add = |tab: Tab, sheet: Sheet| match sheets.iter().any(|(read, _)| *read == tab) {
            true => notes.push(format!("{}: ignored a second sheet `{}`.", file.name, sheet.name)),
            false => sheets.push((tab, sheet)),
        };
        if file.bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(Error::Empty { file: file.name.clone() });
        }
        if workbook::is_workbook(&file.bytes) {
            let read = workbook::read(&file.name, &file.bytes, columns)?;
            read.sheets.into_iter().for_each(|(tab, sheet)| add(tab, sheet));
            others.extend(read.names);
            close = close.or(read.close);
        } else if is_text(&file.bytes) {
            match delimited::read(&file.name, &file.bytes)? {
                Some((tab, sheet)) => add(tab, sheet),
                None => others.push(file.name.clone()),
            }
        } else {
            return Err(Error::Unknown { file: file.name.clone() });
        }
    }
    inventory(&sheets, columns, notes).unwrap_or_else(|| {
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        Err(Error::NoMachines { files: names.join(", "), found: found_instead(&others, close) })
    })
}

/// Combines the sheets; `None` without a sheet of machines.
fn inventory(
    sheets: &[(Tab, Sheet)],
    columns: &[String],
    mut notes: Vec<String>,
) -> Option<Result<Inventory, Error>> {
    let sheet = |tab: Tab| sheets.iter().find(|(read, _)| *read == tab).map(|(_, sheet)| sheet);
    let (tab, base) =
        [Tab::Info, Tab::LiveMachines].into_iter().find_map(|tab| Some((tab, sheet(tab)?)))?;
    let additions: &[Tab] = match tab {
        Tab::Info => {
            &[Tab::Disk, Tab::Memory, Tab::Host, Tab::Cluster, Tab::Partition, Tab::Datastore]
        }
        _ => &[Tab::LiveDisks],
    };
    let mut wrong_cells = Vec::new();
    let read = machines::read(tab, base, columns, &mut wrong_cells, &mut notes);
    let read = read.and_then(|machines| {
        let mut inventory = Inventory {
            machines,
            sheets: vec![(base.name.clone(), base.rows.len())],
            ..Inventory::default()
        };
        for addition in additions.iter().chain(&[Tab::LivePerformance]) {
            match sheet(*addition) {
                Some(found) => {
                    tables::add(*addition, found, &mut inventory, &mut wrong_cells, &mut notes)?;
                    inventory.sheets.push((found.name.clone(), found.rows.len()));
                }
                // RVTools never has it.
                None if *addition == Tab::LivePerformance && tab == Tab::Info => {}
                None => inventory.absent.push(addition.name()),
            }
        }
        Ok(inventory)
    });
    Some(read.and_then(|inventory| match wrong_cells.is_empty() {
        true => Ok(Inventory { notes, ..inventory }),
        false => Err(Error::Cells { wrong_cells }),
    }))
}

fn found_instead(others: &[String], close: Option<String>) -> String {
    match (others, close) {
        (_, Some(close)) => format!("if `{close}` is meant, rename it to `vInfo`"),
        ([], None) => "found no sheet".to_owned(),
        (others, None) => format!("found {}", others.join(", ")),
    }
}

/// Whether the bytes can be a text: UTF-16 has a byte order mark, and other text has no zero bytes.
fn is_text(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) || !bytes.contains(&0)
}
