//! The properties of a load point that its bottleneck can depend on: transfer size, direction,
//! access order, connections, and how evenly operations completed.

use std::collections::BTreeSet;

use metrics::run_record::RunRecord;
use workload::file_use::FileUse;
use workload::op::OpKind;
use workload::pattern::AccessPattern;
use workload::plan::Stream;

use crate::connections::ConnectionSummary;
use crate::load_point::{OpSummary, StreamSummary};
use crate::run_measured::RunMeasured;
use crate::window;

/// Fewer intervals than this give no dispersion.
const INTERVALS_MIN: usize = 5;

/// Properties of a load point's workload.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadSignature {
    /// Operations on names take part. Then the read share and the transfer size are measured, because
    /// a plan does not state what those operations move, and settings of size, direction and order have
    /// no effect on them.
    pub on_names: bool,
    /// Reads among the data operations, 0 to 1, as planned; with operations on names, bytes read among
    /// the bytes moved.
    pub read_share: f64,
    /// Mean transfer size, in bytes, as planned; with operations on names, bytes for each of all operations.
    pub transfer_bytes: f64,
    /// Operations that transfer this size among all, 0 to 1; the others are fsyncs.
    pub transfer_share: f64,
    /// Access order.
    pub order: Order,
    /// Workers over all streams.
    pub workers: u32,
    /// Hosts that execute it.
    pub hosts: u32,
    /// Hosts, and targets of each, that have equal loads: the smallest queue depth is one operation for each.
    /// 1 with several streams.
    pub parts: u32,
    /// Connections to the target; `None` if it has none or the kernel manages them.
    pub connections: Option<u32>,
    /// Volumes it used.
    pub volumes: u32,
    /// The positions of its targets in the plan, ascending.
    pub targets: Vec<u32>,
    /// Each target's share of the operations, in their order; empty for one target.
    pub target_shares: Vec<f64>,
    /// Server addresses of its targets; `None` if it has several targets and their addresses are unknown.
    pub addresses: Option<u32>,
    /// All streams are closed loops: none has an offered rate.
    pub closed: bool,
    /// Everything that affects the cost of one operation, as one line: load points with equal lines
    /// differ only in concurrency or rate.
    pub kind: String,
    /// Mean number of outstanding calls (RPCs) on a connection.
    pub calls_outstanding: Option<f64>,
    /// Calls per operation.
    pub calls_per_op: Option<f64>,
    /// Retransmitted segments per operation.
    pub retransmits_per_op: Option<f64>,
    /// Variance over mean of the operations completed in an interval: 1 where they complete at
    /// random, near 0 where a limit paces them.
    pub dispersion: Option<f64>,
}

/// Access order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// One after the other.
    Sequential,
    /// At random, uniform or skewed.
    Random,
    /// Some streams sequential, some random.
    Both,
}

impl WorkloadSignature {
    /// Of the repeats of one load point.
    pub(crate) fn of(
        records: &[&RunRecord],
        dispersions: &[f64],
        connections: &[&[ConnectionSummary]],
        total: &StreamSummary,
    ) -> WorkloadSignature {
        let run = &records[0].run;
        let streams = &run.streams;
        let positions = streams.iter().flat_map(|stream| &stream.targets.positions).copied();
        let targets: Vec<u32> = positions.collect::<BTreeSet<u32>>().into_iter().collect();
        // A stream's share of the operations is unknown beforehand: approximate it by its queue
        // depth, which is exact for one stream.
        let weight = |stream: &Stream| stream.queue_depth_total() as f64;
        let weights: f64 = streams.iter().map(weight).sum();
        let mean = |of: fn(&Stream) -> f64| {
            streams.iter().map(|s| weight(s) * of(s)).sum::<f64>() / weights.max(1.0)
        };
        let with: Vec<&[ConnectionSummary]> =
            connections.iter().copied().filter(|all| !all.is_empty()).collect();
        let all = || with.iter().flat_map(|of_run| of_run.iter());
        let operations: u64 = all().map(|one| one.operations).sum();
        let per_op = |count: u64| (operations > 0).then(|| count as f64 / operations as f64);
        let on_names = streams.iter().any(|stream| stream.names.is_some());
        let (read_share, transfer_bytes, transfer_share) = match on_names {
            true => (read_share(total), bytes_per_op(total), 1.0),
            false => (
                mean(|s| f64::from(s.read_permille) / 1000.0),
                mean(transfer_mean),
                mean(transfer_share),
            ),
        };
        WorkloadSignature {
            on_names,
            read_share,
            transfer_bytes,
            transfer_share,
            order: order(streams),
            workers: streams.iter().map(|s| s.workers).sum(),
            hosts: run.hosts.max(1),
            parts: if streams.len() == 1 { run.parts() } else { 1 },
            connections: with.first().map(|all| all.len() as u32),
            volumes: targets.len().max(1) as u32,
            target_shares: target_shares(records, &targets),
            addresses: addresses(&with, &targets),
            targets,
            closed: streams.iter().all(|s| !s.arrival.is_open() && s.arrival.users().is_none()),
            kind: streams.iter().map(kind_of).collect::<Vec<_>>().join("; "),
            calls_outstanding: mean_of(
                all().filter_map(|one| one.outstanding_mean).map(|mean| mean.value),
            ),
            calls_per_op: per_op(all().map(|one| one.calls).sum()),
            retransmits_per_op: per_op(all().map(|one| one.retransmits).sum()),
            dispersion: mean_of(dispersions.iter().copied()),
        }
    }

