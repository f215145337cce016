//! Runs a program to its end and measures its CPU time and memory.

use std::fs::File;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::process::{children_cpu_seconds, memory_bytes};

/// The processor on which both sides run.
pub(crate) const PROCESSOR: &str = "1";

/// The output of a program and its cost.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    pub(crate) stdout: String,
    /// User and system time of the program and its children, in seconds.
    pub(crate) cpu_seconds: f64,
    /// Peak resident memory, in bytes.
    pub(crate) resident_max_bytes: u64,
}

/// Runs a program to its end; with `pinned`, on [`PROCESSOR`].
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
        // The high-water mark only grows, so the last reading before the end counts.
        resident_max_bytes = resident_max_bytes.max(memory_bytes(child.id(), "VmHWM").unwrap_or(0));
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

/// A file for a child's output: a pipe without a reader could fill up and block the child.
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
