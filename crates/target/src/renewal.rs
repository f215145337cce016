//! The thread that renews a lease as long as a process uses the directory.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::refusal::Refusal;
use crate::threads::ThreadError;

/// How often a lease is renewed.
const RENEWED_EVERY: Duration = Duration::from_secs(5);
/// Longest wait for a lease to be returned, and time limit of a call for it on an export: shorter
/// than [`crate::lease_content::SILENCE_MAX`].
pub(crate) const CALL_WITHIN: Duration = Duration::from_secs(10);

/// A lease.
pub(crate) trait Renewed: fmt::Debug + Send + 'static {
    /// Renews the lease, or notes that it is lost. Errors are ignored: while the server is
    /// unreachable, no other process can take the lease either.
    fn renew_or_note(&mut self);

    /// Removes the lease file if it is still ours, and no other host renews it. If this fails, the
    /// lease expires.
    fn remove(&mut self);
}

/// A lease that a thread renews, returned when dropped.
#[derive(Debug)]
pub(crate) struct Renewal<L> {
    lease: Arc<Mutex<L>>,
    /// Dropping it makes the thread return the lease.
    keep: Option<Sender<()>>,
    ended: Mutex<Receiver<()>>,
}

impl<L: Renewed> Renewal<L> {
    /// Starts the thread. `path` is the directory's name in messages.
    pub(crate) fn start(lease: L, path: &Path) -> Result<Renewal<L>, Refusal> {
        let lease = Arc::new(Mutex::new(lease));
        let (keep, end) = mpsc::channel::<()>();
        let (send_ended, ended) = mpsc::channel();
        let renewed = Arc::clone(&lease);
        let renewing = move || {
            while let Err(RecvTimeoutError::Timeout) = end.recv_timeout(RENEWED_EVERY) {
                lock(&renewed).renew_or_note();
            }
            lock(&renewed).remove();
            // The receiver is gone if this took too long.
            let _ = send_ended.send(());
        };
        let spawned = thread::Builder::new().name("lease".to_owned()).spawn(renewing);
        spawned.map_err(|source| {
            let error = ThreadError { number: 1, requested: 1, source };
            Refusal::io("keep the lock of", path, io::Error::other(error))
        })?;
        Ok(Renewal { lease, keep: Some(keep), ended: Mutex::new(ended) })
    }

    /// The lease, which is not renewed meanwhile.
    pub(crate) fn lease(&self) -> MutexGuard<'_, L> {
        lock(&self.lease)
    }
}

impl<L> Drop for Renewal<L> {
    fn drop(&mut self) {
        drop(self.keep.take());
        let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner);
        // If the server does not reply in time, the lease expires.
        let _ = ended.recv_timeout(CALL_WITHIN);
    }
}

fn lock<L>(lease: &Mutex<L>) -> MutexGuard<'_, L> {
    lease.lock().unwrap_or_else(PoisonError::into_inner)
}
