//! Where the kernel lets a worker's thread run, and how exactly it wakes it.

use std::io;
use std::num::NonZeroU64;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity, set_current_timer_slack};

/// The processors this process may use, in order.
pub fn processors() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
}

/// Processors that the threads of this process can use at a time: those it may run on, or fewer
/// where the CPU quota of its cgroup allows less. `None` where the system does not say.
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

/// Lets the calling thread be woken as exactly as the clock allows: by default the kernel may be 50
/// us late, to serve several timers at once.
///
/// # Errors
/// The kernel refuses.
pub fn wake_exactly() -> io::Result<()> {
    set_current_timer_slack(NonZeroU64::new(1))?;
    Ok(())
}
