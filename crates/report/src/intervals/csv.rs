//! Intervals as CSV.

use std::io::{self, Write};

use analysis::interval_rows::{IntervalRow, interval_rows};
use metrics::run_record::ExperimentRecord;

use super::{COLUMNS, Column, Value, exported};
use crate::csv::quoted;

pub(super) fn write(
    records: &mut dyn Iterator<Item = ExperimentRecord>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let names: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
    writeln!(out, "{}", names.join(","))?;
    for record in records {
        for row in interval_rows(&record) {
            let cells: Vec<String> = COLUMNS.iter().map(|column| cell(column, &row)).collect();
            writeln!(out, "{}", cells.join(","))?;
        }
    }
    Ok(())
}

/// The text of a cell; empty for an unknown number.
fn cell(column: &Column, row: &IntervalRow<'_>) -> String {
    match column.value {
        Value::Text(of) => quoted(&of(row)),
        Value::Integer(of) => of(row).map_or(String::new(), |value| value.to_string()),
        Value::Number(of) => of(row).map_or(String::new(), |value| exported(value).to_string()),
    }
}
