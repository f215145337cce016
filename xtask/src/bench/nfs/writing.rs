//! The dated folder: `bench/runs/DATE-MACHINE-nfs/{README.md,raw.csv,alone.csv,summary.txt}`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::judge::{Figure, Judged, Measured, lines};
use super::{Options, servers};
use crate::bench::folder::{Folder, quoted};
use crate::bench::machine::Machine;
use crate::bench::process::{CLIENT_PROCESSOR, SERVER_PROCESSOR};

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
        "# Bench of NFS of {}\n\n{}\nPeer: {}; the floor is `xtask/examples/floor`.\n\
         Rounds: {}, {} s for each trial; those of one group that stand alone (rest, memory, held) \
         as often as `alone.csv` has rows of them. Servers on processor {SERVER_PROCESSOR}, \
         clients on {CLIENT_PROCESSOR}.\n\
         Command: `cargo xtask bench nfs{}{}`\n\n{TABLE_HEAD}",
        folder.date,
        folder.measured,
        servers::ganesha_version()?,
        options.asked.rounds,
        options.asked.seconds,
        options.asked.words(),
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
        let _ = writeln!(text, "{},{},{}", one.group, quoted(one.what), one.value);
    }
    text
}
