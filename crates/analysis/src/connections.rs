//! The connections of a run in its window, and whether the load was even.
//!
//! A limit per network flow, or a slow server address, shows only here; totals hide it.

use metrics::connection::ConnectionInterval;
use metrics::interval::Interval;
use metrics::run_record::RunRecord;
use metrics::warning::Warning;

use crate::estimate::Estimate;
use crate::window;

/// Connections of a stream that differ by more than this share of their mean are uneven.
/// Round-robin distribution makes them differ by a call or two.
const SPREAD_MAX: f64 = 0.20;
/// With fewer operations per connection a difference may be chance.
const OPERATIONS_MIN: f64 = 1000.0;

/// One connection over the window of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectionSummary {
    /// Its worker's stream.
    pub stream: String,
    /// Its worker's lane.
    pub lane: u32,
    /// The position of the worker's host in the fleet; 0 for one host.
    pub host: u32,
    /// The position of the worker's target in the plan; 0 for one target.
    pub target: u32,
    /// Its number among those of the worker, from 0.
    pub number: u32,
    /// Local address at the end of the window: `10.0.0.9:701`.
    pub local: String,
    /// Remote address.
    pub remote: String,
    /// Operations completed in the window.
    pub operations: u64,
    /// Calls (RPCs) sent in the window.
    pub calls: u64,
    /// Bytes moved in the window.
    pub bytes: u64,
    /// Operations per second.
    pub rate: Option<Estimate>,
    /// Bytes per second.
    pub throughput: Option<Estimate>,
    /// Mean number of calls outstanding.
    pub outstanding_mean: Option<Estimate>,
    /// The kernel's smoothed round-trip time, the mean over the window's interval edges, in
    /// nanoseconds.
    pub rtt_mean_ns: Option<Estimate>,
    /// Segments retransmitted in the window.
    pub retransmits: u64,
    /// Reconnects, over the whole run.
    pub reconnects: u64,
    /// Calls sent again over a new connection, over the whole run.
    pub replays: u64,
    /// Calls repeated at the server's request (JUKEBOX), over the whole run.
    pub retries: u64,
    /// Bytes rewritten after the server restarted or lost its cache, over the whole run.
    pub rewritten_bytes: u64,
    /// Changes of the write verifier seen first on this connection of its worker, over the whole
    /// run.
    pub verifier_changes: u64,
    /// Time without a connection, over the whole run, in nanoseconds.
    pub down_ns: u64,
}

/// The spread of rates over the connections of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The least, in operations per second.
    pub least: f64,
    /// The mean.
    pub mean: f64,
    /// The most.
    pub most: f64,
}

impl Spread {
    /// The spread of these rates; `None` if there are none.
    pub fn of(rates: impl Iterator<Item = f64> + Clone) -> Option<Spread> {
        let count = rates.clone().count();
        (count > 0).then(|| Spread {
            least: rates.clone().fold(f64::INFINITY, f64::min),
            mean: rates.clone().sum::<f64>() / count as f64,
            most: rates.fold(0.0, f64::max),
        })
    }

    /// Difference between the highest and the lowest, relative to the mean.
    pub fn relative(&self) -> f64 {
        if self.mean > 0.0 { (self.most - self.least) / self.mean } else { 0.0 }
    }
}

/// The key of a connection: stream, lane, number.
type ConnectionKey = (u32, u32, u32);

fn key(connection: &ConnectionInterval) -> ConnectionKey {
    (connection.stream, connection.lane, connection.number)
}

/// The connections of a run, ordered by stream, lane and number.
pub(crate) fn of_run(record: &RunRecord) -> Vec<ConnectionSummary> {
    let mut keys: Vec<ConnectionKey> =
        record.intervals.iter().flat_map(|i| &i.connections).map(key).collect();
    keys.sort_unstable();
    keys.dedup();
    let window = window::measured(record);
    let all: Vec<&Interval> = record.intervals.iter().collect();
    keys.into_iter().map(|key| summary(record, &window, &all, key)).collect()
}

