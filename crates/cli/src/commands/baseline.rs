//! `baseline`: writes and prints the files that `compare --baseline` reads.

use std::path::PathBuf;

use analysis::compare::side::Side;
use commands::keep::baseline::Baseline;
use commands::keep::output_file;
use commands::outcome::{Exit, Failure, Outcome};

use super::output::to_stdout;
use crate::keep_args::{BaselineCommand, BaselineSaveArguments, BaselineShowArguments};
use crate::terminal::Terminal;

pub(crate) fn run(command: &BaselineCommand, terminal: &Terminal) -> Outcome {
    match command {
        BaselineCommand::Save(arguments) => save(arguments),
        BaselineCommand::Show(arguments) => show(arguments, terminal),
    }
}

fn save(arguments: &BaselineSaveArguments) -> Outcome {
    let name = arguments.name.to_string();
    let path = arguments.output.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.json")));
    let record = arguments.store.open().load(&arguments.id).map_err(Failure::input)?;
    // A baseline compares load points one by one, without a business metric.
    let side = Side { metric: None, ..Side::of(&record) };
    Baseline { name, side }.save(&path)?;
    if !output_file::is_stdout(&path) {
        to_stdout(|out| writeln!(out, "{}", path.display()))?;
    }
    Ok(Exit::Done)
}

fn show(arguments: &BaselineShowArguments, terminal: &Terminal) -> Outcome {
    let Baseline { name, side } = Baseline::load(&arguments.file)?;
    let text = report::compare::side_text(&name, &side, terminal.report_columns());
    to_stdout(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Done)
}
