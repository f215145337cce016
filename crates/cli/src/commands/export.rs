//! `export`: the results of experiments for other programs.

use std::io::Write;
use std::path::Path;

use anyhow::anyhow;
use commands::keep::interval_export::{self, Selection};
use commands::keep::{refuse_unwritable, write_file};
use commands::outcome::{Exit, Failure, Outcome};
use commands::predict::published_comparison;
use report::intervals::Format;
use report::record::Record;

use super::output::to_stdout;
use crate::record_args::{ExportArguments, ExportFormat};
use crate::terminal::Terminal;

pub(crate) fn run(arguments: &ExportArguments, terminal: &Terminal) -> Outcome {
    if arguments.format != ExportFormat::Json && arguments.published.options().is_set() {
        let error = "export: published figures are part of JSON only; use --format json";
        return Err(Failure::input(anyhow!(error)));
    }
    match arguments.format {
        ExportFormat::Intervals => intervals(arguments, Format::Csv, terminal),
        ExportFormat::Parquet => intervals(arguments, Format::Parquet, terminal),
        _ => results(arguments),
    }
}

/// Exports the intervals of one or more records.
fn intervals(arguments: &ExportArguments, format: Format, terminal: &Terminal) -> Outcome {
    let selection = match arguments.all {
        true => Selection::All,
        false => Selection::Named(&arguments.ids),
    };
    let output = arguments.output.as_deref().unwrap_or(Path::new("-"));
    let left_out = interval_export::export(&arguments.store.open(), selection, format, output)?;
    for reason in left_out {
        terminal.warn(&reason);
    }
    Ok(Exit::Done)
}

/// Exports the results of one record.
fn results(arguments: &ExportArguments) -> Outcome {
    let [id] = arguments.ids.as_slice() else {
        let error = "export: this format takes one ID; --format intervals and parquet take several";
        return Err(Failure::input(anyhow!(error)));
    };
    arguments.output.as_deref().map(refuse_unwritable).transpose()?;
    let record = arguments.store.open().load(id).map_err(Failure::input)?;
    let findings = analysis::analyze(&record);
    let is_json = arguments.format == ExportFormat::Json;
    let options = arguments.published.options();
    let published = || published_comparison::of_record(&record, &findings, &options);
    let published = is_json.then(published).flatten();
    let shown = Record { published: published.as_ref(), ..Record::from(&findings) };
    let write = |out: &mut dyn Write| match arguments.format {
        ExportFormat::Csv => report::csv::write(&findings, out),
        ExportFormat::Curves => report::curves::write_csv(&findings, out),
        ExportFormat::Connections => report::connections::write_csv(&findings, out),
        ExportFormat::Json => report::json::write(shown, out),
        ExportFormat::Hgrm => report::hgrm::write(&findings, out),
        ExportFormat::Scraped => report::scraped::write_csv(&record.id, &record.scraped, out),
        ExportFormat::Intervals | ExportFormat::Parquet => {
            unreachable!("these formats are of several records")
        }
    };
    match &arguments.output {
        Some(path) => write_file(path, write)?,
        None => to_stdout(write)?,
    }
    Ok(Exit::Done)
}