fn summary(
    record: &RunRecord,
    window: &[&Interval],
    all: &[&Interval],
    of: ConnectionKey,
) -> ConnectionSummary {
    let inside = parts(window, of);
    let whole = parts(all, of);
    let sum = |parts: &[&ConnectionInterval], number: fn(&ConnectionInterval) -> u64| {
        parts.iter().map(|part| number(part)).sum::<u64>()
    };
    let each = |number: fn(&ConnectionInterval) -> f64| -> Vec<f64> {
        inside.iter().map(|part| number(part)).collect()
    };
    let seconds = each(|part| part.span_ns as f64 / 1e9);
    let rtts: Vec<f64> =
        inside.iter().filter_map(|part| part.tcp).map(|tcp| tcp.rtt_ns as f64).collect();
    let (stream, lane, number) = of;
    let last = inside.last().or(whole.last());
    let run = &record.run;
    let of_worker = run.streams.get(stream as usize);
    ConnectionSummary {
        stream: of_worker.map_or_else(String::new, |stream| stream.name.clone()),
        lane,
        host: of_worker.map_or(0, |stream| run.host_of(stream, lane)),
        target: of_worker.map_or(0, |stream| stream.target_lane(run.hosts, lane).target),
        number,
        local: last.map_or_else(String::new, |part| part.local.to_string()),
        remote: last.map_or_else(String::new, |part| part.remote.to_string()),
        operations: sum(&inside, ConnectionInterval::operations),
        calls: sum(&inside, ConnectionInterval::calls),
        bytes: sum(&inside, ConnectionInterval::bytes),
        rate: Estimate::of_ratio(&each(|part| part.operations() as f64), &seconds),
        throughput: Estimate::of_ratio(&each(|part| part.bytes() as f64), &seconds),
        outstanding_mean: Estimate::of_ratio(
            &each(|part| part.outstanding_time_ns as f64),
            &each(|part| part.span_ns as f64),
        ),
        rtt_mean_ns: Estimate::of_ratio(&rtts, &vec![1.0; rtts.len()]),
        retransmits: sum(&inside, |part| part.tcp.map_or(0, |tcp| tcp.retransmits)),
        reconnects: sum(&whole, |part| part.reconnects),
        replays: sum(&whole, |part| part.replays),
        retries: sum(&whole, |part| part.retries),
        rewritten_bytes: sum(&whole, |part| part.rewritten_bytes),
        verifier_changes: sum(&whole, |part| part.verifier_changes),
        down_ns: sum(&whole, |part| part.down_ns),
    }
}

fn parts<'i>(intervals: &[&'i Interval], of: ConnectionKey) -> Vec<&'i ConnectionInterval> {
    let all = intervals.iter().flat_map(|interval| &interval.connections);
    all.filter(|connection| key(connection) == of).collect()
}

/// Warnings about the connections of a run.
pub(crate) fn warnings(connections: &[ConnectionSummary]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let lost = connections.iter().filter(|connection| connection.reconnects > 0);
    if lost.clone().count() > 0 {
        warnings.push(Warning::ConnectionReestablished {
            connections: lost.clone().count() as u64,
            reconnects: lost.clone().map(|connection| connection.reconnects).sum(),
            replays: lost.map(|connection| connection.replays).sum(),
        });
    }
    warnings.extend(restarts(connections));
    let mut streams: Vec<&str> = connections.iter().map(|c| c.stream.as_str()).collect();
    streams.dedup();
    let spread_of = |stream: &str| {
        let of_stream = connections.iter().filter(|c| c.stream == stream);
        let enough = of_stream.clone().map(|c| c.operations as f64).sum::<f64>()
            >= OPERATIONS_MIN * of_stream.clone().count() as f64;
        let rates = of_stream.map(|c| c.rate.map_or(0.0, |rate| rate.value));
        Spread::of(rates).filter(|spread| enough && spread.relative() > SPREAD_MAX)
    };
    let uneven = streams.into_iter().filter_map(spread_of);
    let most = uneven.max_by(|a, b| a.relative().total_cmp(&b.relative()));
    warnings.extend(most.map(|spread| Warning::ConnectionsUneven {
        least: spread.least,
        most: spread.most,
        spread: spread.relative(),
    }));
    warnings
}

