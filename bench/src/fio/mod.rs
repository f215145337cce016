//! `cargo xtask bench`: cost and performance of fourcorners compared with Debian's fio.
//!
//! Absolute figures of a shared machine drift by tens of percent within minutes, so nothing is
//! compared across runs; an older build of fourcorners can take the place of fio. Each pair runs both programs one after the other on one processor, in
//! alternating order, and only the ratio of the pair is judged. CPU time is user plus system time
//! of the whole process, including start and end, divided by its operations. All pairs are in
//! `bench/runs/DATE-MACHINE/raw.csv`.

mod fourcorners;
mod peer;
mod rows;
mod table;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::machine::Machine;
use crate::product;
use rows::{Directories, Row, rows, rows_before};
use table::Outcome;

/// Options of the command line.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Pairs per row.
    pairs: u32,
    /// Duration of each measurement.
    seconds: u32,
    /// Directory for the file on a real disk.
    directory: PathBuf,
    /// Compare with this build of fourcorners instead of fio.
    before: Option<PathBuf>,
    /// Only rows whose name contains one of these; if empty, all.
    only: Vec<String>,
}

impl Options {
    /// Parses `[--pairs N] [--seconds S] [--directory DIR] [--before PROGRAM] [ROW...]`.
    pub(crate) fn parse(words: &[&str], root: &Path) -> Result<Options, String> {
        let mut options = Options {
            pairs: 5,
            seconds: 6,
            directory: root.join("target/bench"),
            before: None,
            only: Vec::new(),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is not a number"));
            match *word {
                "--pairs" => options.pairs = number(value()?)?,
                "--seconds" => options.seconds = number(value()?)?,
                "--directory" => options.directory = PathBuf::from(value()?),
                "--before" => options.before = Some(PathBuf::from(value()?)),
                flag if flag.starts_with('-') => return Err(format!("unknown flag `{flag}`")),
                row => options.only.push(row.to_owned()),
            }
        }
        if options.pairs == 0 || options.seconds == 0 {
            return Err("--pairs and --seconds must be at least 1".to_owned());
        }
        Ok(options)
    }
}

/// Measures the selected rows and writes the dated folder.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let peer = match options.before {
        Some(_) => "an older build of fourcorners".to_owned(),
        None => peer::version().context("run fio (Debian package `fio`)")?,
    };
    let program = product::build(root)?;
    std::fs::create_dir_all(&options.directory)
        .with_context(|| format!("make {}", options.directory.display()))?;
    let directories = Directories::new(root, &program, &options.directory)?;
    let mut outcomes: Vec<Outcome> = Vec::new();
    let mut out = std::io::stdout();
    let rows: Vec<Row> = match options.before {
        Some(_) => rows_before(),
        None => rows(),
    };
    for row in &rows {
        let is_selected = options.only.is_empty()
            || options.only.iter().any(|part| row.name().contains(part.as_str()));
        if !is_selected {
            continue;
        }
        writeln!(std::io::stderr(), "{} …", row.name())?;
        let outcome = row.measure(&directories, options)?;
        writeln!(out, "{}", outcome.line())?;
        outcomes.push(outcome);
    }
    if outcomes.is_empty() {
        bail!("no row has this name; the rows are {}", names(&rows));
    }
    let folder = table::write(root, &Machine::read()?, &peer, options, &outcomes)?;
    writeln!(out, "\n{}", table::summary(&outcomes))?;
    writeln!(out, "written to {}", folder.strip_prefix(root).unwrap_or(&folder).display())?;
    let missed: Vec<&str> = outcomes.iter().filter(|o| !o.passes()).map(|o| o.name()).collect();
    if missed.is_empty() { Ok(()) } else { bail!("missed: {}", missed.join(", ")) }
}

fn names(rows: &[Row]) -> String {
    rows.iter().map(Row::name).collect::<Vec<_>>().join(", ")
}
