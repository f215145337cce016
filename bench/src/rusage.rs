//! Measures the run time and the peak memory of a program.
//!
//! getrusage(2) reports `ru_maxrss` of `RUSAGE_CHILDREN` for the largest child of a process, so
//! each program needs a parent with no other children: this program starts itself with
//! [`SUBCOMMAND`], and that process starts the program.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use nix::sys::resource::{UsageWho, getrusage};

/// The subcommand of the parent process: `bench measured FILE PROGRAM ARGUMENT...`.
pub(crate) const SUBCOMMAND: &str = "measured";

/// What a program printed and used.
#[derive(Clone, Debug)]
pub(crate) struct Usage {
    /// Wall-clock time from start to end.
    pub(crate) seconds: f64,
    /// Peak resident memory.
    pub(crate) peak_bytes: u64,
    /// Exit code; `None` if a signal ended the program.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a program to its end, with `folder` as its working directory.
pub(crate) fn measure(program: &Path, arguments: &[&str], folder: &Path) -> Result<Usage> {
    let file = folder.join(format!("measured-{}", std::process::id()));
    let parent = std::env::current_exe().context("find this program's path")?;
    let mut command = Command::new(parent);
    command.arg(SUBCOMMAND).arg(&file).arg(program).args(arguments).current_dir(folder);
    let ended = command.output().with_context(|| format!("start {}", program.display()))?;
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    ensure!(ended.status.success(), "measure {}: {stderr}", program.display());
    let text = std::fs::read_to_string(&file).context("read the usage")?;
    std::fs::remove_file(&file).context("remove the file with the usage")?;
    let (seconds, peak_bytes, code) = parse(&text).with_context(|| format!("read `{text}`"))?;
    let stdout = String::from_utf8_lossy(&ended.stdout).into_owned();
    Ok(Usage { seconds, peak_bytes, code, stdout, stderr })
}

/// In the parent process: runs the program and writes its usage to a file.
pub(crate) fn run_and_write(arguments: &[&str]) -> Result<()> {
    let [file, program, arguments @ ..] = arguments else {
        anyhow::bail!("usage: bench {SUBCOMMAND} FILE PROGRAM ARGUMENT...")
    };
    let begun = Instant::now();
    let status = Command::new(program).args(arguments).status();
    let status = status.with_context(|| format!("start {program}"))?;
    let seconds = begun.elapsed().as_secs_f64();
    // Linux counts in units of 1,024 bytes.
    let kib = getrusage(UsageWho::RUSAGE_CHILDREN).context("read the usage")?.max_rss();
    let code = status.code().map_or_else(|| "signal".to_owned(), |code| code.to_string());
    std::fs::write(file, format!("{seconds} {kib} {code}")).context("write the usage")
}

fn parse(text: &str) -> Option<(f64, u64, Option<i32>)> {
    let mut words = text.split_ascii_whitespace();
    let seconds = words.next()?.parse().ok()?;
    let kib: u64 = words.next()?.parse().ok()?;
    let code = match words.next()? {
        "signal" => None,
        code => Some(code.parse().ok()?),
    };
    Some((seconds, kib * 1024, code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_usage_is_parsed() {
        assert_eq!(parse("1.25 2048 0"), Some((1.25, 2 << 20, Some(0))));
        assert_eq!(parse("0.5 1 signal"), Some((0.5, 1024, None)));
        assert_eq!(parse("0.5 1"), None);
    }

    #[test]
    fn the_peak_memory_and_exit_code_of_a_child_are_written() {
        let folder = std::env::temp_dir();
        let file = folder.join(format!("usage-{}", std::process::id()));
        let path = file.to_str().expect("UTF-8");
        // Children of other tests in this process may be larger, never smaller.
        run_and_write(&[path, "sh", "-c", "exit 3"]).expect("there is a shell");
        let text = std::fs::read_to_string(&file).expect("it was written");
        std::fs::remove_file(&file).expect("it exists");
        let (seconds, peak_bytes, code) = parse(&text).expect("the form that was written");
        assert_eq!(code, Some(3));
        assert!(seconds > 0.0 && peak_bytes > 100 << 10, "{text}");
    }
}
