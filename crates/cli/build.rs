//! Passes the version, the commit and the build profile to the program, for `--version`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let commit = commit(&root).unwrap_or_else(|| "unknown commit".to_owned());
    let version = format!("{} ({commit}, {})", env!("CARGO_PKG_VERSION"), profile());
    let mut out = std::io::stdout();
    writeln!(out, "cargo::rustc-env=FOURCORNERS_LONG_VERSION={version}")?;
    writeln!(out, "cargo::rerun-if-changed=build.rs")?;
    // Git appends a line to this log whenever HEAD changes. Cargo would rerun this program in every
    // build if the file did not exist.
    let log = git(&root, &["rev-parse", "--git-path", "logs/HEAD"]).map(|path| root.join(path));
    if let Some(log) = log.filter(|log| log.is_file()) {
        writeln!(out, "cargo::rerun-if-changed={}", log.display())?;
    }
    Ok(())
}

/// The commit, unless the sources are not the work tree of a repository: an unpacked archive may be
/// inside another project's work tree.
fn commit(root: &Path) -> Option<String> {
    let top = PathBuf::from(git(root, &["rev-parse", "--show-toplevel"])?);
    let is_own = top.canonicalize().ok()? == root;
    git(root, &["rev-parse", "--short=7", "HEAD"]).filter(|_| is_own)
}

/// What git prints; `None` if it fails or is not installed.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let answer = Command::new("git").args(arguments).current_dir(root).output().ok()?;
    let text = String::from_utf8(answer.stdout).ok()?.trim().to_owned();
    (answer.status.success() && !text.is_empty()).then_some(text)
}

/// The build profile: the folder that contains `build/PACKAGE/out`. The variable PROFILE has only
/// `debug` or `release`.
fn profile() -> String {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let name = out.ancestors().nth(3).and_then(Path::file_name).unwrap_or_default();
    name.to_string_lossy().into_owned()
}
