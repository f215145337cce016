//! `expect`: prints the published figures nearest to a configuration.

use std::io::Write;

use commands::keep::refuse_unwritable_sheet;
use commands::outcome::{Exit, Outcome};
use commands::predict;

use super::sheet_output::SheetOutput;
use crate::expect_args::ExpectArguments;
use crate::terminal::Terminal;

pub(crate) fn run(arguments: &ExpectArguments, terminal: &Terminal) -> Outcome {
    arguments.report.as_deref().map(refuse_unwritable_sheet).transpose()?;
    let (configuration, top) = (arguments.configuration(), arguments.top as usize);
    let published = match &arguments.run {
        Some(id) => predict::expect_of_run(id, &configuration, top, &arguments.store.open())?,
        None => predict::expect(&configuration, arguments.load(), top)?,
    };
    let output = SheetOutput {
        report: arguments.report.as_deref(),
        json: arguments.json,
        full: arguments.full,
    };
    let json = |out: &mut dyn Write| report::expect::json::write(&published, out);
    output.write(&report::expect::sheet(&published), json, terminal)?;
    Ok(Exit::Done)
}
