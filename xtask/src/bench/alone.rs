//! Runs a program from a process that starts nothing else, so that what the kernel says of ended
//! children is of that program alone: how long it took, and the most memory it had.
//!
//! getrusage(2): `ru_maxrss` of `RUSAGE_CHILDREN` is that of the largest child that was waited for.
//! So the bench starts itself with [`WORD`], and that process starts the program.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use nix::sys::resource::{UsageWho, getrusage};

/// What asks this program to be such a process: `bench measured FILE PROGRAM WORD...`.
pub(crate) const WORD: &str = "measured";

/// What a program said and what it took.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    /// From its start to its end.
    pub(crate) seconds: f64,
    /// The most resident memory that it had.
    pub(crate) peak_bytes: u64,
    /// Its exit code; nothing where a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a program in `folder` to its end.
pub(crate) fn take(program: &Path, words: &[&str], folder: &Path) -> Result<Taken> {
    let file = folder.join(format!("measured-{}", std::process::id()));
    let own = std::env::current_exe().context("find this program")?;
    let mut command = Command::new(own);
    command.args(["bench", WORD]).arg(&file).arg(program).args(words).current_dir(folder);
    let ended = command.output().with_context(|| format!("start {}", program.display()))?;
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    ensure!(ended.status.success(), "measure {}: {stderr}", program.display());
    let told = std::fs::read_to_string(&file).context("read what it took")?;
    std::fs::remove_file(&file).context("remove what it took")?;
    let (seconds, peak_bytes, code) = parse(&told).with_context(|| format!("read `{told}`"))?;
    let stdout = String::from_utf8_lossy(&ended.stdout).into_owned();
    Ok(Taken { seconds, peak_bytes, code, stdout, stderr })
}

/// In the process of its own: runs the program and writes what it took.
pub(crate) fn in_a_process_of_its_own(words: &[&str]) -> Result<()> {
    let [file, program, words @ ..] = words else {
        anyhow::bail!("bench {WORD} FILE PROGRAM WORD...")
    };
    let begun = Instant::now();
    let status = Command::new(program).args(words).status();
    let status = status.with_context(|| format!("start {program}"))?;
    let seconds = begun.elapsed().as_secs_f64();
    // Linux counts in units of 1,024 bytes.
    let kib = getrusage(UsageWho::RUSAGE_CHILDREN).context("ask what it took")?.max_rss();
    let code = status.code().map_or_else(|| "signal".to_owned(), |code| code.to_string());
    std::fs::write(file, format!("{seconds} {kib} {code}")).context("write what it took")
}

fn parse(told: &str) -> Option<(f64, u64, Option<i32>)> {
    let mut words = told.split_ascii_whitespace();
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
    fn what_was_written_is_read() {
        assert_eq!(parse("1.25 2048 0"), Some((1.25, 2 << 20, Some(0))));
        assert_eq!(parse("0.5 1 signal"), Some((0.5, 1024, None)));
        assert_eq!(parse("0.5 1"), None);
    }

    #[test]
    fn the_kernel_tells_how_much_memory_a_child_had() {
        let folder = std::env::temp_dir();
        let file = folder.join(format!("alone-{}", std::process::id()));
        let path = file.to_str().expect("UTF-8");
        // A child of this test's; others of the same process may have been larger.
        in_a_process_of_its_own(&[path, "sh", "-c", "exit 3"]).expect("there is a shell");
        let told = std::fs::read_to_string(&file).expect("it was written");
        std::fs::remove_file(&file).expect("it is there");
        let (seconds, peak_bytes, code) = parse(&told).expect("it is in form");
        assert_eq!(code, Some(3));
        assert!(seconds > 0.0 && peak_bytes > 100 << 10, "{told}");
    }
}
