//! Processes that run during a measurement, and their CPU time and memory.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

pub(crate) const SERVER_PROCESSOR: &str = "0";
pub(crate) const CLIENT_PROCESSOR: &str = "1";
/// Clock ticks per second in `/proc/PID/stat` (proc(5): `sysconf(_SC_CLK_TCK)`, 100 on Linux).
const TICKS_PER_SECOND: f64 = 100.0;
/// Time limit for a server to start listening.
const START_LIMIT: Duration = Duration::from_secs(20);

/// In new namespaces: brings up loopback and mounts an empty `/run` for the files of servers.
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

/// A running program; killed on drop.
pub(crate) struct Running {
    child: Child,
    name: String,
}

impl Running {
    /// Starts a program on a processor. Its messages go to `PROGRAM-PROCESSOR.log` in `scratch`;
    /// the processor tells client and service apart, which are the same program.
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

    /// Reads the first line of its output.
    pub(crate) fn first_line(&mut self) -> Result<String> {
        let out = self.child.stdout.take().context("the first line was already read")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        if line.is_empty() {
            bail!("{} ended without output", self.name);
        }
        Ok(line.trim().to_owned())
    }

    /// Waits until it accepts connections at `address`.
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

    /// Fails if it has ended.
    pub(crate) fn check_running(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            Some(status) => bail!("{} ended with {status}", self.name),
            None => Ok(()),
        }
    }

    /// Process id of the program: `taskset` replaces itself with it.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// User and system time so far, in seconds.
    pub(crate) fn cpu_seconds(&self) -> Result<f64> {
        cpu_seconds(self.pid())
    }

    /// A memory field of its `/proc/PID/status` (`VmRSS`, `VmHWM`), in bytes.
    pub(crate) fn memory_bytes(&self, what: &str) -> Result<u64> {
        memory_bytes(self.pid(), what)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Fails if it has ended already, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// CPU time of a process and all its threads: fields 14 and 15 of `/proc/PID/stat` (proc(5)).
fn cpu_seconds(pid: u32) -> Result<f64> {
    stat_seconds(&format!("/proc/{pid}/stat"), 14)
}

/// CPU time of all ended children of this process: fields 16 and 17.
pub(crate) fn children_cpu_seconds() -> Result<f64> {
    stat_seconds("/proc/self/stat", 16)
}

/// The sum of a field and the next one, in seconds. Fields are counted from the third, which
/// follows the closing parenthesis of the command: the command may contain blanks.
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
