//! The floor under replies that are held back: a process that does nothing but sleep until each of
//! them is due, and send it.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

use super::{BUFFER_BYTES, measured};

/// Between two looks of the side that receives, which is in no hurry.
const PAUSE: Duration = Duration::from_millis(2);

const NS_PER_S: u64 = 1_000_000_000;

/// Sends `replies` of `bytes` each, `each_second` of them evenly, and prints how late they left and
/// what processor time that took; a thread on `receiver_cpu` takes them in.
pub(crate) fn run(
    bytes: usize,
    replies: usize,
    each_second: usize,
    receiver_cpu: Option<usize>,
) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut ours = TcpStream::connect(listener.local_addr()?)?;
    ours.set_nodelay(true)?;
    let theirs = listener.accept()?.0;
    let receiver = std::thread::spawn(move || take_in(theirs, receiver_cpu));
    let reply = vec![0; bytes];
    let begun_ns = now_ns() + NS_PER_S / 100;
    let mut late_ns = Vec::with_capacity(replies);
    for number in 0..replies as u64 {
        let due_ns = begun_ns + number * NS_PER_S / each_second as u64;
        sleep_until(due_ns)?;
        ours.write_all(&reply)?;
        late_ns.push(now_ns().saturating_sub(due_ns));
    }
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    let spent_s = spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9;
    drop(ours);
    receiver.join().map_err(|_| anyhow!("who received failed"))??;
    late_ns.sort_unstable();
    let at = |fraction: f64| {
        let index = (fraction * (replies - 1) as f64).round() as usize;
        late_ns.get(index).map(|ns| *ns as f64 / 1e3).context("nothing was sent")
    };
    let line = format!(
        "late_p50_us={} late_p99_us={} late_p999_us={} cpu_s={spent_s}",
        at(0.5)?,
        at(0.99)?,
        at(0.999)?
    );
    writeln!(std::io::stdout(), "{line}")?;
    Ok(())
}

/// Takes in whatever comes, and is never woken by it.
fn take_in(mut stream: TcpStream, cpu: Option<usize>) -> Result<()> {
    measured::pin(cpu)?;
    stream.set_nonblocking(true)?;
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(PAUSE),
            Err(error) => return Err(error.into()),
        }
    }
}

fn sleep_until(due_ns: u64) -> Result<()> {
    let until =
        Timespec { tv_sec: (due_ns / NS_PER_S) as i64, tv_nsec: (due_ns % NS_PER_S) as i64 };
    loop {
        match clock_nanosleep_absolute(ClockId::Monotonic, &until) {
            Err(Errno::INTR) => {}
            slept => return slept.context("sleep until a reply is due"),
        }
    }
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * NS_PER_S + now.tv_nsec as u64
}
