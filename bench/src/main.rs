//! `cargo xtask bench`: measures the cost and the performance of fourcorners.
//!
//! Every bench compares alternating runs of two programs, or a time with the limit it must keep,
//! and writes a dated folder to `bench/runs/`. The benches are a separate package because they use
//! crates of the product, which `xtask` does not (ADR 0024).

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

mod applications;
mod child;
mod fio;
mod folder;
mod judgement;
mod machine;
mod mutants;
mod names;
mod near_far;
mod nfs;
mod process;
mod product;
mod rounds;
mod rusage;
mod waits;

use rounds::GroupOptions;

const USAGE: &str = "\
Measures the cost and the performance of fourcorners. Each bench writes a folder in bench/runs/.

Usage: cargo xtask bench [BENCH] [OPTIONS]

Benches:
  [--pairs N] [--seconds S] [--directory DIR] [--before PROGRAM] [ROW...]
                     CPU time, IOPS and latency of reads, writes, verified reads and a fill, compared
                     with Debian's fio in alternating runs pinned to one processor; with --before,
                     compared with an older build of fourcorners, which must not have been faster
  nfs [--rounds N] [--seconds S] [GROUP...]
                     the NFS client and the emulated volume compared with a bare TCP pair and
                     with nfs-ganesha, client and server each on one processor; needs root
  names [--rounds N] [--seconds S] [GROUP...]
                     operations on names compared with fio, libnfs and the bare system calls,
                     and the memory of 10 million names; needs root
  applications [--install] [--document | NAME...]
                     real applications (databases, a build) compared with the profiles of their
                     shape; writes docs/validation-profiles.md, with --document only that from the newest
                     record; needs root
  waits [NAME...]    time and peak memory of commands that compute, and the time until a run starts,
                     against a limit for each
  near-far [--rounds N] [--seconds S]
                     throughput against queue depth of two emulated volumes that differ only in
                     latency
  judgement [--times N] [SYSTEM...]
                     how often verdicts are right, on 400 x N simulated systems and on emulated
                     volumes in network namespaces; writes docs/reference/limits.md; needs root
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error is closed, the exit code is all that remains.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<()> {
    let root = root();
    let parsed = anyhow::Error::msg::<String>;
    match words {
        ["nfs", words @ ..] => {
            nfs::run(&root, &GroupOptions::parse(words, nfs::DEFAULTS).map_err(parsed)?)
        }
        ["names", words @ ..] => {
            names::run(&root, &GroupOptions::parse(words, names::DEFAULTS).map_err(parsed)?)
        }
        ["applications", names @ ..] => applications::run(&root, names),
        ["waits", only @ ..] => waits::run(&root, only),
        ["near-far", words @ ..] => {
            near_far::run(&root, &near_far::Options::parse(words).map_err(parsed)?)
        }
        ["judgement", words @ ..] => {
            judgement::run(&root, &judgement::Options::parse(words).map_err(parsed)?)
        }
        // Started by `cargo xtask mutants`, which installs the program.
        ["mutants", program, words @ ..] => {
            let options = mutants::Options::parse(words).map_err(parsed)?;
            mutants::run(&root, Path::new(program), &options)
        }
        // Started by the benches themselves.
        [rusage::SUBCOMMAND, words @ ..] => rusage::run_and_write(words),
        ["help" | "--help" | "-h"] => write!(std::io::stdout(), "{USAGE}").map_err(Into::into),
        words => fio::run(&root, &fio::Options::parse(words, &root).map_err(parsed)?),
    }
}

/// The root of the repository: the parent of this package's folder.
fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("bench is a folder of the repository").to_path_buf()
}

/// Cargo's target folder, in which this program was built.
fn target_directory() -> Result<PathBuf> {
    let program = std::env::current_exe().context("find this program's path")?;
    let folder = program.ancestors().nth(2).context("this program is not in a target folder")?;
    Ok(folder.to_path_buf())
}
