//! What the tests need from the machine beyond Rust, and how a Debian machine gets it.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Something on the machine that a step of `check` uses, and the Debian package that brings it.
struct Needed {
    what: What,
    package: &'static str,
    /// What for, in words.
    purpose: &'static str,
    /// The step that uses it.
    by: Step,
}

/// How to find out whether it is there.
#[derive(Clone, Copy)]
enum What {
    /// A program on the path.
    Program(&'static str),
    /// A file below a folder of libraries: what a program loads while it runs.
    Library(&'static str),
}

/// Who uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// `cargo test`: always run.
    Tests,
    /// The fuzz targets.
    Fuzz,
    /// The Linux kernel's own client against our service.
    Kernel,
    /// The report in a browser.
    Browser,
}

const fn program(
    name: &'static str,
    package: &'static str,
    by: Step,
    purpose: &'static str,
) -> Needed {
    Needed { what: What::Program(name), package, purpose, by }
}

const fn library(name: &'static str, package: &'static str, purpose: &'static str) -> Needed {
    Needed { what: What::Library(name), package, purpose, by: Step::Tests }
}

const SMALL_FILE_SYSTEM: &str = "tests fill and mount a small file system of their own";
const OTHER_CLIENT: &str = "another hand's NFS client, for our service";
const OTHER_SERVER: &str = "another hand's NFS server, for our client";
const NAMESPACES: &str = "tests put client and service into network namespaces";

const NEEDED: &[Needed] = &[
    program("cc", "gcc", Step::Tests, "SQLite is compiled"),
    program("mkfs.ext4", "e2fsprogs", Step::Tests, SMALL_FILE_SYSTEM),
    program("losetup", "mount", Step::Tests, SMALL_FILE_SYSTEM),
    program("mount", "mount", Step::Tests, SMALL_FILE_SYSTEM),
    program("strace", "strace", Step::Tests, "a test looks at the system calls of a worker"),
    program("fio", "fio", Step::Tests, "reads the jobs that `tune` prints"),
    program("ganesha.nfsd", "nfs-ganesha", Step::Tests, OTHER_SERVER),
    library("ganesha/libfsalmem.so", "nfs-ganesha-mem", OTHER_SERVER),
    library("ganesha/libfsalvfs.so", "nfs-ganesha-vfs", OTHER_SERVER),
    program("nfs-ls", "libnfs-utils", Step::Tests, OTHER_CLIENT),
    program("showmount", "nfs-common", Step::Tests, "asks the emulated service's portmapper"),
    program("ip", "iproute2", Step::Tests, NAMESPACES),
    program("tc", "iproute2", Step::Tests, NAMESPACES),
    program("c++", "g++", Step::Fuzz, "libFuzzer is compiled"),
    program("qemu-system-x86_64", "qemu-system-x86", Step::Kernel, "boots a kernel as a client"),
    program("node", "nodejs", Step::Browser, "drives the browser that opens the report"),
    program("npm", "npm", Step::Browser, "fetches the browser's driver"),
    program("chromium", "chromium", Step::Browser, "opens the report"),
];

/// Components of the Rust toolchain that steps of `check` are.
const COMPONENTS: &[(&str, &str)] = &[("fmt", "rustfmt"), ("clippy", "clippy")];

/// Folders where programs for the administrator are, which an ordinary `PATH` leaves out.
const ADMINISTRATION: &[&str] = &["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// Folders of libraries; Debian has one more level below them, named after the architecture.
const LIBRARIES: &[&str] = &["/usr/lib", "/usr/lib64"];

/// What Debian's tools ask before they start a service (policy-rc.d of invoke-rc.d(8)).
const SERVICE_POLICY: &str = "/usr/sbin/policy-rc.d";

/// Sees that everything that `steps` need is there; where it is not, installs it if asked, else
/// tells.
///
/// # Errors
/// Something is missing and was not to be, or could not be, installed.
pub(crate) fn provide(steps: &[Step], install: bool) -> Result<()> {
    if !is_root() {
        bail!(
            "some tests mount a small file system and make network namespaces of their own: run \
             the check as root, for example with `sudo env \"PATH=$PATH\" cargo xtask check`"
        );
    }
    provide_components(install)?;
    provide_packages(steps, install)
}

fn provide_packages(steps: &[Step], install: bool) -> Result<()> {
    let missing: Vec<&Needed> = NEEDED
        .iter()
        .filter(|needed| steps.contains(&needed.by) && !needed.what.is_there())
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
    if !What::Program("apt-get").is_there() {
        bail!("this machine lacks\n{list}\nand has no apt-get to install it with");
    }
    writeln!(std::io::stderr(), "installing with apt-get:\n{list}")?;
    let no_services = NoServices::begin(Path::new(SERVICE_POLICY))?;
    apt_get(&["update", "-q"])?;
    let mut arguments = vec!["install", "-y", "-q", "--no-install-recommends"];
    arguments.extend(packages(&missing));
    apt_get(&arguments)?;
    no_services.end()?;
    match missing.iter().find(|needed| !needed.what.is_there()) {
        Some(needed) => {
            bail!("package {} was installed without {}", needed.package, needed.what.name())
        }
        None => Ok(()),
    }
}

/// While it lives, installing a package starts none of its services: the packages of other
/// servers bring daemons that would listen on this machine from then on, and the tests start
/// their own.
struct NoServices {
    /// The file that we made; none where the machine has a policy of its own, which holds.
    made: Option<PathBuf>,
}

impl NoServices {
    fn begin(policy: &Path) -> Result<NoServices> {
        // 101: the action is forbidden by policy.
        match File::options().write(true).create_new(true).mode(0o755).open(policy) {
            Ok(mut file) => {
                file.write_all(b"#!/bin/sh\nexit 101\n")?;
                Ok(NoServices { made: Some(policy.to_path_buf()) })
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(NoServices { made: None }),
            Err(error) => Err(error).with_context(|| format!("create {}", policy.display())),
        }
    }

    fn end(mut self) -> Result<()> {
        match self.made.take() {
            Some(made) => std::fs::remove_file(&made)
                .with_context(|| format!("remove our policy {}", made.display())),
            None => Ok(()),
        }
    }
}

impl Drop for NoServices {
    fn drop(&mut self) {
        let Some(made) = self.made.take() else { return };
        // An error is on its way already; this one names a file that would surprise later.
        if let Err(error) = std::fs::remove_file(&made) {
            let _ = writeln!(std::io::stderr(), "remove our policy {}: {error}", made.display());
        }
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
        format!("  {} (Debian: {}): {}", needed.what.name(), needed.package, needed.purpose)
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

impl What {
    fn name(self) -> &'static str {
        match self {
            What::Program(name) | What::Library(name) => name,
        }
    }

    /// A program: on the path or where administrators' programs are.
    fn is_there(self) -> bool {
        let folders: Vec<PathBuf> = match self {
            What::Program(_) => {
                let path = std::env::var_os("PATH").unwrap_or_default();
                let usual = std::env::split_paths(&path);
                usual.chain(ADMINISTRATION.iter().map(Into::into)).collect()
            }
            What::Library(_) => LIBRARIES.iter().flat_map(|folder| with_children(folder)).collect(),
        };
        folders.iter().any(|folder| folder.join(self.name()).is_file())
    }
}

/// A folder and those in it; none where it is not.
fn with_children(folder: &str) -> Vec<PathBuf> {
    let children = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders = vec![PathBuf::from(folder)];
    folders.extend(children.map(|child| child.path()));
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_with_its_package_and_purpose() {
        assert_eq!(
            describe(&[&program("x", "libx", Step::Tests, "draws")]),
            "  x (Debian: libx): draws"
        );
    }

    #[test]
    fn a_package_is_installed_once() {
        let mount: Vec<&Needed> =
            NEEDED.iter().filter(|needed| needed.package == "mount").collect();
        assert_eq!(packages(&mount), ["mount"]);
    }

    #[test]
    fn programs_and_libraries_are_found_by_name() {
        assert!(What::Program("sh").is_there());
        assert!(What::Library("libc.so.6").is_there());
        assert!(!What::Program("no-such-program-anywhere").is_there());
        assert!(!What::Library("no-such-library-anywhere.so").is_there());
    }

    #[test]
    fn services_are_held_back_for_as_long_as_packages_are_installed() {
        let policy = std::env::temp_dir().join(format!("policy-{}", std::process::id()));
        let held = NoServices::begin(&policy).expect("nothing is there yet");
        let answer = Command::new(&policy).args(["rpcbind", "start"]).status();
        assert_eq!(answer.expect("the policy is a program").code(), Some(101));
        // A second one finds a policy and leaves it.
        NoServices::begin(&policy).expect("a policy is there").end().expect("left alone");
        assert!(policy.exists());
        drop(held);
        assert!(!policy.exists());
    }
}
