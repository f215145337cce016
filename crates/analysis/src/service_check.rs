//! Compares the generator's counts with the service-side counters.
//!
//! Both sides count without shared code, so agreement is an independent check.

use metrics::interval::Interval;
use metrics::run_record::RunRecord;
use metrics::service_counters::{PROCEDURES, ServiceCounters};
use units::thousands;
use workload::op::OpKind;

/// Kinds of operations that read data.
const READING: [OpKind; 3] = [OpKind::Read, OpKind::ReadFile, OpKind::Copy];
/// Kinds of operations that write data.
const WRITING: [OpKind; 5] =
    [OpKind::Write, OpKind::Create, OpKind::WriteFile, OpKind::Append, OpKind::Copy];

/// The generator's counts over all intervals of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GeneratorCounts {
    /// Calls by kind of operation, each counted once even if it was sent several times.
    pub calls: [u64; OpKind::COUNT],
    /// Calls repeated after a lost connection; the service may have answered each of them again.
    pub replays: u64,
    /// Calls without a reply at the end of the last interval: COMMITs of the client itself, which
    /// the service may or may not have answered.
    pub unanswered: u64,
    /// Failed operations of all kinds.
    pub failed: u64,
    /// Bytes of successful operations, by kind.
    pub bytes: [u64; OpKind::COUNT],
}

impl GeneratorCounts {
    /// Adds an interval.
    pub fn add(&mut self, interval: &Interval) {
        self.unanswered = 0;
        for connection in &interval.connections {
            self.unanswered += connection.outstanding_end;
            self.replays += connection.replays;
            for (kind, calls) in connection.kinds.entries() {
                self.calls[kind as usize] += calls.calls;
            }
        }
        for stream in &interval.streams {
            self.failed += stream.failed();
            for (of, kind) in stream.kinds.entries() {
                self.bytes[of as usize] += kind.bytes;
            }
        }
    }

    /// The counts of a run.
    pub fn of(record: &RunRecord) -> GeneratorCounts {
        let mut counts = GeneratorCounts::default();
        record.intervals.iter().for_each(|interval| counts.add(interval));
        counts
    }

    /// All differences to the service-side counters, as sentences; empty if both agree.
    ///
    /// Calls must be equal, except that the service may have more by repeated calls and fewer by
    /// unanswered calls. Bytes must be equal unless calls were repeated or operations failed,
    /// because a failed operation may have moved some bytes.
    pub fn differences(&self, service: &ServiceCounters) -> Vec<String> {
        let mut differences = Vec::new();
        for (kind, name) in PROCEDURES {
            let (ours, theirs) = (self.calls[kind as usize], service.calls[kind as usize]);
            if theirs.saturating_add(self.unanswered) < ours
                || theirs > ours.saturating_add(self.replays)
            {
                let mut text = difference(&format!("{name} calls"), ours, theirs);
                if self.replays > 0 {
                    let replays = thousands(self.replays);
                    text += &format!(
                        "; {replays} calls were repeated on new connections, which explains at most \
                         as many more"
                    );
                }
                differences.push(text);
            }
        }
        if self.failed == 0 && service.failed == 0 && self.replays == 0 {
            let read = (&READING[..], "bytes read", service.read_bytes);
            let written = (&WRITING[..], "bytes written", service.written_bytes);
            for (kinds, name, theirs) in [read, written] {
                let ours = kinds.iter().map(|kind| self.bytes[*kind as usize]).sum();
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

/// The service-side counters of an experiment, compared over all runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceCheck {
    /// Runs with service-side counters.
    pub runs: u32,
    /// Runs in which they differ from the generator's counts.
    pub runs_that_differ: u32,
    /// Calls answered.
    pub calls: u64,
    /// Bytes read and written.
    pub bytes: u64,
}

/// The comparison over all runs; `None` without service-side counters.
pub(crate) fn of_runs(runs: &[RunRecord]) -> Option<ServiceCheck> {
    let mut sum = ServiceCheck::default();
    for record in runs {
        let Some(counts) = &record.service_counters else { continue };
        sum.runs += 1;
        sum.runs_that_differ +=
            u32::from(!GeneratorCounts::of(record).differences(counts).is_empty());
        // A record from elsewhere may contain any values.
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

    const COUNTS: GeneratorCounts = GeneratorCounts {
        calls: OpKind::data_counts([10, 4, 1]),
        replays: 0,
        unanswered: 0,
        failed: 0,
        bytes: OpKind::data_counts([80, 32, 0]),
    };
    const SAME: ServiceCounters = ServiceCounters {
        calls: OpKind::data_counts([10, 4, 1]),
        failed: 0,
        read_bytes: 80,
        written_bytes: 32,
        outstanding_max: 3,
    };

    #[test]
    fn each_different_count_is_reported() {
        assert_eq!(COUNTS.differences(&SAME), Vec::<String>::new());
        let other =
            ServiceCounters { calls: OpKind::data_counts([9, 4, 2]), written_bytes: 31, ..SAME };
        assert_eq!(
            COUNTS.differences(&other),
            [
                "the service counted 9 READ calls, the generator 10",
                "the service counted 2 COMMIT calls, the generator 1",
                "the service counted 31 bytes written, the generator 32"
            ]
        );
    }

    #[test]
    fn repeated_calls_may_have_been_answered_once_or_twice() {
        let ours = GeneratorCounts { replays: 2, ..COUNTS };
        for calls in 10..=12 {
            let counts = ServiceCounters { calls: OpKind::data_counts([calls, 4, 1]), ..SAME };
            assert_eq!(ours.differences(&counts), Vec::<String>::new(), "{calls}");
        }
        let counts = ServiceCounters { calls: OpKind::data_counts([13, 4, 1]), ..SAME };
        assert_eq!(
            ours.differences(&counts),
            ["the service counted 13 READ calls, the generator 10; 2 calls were repeated on new \
              connections, which explains at most as many more"]
        );
        let counts = ServiceCounters { calls: OpKind::data_counts([9, 4, 1]), ..SAME };
        assert_eq!(ours.differences(&counts).len(), 1, "each was answered at least once");
    }

    #[test]
    fn an_unanswered_call_may_be_counted_by_the_service_or_not() {
        let ours = GeneratorCounts { unanswered: 1, ..COUNTS };
        for (commits, differences) in [(1, 0), (0, 0), (2, 1)] {
            let counts = ServiceCounters { calls: OpKind::data_counts([10, 4, commits]), ..SAME };
            assert_eq!(ours.differences(&counts).len(), differences, "{commits}");
        }
    }

    #[test]
    fn bytes_are_not_compared_if_operations_failed() {
        let ours = GeneratorCounts { failed: 1, ..COUNTS };
        let counts = ServiceCounters { read_bytes: 72, ..SAME };
        assert_eq!(ours.differences(&counts), Vec::<String>::new());
    }
}
