//! The counts of one interval in the form of the engine and the kernel.

use std::collections::BTreeMap;

use metrics::connection::ConnectionInterval;
use metrics::histogram::{Counts, bucket_of};
use metrics::host_state::{HostInterval, ProcessorTimes};
use metrics::interval::{Interval, KindInterval, StreamInterval, TargetInterval, WorkerInterval};
use metrics::wire::{CounterSource, WireInterval};
use workload::connection::{CallCounters, TcpState};
use workload::kind_table::KindTable;
use workload::op::OpKind;

/// Weight of a new sample in the kernel's smoothed round-trip time (RFC 6298, section 2).
const SMOOTHING: f64 = 0.125;
/// Bytes of headers per operation in a mount's counters.
const MOUNT_HEADERS: u64 = 150;

/// The counters of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Connection {
    outstanding: u64,
    since_ns: f64,
    integral: f64,
    calls: u64,
    bytes: u64,
    rtt_ns: f64,
}

impl Connection {
    pub(super) fn sent(&mut self, now: f64) {
        self.count(now);
        self.outstanding += 1;
    }

    pub(super) fn answered(&mut self, now: f64, bytes: u64) {
        self.count(now);
        self.outstanding -= 1;
        self.calls += 1;
        self.bytes += bytes;
    }

    pub(super) fn round_trip(&mut self, sample_ns: f64) {
        self.rtt_ns += SMOOTHING * (sample_ns - self.rtt_ns);
    }

    fn count(&mut self, now: f64) {
        self.integral += self.outstanding as f64 * (now - self.since_ns);
        self.since_ns = now;
    }
}

/// The load of the client's host.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostLoad {
    /// Number of such hosts; totals of several have no state of a host.
    pub(super) hosts: u32,
    pub(super) processors: u32,
    /// Number of processors that other processes would use.
    pub(super) other_load: f64,
    /// Factor by which this process's work takes longer because of them.
    pub(super) slowdown: f64,
}

/// One operation kind in the current interval.
#[derive(Clone, Debug, Default)]
struct Kind {
    completed: u64,
    bytes: u64,
    wire_bytes: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
    buckets: BTreeMap<u32, u64>,
}

/// The current interval and the complete ones.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    pub(super) intervals: Vec<Interval>,
    pub(super) issued: u64,
    /// CPU time of each worker in nanoseconds.
    pub(super) cpu_ns: Vec<f64>,
    pub(super) connections: Vec<Connection>,
    /// Reads, writes.
    kinds: [Kind; 2],
    /// Operations and bytes of the kinds on each target; empty with one target.
    targets: Vec<[(u64, u64); 2]>,
    outstanding_start: u64,
}

impl HostLoad {
    /// The kernel's counters while this process used `own_ns`.
    fn interval(&self, own_ns: u64, length_ns: u64) -> HostInterval {
        let all_ns = u64::from(self.processors) * length_ns;
        let others_ns = (self.other_load * length_ns as f64) as u64;
        let busy_ns = (own_ns + others_ns).min(all_ns);
        let delay_ns = own_ns as f64 * (self.slowdown - 1.0);
        HostInterval {
            span_ns: length_ns,
            processors: Some(self.processors),
            times: Some(ProcessorTimes { busy_ns, idle_ns: all_ns - busy_ns, steal_ns: 0 }),
            run_queue_delay_ns: Some(delay_ns as u64),
            ..HostInterval::default()
        }
    }
}

impl Tally {
    pub(super) fn new(workers: usize, connections: usize, targets: usize, rtt_ns: f64) -> Tally {
        Tally {
            intervals: Vec::new(),
            issued: 0,
            cpu_ns: vec![0.0; workers],
            connections: vec![Connection { rtt_ns, ..Connection::default() }; connections],
            kinds: Default::default(),
            targets: if targets > 1 { vec![Default::default(); targets] } else { Vec::new() },
            outstanding_start: 0,
        }
    }

    /// The end of the current interval.
    pub(super) fn next_edge_ns(&self, interval_ns: u64) -> u64 {
        (self.intervals.len() as u64 + 1) * interval_ns
    }

    pub(super) fn complete(&mut self, kind: OpKind, target: usize, took_ns: u64, bytes: u64) {
        if let Some(part) = self.targets.get_mut(target) {
            let part = &mut part[usize::from(kind == OpKind::Write)];
            *part = (part.0 + 1, part.1 + bytes);
        }
        let kind = &mut self.kinds[usize::from(kind == OpKind::Write)];
        kind.completed += 1;
        kind.bytes += bytes;
        kind.sum_ns += u128::from(took_ns);
        kind.min_ns = if kind.min_ns == 0 { took_ns } else { kind.min_ns.min(took_ns) };
        kind.max_ns = kind.max_ns.max(took_ns);
        *kind.buckets.entry(bucket_of(took_ns)).or_default() += 1;
    }

