//! Predictions of each limit. A hypothesis is a limit with its details: how much of the resource an
//! operation needs. The amounts are unknown, but the ratios of ceilings under changed circumstances
//! follow from the hypothesis.

use super::Limit;
use super::series::Series;
use crate::workload_signature::{Order, WorkloadSignature};

/// Bytes that a segment of a TCP stream carries (Ethernet's 1,500 less the headers of IPv4 and of
/// TCP with timestamps; RFC 9293, RFC 7323).
const SEGMENT_BYTES: f64 = 1448.0;
/// Overhead per segment: Ethernet with preamble, checksum and gap 38, IPv4 20, TCP 32.
const HEADERS_BYTES: f64 = 90.0;
/// An NFS call or reply without data, with RPC's headers (RFC 5531, RFC 1813).
const CALL_BYTES: f64 = 150.0;
/// Least share of an operation's time in the server, however long the network takes.
const SERVER_SHARE_MIN: f64 = 0.1;

/// How operations use a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Bytes of reads and writes together, per volume.
    BytesPerVolume,
    /// Bytes of reads and writes together, over all volumes and connections.
    Bytes,
    /// Bytes of reads and writes together, per connection.
    BytesPerConnection,
    /// Bytes of the busier direction, per connection.
    DirectionPerConnection,
    /// Operations, per connection.
    OperationsPerConnection,
    /// Operations.
    Operations,
    /// Bytes sent by the client, headers included.
    Sent,
    /// Bytes received by the client, headers included.
    Received,
    /// Bytes on the wire in the busier direction, headers included.
    Wire,
    /// Slots of the client, per connection: occupied for the whole round trip.
    RoundTripPerConnection,
    /// Slots of the server, per connection: occupied while the server processes the request.
    ServerTimePerConnection,
    /// Slots of the server, in total.
    ServerTime,
    /// Work of a processor or device. Its dependence on direction and order is unknown; with the
    /// transfer size it grows by any factor between 1 and proportionally.
    Work(WorkUse),
}

/// Properties that the work of an operation depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WorkUse {
    /// Reads and writes differ.
    direction: bool,
    /// Sequential and random access differ.
    order: bool,
    /// Workers divide the work: one processor per worker.
    per_worker: bool,
}

const HOST: WorkUse = WorkUse { direction: false, order: false, per_worker: true };
const SERVER: WorkUse = WorkUse { direction: false, order: false, per_worker: false };

/// A limit with its details.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hypothesis {
    pub(crate) limit: Limit,
    /// Prior probability; they sum to 1.
    pub(crate) prior: f64,
    pub(crate) uses: Use,
}

/// All hypotheses. Their prior probabilities follow the order in which the vendor's troubleshooting
/// checks the limits (quota, connections, VM size, client, storage).
pub(crate) const HYPOTHESES: [Hypothesis; 21] = [
    of(Limit::VolumeThroughput, 0.20, Use::BytesPerVolume),
    of(Limit::Endpoint, 0.06, Use::Bytes),
    of(Limit::NetworkFlow, 0.06, Use::BytesPerConnection),
    of(Limit::NetworkFlow, 0.06, Use::DirectionPerConnection),
    of(Limit::NetworkFlow, 0.01, Use::OperationsPerConnection),
    of(Limit::VmEgress, 0.09, Use::Sent),
    of(Limit::Link, 0.07, Use::Wire),
    // Both directions of a path may have separate limits.
    of(Limit::Link, 0.02, Use::Received),
    of(Limit::ClientCpu, 0.05, Use::Work(HOST)),
    of(Limit::ClientCpu, 0.04, Use::Work(WorkUse { direction: true, ..HOST })),
    of(Limit::ClientSlots, 0.03, Use::RoundTripPerConnection),
    of(Limit::ServerSlots, 0.05, Use::ServerTimePerConnection),
    of(Limit::ServerSlots, 0.02, Use::ServerTime),
    of(Limit::ServerCpu, 0.03, Use::Work(SERVER)),
    of(Limit::ServerCpu, 0.02, Use::Work(WorkUse { direction: true, ..SERVER })),
    of(Limit::Disk, 0.05, Use::Work(WorkUse { order: true, ..SERVER })),
    of(Limit::Disk, 0.04, Use::Work(WorkUse { direction: true, order: true, ..SERVER })),
    of(Limit::Disk, 0.01, Use::Work(WorkUse { direction: true, ..SERVER })),
    // Several devices or processors that do most of an unloaded request's work behave like slots.
    of(Limit::Disk, 0.02, Use::ServerTime),
    of(Limit::ServerCpu, 0.01, Use::ServerTime),
    of(Limit::OperationsPerSecond, 0.05, Use::Operations),
];

