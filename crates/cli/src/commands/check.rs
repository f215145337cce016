//! `check`: prints the results of the host check.

use anyhow::anyhow;
use commands::check::{CAPTURE_SCRIPT, Checked, check};
use commands::fleet::{self, Fleet};
use commands::outcome::{Exit, Failure, Outcome};
use report::host_check;

use super::host_progress;
use super::output::to_stdout;
use crate::check_args::CheckArguments;
use crate::interrupt;
use crate::record_args::OutputFormat;
use crate::terminal::Terminal;

pub(crate) fn run(arguments: &CheckArguments, terminal: &Terminal) -> Outcome {
    if arguments.capture_script {
        to_stdout(|out| out.write_all(CAPTURE_SCRIPT.as_bytes()))?;
        return Ok(Exit::Done);
    }
    if let Some(fleet) = arguments.fleet.fleet()? {
        return run_on_hosts(arguments, &fleet, terminal);
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

/// Checks several hosts, and prints what differs between them.
fn run_on_hosts(arguments: &CheckArguments, fleet: &Fleet, terminal: &Terminal) -> Outcome {
    let format = OutputFormat::of(arguments.format, arguments.json);
    if format == OutputFormat::Md {
        let why = anyhow!("check --hosts has no Markdown: use text or json");
        return Err(Failure::input(why));
    }
    let interrupt = interrupt::listen()?;
    let mut observe = host_progress::observer(fleet, terminal, &interrupt.stop);
    let checked = fleet::check::check(&arguments.options(), fleet, &mut observe)?;
    let fleet::check::Checked { about, fleet } = checked;
    to_stdout(|out| match format {
        OutputFormat::Json => host_check::fleet::json(&fleet, out),
        OutputFormat::Md | OutputFormat::Text => {
            let columns = terminal.report_columns();
            let text = host_check::fleet::text(&fleet, &about, arguments.all, columns);
            out.write_all(text.as_bytes())
        }
    })?;
    let has_problems = fleet.answered().any(|(_, host)| host.has_problems());
    Ok(match (fleet.lost().next(), has_problems) {
        (Some(_), _) => Exit::TargetFailed,
        (None, true) => Exit::Negative,
        (None, false) => Exit::Done,
    })
}
