//! Lines for the one who runs the service: what happened to whom, and no flood of it.
//!
//! For: telling of strangers' behaviour without letting them fill a disk. Not for: writing lines
//! anywhere; whoever owns a terminal takes them.

/// At most so many lines of one kind in [`PERIOD_NS`].
const LINES: u32 = 5;

/// After this, lines of a kind are told again.
const PERIOD_NS: u64 = 10_000_000_000;

/// What lines are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A peer broke the protocol, and its connection was closed.
    BrokenPeer,
    /// A connection was not taken, because there are too many.
    TooManyConnections,
    /// Something did not fit into the memory that the service may use.
    OutOfMemory,
    /// The system refused something.
    System,
}

const KINDS: usize = 4;

/// Takes lines, each of them one sentence without a line feed.
pub type Log = Box<dyn FnMut(&str) + Send>;

/// Tells, with a limit for each kind.
pub struct Notices {
    log: Log,
    kinds: [Told; KINDS],
}

#[derive(Clone, Copy, Debug, Default)]
struct Told {
    since_ns: u64,
    lines: u32,
    left_out: u64,
}

impl std::fmt::Debug for Notices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Notices").field("kinds", &self.kinds).finish_non_exhaustive()
    }
}

impl Notices {
    /// Everything goes to `log`.
    pub fn new(log: Log) -> Notices {
        Notices { log, kinds: [Told::default(); KINDS] }
    }

    /// Tells something that nobody can cause at will.
    pub fn say(&mut self, line: &str) {
        (self.log)(line);
    }

    /// Tells something that strangers can cause; `line` is not made if it is one too many.
    pub fn tell(&mut self, now_ns: u64, kind: Kind, line: impl FnOnce() -> String) {
        let told = &mut self.kinds[kind as usize];
        if now_ns.saturating_sub(told.since_ns) >= PERIOD_NS {
            let left_out = told.left_out;
            *told = Told { since_ns: now_ns, ..Told::default() };
            if left_out > 0 {
                (self.log)(&format!("{left_out} more lines like the next were left out"));
            }
        }
        if told.lines < LINES {
            told.lines += 1;
            (self.log)(&line());
        } else {
            told.left_out += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn a_flood_of_one_kind_is_cut_and_counted_and_hides_no_other() {
        let (send, lines) = channel();
        let mut notices = Notices::new(Box::new(move |line| send.send(line.to_owned()).unwrap()));
        for second in 0..100 {
            notices.tell(second * 1_000_000, Kind::BrokenPeer, || format!("peer {second}"));
        }
        notices.tell(1, Kind::System, || "accept".to_owned());
        notices.tell(PERIOD_NS, Kind::BrokenPeer, || "peer again".to_owned());
        let told: Vec<String> = lines.try_iter().collect();
        assert_eq!(told[..5], ["peer 0", "peer 1", "peer 2", "peer 3", "peer 4"]);
        assert_eq!(told[5], "accept");
        assert_eq!(told[6..], ["95 more lines like the next were left out", "peer again"]);
    }
}
