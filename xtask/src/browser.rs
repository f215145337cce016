//! The step `browser` of `check`: generates reports and tests them in Chromium (`tests/browser`).

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::check::{run_program, target_directory};
use crate::install;

/// Builds the program that generates the reports, and runs the tests.
///
/// # Errors
/// The build fails, or as [`run`].
pub(crate) fn build_and_run(root: &Path) -> Result<()> {
    install::provide(&[install::Step::Browser], false)?;
    let build = ["build", "--package", "report", "--example", "fixture_report", "--quiet"];
    run_program(root, "cargo", &build)?;
    run(root, &mut std::io::stdout())
}

/// Generates reports, tests them and writes the output of the tests to `out`.
///
/// The example `fixture_report` must be built already; `cargo test` builds it.
///
/// # Errors
/// A test fails, or a program cannot be started.
pub(crate) fn run(root: &Path, out: &mut dyn Write) -> Result<()> {
    let reports = target_directory()?.join("browser");
    let example = std::env::current_exe()?.with_file_name("examples").join("fixture_report");
    let made = Command::new(&example).arg(&reports).status();
    if !made.with_context(|| format!("start {}", example.display()))?.success() {
        bail!("the reports could not be generated");
    }
    let tested = Command::new(root.join("tests/browser/run.sh"))
        .arg(&reports)
        .stdin(Stdio::null())
        .output()
        .context("start tests/browser/run.sh")?;
    out.write_all(&tested.stderr)?;
    out.write_all(&tested.stdout)?;
    if !tested.status.success() {
        bail!("tests/browser/run.sh ended with {}", tested.status);
    }
    Ok(())
}
