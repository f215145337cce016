//! The table of `list`, laid out for the width of a terminal.

use std::collections::BTreeMap;

use metrics::run_record::Outcome;
use report::number::{NONE, TimeUnit, mib, plain};
use report::results::rate_unit;
use report::table::{Column, Table};
use store::{Listed, State};
use units::Utc;

use super::listing::ListedRecord;

/// Characters of an ID that contain its date and time: `20261121-061500`.
const ID_DATE_CHARS: usize = 15;
/// Columns for a target, which may be broken into lines.
const TARGET_CHARS_MIN: usize = 12;
/// Columns between the columns of a listing.
const GAP: usize = 2;

/// A column with its cells.
struct Candidate {
    column: Column,
    cells: Vec<String>,
    /// The lowest is left out first; `None` never is.
    rank: Option<u8>,
}

impl Candidate {
    fn width(&self) -> usize {
        let chars = |text: &str| text.chars().count();
        let cells = self.cells.iter().map(|cell| chars(cell));
        cells.chain([chars(&self.column.name), chars(&self.column.unit)]).max().unwrap_or(0)
    }
}

/// The records, the newest last, in at most `width` columns: the least important columns are left
/// out, and IDs are cut to their date and time where these are unique, which still name a record.
pub fn table(records: &[ListedRecord], width: usize) -> Table {
    let mut columns = candidates(records);
    let total = |columns: &[Candidate]| {
        let widths = columns.iter().map(Candidate::width);
        // The last column, the target, is broken into lines.
        let last =
            columns.last().map_or(0, |last| last.width() - last.width().min(TARGET_CHARS_MIN));
        widths.sum::<usize>() + GAP * (columns.len() - 1) - last
    };
    if total(&columns) > width {
        shorten_ids(&mut columns[0].cells);
    }
    while total(&columns) > width {
        let least = columns.iter().enumerate().filter_map(|(at, one)| Some((one.rank?, at))).min();
        let Some((_, at)) = least else { break };
        columns.remove(at);
    }
    let rows = (0..records.len())
        .map(|row| columns.iter().map(|column| column.cells[row].clone()).collect());
    Table {
        rows: rows.collect(),
        columns: columns.iter().map(|one| one.column.clone()).collect(),
        ..Table::default()
    }
}

fn candidates(records: &[ListedRecord]) -> Vec<Candidate> {
    let floors = records.iter().filter_map(|record| record.digest.floor_ns);
    let unit = TimeUnit::of(floors);
    let column = |column: Column, rank: Option<u8>, cell: &dyn Fn(&ListedRecord) -> String| {
        Candidate { column, cells: records.iter().map(cell).collect(), rank }
    };
    let or_none = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
    let all = vec![
        column(Column::words("ID"), None, &|one| one.listed.id.clone()),
        column(Column::words("LABEL"), Some(7), &|one| {
            one.listed.annotation.label.as_ref().map_or(String::new(), ToString::to_string)
        }),
        column(Column::words("EXPERIMENT"), Some(1), &|one| one.listed.name.clone()),
        column(Column::words("STARTED (UTC)"), Some(0), &|one| started(&one.listed)),
        column(Column::numbers("BEST", rate_unit(true)), Some(5), &|one| {
            or_none(one.digest.rate_ops_per_s.map(plain))
        }),
        column(Column::numbers("BEST", "MiB/s"), Some(5), &|one| {
            or_none(one.digest.throughput_bytes_per_s.map(mib))
        }),
        column(Column::numbers("FLOOR", unit.symbol()), Some(4), &|one| {
            or_none(one.digest.floor_ns.map(|ns| unit.print(ns)))
        }),
        column(Column::words("VERDICT"), Some(6), &verdict),
        column(Column::numbers("DISK", "MiB"), Some(3), &|one| mib(one.listed.disk_bytes as f64)),
        column(Column::words("NOTE"), Some(2), &|one| {
            one.listed.annotation.note.clone().unwrap_or_default()
        }),
        column(Column::words("TARGET"), None, &target),
    ];
    // A list of reads and writes has no rates, and one of operations that move nothing no throughput.
    let has_cells = |one: &Candidate| {
        one.rank.is_none() || one.cells.iter().any(|cell| !cell.is_empty() && cell != NONE)
    };
    all.into_iter().filter(has_cells).collect()
}

/// The date and time, to the minute.
fn started(listed: &Listed) -> String {
    if listed.started_unix_ms == 0 {
        return NONE.to_owned();
    }
    let utc = Utc::from_unix_ms(listed.started_unix_ms);
    format!("{} {}", utc.date(), &utc.time()[..5])
}

/// The verdict, or how the experiment ended if not as planned.
fn verdict(record: &ListedRecord) -> String {
    let listed = &record.listed;
    match &listed.state {
        State::Ended(Outcome::Done) => {
            record.digest.verdict.clone().unwrap_or_else(|| NONE.to_owned())
        }
        State::Damaged { .. } => listed.state.name().to_owned(),
        state => format!("{} {}/{}", state.name(), listed.runs_done, listed.runs_planned),
    }
}

/// The target, with what the user changed in the experiment.
fn target(record: &ListedRecord) -> String {
    let Listed { target, overrides, .. } = &record.listed;
    match overrides.is_empty() {
        true => target.clone(),
        false => format!("{target} with {}", overrides.join(", ")),
    }
}

fn shorten_ids(ids: &mut [String]) {
    let short = |id: &str| id.get(..ID_DATE_CHARS).unwrap_or(id).to_owned();
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for id in ids.iter() {
        *counts.entry(short(id)).or_default() += 1;
    }
    for id in ids {
        let short = short(id);
        if counts[&short] == 1 {
            *id = short;
        }
    }
}
