//! References to rows, so that a reader can follow a number of a sizing or a prediction to a row of
//! `data/*.toml` and to its source.

use crate::row::{Origin, Status};

/// A row of a file in `data/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowRef {
    /// The file's name: `service_levels.toml`.
    pub file: &'static str,
    /// The row, by its table and key: `ceiling premium regular`.
    pub row: String,
    /// The source of the row.
    pub source: String,
    /// The date of the source: a year, a month or a day.
    pub date: String,
    /// Whether the row is in use.
    pub status: Status,
}

impl RowRef {
    /// A reference to `row` of `file`.
    pub fn new(file: &'static str, row: impl Into<String>, origin: &Origin) -> RowRef {
        let Origin { source, date, status, .. } = origin.clone();
        RowRef { file, row: row.into(), source, date, status }
    }
}
