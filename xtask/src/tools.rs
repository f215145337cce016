//! Programs from crates.io, at fixed versions.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::check::{run_program, target_directory};

/// Path of the program `name` in the target folder; compiled on first use, with `flags` of
/// `cargo install`.
///
/// # Errors
/// The program cannot be compiled.
pub(crate) fn installed(root: &Path, name: &str, version: &str, flags: &[&str]) -> Result<PathBuf> {
    let tools = target_directory()?.join("tools").join(format!("{name}-{version}"));
    let program = tools.join("bin").join(name);
    if program.exists() {
        return Ok(program);
    }
    let text = |path: &Path| path.to_str().map(str::to_owned).context("a path is not UTF-8");
    let (folder, build) = (text(&tools)?, text(&tools.join("build"))?);
    let mut arguments = vec!["install", name, "--version", version, "--locked", "--debug"];
    // Debug information would only make the build slower.
    arguments.extend(["--config", "profile.dev.debug=false"]);
    arguments.extend(["--quiet", "--root", &folder, "--target-dir", &build]);
    arguments.extend(flags);
    run_program(root, "cargo", &arguments)?;
    if !program.exists() {
        bail!("{name} was installed without {}", program.display());
    }
    std::fs::remove_dir_all(build).with_context(|| format!("remove what {name} was built in"))?;
    Ok(program)
}
