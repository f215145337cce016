//! The dated folder: `bench/runs/DATE-MACHINE-nfs/{README.md,raw.csv,unpaired.csv,summary.txt}`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::judge::{Figure, Judged, Measurements, lines};
use super::servers;
use crate::folder::{Folder, quoted};
use crate::machine::Machine;
use crate::process::{CLIENT_PROCESSOR, SERVER_PROCESSOR};
use crate::rounds::GroupOptions;

/// Writes the folder; returns its path.
pub(crate) fn write(
    root: &Path,
    machine: &Machine,
    options: &GroupOptions,
    measurements: &Measurements,
    judged: &[Judged],
) -> Result<PathBuf> {
    let folder = Folder::make(root, machine, Some("nfs"))?;
    let mut readme = format!(
        "# Bench of NFS of {}\n\n{}\nCompared with: {}; the floor is `bench/examples/floor`.\n\
         Rounds: {}, {} s per trial; for the figures without a counterpart (rest, memory, delayed) \
         as many as `unpaired.csv` has rows. Servers on processor {SERVER_PROCESSOR}, \
         clients on {CLIENT_PROCESSOR}.\n\
         Command: `cargo xtask bench nfs{}{}`\n\n{TABLE_HEAD}",
        folder.date,
        folder.header,
        servers::ganesha_version()?,
        options.repetition.rounds,
        options.repetition.seconds,
        options.repetition.flags(),
        options.only.iter().map(|name| format!(" {name}")).collect::<String>(),
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
    folder.write("raw.csv", &raw(measurements))?;
    folder.write("unpaired.csv", &unpaired(measurements))?;
    Ok(folder.path)
}

const TABLE_HEAD: &str = "\
| work | compared with | number | fourcorners | other | median | min to max | required | aim | verdict |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

fn raw(measurements: &Measurements) -> String {
    let mut text = String::from("group,trial,round");
    for figure in Figure::ALL {
        let _ = write!(text, ",{}", figure.name());
    }
    text.push('\n');
    for raw in &measurements.paired {
        let _ = write!(text, "{},{},{}", raw.group, raw.trial, raw.round);
        for figure in Figure::ALL {
            let _ = write!(text, ",{:.4}", figure.of(&raw.sample));
        }
        text.push('\n');
    }
    text
}

fn unpaired(measurements: &Measurements) -> String {
    let mut text = String::from("group,name,value\n");
    for one in &measurements.unpaired {
        let _ = writeln!(text, "{},{},{}", one.group, quoted(one.name), one.value);
    }
    text
}
