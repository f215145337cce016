//! The time from the start of the program to the start of its first run.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// Starts the program with `--events jsonl` among its arguments, waits for its first run, and then for
/// its end.
pub(super) fn seconds_until_run(program: &Path, arguments: &[&str], folder: &Path) -> Result<f64> {
    let begun = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("start {}", program.display()))?;
    let output = child.stdout.take().expect("it is piped");
    let mut seconds = None;
    for line in BufReader::new(output).lines() {
        let line = line.context("read the events")?;
        if seconds.is_none() && is_run_started(&line) {
            seconds = Some(begun.elapsed().as_secs_f64());
        }
    }
    let status = child.wait().context("wait for the program")?;
    ensure!(status.success(), "{} ended with {status}", program.display());
    seconds.context("no run started")
}

/// Whether a line is the start of a phase of a run; the prepare phase of the plan has no run.
fn is_run_started(line: &str) -> bool {
    let event: Value = serde_json::from_str(line).unwrap_or_default();
    event["event"] == "phase_started" && event["run_index"].is_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prepare_phase_is_not_the_start_of_a_run() {
        assert!(!is_run_started(r#"{"event":"phase_started","phase":"prepare"}"#));
        assert!(is_run_started(r#"{"event":"phase_started","run_index":0,"phase":"warm_up"}"#));
        assert!(!is_run_started(r#"{"event":"run_finished","run_index":0}"#));
    }
}