    /// Counts bytes of an operation that passed over the wire.
    pub(super) fn wire(&mut self, kind: OpKind, bytes: u64) {
        self.kinds[usize::from(kind == OpKind::Write)].wire_bytes += bytes + MOUNT_HEADERS;
    }

    /// Ends the interval; `depth` operations are always outstanding.
    pub(super) fn turn(&mut self, interval_ns: u64, depth: u64, host: &HostLoad, of_mount: bool) {
        let index = self.intervals.len() as u64;
        let (start_ns, end_ns) = (index * interval_ns, (index + 1) * interval_ns);
        let tallies = std::mem::take(&mut self.kinds);
        let wire = WireInterval {
            source: CounterSource::NfsMount,
            received_bytes: tallies[0].wire_bytes,
            sent_bytes: tallies[1].wire_bytes,
        };
        let completed: u64 = tallies.iter().map(|kind| kind.completed).sum();
        let mut kinds = KindTable::<KindInterval>::default();
        for (tally, kind) in tallies.into_iter().zip([OpKind::Read, OpKind::Write]) {
            let counts = Counts {
                buckets: tally.buckets.into_iter().collect(),
                over_range: 0,
                sum_ns: tally.sum_ns,
                min_ns: tally.min_ns,
                max_ns: tally.max_ns,
            };
            kinds[kind as usize] = KindInterval {
                completed: tally.completed,
                bytes: tally.bytes,
                service: counts.clone(),
                response: counts,
                ..KindInterval::default()
            };
        }
        let targets = self.targets.iter_mut().zip(0..).map(|(part, target)| {
            let mut sums = StreamInterval::default();
            for ((completed, bytes), kind) in
                std::mem::take(part).into_iter().zip([OpKind::Read, OpKind::Write])
            {
                sums.kinds[kind as usize] =
                    KindInterval { completed, bytes, ..KindInterval::default() };
            }
            TargetInterval { stream: 0, target, sums }
        });
        let targets: Vec<TargetInterval> = targets.collect();
        let outstanding_end = self.outstanding_start + self.issued - completed;
        let stream = StreamInterval {
            issued: self.issued,
            outstanding_start: self.outstanding_start,
            outstanding_end,
            outstanding_time_ns: u128::from(depth) * u128::from(interval_ns),
            kinds,
            ..StreamInterval::default()
        };
        (self.issued, self.outstanding_start) = (0, outstanding_end);
        let max_ns = interval_ns as f64 / host.slowdown;
        let worker = |(lane, cpu_ns): (usize, &mut f64)| {
            let cpu_ns = std::mem::take(cpu_ns).min(max_ns) as u64;
            WorkerInterval { stream: 0, lane: lane as u32, cpu_ns }
        };
        let workers: Vec<WorkerInterval> = self.cpu_ns.iter_mut().enumerate().map(worker).collect();
        let process_user_ns = workers.iter().map(|worker| worker.cpu_ns).sum();
        let connections = match of_mount {
            true => Vec::new(),
            false => self.connections(end_ns as f64, interval_ns),
        };
        self.intervals.push(Interval {
            index: index as u32,
            start_ns,
            end_ns,
            streams: vec![stream],
            targets,
            workers,
            connections,
            wire: if of_mount { vec![wire] } else { Vec::new() },
            process_user_ns,
            host: (host.hosts == 1).then(|| host.interval(process_user_ns, interval_ns)),
            ..Interval::default()
        });
    }

    fn connections(&mut self, end_ns: f64, interval_ns: u64) -> Vec<ConnectionInterval> {
        let one = |(number, connection): (usize, &mut Connection)| {
            connection.count(end_ns);
            let calls = CallCounters {
                operations: connection.calls,
                calls: connection.calls,
                bytes: connection.bytes,
            };
            let mut kinds = KindTable::<CallCounters>::default();
            kinds[OpKind::Read as usize] = calls;
            let interval = ConnectionInterval {
                number: number as u32,
                kinds,
                outstanding_end: connection.outstanding,
                outstanding_time_ns: connection.integral as u128,
                span_ns: interval_ns,
                tcp: Some(TcpState { rtt_ns: connection.rtt_ns as u64, ..TcpState::default() }),
                ..ConnectionInterval::default()
            };
            (connection.calls, connection.bytes, connection.integral) = (0, 0, 0.0);
            interval
        };
        self.connections.iter_mut().enumerate().map(one).collect()
    }
}
