//! `avs`: prints the sizing of Azure VMware Solution.

use std::io::Write;
use std::path::Path;

use commands::keep::{refuse_unwritable, refuse_unwritable_sheet, write_file};
use commands::outcome::{Exit, Failure, Outcome};
use commands::size::avs::size_avs;
use commands::size::profile;
use report::avs::{Source, sheet};
use sizing::avs::Sizing;

use super::output::to_stdout;
use super::sheet_output::SheetOutput;
use crate::avs_args::AvsArguments;
use crate::terminal::Terminal;

pub(crate) fn run(arguments: &AvsArguments, terminal: &Terminal) -> Outcome {
    if let Some(name) = &arguments.print_profile {
        return print_profile(name);
    }
    arguments.report.as_deref().map(refuse_unwritable_sheet).transpose()?;
    arguments.placement.as_deref().map(refuse_unwritable).transpose()?;
    // clap requires the path unless a profile is printed.
    let rvtools = arguments.rvtools.as_deref().unwrap_or(Path::new(""));
    let (sizing, source) = size_avs(&arguments.options(rvtools))?;
    for warning in report::avs::warnings(&sizing) {
        terminal.warn(&warning);
    }
    show(&sizing, &source, arguments, terminal)?;
    Ok(if sizing.best.is_some() { Exit::Done } else { Exit::Negative })
}

fn print_profile(name: &str) -> Outcome {
    let text = profile::text(name)?;
    to_stdout(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Done)
}

fn show(
    sizing: &Sizing,
    source: &Source,
    arguments: &AvsArguments,
    terminal: &Terminal,
) -> Result<(), Failure> {
    if let Some(path) = &arguments.placement {
        let design = sizing.best.map_or(&sizing.designs[0], |at| &sizing.designs[at]);
        write_file(path, |out| report::avs::placement::write(&sizing.selection, design, out))?;
    }
    let output = SheetOutput {
        report: arguments.report.as_deref(),
        json: arguments.json,
        full: arguments.full,
    };
    let json = |out: &mut dyn Write| report::avs::json::write(sizing, source, out);
    output.write(&sheet(sizing, source), json, terminal)
}
