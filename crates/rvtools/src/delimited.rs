//! Reads a CSV text as a sheet: separated by commas, semicolons or tabs, with quotes as in RFC 4180.

use csv_core::ReadFieldResult;

use crate::cell::{Cell, Decimal};
use crate::error::Error;
use crate::headings::Tab;
use crate::sheet::{Row, Sheet};

/// Reads a text. Its sheet is recognised by the file's name (`RVTools_tabvInfo.csv`) or by the
/// headings; `None` if it is not one of the sheets that are read.
///
/// # Errors
/// The text is empty or malformed.
pub(crate) fn read(file: &str, bytes: &[u8]) -> Result<Option<(Tab, Sheet)>, Error> {
    let text = decoded(bytes);
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let delimiter = delimiter(first);
    if text.matches('"').count() % 2 == 1 {
        return Err(Error::MalformedText { file: file.to_owned(), why: "a quote is not closed" });
    }
    let mut rows = rows(text.as_bytes(), delimiter);
    if rows.is_empty() {
        return Err(Error::Empty { file: file.to_owned() });
    }
    let headings = rows.remove(0).cells.iter().map(|(at, cell)| (*at, cell.shown())).collect();
    let headings: Vec<(u32, String)> = headings;
    let tab = of_file(file).or_else(|| Tab::of_headings(headings.iter().map(|(_, h)| h.as_str())));
    let Some(tab) = tab else { return Ok(None) };
    let decimal = if delimiter == b';' { Decimal::Comma } else { Decimal::Point };
    let sheet = Sheet { name: tab.name().to_owned(), headings, rows, decimal };
    Ok(Some((tab, sheet)))
}

/// The rows that are not empty.
fn rows(text: &[u8], delimiter: u8) -> Vec<Row> {
    let mut reader = csv_core::ReaderBuilder::new().delimiter(delimiter).build();
    // No field is longer than the text.
    let mut field = vec![0; text.len() + 1];
    let (mut rest, mut rows) = (text, Vec::new());
    let (mut number, mut column, mut cells) = (1, 0, Vec::new());
    let mut filled = 0;
    loop {
        let (result, read, written) = reader.read_field(rest, &mut field[filled..]);
        rest = &rest[read..];
        filled += written;
        let is_last = match result {
            // The next call, with empty input, signals the end.
            ReadFieldResult::InputEmpty => continue,
            // Cannot happen: the buffer has room for the whole text.
            ReadFieldResult::OutputFull => return rows,
            ReadFieldResult::Field { record_end } => record_end,
            ReadFieldResult::End => return rows,
        };
        let text = String::from_utf8_lossy(&field[..filled]);
        cells.extend(Cell::text(&text).map(|cell| (column, cell)));
        filled = 0;
        column += 1;
        if is_last {
            if !cells.is_empty() {
                rows.push(Row { number, cells: std::mem::take(&mut cells) });
            }
            (number, column) = (number + 1, 0);
        }
    }
}

/// The sheet of a file with this name: `RVTools_tabvInfo.csv`, `vInfo.csv`.
pub(crate) fn of_file(file: &str) -> Option<Tab> {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file).to_lowercase();
    let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
    let of_tab = |tab: &Tab| {
        let sheet = tab.name().to_lowercase();
        stem == sheet || stem.ends_with(&format!("tab{sheet}"))
    };
    Tab::ALL.into_iter().find(of_tab)
}

/// The most frequent delimiter of the headings.
fn delimiter(first: &str) -> u8 {
    let count = |mark: u8| first.bytes().filter(|byte| *byte == mark).count();
    let mut best = b',';
    for mark in [b';', b'\t'] {
        if count(mark) > count(best) {
            best = mark;
        }
    }
    best
}

/// Decodes UTF-16 with a byte order mark, UTF-8, or else Latin-1.
fn decoded(bytes: &[u8]) -> String {
    let wide = |read: fn([u8; 2]) -> u16| {
        let units = bytes[2..].chunks_exact(2).map(|pair| read([pair[0], pair[1]]));
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    match bytes {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => text.trim_start_matches('\u{feff}').to_owned(),
            Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_is_recognised_by_the_files_name() {
        assert_eq!(of_file("export/RVTools_tabvInfo.csv"), Some(Tab::Info));
        assert_eq!(of_file("vdisk.CSV"), Some(Tab::Disk));
        assert_eq!(of_file("VM Performance.csv"), Some(Tab::LivePerformance));
        assert_eq!(of_file("machines.csv"), None);
    }

    #[test]
    fn quotes_semicolons_byte_order_marks_and_latin_1_are_read() {
        let text = "\u{feff}VM;Powerstate;CPUs;Memory\r\n\"a;\"\"b\"\"\";poweredOn;2;\"4.096\"\r\n";
        let (tab, sheet) = read("x.csv", text.as_bytes()).unwrap().unwrap();
        assert_eq!((tab, sheet.decimal), (Tab::Info, Decimal::Comma));
        assert_eq!(sheet.rows[0].cells[0].1.shown(), "a;\"b\"");
        assert_eq!(sheet.rows[0].cells[3].1.count(sheet.decimal), Ok(4096));
        let wide: Vec<u8> = std::iter::once(0xfeff)
            .chain("VM\tPowerstate\tCPUs\tMemory\nü\tpoweredOn\t1\t1\n".encode_utf16())
            .flat_map(u16::to_le_bytes)
            .collect();
        let (_, sheet) = read("x.csv", &wide).unwrap().unwrap();
        assert_eq!(sheet.rows[0].cells[0].1.shown(), "ü");
        let (_, sheet) = read("vInfo.csv", b"VM,CPUs\r\na,1\r\nb,23").unwrap().unwrap();
        assert_eq!((sheet.rows[1].number, sheet.rows[1].cells[1].1.shown()), (3, "23".to_owned()));
        assert!(read("vInfo.csv", b"VM,CPUs\n\"a,1\n").is_err());
        let (_, sheet) = read("vInfo.csv", b"VM,CPUs\n\xfc,1\n").unwrap().unwrap();
        assert_eq!(sheet.rows[0].cells[0].1.shown(), "ü");
    }
}
