//! A blocking connection to one program of a server. A call is repeated over new TCP connections
//! until it is answered or its time is over.
//!
//! A repeated call keeps its xid, so that a server that has already performed it replies from its
//! duplicate request cache.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nfs3::client::{Client, ClientOptions, Received, ReplyError};
use nfs3::request::{Arguments, Results};

use super::dial::{self, Caller};
use super::error::NfsFailure;
use super::url::NfsUrl;
use super::waiting::{Awaited, CallWait, POLL, WaitMonitor};

/// Waits between attempts to connect.
const BACKOFF: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(20)..=Duration::from_secs(2);
/// Bytes received with one system call.
const RECEIVE_BYTES: usize = 128 << 10;
/// Maximum size of a reply without its data, in bytes.
pub(super) const REPLY_HEAD_BYTES: usize = 4096;
/// Maximum data of a READ or a listing that is requested with a blocking call, in bytes.
pub(super) const DATA_BYTES_MAX: usize = 16 << 20;

/// A connection with at most one outstanding call.
#[derive(Debug)]
pub(super) struct Channel {
    peer: SocketAddr,
    /// The peer's address, for reports.
    server: String,
    privileged: bool,
    client: Client,
    stream: Option<TcpStream>,
    received: Vec<u8>,
    /// How long the connection may be silent.
    silence: Duration,
    /// Time limit of a call, including repetitions.
    deadline: Duration,
    /// Time limit of one attempt to connect.
    connect_timeout: Duration,
    monitor: Arc<WaitMonitor>,
    /// Whether any call was ever answered.
    has_answered: bool,
    reconnects: u64,
}

impl Channel {
    /// A connection to `peer` with the timeouts of `url`, opened by the first call.
    pub(super) fn new(
        peer: SocketAddr,
        privileged: bool,
        url: &NfsUrl,
        monitor: &Arc<WaitMonitor>,
    ) -> Channel {
        Channel {
            peer,
            server: peer.ip().to_string(),
            privileged,
            client: Client::new(ClientOptions {
                slots: 1,
                max_reply_bytes: DATA_BYTES_MAX + REPLY_HEAD_BYTES,
                first_generation: first_generation(),
            }),
            stream: None,
            received: vec![0; RECEIVE_BYTES],
            silence: url.timeo,
            deadline: url.timeo * 2,
            connect_timeout: url.connect_timeout,
            monitor: Arc::clone(monitor),
            has_answered: false,
            reconnects: 0,
        }
    }

    /// Connects immediately, so that an unreachable server is reported before the first call.
    pub(super) fn connect(&mut self) -> Result<(), NfsFailure> {
        if self.stream.is_none() {
            let mut waiting = CallWait::begin(&self.monitor, &self.server);
            let allowed = self.connect_timeout;
            let stream = dial::connect(self.peer, self.privileged, allowed, &mut || {
                waiting.check_wait(Awaited::Connection)
            });
            self.stream = Some(stream.map_err(|source| self.broken(source))?);
        }
        Ok(())
    }

    fn broken(&self, source: io::Error) -> NfsFailure {
        match source.kind() {
            // Signals are handled at the system call, so this is the user's cancellation.
            io::ErrorKind::Interrupted => NfsFailure::Cancelled,
            _ => NfsFailure::Connection { address: self.peer.to_string(), source },
        }
    }

    /// Shared by all connections to the export.
    pub(super) fn monitor(&self) -> &Arc<WaitMonitor> {
        &self.monitor
    }

    pub(super) fn set_monitor(&mut self, monitor: WaitMonitor) {
        self.monitor = Arc::new(monitor);
    }

    /// The peer's address, for reports.
    pub(super) fn server(&self) -> &str {
        &self.server
    }

    /// Time limit of a call, including repetitions.
    pub(super) fn deadline(&self) -> Duration {
        self.deadline
    }

    /// How often a lost connection was replaced.
    pub(super) fn reconnects(&self) -> u64 {
        self.reconnects
    }

    pub(super) fn set_deadline(&mut self, deadline: Duration) {
        self.deadline = deadline;
    }

