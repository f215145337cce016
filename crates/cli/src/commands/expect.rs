//! `expect`: prints the published figures nearest to a configuration.

use commands::keep::{refuse_unwritable_sheet, write_sheet};
use commands::outcome::{Exit, Outcome};
use commands::predict;

use super::output::to_stdout;
use crate::expect_args::ExpectArguments;
use crate::terminal::report_columns;

pub(crate) fn run(arguments: &ExpectArguments) -> Outcome {
    arguments.report.as_deref().map(refuse_unwritable_sheet).transpose()?;
    let (configuration, top) = (arguments.configuration(), arguments.top as usize);
    let published = match &arguments.run {
        Some(id) => predict::expect_of_run(id, &configuration, top, &arguments.store.open())?,
        None => predict::expect(&configuration, arguments.load(), top)?,
    };
    if let Some(path) = &arguments.report {
        write_sheet(&report::expect::sheet(&published, true), path)?;
    }
    to_stdout(|out| match arguments.json {
        true => report::expect::json::write(&published, out),
        false => {
            let sheet = report::expect::sheet(&published, arguments.explain);
            out.write_all(sheet.text(report_columns()).as_bytes())
        }
    })?;
    Ok(Exit::Done)
}
