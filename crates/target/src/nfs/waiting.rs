//! Waits for a server outside of a measurement: reporting them to the user, and cancelling them.
//!
//! All blocking connections to an export share one [`WaitMonitor`]: a server that answers any of
//! them is not silent. The connections of measured operations report their state in
//! `ConnectionCounters` instead.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a waiting call checks whether it was cancelled: several times within the second in
/// which an interrupt must take effect.
pub(super) const POLL: Duration = Duration::from_millis(100);
/// How long a call still waits for its reply after the user has cancelled. A server that is up
/// replies within this, so that locks and unfinished directories can be removed.
const CANCEL_GRACE: Duration = Duration::from_millis(250);
/// Silence after which a wait is reported.
const REPORT_AFTER: Duration = Duration::from_secs(1);
/// Minimum time between reports of different waits, so that a slow server is not reported for every
/// call.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// What a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The address of a name.
    Address,
    /// A TCP connection.
    Connection,
    /// A TCP connection, after an attempt failed with this error.
    Reconnection(io::ErrorKind),
    /// The reply to this procedure.
    Reply(&'static str),
    /// A reply to this procedure other than NFS3ERR_JUKEBOX, which came this many times.
    NotJukebox(&'static str, u64),
}

/// A wait that is reported to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitReport {
    /// The server's address or name.
    pub server: String,
    /// What is awaited.
    pub awaited: Awaited,
    /// How long.
    pub waited: Duration,
}

impl fmt::Display for WaitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.waited.as_secs();
        write!(f, "waiting for NFS server {}: ", self.server)?;
        match self.awaited {
            Awaited::Address => write!(f, "its name has not been resolved for {seconds} s"),
            Awaited::Connection => write!(f, "no connection for {seconds} s"),
            Awaited::Reconnection(error) => write!(f, "{error}, retrying ({seconds} s)"),
            Awaited::Reply(procedure) => write!(f, "no reply to {procedure} for {seconds} s"),
            Awaited::NotJukebox(procedure, times) => write!(
                f,
                "{procedure} replied NFS3ERR_JUKEBOX (try again later) {times} times in \
                 {seconds} s"
            ),
        }
    }
}

/// Receives reports of waits and can cancel them; called from several threads.
pub trait WaitObserver: fmt::Debug + Send + Sync {
    /// Whether the user has cancelled.
    fn is_cancelled(&self) -> bool;

    /// Reports a wait: after a second, and whenever it has doubled since the last report.
    fn report(&self, wait: &WaitReport);

    /// Reports the wait of each of these other hosts, in words.
    fn report_of_hosts(&self, _hosts: &[&str], _wait: &str) {}
}

/// A shared observer of waits.
pub type Observer = Arc<dyn WaitObserver>;

/// Reports nothing and never cancels.
#[derive(Debug)]
struct Silent;

impl WaitObserver for Silent {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn report(&self, _wait: &WaitReport) {}
}

/// The state of waits that the blocking connections to an export share.
#[derive(Debug)]
pub struct WaitMonitor {
    observer: Observer,
    is_reported: bool,
    last_reply: Mutex<LastReply>,
    /// A call was abandoned after the user cancelled: later calls do not wait for this server.
    is_abandoned: Arc<AtomicBool>,
}

#[derive(Debug)]
struct LastReply {
    /// Time of the last reply to any call.
    at: Instant,
    /// The silence at which the next report is due.
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
    /// A monitor that reports to `observer`.
    pub fn new(observer: Observer) -> WaitMonitor {
        let last = LastReply { at: Instant::now(), report_at: REPORT_AFTER, reported: None };
        WaitMonitor {
            observer,
            is_reported: true,
            last_reply: Mutex::new(last),
            is_abandoned: Arc::default(),
        }
    }

    /// A monitor for calls in the background: it can be cancelled but reports nothing.
    pub(crate) fn unreported(&self) -> WaitMonitor {
        WaitMonitor {
            is_reported: false,
            is_abandoned: Arc::clone(&self.is_abandoned),
            ..WaitMonitor::new(Arc::clone(&self.observer))
        }
    }

    /// Whether the user has cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.observer.is_cancelled()
    }

    /// Whether the user has cancelled and the server does not reply.
    pub(super) fn is_abandoned(&self) -> bool {
        self.is_abandoned.load(Ordering::Relaxed) && self.is_cancelled()
    }

    fn last_reply(&self) -> std::sync::MutexGuard<'_, LastReply> {
        // Every critical section leaves a consistent state.
        self.last_reply.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a call was answered.
    pub(super) fn answered(&self) {
        let mut last = self.last_reply();
        last.at = Instant::now();
        if last.reported.is_none_or(|reported| reported.elapsed() >= REPORT_EVERY) {
            last.report_at = REPORT_AFTER;
        }
    }

    /// Reports a wait of `waited` if a report is due.
    fn report(&self, server: &str, awaited: Awaited, waited: Duration) {
        if !self.is_reported {
            return;
        }
        {
            let mut last = self.last_reply();
            let waited = match awaited {
                Awaited::NotJukebox(..) => waited,
                _ => waited.min(last.at.elapsed()),
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

/// The wait of one call.
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

    /// Called every [`POLL`] during the wait.
    ///
    /// # Errors
    /// `Interrupted`: the user has cancelled.
    pub(super) fn check_wait(&mut self, awaited: Awaited) -> io::Result<()> {
        if self.monitor.is_cancelled() {
            let cancelled = *self.cancelled.get_or_insert_with(Instant::now);
            let is_over = match awaited {
                Awaited::Reply(_) => cancelled.elapsed() >= CANCEL_GRACE,
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

    /// Sleeps for `time` unless the user cancels.
    ///
    /// # Errors
    /// `Interrupted`: the user has cancelled.
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

    /// How long the wait has lasted.
    pub(super) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_states_the_server_what_is_awaited_and_the_time() {
        let text = |awaited| {
            let (server, waited) = ("10.0.0.4".to_owned(), Duration::from_millis(3100));
            WaitReport { server, awaited, waited }.to_string()
        };
        assert_eq!(
            text(Awaited::Reply("MNT")),
            "waiting for NFS server 10.0.0.4: no reply to MNT for 3 s"
        );
        assert_eq!(
            text(Awaited::Reconnection(io::ErrorKind::ConnectionRefused)),
            "waiting for NFS server 10.0.0.4: connection refused, retrying (3 s)"
        );
        assert_eq!(
            text(Awaited::NotJukebox("LOOKUP", 7)),
            "waiting for NFS server 10.0.0.4: LOOKUP replied NFS3ERR_JUKEBOX (try again later) 7 \
             times in 3 s"
        );
    }
}
