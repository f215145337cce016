//! The forms in which findings leave: what `run`, `show`, `export` and `report` share.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use report::record::Record;

use crate::exit::Failure;
use crate::output_file;

/// The report's name inside a run directory.
pub(crate) const REPORT_NAME: &str = "report.html";

/// Tables and words are laid out for this many columns everywhere, so that they look the same in a
/// terminal, a job's log and a mail.
pub(crate) const WIDTH: usize = 80;

/// The table, and every warning in words.
pub(crate) fn text(record: Record<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    let text = report::text::summary(record, WIDTH);
    out.write_all(text.trim_start_matches('\n').as_bytes())?;
    Ok(())
}

/// Everything, as JSON.
pub(crate) fn json(record: Record<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    report::json::write(record, out)?;
    Ok(())
}

/// Writes the HTML report to `path`.
pub(crate) fn report(record: Record<'_>, path: &Path) -> Result<(), Failure> {
    let page = report::html::render(record).context("lay out the report").map_err(Failure::bug)?;
    to_file(path, |out| out.write_all(page.as_bytes()))
}

/// Refuses a path that cannot be written, before anything is read or measured for it. A file that
/// is there is left as it is.
pub(crate) fn refuse_unwritable(path: &Path) -> Result<(), Failure> {
    let probed = output_file::probe(path);
    probed.with_context(|| format!("write {}", path.display())).map_err(Failure::input)
}

/// Makes a file with what `write` writes into it.
pub(crate) fn to_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let written = output_file::write(path, write);
    written.with_context(|| format!("write {}", path.display())).map_err(Failure::target)
}
