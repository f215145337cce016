//! `report`: one or more experiments as a page, as Markdown, or as pictures.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use analysis::Findings;
use analysis::compare::side::Side;
use analysis::compare::{Options, compare};
use anyhow::{Context, anyhow};
use report::chart::theme::Theme;
use report::compare::Detail;
use report::document::Section;
use report::expect::published::Published;
use report::pictures::{Kind, Picture, pictures};
use report::record::Record;

use crate::beside;
use crate::commands::output;
use crate::exit::{Exit, Failure, Outcome};
use crate::output_file;
use crate::picture::Painter;
use crate::record_args::{ReportArguments, ReportFormat, ReportTheme};

/// What is kept of a record.
type Analyzed = (Findings, Option<Published>);

/// The directory of a report that is several files, inside a run directory.
const DIRECTORY_NAME: &str = "report";
/// The Markdown file in it.
const MARKDOWN_NAME: &str = "report.md";

pub(crate) fn run(arguments: &ReportArguments) -> Outcome {
    if let Some(path) = &arguments.output {
        match arguments.format {
            ReportFormat::Html => output::refuse_unwritable(path)?,
            _ => refuse_unwritable_directory(path)?,
        }
    }
    let (analyzed, sides, home) = load(arguments)?;
    let records: Vec<Record<'_>> = analyzed
        .iter()
        .map(|(findings, published)| Record { findings, published: published.as_ref() })
        .collect();
    let comparisons = comparisons(&sides);
    let theme = theme(arguments.theme);
    let written = match arguments.format {
        ReportFormat::Html => {
            let path = output_path(arguments, &home, output::REPORT_NAME);
            let page = report::html::render_all(&records, &comparisons, theme)
                .context("lay out the report")
                .map_err(Failure::bug)?;
            output::to_file(&path, |out| out.write_all(page.as_bytes()))?;
            path
        }
        form => {
            let directory = output_path(arguments, &home, DIRECTORY_NAME);
            make_directory(&directory)
                .with_context(|| format!("make the directory {}", directory.display()))
                .map_err(Failure::target)?;
            files(form, &records, &comparisons, theme, &directory)?
        }
    };
    if !output_file::is_stdout(&written) {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", written.display())?;
        out.flush()?;
    }
    Ok(Exit::Done)
}

/// Refuses a path in which no files could be made; a directory that does not exist is made later,
/// inside one that does.
fn refuse_unwritable_directory(path: &Path) -> Result<(), Failure> {
    // Without the slash that a directory's name may end with.
    let path: PathBuf = path.components().collect();
    if path.is_dir() {
        return output::refuse_unwritable(&path.join(MARKDOWN_NAME));
    }
    if path.exists() || output_file::is_stdout(&path) {
        return Err(Failure::input(anyhow!(
            "write {}: this form is several files, so name a directory",
            path.display()
        )));
    }
    output::refuse_unwritable(&path)
}

/// Makes a directory, unless it is there.
fn make_directory(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}

/// Reads the records one after the other: of each only what is shown is kept. The directory is that
/// of the first.
fn load(arguments: &ReportArguments) -> Result<(Vec<Analyzed>, Vec<Side>, PathBuf), Failure> {
    let store = arguments.store.open();
    let mut records: Vec<Analyzed> = Vec::new();
    let mut sides = Vec::new();
    let several = arguments.ids.len() > 1;
    for id in &arguments.ids {
        let id = store.resolve(id).map_err(Failure::input)?;
        if records.iter().any(|(record, _)| record.id == id) {
            return Err(Failure::input(anyhow!("report `{id}` twice: name every record once")));
        }
        let record = store.load(&id).map_err(Failure::input)?;
        if several {
            sides.push(Side::of(&record));
        }
        records.push(beside::analyzed(&record, &arguments.beside));
    }
    let home = store.run_directory(&records[0].0.id).map_err(Failure::input)?;
    Ok((records, sides, home))
}

/// The sections of `compare`, where there is something in common.
fn comparisons(sides: &[Side]) -> Vec<Section> {
    if sides.len() < 2 {
        return Vec::new();
    }
    let comparison = compare(sides, &Options::default());
    match comparison.pairs.iter().all(|pair| pair.points.is_empty()) {
        true => Vec::new(),
        false => report::compare::sections(&comparison, Detail::Main),
    }
}

fn theme(wanted: ReportTheme) -> Theme {
    match wanted {
        ReportTheme::Auto => Theme::Auto,
        ReportTheme::Light => Theme::Light,
        ReportTheme::Dark => Theme::Dark,
        ReportTheme::Print => Theme::Print,
    }
}

fn output_path(arguments: &ReportArguments, home: &Path, name: &str) -> PathBuf {
    arguments.output.clone().unwrap_or_else(|| match arguments.ids.as_slice() {
        [_] => home.join(name),
        // Beside the first record's own, not in its place.
        _ => home.join(format!("several-{name}")),
    })
}

/// Writes what is several files, and returns what to open.
fn files(
    form: ReportFormat,
    records: &[Record<'_>],
    comparisons: &[Section],
    theme: Theme,
    directory: &Path,
) -> Result<PathBuf, Failure> {
    let findings: Vec<&Findings> = records.iter().map(|record| record.findings).collect();
    let mut drawn = pictures(&findings, theme);
    if form == ReportFormat::Md {
        // Hundreds of runs over time make no document.
        drawn.retain(|picture| picture.kind != Kind::Run);
    }
    let painter = Painter::new();
    for picture in &drawn {
        let (bytes, ending) = match form {
            ReportFormat::Png => (painter.png(&picture.svg).map_err(Failure::bug)?, "png"),
            _ => (picture.svg.clone().into_bytes(), "svg"),
        };
        let path = directory.join(file_of(picture, ending));
        output::to_file(&path, |out| out.write_all(&bytes))?;
    }
    if form != ReportFormat::Md {
        return Ok(directory.to_owned());
    }
    let path = directory.join(MARKDOWN_NAME);
    let text = report::markdown::render_all(records, comparisons, &drawn);
    output::to_file(&path, |out| out.write_all(text.as_bytes()))?;
    Ok(path)
}

fn file_of(picture: &Picture, ending: &str) -> String {
    format!("{}.{ending}", picture.name)
}
