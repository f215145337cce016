//! The floor under replies that are held back: a process that does nothing but sleep until each of
//! them is due, and send it.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

use super::{BUFFER_BYTES, measured};

/// Between two looks of the side that receives, which is in no hurry.
const PAUSE: Duration = Duration::from_millis(2);

const NS_PER_S: u64 = 1_000_000_000;

/// What is to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Of each reply.
    pub(crate) reply_bytes: usize,
    /// How many.
    pub(crate) replies: usize,
    /// Of them, evenly.
    pub(crate) each_second: usize,
    /// What there is to be read: each reply is somewhere in it.
    pub(crate) data_bytes: usize,
    /// Whose turn it is to get one, one after the other.
    pub(crate) connections: usize,
}

/// Sends what is planned, and prints how late it left and what processor time that took; a thread
/// on `receiver_cpu` takes it in.
pub(crate) fn run(plan: &Plan, receiver_cpu: Option<usize>) -> Result<()> {
    let Plan { reply_bytes, replies, each_second, data_bytes, connections } = *plan;
    ensure!(replies > 0 && each_second > 0, "--replies and --each-second are 1 at least");
    ensure!(reply_bytes > 0 && data_bytes >= reply_bytes, "--data holds one --reply at least");
    ensure!(connections > 0, "--connections is 1 at least");
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..connections {
        let stream = TcpStream::connect(listener.local_addr()?)?;
        stream.set_nodelay(true)?;
        ours.push(stream);
        theirs.push(listener.accept()?.0);
    }
    let receiver = std::thread::spawn(move || take_in(theirs, receiver_cpu));
    // Not zeros, which might be one page of the kernel's for all.
    let data = vec![1; data_bytes];
    let places = data_bytes / reply_bytes;
    let begun_ns = now_ns() + NS_PER_S / 100;
    let mut late_ns = Vec::with_capacity(replies);
    let mut random = 1_u64;
    for number in 0..replies {
        let due_ns = begun_ns + number as u64 * NS_PER_S / each_second as u64;
        // Knuth's MMIX; the high bits are the good ones.
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let from = (random >> 33) as usize % places * reply_bytes;
        sleep_until(due_ns)?;
        ours[number % connections].write_all(&data[from..from + reply_bytes])?;
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
fn take_in(mut streams: Vec<TcpStream>, cpu: Option<usize>) -> Result<()> {
    measured::pin(cpu)?;
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