/// Prior probability of a limit that is not among the hypotheses.
pub(crate) const SOMETHING_ELSE: f64 = 0.01;

const fn of(limit: Limit, prior: f64, uses: Use) -> Hypothesis {
    Hypothesis { limit, prior, uses }
}

/// Predicted logarithm of the ratio of two ceilings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ratio {
    /// This value with this standard error of the model.
    Exactly(f64, f64),
    /// Any value from the first to the second.
    Between(f64, f64),
    /// Any value: the hypothesis makes no prediction.
    Any,
}

/// Standard error of a predicted ratio if the resource counts bytes or operations exactly.
const EXACT: f64 = 0.02;
/// The same if protocol headers are estimated.
const HEADERS: f64 = 0.04;
/// The same if times of unloaded operations approximate those of loaded ones.
const TIMES: f64 = 0.08;
/// The same for processors and devices, whose capacity changes slightly with the circumstances.
const PROCESSORS: f64 = 0.03;
/// Writes cost between a fifth and five times as much as reads.
const DIRECTIONS: f64 = 1.6;
/// Random access costs up to twenty times as much as sequential access.
const ORDERS: f64 = 3.0;
/// Sizes and shares that differ by less than this count as equal.
const SAME: f64 = 0.01;

impl Hypothesis {
    /// How much of the resource one operation needs, in a unit of the resource; `None` if it
    /// depends on something unknown.
    fn need(&self, series: &Series, null_round_trip_s: Option<f64>) -> Option<(f64, f64)> {
        let work = &series.signature;
        let size = work.transfer_bytes.max(1.0);
        let (reads, writes) = (work.read_share, 1.0 - work.read_share);
        let connections = series.connections();
        let exact = |need: f64| Some((need, EXACT));
        let network_s = null_round_trip_s.unwrap_or(0.0);
        match self.uses {
            Use::BytesPerVolume => exact(size / f64::from(work.volumes.max(1))),
            Use::Bytes => exact(size),
            Use::BytesPerConnection => exact(size / connections),
            Use::DirectionPerConnection => exact(size * reads.max(writes) / connections),
            Use::OperationsPerConnection => exact(1.0 / connections),
            Use::Operations => exact(1.0),
            Use::Sent => Some((sent(size, writes, reads), HEADERS)),
            Use::Received => Some((sent(size, reads, writes), HEADERS)),
            Use::Wire => Some((sent(size, writes, reads).max(sent(size, reads, writes)), HEADERS)),
            Use::RoundTripPerConnection => {
                Some((series.unloaded_s? * series.calls_per_op() / connections, TIMES))
            }
            Use::ServerTimePerConnection | Use::ServerTime => {
                let unloaded_s = series.unloaded_s?;
                let server_s = (unloaded_s - network_s).max(SERVER_SHARE_MIN * unloaded_s);
                let each = match self.uses {
                    Use::ServerTime => 1.0,
                    _ => connections,
                };
                Some((server_s * series.calls_per_op() / each, TIMES))
            }
            Use::Work(_) => None,
        }
    }

    /// Amount of the resource that a rate uses: in bytes per second, operations per second, or
    /// slots. `None` for work, whose unit is unknown.
    pub(crate) fn amount(
        &self,
        series: &Series,
        rate: f64,
        null_round_trip_s: Option<f64>,
    ) -> Option<f64> {
        self.need(series, null_round_trip_s).map(|(need, _)| need * rate)
    }

    /// Predicted ratio of the ceiling of `other` to that of `series`.
    pub(crate) fn ratio(
        &self,
        series: &Series,
        other: &Series,
        null_round_trip_s: Option<f64>,
        processors: f64,
    ) -> Ratio {
        if let Use::Work(work) = self.uses {
            return work.ratio(&series.signature, &other.signature, processors);
        }
        let need = |of: &Series| self.need(of, null_round_trip_s);
        // The same kind of operation takes the same time unloaded.
        let same_kind = series.signature.kind == other.signature.kind;
        match (need(series), need(other)) {
            (Some((here, error)), Some((there, _))) => {
                let error = if error == TIMES && same_kind { EXACT } else { error };
                Ratio::Exactly((here / there).ln(), error)
            }
            _ => Ratio::Any,
        }
    }
}

