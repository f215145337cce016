//! The agent's shell: standard input and output around the core, and one thread for the work, so that
//! the agent stays reachable meanwhile.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::agent::{Agent, AgentAction};
use crate::message::{Hello, Message};

/// Time between two signs of life.
const ALIVE_EVERY: Duration = Duration::from_secs(1);
/// Time for the work to end and to release what it holds after the controller is gone.
const RELEASE_WITHIN: Duration = Duration::from_secs(5);
/// Bytes that are read at a time.
const READ_BYTES: usize = 64 << 10;

/// The output, which the work's thread uses too: each frame is written as a whole.
type Output = Arc<Mutex<dyn Write + Send>>;

/// Where the work of a request sends its progress.
#[derive(Clone)]
pub struct Outbox(Output);

impl std::fmt::Debug for Outbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Outbox")
    }
}

impl Outbox {
    /// Sends a message to the controller.
    ///
    /// # Errors
    /// The controller is gone.
    pub fn send(&self, message: &Message) -> io::Result<()> {
        send(&self.0, &message.to_frame())
    }
}

/// What an agent does for its controller.
pub trait Work: Send + 'static {
    /// Does what a request says. An error is its reason in words. Requests are done one after the other.
    ///
    /// # Errors
    /// Why it could not be done, in words.
    fn work(&mut self, request: &[u8], outbox: &Outbox) -> Result<Vec<u8>, String>;
}

/// Serves a controller until it closes the pipe.
///
/// * `begun` - when the clock that the controller samples was 0
/// * `work` - does what requests say, in a separate thread
/// * `on_signal` - gets the signals for the request that is being done as they arrive, and `None` when the
///   controller is gone: what is being done must end
///
/// # Errors
/// The pipe failed, or the controller sent something that is no message.
pub fn serve<R: Read + AsFd>(
    hello: Hello,
    begun: Instant,
    mut input: R,
    output: impl Write + Send + 'static,
    mut work: impl Work,
    mut on_signal: impl FnMut(Option<&[u8]>),
) -> io::Result<()> {
    let output: Output = Arc::new(Mutex::new(output));
    let (requests, to_do) = mpsc::channel::<(u32, Vec<u8>)>();
    let outbox = Outbox(Arc::clone(&output));
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
    let served = serve_requests(hello, begun, &mut input, &output, &requests, &mut on_signal);
    on_signal(None);
    drop(requests);
    let _ = has_ended.recv_timeout(RELEASE_WITHIN);
    served
}

fn serve_requests<R: Read + AsFd>(
    hello: Hello,
    begun: Instant,
    input: &mut R,
    output: &Output,
    requests: &Sender<(u32, Vec<u8>)>,
    on_signal: &mut impl FnMut(Option<&[u8]>),
) -> io::Result<()> {
    let mut agent = Agent::default();
    let mut bytes = vec![0; READ_BYTES];
    send(output, &Message::Hello(hello).to_frame())?;
    loop {
        if !has_input(input)? {
            send(output, &Message::Alive.to_frame())?;
            continue;
        }
        let count = input.read(&mut bytes)?;
        if count == 0 {
            return Ok(());
        }
        let monotonic_ns = begun.elapsed().as_nanos() as u64;
        let actions = agent
            .received(&bytes[..count], monotonic_ns, unix_ns(SystemTime::now()))
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        for action in actions {
            match action {
                AgentAction::Send(frame) => send(output, &frame)?,
                AgentAction::Work { number, work } => {
                    // Its thread ends only by a panic; the controller then hears nothing more of it.
                    let died = |_| io::Error::other("the thread that does the work has died");
                    requests.send((number, work)).map_err(died)?;
                }
                AgentAction::Signal(signal) => on_signal(Some(&signal)),
            }
        }
    }
}

/// Waits for input until the next sign of life is due; false if it is.
fn has_input(input: &impl AsFd) -> io::Result<bool> {
    let timeout = Timespec::try_from(ALIVE_EVERY).expect("it is a second");
    let mut polled = [PollFd::new(input, PollFlags::IN)];
    match poll(&mut polled, Some(&timeout)) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn send(output: &Output, frame: &[u8]) -> io::Result<()> {
    let mut output = output.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    output.write_all(frame)?;
    output.flush()
}

/// Nanoseconds since 1970; 0 for a clock before that.
pub(crate) fn unix_ns(now: SystemTime) -> u64 {
    now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}
