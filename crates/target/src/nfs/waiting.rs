//! Waiting for a server outside of a measurement: when the user is told what is awaited, and how
//! the user ends it.
//!
//! All blocking connections to an export share one [`WaitMonitor`]: a server that answers any of
//! them is not silent. Not for: the measured operations, whose connections report their state in
//! `ConnectionCounters`.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a waiting call checks whether it was cancelled: several times within the second in
/// which an interrupt has to take effect.
pub(super) const POLL: Duration = Duration::from_millis(100);
/// How long a call waits for its answer after the user has cancelled: a server that is up answers
/// within this, so that locks and unfinished directories can still be removed.
const CANCEL_GRACE: Duration = Duration::from_millis(250);
/// Silence after which the user is told what is awaited.
const REPORT_AFTER: Duration = Duration::from_secs(1);
/// Shortest time between two reports of different waits, so that a slow server is not reported for
/// every call.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// What a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The address of a name.
    Address,
    /// A TCP connection that is being made.
    Connection,
    /// A TCP connection, after an attempt failed with this error.
    Reconnection(io::ErrorKind),
    /// The answer to this procedure.
    Answer(&'static str),
    /// Another answer to this procedure than NFS3ERR_JUKEBOX, which was given so many times.
    NotJukebox(&'static str, u64),
}

/// A wait that the user should know of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitReport {
    /// The server's address or name.
    pub server: String,
    /// What is awaited.
    pub awaited: Awaited,
    /// For how long.
    pub waited: Duration,
}

impl fmt::Display for WaitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.waited.as_secs();
        write!(f, "waiting for NFS server {}: ", self.server)?;
        match self.awaited {
            Awaited::Address => write!(f, "its name is not resolved for {seconds} s"),
            Awaited::Connection => write!(f, "no connection for {seconds} s"),
            Awaited::Reconnection(error) => write!(f, "{error}, retrying ({seconds} s)"),
            Awaited::Answer(procedure) => write!(f, "no answer to {procedure} for {seconds} s"),
            Awaited::NotJukebox(procedure, times) => write!(
                f,
                "{procedure} answered NFS3ERR_JUKEBOX (try again later) {times} times in \
                 {seconds} s"
            ),
        }
    }
}

/// Told of waits, and asked whether to keep waiting; called from several threads.
pub trait WaitObserver: fmt::Debug + Send + Sync {
    /// Whether the user has asked to end.
    fn is_cancelled(&self) -> bool;

    /// A wait has lasted a second, or twice as long as when it was reported before.
    fn report(&self, wait: &WaitReport);
}

/// Reports nothing and never ends early.
#[derive(Debug)]
struct Silent;

impl WaitObserver for Silent {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn report(&self, _wait: &WaitReport) {}
}

/// What the blocking connections to an export share about waiting.
#[derive(Debug)]
pub struct WaitMonitor {
    observer: Arc<dyn WaitObserver>,
    is_reported: bool,
    last_answer: Mutex<LastAnswer>,
    /// A call was abandoned after the user cancelled: the server does not answer, and no further
    /// call waits for it.
    is_abandoned: Arc<AtomicBool>,
}

#[derive(Debug)]
struct LastAnswer {
    /// The last answer to any call.
    answered: Instant,
    /// Silence that is reported next.
    report_at: Duration,
    reported: Option<Instant>,
}

impl Default for WaitMonitor {
    /// Without an observer.
    fn default() -> WaitMonitor {
        WaitMonitor::new(Arc::new(Silent))
    }
}

impl WaitMonitor {
    /// With `observer`.
    pub fn new(observer: Arc<dyn WaitObserver>) -> WaitMonitor {
        let last = LastAnswer { answered: Instant::now(), report_at: REPORT_AFTER, reported: None };
        WaitMonitor {
            observer,
            is_reported: true,
            last_answer: Mutex::new(last),
            is_abandoned: Arc::default(),
        }
    }

