//! `report`: the page, the Markdown or the images of one or more records.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use analysis::Findings;
use anyhow::{Context, anyhow};
use report::drawing::png::Painter;
use report::drawing::theme::Theme;
use report::pictures::{Kind, pictures};
use report::record::Record;

use super::{REPORT_NAME, Records, output_file, refuse_unwritable, remarks, write_file};
use crate::outcome::Failure;

/// The directory of a report of several files, inside a run directory.
const DIRECTORY_NAME: &str = "report";
/// The Markdown file in it.
const MARKDOWN_NAME: &str = "report.md";

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// One HTML page.
    Html,
    /// Markdown, and the charts as SVG in the same directory.
    Markdown,
    /// A directory with each chart as SVG.
    Svg,
    /// A directory with each chart as PNG.
    Png,
}

/// Refuses an output path that cannot be written. All formats but HTML need a directory, which is
/// created later if it is missing.
///
/// # Errors
/// Why it cannot be written.
pub fn refuse_unwritable_report(format: ReportFormat, path: &Path) -> Result<(), Failure> {
    if format == ReportFormat::Html {
        return refuse_unwritable(path);
    }
    // Without a trailing slash.
    let path: PathBuf = path.components().collect();
    if path.is_dir() {
        return refuse_unwritable(&path.join(MARKDOWN_NAME));
    }
    if path.exists() || output_file::is_stdout(&path) {
        return Err(Failure::input(anyhow!(
            "write {}: this format writes several files; name a directory",
            path.display()
        )));
    }
    refuse_unwritable(&path)
}

/// Writes the report and returns the path to open.
///
/// * `output` - the file or directory; by default inside the first record's run directory
///
/// # Errors
/// A file cannot be written.
pub fn write(
    records: &Records,
    format: ReportFormat,
    theme: Theme,
    output: Option<&Path>,
) -> Result<PathBuf, Failure> {
    let all: Vec<Record<'_>> = records
        .analyzed
        .iter()
        .zip(&records.annotations)
        .map(|((findings, published), annotation)| Record {
            findings,
            published: published.as_ref(),
            remarks: remarks(annotation),
        })
        .collect();
    if format == ReportFormat::Html {
        let path = output_path(records, output, REPORT_NAME);
        let page = report::html::render_all(&all, &records.comparison, theme)
            .context("render the report")
            .map_err(Failure::internal)?;
        write_file(&path, |out| out.write_all(page.as_bytes()))?;
        return Ok(path);
    }
    let directory = output_path(records, output, DIRECTORY_NAME);
    create_directory(&directory)
        .with_context(|| format!("create the directory {}", directory.display()))
        .map_err(Failure::target)?;
    let findings: Vec<&Findings> = all.iter().map(|record| record.findings).collect();
    let mut drawn = pictures(&findings, theme);
    if format == ReportFormat::Markdown {
        // Charts of hundreds of single runs are too many for a document.
        drawn.retain(|picture| picture.kind != Kind::Run);
    }
    let painter = Painter::embedded();
    for picture in &drawn {
        let (bytes, ending) = match format {
            ReportFormat::Png => (painter.png(&picture.svg).map_err(Failure::internal)?, "png"),
            _ => (picture.svg.clone().into_bytes(), "svg"),
        };
        let path = directory.join(format!("{}.{ending}", picture.name));
        write_file(&path, |out| out.write_all(&bytes))?;
    }
    if format != ReportFormat::Markdown {
        return Ok(directory);
    }
    let path = directory.join(MARKDOWN_NAME);
    let text = report::markdown::render_all(&all, &records.comparison, &drawn);
    write_file(&path, |out| out.write_all(text.as_bytes()))?;
    Ok(path)
}

/// Creates a directory unless it exists.
fn create_directory(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}

fn output_path(records: &Records, output: Option<&Path>, name: &str) -> PathBuf {
    let run_directory = &records.run_directory;
    output.map(Path::to_owned).unwrap_or_else(|| match records.analyzed.as_slice() {
        [_] => run_directory.join(name),
        // Next to the first record's own report.
        _ => run_directory.join(format!("several-{name}")),
    })
}
