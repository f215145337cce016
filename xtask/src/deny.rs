//! The step with `cargo deny`: licences, bans, sources, and security advisories of dependencies.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::check::run_program;
use crate::tools;

/// The version that `deny.toml` is written for.
const VERSION: &str = "0.20.2";

/// Checks `deny.toml`. Advisories need a database from the internet; where it cannot be fetched,
/// that is said and the rest counts.
///
/// # Errors
/// A dependency offends, or `cargo deny` cannot be installed.
pub(crate) fn run(root: &Path) -> Result<()> {
    let program = tools::installed(root, "cargo-deny", VERSION)?;
    let program = program.to_str().context("the checkout's path is not UTF-8")?;
    let quiet = ["--log-level", "error", "check", "--hide-inclusion-graph", "--allow"];
    let run = |what: &[&str]| {
        let mut arguments = quiet.to_vec();
        arguments.push("license-not-encountered");
        arguments.extend(what);
        run_program(root, program, &arguments)
    };
    run(&["bans", "licenses", "sources"])?;
    let fetch = Command::new(program).args(["fetch", "db"]).current_dir(root).output()?;
    if fetch.status.success() {
        return run(&["--disable-fetch", "advisories"]);
    }
    let reason = String::from_utf8_lossy(&fetch.stderr);
    let reason = reason.lines().find(|line| line.starts_with("fatal:")).unwrap_or("");
    writeln!(
        std::io::stderr(),
        "NOT CHECKED: security advisories; their database cannot be fetched. {reason}"
    )?;
    Ok(())
}
