//! The window in which something is measured: so many seconds after a warm-up, with the CPU time of
//! this process and of the server in just that time.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// Enough for buffers and congestion windows to have grown.
const WARM_UP: Duration = Duration::from_millis(300);

/// Binds this thread, and those that it will start, to a processor.
pub(crate) fn pin(processor: Option<usize>) -> Result<()> {
    let Some(processor) = processor else { return Ok(()) };
    let mut set = CpuSet::new();
    set.set(processor);
    sched_setaffinity(None, &set).with_context(|| format!("run on processor {processor}"))
}

/// CPU time of this process, in nanoseconds.
fn own_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// CPU time of a process with all threads that it has and had, in nanoseconds, to a tick of 10 ms:
/// fields 14 and 15 of `/proc/PID/stat` (proc(5)), which stand behind the closing parenthesis.
/// The sum over its threads would be finer, and wrong as soon as one of them ends.
fn cpu_ns(pid: u32) -> Result<u64> {
    let stat =
        std::fs::read_to_string(format!("/proc/{pid}/stat")).context("look at the server")?;
    let fields = stat.rsplit_once(')').context("read the server's stat")?.1;
    let ticks: u64 = fields
        .split_ascii_whitespace()
        .skip(11)
        .take(2)
        .map(|field| field.parse::<u64>().context("read the server's stat"))
        .sum::<Result<u64>>()?;
    Ok(ticks * 10_000_000)
}

/// Where the counters stood.
#[derive(Clone, Copy)]
struct Mark {
    at: Instant,
    count: u64,
    own_cpu_ns: u64,
    server_cpu_ns: u64,
}

/// A measurement that is under way.
pub(crate) struct Window {
    server_pid: u32,
    length: Duration,
    next: Instant,
    first: Option<Mark>,
    last: Option<Mark>,
}

impl Window {
    pub(crate) fn new(server_pid: u32, seconds: u64) -> Window {
        let length = Duration::from_secs(seconds);
        Window { server_pid, length, next: Instant::now() + WARM_UP, first: None, last: None }
    }

    fn mark(&self, at: Instant, count: u64) -> Result<Mark> {
        let server_cpu_ns = cpu_ns(self.server_pid)?;
        Ok(Mark { at, count, own_cpu_ns: own_cpu_ns(), server_cpu_ns })
    }

    /// To be called often, with how much is done so far. At the end: how much of it lies in the
    /// window.
    pub(crate) fn look(&mut self, count: u64) -> Result<Option<u64>> {
        let now = Instant::now();
        if now < self.next {
            return Ok(None);
        }
        let mark = self.mark(now, count)?;
        match self.first {
            None => {
                self.first = Some(mark);
                self.next = now + self.length;
                Ok(None)
            }
            Some(first) => {
                self.last = Some(mark);
                Ok(Some(mark.count - first.count))
            }
        }
    }

    /// `done=… seconds=… own_cpu_us=… server_cpu_us=…`, the last two for each of what was done.
    pub(crate) fn line(&self, done: u64) -> String {
        let (Some(first), Some(last)) = (self.first, self.last) else {
            return "done=0".to_owned();
        };
        let each_us = |from: u64, to: u64| (to - from) as f64 / 1e3 / done.max(1) as f64;
        format!(
            "done={done} seconds={:.6} own_cpu_us={:.4} server_cpu_us={:.4}",
            (last.at - first.at).as_secs_f64(),
            each_us(first.own_cpu_ns, last.own_cpu_ns),
            each_us(first.server_cpu_ns, last.server_cpu_ns),
        )
    }
}
