//! A measurement window after a warm-up, with the CPU time of this process and of the server.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// Long enough for buffers and congestion windows to grow.
const WARM_UP: Duration = Duration::from_millis(300);

/// Pins this thread, and those that it starts, to a processor.
pub(crate) fn pin(processor: Option<usize>) -> Result<()> {
    let Some(processor) = processor else { return Ok(()) };
    let mut set = CpuSet::new();
    set.set(processor);
    sched_setaffinity(None, &set).with_context(|| format!("pin to processor {processor}"))
}

/// CPU time of this process, in nanoseconds.
fn own_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// CPU time of a process and all its threads, including ended ones, in nanoseconds with a
/// resolution of 10 ms: fields 14 and 15 of `/proc/PID/stat` (proc(5)), counted from the closing
/// parenthesis. The times of its threads have a better resolution, but are lost when a thread ends.
fn cpu_ns(pid: u32) -> Result<u64> {
    let stat =
        std::fs::read_to_string(format!("/proc/{pid}/stat")).context("read the server's stat")?;
    let fields = stat.rsplit_once(')').context("read the server's stat")?.1;
    let ticks: u64 = fields
        .split_ascii_whitespace()
        .skip(11)
        .take(2)
        .map(|field| field.parse::<u64>().context("read the server's stat"))
        .sum::<Result<u64>>()?;
    Ok(ticks * 10_000_000)
}

/// The counters at one instant.
#[derive(Clone, Copy)]
struct Mark {
    at: Instant,
    count: u64,
    own_cpu_ns: u64,
    server_cpu_ns: u64,
}

/// A measurement window.
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

    /// Must be called often, with the count so far. Returns the count of the window when it ends.
    pub(crate) fn poll(&mut self, count: u64) -> Result<Option<u64>> {
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

    /// `done=… seconds=… own_cpu_us=… server_cpu_us=…`, the last two per unit of `done`.
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
