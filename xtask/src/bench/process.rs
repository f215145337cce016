//! Processes that serve while something is measured, and what they cost.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Where servers run.
pub(crate) const SERVER_PROCESSOR: &str = "0";
/// Where clients run.
pub(crate) const CLIENT_PROCESSOR: &str = "1";
/// Clock ticks per second in `/proc/PID/stat` (proc(5): `sysconf(_SC_CLK_TCK)`, 100 on Linux).
const TICKS_PER_SECOND: f64 = 100.0;
/// How long a server may take until it listens.
const START_LIMIT: Duration = Duration::from_secs(20);

/// Brings up loopback, and gives servers a `/run` of their own to leave their files in.
pub(crate) fn prepare_namespaces() -> Result<()> {
    run("ip", &["link", "set", "lo", "up"])?;
    run("mount", &["-t", "tmpfs", "tmpfs", "/run"])?;
    std::fs::create_dir_all("/run/ganesha").context("make /run/ganesha")
}

fn run(program: &str, arguments: &[&str]) -> Result<()> {
    let status = Command::new(program).args(arguments).status();
    if status.with_context(|| format!("start {program}"))?.success() {
        return Ok(());
    }
    bail!("{program} {} failed", arguments.join(" "))
}

/// A program that runs until this is dropped.
pub(crate) struct Running {
    child: Child,
    name: String,
}

impl Running {
    /// Starts a program on a processor; what it says goes to a file in `scratch` that is named by
    /// both: a client and a service are one program.
    pub(crate) fn start(
        program: &Path,
        arguments: &[&str],
        processor: &str,
        scratch: &Path,
    ) -> Result<Running> {
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let messages = File::create(scratch.join(format!("{name}-{processor}.log")))?;
        let child = Command::new("taskset")
            .args(["-c", processor])
            .arg(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(messages)
            .spawn()
            .with_context(|| format!("start {}", program.display()))?;
        Ok(Running { child, name })
    }

    /// The first line that it prints.
    pub(crate) fn first_line(&mut self) -> Result<String> {
        let out = self.child.stdout.take().context("the first line is read once")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        if line.is_empty() {
            bail!("{} ended without a word", self.name);
        }
        Ok(line.trim().to_owned())
    }

    /// Waits until it takes connections at `address`.
    pub(crate) fn wait_for(&mut self, address: &str) -> Result<()> {
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            if let Some(status) = self.child.try_wait()? {
                bail!("{} ended with {status} before it listened at {address}", self.name);
            }
            if begun.elapsed() > START_LIMIT {
                bail!("{} does not listen at {address}", self.name);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// It has not ended.
    pub(crate) fn must_run(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            Some(status) => bail!("{} ended with {status}", self.name),
            None => Ok(()),
        }
    }

    /// `taskset` replaces itself, so this is the program's own number.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// User and system time so far, in seconds.
    pub(crate) fn cpu_seconds(&self) -> Result<f64> {
        cpu_seconds(self.pid())
    }

    /// A line of its `/proc/PID/status` that counts kibibytes, in bytes: `VmRSS`, `VmHWM`.
    pub(crate) fn memory_bytes(&self, what: &str) -> Result<u64> {
        memory_bytes(self.pid(), what)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself; there is nobody left to tell.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// CPU time of a process with all its threads: fields 14 and 15 of `/proc/PID/stat` (proc(5)).
fn cpu_seconds(pid: u32) -> Result<f64> {
    stat_seconds(&format!("/proc/{pid}/stat"), 14)
}

/// CPU time of all children of this process that have ended: fields 16 and 17.
pub(crate) fn children_cpu_seconds() -> Result<f64> {
    stat_seconds("/proc/self/stat", 16)
}

/// The sum of a field and the next, in seconds. What stands before the command's closing
/// parenthesis may hold anything; the field behind it is the third.
fn stat_seconds(path: &str, field: usize) -> Result<f64> {
    let stat = std::fs::read_to_string(path).with_context(|| format!("read {path}"))?;
    let fields = stat.rsplit_once(')').with_context(|| format!("read {path}"))?.1;
    let ticks: u64 = fields
        .split_ascii_whitespace()
        .skip(field - 3)
        .take(2)
        .map(|field| field.parse::<u64>().with_context(|| format!("read {path}")))
        .sum::<Result<u64>>()?;
    Ok(ticks as f64 / TICKS_PER_SECOND)
}

/// See [`Running::memory_bytes`].
pub(crate) fn memory_bytes(pid: u32, what: &str) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(':'));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")).context("read status")?;
    Ok(kib.trim().parse::<u64>()? * 1024)
}
