//! `bench/runs/DATE-MACHINE-waits/{README.md,raw.csv,summary.txt}`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{ROUNDS, Round, Waited, mib};
use crate::bench::folder::{Folder, quoted};
use crate::bench::machine::Machine;

/// Writes everything and says where.
pub(crate) fn write(
    root: &Path,
    machine: &Machine,
    only: &[&str],
    all: &[Waited],
) -> Result<PathBuf> {
    let folder = Folder::make(root, machine, Some("waits"))?;
    let names = only.iter().map(|name| format!(" \"{name}\"")).collect::<String>();
    let mut readme = format!(
        "# Bench of waits of {}\n\n{}\nRounds: {ROUNDS}; the middle one of the times counts, and \
         the most memory of any.\nCommand: `cargo xtask bench waits{names}`\n\n{TABLE_HEAD}",
        folder.date, folder.measured,
    );
    for one in all {
        let [least, middle, most] = one.seconds;
        let memory_max =
            one.peak_bytes_max.map_or_else(String::new, |most| format!("<= {:.0}", mib(most)));
        let _ = writeln!(
            readme,
            "| {} | {middle:.2} | {least:.2} to {most:.2} | <= {} | {:.0} | {memory_max} | {} |",
            one.name,
            one.seconds_max,
            mib(one.peak_bytes),
            one.verdict()
        );
    }
    folder.write("README.md", &readme)?;
    let lines: Vec<String> = all.iter().map(Waited::line).collect();
    folder.write("summary.txt", &(lines.join("\n") + "\n"))?;
    folder.write("raw.csv", &raw(all))?;
    Ok(folder.path)
}

const TABLE_HEAD: &str = "\
| what | seconds | min to max | must be | peak memory, MiB | must be | verdict |
| --- | --- | --- | --- | --- | --- | --- |
";

fn raw(all: &[Waited]) -> String {
    let mut text = String::from("what,round,seconds,peak_bytes\n");
    for one in all {
        for (number, round) in one.rounds.iter().enumerate() {
            let (name, Round { seconds, peak_bytes }) = (quoted(one.name), round);
            let _ = writeln!(text, "{name},{number},{seconds:.4},{peak_bytes}");
        }
    }
    text
}
