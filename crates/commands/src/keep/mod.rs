//! Stored records, and the files that results are written to.

pub mod baseline;
pub mod file_sets;
pub mod interval_export;
pub mod list_table;
pub mod listing;
pub mod output_file;
pub mod record_name;
pub mod removal;
pub mod report_files;

use std::io::Write;
use std::path::{Path, PathBuf};

use analysis::Findings;
use analysis::compare::side::Side;
use analysis::compare::{Options, compare};
use anyhow::{Context, anyhow};
use report::document::Section;
use report::expect::published::Published;
use report::record::{Record, Remarks};
use report::sheet::Sheet;
use store::{Annotation, Label, Store};

use crate::outcome::Failure;
use crate::predict::published_comparison::{ReportOptions, analyzed};

/// The file name of the report inside a run directory.
pub const REPORT_NAME: &str = "report.html";

/// Analysed records for one report.
#[derive(Debug)]
pub struct Records {
    /// Findings and published figures of each record.
    pub analyzed: Vec<(Findings, Option<Published>)>,
    /// Label and note of each record.
    pub annotations: Vec<Annotation>,
    /// The comparison of the records, if they have load points in common.
    pub comparison: Vec<Section>,
    /// The directory of the first record.
    pub run_directory: PathBuf,
}

/// Reads and analyses the records with these IDs, one after the other.
///
/// # Errors
/// A record cannot be read or is named twice.
pub fn load(store: &Store, ids: &[String], options: &ReportOptions) -> Result<Records, Failure> {
    let mut records: Vec<(Findings, Option<Published>)> = Vec::new();
    let mut sides = Vec::new();
    for id in ids {
        let id = store.resolve(id).map_err(Failure::input)?;
        if records.iter().any(|(record, _)| record.id == id) {
            return Err(Failure::input(anyhow!("report `{id}` twice: name each record once")));
        }
        let record = store.load(&id).map_err(Failure::input)?;
        if ids.len() > 1 {
            sides.push(Side::of(&record));
        }
        records.push(analyzed(&record, options));
    }
    let run_directory = store.run_directory(&records[0].0.id).map_err(Failure::input)?;
    // A damaged annotation makes no record unreadable.
    let annotation = |(record, _): &(Findings, _)| store.annotation(&record.id).unwrap_or_default();
    let annotations = records.iter().map(annotation).collect();
    let comparison = comparison(&sides);
    Ok(Records { analyzed: records, annotations, comparison, run_directory })
}

/// A record's annotation as a report shows it.
pub fn remarks(annotation: &Annotation) -> Remarks<'_> {
    Remarks {
        label: annotation.label.as_ref().map(Label::as_str),
        note: annotation.note.as_deref(),
    }
}

fn comparison(sides: &[Side]) -> Vec<Section> {
    if sides.len() < 2 {
        return Vec::new();
    }
    let comparison = compare(sides, &Options::default());
    match comparison.pairs.iter().all(|pair| pair.points.is_empty()) {
        true => Vec::new(),
        false => report::compare::page_sections(&comparison),
    }
}

/// Writes the HTML report of a record.
///
/// # Errors
/// The file cannot be written.
pub fn write_report(record: Record<'_>, path: &Path) -> Result<(), Failure> {
    let page =
        report::html::render(record).context("render the report").map_err(Failure::internal)?;
    write_file(path, |out| out.write_all(page.as_bytes()))
}

/// Refuses a path that cannot be written, before anything is read or measured for it. An existing
/// file is unchanged.
///
/// # Errors
/// Why it cannot be written.
pub fn refuse_unwritable(path: &Path) -> Result<(), Failure> {
    let probed = output_file::probe(path);
    probed.with_context(|| format!("write {}", path.display())).map_err(Failure::input)
}

/// Writes a file with `write`.
///
/// # Errors
/// The file cannot be written.
pub fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let written = output_file::write(path, write);
    written.with_context(|| format!("write {}", path.display())).map_err(Failure::target)
}

/// The format of a sheet's file.
#[derive(Clone, Copy)]
enum SheetFormat {
    Html,
    Markdown,
}

impl SheetFormat {
    /// By the file name's extension.
    fn of(path: &Path) -> Result<SheetFormat, Failure> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_lowercase).as_deref() {
            Some("html" | "htm") => Ok(SheetFormat::Html),
            Some("md") => Ok(SheetFormat::Markdown),
            _ => Err(Failure::input(anyhow!(
                "write {}: the file name must end in .html or .md",
                path.display()
            ))),
        }
    }
}

/// Refuses a path that [`write_sheet`] cannot write.
///
/// # Errors
/// Why it cannot be written.
pub fn refuse_unwritable_sheet(path: &Path) -> Result<(), Failure> {
    SheetFormat::of(path)?;
    refuse_unwritable(path)
}

/// Writes a sheet as HTML or Markdown, by the file name's extension.
///
/// # Errors
/// The file cannot be written.
pub fn write_sheet(sheet: &Sheet, path: &Path) -> Result<(), Failure> {
    let text = match SheetFormat::of(path)? {
        SheetFormat::Html => sheet.html().context("render the page").map_err(Failure::internal)?,
        SheetFormat::Markdown => sheet.markdown(),
    };
    write_file(path, |out| out.write_all(text.as_bytes()))
}
