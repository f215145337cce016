//! How `size`, `predict`, `expect` and `avs` print their sheets.

use std::io::Write;
use std::path::Path;

use commands::keep::write_sheet;
use commands::outcome::Failure;
use report::sheet::Sheet;

use super::output::to_stdout;
use crate::terminal::Terminal;

/// How a command prints a sheet.
pub(crate) struct SheetOutput<'a> {
    /// The file to write it to as well.
    pub(crate) report: Option<&'a Path>,
    /// Print JSON.
    pub(crate) json: bool,
    /// Print everything, instead of what fits on a screen.
    pub(crate) full: bool,
}

impl SheetOutput<'_> {
    /// Writes the file and prints the sheet.
    pub(crate) fn write(
        &self,
        sheet: &Sheet,
        json: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
        terminal: &Terminal,
    ) -> Result<(), Failure> {
        if let Some(path) = self.report {
            write_sheet(sheet, path)?;
        }
        let columns = terminal.report_columns();
        to_stdout(|out| match (self.json, self.full) {
            (true, _) => json(out),
            (false, true) => out.write_all(sheet.text(columns).as_bytes()),
            (false, false) => out.write_all(sheet.short(columns).as_bytes()),
        })
    }
}
