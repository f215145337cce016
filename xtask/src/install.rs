//! What the tests need from the machine beyond Rust, and how a Debian machine gets it.

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A program that the tests start, and the Debian package that brings it.
struct Needed {
    program: &'static str,
    package: &'static str,
    /// What for, in words.
    purpose: &'static str,
    /// Needed by the browser step only.
    browser: bool,
}

const NEEDED: &[Needed] = &[
    Needed { program: "cc", package: "gcc", purpose: "SQLite is compiled", browser: false },
    Needed {
        program: "mkfs.ext4",
        package: "e2fsprogs",
        purpose: "tests fill a small file system of their own",
        browser: false,
    },
    Needed {
        program: "losetup",
        package: "mount",
        purpose: "tests mount a small file system of their own",
        browser: false,
    },
    Needed {
        program: "mount",
        package: "mount",
        purpose: "tests mount a small file system of their own",
        browser: false,
    },
    Needed {
        program: "strace",
        package: "strace",
        purpose: "a test looks at the system calls of a running worker",
        browser: false,
    },
    Needed {
        program: "node",
        package: "nodejs",
        purpose: "drives the browser that opens the report",
        browser: true,
    },
    Needed {
        program: "npm",
        package: "npm",
        purpose: "fetches the browser's driver",
        browser: true,
    },
    Needed { program: "chromium", package: "chromium", purpose: "opens the report", browser: true },
];

/// Components of the Rust toolchain that steps of `check` are.
const COMPONENTS: &[(&str, &str)] = &[("fmt", "rustfmt"), ("clippy", "clippy")];

/// Folders where programs for the administrator are, which an ordinary `PATH` leaves out.
const ADMINISTRATION: &[&str] = &["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// Sees that everything needed is there; where it is not, installs it if asked, else tells.
///
/// # Errors
/// Something is missing and was not to be, or could not be, installed.
pub(crate) fn provide(browser: bool, install: bool) -> Result<()> {
    if !is_root() {
        bail!(
            "some tests mount a small file system of their own: run the check as root, for example \
             with `sudo env \"PATH=$PATH\" cargo xtask check`"
        );
    }
    provide_components(install)?;
    provide_packages(browser, install)
}

fn provide_packages(browser: bool, install: bool) -> Result<()> {
    let missing: Vec<&Needed> = NEEDED
        .iter()
        .filter(|needed| (browser || !needed.browser) && !is_there(needed.program))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let list = describe(&missing);
    if !install {
        bail!(
            "this machine lacks\n{list}\ninstall that, or let `cargo xtask check --install` do it"
        );
    }
    if !is_there("apt-get") {
        bail!("this machine lacks\n{list}\nand has no apt-get to install it with");
    }
    writeln!(std::io::stderr(), "installing with apt-get:\n{list}")?;
    apt_get(&["update", "-q"])?;
    let mut arguments = vec!["install", "-y", "-q", "--no-install-recommends"];
    arguments.extend(packages(&missing));
    apt_get(&arguments)?;
    match missing.iter().find(|needed| !is_there(needed.program)) {
        Some(needed) => {
            bail!("package {} was installed without {}", needed.package, needed.program)
        }
        None => Ok(()),
    }
}

fn provide_components(install: bool) -> Result<()> {
    for (subcommand, component) in COMPONENTS {
        let answers = Command::new("cargo").args([subcommand, "--version"]).output();
        if answers.context("start cargo")?.status.success() {
            continue;
        }
        if !install {
            bail!("this toolchain lacks {component}: `rustup component add {component}`");
        }
        let status = Command::new("rustup").args(["component", "add", component]).status();
        if !status.with_context(|| format!("start rustup to add {component}"))?.success() {
            bail!("rustup could not add {component}");
        }
    }
    Ok(())
}

fn describe(missing: &[&Needed]) -> String {
    let line = |needed: &&Needed| {
        format!("  {} (Debian: {}): {}", needed.program, needed.package, needed.purpose)
    };
    missing.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn packages(missing: &[&Needed]) -> Vec<&'static str> {
    let mut packages: Vec<&str> = missing.iter().map(|needed| needed.package).collect();
    packages.dedup();
    packages
}

fn apt_get(arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("apt-get");
    let status = command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").status();
    let status = status.context("start apt-get")?;
    if !status.success() {
        bail!("`apt-get {}` ended with {status}", arguments.join(" "));
    }
    Ok(())
}

/// Whether this process belongs to root.
fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// Whether a program is on the path or where administrators' programs are.
fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = std::env::split_paths(&path);
    let folders = usual.chain(ADMINISTRATION.iter().map(Into::into));
    folders.into_iter().any(|folder| Path::new(&folder).join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_with_its_package_and_purpose() {
        let needed = Needed { program: "x", package: "libx", purpose: "draws", browser: false };
        assert_eq!(describe(&[&needed]), "  x (Debian: libx): draws");
    }

    #[test]
    fn a_package_is_installed_once() {
        let mount: Vec<&Needed> =
            NEEDED.iter().filter(|needed| needed.package == "mount").collect();
        assert_eq!(packages(&mount), ["mount"]);
    }

    #[test]
    fn programs_are_found_by_name() {
        assert!(is_there("sh"));
        assert!(!is_there("no-such-program-anywhere"));
    }
}
