//! The step `fuzz` of `check`: builds every target of `fuzz/` and runs each for a fixed number of
//! inputs.
//!
//! libFuzzer is guided by coverage, which the compiler adds with the same flags as under
//! `cargo fuzz`; without a sanitizer they work on stable Rust. The seed is fixed, so that a failure
//! repeats. For long runs: `cargo +nightly fuzz run TARGET`.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, bail};

use crate::check::target_directory;

/// Inputs per target.
const RUNS: u32 = 20_000;
/// Targets that run at the same time.
const AT_A_TIME: usize = 2;

/// Flags that add coverage counters and compared values for libFuzzer.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Builds and runs all targets.
///
/// # Errors
/// A target does not build, or an input fails an assertion.
pub(crate) fn run(root: &Path) -> Result<()> {
    let fuzz = root.join("fuzz");
    // The same versions as the product; cargo adds libFuzzer.
    fs::copy(root.join("Cargo.lock"), fuzz.join("Cargo.lock")).context("copy Cargo.lock")?;
    // With an explicit triple, the flags do not apply to build scripts and procedural macros.
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
    let names = names(&fuzz)?;
    let waiting = Mutex::new(names.iter());
    let next = || waiting.lock().expect("no thread panics with the lock").next();
    // A target has one thread.
    thread::scope(|scope| {
        let run_waiting = || {
            while let Some(name) = next() {
                run_target(&fuzz, &built, &found, name).with_context(|| format!("fuzz {name}"))?;
            }
            Ok(())
        };
        let threads: Vec<_> = (0..AT_A_TIME).map(|_| scope.spawn(run_waiting)).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, Result<()>>| {
            thread.join().expect("the thread only waits for programs")
        };
        threads.into_iter().try_for_each(join)
    })
}

/// Names of the targets, sorted.
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

/// Runs one target on its corpus and on inputs derived from it. New inputs are kept in `found`,
/// never in the repository's corpus.
fn run_target(fuzz: &Path, built: &Path, found: &Path, name: &str) -> Result<()> {
    let found = found.join(name);
    let new = found.join("new");
    fs::create_dir_all(&new)?;
    let output = Command::new(built.join(name))
        .args([format!("-runs={RUNS}"), "-seed=1".into(), "-max_len=4096".into()])
        .args(["-timeout=20", "-rss_limit_mb=2048", "-verbosity=0", "-print_final_stats=1"])
        .arg(format!("-artifact_prefix={}/failed-", found.display()))
        .args([new, fuzz.join("corpus").join(name)])
        .output()?;
    let messages = String::from_utf8_lossy(&output.stderr);
    let mut err = std::io::stderr();
    if !output.status.success() {
        write!(err, "{messages}")?;
        bail!("an input fails ({}); it is kept in {}", output.status, found.display());
    }
    let runs =
        messages.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    let runs: u32 = runs.context("libFuzzer prints no statistics")?.trim().parse()?;
    if runs < RUNS {
        bail!("only {runs} of {RUNS} inputs were run");
    }
    writeln!(err, "fuzz {name}: {runs} inputs passed")?;
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
