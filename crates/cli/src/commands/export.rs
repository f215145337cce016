//! `export`: the results of one experiment for other programs.

use std::io::Write;

use anyhow::anyhow;
use commands::keep::{refuse_unwritable, write_file};
use commands::outcome::{Exit, Failure, Outcome};
use commands::predict::published_comparison;
use report::record::Record;

use super::output::to_stdout;
use crate::record_args::{ExportArguments, ExportFormat};

pub(crate) fn run(arguments: &ExportArguments) -> Outcome {
    let is_json = arguments.format == ExportFormat::Json;
    let options = arguments.published.options();
    if !is_json && options.is_set() {
        let error = "export: published figures are part of JSON only; use --format json";
        return Err(Failure::input(anyhow!(error)));
    }
    arguments.output.as_deref().map(refuse_unwritable).transpose()?;
    let (_, record) = arguments.which.load()?;
    let findings = analysis::analyze(&record);
    let published = || published_comparison::of_record(&record, &findings, &options);
    let published = is_json.then(published).flatten();
    let shown = Record { findings: &findings, published: published.as_ref() };
    let write = |out: &mut dyn Write| match arguments.format {
        ExportFormat::Csv => report::csv::write(&findings, out),
        ExportFormat::Curves => report::curves::write_csv(&findings, out),
        ExportFormat::Connections => report::connections::write_csv(&findings, out),
        ExportFormat::Json => report::json::write(shown, out),
        ExportFormat::Hgrm => report::hgrm::write(&findings, out),
    };
    match &arguments.output {
        Some(path) => write_file(path, write)?,
        None => to_stdout(write)?,
    }
    Ok(Exit::Done)
}
