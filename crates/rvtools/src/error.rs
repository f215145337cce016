//! Errors.

/// Why an export cannot be read, and how to correct it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The file is empty.
    #[error("read {file}: it is empty")]
    Empty {
        /// The file's name.
        file: String,
    },
    /// The file is neither a workbook nor a text.
    #[error(
        "read {file}: it is neither a workbook (.xlsx) nor a CSV text; export it again from RVTools"
    )]
    Unknown {
        /// The file's name.
        file: String,
    },
    /// The workbook is protected by a password.
    #[error(
        "read {file}: the workbook is protected by a password; save it without one \
         (File > Info > Protect Workbook)"
    )]
    Protected {
        /// The file's name.
        file: String,
    },
    /// The workbook has the format of Excel 97.
    #[error("read {file}: this is the old workbook format (.xls); save it as .xlsx or CSV")]
    OldFormat {
        /// The file's name.
        file: String,
    },
    /// The workbook is damaged.
    #[error("read {file}: the workbook is damaged: {why}; copy or export it again")]
    Broken {
        /// The file's name.
        file: String,
        /// The error of the workbook reader.
        why: String,
    },
    /// The CSV text is malformed.
    #[error("read {file}: the CSV text is malformed: {why}")]
    MalformedText {
        /// The file's name.
        file: String,
        /// What is wrong.
        why: &'static str,
    },
    /// No sheet of machines.
    #[error("read {files}: no sheet `vInfo` (RVTools) or `VMs` (Live Optics); {found}")]
    NoMachines {
        /// The files' names.
        files: String,
        /// The sheets found, or the one that may be meant.
        found: String,
    },
    /// A sheet lacks required columns.
    #[error("{sheet}: {}", absent_headings(absent))]
    Headings {
        /// The sheet's name in the file.
        sheet: String,
        /// The missing headings, each with the most similar one and its column.
        absent: Vec<(&'static str, Option<String>)>,
    },
    /// A sheet of machines without machines.
    #[error("{sheet}: no machines: {rows} rows below the headings, none with a name")]
    NoRows {
        /// The sheet's name in the file.
        sheet: String,
        /// Number of rows.
        rows: usize,
    },
    /// Cells with wrong values.
    #[error("{}", some_of(wrong_cells))]
    Cells {
        /// All of them, in the order of the sheets and rows.
        wrong_cells: Vec<CellError>,
    },
}

/// A cell with a value that its column does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellError {
    /// Its reference: `vInfo!C17`.
    pub cell: String,
    /// The value found.
    pub found: String,
    /// What is allowed.
    pub allowed: &'static str,
}

/// Maximum number of wrong cells in a message.
const SHOWN: usize = 10;

fn some_of(wrong_cells: &[CellError]) -> String {
    let shown = wrong_cells.iter().take(SHOWN).map(|wrong| {
        format!("{}: found `{}`, expected {}", wrong.cell, wrong.found, wrong.allowed)
    });
    let mut lines: Vec<String> = shown.collect();
    if wrong_cells.len() > SHOWN {
        lines.push(format!("and {} more cells", wrong_cells.len() - SHOWN));
    }
    lines.join("\n  ")
}

fn absent_headings(absent: &[(&'static str, Option<String>)]) -> String {
    let one = |(name, close): &(&str, Option<String>)| match close {
        Some(close) => format!("no heading `{name}` (the most similar is {close})"),
        None => format!("no heading `{name}`"),
    };
    absent.iter().map(one).collect::<Vec<_>>().join("; ")
}
