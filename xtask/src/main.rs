//! The project's own tools: `cargo xtask tidy | check | kernel | mutants | bench`.
//!
//! `tidy` holds the rules that no compiler holds (who may import whom, which words are used,
//! whether links lead somewhere); `check` is the one command that says whether the tree is good,
//! the same at the desk and in CI; `bench` holds our cost against that of others. Nothing here is
//! part of the product. The idea of a `tidy` that is an ordinary program with ordinary tests comes
//! from rustc and TigerBeetle.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod bench;
mod browser;
mod check;
mod deny;
mod facts;
mod fuzz;
mod install;
mod kernel;
mod mutants;
mod tidy;
mod tools;

const USAGE: &str = "\
The project's own tools.

Usage: cargo xtask <COMMAND>

Commands:
  tidy               check the rules of the house (ARCHITECTURE.md, CONTRIBUTING.md)
  check              everything: format, tidy, dependencies (cargo deny), clippy, tests, fuzz
                     targets, the kernel's NFS client, the report in a browser
  check --fast       format, tidy, clippy and tests alone
  check --install    first install the Debian packages that the tests need and that are missing
  facts [--json] [--today DATE]
                     rows of data/*.toml older than a year, and rows that contradict each other
  facts --against FILE
                     quotas, limits and prices compared with answers of the vendor's calculator;
                     fails on a difference without a documented reason
  facts --import DIR --date DATE
                     makes data/regions.toml and data/storage_prices.toml from the vendor's tables
  deny               the check's step with dependencies alone
  fuzz               the check's step with the fuzz targets alone
  mutants [--sample N] [AREA...]
                     the share of mutants (small changes to the code) that the tests catch, from
                     a sample of N or more per area; writes bench/runs/DATE-MACHINE-mutants/
  kernel             the check's step with the kernel's NFS client alone
  browser            the check's step with the report in a browser alone
  bench [--pairs N] [--seconds S] [--directory DIR] [ROW...]
                     what we cost and deliver beside Debian's fio, alternately, pinned to one
                     processor; writes bench/runs/DATE-MACHINE/
  bench nfs [--rounds N] [--seconds S] [GROUP...]
                     our NFS client and service beside the bare transport and nfs-ganesha, in
                     turns, each side on its own processor; writes bench/runs/DATE-MACHINE-nfs/
  bench waits [NAME...]
                     commands that think and do not measure, against the time and the memory that
                     each may take; writes bench/runs/DATE-MACHINE-waits/
  bench near-far [--rounds N] [--seconds S]
                     throughput against outstanding of two emulated volumes with the same limit and
                     other delays; writes bench/runs/DATE-MACHINE-near-far/
  bench judgement [--times N] [SYSTEM...]
                     how often verdicts are right, on simulated systems (400 x N) and on emulated
                     volumes in network namespaces (as root); writes
                     bench/runs/DATE-MACHINE-judgement/ and docs/reference/limits.md
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["tidy"] => tidy::run(&root()),
        ["check", flags @ ..] => check::Options::parse(flags)
            .map_err(anyhow::Error::msg)
            .and_then(|options| check::run(&root(), options)),
        ["facts", words @ ..] => facts::Options::parse(words)
            .map_err(anyhow::Error::msg)
            .and_then(|options| facts::run(&root(), &options)),
        ["deny"] => deny::run(&root()),
        ["fuzz"] => fuzz::run(&root()),
        ["mutants", words @ ..] => mutants::Options::parse(words)
            .map_err(anyhow::Error::msg)
            .and_then(|options| mutants::run(&root(), &options)),
        ["kernel"] => kernel::build_and_run(&root()),
        ["browser"] => browser::build_and_run(&root()),
        ["bench", "nfs", words @ ..] => bench::nfs::Options::parse(words)
            .map_err(anyhow::Error::msg)
            .and_then(|options| bench::nfs::run(&root(), &options)),
        ["bench", "waits", only @ ..] => bench::waits::run(&root(), only),
        ["bench", "near-far", words @ ..] => bench::near_far::Options::parse(words)
            .map_err(anyhow::Error::msg)
            .and_then(|options| bench::near_far::run(&root(), &options)),
        ["bench", "judgement", words @ ..] => bench::judgement::Options::parse(words)
            .map_err(anyhow::Error::msg)
            .and_then(|options| bench::judgement::run(&root(), &options)),
        // Started by the bench itself.
        ["bench", bench::alone::WORD, words @ ..] => bench::alone::in_a_process_of_its_own(words),
        ["bench", words @ ..] => bench::Options::parse(words, &root())
            .map_err(anyhow::Error::msg)
            .and_then(|options| bench::run(&root(), &options)),
        [] | ["help" | "--help" | "-h"] => write!(std::io::stdout(), "{USAGE}").map_err(Into::into),
        other => Err(anyhow::anyhow!("no command `{}`\n\n{USAGE}", other.join(" "))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing can be done where standard error is closed; the exit code still tells.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The top of the checkout: the parent of this package's folder.
fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("xtask is a folder of the checkout").to_path_buf()
}