    /// Performs one call; `take` converts its results.
    pub(super) fn call<R>(
        &mut self,
        caller: &Caller,
        arguments: &Arguments<'_>,
        take: impl Fn(Results<'_>) -> R,
    ) -> Result<R, NfsFailure> {
        if self.monitor.is_abandoned() {
            return Err(NfsFailure::Cancelled);
        }
        let slot = self.client.call(&caller.credential(), arguments);
        let slot = slot.expect("the one call before has ended");
        let began = Instant::now();
        let until = began + self.deadline;
        let mut backoff = *BACKOFF.start();
        let monitor = Arc::clone(&self.monitor);
        let server = self.server.clone();
        let mut waiting = CallWait::begin(&monitor, &server);
        let procedure = arguments.procedure().name();
        let failure = loop {
            let attempt = self.attempt(slot, until, &mut waiting, procedure, &take);
            let error = match attempt {
                Ok(result) => {
                    monitor.answered();
                    self.has_answered = true;
                    return result;
                }
                Err(error) => error,
            };
            if self.stream.take().is_some() {
                self.reconnects += 1;
            }
            // Outstanding calls stay outstanding; a partly received reply is discarded.
            drop(self.client.reconnected());
            if error.kind() == io::ErrorKind::Interrupted {
                break NfsFailure::Cancelled;
            }
            // A server that closes every connection before its first reply counts as unreachable;
            // a silent one may still reply.
            let is_lost = error.kind() != io::ErrorKind::TimedOut && !self.has_answered;
            let last = if is_lost { until.min(began + self.connect_timeout) } else { until };
            if Instant::now() + backoff >= last {
                break match error.kind() {
                    io::ErrorKind::TimedOut => NfsFailure::Deadline(self.deadline),
                    _ => self.broken(error),
                };
            }
            let awaited = match error.kind() {
                io::ErrorKind::TimedOut => Awaited::Reply(procedure),
                kind => Awaited::Reconnection(kind),
            };
            if waiting.sleep(backoff, awaited).is_err() {
                break NfsFailure::Cancelled;
            }
            backoff = (backoff * 2).min(*BACKOFF.end());
        };
        self.client.abandon(slot);
        Err(failure)
    }

    /// Sends the call and waits for its reply over one TCP connection. The outer error is the
    /// connection's.
    fn attempt<R>(
        &mut self,
        slot: u32,
        until: Instant,
        waiting: &mut CallWait<'_>,
        procedure: &'static str,
        take: &impl Fn(Results<'_>) -> R,
    ) -> io::Result<Result<R, NfsFailure>> {
        let allowed = self.silence.min(until.saturating_duration_since(Instant::now()));
        let allowed = allowed.max(Duration::from_millis(1));
        if self.stream.is_none() {
            let connect = allowed.min(self.connect_timeout);
            let stream = dial::connect(self.peer, self.privileged, connect, &mut || {
                waiting.check_wait(Awaited::Connection)
            });
            self.stream = Some(stream?);
        }
        let stream = self.stream.as_mut().expect("it was just opened");
        let step = Some(allowed.min(POLL));
        stream.set_read_timeout(step)?;
        stream.set_write_timeout(step)?;
        // The connection is not silent as long as the peer accepts or sends bytes.
        let mut last_progress = Instant::now();
        let mut check_wait = |last_progress: Instant| {
            waiting.check_wait(Awaited::Reply(procedure))?;
            match last_progress.elapsed() >= allowed || Instant::now() >= until {
                true => Err(io::Error::from(io::ErrorKind::TimedOut)),
                false => Ok(()),
            }
        };
        let mut unsent = self.client.message(slot);
        while !unsent.is_empty() {
            match stream.write(unsent) {
                Ok(bytes) => {
                    unsent = &unsent[bytes..];
                    last_progress = Instant::now();
                }
                Err(error) if is_timeout(&error) => check_wait(last_progress)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let (mut outcome, mut is_usable) = (None, true);
        while outcome.is_none() {
            // Replies to other calls do not extend the deadline.
            if Instant::now() >= until {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let bytes = match stream.read(&mut self.received) {
                Ok(0) => {
                    let closed = "the server closed the connection without an answer";
                    return Err(io::Error::new(io::ErrorKind::ConnectionReset, closed));
                }
                Ok(bytes) => bytes,
                Err(error) if is_timeout(&error) => {
                    check_wait(last_progress)?;
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            last_progress = Instant::now();
            let mut input = &self.received[..bytes];
            loop {
                match self.client.receive(&mut input) {
                    Ok(Some(Received::Completed(completion))) => {
                        outcome = Some(match completion.results() {
                            Ok(results) => Ok(take(results)),
                            Err(ReplyError::Refused(status)) => Err(NfsFailure::Refused(status)),
                            Err(malformed) => Err(NfsFailure::Malformed(malformed.to_string())),
                        });
                    }
                    Ok(Some(Received::Stale { .. })) => {}
                    Ok(None) => break,
                    Err(error) if outcome.is_none() => return Err(io::Error::other(error)),
                    // The reply is valid; only the next call needs another connection.
                    Err(_) => {
                        is_usable = false;
                        break;
                    }
                }
            }
        }
        if !is_usable {
            self.stream = None;
            drop(self.client.reconnected());
        }
        Ok(outcome.expect("the loop ends with an outcome"))
    }
}

/// Whether nothing moved within a socket's timeout.
fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

/// The first generation of a connection's xids. Random, so that a server does not take a call for a
/// repetition of one from an earlier connection with the same port.
pub(super) fn first_generation() -> u32 {
    super::random_u64() as u32
}
