//! Lost and restored connections of a run: one line per change of state.
//!
//! Not for: the effect of an outage on the results, which warnings of the findings explain.

use metrics::connection::ConnectionInterval;
use metrics::interval::Interval;
use units::Nanos;
use workload::connection::down_reason;

/// The connections of a run, interval by interval.
#[derive(Debug, Default)]
pub(crate) struct ConnectionState {
    /// The reason (errno) while connections are down.
    outage: Option<i32>,
    /// The longest downtime of a connection, in nanoseconds.
    down_ns: u64,
    /// Calls repeated because of it.
    replays: u64,
}

impl ConnectionState {
    /// Takes the next interval; returns a line if the state changed.
    pub(crate) fn observe(&mut self, interval: &Interval) -> Option<String> {
        let all = &interval.connections;
        let down: Vec<&ConnectionInterval> =
            all.iter().filter(|connection| connection.down_errno != 0).collect();
        self.down_ns += all.iter().map(|connection| connection.down_ns).max().unwrap_or(0);
        self.replays += all.iter().map(|connection| connection.replays).sum::<u64>();
        let reconnects: u64 = all.iter().map(|connection| connection.reconnects).sum();
        let before = std::mem::replace(&mut self.outage, down.first().map(|one| one.down_errno));
        match (before, down.first()) {
            (before, Some(first)) if before == self.outage => {
                debug_assert!(first.down_errno != 0, "it is among those that are down");
                None
            }
            (_, Some(first)) => {
                let connections = match all.len() {
                    1 => "connection".to_owned(),
                    all => format!("{} of {all} connections", down.len()),
                };
                Some(format!("{connections} to {} lost: {}", first.remote, self.status()?))
            }
            (None, None) if reconnects == 0 => {
                (self.down_ns, self.replays) = (0, 0);
                None
            }
            (_, None) => {
                let after = Nanos(std::mem::take(&mut self.down_ns) as f64);
                let replays = std::mem::take(&mut self.replays);
                let plural = if replays == 1 { "operation" } else { "operations" };
                Some(format!("connected again after {after}, {replays} {plural} repeated"))
            }
        }
    }

    /// The current outage: `connection refused, retrying (3.00 s)`.
    pub(crate) fn status(&self) -> Option<String> {
        let reason = down_reason(self.outage?);
        Some(format!("{reason}, retrying ({})", Nanos(self.down_ns as f64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    /// A second of two connections, `down` of which are refused for all of it.
    fn second(down: usize, replays: u64, reconnects: u64) -> Interval {
        let connection = |number: usize| ConnectionInterval {
            remote: workload::connection::Endpoint::v4([10, 0, 0, 4], 2049),
            down_ns: if number < down { SECOND_NS } else { 0 },
            down_errno: if number < down { 111 } else { 0 },
            replays: if number == 0 { replays } else { 0 },
            reconnects: if number == 0 { reconnects } else { 0 },
            ..ConnectionInterval::default()
        };
        Interval { connections: (0..2).map(connection).collect(), ..Interval::default() }
    }

    #[test]
    fn each_change_of_state_is_one_line() {
        let mut state = ConnectionState::default();
        let intervals = [
            second(0, 0, 0),
            second(2, 7, 0),
            second(2, 0, 0),
            second(2, 0, 0),
            second(0, 0, 2),
            second(0, 0, 0),
        ];
        let lines: Vec<Option<String>> =
            intervals.iter().map(|interval| state.observe(interval)).collect();
        let lost =
            "2 of 2 connections to 10.0.0.4:2049 lost: connection refused, retrying (1.00 s)";
        let again = "connected again after 3.00 s, 7 operations repeated";
        let expected =
            [None, Some(lost), None, None, Some(again), None].map(|line| line.map(str::to_owned));
        assert_eq!(lines, expected);
        assert_eq!(state.status(), None);
    }

    #[test]
    fn an_outage_within_one_interval_is_reported_too() {
        let mut state = ConnectionState::default();
        let mut interval = second(0, 1, 1);
        interval.connections[0].down_ns = SECOND_NS / 2;
        let expected = "connected again after 500 ms, 1 operation repeated";
        assert_eq!(state.observe(&interval).as_deref(), Some(expected));
        assert_eq!(state.observe(&second(0, 0, 0)), None);
    }
}
