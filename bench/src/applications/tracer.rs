//! Traces processes with strace, with the options that `docs/guide/observe.md` states.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

/// `-s 0` leaves out the data, which is not observed; the others are those of the guide.
const OPTIONS: [&str; 6] = ["-f", "-ttt", "-T", "-y", "-s", "0"];
/// Time limit for strace to attach or to detach.
const TIMEOUT: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);

/// strace, attached to running processes; killed on drop.
pub(crate) struct Tracer {
    child: Child,
    trace: PathBuf,
}

impl Tracer {
    /// Attaches to processes with their threads and later children; returns when all are attached.
    ///
    /// * `trace` - the file to write; messages are written next to it
    pub(crate) fn attach(processes: &[u32], trace: &Path) -> Result<Tracer> {
        let messages = trace.with_extension("messages");
        let mut command = Command::new("strace");
        command.args(OPTIONS).arg("-o").arg(trace);
        for process in processes {
            command.args(["-p", &process.to_string()]);
        }
        command.stdin(Stdio::null()).stderr(File::create(&messages)?);
        let mut tracer =
            Tracer { child: command.spawn().context("start strace")?, trace: trace.to_path_buf() };
        let begun = Instant::now();
        loop {
            let text = std::fs::read_to_string(&messages)?;
            let is_attached = |process: &u32| text.contains(&format!("Process {process} attached"));
            if processes.iter().all(is_attached) {
                return Ok(tracer);
            }
            let has_ended = tracer.child.try_wait()?.is_some();
            ensure!(!has_ended && begun.elapsed() < TIMEOUT, "attach strace: {text}");
            std::thread::sleep(POLL);
        }
    }

    /// Detaches; returns the trace.
    pub(crate) fn stop(mut self) -> Result<PathBuf> {
        interrupt(self.child.id())?;
        wait(&mut self.child, "strace", TIMEOUT)?;
        Ok(self.trace.clone())
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        // Fails if it has ended already, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command with its children to its end under strace.
pub(crate) fn run(command: &Command, trace: &Path, limit: Duration) -> Result<String> {
    let log = trace.with_extension("log");
    let output = File::create(&log)?;
    let mut child = Command::new("strace")
        .args(OPTIONS)
        .arg("-o")
        .arg(trace)
        .arg(command.get_program())
        .args(command.get_args())
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .spawn()
        .context("start strace")?;
    let ended = wait(&mut child, "the application", limit);
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    ended.with_context(|| text.clone())?;
    Ok(text)
}

/// Asks a process to end.
pub(crate) fn interrupt(process: u32) -> Result<()> {
    let status = Command::new("kill").args(["-s", "INT", &process.to_string()]).status();
    ensure!(status.context("start kill")?.success(), "interrupt process {process}");
    Ok(())
}

/// Waits for a process and requires that it ended without an error or by a signal that it got from here.
pub(crate) fn wait(child: &mut Child, what: &str, limit: Duration) -> Result<()> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            ensure!(
                status.success() || status.code().is_none_or(|code| code > 128),
                "{what}: {status}"
            );
            return Ok(());
        }
        if begun.elapsed() > limit {
            child.kill().with_context(|| format!("end {what}"))?;
            child.wait()?;
            bail!("{what} did not end within {} s", limit.as_secs());
        }
        std::thread::sleep(POLL);
    }
}
