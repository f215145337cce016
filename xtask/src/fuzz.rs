//! The step with the fuzzers: builds every target of `fuzz/` and runs each for a number of inputs.
//!
//! libFuzzer is guided by coverage, which the compiler adds with the flags that `cargo fuzz` passes
//! too; without a sanitizer they work on stable Rust. The seed is fixed, so that a failure repeats.
//! For long runs: `cargo +nightly fuzz run TARGET`.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, bail};

use crate::check::target_directory;

/// Inputs for each target.
const RUNS: u32 = 20_000;

/// Coverage counters and compared values, as libFuzzer reads them.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Builds and runs all targets.
///
/// # Errors
/// A target does not build, or an input breaks what it asserts.
pub(crate) fn run(root: &Path) -> Result<()> {
    let fuzz = root.join("fuzz");
    // Everything in the versions that the product is built with; libFuzzer itself is added.
    fs::copy(root.join("Cargo.lock"), fuzz.join("Cargo.lock")).context("copy Cargo.lock")?;
    // With a named triple the flags are not those of build scripts and procedural macros.
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let target = target_directory()?;
    let status = Command::new("cargo")
        .args(["build", "--bins", "--quiet", "--target", &triple, "--target-dir"])
        .arg(&target)
        .env("RUSTFLAGS", COVERAGE)
        .current_dir(&fuzz)
        .status()
        .context("start cargo")?;
    if !status.success() {
        bail!("the fuzz targets do not build: {status}");
    }
    let built = target.join(triple).join("debug");
    let found = target.join("fuzz");
    // A target has one thread, so two run in parallel.
    for pair in names(&fuzz)?.chunks(2) {
        let results = thread::scope(|scope| {
            let runs: Vec<_> =
                pair.iter().map(|name| scope.spawn(|| one(&fuzz, &built, &found, name))).collect();
            runs.into_iter()
                .map(|run| run.join().expect("a thread that waits for a program"))
                .collect::<Vec<_>>()
        });
        for (name, result) in pair.iter().zip(results) {
            result.with_context(|| format!("fuzz {name}"))?;
        }
    }
    Ok(())
}

/// Names of the targets, in order.
fn names(fuzz: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(fuzz.join("fuzz_targets")).context("list the fuzz targets")?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry?.path();
        names.extend(path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// Runs one target on its corpus and on inputs made from it. Inputs that it finds are kept below
/// `found`, never in the checkout's corpus.
fn one(fuzz: &Path, built: &Path, found: &Path, name: &str) -> Result<()> {
    let found = found.join(name);
    let new = found.join("new");
    fs::create_dir_all(&new)?;
    let output = Command::new(built.join(name))
        .args([format!("-runs={RUNS}"), "-seed=1".into(), "-max_len=4096".into()])
        .args(["-timeout=20", "-rss_limit_mb=2048", "-verbosity=0", "-print_final_stats=1"])
        .arg(format!("-artifact_prefix={}/failed-", found.display()))
        .args([new, fuzz.join("corpus").join(name)])
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let mut err = std::io::stderr();
    if !output.status.success() {
        write!(err, "{said}")?;
        bail!("an input breaks it ({}); it is kept in {}", output.status, found.display());
    }
    let runs = said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    let runs: u32 = runs.context("libFuzzer prints no statistics")?.trim().parse()?;
    if runs < RUNS {
        bail!("{runs} of {RUNS} inputs were tried");
    }
    writeln!(err, "fuzz {name}: {runs} inputs, none breaks it")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_a_corpus_and_is_built() {
        let fuzz = crate::root().join("fuzz");
        let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).expect("a manifest");
        let names = names(&fuzz).expect("targets");
        assert!(names.len() >= 7, "{names:?}");
        for name in names {
            assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
            assert!(fuzz.join("corpus").join(&name).is_dir(), "{name}");
        }
    }
}
