//! The step `kernel client` of `check`: the Linux kernel's NFS client mounts an emulated volume.
//!
//! `tests/kernel-client/guest` boots Debian's kernel in QEMU and mounts the volume that this host
//! serves. Three guests run at the same time, each with a different `nconnect`. Each compares a
//! tree of files with a local one, writes data and reads it back with cold caches, and lets fio
//! verify what it wrote. The processor is emulated: this tests correctness, not speed.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use anyhow::{Context, Result, bail};

use crate::check::run_program;
use crate::install;

/// Path of the program that runs a guest.
const GUEST: &str = "tests/kernel-client/guest";

/// Mount options and workload of a guest.
#[derive(Clone, Copy)]
struct Mount {
    /// TCP connections (`nconnect` of nfs(5), at most 16).
    connections: u32,
    /// Directories in the compared tree, with 40 files each.
    directories: u32,
}

/// One guest has a large tree. The others test calls that overtake each other on several
/// connections, for which a small tree is enough; three large trees would take twice the time on
/// two processors.
const MOUNTS: [Mount; 3] = [
    Mount { connections: 1, directories: 50 },
    Mount { connections: 8, directories: 10 },
    Mount { connections: 16, directories: 10 },
];

/// Time limit of a guest, including boot. Generous: only a guest that is stuck reaches it.
const LIMIT_SECONDS: &str = "1200";

/// Builds the service and boots the guests.
///
/// # Errors
/// The build fails, or as [`run`].
pub(crate) fn build_and_run(root: &Path) -> Result<()> {
    install::provide(&[install::Step::Kernel], false)?;
    run_program(root, "cargo", &["build", "--package", "cli", "--locked", "--quiet"])?;
    run(root, &mut std::io::stderr())
}

/// The folder of messages of guests and service.
fn logs(root: &Path) -> PathBuf {
    root.join("target/kernel-client")
}

/// The folder of what guests boot.
fn cache(root: &Path) -> PathBuf {
    logs(root).join("guest")
}

/// Downloads and builds what the guests boot, unless it is there.
///
/// # Errors
/// A package cannot be downloaded.
pub(crate) fn prepare(root: &Path) -> Result<()> {
    let (guest, cache) = (root.join(GUEST), cache(root));
    std::fs::create_dir_all(&cache)?;
    let prepared = Command::new(&guest).arg("prepare").arg(&cache).stdin(Stdio::null()).status();
    if !prepared.with_context(|| format!("start {}", guest.display()))?.success() {
        bail!("`{} prepare` failed; its messages are above", guest.display());
    }
    Ok(())
}

/// Boots the guests and writes their results to `out`.
///
/// The program `fourcorners` must be built already; `cargo test` builds it.
///
/// # Errors
/// A guest cannot be prepared, does not boot or mount, or a test in it fails.
pub(crate) fn run(root: &Path, out: &mut dyn Write) -> Result<()> {
    prepare(root)?;
    let (guest, logs) = (root.join(GUEST), logs(root));
    let cache = cache(root);
    let mut service = Service::start(&logs)?;
    let outputs = std::thread::scope(|scope| {
        let boot = |mount| boot(&guest, &cache, &logs, service.port, mount);
        let guests = MOUNTS.map(|mount| scope.spawn(move || boot(mount)));
        guests.map(|guest| guest.join().expect("the thread only waits for a program"))
    });
    let mut failed = Vec::new();
    for (Mount { connections, .. }, output) in MOUNTS.into_iter().zip(outputs) {
        if let Err(error) = judge(connections, &output?, out) {
            failed.push(format!("nconnect={connections}: {error:#}"));
        }
    }
    service.is_alive()?;
    if failed.is_empty() { Ok(()) } else { bail!("{}", failed.join("\n")) }
}

/// The commands of a guest after mounting. Guests use separate files and folders.
fn commands(Mount { connections, directories }: Mount) -> String {
    format!(
        "tree-test {directories} && data-test 32 && \
         fio --name=fio-{connections} --directory=/mnt --rw=randrw --bs=8k --size=8m --direct=1 \
         --ioengine=libaio --iodepth=16 --verify=crc32c --minimal >/tmp/fio && \
         echo 'fio: verified' && connections"
    )
}

fn boot(guest: &Path, cache: &Path, logs: &Path, port: u16, mount: Mount) -> Result<Output> {
    let connections = mount.connections;
    Command::new(guest)
        .arg("run")
        .arg(cache)
        .args([&port.to_string(), &format!("nconnect={connections}"), LIMIT_SECONDS])
        .arg(logs.join(format!("console-{connections}.log")))
        .arg(commands(mount))
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("start {}", guest.display()))
}

/// Prints the output of a guest. Fails if the guest failed or did not use all of its connections.
fn judge(connections: u32, output: &Output, out: &mut dyn Write) -> Result<()> {
    let stdout = String::from_utf8_lossy(&output.stdout);
    for line in stdout.lines().chain(String::from_utf8_lossy(&output.stderr).lines()) {
        writeln!(out, "nconnect={connections}: {line}")?;
    }
    if !output.status.success() {
        bail!("the guest ended with {}", output.status);
    }
    let used = connections_used(&stdout);
    if used != connections {
        bail!("{used} of {connections} connections were used");
    }
    Ok(())
}

/// Number of connections with replies. The guest's `connections` prints `connection 3: received=7`.
fn connections_used(stdout: &str) -> u32 {
    let is_used = |line: &&str| {
        line.starts_with("connection ")
            && line.rsplit_once("received=").is_some_and(|(_, count)| count.trim() != "0")
    };
    stdout.lines().filter(is_used).count() as u32
}

/// The service in a child process; killed on drop.
struct Service {
    child: Child,
    port: u16,
    log: PathBuf,
    /// The rest of its output; if this were closed, the service could not write to it.
    _output: Option<BufReader<ChildStdout>>,
}

impl Service {
    fn start(logs: &Path) -> Result<Service> {
        let log = logs.join("service.log");
        // Built into the same folder as this program.
        let program = std::env::current_exe()?.with_file_name("fourcorners");
        let mut child = Command::new(&program)
            .args(["volume", "serve", "--no-limits", "--metrics", "none"])
            .args(["--address", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log)?)
            .spawn()
            .with_context(|| format!("start {}", program.display()))?;
        let out = child.stdout.take().context("the service's output is a pipe")?;
        let mut service = Service { child, port: 0, log, _output: None };
        let mut output = BufReader::new(out);
        let mut line = String::new();
        while output.read_line(&mut line)? > 0 {
            // It prints the URL of each export: `nfs://127.0.0.1:33749/vol1?…`.
            if let Some(url) = line.trim().strip_prefix("nfs://127.0.0.1:") {
                let digits = url.split('/').next().unwrap_or_default();
                service.port = digits.parse().with_context(|| format!("a port in `{line}`"))?;
                service._output = Some(output);
                return Ok(service);
            }
            line.clear();
        }
        bail!("the service ended without printing its address; see {}", service.log.display())
    }

    fn is_alive(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => {
                bail!("the service ended with {status}; see {}", self.log.display())
            }
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Fails if it has ended already, which `is_alive` reports.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_without_replies_does_not_count() {
        let stdout = "data-test: 32 MiB written and read: equal\n\
            connection 1: received=3\nconnection 2: received=0\n";
        assert_eq!(connections_used(stdout), 1);
    }
}
