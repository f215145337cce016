//! The controller's shell: a process for each host, its pipes, and `poll`.
//!
//! Agents end when their pipe does, so nothing remains on a host when this process ends in any way.

use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::agent_loop::unix_ns;
use crate::ask::{Answer, Ask};
use crate::controller::{Action, Controller, Lost};
use crate::host_list::Host;
use crate::launch::{AgentProgram, Launcher};
use crate::links::Links;
use crate::message::Build;

/// Longest wait between two looks at deadlines and at Ctrl-C.
const TURN: Duration = Duration::from_millis(100);
/// A look at all pipes that takes longer was interrupted: this process was stopped, or the machine slept.
const INTERRUPTED_NS: u64 = 1_000_000_000;
/// Looks in one turn, also if each is interrupted.
const LOOKS_MAX: usize = 3;
/// Time for a process to end after its pipe did, before it is killed: an agent releases its target.
const END_WITHIN: Duration = Duration::from_secs(3);
/// What is kept of a process's last words on standard error.
const LAST_WORDS_BYTES: usize = 4 << 10;
const READ_BYTES: usize = 64 << 10;

/// The sessions with agents on all hosts, over the pipes of one process for each.
#[derive(Debug)]
pub struct Pipes {
    hosts: Vec<Host>,
    agent: AgentProgram,
    begun: Instant,
    controller: Controller,
    /// `pipes[host]`: `None` once it ended.
    pipes: Vec<Option<Pipe>>,
    bytes: Vec<u8>,
}

impl Pipes {
    /// Starts the agents.
    ///
    /// * `build` - of this program; agents must have the same
    pub fn open(hosts: &[Host], agent: &AgentProgram, build: &Build) -> Pipes {
        let copies: Vec<bool> = hosts.iter().map(|host| host.launcher.copies(agent)).collect();
        let mut all = Pipes {
            hosts: hosts.to_vec(),
            agent: agent.clone(),
            begun: Instant::now(),
            controller: Controller::new(&copies, build, 0, unix_ns(SystemTime::now())),
            pipes: Vec::with_capacity(hosts.len()),
            bytes: vec![0; READ_BYTES],
        };
        for (host, one) in hosts.iter().enumerate() {
            let pipe = Pipe::open(one, agent);
            all.pipes.push(pipe.map_err(|why| all.controller.closed(host, why)).ok());
        }
        all
    }

    /// Reads from and writes to a host what is possible without blocking.
    fn exchange(&mut self, host: usize) {
        let Some(pipe) = &mut self.pipes[host] else { return };
        let has_copied = pipe.write_queued();
        pipe.last_words.hear();
        let read = pipe.output.read(&mut self.bytes);
        let now_ns = self.now_ns();
        self.controller.set_wall_clock(unix_ns(SystemTime::now()).saturating_sub(now_ns));
        if has_copied {
            self.controller.copied(host, now_ns);
        }
        match read {
            Ok(0) => {
                let pipe = self.pipes[host].take().expect("it was just read");
                let last = pipe.end(END_WITHIN);
                let Host { launcher, name } = &self.hosts[host];
                let remedy = match self.controller.hello(host) {
                    None => launcher.remedy(name, last.code(), &last.words),
                    Some(_) => launcher.remedy_when_connected(name, last.code(), &last.words),
                };
                self.controller.closed(host, last.why(remedy));
            }
            Ok(count) => self.controller.received(host, &self.bytes[..count], now_ns),
            Err(error) if is_later(&error) => {}
            Err(error) => self.controller.closed(host, format!("read from its agent: {error}")),
        }
    }
}

impl Links for Pipes {
    fn controller(&mut self) -> &mut Controller {
        &mut self.controller
    }

    fn names(&self) -> Vec<String> {
        self.hosts.iter().map(|host| host.name.clone()).collect()
    }

    fn earlier_name_of(&self, host: usize) -> Option<&str> {
        let is_ssh = |host: usize| self.hosts[host].launcher == Launcher::Ssh;
        let hello = self.controller.hello(host).filter(|_| is_ssh(host))?;
        let is_same = |earlier: &usize| {
            let of_earlier = self.controller.hello(*earlier).filter(|_| is_ssh(*earlier));
            of_earlier.is_some_and(|earlier| earlier.is_on_same_host(hello))
        };
        (0..host).find(is_same).map(|earlier| self.hosts[earlier].name.as_str())
    }

    /// Nanoseconds since the sessions were opened.
    fn now_ns(&self) -> u64 {
        self.begun.elapsed().as_nanos() as u64
    }

    fn turn(&mut self, longest: Duration) {
        self.perform();
        let mut longest = longest.min(TURN);
        let mut looked_ns = self.now_ns();
        for _look in 0..LOOKS_MAX {
            for host in ready(&self.pipes, longest) {
                self.exchange(host);
            }
            let now_ns = self.now_ns();
            if now_ns - looked_ns < INTERRUPTED_NS {
                break;
            }
            // No host is silent because this process did not read: what has arrived counts.
            (looked_ns, longest) = (now_ns, Duration::ZERO);
        }
        self.controller.tick(looked_ns);
        self.perform();
    }