    /// The same observer for calls in the background, whose waits are not the user's.
    pub(crate) fn unreported(&self) -> WaitMonitor {
        WaitMonitor {
            is_reported: false,
            is_abandoned: Arc::clone(&self.is_abandoned),
            ..WaitMonitor::new(Arc::clone(&self.observer))
        }
    }

    /// Whether the user has asked to end.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.observer.is_cancelled()
    }

    /// The user has asked to end, and the server does not answer.
    pub(super) fn is_given_up(&self) -> bool {
        self.is_abandoned.load(Ordering::Relaxed) && self.is_cancelled()
    }

    fn last_answer(&self) -> std::sync::MutexGuard<'_, LastAnswer> {
        // Each of its states is whole.
        self.last_answer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call was answered.
    pub(super) fn answered(&self) {
        let mut last = self.last_answer();
        last.answered = Instant::now();
        if last.reported.is_none_or(|reported| reported.elapsed() >= REPORT_EVERY) {
            last.report_at = REPORT_AFTER;
        }
    }

    /// Reports a wait of `waited`, if that is due.
    fn report(&self, server: &str, awaited: Awaited, waited: Duration) {
        if !self.is_reported {
            return;
        }
        {
            let mut last = self.last_answer();
            let waited = match awaited {
                Awaited::NotJukebox(..) => waited,
                _ => waited.min(last.answered.elapsed()),
            };
            if waited < last.report_at {
                return;
            }
            last.report_at = waited * 2;
            last.reported = Some(Instant::now());
        }
        self.observer.report(&WaitReport { server: server.to_owned(), awaited, waited });
    }
}

/// One call's wait.
#[derive(Debug)]
pub(super) struct CallWait<'p> {
    monitor: &'p WaitMonitor,
    server: &'p str,
    begun: Instant,
    cancelled: Option<Instant>,
}

impl<'p> CallWait<'p> {
    pub(super) fn begin(monitor: &'p WaitMonitor, server: &'p str) -> CallWait<'p> {
        CallWait { monitor, server, begun: Instant::now(), cancelled: None }
    }

    /// To be called every [`POLL`] while `awaited` has not come.
    ///
    /// # Errors
    /// `Interrupted`: the user has asked to end.
    pub(super) fn check_wait(&mut self, awaited: Awaited) -> io::Result<()> {
        if self.monitor.is_cancelled() {
            let cancelled = *self.cancelled.get_or_insert_with(Instant::now);
            let is_over = match awaited {
                Awaited::Answer(_) => cancelled.elapsed() >= CANCEL_GRACE,
                Awaited::NotJukebox(..) => return Err(io::ErrorKind::Interrupted.into()),
                Awaited::Address | Awaited::Connection | Awaited::Reconnection(_) => true,
            };
            if is_over {
                self.monitor.is_abandoned.store(true, Ordering::Relaxed);
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
        self.monitor.report(self.server, awaited, self.begun.elapsed());
        Ok(())
    }

    /// Waits for `time` unless the user ends it.
    ///
    /// # Errors
    /// `Interrupted`: the user has asked to end.
    pub(super) fn sleep(&mut self, time: Duration, awaited: Awaited) -> io::Result<()> {
        let until = Instant::now() + time;
        loop {
            self.check_wait(awaited)?;
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(POLL));
        }
    }

    /// How long it has lasted.
    pub(super) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_what_is_awaited_from_whom_and_for_how_long() {
        let said = |awaited| {
            let (server, waited) = ("10.0.0.4".to_owned(), Duration::from_millis(3100));
            WaitReport { server, awaited, waited }.to_string()
        };
        assert_eq!(
            said(Awaited::Answer("MNT")),
            "waiting for NFS server 10.0.0.4: no answer to MNT for 3 s"
        );
        assert_eq!(
            said(Awaited::Reconnection(io::ErrorKind::ConnectionRefused)),
            "waiting for NFS server 10.0.0.4: connection refused, retrying (3 s)"
        );
        assert_eq!(
            said(Awaited::NotJukebox("LOOKUP", 7)),
            "waiting for NFS server 10.0.0.4: LOOKUP answered NFS3ERR_JUKEBOX (try again later) 7 \
             times in 3 s"
        );
    }
}
