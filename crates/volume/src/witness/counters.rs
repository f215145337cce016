//! What is counted of one volume, flow or client, and how two counts become one.

use crate::witness::{PROCEDURES, Procedure};

/// Upper edges of the buckets of delays added by limits, in nanoseconds; one more is without edge.
pub(crate) const DELAY_EDGES_NS: [u64; 9] = [
    0,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
    1_000_000_000,
    10_000_000_000,
    100_000_000_000,
];

/// Buckets of the gaps between arrivals: the last is for 2^38 ns (4.6 minutes) and more.
pub const GAP_BUCKETS: usize = 40;

/// What was seen of one volume, flow or client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Requests that came.
    pub arrived: u64,
    /// When the first came.
    pub first_arrival_ns: Option<u64>,
    /// When the last came.
    pub last_arrival_ns: Option<u64>,
    /// Arrivals by the gap to the one before: bucket 0 for none, bucket n for gaps from
    /// `2^(n - 1)` ns to below `2^n` ns.
    pub arrival_gaps: [u64; GAP_BUCKETS],
    /// Calls that are for no volume, such as MOUNT and NULL; nothing else here counts them.
    pub without_volume: u64,
    /// Answers that went, by the number of the procedure.
    pub operations: [u64; PROCEDURES],
    /// Of these, with an error.
    pub failed: [u64; PROCEDURES],
    /// Data in answers to READ.
    pub read_bytes: u64,
    /// Data that WRITE brought and that was taken.
    pub written_bytes: u64,
    /// Requests whose answer has not gone.
    pub outstanding: u64,
    /// The most that were so at once.
    pub outstanding_max: u64,
    /// Requests that got no answer because their connection was gone.
    pub dropped: u64,
    /// Sum of the delays that limits added.
    pub qos_delay_ns: u64,
    /// The longest of them.
    pub qos_delay_ns_max: u64,
    /// Requests by the delay that limits added; the edges are not cumulative here.
    pub qos_delays: [u64; DELAY_EDGES_NS.len() + 1],
    /// Sum of the times that the emulated storage took.
    pub storage_delay_ns: u64,
}

impl Default for Counters {
    fn default() -> Counters {
        Counters {
            arrived: 0,
            first_arrival_ns: None,
            last_arrival_ns: None,
            arrival_gaps: [0; GAP_BUCKETS],
            without_volume: 0,
            operations: [0; PROCEDURES],
            failed: [0; PROCEDURES],
            read_bytes: 0,
            written_bytes: 0,
            outstanding: 0,
            outstanding_max: 0,
            dropped: 0,
            qos_delay_ns: 0,
            qos_delay_ns_max: 0,
            qos_delays: [0; DELAY_EDGES_NS.len() + 1],
            storage_delay_ns: 0,
        }
    }
}

/// An answer that goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// To what.
    pub procedure: Procedure,
    /// Data that was read, or written and taken.
    pub bytes: u64,
    /// Whether its status is an error.
    pub failed: bool,
    /// From arrival to release by all limits.
    pub qos_delay_ns: u64,
    /// From there until it was due.
    pub storage_delay_ns: u64,
}

impl Counters {
    /// Answers of all procedures.
    pub fn completed(&self) -> u64 {
        self.operations.iter().sum()
    }

    /// Answers of a procedure.
    pub const fn of(&self, procedure: Procedure) -> u64 {
        self.operations[procedure as usize]
    }

    /// Requests that a limit delayed at all.
    pub fn throttled(&self) -> u64 {
        self.qos_delays[1..].iter().sum()
    }

