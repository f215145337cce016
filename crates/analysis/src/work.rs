//! What a load point did to the target, as far as the cause of its rate can depend on it: how
//! large, in which direction, in what order, over how many connections, and how evenly it went.

use workload::op::OpKind;
use workload::pattern::AccessPattern;
use workload::plan::{Run, Stream};

use crate::connections::ConnectionSummary;
use crate::load_point::RunMeasured;

/// The parameter that says over how many volumes a run was spread.
pub const VOLUMES: &str = "volumes";

/// Fewer intervals than this say nothing about how evenly operations completed.
const INTERVALS_MIN: usize = 5;

/// What a load point did.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// Reads among the data operations, 0 to 1, as planned.
    pub read_share: f64,
    /// Mean transfer size, in bytes, as planned.
    pub transfer_bytes: f64,
    /// In which order places were touched.
    pub order: Order,
    /// Workers over all streams.
    pub workers: u32,
    /// Connections to the target; `None` where the target has none of its own or the kernel keeps
    /// them.
    pub connections: Option<u32>,
    /// Volumes it was spread over.
    pub volumes: u32,
    /// Every stream waits for its operations: none has an offered rate.
    pub closed: bool,
    /// Everything that changes what one operation costs, in one line: two load points with the same
    /// line ask the same of the target, more or less of it at a time.
    pub kind: String,
    /// Calls (RPCs) that were sent and not answered, on average for each connection.
    pub calls_outstanding: Option<f64>,
    /// Calls for each operation.
    pub calls_per_op: Option<f64>,
    /// The kernel's smoothed round-trip time, the mean over connections, in nanoseconds.
    pub rtt_ns: Option<f64>,
    /// Segments sent again for each operation.
    pub retransmits_per_op: Option<f64>,
    /// Variance over mean of the operations completed in an interval: 1 where they complete at
    /// random, near 0 where something lets them pass at a steady rate.
    pub dispersion: Option<f64>,
}

/// In which order places are touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// One after the other.
    Sequential,
    /// At random, evenly or not.
    Random,
    /// Some streams the one, some the other.
    Both,
}

impl Work {
    /// Of the repeats of one load point.
    pub(crate) fn of(run: &Run, dispersions: &[f64], connections: &[&[ConnectionSummary]]) -> Work {
        let streams = &run.streams;
        // A stream's share of the operations is not known beforehand; its queue depth is the best
        // guess, and exact where there is one stream.
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
        Work {
            read_share: mean(|s| f64::from(s.read_permille) / 1000.0),
            transfer_bytes: mean(transfer_mean),
            order: order(streams),
            workers: streams.iter().map(|s| s.workers).sum(),
            connections: with.first().map(|all| all.len() as u32),
            volumes: volumes(run),
            closed: streams.iter().all(|s| s.arrival.offered_rate().is_none()),
            kind: streams.iter().map(kind_of).collect::<Vec<_>>().join("; "),
            calls_outstanding: mean_of(
                all().filter_map(|one| one.outstanding_mean).map(|mean| mean.value),
            ),
            calls_per_op: per_op(all().map(|one| one.calls).sum()),
            rtt_ns: mean_of(
                all()
                    .filter(|one| one.operations > 0)
                    .filter_map(|one| one.rtt_mean_ns)
                    .map(|rtt| rtt.value),
            ),
            retransmits_per_op: per_op(all().map(|one| one.retransmits).sum()),
            dispersion: mean_of(dispersions.iter().copied()),
        }
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

fn volumes(run: &Run) -> u32 {
    let named = run.parameters.iter().find(|(key, _)| key == VOLUMES);
    named.and_then(|(_, value)| value.parse().ok()).unwrap_or(1)
}

fn kind_of(stream: &Stream) -> String {
    let sizes: Vec<String> =
        stream.transfer_sizes.iter().map(|s| format!("{}x{}", s.size_bytes, s.weight)).collect();
    format!(
        "{} {:?} {} {:?} {} {} {:?} {:?}",
        stream.read_permille,
        stream.access_pattern,
        sizes.join("+"),
        stream.working_set,
        stream.direct,
        stream.dsync,
        stream.write_stability,
        stream.fsync_every_writes
    )
}

fn mean_of(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    (count > 0.0).then(|| sum / count)
}

/// The index of dispersion of counts (Cox and Lewis, "The Statistical Analysis of Series of
/// Events", 1966, section 4.5): 1 for a Poisson process whatever the interval's length.
pub(crate) fn dispersion(measured: &RunMeasured<'_>) -> Option<f64> {
    let counts = measured.total().together(&OpKind::ALL).completed;
    let n = counts.len();
    let mean = counts.iter().sum::<f64>() / n as f64;
    if n < INTERVALS_MIN || mean <= 0.0 {
        return None;
    }
    let variance = counts.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
    Some(variance / mean)
}
