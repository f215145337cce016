//! The dated folder with the results of a bench.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use units::Utc;

use crate::machine::Machine;

/// Most folders for one bench, machine and day.
const FOLDERS_MAX: u32 = 99;

/// A folder in `bench/runs/`.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    /// `2026-11-21`.
    pub(crate) date: String,
    pub(crate) path: PathBuf,
    /// The machine and the measured version, one line each.
    pub(crate) header: String,
}

impl Folder {
    /// Makes `bench/runs/DATE-MACHINE` or `bench/runs/DATE-MACHINE-NAME`. If it exists, a number is
    /// appended, so that no result is overwritten.
    pub(crate) fn make(root: &Path, machine: &Machine, name: Option<&str>) -> Result<Folder> {
        let unix_ms = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as u64;
        let date = Utc::from_unix_ms(unix_ms).date();
        let name = name.map_or_else(String::new, |name| format!("-{name}"));
        let runs = root.join("bench/runs");
        let path = make_new(&runs, &format!("{date}-{}{name}", machine.slug()))?;
        let header = format!("{}\nfourcorners: {}.", machine.describe(), commit(root)?);
        Ok(Folder { date, path, header })
    }

    /// Writes a file into the folder.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.path.join(name);
        std::fs::write(&path, text).with_context(|| format!("write {}", path.display()))
    }
}

/// Makes a folder called `name`, or `name` with the first free number appended.
fn make_new(runs: &Path, name: &str) -> Result<PathBuf> {
    std::fs::create_dir_all(runs).with_context(|| format!("make {}", runs.display()))?;
    for number in 1..=FOLDERS_MAX {
        let path = match number {
            1 => runs.join(name),
            more => runs.join(format!("{name}-{more}")),
        };
        match std::fs::create_dir(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| path.clone()).context(path.display().to_string()),
        }
    }
    bail!("there are {FOLDERS_MAX} folders {name} in {}", runs.display())
}

/// The measured version: `commit 05a74f3`, with `changed` if files differ from it.
fn commit(root: &Path) -> Result<String> {
    let git = |arguments: &[&str]| -> Result<String> {
        let ended = Command::new("git").current_dir(root).args(arguments).output();
        let ended = ended.context("start git")?;
        Ok(String::from_utf8_lossy(&ended.stdout).trim().to_owned())
    };
    let name = git(&["rev-parse", "--short", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no", "--", ":!bench/runs"])?;
    Ok(match (name.as_str(), changed.as_str()) {
        ("", _) => "unknown commit".to_owned(),
        (name, "") => format!("commit {name}"),
        (name, _) => format!("commit {name}, changed"),
    })
}

/// A field of a CSV file (RFC 4180, section 2).
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_folder_of_a_day_gets_a_number() {
        let runs = tempfile::tempdir().expect("a folder");
        let names = ["day", "day-2", "day-3"];
        for name in names {
            assert_eq!(
                make_new(runs.path(), "day").expect("a name is free"),
                runs.path().join(name)
            );
        }
    }

    #[test]
    fn commas_and_quotes_in_a_field_are_quoted() {
        assert_eq!(quoted("late by p99, \"us\""), "\"late by p99, \"\"us\"\"\"");
    }
}
