//! `check`: prints the results of the host check.

use commands::check::{CAPTURE_SCRIPT, Checked, check};
use commands::outcome::{Exit, Outcome};
use report::host_check;

use super::output::to_stdout;
use crate::check_args::CheckArguments;
use crate::record_args::OutputFormat;
use crate::terminal::Terminal;

pub(crate) fn run(arguments: &CheckArguments, terminal: &Terminal) -> Outcome {
    if arguments.capture_script {
        to_stdout(|out| out.write_all(CAPTURE_SCRIPT.as_bytes()))?;
        return Ok(Exit::Done);
    }
    let Checked { facts, options, checkup } = check(&arguments.options())?;
    to_stdout(|out| match OutputFormat::of(arguments.format, arguments.json) {
        OutputFormat::Json => host_check::json(&checkup, &facts, &options, out),
        OutputFormat::Md => out.write_all(host_check::markdown(&checkup, &options).as_bytes()),
        OutputFormat::Text => {
            let columns = terminal.report_columns();
            let text = host_check::text(&checkup, &options, arguments.all, columns);
            out.write_all(text.as_bytes())
        }
    })?;
    Ok(if checkup.has_problems() { Exit::Negative } else { Exit::Done })
}
