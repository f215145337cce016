//! The agent's shell: standard input and output around the core, and one thread for the work, so that
//! the agent stays reachable meanwhile.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::agent::{Agent, AgentAction};
use crate::message::{Hello, Message};

/// Time between two signs of life.
const ALIVE_EVERY: Duration = Duration::from_secs(1);
/// Bytes that are read at a time.
const READ_BYTES: usize = 64 << 10;

/// The output, which the work's thread uses too: each frame is written as a whole.
type Output<W> = Arc<Mutex<W>>;

/// Serves a controller until it closes the pipe.
///
/// * `work` - does what a request says, in a separate thread; an error is its reason in words
///
/// # Errors
/// The pipe failed, or the controller sent something that is no message.
pub fn serve<R, W, F>(hello: Hello, mut input: R, output: W, work: F) -> io::Result<()>
where
    R: Read + AsFd,
    W: Write + Send + 'static,
    F: Fn(&[u8]) -> Result<Vec<u8>, String> + Send + Sync + 'static,
{
    let output: Output<W> = Arc::new(Mutex::new(output));
    let work = Arc::new(work);
    let begun = Instant::now();
    let mut agent = Agent::default();
    let mut bytes = vec![0; READ_BYTES];
    send(&output, &Message::Hello(hello).to_frame())?;
    loop {
        if !has_input(&input)? {
            send(&output, &Message::Alive.to_frame())?;
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
                AgentAction::Send(frame) => send(&output, &frame)?,
                AgentAction::Work(request) => {
                    let (output, work) = (Arc::clone(&output), Arc::clone(&work));
                    std::thread::spawn(move || {
                        let reply = match work(&request) {
                            Ok(result) => Message::Result(result),
                            Err(why) => Message::Failed(why),
                        };
                        // If the controller is gone, the loop sees it too and ends the process.
                        let _ = send(&output, &reply.to_frame());
                    });
                }
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

fn send<W: Write>(output: &Output<W>, frame: &[u8]) -> io::Result<()> {
    let mut output = output.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    output.write_all(frame)?;
    output.flush()
}

/// Nanoseconds since 1970; 0 for a clock before that.
pub(crate) fn unix_ns(now: SystemTime) -> u64 {
    now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}
