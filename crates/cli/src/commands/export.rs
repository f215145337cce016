//! `export`: the results of one experiment for other programs.

use std::io::Write;

use anyhow::anyhow;
use report::record::Record;

use crate::beside;
use crate::commands::output;
use crate::exit::{Exit, Failure, Outcome};
use crate::record_args::{ExportArguments, ExportFormat};

pub(crate) fn run(arguments: &ExportArguments) -> Outcome {
    let is_json = arguments.format == ExportFormat::Json;
    if !is_json && arguments.beside.is_asked() {
        let error = "export: published figures stand beside a record in JSON only: --format json";
        return Err(Failure::input(anyhow!(error)));
    }
    if let Some(path) = &arguments.output {
        output::refuse_unwritable(path)?;
    }
    let (_, record) = arguments.which.load()?;
    let findings = analysis::analyze(&record);
    let beside = || beside::of_record(&record, &findings, &arguments.beside);
    let published = is_json.then(beside).flatten();
    let shown = Record { findings: &findings, published: published.as_ref() };
    let write = |out: &mut dyn Write| match arguments.format {
        ExportFormat::Csv => report::csv::write(&findings, out),
        ExportFormat::Curves => report::curves::write_csv(&findings, out),
        ExportFormat::Connections => report::connections::write_csv(&findings, out),
        ExportFormat::Json => report::json::write(shown, out),
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
