//! The step `kernel client` of `check`: the Linux kernel's own NFS client against our service.
//!
//! `tests/kernel-client/guest` boots Debian's kernel in QEMU and mounts what this host serves.
//! Three guests run at the same time, each with another `nconnect`; in each a tree of files is
//! compared with a local one, data is written and read back with cold caches, and fio verifies what
//! it wrote. The processor is emulated: this is about correctness, not speed.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use anyhow::{Context, Result, bail};

use crate::check::run_program;
use crate::install;

/// The guest's program, from the top of the checkout.
const GUEST: &str = "tests/kernel-client/guest";

/// What one guest mounts and compares.
#[derive(Clone, Copy)]
struct Mount {
    /// TCP connections (`nconnect` of nfs(5), at most 16).
    connections: u32,
    /// Directories, with 40 files each, of the tree that is compared.
    directories: u32,
}

/// One connection gets the large tree. Over several connections calls overtake each other, which a
/// smaller tree shows as well; three large ones would take twice the time on two processors.
const MOUNTS: [Mount; 3] = [
    Mount { connections: 1, directories: 50 },
    Mount { connections: 8, directories: 10 },
    Mount { connections: 16, directories: 10 },
];

/// Time limit of one guest, boot included; generous, so that only a guest that is stuck reaches it.
const LIMIT_SECONDS: &str = "900";

/// Builds the service and boots the guests.
///
/// # Errors
/// As [`run`], or the service does not build.
pub(crate) fn build_and_run(root: &Path) -> Result<()> {
    install::provide(&[install::Step::Kernel], false)?;
    run_program(root, "cargo", &["build", "--package", "cli", "--locked", "--quiet"])?;
    run(root, &mut std::io::stderr())
}

/// Boots the guests and writes their results to `out`.
///
/// Needs the program `fourcorners` in the folder of this one: the tests build it.
///
/// # Errors
/// The guest cannot be prepared, did not boot or mount, or found a mistake of ours.
pub(crate) fn run(root: &Path, out: &mut dyn Write) -> Result<()> {
    let guest = root.join(GUEST);
    let logs = root.join("target/kernel-client");
    std::fs::create_dir_all(&logs)?;
    let cache = logs.join("guest");
    let prepared = Command::new(&guest).arg("prepare").arg(&cache).stdin(Stdio::null()).status();
    if !prepared.with_context(|| format!("start {}", guest.display()))?.success() {
        bail!("`{} prepare` failed; its messages are above", guest.display());
    }
    let mut service = Service::start(&logs)?;
    let outputs = std::thread::scope(|scope| {
        let boot = |mount| boot(&guest, &cache, &logs, service.port, mount);
        let guests = MOUNTS.map(|mount| scope.spawn(move || boot(mount)));
        guests.map(|guest| guest.join().expect("a thread that only waits for a program"))
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

/// What a guest does once it has mounted; each in files and folders of its own.
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

/// Shows what a guest said; wrong unless it ended well and used all of its connections.
fn judge(connections: u32, output: &Output, out: &mut dyn Write) -> Result<()> {
    let said = String::from_utf8_lossy(&output.stdout);
    for line in said.lines().chain(String::from_utf8_lossy(&output.stderr).lines()) {
        writeln!(out, "nconnect={connections}: {line}")?;
    }
    if !output.status.success() {
        bail!("the guest ended with {}", output.status);
    }
    let used = connections_used(&said);
    if used != connections {
        bail!("{used} of {connections} connections were used");
    }
    Ok(())
}

/// Connections with replies: `connection 3: received=7`, as the guest's `connections` prints them.
fn connections_used(said: &str) -> u32 {
    let is_used = |line: &&str| {
        line.starts_with("connection ")
            && line.rsplit_once("received=").is_some_and(|(_, count)| count.trim() != "0")
    };
    said.lines().filter(is_used).count() as u32
}

/// Our service in a process of its own; ends with this.
struct Service {
    child: Child,
    port: u16,
    log: PathBuf,
    /// What it says after that; closed, it could not say it.
    _output: Option<BufReader<ChildStdout>>,
}

impl Service {
    fn start(logs: &Path) -> Result<Service> {
        let log = logs.join("service.log");
        // Built into the same folder as this program, wherever cargo's target folder is.
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
            // It says where each export is: `nfs://127.0.0.1:33749/vol1?…`.
            if let Some(place) = line.trim().strip_prefix("nfs://127.0.0.1:") {
                let digits = place.split('/').next().unwrap_or_default();
                service.port = digits.parse().with_context(|| format!("a port in `{line}`"))?;
                service._output = Some(output);
                return Ok(service);
            }
            line.clear();
        }
        bail!("the service ended without saying where it is; see {}", service.log.display())
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
        // It may have ended by itself; then `is_alive` told.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_on_which_nothing_came_back_does_not_count() {
        let said = "data-test: 32 MiB written and read: equal\n\
            connection 1: received=3\nconnection 2: received=0\n";
        assert_eq!(connections_used(said), 1);
    }
}
