//! A CSV text as a sheet. Commas, semicolons and tabs divide; quotes as in RFC 4180.

use crate::cell::{Cell, Decimal};
use crate::error::Error;
use crate::headings::Tab;
use crate::sheet::{Row, Sheet};

/// Reads a text. The sheet's name is in the file's (`RVTools_tabvInfo.csv`), or it is told by the
/// headings.
///
/// # Errors
/// A text that is broken. `Ok(None)` where no sheet that is read can be made out.
pub(crate) fn read(file: &str, bytes: &[u8]) -> Result<Option<(Tab, Sheet)>, Error> {
    let text = decoded(bytes);
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let delimiter = delimiter(first);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(text.as_bytes());
    let mut rows = Vec::new();
    for (index, record) in reader.records().enumerate() {
        let broken = |error: csv::Error| Error::BrokenText {
            file: file.to_owned(),
            why: error.to_string(),
        };
        let record = record.map_err(broken)?;
        let cells = record
            .iter()
            .enumerate()
            .filter_map(|(column, text)| Some((u32::try_from(column).ok()?, Cell::text(text)?)));
        let cells: Vec<(u32, Cell)> = cells.collect();
        if !cells.is_empty() {
            let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
            rows.push(Row { number, cells });
        }
    }
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

/// The sheet that a file of this name holds: `RVTools_tabvInfo.csv`, `vInfo.csv`.
pub(crate) fn of_file(file: &str) -> Option<Tab> {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file).to_lowercase();
    let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
    let of_tab = |tab: &Tab| {
        let wanted = tab.name().to_lowercase();
        stem == wanted || stem.ends_with(&format!("tab{wanted}"))
    };
    Tab::ALL.into_iter().find(of_tab)
}

/// What divides the headings most often.
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

/// UTF-16 by its mark; else UTF-8; else one byte is one letter, as in Western Europe.
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
    fn a_files_name_tells_its_sheet() {
        assert_eq!(of_file("export/RVTools_tabvInfo.csv"), Some(Tab::Info));
        assert_eq!(of_file("vdisk.CSV"), Some(Tab::Disk));
        assert_eq!(of_file("VM Performance.csv"), Some(Tab::LivePerformance));
        assert_eq!(of_file("machines.csv"), None);
    }

    #[test]
    fn quotes_semicolons_marks_of_order_and_old_letters_are_read() {
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
        let (_, sheet) = read("vInfo.csv", b"VM,CPUs\n\xfc,1\n").unwrap().unwrap();
        assert_eq!(sheet.rows[0].cells[0].1.shown(), "ü");
    }
}
