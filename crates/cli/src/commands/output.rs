//! Output that several commands share.

use std::io::Write;

use analysis::compare::Comparison;
use commands::outcome::{Failure, Outcome};
use commands::refusal;
use report::compare::Detail;
use report::glance::Layout;
use report::look::Look;
use report::record::Record;

use super::follow_up::height;
use crate::terminal::Terminal;

/// Lines of a result that a screen shows without scrolling.
const SCREEN_LINES: usize = 40;

/// Writes to stdout, completely.
pub(crate) fn to_stdout(
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    write(&mut out)?;
    out.flush()?;
    Ok(())
}

/// How a result is printed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResultLayout {
    /// Everything instead of a glance.
    pub(crate) full: bool,
    /// Columns.
    pub(crate) width: usize,
    /// Colours.
    pub(crate) look: Look,
    /// Lines below it.
    pub(crate) footer_lines: usize,
}

impl ResultLayout {
    /// The layout of a glance, which ends with a blank line and the footer.
    pub(crate) fn glance(&self) -> Layout {
        let lines_max = SCREEN_LINES.saturating_sub(self.footer_lines + 1);
        Layout { width: self.width, lines_max, look: self.look }
    }
}

/// The result at a glance, or all of it.
pub(crate) fn result(record: Record<'_>, layout: ResultLayout) -> String {
    let glance = || report::glance::text(record, layout.glance());
    let full = || report::text::colored(record, layout.width, layout.look);
    let text = if layout.full { full() } else { glance().unwrap_or_else(full) };
    text.trim_start_matches('\n').to_owned()
}

/// The comparison at a glance, or with this detail, and what follows it.
pub(crate) fn comparison(
    comparison: &Comparison,
    full: Option<Detail>,
    footer: &[String],
    terminal: &Terminal,
) -> String {
    let (width, look) = (terminal.report_columns(), terminal.look());
    let footer_lines = height(footer, width);
    let layout = ResultLayout { full: full.is_some(), width, look, footer_lines };
    let text = match full {
        Some(detail) => report::compare::text(comparison, detail, width),
        None => report::compare::glance(comparison, layout.glance()),
    };
    let blank = if footer.is_empty() { "" } else { "\n" };
    let footer: String = footer.iter().flat_map(|line| [line, "\n"]).collect();
    format!("{}{blank}{footer}", text.trim_start_matches('\n'))
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
