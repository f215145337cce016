//! The controller's shell: a process for each host, its pipes, and `poll`.
//!
//! Agents end when their pipe does, so nothing remains on a host when this process ends in any way.

use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::agent_loop::unix_ns;
use crate::controller::{Action, Answer, Controller, Lost};
use crate::host_list::Host;
use crate::launch::AgentProgram;

/// Longest wait between two looks at deadlines and at Ctrl-C.
const TURN: Duration = Duration::from_millis(100);
/// Time for a process to end after its pipe did, before it is killed.
const END_WITHIN: Duration = Duration::from_millis(500);
/// What is kept of a process's last words on standard error.
const LAST_WORDS_BYTES: usize = 4 << 10;
const READ_BYTES: usize = 64 << 10;

/// Sends `request` to an agent on each host and waits for the answers; every host is answered or lost
/// within stated times.
///
/// * `version` - of this program; agents must have the same
/// * `observe` - gets the number of ended sessions now and then, and may end the wait
pub fn ask(
    hosts: &[Host],
    agent: &AgentProgram,
    version: &str,
    request: Vec<u8>,
    observe: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Vec<Result<Answer, Lost>> {
    let begun = Instant::now();
    let now_ns = || begun.elapsed().as_nanos() as u64;
    let unix_at_zero_ns = unix_ns(SystemTime::now());
    let copies: Vec<bool> = hosts.iter().map(|host| host.launcher.copies(agent)).collect();
    let mut controller = Controller::new(&copies, version, request, now_ns(), unix_at_zero_ns);
    let mut pipes: Vec<Option<Pipe>> = Vec::with_capacity(hosts.len());
    for (host, one) in hosts.iter().enumerate() {
        match Pipe::open(one, agent) {
            Ok(pipe) => pipes.push(Some(pipe)),
            Err(why) => {
                controller.closed(host, why);
                pipes.push(None);
            }
        }
    }
    let mut bytes = vec![0; READ_BYTES];
    while !controller.is_done() {
        wait(&pipes);
        let mut actions = Vec::new();
        for (host, slot) in pipes.iter_mut().enumerate() {
            let Some(pipe) = slot else { continue };
            if pipe.write_queued() {
                controller.copied(host, now_ns());
            }
            pipe.last_words.hear();
            match pipe.output.read(&mut bytes) {
                Ok(0) => {
                    let pipe = slot.take().expect("it was just read");
                    controller.closed(host, pipe.end(&hosts[host], END_WITHIN));
                }
                Ok(count) => actions.extend(controller.received(host, &bytes[..count], now_ns())),
                Err(error) if is_later(&error) => {}
                Err(error) => controller.closed(host, format!("read from its agent: {error}")),
            }
        }
        // After reading, so that what has arrived counts.
        actions.extend(match observe(controller.ended()) {
            ControlFlow::Continue(()) => controller.tick(now_ns()),
            ControlFlow::Break(()) => controller.interrupt(),
        });
        for action in actions {
            match action {
                Action::Send { host, bytes } => {
                    if let Some(pipe) = &mut pipes[host] {
                        pipe.queued.extend(bytes);
                        pipe.write_queued();
                    }
                }
                Action::SendCopy { host } => {
                    if let Some(pipe) = &mut pipes[host] {
                        pipe.copy = agent.copy.as_ref().map(|copy| (Arc::clone(&copy.bytes), 0));
                    }
                }
                Action::Close { host } => {
                    // An agent that answered ends with its pipe; one that is lost may not.
                    if let Some(pipe) = pipes[host].take() {
                        let patience =
                            if controller.is_answered(host) { END_WITHIN } else { Duration::ZERO };
                        pipe.end(&hosts[host], patience);
                    }
                }
            }
        }
    }
    for (host, pipe) in pipes.into_iter().enumerate() {
        pipe.map(|pipe| pipe.end(&hosts[host], END_WITHIN));
    }
    controller.into_results()
}

/// Waits until a pipe has something, at most for [`TURN`].
fn wait(pipes: &[Option<Pipe>]) {
    let mut polled: Vec<PollFd<'_>> = Vec::new();
    for pipe in pipes.iter().flatten() {
        polled.push(PollFd::from_borrowed_fd(pipe.output.as_fd(), PollFlags::IN));
        if pipe.copy.is_some() || !pipe.queued.is_empty() {
            polled.push(PollFd::from_borrowed_fd(pipe.input.as_fd(), PollFlags::OUT));
        }
    }
    let timeout = Timespec::try_from(TURN).expect("it is short");
    // An error means that a pipe ended, which reading it shows.
    let _ = poll(&mut polled, Some(&timeout));
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// A process and its pipes, which do not block.
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

/// The end of what a process writes on standard error.
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

    /// Ends the pipe, and the process unless it ends by itself within `patience`. Returns why it ended,
    /// in words.
    fn end(self, host: &Host, patience: Duration) -> String {
        let Pipe { mut child, input, output, mut last_words, .. } = self;
        drop((input, output));
        let until = Instant::now() + patience;
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
        let words = String::from_utf8_lossy(&last_words.bytes);
        let lines: Vec<&str> =
            words.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = lines.last().copied().unwrap_or_default();
        let code = status.and_then(|status| status.code());
        let how = status.map_or("it was killed".to_owned(), |status| status.to_string());
        let why = match last {
            "" => format!("its agent ended ({how})"),
            last => format!("{last} ({how})"),
        };
        match host.launcher.remedy(&host.name, code, &words) {
            Some(remedy) => format!("{why}\n{remedy}"),
            None => why,
        }
    }
}

fn set_nonblocking(pipe: BorrowedFd<'_>) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(pipe)?;
    rustix::fs::fcntl_setfl(pipe, flags | rustix::fs::OFlags::NONBLOCK)?;
    Ok(())
}