/// Restarts of the server. Each worker sees all of them, so they are not added up.
fn restarts(connections: &[ConnectionSummary]) -> Option<Warning> {
    let workers = connections.chunk_by(|a, b| (&a.stream, a.lane) == (&b.stream, b.lane));
    let seen = workers.map(|own| own.iter().map(|one| one.verifier_changes).sum::<u64>());
    let times = seen.max().filter(|times| *times > 0)?;
    let rewritten_bytes = connections.iter().map(|one| one.rewritten_bytes).sum();
    Some(Warning::ServerRestarted { times, rewritten_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_the_difference_over_the_mean() {
        let spread = Spread::of([80.0, 100.0, 120.0].into_iter()).expect("there are three");
        assert_eq!((spread.least, spread.mean, spread.most), (80.0, 100.0, 120.0));
        assert!((spread.relative() - 0.4).abs() < 1e-12);
        assert_eq!(Spread::of(std::iter::empty()), None);
        assert_eq!(Spread::of([0.0].into_iter()).map(|spread| spread.relative()), Some(0.0));
    }

    /// A connection of worker `lane` with its operations in 10 s.
    fn connection(stream: &str, lane: u32, operations: u64) -> ConnectionSummary {
        ConnectionSummary {
            stream: stream.to_owned(),
            lane,
            host: 0,
            target: 0,
            number: 0,
            local: String::new(),
            remote: String::new(),
            operations,
            calls: operations,
            bytes: 0,
            rate: Some(Estimate::bare(operations as f64 / 10.0)),
            throughput: None,
            outstanding_mean: None,
            rtt_mean_ns: None,
            retransmits: 0,
            reconnects: 0,
            replays: 0,
            retries: 0,
            rewritten_bytes: 0,
            verifier_changes: 0,
            down_ns: 0,
        }
    }

    #[test]
    fn connections_are_uneven_beyond_a_fifth_with_a_thousand_operations_each() {
        let uneven = |operations: &[u64]| {
            let all: Vec<_> = operations.iter().map(|count| connection("a", 0, *count)).collect();
            match &warnings(&all)[..] {
                [Warning::ConnectionsUneven { least, most, spread }] => {
                    Some((*least, *most, *spread))
                }
                [] => None,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(uneven(&[900, 1100]), None, "a fifth");
        assert_eq!(uneven(&[800, 1200]), Some((80.0, 120.0, 0.4)));
        assert_eq!(uneven(&[799, 1200]), None, "fewer than a thousand each");
        // The stream with the larger spread.
        let streams = [("a", 1000), ("a", 1500), ("b", 1000), ("b", 3000)];
        let all = streams.map(|(stream, operations)| connection(stream, 0, operations));
        let [Warning::ConnectionsUneven { spread, .. }] = &warnings(&all)[..] else {
            panic!("{:?}", warnings(&all))
        };
        assert_eq!(*spread, 1.0);
    }

    #[test]
    fn lost_connections_and_their_repeated_calls_are_added_up() {
        let mut all = [("a", 0), ("a", 1), ("b", 0)].map(|(name, lane)| connection(name, lane, 1));
        (all[0].reconnects, all[0].replays) = (2, 5);
        (all[2].reconnects, all[2].replays) = (1, 3);
        all[1].replays = 100;
        let [Warning::ConnectionReestablished { connections, reconnects, replays }] =
            warnings(&all)[..]
        else {
            panic!("{:?}", warnings(&all))
        };
        assert_eq!((connections, reconnects, replays), (2, 3, 8));
    }

    #[test]
    fn each_worker_sees_all_restarts_of_the_server() {
        let mut all =
            [("a", 0), ("a", 0), ("a", 1), ("b", 0)].map(|(name, lane)| connection(name, lane, 1));
        for (one, (changes, bytes)) in all.iter_mut().zip([(1, 10), (1, 20), (1, 30), (2, 40)]) {
            (one.verifier_changes, one.rewritten_bytes) = (changes, bytes);
        }
        let Some(Warning::ServerRestarted { times, rewritten_bytes }) = restarts(&all) else {
            panic!("{:?}", restarts(&all))
        };
        assert_eq!((times, rewritten_bytes), (2, 100));
        assert_eq!(restarts(&[connection("a", 0, 1)]), None);
    }
}