    fn perform(&mut self) {
        while let Some(action) = self.controller.next_action() {
            match action {
                Action::Send { host, bytes } => {
                    if let Some(pipe) = &mut self.pipes[host] {
                        pipe.queued.extend(bytes);
                        pipe.write_queued();
                    }
                }
                Action::SendCopy { host } => {
                    if let Some(pipe) = &mut self.pipes[host] {
                        let copy = self.agent.copy.as_ref();
                        pipe.copy = copy.map(|copy| (Arc::clone(&copy.bytes), 0));
                    }
                }
                Action::Abandon { host } => {
                    if let Some(pipe) = self.pipes[host].take() {
                        pipe.end(Duration::ZERO);
                    }
                }
                Action::Close { host } => {
                    if let Some(pipe) = self.pipes[host].take() {
                        pipe.end(END_WITHIN);
                    }
                }
            }
        }
    }
}

impl Drop for Pipes {
    /// Ends the pipes of all hosts before it waits for any of their processes.
    fn drop(&mut self) {
        let ending: Vec<EndingPipe> =
            self.pipes.iter_mut().filter_map(|pipe| Some(pipe.take()?.close())).collect();
        for pipe in ending {
            pipe.end(END_WITHIN);
        }
    }
}

/// Asks an agent on each host to do `work` and waits for the answers. A host whose agent does not show that
/// it is alive is lost within stated times.
///
/// * `build` - of this program; agents must have the same
/// * `observe` - gets the answers so far, and may end the wait
pub fn ask(
    hosts: &[Host],
    agent: &AgentProgram,
    build: &Build,
    work: Vec<u8>,
    observe: &mut dyn FnMut(&Ask) -> ControlFlow<()>,
) -> Vec<Result<Answer, Lost>> {
    let mut pipes = Pipes::open(hosts, agent, build);
    let mut ask = Ask::new(hosts.len(), work);
    ask.handle_events(pipes.controller());
    while !ask.is_done() {
        pipes.turn(TURN);
        ask.handle_events(pipes.controller());
        if observe(&ask).is_break() {
            pipes.controller().interrupt();
            ask.handle_events(pipes.controller());
        }
    }
    pipes.perform();
    ask.into_answers()
}

/// The hosts whose pipes can be read or written, after waiting for the first, at most for `longest`.
fn ready(pipes: &[Option<Pipe>], longest: Duration) -> Vec<usize> {
    let (mut polled, mut hosts) = (Vec::new(), Vec::new());
    for (host, pipe) in pipes.iter().enumerate() {
        let Some(pipe) = pipe else { continue };
        polled.push(PollFd::from_borrowed_fd(pipe.output.as_fd(), PollFlags::IN));
        polled.push(PollFd::from_borrowed_fd(pipe.last_words.errors.as_fd(), PollFlags::IN));
        hosts.extend([host, host]);
        if pipe.copy.is_some() || !pipe.queued.is_empty() {
            polled.push(PollFd::from_borrowed_fd(pipe.input.as_fd(), PollFlags::OUT));
            hosts.push(host);
        }
    }
    let timeout = Timespec::try_from(longest).expect("it is short");
    if polled.is_empty() {
        std::thread::sleep(longest);
    }
    // An error means that a pipe ended, which reading it shows.
    if poll(&mut polled, Some(&timeout)).is_err() {
        hosts.dedup();
        return hosts;
    }
    let events = polled.iter().zip(hosts);
    let mut ready: Vec<usize> =
        events.filter(|(one, _)| !one.revents().is_empty()).map(|(_, host)| host).collect();
    ready.dedup();
    ready
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// A process and its pipes, which do not block.
#[derive(Debug)]
struct Pipe {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    /// The program that the process has not taken yet, from this position.
    copy: Option<(Arc<[u8]>, usize)>,
    /// Messages that the process has not taken yet; they follow the program.
    queued: Vec<u8>,
    last_words: LastWords,
}

/// A process whose pipes are closed.
struct EndingPipe {
    child: Child,
    last_words: LastWords,
    closed: Instant,
}

/// How a process ended.
struct EndedProcess {
    /// `None` if it had to be killed.
    status: Option<ExitStatus>,
    /// Its last words on standard error.
    words: String,
}

/// The end of what a process writes on standard error.
#[derive(Debug)]
struct LastWords {
    errors: ChildStderr,
    bytes: Vec<u8>,
}

impl LastWords {
    /// Reads some more, without blocking.
    fn hear(&mut self) {
        let mut bytes = [0; LAST_WORDS_BYTES];
        if let Ok(count) = self.errors.read(&mut bytes) {
            self.bytes.extend_from_slice(&bytes[..count]);
            let surplus = self.bytes.len().saturating_sub(LAST_WORDS_BYTES);
            self.bytes.drain(..surplus);
        }
    }
}

impl Pipe {
    /// Starts the agent. Its process group is separate, so that Ctrl-C reaches only this process.
    fn open(host: &Host, agent: &AgentProgram) -> Result<Pipe, String> {
        let words = host.launcher.command(host, agent);
        let (program, arguments) = words.split_first().expect("a command has a program");
        let fail = |error: io::Error| format!("start `{program}`: {error}");
        let mut command = Command::new(program);
        command.args(arguments).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(fail)?;
        let (input, output, errors) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = (input, output, errors) else {
            return Err(format!("start `{program}`: no pipes"));
        };
        for pipe in [input.as_fd(), output.as_fd(), errors.as_fd()] {
            set_nonblocking(pipe).map_err(fail)?;
        }
        let last_words = LastWords { errors, bytes: Vec::new() };
        Ok(Pipe { child, input, output, copy: None, queued: Vec::new(), last_words })
    }

    /// Writes what the process takes without blocking; whether some of the program was written.
    fn write_queued(&mut self) -> bool {
        let mut has_copied = false;
        // A process that has ended is noticed by its output.
        while let Some((bytes, from)) = &mut self.copy {
            match self.input.write(&bytes[*from..]) {
                Ok(count) if count > 0 => *from += count,
                _ => return has_copied,
            }
            has_copied = true;
            if *from == bytes.len() {
                self.copy = None;
            }
        }
        while !self.queued.is_empty() {
            match self.input.write(&self.queued) {
                Ok(count) if count > 0 => drop(self.queued.drain(..count)),
                _ => return has_copied,
            }
        }
        has_copied
    }

    /// Ends the pipe.
    fn close(self) -> EndingPipe {
        let Pipe { child, last_words, .. } = self;
        EndingPipe { child, last_words, closed: Instant::now() }
    }

    /// Ends the pipe, and the process unless it ends by itself within `patience`.
    fn end(self, patience: Duration) -> EndedProcess {
        self.close().end(patience)
    }
}

impl EndingPipe {
    /// Ends the process unless it ends by itself within `patience` of its pipe.
    fn end(self, patience: Duration) -> EndedProcess {
        let EndingPipe { mut child, mut last_words, closed } = self;
        let until = closed + patience;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
                _ => {
                    // It did not end with its pipe: a frozen ssh, for example.
                    let _ = child.kill();
                    let _ = child.wait();
                    break None;
                }
            }
        };
        // The pipe does not block, so this ends even if another process holds it.
        last_words.hear();
        let words = String::from_utf8_lossy(&last_words.bytes).into_owned();
        EndedProcess { status, words }
    }
}

