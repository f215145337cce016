//! `cargo xtask bench nfs`: the built-in NFS client and the emulated volume compared with the bare
//! transport and with nfs-ganesha, over loopback.
//!
//! The bare transport ("floor") is a pair of processes that only moves the same bytes over TCP with
//! the same pipelining (`bench/examples/floor`). Clients run on one processor and servers on the
//! other. Every round measures each trial of a group once, in alternating order, and the median of
//! the rounds' ratios is judged. nfs-ganesha registers with a portmapper; to leave no trace on the
//! machine, everything runs in new network and mount namespaces, which needs root.

mod client;
mod judge;
pub(crate) mod servers;
mod trials;
mod unpaired;
mod writing;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::machine::Machine;
use crate::rounds::{GroupOptions, Rounds};
use crate::{process, product};
use judge::Measurements;
use trials::GROUPS;

/// Environment variable that is set in the process inside the namespaces.
pub(crate) const INSIDE: &str = "FOURCORNERS_BENCH_NAMESPACES";

/// How often and for how long each group is measured by default.
pub(crate) const DEFAULTS: Rounds = Rounds { rounds: 5, seconds: 4 };

/// The programs and the folder that trials use.
pub(crate) struct Paths {
    pub(crate) fourcorners: PathBuf,
    pub(crate) scratch: PathBuf,
}

/// Measures every selected group and writes the dated folder.
pub(crate) fn run(root: &Path, options: &GroupOptions) -> Result<()> {
    if std::env::var_os(INSIDE).is_none() {
        product::build(root)?;
        for example in ["floor", "load"] {
            product::build_example(root, "bench", example)?;
        }
        return enter_namespaces("nfs", &options.words);
    }
    process::prepare_namespaces()?;
    let scratch = root.join("target/bench/nfs");
    std::fs::create_dir_all(&scratch)?;
    let paths = Paths { fourcorners: product::release_folder()?.join("fourcorners"), scratch };
    let mut measurements = Measurements::default();
    let mut out = std::io::stdout();
    unpaired::drop_caches()?;
    for group in GROUPS.iter() {
        trials::measure(group, &paths, options, &mut measurements)?;
        for line in judge::lines(&judge::judge(&measurements, Some(group.name))) {
            writeln!(out, "{line}")?;
        }
    }
    for (name, measure) in unpaired::ALL.iter().filter(|(name, _)| options.selects(name)) {
        writeln!(std::io::stderr(), "{name} …")?;
        measure(&paths, &mut measurements)?;
        for line in judge::lines(&judge::judge(&measurements, Some(name))) {
            writeln!(out, "{line}")?;
        }
    }
    let judged = judge::judge(&measurements, None);
    if measurements.is_empty() {
        bail!("no group has this name; the groups are {}", names().join(", "));
    }
    let machine = Machine::read()?;
    let folder = writing::write(root, &machine, options, &measurements, &judged)?;
    writeln!(out, "written to {}", folder.strip_prefix(root).unwrap_or(&folder).display())?;
    let missed: Vec<&str> = judged.iter().filter(|one| !one.passes()).map(|one| one.work).collect();
    if missed.is_empty() { Ok(()) } else { bail!("missed: {}", missed.join("; ")) }
}

/// Starts this program again in new namespaces, with the options of one bench.
pub(crate) fn enter_namespaces(bench: &str, words: &[String]) -> Result<()> {
    let status = Command::new("unshare")
        .args(["--net", "--mount", "--"])
        .arg(std::env::current_exe().context("find this program")?)
        .arg(bench)
        .args(words)
        .env(INSIDE, "1")
        .status()
        .context("start unshare")?;
    if status.success() { Ok(()) } else { bail!("the bench ended with {status}") }
}

fn names() -> Vec<&'static str> {
    let groups = GROUPS.iter().map(|group| group.name);
    groups.chain(unpaired::ALL.iter().map(|(name, _)| *name)).collect()
}
