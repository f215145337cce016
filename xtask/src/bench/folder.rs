//! The dated folder that keeps what a bench measured.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use units::Utc;

use super::machine::Machine;

/// Records of one kind, machine and day.
const FOLDERS_MAX: u32 = 99;

/// Where a bench writes, and of which day.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    /// `2026-11-21`.
    pub(crate) date: String,
    pub(crate) path: PathBuf,
    /// The machine and what was measured there: two lines.
    pub(crate) measured: String,
}

impl Folder {
    /// Makes `bench/runs/DATE-MACHINE` or `bench/runs/DATE-MACHINE-NAME`, with a number behind it
    /// where there is one already: no record is written over.
    pub(crate) fn make(root: &Path, machine: &Machine, name: Option<&str>) -> Result<Folder> {
        let unix_ms = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as u64;
        let date = Utc::from_unix_ms(unix_ms).date();
        let name = name.map_or_else(String::new, |name| format!("-{name}"));
        let runs = root.join("bench/runs");
        let path = make_new(&runs, &format!("{date}-{}{name}", machine.slug()))?;
        let measured = format!("{}\nfourcorners: {}.", machine.describe(), commit(root)?);
        Ok(Folder { date, path, measured })
    }

    /// Writes a file in it.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.path.join(name);
        std::fs::write(&path, text).with_context(|| format!("write {}", path.display()))
    }
}

/// Makes a folder of this name, or of this name and the first number that is free.
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

/// What is measured: `commit 05a74f3`, with a word where files were changed since.
fn commit(root: &Path) -> Result<String> {
    let git = |arguments: &[&str]| -> Result<String> {
        let ended = Command::new("git").current_dir(root).args(arguments).output();
        let ended = ended.context("start git")?;
        Ok(String::from_utf8_lossy(&ended.stdout).trim().to_owned())
    };
    let name = git(&["rev-parse", "--short", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no", "--", ":!bench/runs"])?;
    Ok(match (name.as_str(), changed.as_str()) {
        ("", _) => "of no commit that is known".to_owned(),
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
    fn a_record_of_the_same_day_stands_beside_the_first() {
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
    fn a_field_may_hold_commas_and_quotes() {
        assert_eq!(quoted("late by p99, \"us\""), "\"late by p99, \"\"us\"\"\"");
    }
}