impl WorkUse {
    fn ratio(self, a: &WorkloadSignature, b: &WorkloadSignature, processors: f64) -> Ratio {
        let used = |workers: u32| f64::from(workers.max(1)).min(processors);
        let more = match self.per_worker {
            true => (used(b.workers) / used(a.workers)).ln(),
            false => 0.0,
        };
        let by_size = (a.transfer_bytes / b.transfer_bytes).ln();
        let (mut least, mut most) = (more + by_size.min(0.0), more + by_size.max(0.0));
        if self.direction {
            let half = DIRECTIONS * (a.read_share - b.read_share).abs();
            (least, most) = (least - half, most + half);
        }
        if self.order {
            match (a.order, b.order) {
                (Order::Random, Order::Sequential) => most += ORDERS,
                (Order::Sequential, Order::Random) => least -= ORDERS,
                _ => {}
            }
        }
        match most - least < SAME {
            true => Ratio::Exactly((least + most) / 2.0, PROCESSORS),
            false => Ratio::Between(least, most),
        }
    }
}

/// Bytes on the wire in one direction per operation: a share `with` has data, a share `without` is
/// a call or reply without data.
fn sent(size: f64, with: f64, without: f64) -> f64 {
    with * wire_bytes(size) + without * wire_bytes(0.0)
}

/// Bytes of a call or reply with this much data, including all headers.
fn wire_bytes(data_bytes: f64) -> f64 {
    let bytes = data_bytes + CALL_BYTES;
    bytes + (bytes / SEGMENT_BYTES).max(1.0) * HEADERS_BYTES
}

/// The other order of access.
pub(crate) const fn other_order(order: Order) -> Order {
    match order {
        Order::Sequential => Order::Random,
        Order::Random | Order::Both => Order::Sequential,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priors_sum_to_one() {
        let sum: f64 = HYPOTHESES.iter().map(|hypothesis| hypothesis.prior).sum();
        assert!((sum + SOMETHING_ELSE - 1.0).abs() < 1e-9, "{sum}");
    }

    fn work(read_share: f64, order: Order, transfer_bytes: f64, workers: u32) -> WorkloadSignature {
        WorkloadSignature {
            read_share,
            transfer_bytes,
            order,
            workers,
            connections: None,
            volumes: 1,
            targets: vec![0],
            closed: true,
            kind: String::new(),
            calls_outstanding: None,
            calls_per_op: None,
            retransmits_per_op: None,
            dispersion: None,
        }
    }

    /// Bounds of the natural logarithm of the ratio, of 4 processors.
    fn bounds(uses: WorkUse, a: &WorkloadSignature, b: &WorkloadSignature) -> (f64, f64) {
        match uses.ratio(a, b, 4.0) {
            Ratio::Exactly(ratio, _) => (ratio, ratio),
            Ratio::Between(least, most) => (least, most),
            Ratio::Any => panic!("work has a ratio"),
        }
    }

    #[test]
    fn the_ratio_of_work_is_bounded_by_size_order_direction_and_workers() {
        let uses = WorkUse { direction: true, order: true, per_worker: true };
        let random = work(1.0, Order::Random, 8192.0, 1);
        assert_eq!(bounds(uses, &random, &random), (0.0, 0.0));
        // The ceiling of the second over that of the first: sequential access may be cheaper.
        let sequential = work(1.0, Order::Sequential, 8192.0, 1);
        assert_eq!(bounds(uses, &random, &sequential), (0.0, ORDERS));
        assert_eq!(bounds(uses, &sequential, &random), (-ORDERS, 0.0));
        let both = work(1.0, Order::Both, 8192.0, 1);
        assert_eq!(bounds(uses, &both, &random), (0.0, 0.0));
        // Eight times the size costs as much to eight times as much.
        let large = work(1.0, Order::Random, 65_536.0, 1);
        assert_eq!(bounds(uses, &random, &large), (-(8f64.ln()), 0.0));
        assert_eq!(bounds(uses, &large, &random), (0.0, 8f64.ln()));
        // Half of the operations change their direction.
        let mixed = work(0.5, Order::Random, 8192.0, 1);
        assert_eq!(bounds(uses, &random, &mixed), (-DIRECTIONS / 2.0, DIRECTIONS / 2.0));
        // Two workers have two processors, eight have the four that there are.
        let workers = |count| work(1.0, Order::Random, 8192.0, count);
        assert_eq!(bounds(uses, &random, &workers(2)), (2f64.ln(), 2f64.ln()));
        assert_eq!(bounds(uses, &random, &workers(8)), (4f64.ln(), 4f64.ln()));
        // What a resource does not depend on makes no difference.
        let none = WorkUse { direction: false, order: false, per_worker: false };
        let other = work(0.0, Order::Sequential, 8192.0, 8);
        assert_eq!(bounds(none, &random, &other), (0.0, 0.0));
    }
}