impl EndedProcess {
    fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// Why it ended, and what to do on the next line, if that is known.
    fn why(&self, remedy: Option<String>) -> String {
        let how = self.status.map_or("it was killed".to_owned(), |status| status.to_string());
        let why = match reason_in(&self.words) {
            "" => format!("its agent ended ({how})"),
            reason => format!("{reason} ({how})"),
        };
        match remedy {
            Some(remedy) => format!("{why}\n{remedy}"),
            None => why,
        }
    }
}

/// What Rust's runtime and this program add to the message of a panic, also where there is no memory to
/// unwind the stack, or of a failed allocation.
const ADDED_LINES: [&str; 4] = [
    "note: ",
    "skipping backtrace",
    "fatal runtime error: failed to initiate panic",
    "Include these lines",
];

/// The last line of what a process wrote on standard error, without [`ADDED_LINES`].
fn reason_in(words: &str) -> &str {
    // Rust's runtime writes this message in three parts, which those of other threads may separate.
    let parts = ["memory allocation of ", " bytes failed"].map(|part| words.matches(part).count());
    if parts.into_iter().max() > Some(1) {
        return "memory allocations of several threads failed";
    }
    let lines = words.lines().map(str::trim).take_while(|line| *line != "stack backtrace:");
    let is_added = |line: &str| ADDED_LINES.iter().any(|added| line.starts_with(added));
    lines.filter(|line| !line.is_empty() && !is_added(line)).last().unwrap_or_default()
}

fn set_nonblocking(pipe: BorrowedFd<'_>) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(pipe)?;
    rustix::fs::fcntl_setfl(pipe, flags | rustix::fs::OFlags::NONBLOCK)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_panic_and_of_a_failed_allocation_is_not_the_note_that_follows() {
        let note =
            "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
        let panic = "\nthread 'main' (7) panicked at src/main.rs:1:2:\nthe reason\n";
        let allocation = "memory allocation of 109556 bytes failed\n";
        for (words, reason) in [
            (format!("{panic}{note}"), "the reason"),
            (format!("{panic}stack backtrace:\n   0: main\n  at a.rs:1\n{note}"), "the reason"),
            (format!("{allocation}{note}"), allocation.trim()),
            (
                format!(
                    "{panic}{note}fatal runtime error: failed to initiate panic, error 5, aborting\n"
                ),
                "the reason",
            ),
            (
                format!(
                    "memory allocation of memory allocation of 88 bytes failed\n bytes failed\n{note}"
                ),
                "memory allocations of several threads failed",
            ),
            (
                "Welcome\nssh: connect to host vm1: No route to host\r\n\n".to_owned(),
                "ssh: connect to host vm1: No route to host",
            ),
            (String::new(), ""),
        ] {
            assert_eq!(reason_in(&words), reason, "{words}");
        }
    }
}
