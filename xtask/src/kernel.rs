//! The step `kernel client` of `check`: the Linux kernel's own NFS client against our service.
//!
//! `../shared/kvm-nfs/guest` boots Debian's kernel in QEMU and mounts what this host serves. Three
//! guests run side by side, each with another `nconnect`; in each a tree of files is compared with
//! a local one, data is written and read back cold, and fio verifies what it wrote. Where the
//! processor cannot be virtualised it is emulated: this is about being right, not about speed.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use anyhow::{Context, Result, bail};

/// The guest's program, from the top of the checkout.
const GUEST: &str = "../shared/kvm-nfs/guest";

/// TCP connections of one mount (`nconnect` of nfs(5), which ends at 16).
const CONNECTIONS: [u32; 3] = [1, 8, 16];

/// Of one guest, boot included. Reached only when something hangs: emulated on two processors with
/// nothing else to do, all three are done in about a third of it.
const LIMIT_SECONDS: &str = "900";

/// Boots the guests and says what they found.
///
/// # Errors
/// The guest is missing or cannot be prepared, did not boot or mount, or found a mistake of ours.
pub(crate) fn run(root: &Path) -> Result<()> {
    let guest = root.join(GUEST);
    if !guest.is_file() {
        bail!(
            "{} is missing: the kernel's client runs in the guest that it boots",
            guest.display()
        );
    }
    let logs = root.join("target/kernel-client");
    std::fs::create_dir_all(&logs)?;
    let prepared = Command::new(&guest).arg("prepare").stdin(Stdio::null()).status();
    if !prepared.with_context(|| format!("start {}", guest.display()))?.success() {
        bail!("`{} prepare` failed; its messages are above", guest.display());
    }
    let mut service = Service::start(root, &logs)?;
    let outputs = std::thread::scope(|scope| {
        let boot = |connections| boot(&guest, &logs, service.port, connections);
        let guests = CONNECTIONS.map(|connections| scope.spawn(move || boot(connections)));
        guests.map(|guest| guest.join().expect("a thread that only waits for a program"))
    });
    let mut failed = Vec::new();
    for (connections, output) in CONNECTIONS.into_iter().zip(outputs) {
        if let Err(error) = judge(connections, &output?) {
            failed.push(format!("nconnect={connections}: {error:#}"));
        }
    }
    service.is_alive()?;
    if failed.is_empty() { Ok(()) } else { bail!("{}", failed.join("\n")) }
}

/// What a guest does once it has mounted; each in files and folders of its own.
fn commands(connections: u32) -> String {
    format!(
        "tree-test && data-test 32 && \
         fio --name=fio-{connections} --directory=/mnt --rw=randrw --bs=8k --size=8m --direct=1 \
         --ioengine=libaio --iodepth=16 --verify=crc32c --minimal >/tmp/fio && \
         echo 'fio: verified' && nconnect"
    )
}

fn boot(guest: &Path, logs: &Path, port: u16, connections: u32) -> Result<Output> {
    Command::new(guest)
        .args(["run", "--server", &format!("127.0.0.1:{port}"), "--export", "/vol1"])
        .args(["--options", &format!("nconnect={connections}"), "--timeout", LIMIT_SECONDS])
        .args(["--cpus", "1", "--memory", "768", "--log"])
        .arg(logs.join(format!("console-{connections}.log")))
        .args(["--", &commands(connections)])
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("start {}", guest.display()))
}

/// Shows what a guest said; wrong unless it ended well and used all of its connections.
fn judge(connections: u32, output: &Output) -> Result<()> {
    let said = String::from_utf8_lossy(&output.stdout);
    let mut err = std::io::stderr();
    for line in said.lines().chain(String::from_utf8_lossy(&output.stderr).lines()) {
        writeln!(err, "nconnect={connections}: {line}")?;
    }
    if !output.status.success() {
        bail!("the guest ended with {}", output.status);
    }
    let used = transports_used(&said);
    if used != connections {
        bail!("{used} of {connections} connections were used");
    }
    Ok(())
}

/// `transport 3: tcp local_port=840 connects=2 sent=7 received=7`, as the guest's `nconnect` says.
fn transports_used(said: &str) -> u32 {
    let is_used = |line: &&str| {
        line.starts_with("transport ")
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
    fn start(root: &Path, logs: &Path) -> Result<Service> {
        let log = logs.join("service.log");
        let mut build = Command::new("cargo");
        build.args(["build", "--package", "cli", "--locked", "--quiet"]).current_dir(root);
        if !build.status().context("start cargo")?.success() {
            bail!("the service could not be built");
        }
        let mut child = Command::new(root.join("target/debug/fourcorners"))
            .args(["volume", "serve", "--no-limits", "--metrics", "none"])
            .args(["--address", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log)?)
            .spawn()
            .context("start the service")?;
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
        let said = "nconnect=2 transports=2\n\
            transport 1: tcp local_port=676 connects=2 sent=3 received=3\n\
            transport 2: tcp local_port=0 connects=0 sent=0 received=0\n";
        assert_eq!(transports_used(said), 1);
    }

    #[test]
    fn a_checkout_without_the_guest_is_told_so() {
        let error = run(Path::new("/nowhere/at/all")).expect_err("there is no guest");
        assert!(error.to_string().contains("kvm-nfs/guest is missing"), "{error}");
    }
}
