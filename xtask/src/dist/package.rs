//! Files of a package: the staged tree, the `.deb`, the context of a container image.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::architecture::Architecture;
use super::output_of;

const DESCRIPTION: &str = "\
Description: benchmark for network file storage
 Measures throughput, IOPS and latency of directories and NFS exports, finds
 the bottleneck, and sizes Azure NetApp Files from a requirement or a
 measurement.
";

/// What is packaged, and where.
pub(super) struct Package<'a> {
    /// The repository.
    pub(super) root: &'a Path,
    /// Where packages are written.
    pub(super) folder: &'a Path,
    pub(super) architecture: Architecture,
}

/// Completions: the shell, and the path that it loads them from.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/fourcorners"),
    ("zsh", "usr/share/zsh/vendor-completions/_fourcorners"),
    ("fish", "usr/share/fish/vendor_completions.d/fourcorners.fish"),
];

impl Package<'_> {
    /// Writes the tree of installed files and returns its folder.
    ///
    /// * `built` - the program
    /// * `host_program` - the same version, built for this machine
    pub(super) fn stage(&self, built: &Path, host_program: &Path) -> Result<PathBuf> {
        let tree = self.folder.join(format!("fourcorners-{}", self.architecture.debian()));
        if tree.exists() {
            fs::remove_dir_all(&tree).with_context(|| format!("remove {}", tree.display()))?;
        }
        let program = created(&tree, "usr/bin/fourcorners")?;
        output_of(
            Command::new(self.architecture.strip()).arg("-o").args([&program, &built.into()]),
        )?;
        let manual = tree.join("usr/share/man/man1");
        output_of(Command::new(host_program).args(["man", "--output"]).arg(&manual))?;
        for page in fs::read_dir(&manual)? {
            output_of(Command::new("gzip").args(["-9", "--no-name"]).arg(page?.path()))?;
        }
        for (shell, path) in COMPLETIONS {
            let text = output_of(Command::new(host_program).args(["completions", shell]))?;
            fs::write(created(&tree, path)?, text)?;
        }
        let documents = "usr/share/doc/fourcorners";
        let mut licences = "License: MIT or Apache-2.0\n".to_owned();
        for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
            licences.push_str(&fs::read_to_string(self.root.join(name))?);
        }
        fs::write(created(&tree, &format!("{documents}/copyright"))?, licences)?;
        let changes = created(&tree, &format!("{documents}/changelog"))?;
        fs::copy(self.root.join("CHANGELOG.md"), &changes)?;
        output_of(Command::new("gzip").args(["-9", "--no-name"]).arg(&changes))?;
        Ok(tree)
    }

    /// Builds the `.deb` of the tree and returns its path.
    pub(super) fn debian(&self, tree: &Path) -> Result<PathBuf> {
        let version = version(self.root)?;
        let architecture = self.architecture.debian();
        let kib = fs::metadata(tree.join("usr/bin/fourcorners"))?.len() / 1024;
        let control = format!(
            "Package: fourcorners\nVersion: {version}\nArchitecture: {architecture}\n\
             Maintainer: The fourcorners authors\nInstalled-Size: {kib}\nSection: utils\n\
             Priority: optional\n{DESCRIPTION}"
        );
        fs::write(created(tree, "DEBIAN/control")?, control)?;
        let path = self.folder.join(format!("fourcorners_{version}_{architecture}.deb"));
        let mut build = Command::new("dpkg-deb");
        build.args(["--root-owner-group", "-Zgzip", "--build"]).args([tree, &path]);
        output_of(&mut build)?;
        Ok(path)
    }

    /// Writes the context of the container image and returns its folder.
    pub(super) fn container(&self, tree: &Path) -> Result<PathBuf> {
        let context = self.folder.join(format!("container-{}", self.architecture.debian()));
        let file = created(&context, "Containerfile")?;
        fs::copy(self.root.join("packaging/Containerfile"), file)?;
        fs::copy(tree.join("usr/bin/fourcorners"), context.join("fourcorners"))?;
        Ok(context)
    }
}

/// `path` in `tree`, whose folder exists now.
fn created(tree: &Path, path: &str) -> Result<PathBuf> {
    let path = tree.join(path);
    let folder = path.parent().expect("a path below a tree has a parent");
    fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
    Ok(path)
}

/// The version of the workspace.
pub(super) fn version(root: &Path) -> Result<String> {
    let manifest: toml::Table = fs::read_to_string(root.join("Cargo.toml"))?.parse()?;
    let version = manifest["workspace"]["package"]["version"].as_str();
    Ok(version.context("the version in Cargo.toml is text")?.to_owned())
}
