//! `cargo xtask bench names`: what operations on names cost, compared with other programs that send
//! the same system calls or NFS calls.
//!
//! Each round measures all programs of a group once, in alternating order, on one processor; the
//! median of the rounds' ratios is judged. CPU time is that of the threads that make the calls, from
//! the first to the last: none of the programs is judged by how it makes and removes its files.
//! Everything runs in new network and mount namespaces (see `bench nfs`), which needs root.
//! `bench/README.md` has the reasons for the ratios.

mod exports;
mod fourcorners;
mod groups;
mod local;
mod results;
mod ten_million;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::machine::Machine;
use crate::rounds::{GroupOptions, Rounds};
use crate::{nfs, process, product};
use groups::{Group, groups};
use results::{Measured, Results};

/// How often and for how long each group is measured by default.
pub(crate) const DEFAULTS: Rounds = Rounds { rounds: 9, seconds: 2 };

/// What the programs of all groups need.
pub(crate) struct Bench {
    pub(crate) paths: nfs::Paths,
    /// The compiled peer for exports, which uses libnfs.
    pub(crate) libnfs: PathBuf,
    /// A directory in memory (tmpfs), removed at the end.
    memory: PathBuf,
    /// A directory on the disk of the repository.
    disk: PathBuf,
    pub(crate) seconds: u32,
}

impl Drop for Bench {
    fn drop(&mut self) {
        // If this fails, only space is lost: the next run makes other directories.
        drop(std::fs::remove_dir_all(&self.memory));
        drop(std::fs::remove_dir_all(&self.paths.scratch));
    }
}

impl Bench {
    /// Makes the directories and compiles the peer.
    fn prepare(root: &Path, seconds: u32) -> Result<Bench> {
        let scratch = root.join(format!("target/bench/names-{}", std::process::id()));
        let memory = PathBuf::from(format!("/dev/shm/fourcorners-names-{}", std::process::id()));
        let disk = scratch.join("disk");
        for folder in [&scratch, &memory, &disk] {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("make {}", folder.display()))?;
        }
        let libnfs = scratch.join("libnfs_names");
        let source = root.join("bench/comparison/libnfs_names.c");
        let compiled = Command::new("cc")
            .args(["-O2", "-o"])
            .args([&libnfs, &source])
            .arg("-lnfs")
            .status()
            .context("start cc")?;
        ensure!(compiled.success(), "compile {} (Debian package libnfs-dev)", source.display());
        let fourcorners = product::release_folder()?.join("fourcorners");
        let paths = nfs::Paths { fourcorners, scratch };
        Ok(Bench { paths, libnfs, memory, disk, seconds })
    }

    /// The directory of a file system.
    pub(crate) fn directory(&self, file_system: groups::FileSystem) -> &Path {
        match file_system {
            groups::FileSystem::Tmpfs => &self.memory,
            groups::FileSystem::Disk => &self.disk,
        }
    }
}

/// Measures the selected groups and writes the dated folder.
pub(crate) fn run(root: &Path, options: &GroupOptions) -> Result<()> {
    if std::env::var_os(nfs::INSIDE).is_none() {
        product::build(root)?;
        for example in ["floor", "load"] {
            product::build_example(root, "bench", example)?;
        }
        return nfs::enter_namespaces("names", &options.words);
    }
    process::prepare_namespaces()?;
    let bench = Bench::prepare(root, options.repetition.seconds)?;
    let mut out = std::io::stdout();
    let mut results = Results::default();
    for group in groups().iter().filter(|group| options.selects(group.name)) {
        measure(group, &bench, options.repetition.rounds, &mut results)?;
        for line in results.lines(Some(group.name)) {
            writeln!(out, "{line}")?;
        }
    }
    if options.selects(ten_million::NAME) {
        writeln!(std::io::stderr(), "{} …", ten_million::NAME)?;
        ten_million::measure(&bench, options.repetition.rounds, &mut results)?;
        for line in results.lines(Some(ten_million::NAME)) {
            writeln!(out, "{line}")?;
        }
    }
    if results.is_empty() {
        let names: Vec<&str> = groups().iter().map(|group| group.name).collect();
        bail!("no group has this name; the groups are {}, {}", names.join(", "), ten_million::NAME);
    }
    let folder = results.write(root, &Machine::read()?, options)?;
    writeln!(out, "written to {}", folder.strip_prefix(root).unwrap_or(&folder).display())?;
    let missed = results.missed();
    if missed.is_empty() { Ok(()) } else { bail!("missed: {}", missed.join("; ")) }
}

/// Measures all programs of a group in rounds, every other round in reverse order.
fn measure(group: &Group, bench: &Bench, rounds: u32, results: &mut Results) -> Result<()> {
    // Makes the files, and brings the programs into memory.
    for side in &group.sides {
        side.program.measure(group, bench)?;
    }
    for round in 0..rounds {
        writeln!(std::io::stderr(), "{}, round {round} …", group.name)?;
        let mut measured: Vec<Measured> = Vec::new();
        let in_order: Vec<usize> = (0..group.sides.len()).collect();
        let order = if round % 2 == 0 { in_order } else { in_order.into_iter().rev().collect() };
        for index in order {
            let side = &group.sides[index];
            let sample = side.program.measure(group, bench);
            let sample = sample.with_context(|| format!("{}, {}", group.name, side.name))?;
            measured.push(Measured { group: group.name, side: side.name, round, sample });
        }
        results.add_round(group, measured);
    }
    Ok(())
}
