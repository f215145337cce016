//! Output that several commands share.

use std::io::Write;

use commands::outcome::{Failure, Outcome};
use commands::refusal;
use report::record::Record;

use crate::terminal::report_columns;

/// Writes to stdout, completely.
pub(crate) fn to_stdout(
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    write(&mut out)?;
    out.flush()?;
    Ok(())
}

/// The table and every warning.
pub(crate) fn text(record: Record<'_>, out: &mut dyn Write) -> std::io::Result<()> {
    let text = report::text::summary(record, report_columns());
    out.write_all(text.trim_start_matches('\n').as_bytes())
}

/// Prints the refusal of a target as JSON, in place of results, and returns the outcome.
pub(crate) fn with_json_refusal(outcome: Outcome, json: bool) -> Outcome {
    if let Err(Failure { refused: Some(refused), .. }) = &outcome
        && json
    {
        refusal::write_json(refused, &mut std::io::stdout().lock())?;
    }
    outcome
}
