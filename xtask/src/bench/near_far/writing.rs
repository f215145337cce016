//! `bench/runs/DATE-MACHINE-near-far/{README.md,raw.csv,summary.txt}`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::judge::Judged;
use super::{LIMIT, OUTSTANDING, Options, Point, TRANSFER, VOLUMES};
use crate::bench::child::PROCESSOR;
use crate::bench::folder::Folder;
use crate::bench::machine::Machine;
use crate::bench::process::SERVER_PROCESSOR;
use crate::bench::rounds::Rounds;

/// Bytes in a MiB.
const MIB: f64 = 1_048_576.0;

/// Writes everything and says where.
pub(crate) fn write(
    root: &Path,
    machine: &Machine,
    options: &Options,
    points: &[Point],
    judged: &Judged,
) -> Result<PathBuf> {
    let folder = Folder::make(root, machine, Some("near-far"))?;
    let Options(asked) = options;
    let Rounds { rounds, seconds } = asked;
    let volumes = VOLUMES.map(|volume| format!("{} {}", volume.name, volume.read_delay));
    let mut readme = format!(
        "# Bench near and far of {}\n\n{}\nEmulated volumes of {LIMIT} over loopback, random reads \
         of {TRANSFER}; storage takes: {}.\nRounds: {rounds}, {seconds} s for each load point, \
         medians; services on processor {SERVER_PROCESSOR}, the client on {PROCESSOR}.\n\
         Command: `cargo xtask bench near-far{}`\n\n\
         | outstanding | near, MiB/s | far, MiB/s |\n| --: | --: | --: |\n",
        folder.date,
        folder.measured,
        volumes.join(", "),
        asked.words(),
    );
    for (place, outstanding) in OUTSTANDING.iter().enumerate() {
        let [near, far] = [0, 1].map(|volume| judged.bytes_per_s[volume][place] / MIB);
        let _ = writeln!(readme, "| {outstanding} | {near:.2} | {far:.2} |");
    }
    let _ = writeln!(readme, "\n{}\n", judged.said().join("\n"));
    readme.push_str("| what | is | must be | verdict |\n| --- | --: | --- | --- |\n");
    for check in &judged.checks {
        let _ = writeln!(
            readme,
            "| {} | {:.3} | {:.2} to {:.2} | {} |",
            check.what,
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
