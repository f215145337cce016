//! The tools of the repository: `cargo xtask tidy | check | facts | bench | mutants`.
//!
//! `tidy` enforces the rules that no compiler enforces: imports between crates, banned words, links
//! in documents. `check` is the one command that tells whether the tree is good, at the desk and in
//! CI. Nothing here is part of the product, and nothing here uses its crates, so that a check
//! starts within seconds; tools that do are separate packages (`facts`, `bench`; ADR 0024). The
//! idea of a `tidy` that is an ordinary program with ordinary tests comes from rustc and
//! TigerBeetle.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

mod book;
mod browser;
mod check;
mod deny;
mod dist;
mod fuzz;
mod install;
mod kernel;
mod tidy;
mod tools;

const USAGE: &str = "\
The tools of the repository.

Usage: cargo xtask <COMMAND>

Commands:
  tidy [--release]   check the repository rules (ARCHITECTURE.md, CONTRIBUTING.md); with
                     --release, old records of benches are errors instead of warnings
  check              check everything: format, tidy, dependencies (cargo deny), clippy, tests, fuzz
                     targets, the kernel's NFS client, reports in a browser
  check --fast       check only format, tidy, clippy and tests
  check --install    install missing Debian packages first
  deny               run only the check of dependencies
  book               build the guide as a site in target/book
  dist [--target x86_64|aarch64] [--check]
                     build the static program, its Debian package and the context of a container
                     image below target/dist/; --check installs and uses each part
  dist --binary PATH [--check]
                     the same with a program that is built already
  fuzz               run only the fuzz targets
  kernel             run only the test with the kernel's NFS client
  browser            run only the test of reports in a browser
  facts [--json] [--today DATE]
                     list rows of data/*.toml that are older than a year or contradict each other
  facts --against FILE
                     compare quotas, limits and prices with answers of the vendor's calculator;
                     fails on a difference without a documented reason
  facts --import DIR --date DATE
                     generate data/regions.toml and data/storage_prices.toml from the vendor's
                     tables
  mutants [--sample N] [AREA...]
                     measure the share of mutants (small changes to the code) that tests catch, in
                     a sample of at least N per area; writes bench/runs/DATE-MACHINE-mutants/
  bench [BENCH] [OPTIONS]
                     measure cost and performance; `bench help` lists the benches
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&root(), &words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error is closed, the exit code is all that remains.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(root: &Path, words: &[&str]) -> Result<()> {
    match words {
        ["tidy"] => tidy::run(root, tidy::When::Always),
        ["tidy", "--release"] => tidy::run(root, tidy::When::BeforeRelease),
        ["check", flags @ ..] => {
            check::run(root, check::Options::parse(flags).map_err(anyhow::Error::msg)?)
        }
        ["deny"] => deny::run(root),
        ["book"] => book::run(root),
        ["dist", words @ ..] => dist::run(root, words),
        ["fuzz"] => fuzz::run(root),
        ["kernel"] => kernel::build_and_run(root),
        ["browser"] => browser::build_and_run(root),
        ["bench", "applications", words @ ..] => {
            let is_install = |word: &&str| *word == "--install";
            let steps: &[install::Step] = match words {
                ["--document"] => &[],
                _ => &[install::Step::Applications],
            };
            install::provide_packages(steps, words.iter().any(is_install))?;
            let words: Vec<&str> = words.iter().copied().filter(|word| !is_install(word)).collect();
            run_package(root, "bench", &[&["applications"][..], &words].concat())
        }
        ["facts" | "bench", ..] => run_package(root, words[0], &words[1..]),
        ["mutants", words @ ..] => {
            let program = tools::installed(root, "cargo-mutants", "27.1.0", &[])?;
            let program = program.to_str().context("the repository's path is not UTF-8")?;
            run_package(root, "bench", &[&["mutants", program][..], words].concat())
        }
        [] | ["help" | "--help" | "-h"] => write!(std::io::stdout(), "{USAGE}").map_err(Into::into),
        other => Err(anyhow::anyhow!("unknown command `{}`\n\n{USAGE}", other.join(" "))),
    }
}

/// Builds and runs a package of tools.
fn run_package(root: &Path, package: &str, arguments: &[&str]) -> Result<()> {
    let cargo = ["run", "--quiet", "--package", package, "--"];
    check::run_program(root, "cargo", &[&cargo[..], arguments].concat())
}

/// The root of the repository: the parent of this package's folder.
fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("xtask is a folder of the repository").to_path_buf()
}