    /// Adds what another counted: of two at once the most outstanding is that of the one that had
    /// more, and the gap between them is not counted.
    pub fn add(&mut self, other: &Counters) {
        let all = |mine: &mut [u64], theirs: &[u64]| {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                *mine += theirs;
            }
        };
        self.arrived += other.arrived;
        let firsts = [self.first_arrival_ns, other.first_arrival_ns];
        self.first_arrival_ns = firsts.into_iter().flatten().min();
        self.last_arrival_ns = self.last_arrival_ns.max(other.last_arrival_ns);
        all(&mut self.arrival_gaps, &other.arrival_gaps);
        self.without_volume += other.without_volume;
        all(&mut self.operations, &other.operations);
        all(&mut self.failed, &other.failed);
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
        self.outstanding += other.outstanding;
        self.outstanding_max = self.outstanding_max.max(other.outstanding_max);
        self.dropped += other.dropped;
        self.qos_delay_ns += other.qos_delay_ns;
        self.qos_delay_ns_max = self.qos_delay_ns_max.max(other.qos_delay_ns_max);
        all(&mut self.qos_delays, &other.qos_delays);
        self.storage_delay_ns += other.storage_delay_ns;
    }

    /// What was counted since `before`, an earlier state. What is no sum (instants, maxima and
    /// what is outstanding) stays as it is now.
    pub(super) fn since(&self, before: &Counters) -> Counters {
        let mut since = self.clone();
        let all = |now: &mut [u64], before: &[u64]| {
            for (now, before) in now.iter_mut().zip(before) {
                *now -= before;
            }
        };
        since.arrived -= before.arrived;
        all(&mut since.arrival_gaps, &before.arrival_gaps);
        since.without_volume -= before.without_volume;
        all(&mut since.operations, &before.operations);
        all(&mut since.failed, &before.failed);
        since.read_bytes -= before.read_bytes;
        since.written_bytes -= before.written_bytes;
        since.dropped -= before.dropped;
        since.qos_delay_ns -= before.qos_delay_ns;
        all(&mut since.qos_delays, &before.qos_delays);
        since.storage_delay_ns -= before.storage_delay_ns;
        since
    }

    pub(super) fn arrive(&mut self, now_ns: u64) {
        self.arrived += 1;
        match self.last_arrival_ns {
            Some(last_ns) => {
                let gap_ns = now_ns.saturating_sub(last_ns);
                let bucket = (u64::BITS - gap_ns.leading_zeros()) as usize;
                self.arrival_gaps[bucket.min(GAP_BUCKETS - 1)] += 1;
            }
            None => self.first_arrival_ns = Some(now_ns),
        }
        self.last_arrival_ns = Some(now_ns);
        self.outstanding += 1;
        self.outstanding_max = self.outstanding_max.max(self.outstanding);
    }

    pub(super) fn complete(&mut self, answer: &Answer) {
        let procedure = answer.procedure as usize;
        self.outstanding = self.outstanding.saturating_sub(1);
        self.operations[procedure] += 1;
        self.failed[procedure] += u64::from(answer.failed);
        match answer.procedure {
            Procedure::Read => self.read_bytes += answer.bytes,
            Procedure::Write => self.written_bytes += answer.bytes,
            _ => {}
        }
        self.qos_delay_ns += answer.qos_delay_ns;
        self.qos_delay_ns_max = self.qos_delay_ns_max.max(answer.qos_delay_ns);
        let bucket = DELAY_EDGES_NS.partition_point(|edge_ns| *edge_ns < answer.qos_delay_ns);
        self.qos_delays[bucket] += 1;
        self.storage_delay_ns += answer.storage_delay_ns;
    }

    pub(super) const fn drop_one(&mut self) {
        self.outstanding = self.outstanding.saturating_sub(1);
        self.dropped += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_between_arrivals_are_counted_by_powers_of_two() {
        let mut seen = Counters::default();
        for now_ns in [1000, 1000, 1001, 1005, 2029, 1 << 50] {
            seen.arrive(now_ns);
        }
        let expected = [(0, 1), (1, 1), (3, 1), (11, 1), (39, 1)];
        for (bucket, count) in seen.arrival_gaps.iter().enumerate() {
            let wanted = expected.iter().find(|(at, _)| *at == bucket).map_or(0, |(_, n)| *n);
            assert_eq!(*count, wanted, "bucket {bucket}");
        }
    }

    #[test]
    fn what_two_counted_is_their_sum_from_the_first_to_the_last() {
        let (mut a, mut b) = (Counters::default(), Counters::default());
        a.arrive(5);
        b.arrive(3);
        b.arrive(4);
        let answer = Answer {
            procedure: Procedure::Write,
            bytes: 10,
            failed: true,
            qos_delay_ns: 7,
            storage_delay_ns: 2,
        };
        b.complete(&answer);
        a.add(&b);
        assert_eq!((a.arrived, a.outstanding, a.outstanding_max), (3, 2, 2));
        assert_eq!((a.first_arrival_ns, a.last_arrival_ns), (Some(3), Some(5)));
        assert_eq!((a.written_bytes, a.qos_delay_ns, a.storage_delay_ns), (10, 7, 2));
        assert_eq!((a.of(Procedure::Write), a.throttled()), (1, 1));
    }
}
