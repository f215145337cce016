//! Starts the binary with a separate store and target on a real disk, and waits for its output.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Longer than any of these tests takes on a slow, busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A directory on a real disk with a store and a target, removed when dropped.
pub(crate) struct TestDir {
    root: TempDir,
    /// The command that starts the program; by default the binary itself.
    starter: Option<Command>,
}

/// Exit code and output of a program.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl TestDir {
    /// `target` exists and is empty; `store` does not exist yet.
    pub(crate) fn new() -> TestDir {
        let root = TempDir::with_prefix_in("program-", env!("CARGO_TARGET_TMPDIR"))
            .expect("make a directory for the test");
        std::fs::create_dir(root.path().join("target")).expect("make the target directory");
        TestDir { root, starter: None }
    }

    /// Starts the program by this command from now on, which must exec it.
    pub(crate) fn enter(&mut self, starter: Command) {
        self.starter = Some(starter);
    }

    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn target(&self) -> PathBuf {
        self.root.path().join("target")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.root.path().join("store")
    }

    /// Writes a file into the directory and returns its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.root.path().join(name);
        std::fs::write(&path, text).expect("write a file of the test");
        path
    }

    /// The binary with these arguments, without the user's environment.
    pub(crate) fn command<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Command {
        // A shell starts background jobs with SIGINT ignored, which the program would inherit.
        let mut command = Command::new("env");
        command.args(["--default-signal=INT", env!("CARGO_BIN_EXE_fourcorners")]);
        if let Some(starter) = &self.starter {
            command = Command::new(starter.get_program());
            command.args(starter.get_args());
        }
        command
            .args(arguments)
            .current_dir(self.root.path())
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_STATE_HOME")
            .env_remove("FOURCORNERS_SPOOL")
            .env_remove("NO_COLOR")
            .env_remove("RUST_BACKTRACE")
            .env("HOME", self.root.path())
            .env("COLUMNS", "80")
            .env("FOURCORNERS_STORE", self.store())
            .stdin(Stdio::null());
        command
    }

    /// Runs it to its end.
    pub(crate) fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Ended {
        self.start(arguments).end()
    }

    /// Runs it to its end, which must be exit code 0, and returns its stdout.
    pub(crate) fn ok<A: AsRef<OsStr> + std::fmt::Debug>(&self, arguments: &[A]) -> String {
        let ended = self.run(arguments);
        assert_eq!(ended.code, Some(0), "{arguments:?}\n{}\n{}", ended.stdout, ended.stderr);
        ended.stdout
    }

    /// Runs a measurement to its end and returns its stdout. Exit code 1 is accepted: a busy host
    /// may not reach an offered rate.
    pub(crate) fn measured<A: AsRef<OsStr> + std::fmt::Debug>(&self, arguments: &[A]) -> String {
        let ended = self.run(arguments);
        let complete = matches!(ended.code, Some(0 | 1));
        assert!(complete, "{arguments:?}\n{}\n{}", ended.stdout, ended.stderr);
        ended.stdout
    }

    /// Starts it and returns immediately.
    pub(crate) fn start<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Running {
        let mut child = self
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("start the program");
        let (send, lines) = channel();
        let stdout = child.stdout.take().expect("stdout is a pipe");
        let stderr = child.stderr.take().expect("stderr is a pipe");
        let send_stderr = send.clone();
        let readers = [
            std::thread::spawn(move || {
                read_lines(stdout, |line| {
                    let _ = send.send(line.to_owned());
                })
            }),
            std::thread::spawn(move || {
                read_lines(stderr, |line| {
                    let _ = send_stderr.send(line.to_owned());
                })
            }),
        ];
        Running { child, lines, readers: Some(readers), deadline: Instant::now() + TIMEOUT }
    }
}

/// Reads to the end, passes each line to `each`, and returns everything.
fn read_lines(from: impl Read, mut each: impl FnMut(&str)) -> String {
    let mut from = BufReader::new(from);
    let mut all = String::new();
    loop {
        let before = all.len();
        match from.read_line(&mut all) {
            Ok(0) | Err(_) => return all,
            Ok(_) => each(&all[before..]),
        }
    }
}

/// A program that runs.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
    readers: Option<[JoinHandle<String>; 2]>,
    deadline: Instant,
}

impl Running {
    /// Waits until it prints a line with `text` on stdout or stderr.
    pub(crate) fn wait_for(&self, text: &str) -> String {
        self.next_line(|line| line.contains(text))
            .unwrap_or_else(|| panic!("the program ended or stalled without printing `{text}`"))
    }

    /// The next line that `is_it` accepts; `None` if the program ended or stalled.
    pub(crate) fn next_line(&self, is_it: impl Fn(&str) -> bool) -> Option<String> {
        loop {
            let timeout = self.deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(timeout) {
                Ok(line) if is_it(&line) => return Some(line),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// Its process ID.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by its name to this child and to nothing else.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args(["-s", name, &self.id().to_string()])
            .status()
            .expect("start kill");
        assert!(sent.success(), "signal {name} was not sent");
    }

    /// Waits for its end, which others may have delayed for longer than a program may take.
    pub(crate) fn end(mut self) -> Ended {
        self.deadline = Instant::now() + TIMEOUT;
        let [stdout, stderr] = self.readers.take().expect("a program ends once");
        // Both pipes close when it ends; a stalled program is killed after the timeout.
        let stalled = loop {
            let timeout = self.deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(timeout) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => break false,
                Err(RecvTimeoutError::Timeout) => break true,
            }
        };
        if stalled {
            let _ = self.child.kill();
        }
        let status: ExitStatus = self.child.wait().expect("wait for the program");
        let ended = Ended {
            code: status.code(),
            stdout: stdout.join().expect("read stdout"),
            stderr: stderr.join().expect("read stderr"),
        };
        assert!(!stalled, "the program did not end\n{}\n{}", ended.stdout, ended.stderr);
        ended
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // No effect after `end`; after a failed assertion it ends the child.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Text for comparison with a stored file: without this directory's path and this version.
pub(crate) fn golden(text: &str, dir: &TestDir) -> String {
    let path = dir.path().to_str().expect("the test's path is text");
    text.replace(path, "PLACE").replace(env!("CARGO_PKG_VERSION"), "VERSION")
}
