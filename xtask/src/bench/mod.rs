//! `cargo xtask bench`: what fourcorners costs and delivers beside Debian's fio, alternately in one
//! go.
//!
//! Absolute figures of a shared machine drift by tens of percent within minutes, so nothing here is
//! compared across runs: each pair runs the two programs one after the other on one processor, in
//! changing order, and the ratio of the pair is what counts. CPU is user plus system time of the
//! whole process, start and end included, divided by all operations it did. Every pair is kept in
//! `bench/runs/DATE-MACHINE/raw.csv`.

pub(crate) mod alone;
mod child;
mod fio;
pub(crate) mod folder;
pub(crate) mod judgement;
pub(crate) mod machine;
mod median;
pub(crate) mod near_far;
pub(crate) mod nfs;
mod ours;
mod process;
mod rounds;
mod rows;
mod table;
pub(crate) mod waits;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use rows::{Row, rows};
use table::Outcome;

/// What was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Pairs for each row.
    pairs: u32,
    /// Seconds of each measurement.
    seconds: u32,
    /// Where the file on a real disk is made.
    directory: PathBuf,
    /// Only rows whose name contains one of these; all when empty.
    only: Vec<String>,
}

impl Options {
    /// `[--pairs N] [--seconds S] [--directory DIR] [ROW...]`
    pub(crate) fn parse(words: &[&str], root: &Path) -> Result<Options, String> {
        let mut options = Options {
            pairs: 5,
            seconds: 6,
            directory: root.join("target/bench"),
            only: Vec::new(),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} wants a value"));
            let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is no number"));
            match *word {
                "--pairs" => options.pairs = number(value()?)?,
                "--seconds" => options.seconds = number(value()?)?,
                "--directory" => options.directory = PathBuf::from(value()?),
                flag if flag.starts_with('-') => return Err(format!("no flag `{flag}`")),
                row => options.only.push(row.to_owned()),
            }
        }
        if options.pairs == 0 || options.seconds == 0 {
            return Err("at least one pair of at least one second".to_owned());
        }
        Ok(options)
    }
}

/// Measures every row and writes the dated folder.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let version = fio::version().context("run fio; Debian's package `fio` is the peer")?;
    let program = ours::build(root)?;
    std::fs::create_dir_all(&options.directory)
        .with_context(|| format!("make {}", options.directory.display()))?;
    let place = rows::Place::new(&program, &options.directory)?;
    let mut outcomes: Vec<Outcome> = Vec::new();
    let mut out = std::io::stdout();
    for row in rows() {
        let wanted = options.only.is_empty()
            || options.only.iter().any(|part| row.name().contains(part.as_str()));
        if !wanted {
            continue;
        }
        writeln!(std::io::stderr(), "{} …", row.name())?;
        let outcome = row.measure(&place, options)?;
        writeln!(out, "{}", outcome.line())?;
        outcomes.push(outcome);
    }
    if outcomes.is_empty() {
        bail!("no row is called so; the rows are {}", names(&rows()));
    }
    let folder = table::write(root, &machine::Machine::read()?, &version, options, &outcomes)?;
    writeln!(out, "\n{}", table::summary(&outcomes))?;
    writeln!(out, "written to {}", folder.strip_prefix(root).unwrap_or(&folder).display())?;
    let missed: Vec<&str> = outcomes.iter().filter(|o| !o.holds()).map(|o| o.name()).collect();
    if missed.is_empty() { Ok(()) } else { bail!("missed: {}", missed.join(", ")) }
}

fn names(rows: &[Row]) -> String {
    rows.iter().map(Row::name).collect::<Vec<_>>().join(", ")
}
