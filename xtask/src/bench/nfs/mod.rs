//! `cargo xtask bench nfs`: our client and our service beside the bare transport and beside
//! nfs-ganesha, on loopback.
//!
//! The floor is a pair of processes that moves the same bytes over TCP with the same pipelining and
//! does nothing else (`xtask/examples/floor`). Clients run on one processor and servers on the
//! other, every round measures every trial of a group once in changing order, and medians of the
//! rounds' ratios are judged. Everything runs in network and mount namespaces of its own, because
//! nfs-ganesha registers with a portmapper, and nothing of that is to stay on the machine. So the
//! bench wants root.

mod client;
mod judge;
mod servers;
mod single;
mod trials;
mod writing;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::machine::Machine;
use super::rounds::Rounds;
use super::{ours, process};
use judge::Measured;
use trials::{GROUPS, Place};

/// Set for the process that is inside of the namespaces.
const INSIDE: &str = "FOURCORNERS_BENCH_NAMESPACES";

/// What was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Of each group, and of each trial.
    asked: Rounds,
    /// Only trials whose `GROUP/TRIAL` contains one of these; all when empty.
    only: Vec<String>,
    /// As it was written, to be given on.
    words: Vec<String>,
}

impl Options {
    /// `[--rounds N] [--seconds S] [GROUP|GROUP/TRIAL...]`
    pub(crate) fn parse(words: &[&str]) -> Result<Options, String> {
        let (asked, only) = Rounds { rounds: 5, seconds: 4 }.parse(words)?;
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Ok(Options { asked, only: own(&only), words: own(words) })
    }

    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| name.contains(part.as_str()))
    }
}

/// Measures every group and writes the dated folder.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    if std::env::var_os(INSIDE).is_none() {
        return enter_namespaces(root, options);
    }
    process::prepare_namespaces()?;
    let scratch = root.join("target/bench/nfs");
    std::fs::create_dir_all(&scratch)?;
    let place = Place::new(root, scratch);
    let mut measured = Measured::default();
    let mut out = std::io::stdout();
    single::give_back_caches()?;
    for group in GROUPS.iter() {
        trials::measure(group, &place, options, &mut measured)?;
        for line in judge::lines(&judge::judge(&measured, Some(group.name))) {
            writeln!(out, "{line}")?;
        }
    }
    for (name, measure) in single::ALL.iter().filter(|(name, _)| options.wants(name)) {
        writeln!(std::io::stderr(), "{name} …")?;
        measure(&place, &mut measured)?;
        for line in judge::lines(&judge::judge(&measured, Some(name))) {
            writeln!(out, "{line}")?;
        }
    }
    let judged = judge::judge(&measured, None);
    if measured.is_empty() {
        bail!("nothing is called so; there are {}", names().join(", "));
    }
    let machine = Machine::read()?;
    let folder = writing::write(root, &machine, options, &measured, &judged)?;
    writeln!(out, "written to {}", folder.strip_prefix(root).unwrap_or(&folder).display())?;
    let missed: Vec<&str> = judged.iter().filter(|one| !one.holds()).map(|one| one.work).collect();
    if missed.is_empty() { Ok(()) } else { bail!("missed: {}", missed.join("; ")) }
}

/// Builds what is measured, then runs this program again in namespaces that end with it.
fn enter_namespaces(root: &Path, options: &Options) -> Result<()> {
    ours::build(root)?;
    ours::cargo(root, &["build", "--release", "--package", "xtask", "--examples"])?;
    let status = Command::new("unshare")
        .args(["--net", "--mount", "--"])
        .arg(std::env::current_exe().context("find this program")?)
        .args(["bench", "nfs"])
        .args(&options.words)
        .env(INSIDE, "1")
        .status()
        .context("start unshare")?;
    if status.success() { Ok(()) } else { bail!("the bench in its namespaces ended with {status}") }
}

fn names() -> Vec<&'static str> {
    let groups = GROUPS.iter().map(|group| group.name);
    groups.chain(single::ALL.iter().map(|(name, _)| *name)).collect()
}

/// A built example of this package.
fn example(root: &Path, name: &str) -> PathBuf {
    root.join("target/release/examples").join(name)
}
