//! One connection in one interval: the differences of its counters.
//!
//! A worker copies its target's counters into its tally at the interval's edge. The collector
//! computes the differences, so that the worker does not have to.

use workload::connection::{CallCounters, ConnectionCounters, Endpoint, TcpState};
use workload::kind_table::KindTable;
use workload::op::OpKind;

/// The activity of one connection in one interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionInterval {
    /// Index of its worker's stream.
    pub stream: u32,
    /// Its worker's lane.
    pub lane: u32,
    /// Its number among the worker's connections, from 0.
    pub number: u32,
    /// The local address at the end of the interval.
    pub local: Endpoint,
    /// The remote address.
    pub remote: Endpoint,
    /// By operation kind, for the kinds that occurred.
    pub kinds: KindTable<CallCounters>,
    /// Unanswered calls at the end of the interval.
    pub outstanding_end: u64,
    /// Time integral of the outstanding calls, in calls × nanoseconds.
    pub outstanding_time_ns: u128,
    /// The time covered by the integral, in nanoseconds: the interval, between the times at which
    /// the worker noticed its edges.
    pub span_ns: u64,
    /// How often the connection was replaced.
    pub reconnects: u64,
    /// Calls repeated over a new connection.
    pub replays: u64,
    /// Calls repeated at the server's request (JUKEBOX).
    pub retries: u64,
    /// Bytes rewritten because the server restarted or lost its cache; included in `kinds`.
    pub rewritten_bytes: u64,
    /// Changes of the write verifier that were first seen on this connection.
    pub verifier_changes: u64,
    /// Time without a connection, in nanoseconds.
    pub down_ns: u64,
    /// Why there was no connection at the end of the interval, as a Linux error number; 0 if there
    /// was one.
    pub down_errno: i32,
    /// The round-trip times at the end of the interval, and the segments retransmitted during it.
    pub tcp: Option<TcpState>,
}

impl ConnectionInterval {
    /// The difference of two readings of the counters. Without an earlier reading all counters
    /// started at 0, and the integral covers at most `interval_ns`.
    pub fn between(
        before: Option<&ConnectionCounters>,
        after: &ConnectionCounters,
        interval_ns: u64,
    ) -> ConnectionInterval {
        let none = ConnectionCounters::default();
        let (start, span_max_ns) = match before {
            Some(before) => (before, u64::MAX),
            None => (&none, interval_ns),
        };
        let between = |kind: OpKind| {
            let (after, before) = (&after.kinds[kind as usize], &start.kinds[kind as usize]);
            CallCounters {
                operations: after.operations.saturating_sub(before.operations),
                calls: after.calls.saturating_sub(before.calls),
                bytes: after.bytes.saturating_sub(before.bytes),
            }
        };
        let kinds = OpKind::ALL.into_iter().map(|kind| (kind, between(kind)));
        let kinds = kinds.filter(|(_, calls)| *calls != CallCounters::default()).collect();
        let retransmits = start.tcp.map_or(0, |tcp| tcp.retransmits);
        ConnectionInterval {
            stream: 0,
            lane: 0,
            number: 0,
            local: after.local,
            remote: after.remote,
            kinds,
            outstanding_end: after.outstanding,
            outstanding_time_ns: after
                .outstanding_time_ns
                .saturating_sub(start.outstanding_time_ns),
            span_ns: after.age_ns.saturating_sub(start.age_ns).min(span_max_ns),
            reconnects: after.reconnects.saturating_sub(start.reconnects),
            replays: after.replays.saturating_sub(start.replays),
            retries: after.retries.saturating_sub(start.retries),
            rewritten_bytes: after.rewritten_bytes.saturating_sub(start.rewritten_bytes),
            verifier_changes: after.verifier_changes.saturating_sub(start.verifier_changes),
            down_ns: after.down_time_ns.saturating_sub(start.down_time_ns),
            down_errno: after.down_errno,
            tcp: after.tcp.map(|tcp| TcpState {
                retransmits: tcp.retransmits.saturating_sub(retransmits),
                ..tcp
            }),
        }
    }

    /// Completed operations of all kinds.
    pub fn operations(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.operations).sum()
    }

    /// Calls of all kinds; a call repeated over a new connection counts once.
    pub fn calls(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.calls).sum()
    }

    /// Bytes moved by all kinds.
    pub fn bytes(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use workload::connection::data_calls;

    use super::*;

    fn counters(scale: u64) -> ConnectionCounters {
        let kind = |offset: u64| CallCounters {
            operations: (offset + 1) * scale,
            calls: (offset + 2) * scale,
            bytes: (offset + 3) * scale,
        };
        ConnectionCounters {
            local: Endpoint::v4([127, 0, 0, 1], 700 + scale as u16),
            remote: Endpoint::v4([127, 0, 0, 1], 2049),
            kinds: data_calls([kind(0), kind(10), kind(20)]),
            outstanding: scale,
            outstanding_time_ns: u128::from(scale) * 100,
            age_ns: scale * 1000,
            reconnects: scale,
            replays: 2 * scale,
            retries: 3 * scale,
            rewritten_bytes: 5 * scale,
            verifier_changes: 6 * scale,
            down_time_ns: 7 * scale,
            down_errno: 100 + scale as i32,
            tcp: Some(TcpState { rtt_ns: scale, rtt_deviation_ns: 7, retransmits: 4 * scale }),
        }
    }

    #[test]
    fn an_interval_is_the_difference_of_two_readings_with_the_state_at_its_end() {
        let found = ConnectionInterval::between(Some(&counters(2)), &counters(5), 1);
        let expected = ConnectionInterval {
            local: Endpoint::v4([127, 0, 0, 1], 705),
            remote: Endpoint::v4([127, 0, 0, 1], 2049),
            kinds: OpKind::ALL.into_iter().zip(counters(3).kinds).collect(),
            outstanding_end: 5,
            outstanding_time_ns: 300,
            span_ns: 3000,
            reconnects: 3,
            replays: 6,
            retries: 9,
            rewritten_bytes: 15,
            verifier_changes: 18,
            down_ns: 21,
            down_errno: 105,
            tcp: Some(TcpState { rtt_ns: 5, rtt_deviation_ns: 7, retransmits: 12 }),
            ..ConnectionInterval::default()
        };
        assert_eq!(found, expected);
        assert_eq!((found.operations(), found.calls(), found.bytes()), (99, 108, 117));
    }

    #[test]
    fn the_first_interval_does_not_count_the_time_before_the_run() {
        let found = ConnectionInterval::between(None, &counters(5), 1200);
        assert_eq!((found.span_ns, found.outstanding_time_ns), (1200, 500));
    }
}
