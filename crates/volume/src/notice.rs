//! Log lines for the operator of the service, with a rate limit.
//!
//! For: reporting what clients do without letting them flood the log. Not for: writing the lines to a
//! terminal or file.

/// Most lines of one kind in [`PERIOD_NS`].
const LINES: u32 = 5;

/// The period of the rate limit.
const PERIOD_NS: u64 = 10_000_000_000;

/// Kinds of lines, each with a separate rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// A peer violated the protocol, and its connection was closed.
    ProtocolError,
    /// A connection was refused because too many are open.
    TooManyConnections,
    /// A write failed because the service's memory is used up.
    OutOfMemory,
    /// A system call failed.
    System,
}

const KINDS: usize = 4;

/// Receives log lines, without a line feed.
pub type Log = Box<dyn FnMut(&str) + Send>;

/// The rate-limited log.
pub struct Notices {
    log: Log,
    kinds: [Period; KINDS],
}

/// The lines of one kind in the current period.
#[derive(Clone, Copy, Debug, Default)]
struct Period {
    start_ns: u64,
    lines: u32,
    suppressed: u64,
}

impl std::fmt::Debug for Notices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Notices").field("kinds", &self.kinds).finish_non_exhaustive()
    }
}

impl Notices {
    /// Lines go to `log`.
    pub fn new(log: Log) -> Notices {
        Notices { log, kinds: [Period::default(); KINDS] }
    }

    /// Logs a line that clients cannot cause at will.
    pub fn log(&mut self, line: &str) {
        (self.log)(line);
    }

    /// Logs a line that clients can cause, within the rate limit of its kind.
    pub fn log_limited(&mut self, now_ns: u64, kind: NoticeKind, line: impl FnOnce() -> String) {
        let period = &mut self.kinds[kind as usize];
        if now_ns.saturating_sub(period.start_ns) >= PERIOD_NS {
            let suppressed = period.suppressed;
            *period = Period { start_ns: now_ns, ..Period::default() };
            if suppressed > 0 {
                (self.log)(&format!("{suppressed} more lines like the next were suppressed"));
            }
        }
        if period.lines < LINES {
            period.lines += 1;
            (self.log)(&line());
        } else {
            period.suppressed += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn lines_beyond_the_limit_of_a_kind_are_suppressed_and_counted_and_other_kinds_are_logged() {
        let (send, lines) = channel();
        let mut notices = Notices::new(Box::new(move |line| send.send(line.to_owned()).unwrap()));
        for ms in 0..100 {
            let line = || format!("peer {ms}");
            notices.log_limited(ms * 1_000_000, NoticeKind::ProtocolError, line);
        }
        notices.log_limited(1, NoticeKind::System, || "accept".to_owned());
        notices.log_limited(PERIOD_NS, NoticeKind::ProtocolError, || "peer again".to_owned());
        let logged: Vec<String> = lines.try_iter().collect();
        assert_eq!(logged[..5], ["peer 0", "peer 1", "peer 2", "peer 3", "peer 4"]);
        assert_eq!(logged[5], "accept");
        assert_eq!(logged[6..], ["95 more lines like the next were suppressed", "peer again"]);
    }
}
