//! `export`: the results of one experiment for other programs.

use std::io::Write;

use crate::args::{ExportArguments, ExportFormat};
use crate::commands::output;
use crate::exit::{Exit, Outcome};

pub(crate) fn run(arguments: &ExportArguments) -> Outcome {
    let (_, record) = arguments.which.load()?;
    let findings = analysis::analyze(&record);
    let write = |out: &mut dyn Write| match arguments.format {
        ExportFormat::Csv => report::csv::write(&findings, out),
        ExportFormat::Curves => report::curves::write_csv(&findings, out),
        ExportFormat::Connections => report::connections::write_csv(&findings, out),
        ExportFormat::Json => report::json::write(&findings, out),
        ExportFormat::Hgrm => report::hgrm::write(&findings, out),
    };
    match &arguments.output {
        Some(path) => output::to_file(path, write)?,
        None => {
            let mut out = std::io::stdout().lock();
            write(&mut out)?;
            out.flush()?;
        }
    }
    Ok(Exit::Done)
}
