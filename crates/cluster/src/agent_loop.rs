//! The agent's shell: standard input and output around the core, and one thread for the work, so that
//! the agent stays reachable meanwhile.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::agent::{Agent, AgentAction};
use crate::message::{Hello, Message};
use crate::outbox::Outbox;

/// Time for the work to end and to release what it holds after the controller is gone.
const RELEASE_WITHIN: Duration = Duration::from_secs(5);
/// Bytes that are read at a time.
const READ_BYTES: usize = 64 << 10;

/// What an agent does for its controller.
pub trait Work: Send + 'static {
    /// Does what a request says. An error is its reason in words. Requests are done one after the other.
    ///
    /// # Errors
    /// Why it could not be done, in words.
    fn work(&mut self, request: &[u8], outbox: &Outbox) -> Result<Vec<u8>, String>;
}

/// What concerns the request that is being done, on the thread that reads from the controller.
pub trait Attend {
    /// Takes a signal of the controller.
    fn signal(&mut self, signal: &[u8]);

    /// The controller is gone: what is being done must end, unless it can be finished alone.
    fn end(&mut self);

    /// Whether something is being finished alone; called repeatedly after [`Attend::end`].
    fn is_finishing(&self) -> bool;
}

/// Serves a controller until it closes the pipe, and then until the work has ended.
///
/// * `begun` - when the clock that the controller samples was 0
/// * `work` - does what requests say, in a separate thread
/// * `attend` - takes what concerns the request that is being done as it arrives
///
/// # Errors
/// The pipe failed, or the controller sent something that is no message.
pub fn serve<R: Read + AsFd>(
    hello: Hello,
    begun: Instant,
    mut input: R,
    output: impl Write + Send + 'static,
    mut work: impl Work,
    mut attend: impl Attend,
) -> io::Result<()> {
    let output = Outbox::to(output);
    let (requests, to_do) = mpsc::channel::<(u32, Vec<u8>)>();
    let outbox = output.clone();
    // Dropped by the thread when it has released everything.
    let (is_working, has_ended) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        for (number, request) in to_do {
            let result = work.work(&request, &outbox);
            // If the controller is gone, the loop sees it too and ends the process.
            let _ = outbox.send(&Message::Reply { number, result });
        }
        drop((work, is_working));
    });
    let served = serve_requests(hello, begun, &mut input, &output, &requests, &mut attend);
    attend.end();
    // A writer that waits for room ends.
    output.close();
    drop(requests);
    loop {
        let is_finishing = attend.is_finishing();
        match has_ended.recv_timeout(RELEASE_WITHIN) {
            Err(RecvTimeoutError::Timeout) if is_finishing => {}
            _ => return served,
        }
    }
}

fn serve_requests<R: Read + AsFd>(
    hello: Hello,
    begun: Instant,
    input: &mut R,
    output: &Outbox,
    requests: &Sender<(u32, Vec<u8>)>,
    attend: &mut impl Attend,
) -> io::Result<()> {
    let mut agent = Agent::default();
    let mut bytes = vec![0; READ_BYTES];
    output.send(&Message::Hello(hello))?;
    let now_ns = || begun.elapsed().as_nanos() as u64;
    loop {
        if let Some(frame) = agent.sign_of_life(now_ns()) {
            output.send_frame(frame)?;
        }
        if !has_input(input, Duration::from_nanos(agent.until_sign_of_life_ns(now_ns())))? {
            continue;
        }
        let count = input.read(&mut bytes)?;
        if count == 0 {
            return Ok(());
        }
        let monotonic_ns = now_ns();
        let actions = agent
            .received(&bytes[..count], monotonic_ns, unix_ns(SystemTime::now()))
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        for action in actions {
            match action {
                AgentAction::Send(frame) => output.send_frame(frame)?,
                AgentAction::Work { number, work } => {
                    // Its thread ends only by a panic; the controller then hears nothing more of it.
                    let died = |_| io::Error::other("the thread that does the work has died");
                    requests.send((number, work)).map_err(died)?;
                }
                AgentAction::Signal(signal) => attend.signal(&signal),
            }
        }
    }
}

/// Waits for input, at most for `longest`; whether there is some.
fn has_input(input: &impl AsFd, longest: Duration) -> io::Result<bool> {
    let timeout = Timespec::try_from(longest).expect("it is at most a second");
    let mut polled = [PollFd::new(input, PollFlags::IN)];
    match poll(&mut polled, Some(&timeout)) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Nanoseconds since 1970; 0 for a clock before that.
pub(crate) fn unix_ns(now: SystemTime) -> u64 {
    now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::Receiver;

    use super::*;
    use crate::message::PROTOCOL;

    /// Ends when the controller has.
    struct Finishing {
        is_alone: Receiver<()>,
        is_done: Arc<AtomicBool>,
    }

    impl Work for Finishing {
        fn work(&mut self, _request: &[u8], outbox: &Outbox) -> Result<Vec<u8>, String> {
            self.is_alone.recv().map_err(|error| error.to_string())?;
            while outbox.send(&Message::Report(Vec::new())).is_ok() {}
            self.is_done.store(true, Ordering::Relaxed);
            Ok(Vec::new())
        }
    }

    struct Alone(Sender<()>);

    impl Attend for Alone {
        fn signal(&mut self, _signal: &[u8]) {}

        fn end(&mut self) {
            self.0.send(()).expect("the work waits");
        }

        fn is_finishing(&self) -> bool {
            true
        }
    }

    #[test]
    fn work_that_is_finished_alone_is_awaited_after_the_controller_is_gone() {
        let (input, mut to_agent) = io::pipe().expect("make a pipe");
        let (_from_agent, output) = io::pipe().expect("make a pipe");
        let request = Message::Request { number: 0, work: Vec::new() };
        to_agent.write_all(&request.to_frame()).expect("the pipe has room");
        drop(to_agent);
        let hello = Hello { protocol: PROTOCOL, ..Hello::default() };
        let is_done = Arc::new(AtomicBool::new(false));
        let (alone, is_alone) = mpsc::channel();
        let work = Finishing { is_alone, is_done: Arc::clone(&is_done) };
        serve(hello, Instant::now(), input, output, work, Alone(alone)).expect("the input ended");
        assert!(is_done.load(Ordering::Relaxed));
    }
}
