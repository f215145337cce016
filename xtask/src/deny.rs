//! The step with `cargo deny`: licences, bans, sources, and security advisories of dependencies.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::check::{run_program, target_directory};

/// The version that `deny.toml` is written for.
const VERSION: &str = "0.20.2";

/// Checks `deny.toml`. Advisories need a database from the internet; where it cannot be fetched,
/// that is said and the rest counts.
///
/// # Errors
/// A dependency offends, or `cargo deny` cannot be installed.
pub(crate) fn run(root: &Path) -> Result<()> {
    let program = installed(root)?;
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

/// The program in our own folder of tools; compiled there the first time.
fn installed(root: &Path) -> Result<PathBuf> {
    let tools = target_directory()?.join("tools").join(format!("cargo-deny-{VERSION}"));
    let program = tools.join("bin/cargo-deny");
    if program.exists() {
        return Ok(program);
    }
    let text = |path: &Path| path.to_str().map(str::to_owned).context("a path is not UTF-8");
    let (tools, build) = (text(&tools)?, text(&tools.join("build"))?);
    run_program(
        root,
        "cargo",
        &[
            "install",
            "cargo-deny",
            "--version",
            VERSION,
            "--locked",
            "--debug",
            "--quiet",
            "--root",
            &tools,
            "--target-dir",
            &build,
        ],
    )?;
    if !program.exists() {
        bail!("cargo-deny was installed without {}", program.display());
    }
    std::fs::remove_dir_all(build).context("remove what cargo-deny was built in")?;
    Ok(program)
}
