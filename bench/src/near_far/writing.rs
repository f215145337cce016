//! `bench/runs/DATE-MACHINE-near-far/{README.md,raw.csv,summary.txt}`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::judge::Judged;
use super::{LIMIT, OUTSTANDING, Options, Point, TRANSFER, VOLUMES};
use crate::child::PROCESSOR;
use crate::folder::Folder;
use crate::machine::Machine;
use crate::process::SERVER_PROCESSOR;
use crate::rounds::Rounds;

/// Bytes in a MiB.
const MIB: f64 = 1_048_576.0;

/// Writes the folder; returns its path.
pub(crate) fn write(
    root: &Path,
    machine: &Machine,
    options: &Options,
    points: &[Point],
    judged: &Judged,
) -> Result<PathBuf> {
    let folder = Folder::make(root, machine, Some("near-far"))?;
    let Options(repetition) = options;
    let Rounds { rounds, seconds } = repetition;
    let volumes = VOLUMES.map(|volume| format!("{} {}", volume.name, volume.read_delay));
    let mut readme = format!(
        "# Bench near and far of {}\n\n{}\nEmulated volumes with a limit of {LIMIT}, over loopback; random \
         reads of {TRANSFER}; storage latency: {}.\nRounds: {rounds}, {seconds} s per load point, \
         medians; services on processor {SERVER_PROCESSOR}, the client on {PROCESSOR}.\n\
         Command: `cargo xtask bench near-far{}`\n\n\
         | outstanding | near, MiB/s | far, MiB/s |\n| --: | --: | --: |\n",
        folder.date,
        folder.header,
        volumes.join(", "),
        repetition.flags(),
    );
    for (index, outstanding) in OUTSTANDING.iter().enumerate() {
        let [near, far] = [0, 1].map(|volume| judged.bytes_per_s[volume][index] / MIB);
        let _ = writeln!(readme, "| {outstanding} | {near:.2} | {far:.2} |");
    }
    let _ = writeln!(readme, "\n{}\n", judged.sentences().join("\n"));
    readme.push_str("| check | value | required | verdict |\n| --- | --: | --- | --- |\n");
    for check in &judged.checks {
        let _ = writeln!(
            readme,
            "| {} | {:.3} | {:.2} to {:.2} | {} |",
            check.name,
            check.value,
            check.low,
            check.high,
            check.verdict()
        );
    }
    folder.write("README.md", &readme)?;
    folder.write("summary.txt", &(judged.text() + "\n"))?;
    folder.write("raw.csv", &raw(points))?;
    Ok(folder.path)
}

fn raw(points: &[Point]) -> String {
    let mut text = String::from("volume,round,outstanding,bytes_per_s,response_mean_s\n");
    for point in points {
        let name = VOLUMES[point.volume].name;
        let Point { round, outstanding, bytes_per_s, response_s, .. } = point;
        let _ = writeln!(text, "{name},{round},{outstanding},{bytes_per_s:.1},{response_s:.9}");
    }
    text
}
