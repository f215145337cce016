//! The dated folder: `bench/runs/DATE-MACHINE-nfs/{README.md,raw.csv,alone.csv,summary.txt}`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::Options;
use super::judge::{Figure, Judged, Measured, lines};
use super::process::{CLIENT_PROCESSOR, SERVER_PROCESSOR};
use crate::bench::folder::Folder;
use crate::bench::machine::Machine;

/// Writes everything and says where.
pub(crate) fn write(
    root: &Path,
    machine: &Machine,
    options: &Options,
    measured: &Measured,
    judged: &[Judged],
) -> Result<PathBuf> {
    let folder = Folder::make(root, machine, Some("nfs"))?;
    let mut readme = format!(
        "# Bench of NFS of {}\n\n{}\n\
         Rounds: {}, {} s for each trial; servers on processor {SERVER_PROCESSOR}, clients on \
         {CLIENT_PROCESSOR}.\n\
         Command: `cargo xtask bench nfs --rounds {} --seconds {}`\n\n{TABLE_HEAD}",
        folder.date,
        machine.describe(),
        options.rounds,
        options.seconds,
        options.rounds,
        options.seconds,
    );
    for one in judged {
        let medians = one.medians.map_or((String::new(), String::new()), |(ours, other)| {
            (format!("{ours:.3}"), format!("{other:.3}"))
        });
        let _ = writeln!(
            readme,
            "| {} | {} | {} | {} | {} | {:.3} | {:.3} to {:.3} | {} | {} | {} |",
            one.work,
            one.against,
            one.number,
            medians.0,
            medians.1,
            one.value,
            one.spread.0,
            one.spread.1,
            one.bound,
            one.aim,
            one.verdict()
        );
    }
    folder.write("README.md", &readme)?;
    folder.write("summary.txt", &(lines(judged).join("\n") + "\n"))?;
    folder.write("raw.csv", &raw(measured))?;
    folder.write("alone.csv", &alone(measured))?;
    Ok(folder.path)
}

const TABLE_HEAD: &str = "\
| work | against | number | ours | other | median | min to max | must be | aim | verdict |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

fn raw(measured: &Measured) -> String {
    let mut text = String::from("group,trial,round");
    for figure in Figure::ALL {
        let _ = write!(text, ",{}", figure.name());
    }
    text.push('\n');
    for raw in &measured.raw {
        let _ = write!(text, "{},{},{}", raw.group, raw.trial, raw.round);
        for figure in Figure::ALL {
            let _ = write!(text, ",{:.4}", figure.of(&raw.sample));
        }
        text.push('\n');
    }
    text
}

fn alone(measured: &Measured) -> String {
    let mut text = String::from("group,what,value\n");
    for one in &measured.alone {
        let _ = writeln!(text, "{},{},{}", one.group, one.what, one.value);
    }
    text
}
