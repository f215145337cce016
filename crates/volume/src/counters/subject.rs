//! The counters of one volume, flow or client.

use super::procedure::{PROCEDURES, Procedure};

/// Upper edges of the buckets of delays added by limits, in nanoseconds. One further bucket has no
/// upper edge.
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

/// Buckets of gaps between arrivals; the last is for 2^38 ns (4.6 minutes) and more.
pub const GAP_BUCKETS: usize = 40;

/// Counters of one volume, flow or client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Requests that arrived.
    pub arrived: u64,
    /// When the first request arrived, on the service's clock.
    pub first_arrival_ns: Option<u64>,
    /// When the last request arrived, on the service's clock.
    pub last_arrival_ns: Option<u64>,
    /// Arrivals by the gap since the arrival before: bucket 0 for no gap, bucket n for gaps from
    /// `2^(n - 1)` ns to below `2^n` ns.
    pub arrival_gaps: [u64; GAP_BUCKETS],
    /// Calls for no volume, such as MOUNT and NULL. No other counter includes them.
    pub calls_without_volume: u64,
    /// Replies, by procedure number.
    pub operations: [u64; PROCEDURES],
    /// Replies with an error, by procedure number.
    pub failed: [u64; PROCEDURES],
    /// Bytes returned by READ.
    pub read_bytes: u64,
    /// Bytes accepted by WRITE.
    pub written_bytes: u64,
    /// Requests that are not answered yet.
    pub outstanding: u64,
    /// The maximum of `outstanding`.
    pub outstanding_max: u64,
    /// Requests that got no reply because their connection closed.
    pub dropped: u64,
    /// Sum of the delays added by limits.
    pub qos_delay_ns: u64,
    /// The longest delay added by limits.
    pub qos_delay_ns_max: u64,
    /// Replies by the delay added by limits, not cumulative: none, up to 10 µs, 100 µs and so on up
    /// to 100 s, and longer.
    pub qos_delays: [u64; DELAY_EDGES_NS.len() + 1],
    /// Sum of the delays of the emulated storage.
    pub storage_delay_ns: u64,
}

impl Default for Counters {
    fn default() -> Counters {
        Counters {
            arrived: 0,
            first_arrival_ns: None,
            last_arrival_ns: None,
            arrival_gaps: [0; GAP_BUCKETS],
            calls_without_volume: 0,
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

/// A reply as counters see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedReply {
    /// The procedure of the request.
    pub procedure: Procedure,
    /// Bytes read, or written and accepted.
    pub bytes: u64,
    /// Whether its status is an error.
    pub failed: bool,
    /// From arrival to release by all limits.
    pub qos_delay_ns: u64,
    /// From the release until the reply was due.
    pub storage_delay_ns: u64,
}

impl Counters {
    /// Replies of all procedures.
    pub fn completed(&self) -> u64 {
        self.operations.iter().sum()
    }

    /// Replies of a procedure.
    pub const fn of(&self, procedure: Procedure) -> u64 {
        self.operations[procedure as usize]
    }

    /// Requests delayed by a limit.
    pub fn throttled(&self) -> u64 {
        self.qos_delays[1..].iter().sum()
    }

    /// Adds other counters. `outstanding_max` is the larger of the two, and the gap between their
    /// arrivals is not counted.
    pub(super) fn add(&mut self, other: &Counters) {
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
        self.calls_without_volume += other.calls_without_volume;
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

    /// What was counted since `before`, an earlier state. Values that are not sums (instants, maxima
    /// and `outstanding`) stay as they are now.
    pub(super) fn since(&self, before: &Counters) -> Counters {
        let mut since = self.clone();
        let all = |now: &mut [u64], before: &[u64]| {
            for (now, before) in now.iter_mut().zip(before) {
                *now -= before;
            }
        };
        since.arrived -= before.arrived;
        all(&mut since.arrival_gaps, &before.arrival_gaps);
        since.calls_without_volume -= before.calls_without_volume;
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

    pub(super) fn complete(&mut self, reply: &CountedReply) {
        let procedure = reply.procedure as usize;
        self.outstanding = self.outstanding.saturating_sub(1);
        self.operations[procedure] += 1;
        self.failed[procedure] += u64::from(reply.failed);
        match reply.procedure {
            Procedure::Read => self.read_bytes += reply.bytes,
            Procedure::Write => self.written_bytes += reply.bytes,
            _ => {}
        }
        self.qos_delay_ns += reply.qos_delay_ns;
        self.qos_delay_ns_max = self.qos_delay_ns_max.max(reply.qos_delay_ns);
        let bucket = DELAY_EDGES_NS.partition_point(|edge_ns| *edge_ns < reply.qos_delay_ns);
        self.qos_delays[bucket] += 1;
        self.storage_delay_ns += reply.storage_delay_ns;
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
        let mut counters = Counters::default();
        for now_ns in [1000, 1000, 1001, 1005, 2029, 1 << 50] {
            counters.arrive(now_ns);
        }
        let once = [0, 1, 3, 11, 39];
        for (bucket, count) in counters.arrival_gaps.iter().enumerate() {
            assert_eq!(*count, u64::from(once.contains(&bucket)), "bucket {bucket}");
        }
    }

    #[test]
    fn two_added_counters_are_their_sum_from_the_first_arrival_to_the_last() {
        let (mut a, mut b) = (Counters::default(), Counters::default());
        a.arrive(5);
        b.arrive(3);
        b.arrive(4);
        b.complete(&CountedReply {
            procedure: Procedure::Write,
            bytes: 10,
            failed: true,
            qos_delay_ns: 7,
            storage_delay_ns: 2,
        });
        a.add(&b);
        assert_eq!((a.arrived, a.outstanding, a.outstanding_max), (3, 2, 2));
        assert_eq!((a.first_arrival_ns, a.last_arrival_ns), (Some(3), Some(5)));
        assert_eq!((a.written_bytes, a.qos_delay_ns, a.storage_delay_ns), (10, 7, 2));
        assert_eq!((a.of(Procedure::Write), a.throttled()), (1, 1));
    }
}
