//! The interface through which the engine reads the state of the host: at each interval's edge,
//! right after the CPU time of the process, so that both cover the same time. The caller of
//! [`run`](crate::run::run) provides the reader.

use metrics::host_state::HostInterval;

/// Reads the state of this host. Called by the conducting thread, never by a worker.
pub trait HostStateReader: Send {
    /// Takes the first reading of a run. The engine reads the run-queue delay of the `workers`
    /// (thread numbers) itself, together with their CPU time.
    fn begin(&mut self, workers: &[i32]);

    /// The changes since the last reading, without the run-queue delay of the workers.
    fn since_last(&mut self) -> HostInterval;
}
