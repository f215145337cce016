//! Builds the programs that are measured.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

/// Builds `fourcorners` as the README does; returns its path.
pub(crate) fn build(root: &Path) -> Result<PathBuf> {
    cargo(root, &["build", "--release", "--package", "cli"])?;
    Ok(release_folder()?.join("fourcorners"))
}

/// Builds `fourcorners` for development, which is enough where its own cost is not measured; returns
/// its path.
pub(crate) fn build_for_development(root: &Path) -> Result<PathBuf> {
    cargo(root, &["build", "--package", "cli"])?;
    Ok(crate::target_directory()?.join("debug").join("fourcorners"))
}

/// Builds an example of a package; returns its path.
pub(crate) fn build_example(root: &Path, package: &str, name: &str) -> Result<PathBuf> {
    cargo(root, &["build", "--release", "--package", package, "--example", name])?;
    example(name)
}

/// Path of an example that is built already.
pub(crate) fn example(name: &str) -> Result<PathBuf> {
    Ok(release_folder()?.join("examples").join(name))
}

/// Folder of release builds.
pub(crate) fn release_folder() -> Result<PathBuf> {
    Ok(crate::target_directory()?.join("release"))
}

/// Runs cargo in the repository.
fn cargo(root: &Path, arguments: &[&str]) -> Result<()> {
    let status = Command::new("cargo").args(arguments).current_dir(root).status()?;
    if !status.success() {
        bail!("cargo {} failed", arguments.join(" "));
    }
    Ok(())
}