    /// Bytes that one of all operations moves on average; 0 if no operation moves data.
    pub fn bytes_per_op(&self) -> f64 {
        self.transfer_bytes * self.transfer_share
    }
}

/// Bytes for each completed operation of all kinds.
fn bytes_per_op(total: &StreamSummary) -> f64 {
    let completed: u64 = total.kinds.iter().map(|ops| ops.completed).sum();
    let bytes: u64 = total.kinds.iter().map(|ops| ops.bytes).sum();
    bytes as f64 / completed.max(1) as f64
}

/// Bytes read among all; 1 if none were moved, because nothing was written. A copy counts as a read.
fn read_share(total: &StreamSummary) -> f64 {
    let reads = |ops: &&OpSummary| OpKind::named(ops.name).is_some_and(OpKind::reads_data);
    let read: u64 = total.kinds.iter().filter(reads).map(|ops| ops.bytes).sum();
    let all: u64 = total.kinds.iter().map(|ops| ops.bytes).sum();
    if all > 0 { read as f64 / all as f64 } else { 1.0 }
}

/// Reads and writes among all operations: an fsync follows a number of writes.
fn transfer_share(stream: &Stream) -> f64 {
    let writes = 1.0 - f64::from(stream.read_permille) / 1000.0;
    let fsyncs = stream.fsync_every_writes.map_or(0.0, |every| writes / f64::from(every.max(1)));
    1.0 / (1.0 + fsyncs)
}

/// Each target's share of the operations in the window; empty for one target.
fn target_shares(records: &[&RunRecord], targets: &[u32]) -> Vec<f64> {
    if targets.len() < 2 {
        return Vec::new();
    }
    let mut completed = vec![0u64; targets.len()];
    let intervals = records.iter().flat_map(|record| window::common(record));
    for part in intervals.flat_map(|interval| &interval.targets) {
        if let Ok(at) = targets.binary_search(&part.target) {
            completed[at] += part.sums.kinds.iter().map(|kind| kind.completed).sum::<u64>();
        }
    }
    let total: u64 = completed.iter().sum();
    match completed.contains(&0) {
        true => Vec::new(),
        false => completed.iter().map(|count| *count as f64 / total as f64).collect(),
    }
}

/// Different server addresses of the connections. Without connections of the built-in client, one target
/// has one address.
fn addresses(connections: &[&[ConnectionSummary]], targets: &[u32]) -> Option<u32> {
    let remotes = connections.iter().flat_map(|of_run| of_run.iter()).map(|one| &one.remote);
    // Without the port.
    let addresses: BTreeSet<&str> = remotes
        .map(|remote| remote.rsplit_once(':').map_or(remote.as_str(), |(ip, _)| ip))
        .collect();
    match addresses.len() {
        0 => (targets.len() < 2).then_some(1),
        several => Some(several as u32),
    }
}

fn transfer_mean(stream: &Stream) -> f64 {
    let weights: f64 = stream.transfer_sizes.iter().map(|size| f64::from(size.weight)).sum();
    let sum: f64 =
        stream.transfer_sizes.iter().map(|s| s.size_bytes as f64 * f64::from(s.weight)).sum();
    if weights > 0.0 { sum / weights } else { 0.0 }
}

fn order(streams: &[Stream]) -> Order {
    let sequential = |s: &Stream| s.access_pattern == AccessPattern::Sequential;
    match (streams.iter().any(sequential), streams.iter().all(sequential)) {
        (_, true) => Order::Sequential,
        (true, false) => Order::Both,
        (false, false) => Order::Random,
    }
}

fn kind_of(stream: &Stream) -> String {
    if let Some(names) = &stream.names {
        return format!(
            "{names:?} {} {} {:?}",
            stream.direct, stream.dsync, stream.write_stability
        );
    }
    let sizes: Vec<String> =
        stream.transfer_sizes.iter().map(|s| format!("{}x{}", s.size_bytes, s.weight)).collect();
    let mut kind = format!(
        "{} {:?} {} {:?} {} {} {:?} {:?}",
        stream.read_permille,
        stream.access_pattern,
        sizes.join("+"),
        stream.working_set,
        stream.direct,
        stream.dsync,
        stream.write_stability,
        stream.fsync_every_writes
    );
    if !stream.file_use.is_all() {
        // The number of hosts that divide the files does not affect the cost of an operation.
        kind.push_str(&format!(" {:?}", FileUse { hosts: 1, ..stream.file_use }));
    }
    kind
}

fn mean_of(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    (count > 0.0).then(|| sum / count)
}

/// The index of dispersion of counts (Cox and Lewis, "The Statistical Analysis of Series of
/// Events", 1966, section 4.5): 1 for a Poisson process whatever the interval's length.
pub(crate) fn dispersion(measured: &RunMeasured<'_>) -> Option<f64> {
    let total = measured.total();
    // Planned changes of the rate are no randomness.
    if total.rate_varies {
        return None;
    }
    let counts = total.together(&OpKind::ALL).completed;
    let n = counts.len();
    let mean = counts.iter().sum::<f64>() / n as f64;
    if n < INTERVALS_MIN || mean <= 0.0 {
        return None;
    }
    let variance = counts.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
    Some(variance / mean)
}
