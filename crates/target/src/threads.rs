//! The error for a thread that could not be started.

use std::io;

/// A thread could not be started. The usual cause is a limit: clone(2) then fails with EAGAIN,
/// which alone does not help the user.
#[derive(Debug, thiserror::Error)]
#[error(
    "start thread {number} of {requested}: {source}; raise the limit that was reached: on the \
     user's processes (`ulimit -u`), the container's (`pids.max` of its cgroup) or the system's \
     threads (`sysctl kernel.threads-max`), or use fewer threads (`workers`; with `--engine \
     psync` also `queue_depth`)"
)]
pub struct ThreadError {
    /// Which of the requested threads, from 1.
    pub number: usize,
    /// How many threads were requested.
    pub requested: usize,
    /// The kernel's error.
    pub source: io::Error,
}
