//! Threads that the system refuses to start.

use std::io;

/// A thread could not be started. Almost always a limit is reached: clone(2) fails with EAGAIN
/// then, which by itself says nothing to a user.
#[derive(Debug, thiserror::Error)]
#[error(
    "start thread {number} of {requested}: {source}; raise the limit that is reached: of the \
     user's processes (`ulimit -u`), of the container's (`pids.max` of its cgroup) or of the \
     system's (`sysctl kernel.threads-max`), or use fewer threads (`workers`; with `--engine \
     psync` also `queue_depth`)"
)]
pub struct ThreadError {
    /// Which of the requested threads, from 1.
    pub number: usize,
    /// How many threads were requested.
    pub requested: usize,
    /// The kernel's answer.
    pub source: io::Error,
}
