//! Why an export could not be read.

/// Where, what, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is nothing in it.
    #[error("read {file}: it is empty")]
    Empty {
        /// Its name.
        file: String,
    },
    /// It is neither a workbook nor a text.
    #[error(
        "read {file}: it is neither a workbook (.xlsx) nor a CSV text; export it from RVTools anew"
    )]
    Unknown {
        /// Its name.
        file: String,
    },
    /// It wants a password.
    #[error(
        "read {file}: the workbook is protected by a password; save it without one \
         (File > Info > Protect Workbook)"
    )]
    Protected {
        /// Its name.
        file: String,
    },
    /// It has the form of Excel 97.
    #[error("read {file}: this is the old form of workbooks (.xls); save it as .xlsx or as CSV")]
    OldForm {
        /// Its name.
        file: String,
    },
    /// It begins as a workbook does, and then does not go on as one.
    #[error("read {file}: the workbook is broken: {why}; copy or export it anew")]
    Broken {
        /// Its name.
        file: String,
        /// What its reader said.
        why: String,
    },
    /// A CSV text with a quote that does not end.
    #[error("read {file}: the CSV text is broken: {why}")]
    BrokenText {
        /// Its name.
        file: String,
        /// What is wrong.
        why: &'static str,
    },
    /// No machines in it.
    #[error("read {files}: no sheet `vInfo` (RVTools) or `VMs` (Live Optics); {there}")]
    NoMachines {
        /// Names of what was read.
        files: String,
        /// Which sheets there are, or which may have been meant.
        there: String,
    },
    /// A sheet without columns that are needed.
    #[error("{sheet}: {}", absent_headings(absent))]
    Headings {
        /// As the file names it.
        sheet: String,
        /// Each with the heading that may have been meant, and its column.
        absent: Vec<(&'static str, Option<String>)>,
    },
    /// A sheet with nothing in it where machines were to be.
    #[error("{sheet}: no machine in it: {rows} rows below the headings, none of which has a name")]
    NoRows {
        /// As the file names it.
        sheet: String,
        /// How many there are.
        rows: usize,
    },
    /// Cells that cannot be what they are.
    #[error("{}", some_of(mistakes))]
    Cells {
        /// All of them, in the order of the sheets and rows.
        mistakes: Vec<CellMistake>,
    },
}

/// A cell that is not what its column wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellMistake {
    /// `vInfo!C17`
    pub place: String,
    /// What stands there.
    pub found: String,
    /// What may stand there.
    pub wanted: &'static str,
}

/// More than this at once helps nobody.
const SHOWN: usize = 10;

fn some_of(mistakes: &[CellMistake]) -> String {
    let shown = mistakes.iter().take(SHOWN).map(|mistake| {
        format!("{}: found `{}`, wanted {}", mistake.place, mistake.found, mistake.wanted)
    });
    let mut lines: Vec<String> = shown.collect();
    if mistakes.len() > SHOWN {
        lines.push(format!("and {} cells more", mistakes.len() - SHOWN));
    }
    lines.join("\n  ")
}

fn absent_headings(absent: &[(&'static str, Option<String>)]) -> String {
    let one = |(name, close): &(&str, Option<String>)| match close {
        Some(close) => format!("no heading `{name}` (the closest is {close})"),
        None => format!("no heading `{name}`"),
    };
    absent.iter().map(one).collect::<Vec<_>>().join("; ")
}
