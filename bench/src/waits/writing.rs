//! `bench/runs/DATE-MACHINE-waits/{README.md,raw.csv,summary.txt}`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{ROUNDS, Round, WaitResult, mib};
use crate::folder::{Folder, quoted};
use crate::machine::Machine;

/// Writes the folder; returns its path.
pub(crate) fn write(
    root: &Path,
    machine: &Machine,
    only: &[&str],
    all: &[WaitResult],
) -> Result<PathBuf> {
    let folder = Folder::make(root, machine, Some("waits"))?;
    let names = only.iter().map(|name| format!(" \"{name}\"")).collect::<String>();
    let mut readme = format!(
        "# Bench of waits of {}\n\n{}\nRounds: {ROUNDS}; the median time and the peak memory are \
         judged.\nCommand: `cargo xtask bench waits{names}`\n\n{TABLE_HEAD}",
        folder.date, folder.header,
    );
    for one in all {
        let [min, median, max] = one.seconds;
        let memory_max =
            one.peak_bytes_max.map_or_else(String::new, |limit| format!("<= {:.0}", mib(limit)));
        let _ = writeln!(
            readme,
            "| {} | {median:.3} | {min:.3} to {max:.3} | <= {} | {:.0} | {memory_max} | {} |",
            one.name,
            one.seconds_max,
            mib(one.peak_bytes),
            one.verdict()
        );
    }
    folder.write("README.md", &readme)?;
    let lines: Vec<String> = all.iter().map(WaitResult::line).collect();
    folder.write("summary.txt", &(lines.join("\n") + "\n"))?;
    folder.write("raw.csv", &raw(all))?;
    Ok(folder.path)
}

const TABLE_HEAD: &str = "\
| command | median, s | min to max, s | required | peak memory, MiB | required | verdict |
| --- | --- | --- | --- | --- | --- | --- |
";

fn raw(all: &[WaitResult]) -> String {
    let mut text = String::from("what,round,seconds,peak_bytes\n");
    for one in all {
        for (number, round) in one.rounds.iter().enumerate() {
            let (name, Round { seconds, peak_bytes }) = (quoted(one.name), round);
            let _ = writeln!(text, "{name},{number},{seconds:.4},{peak_bytes}");
        }
    }
    text
}
