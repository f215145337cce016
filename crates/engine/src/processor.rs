//! The processors and timer precision of a worker's thread.

use std::io;
use std::num::NonZeroU64;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity, set_current_timer_slack};

/// The processors that this process may use, in order.
pub fn processors() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
}

/// How many processors the threads of this process can use concurrently: those it may run on, or
/// fewer because of its cgroup's CPU quota. `None` if unknown.
pub fn available() -> Option<u32> {
    let available = std::thread::available_parallelism().ok()?;
    u32::try_from(available.get()).ok()
}

/// Pins the calling thread to one processor.
///
/// # Errors
/// The kernel refuses.
pub fn pin(processor: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(processor);
    sched_setaffinity(None, &set)?;
    Ok(())
}

/// Makes timers of the calling thread as exact as the clock allows: by default the kernel may delay
/// them by 50 µs to combine wake-ups.
///
/// # Errors
/// The kernel refuses.
pub fn wake_exactly() -> io::Result<()> {
    set_current_timer_slack(NonZeroU64::new(1))?;
    Ok(())
}
