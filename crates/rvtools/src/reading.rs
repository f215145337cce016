//! From files to an inventory.

use crate::delimited;
use crate::error::Error;
use crate::headings::Tab;
use crate::inventory::Inventory;
use crate::machines;
use crate::sheet::Sheet;
use crate::tables;
use crate::workbook;

/// A file that somebody else has read.
#[derive(Clone, Debug)]
pub struct NamedBytes {
    /// As it is named in messages; a CSV file's sheet is known by it.
    pub name: String,
    /// All of it.
    pub bytes: Vec<u8>,
}

/// Whether a file of this name is one of a CSV set and holds a sheet that is read.
pub fn is_table_of_a_set(name: &str) -> bool {
    name.to_lowercase().ends_with(".csv") && delimited::of_file(name).is_some()
}

/// Reads an export: a workbook, a CSV set, or one CSV file; and with it a workbook or CSV file of
/// Live Optics that only adds loads. Of two sheets of the same kind the first counts.
///
/// # Errors
/// What cannot be read, by its place; all wrong cells at once.
pub fn read(files: &[NamedBytes]) -> Result<Inventory, Error> {
    read_with_columns(files, &[])
}

/// Reads an export as [`read`] does, and of machines also what stands below these headings,
/// whatever they mean: attributes and tags.
///
/// # Errors
/// Those of [`read`]. A heading that is not there is noted.
pub fn read_with_columns(files: &[NamedBytes], columns: &[String]) -> Result<Inventory, Error> {
    let mut sheets: Vec<(Tab, Sheet)> = Vec::new();
    let mut there: Vec<String> = Vec::new();
    let mut close = None;
    let mut notes = Vec::new();
    for file in files {
        let mut add = |tab: Tab, sheet: Sheet| match sheets.iter().any(|(read, _)| *read == tab) {
            true => notes
                .push(format!("{}: a second sheet `{}`; it was not read.", file.name, sheet.name)),
            false => sheets.push((tab, sheet)),
        };
        if file.bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(Error::Empty { file: file.name.clone() });
        }
        if workbook::is_one(&file.bytes) {
            let read = workbook::read(&file.name, &file.bytes, columns)?;
            read.sheets.into_iter().for_each(|(tab, sheet)| add(tab, sheet));
            there.extend(read.names);
            close = close.or(read.close);
        } else if is_text(&file.bytes) {
            match delimited::read(&file.name, &file.bytes)? {
                Some((tab, sheet)) => add(tab, sheet),
                None => there.push(file.name.clone()),
            }
        } else {
            return Err(Error::Unknown { file: file.name.clone() });
        }
    }
    inventory(&sheets, columns, notes).unwrap_or_else(|| {
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        Err(Error::NoMachines { files: names.join(", "), there: found_instead(&there, close) })
    })
}

/// What the sheets say together; `None` where none of them is about machines.
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
    let mut mistakes = Vec::new();
    let read = machines::read(tab, base, columns, &mut mistakes, &mut notes);
    let read = read.and_then(|machines| {
        let mut inventory = Inventory {
            machines,
            sheets: vec![(base.name.clone(), base.rows.len())],
            ..Inventory::default()
        };
        for addition in additions.iter().chain(&[Tab::LivePerformance]) {
            match sheet(*addition) {
                Some(found) => {
                    tables::add(*addition, found, &mut inventory, &mut mistakes, &mut notes)?;
                    inventory.sheets.push((found.name.clone(), found.rows.len()));
                }
                // RVTools never has it.
                None if *addition == Tab::LivePerformance && tab == Tab::Info => {}
                None => inventory.absent.push(addition.name()),
            }
        }
        Ok(inventory)
    });
    Some(read.and_then(|inventory| match mistakes.is_empty() {
        true => Ok(Inventory { notes, ..inventory }),
        false => Err(Error::Cells { mistakes }),
    }))
}

fn found_instead(there: &[String], close: Option<String>) -> String {
    match (there, close) {
        (_, Some(close)) => format!("was `{close}` meant? Name it `vInfo`"),
        ([], None) => "there is none at all".to_owned(),
        (there, None) => format!("there is {}", there.join(", ")),
    }
}

/// Whether the bytes can be a text: UTF-16 has a mark, and no other text has zeros.
fn is_text(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) || !bytes.contains(&0)
}
