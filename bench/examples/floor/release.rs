//! The floor for delayed replies: a process that only sleeps until each reply is due and sends it.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

use super::{BUFFER_BYTES, window};

/// Pause between two polls of the receiver, which need not read immediately.
const PAUSE: Duration = Duration::from_millis(2);

const NS_PER_S: u64 = 1_000_000_000;

/// What to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Bytes per reply.
    pub(crate) reply_bytes: usize,
    /// Number of replies.
    pub(crate) replies: usize,
    /// Replies per second, evenly spaced.
    pub(crate) each_second: usize,
    /// Size of the buffer from which replies are sent, at random offsets.
    pub(crate) data_bytes: usize,
    /// Connections; each gets a reply in turn.
    pub(crate) connections: usize,
}

/// Sends the replies and prints how late they were sent, and the CPU time. A thread on
/// `receiver_cpu` receives them.
pub(crate) fn run(plan: &Plan, receiver_cpu: Option<usize>) -> Result<()> {
    let Plan { reply_bytes, replies, each_second, data_bytes, connections } = *plan;
    ensure!(replies > 0 && each_second > 0, "--replies and --each-second must be at least 1");
    ensure!(reply_bytes > 0 && data_bytes >= reply_bytes, "--data must be at least --reply");
    ensure!(connections > 0, "--connections must be at least 1");
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let (mut senders, mut receivers) = (Vec::new(), Vec::new());
    for _ in 0..connections {
        let stream = TcpStream::connect(listener.local_addr()?)?;
        stream.set_nodelay(true)?;
        senders.push(stream);
        receivers.push(listener.accept()?.0);
    }
    let receiver = std::thread::spawn(move || receive_all(receivers, receiver_cpu));
    // Not zeros: the kernel may use one page for all of them.
    let data = vec![1; data_bytes];
    let offsets = data_bytes / reply_bytes;
    let begun_ns = now_ns() + NS_PER_S / 100;
    let mut late_ns = Vec::with_capacity(replies);
    let mut random = 1_u64;
    for number in 0..replies {
        let due_ns = begun_ns + number as u64 * NS_PER_S / each_second as u64;
        // Knuth's MMIX generator; only its high bits are random enough.
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let from = (random >> 33) as usize % offsets * reply_bytes;
        sleep_until(due_ns)?;
        senders[number % connections].write_all(&data[from..from + reply_bytes])?;
        late_ns.push(now_ns().saturating_sub(due_ns));
    }
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    let spent_s = spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9;
    drop(senders);
    receiver.join().map_err(|_| anyhow!("the receiving thread panicked"))??;
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

/// Polls all connections until they are closed; never blocks on them.
fn receive_all(mut streams: Vec<TcpStream>, cpu: Option<usize>) -> Result<()> {
    window::pin(cpu)?;
    for stream in &streams {
        stream.set_nonblocking(true)?;
    }
    let mut buffer = vec![0; BUFFER_BYTES];
    while !streams.is_empty() {
        let mut failed = None;
        streams.retain_mut(|stream| match stream.read(&mut buffer) {
            Ok(count) => count > 0,
            Err(error) if error.kind() == ErrorKind::WouldBlock => true,
            Err(error) => {
                failed = Some(error);
                false
            }
        });
        if let Some(error) = failed {
            return Err(error.into());
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
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
