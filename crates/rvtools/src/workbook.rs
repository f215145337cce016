//! Reads the sheets of a workbook (xlsx).
//!
//! Cells are read one after another, not as a rectangle: a stray formatted cell at the far end of a
//! sheet would make a rectangle that does not fit into memory.

use std::io::Cursor;

use calamine::{DataRef, Reader, Xlsx, XlsxError};

use crate::cell::{Cell, Decimal};
use crate::error::Error;
use crate::headings::{Tab, plain};
use crate::sheet::{Row, Sheet};
use units::nearest;

/// The signature of a ZIP archive, and so of a workbook.
const ZIP: &[u8] = b"PK\x03\x04";
/// The signature of Microsoft's compound format: Excel 97 and protected workbooks.
const COMPOUND: &[u8] = &[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/// Whether the bytes are a workbook of any kind.
pub(crate) fn is_workbook(bytes: &[u8]) -> bool {
    bytes.starts_with(ZIP) || bytes.starts_with(COMPOUND)
}

/// The relevant content of a workbook.
pub(crate) struct Workbook {
    /// The sheets that are read.
    pub(crate) sheets: Vec<(Tab, Sheet)>,
    /// Names of all sheets.
    pub(crate) names: Vec<String>,
    /// The name most similar to that of the sheet of machines.
    pub(crate) close: Option<String>,
}

/// Reads a workbook.
///
/// * `requested` - headings of additional columns of machines
///
/// # Errors
/// It is protected, of an old format, or damaged.
pub(crate) fn read(file: &str, bytes: &[u8], requested: &[String]) -> Result<Workbook, Error> {
    if bytes.starts_with(COMPOUND) {
        let file = file.to_owned();
        return Err(if is_protected(bytes) {
            Error::Protected { file }
        } else {
            Error::OldFormat { file }
        });
    }
    let failed = |error: XlsxError| match error {
        XlsxError::Password => Error::Protected { file: file.to_owned() },
        error => Error::Broken { file: file.to_owned(), why: error.to_string() },
    };
    let mut workbook = Xlsx::new(Cursor::new(bytes)).map_err(failed)?;
    let names = workbook.sheet_names();
    let mut sheets = Vec::new();
    for name in &names {
        let Some(tab) = Tab::named(name) else { continue };
        if sheets.iter().all(|(read, _)| *read != tab) {
            let requested = match tab {
                Tab::Info | Tab::LiveMachines => requested,
                _ => &[],
            };
            sheets.push((tab, sheet(&mut workbook, name, tab, requested).map_err(failed)?));
        }
    }
    let close = nearest(Tab::Info.name(), names.iter().map(String::as_str)).map(str::to_owned);
    Ok(Workbook { sheets, names, close })
}

/// A protected workbook is a compound file with this stream; its name is in UTF-16.
fn is_protected(bytes: &[u8]) -> bool {
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    bytes.windows(name.len()).any(|window| window == name)
}

fn sheet(
    workbook: &mut Xlsx<Cursor<&[u8]>>,
    name: &str,
    tab: Tab,
    requested: &[String],
) -> Result<Sheet, XlsxError> {
    let mut cells = workbook.worksheet_cells_reader(name)?;
    let mut headings: Vec<(u32, String)> = Vec::new();
    let mut heading_row = None;
    let mut kept: Vec<u32> = Vec::new();
    let mut rows: Vec<Row> = Vec::new();
    while let Some(found) = cells.next_cell()? {
        let (row, column) = found.get_position();
        let row = row.saturating_add(1);
        if heading_row.is_some_and(|headings| headings != row) && !kept.contains(&column) {
            continue;
        }
        let Some(cell) = cell(found.get_value()) else { continue };
        if *heading_row.get_or_insert(row) == row {
            let heading = cell.shown();
            let is_requested = || requested.iter().any(|name| plain(name) == plain(&heading));
            if tab.columns().iter().any(|column| column.is(&heading)) || is_requested() {
                kept.push(column);
            }
            headings.push((column, heading));
            continue;
        }
        match rows.last_mut() {
            Some(last) if last.number == row => last.cells.push((column, cell)),
            _ => rows.push(Row { number: row, cells: vec![(column, cell)] }),
        }
    }
    Ok(Sheet { name: name.to_owned(), headings, rows, decimal: Decimal::Point })
}

fn cell(value: &DataRef<'_>) -> Option<Cell> {
    match value {
        DataRef::Empty => None,
        #[expect(clippy::cast_precision_loss, reason = "too large numbers are refused later")]
        DataRef::Int(number) => Some(Cell::Number(*number as f64)),
        DataRef::Float(number) => Some(Cell::Number(*number)),
        DataRef::String(text) => Cell::text(text),
        DataRef::SharedString(text) => Cell::text(text),
        DataRef::Bool(value) => Some(Cell::Boolean(*value)),
        DataRef::DateTime(moment) => Some(Cell::Number(moment.as_f64())),
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => Cell::text(text),
        DataRef::Error(error) => Some(Cell::Failed(error.to_string())),
    }
}
