//! The applications: each is started in a folder, with its settings, and traced under its load.

pub(crate) mod build;
pub(crate) mod dbench;
pub(crate) mod fdatasync;
pub(crate) mod mariadb;
pub(crate) mod postgres;
pub(crate) mod sqlite;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::tracer::{self, Tracer};

/// Time limit for a server to start or to end.
const SERVER_TIMEOUT: Duration = Duration::from_secs(60);
/// A process of a server that serves a client ends this long after it, at most.
const CLIENTS_END: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(50);

/// A traced application.
#[derive(Clone, Debug)]
pub(crate) struct Traced {
    pub(crate) trace: PathBuf,
    /// The path of its files.
    pub(crate) under: PathBuf,
    pub(crate) version: String,
    /// How it was set and loaded, for the document.
    pub(crate) settings: String,
}

/// A database server; killed on drop.
struct Server {
    child: Child,
    /// The signal that ends it in order.
    signal: &'static str,
}

impl Server {
    /// Starts it and waits until it answers. Its messages go to `server.log` in the folder.
    fn start(
        mut command: Command,
        folder: &Path,
        signal: &'static str,
        answers: impl Fn() -> bool,
    ) -> Result<Server> {
        let log = folder.join("server.log");
        let output = File::create(&log)?;
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output).current_dir(folder);
        let mut server = Server { child: command.spawn().context("start the server")?, signal };
        let begun = Instant::now();
        while !answers() {
            let has_ended = server.child.try_wait()?.is_some();
            if has_ended || begun.elapsed() > SERVER_TIMEOUT {
                let log = std::fs::read_to_string(&log).unwrap_or_default();
                ensure!(false, "the server does not answer: {log}");
            }
            std::thread::sleep(POLL);
        }
        Ok(server)
    }

    /// Traces the server and its children while a load runs.
    fn trace(&self, trace: &Path, load: &mut Command) -> Result<PathBuf> {
        let earlier = self.children()?;
        // The processes of earlier clients end meanwhile.
        std::thread::sleep(CLIENTS_END);
        let mut processes = self.children()?;
        processes.retain(|process| earlier.contains(process));
        processes.push(self.child.id());
        let tracer = Tracer::attach(&processes, trace)?;
        let status = load.status().context("start the load")?;
        ensure!(status.success(), "the load ended with {status}");
        tracer.stop()
    }

    fn children(&self) -> Result<Vec<u32>> {
        let server = self.child.id();
        let children = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children"));
        let children = children.context("read the processes of the server")?;
        Ok(children.split_whitespace().filter_map(|child| child.parse().ok()).collect())
    }

    fn stop(mut self) -> Result<()> {
        let sent =
            Command::new("kill").args(["-s", self.signal, &self.child.id().to_string()]).status();
        ensure!(sent.context("start kill")?.success(), "end the server");
        tracer::wait(&mut self.child, "the server", SERVER_TIMEOUT)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Fails if it has ended already, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The first line that a program prints.
fn first_line(program: &str, argument: &str) -> Result<String> {
    let output = Command::new(program).arg(argument).output();
    let output = output.with_context(|| format!("start {program}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().trim().to_owned())
}
