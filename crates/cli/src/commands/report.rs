//! `report`: the HTML report of one experiment.

use std::io::Write;

use crate::args::ReportArguments;
use crate::commands::output;
use crate::exit::{Exit, Failure, Outcome};

pub(crate) fn run(arguments: &ReportArguments) -> Outcome {
    let (store, record) = arguments.which.load()?;
    let findings = analysis::analyze(&record);
    let path = match &arguments.output {
        Some(path) => path.clone(),
        None => {
            let directory = store.run_directory(&record.id).map_err(Failure::input)?;
            directory.join(output::REPORT_NAME)
        }
    };
    output::report(&findings, &path)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", path.display())?;
    out.flush()?;
    Ok(Exit::Done)
}
