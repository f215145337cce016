//! Why a conclusion has its number: a line of arithmetic, and the rows that it rests on.
//!
//! For: what sizing, prediction and expectations show beside a number, so that a reader can go
//! from any of them to a row of `data/*.toml` and from there to its source. Not for: the numbers.

use crate::row::{Origin, Status};

/// One step on the way to a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The arithmetic, with units, as a person would write it down:
    /// `972,800 KiB/s / 64 KiB/s per GiB = 15,200 GiB`.
    pub text: String,
    /// The facts in it; none where it follows from what was asked.
    pub rows: Vec<RowRef>,
}

/// A row of a file in `data/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowRef {
    /// The file's name: `service_levels.toml`.
    pub file: &'static str,
    /// Which of its rows: the table and what tells it from others, `ceiling premium regular`.
    pub row: String,
    /// Where the row was read.
    pub source: String,
    /// When that was written: a year, a month or a day.
    pub date: String,
    /// Whether the product goes by it.
    pub status: Status,
}

impl RowRef {
    /// A row of `file` that `row` tells from the others there.
    pub fn new(file: &'static str, row: impl Into<String>, origin: &Origin) -> RowRef {
        let Origin { source, date, status, .. } = origin.clone();
        RowRef { file, row: row.into(), source, date, status }
    }
}

impl Reason {
    /// A step that follows from what was asked.
    pub fn asked(text: impl Into<String>) -> Reason {
        Reason { text: text.into(), rows: Vec::new() }
    }

    /// A step that rests on facts.
    pub fn from_rows(text: impl Into<String>, rows: impl IntoIterator<Item = RowRef>) -> Reason {
        Reason { text: text.into(), rows: rows.into_iter().collect() }
    }
}
