//! Whether the generator and an independent witness counted the same.
//!
//! Both sides keep their books without shared code: what they agree on is not an artefact of one of
//! them.

use metrics::interval::Interval;
use metrics::run_record::RunRecord;
use metrics::witness::WitnessCounts;
use units::thousands;
use workload::op::OpKind;

/// What the generator counted, over all intervals of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Calls that its connections made, by kind of operation, each once however often it was sent.
    pub calls: [u64; OpKind::COUNT],
    /// How often calls were sent again after a connection was lost: the witness answered each of
    /// them once, or once more for each time.
    pub replays: u64,
    /// Calls that had no answer when the last interval ended: when all operations have, they are
    /// COMMITs of the client's own, and the witness may have answered them or not.
    pub unanswered: u64,
    /// Operations that failed, of all kinds.
    pub failed: u64,
    /// Bytes of operations that succeeded, by kind.
    pub bytes: [u64; OpKind::COUNT],
}

impl Told {
    /// Adds an interval.
    pub fn add(&mut self, interval: &Interval) {
        self.unanswered = 0;
        for connection in &interval.connections {
            self.unanswered += connection.outstanding_end;
            self.replays += connection.replays;
            for (sum, kind) in self.calls.iter_mut().zip(&connection.kinds) {
                *sum += kind.calls;
            }
        }
        for stream in &interval.streams {
            self.failed += stream.failed();
            for (sum, kind) in self.bytes.iter_mut().zip(&stream.kinds) {
                *sum += kind.bytes;
            }
        }
    }

    /// Of a whole run.
    pub fn of(record: &RunRecord) -> Told {
        let mut told = Told::default();
        record.intervals.iter().for_each(|interval| told.add(interval));
        told
    }

    /// Every way in which the witness counted otherwise, in words; none where both agree.
    ///
    /// Calls must be equal. Where some were sent again over a new connection, the witness may have
    /// answered them twice and so may have more, by as many at most. It has fewer only by calls
    /// that had no answer in the end. Bytes must be equal where nothing was sent again and nothing
    /// failed on either side: of an operation that failed the witness may have moved a part.
    pub fn differences(&self, witness: &WitnessCounts) -> Vec<String> {
        let mut differences = Vec::new();
        for (place, name) in ["READ", "WRITE", "COMMIT"].into_iter().enumerate() {
            let (ours, theirs) = (self.calls[place], witness.calls[place]);
            if theirs.saturating_add(self.unanswered) < ours
                || theirs > ours.saturating_add(self.replays)
            {
                let mut told = difference(&format!("{name} calls"), ours, theirs);
                if self.replays > 0 {
                    let replays = thousands(self.replays);
                    told += &format!(
                        "; {replays} calls were sent again over new connections, which explains \
                         at most as many more"
                    );
                }
                differences.push(told);
            }
        }
        if self.failed == 0 && witness.failed == 0 && self.replays == 0 {
            let read = (OpKind::Read, "bytes read", witness.read_bytes);
            let written = (OpKind::Write, "bytes written", witness.written_bytes);
            for (kind, name, theirs) in [read, written] {
                let ours = self.bytes[kind as usize];
                if ours != theirs {
                    differences.push(difference(name, ours, theirs));
                }
            }
        }
        differences
    }
}

fn difference(what: &str, ours: u64, theirs: u64) -> String {
    let (ours, theirs) = (thousands(ours), thousands(theirs));
    format!("the service counted {theirs} {what}, the generator {ours}")
}

/// What the witness of an experiment said, over all its runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Witnessed {
    /// Runs of which the witness told.
    pub runs: u32,
    /// Runs in which it counted otherwise than the generator.
    pub runs_that_differ: u32,
    /// Calls that it answered in them.
    pub calls: u64,
    /// Bytes that it gave and took.
    pub bytes: u64,
}

/// What the witness said; `None` where there was none.
pub(crate) fn witnessed(runs: &[RunRecord]) -> Option<Witnessed> {
    let mut sum = Witnessed::default();
    for record in runs {
        let Some(counts) = &record.witness else { continue };
        sum.runs += 1;
        sum.runs_that_differ += u32::from(!Told::of(record).differences(counts).is_empty());
        // A record may come from a stranger.
        for calls in counts.calls {
            sum.calls = sum.calls.saturating_add(calls);
        }
        let bytes = counts.read_bytes.saturating_add(counts.written_bytes);
        sum.bytes = sum.bytes.saturating_add(bytes);
    }
    (sum.runs > 0).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: Told =
        Told { calls: [10, 4, 1], replays: 0, unanswered: 0, failed: 0, bytes: [80, 32, 0] };
    const SAME: WitnessCounts = WitnessCounts {
        calls: [10, 4, 1],
        failed: 0,
        read_bytes: 80,
        written_bytes: 32,
        outstanding_max: 3,
    };

    #[test]
    fn equal_counts_are_no_difference_and_each_other_one_is_told() {
        assert_eq!(TOLD.differences(&SAME), Vec::<String>::new());
        let other = WitnessCounts { calls: [9, 4, 2], written_bytes: 31, ..SAME };
        assert_eq!(
            TOLD.differences(&other),
            [
                "the service counted 9 READ calls, the generator 10",
                "the service counted 2 COMMIT calls, the generator 1",
                "the service counted 31 bytes written, the generator 32"
            ]
        );
    }

    #[test]
    fn calls_that_were_sent_again_may_have_been_answered_once_or_twice() {
        let told = Told { replays: 2, ..TOLD };
        for calls in 10..=12 {
            let counts = WitnessCounts { calls: [calls, 4, 1], ..SAME };
            assert_eq!(told.differences(&counts), Vec::<String>::new(), "{calls}");
        }
        let counts = WitnessCounts { calls: [13, 4, 1], ..SAME };
        assert_eq!(
            told.differences(&counts),
            ["the service counted 13 READ calls, the generator 10; 2 calls were sent again over \
              new connections, which explains at most as many more"]
        );
        let counts = WitnessCounts { calls: [9, 4, 1], ..SAME };
        assert_eq!(told.differences(&counts).len(), 1, "each was answered at least once");
    }

    #[test]
    fn a_call_without_an_answer_at_the_end_may_be_in_the_witnesss_book_or_not() {
        let told = Told { unanswered: 1, ..TOLD };
        for (commits, differences) in [(1, 0), (0, 0), (2, 1)] {
            let counts = WitnessCounts { calls: [10, 4, commits], ..SAME };
            assert_eq!(told.differences(&counts).len(), differences, "{commits}");
        }
    }

    #[test]
    fn bytes_are_not_compared_where_operations_failed() {
        let told = Told { failed: 1, ..TOLD };
        let counts = WitnessCounts { read_bytes: 72, ..SAME };
        assert_eq!(told.differences(&counts), Vec::<String>::new());
    }
}
