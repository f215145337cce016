//! Runs a program to its end and says what it cost.

use std::fs::File;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// The processor on which both sides run.
pub(crate) const PROCESSOR: &str = "1";
/// Clock ticks per second in `/proc/PID/stat` (proc(5): `sysconf(_SC_CLK_TCK)`, 100 on Linux).
const TICKS_PER_SECOND: f64 = 100.0;

/// What a program printed and what it cost.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    /// Its standard output.
    pub(crate) stdout: String,
    /// User and system time of it and its children, in seconds.
    pub(crate) cpu_seconds: f64,
    /// Largest resident memory that was seen, in bytes.
    pub(crate) resident_max_bytes: u64,
}

/// Runs a program to its end; with `pinned` on one processor.
pub(crate) fn run(program: &str, arguments: &[String], pinned: bool) -> Result<Finished> {
    let before = children_cpu_seconds()?;
    let output = tempfile()?;
    let messages = tempfile()?;
    let mut command = if pinned {
        let mut command = Command::new("taskset");
        command.args(["-c", PROCESSOR, program]);
        command
    } else {
        Command::new(program)
    };
    command.args(arguments).stdout(output.try_clone()?).stderr(messages.try_clone()?);
    let mut child = command.spawn().with_context(|| format!("start {program}"))?;
    let mut resident_max_bytes = 0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        // The high-water mark only grows, so the last look before the end is the one that counts.
        resident_max_bytes = resident_max_bytes.max(high_water(child.id()).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(20));
    };
    let stdout = read_back(output)?;
    if !status.success() {
        let messages = read_back(messages)?;
        bail!("{program} {} ended with {status}: {stdout}{messages}", arguments.join(" "));
    }
    let cpu_seconds = children_cpu_seconds()? - before;
    Ok(Finished { stdout, cpu_seconds, resident_max_bytes })
}

/// CPU time of all children that have ended: fields 16 and 17 of `/proc/self/stat`, counted after
/// the command's closing parenthesis (proc(5)).
fn children_cpu_seconds() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit_once(')').context("read /proc/self/stat")?.1;
    let ticks: u64 = fields
        .split_ascii_whitespace()
        .skip(13)
        .take(2)
        .map(|field| field.parse::<u64>().context("read /proc/self/stat"))
        .sum::<Result<u64>>()?;
    Ok(ticks as f64 / TICKS_PER_SECOND)
}

fn high_water(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// A file for a child's output: a pipe that nobody reads while it runs could fill up.
fn tempfile() -> Result<File> {
    let path = std::env::temp_dir().join(format!("bench-output-{}", std::process::id()));
    let file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

fn read_back(mut file: File) -> Result<String> {
    use std::io::{Read, Seek};
    let mut text = String::new();
    file.rewind()?;
    file.read_to_string(&mut text)?;
    Ok(text)
}
