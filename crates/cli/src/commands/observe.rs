//! `observe`: prints the characteristics of an application, and writes the experiment that offers its
//! load.

use std::io::Write;

use commands::keep::output_file::is_stdout;
use commands::keep::{refuse_unwritable, refuse_unwritable_sheet};
use commands::observe::{observe_file, write_experiment};
use commands::outcome::{Exit, Outcome};
use report::observe::{json, sheet};
use units::counted;

use super::sheet_output::SheetOutput;
use crate::observe_args::ObserveArguments;
use crate::terminal::Terminal;

pub(crate) fn run(arguments: &ObserveArguments, terminal: &Terminal) -> Outcome {
    arguments.report.as_deref().map(refuse_unwritable_sheet).transpose()?;
    arguments.output.as_deref().map(refuse_unwritable).transpose()?;
    let (observation, profile) = observe_file(&arguments.trace, &arguments.options())?;
    if let Some(path) = &arguments.output {
        write_experiment(path, &arguments.trace, &observation, &profile)?;
        // The experiment is the output.
        if is_stdout(path) {
            return Ok(Exit::Done);
        }
    }
    let output = SheetOutput {
        report: arguments.report.as_deref(),
        json: arguments.json,
        full: arguments.full,
    };
    let write_json = |out: &mut dyn Write| json::write(&observation, &profile, out);
    output.write(&sheet(&observation, &profile), write_json, terminal)?;
    if let Some(path) = &arguments.output {
        let path = path.display();
        let points = counted(profile.left_out.len() as u64, "point");
        terminal.note(&format!(
            "experiment  {path}\nleft out    {points}, listed in its comments and by --full\n\
             more        fourcorners plan TARGET -w {path}"
        ));
    }
    Ok(Exit::Done)
}
