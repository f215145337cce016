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
    /// Bytes of reads and writes together, per server address, over all its volumes and connections.
    Bytes,
    /// Bytes of reads and writes together, per connection.
    BytesPerConnection,
    /// Bytes of the busier direction, per connection.
    DirectionPerConnection,
    /// Operations, per connection.
    OperationsPerConnection,
    /// Operations.
    Operations,
    /// Operations, per volume.
    OperationsPerVolume,
    /// Bytes sent by each host, headers included.
    Sent,
    /// Bytes received by each host, headers included.
    Received,
    /// Bytes on the wire of each host in the busier direction, headers included.
    Wire,
    /// The same on a wire that all hosts share.
    SharedWire,
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
    /// What does the work.
    by: Workforce,
}

/// What does the work, so that more of it has a higher ceiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Workforce {
    /// Processors of the hosts, one per worker.
    Workers,
    /// Servers.
    Servers,
    /// Volumes.
    Volumes,
}

const HOST: WorkUse = WorkUse { direction: false, order: false, by: Workforce::Workers };
const SERVER: WorkUse = WorkUse { by: Workforce::Servers, ..HOST };
const VOLUME: WorkUse = WorkUse { by: Workforce::Volumes, ..HOST };

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
pub(crate) const HYPOTHESES: [Hypothesis; 25] = [
    of(Limit::VolumeThroughput, 0.20, Use::BytesPerVolume),
    of(Limit::Endpoint, 0.06, Use::Bytes),
    of(Limit::NetworkFlow, 0.06, Use::BytesPerConnection),
    of(Limit::NetworkFlow, 0.06, Use::DirectionPerConnection),
    of(Limit::NetworkFlow, 0.01, Use::OperationsPerConnection),
    of(Limit::VmEgress, 0.09, Use::Sent),
    of(Limit::Link, 0.06, Use::Wire),
    of(Limit::Link, 0.01, Use::SharedWire),
    // Both directions of a path may have separate limits.
    of(Limit::Link, 0.02, Use::Received),
    of(Limit::ClientCpu, 0.05, Use::Work(HOST)),
    of(Limit::ClientCpu, 0.04, Use::Work(WorkUse { direction: true, ..HOST })),
    of(Limit::ClientSlots, 0.03, Use::RoundTripPerConnection),
    of(Limit::ServerSlots, 0.05, Use::ServerTimePerConnection),
    of(Limit::ServerSlots, 0.02, Use::ServerTime),
    of(Limit::ServerCpu, 0.03, Use::Work(SERVER)),
    of(Limit::ServerCpu, 0.02, Use::Work(WorkUse { direction: true, ..SERVER })),
    // Volumes share their storage, or each has its own.
    of(Limit::Disk, 0.03, Use::Work(WorkUse { order: true, ..SERVER })),
    of(Limit::Disk, 0.02, Use::Work(WorkUse { order: true, ..VOLUME })),
    of(Limit::Disk, 0.02, Use::Work(WorkUse { direction: true, order: true, ..SERVER })),
    of(Limit::Disk, 0.02, Use::Work(WorkUse { direction: true, order: true, ..VOLUME })),
    of(Limit::Disk, 0.01, Use::Work(WorkUse { direction: true, ..SERVER })),
    // Several devices or processors that do most of an unloaded request's work behave like slots.
    of(Limit::Disk, 0.02, Use::ServerTime),
    of(Limit::ServerCpu, 0.01, Use::ServerTime),
    of(Limit::OperationsPerSecond, 0.03, Use::Operations),
    of(Limit::OperationsPerSecond, 0.02, Use::OperationsPerVolume),
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

impl Ratio {
    /// Multiplied by a factor between these bounds, given as logarithms.
    fn times(self, (least, most): (f64, f64)) -> Ratio {
        match self {
            Ratio::Exactly(ratio, error) if most - least < SAME => {
                Ratio::Exactly(ratio + least, error)
            }
            Ratio::Exactly(ratio, _) => Ratio::Between(ratio + least, ratio + most),
            Ratio::Between(low, high) => Ratio::Between(low + least, high + most),
            Ratio::Any => Ratio::Any,
        }
    }
}

impl Use {
    /// Whether all volumes at a server's address share the resource.
    const fn is_of_server(self) -> bool {
        matches!(
            self,
            Use::Bytes
                | Use::Operations
                | Use::ServerTime
                | Use::Work(WorkUse { by: Workforce::Servers, .. })
        )
    }

    /// Whether each connection has its own.
    const fn is_of_connection(self) -> bool {
        matches!(
            self,
            Use::BytesPerConnection
                | Use::DirectionPerConnection
                | Use::OperationsPerConnection
                | Use::RoundTripPerConnection
                | Use::ServerTimePerConnection
        )
    }
}

/// Bounds of the logarithm of the ratio of a kernel's connections, which are not counted: each host has
/// its own, and the volumes of a host share them or not. 0 for the built-in client.
fn uncounted_connections(a: &WorkloadSignature, b: &WorkloadSignature) -> (f64, f64) {
    if a.connections.is_some() && b.connections.is_some() {
        return (0.0, 0.0);
    }
    let ratio = |from: u32, to: u32| (f64::from(to.max(1)) / f64::from(from.max(1))).ln();
    let (hosts, volumes) = (ratio(a.hosts, b.hosts), ratio(a.volumes, b.volumes));
    (hosts + volumes.min(0.0), hosts + volumes.max(0.0))
}

/// Bounds of the logarithm of the ratio of servers that two workloads use.
fn servers(a: &WorkloadSignature, b: &WorkloadSignature) -> (f64, f64) {
    if a.volumes == b.volumes {
        return (0.0, 0.0);
    }
    let ratio = |from: u32, to: u32| (f64::from(to.max(1)) / f64::from(from.max(1))).ln();
    match (a.addresses, b.addresses) {
        (Some(from), Some(to)) => (ratio(from, to), ratio(from, to)),
        // The volumes have one address or separate ones.
        _ => {
            let separate = ratio(a.volumes, b.volumes);
            (separate.min(0.0), separate.max(0.0))
        }
    }
}

impl Hypothesis {
    /// How much of the resource one operation needs, in a unit of the resource; `None` if it
    /// depends on something unknown.
    fn need(&self, series: &Series, null_round_trip_s: Option<f64>) -> Option<(f64, f64)> {
        let work = &series.signature;
        let size = work.bytes_per_op().max(1.0);
        let (reads, writes) = (work.read_share, 1.0 - work.read_share);
        let connections = series.connections();
        let hosts = f64::from(work.hosts.max(1));
        let exact = |need: f64| Some((need, EXACT));
        let network_s = null_round_trip_s.unwrap_or(0.0);
        match self.uses {
            Use::BytesPerVolume => exact(size / series.volumes()),
            Use::Bytes => exact(size),
            Use::BytesPerConnection => exact(size / connections),
            Use::DirectionPerConnection => exact(size * reads.max(writes) / connections),
            Use::OperationsPerConnection => exact(1.0 / connections),
            Use::Operations => exact(1.0),
            Use::OperationsPerVolume => exact(1.0 / series.volumes()),
            Use::Sent => Some((sent(size, writes, reads) / hosts, HEADERS)),
            Use::Received => Some((sent(size, reads, writes) / hosts, HEADERS)),
            Use::Wire | Use::SharedWire => {
                let busier = sent(size, writes, reads).max(sent(size, reads, writes));
                let each = if self.uses == Use::Wire { hosts } else { 1.0 };
                Some((busier / each, HEADERS))
            }
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
        let servers = match self.uses.is_of_server() {
            true => f64::from(series.signature.addresses.unwrap_or(1).max(1)),
            false => 1.0,
        };
        self.need(series, null_round_trip_s).map(|(need, _)| need * rate / servers)
    }

    /// Predicted ratio of the ceiling of `other` to that of `series`.
    pub(crate) fn ratio(
        &self,
        series: &Series,
        other: &Series,
        null_round_trip_s: Option<f64>,
        processors: f64,
    ) -> Ratio {
        let ratio = self.ratio_on_equal_servers(series, other, null_round_trip_s, processors);
        let (a, b) = (&series.signature, &other.signature);
        match self.uses {
            uses if uses.is_of_server() => ratio.times(servers(a, b)),
            uses if uses.is_of_connection() => ratio.times(uncounted_connections(a, b)),
            _ => ratio,
        }
    }

    fn ratio_on_equal_servers(
        &self,
        series: &Series,
        other: &Series,
        null_round_trip_s: Option<f64>,
        processors: f64,
    ) -> Ratio {
        if let Use::Work(work) = self.uses {
            let volumes = (other.volumes() / series.volumes()).ln();
            return work.ratio(&series.signature, &other.signature, processors, volumes);
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
    /// * `processors`: of each host
    /// * `volumes`: logarithm of the ratio of volumes
    fn ratio(
        self,
        a: &WorkloadSignature,
        b: &WorkloadSignature,
        processors: f64,
        volumes: f64,
    ) -> Ratio {
        let (fewest, most) = match self.by {
            Workforce::Workers => processors_in_use(a, b, processors),
            Workforce::Servers => (0.0, 0.0),
            Workforce::Volumes => (volumes, volumes),
        };
        let by_size = (a.transfer_bytes / b.transfer_bytes).ln();
        let (mut least, mut most) = (fewest + by_size.min(0.0), most + by_size.max(0.0));
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

/// Bounds of the logarithm of the ratio of processors that the workers use.
///
/// * `processors`: of each host; infinite if unknown
fn processors_in_use(a: &WorkloadSignature, b: &WorkloadSignature, processors: f64) -> (f64, f64) {
    let hosts = |work: &WorkloadSignature| f64::from(work.hosts.max(1));
    let used =
        |work: &WorkloadSignature| f64::from(work.workers.max(1)).min(processors * hosts(work));
    let by_workers = (used(b) / used(a)).ln();
    if processors.is_finite() || a.hosts == b.hosts {
        return (by_workers, by_workers);
    }
    let by_hosts = (hosts(b) / hosts(a)).ln();
    (by_workers.min(by_hosts), by_workers.max(by_hosts))
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
            on_names: false,
            read_share,
            transfer_bytes,
            transfer_share: 1.0,
            order,
            workers,
            connections: None,
            volumes: 1,
            targets: vec![0],
            target_shares: Vec::new(),
            addresses: Some(1),
            hosts: 1,
            parts: 1,
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
        match uses.ratio(a, b, 4.0, 0.5f64.ln()) {
            Ratio::Exactly(ratio, _) => (ratio, ratio),
            Ratio::Between(least, most) => (least, most),
            Ratio::Any => panic!("work has a ratio"),
        }
    }

    #[test]
    fn the_ratio_of_work_is_bounded_by_size_order_direction_and_workers() {
        let uses = WorkUse { direction: true, order: true, ..HOST };
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
        let none = SERVER;
        let other = work(0.0, Order::Sequential, 8192.0, 8);
        assert_eq!(bounds(none, &random, &other), (0.0, 0.0));
        // Half of the volumes do half of the work.
        assert_eq!(bounds(VOLUME, &random, &random), (0.5f64.ln(), 0.5f64.ln()));
        // Eight workers have the eight processors of two hosts, or the four of one.
        let on_hosts = |hosts| WorkloadSignature { hosts, ..workers(8) };
        assert_eq!(bounds(HOST, &on_hosts(2), &on_hosts(1)), (0.5f64.ln(), 0.5f64.ln()));
        let unknown = processors_in_use(&on_hosts(2), &on_hosts(1), f64::INFINITY);
        assert_eq!(unknown, (0.5f64.ln(), 0.0), "few processors or enough for all workers");
    }

    #[test]
    fn volumes_at_separate_addresses_have_separate_servers() {
        let with = |volumes, addresses| WorkloadSignature {
            volumes,
            addresses,
            ..work(1.0, Order::Random, 8192.0, 4)
        };
        let half = 0.5f64.ln();
        assert_eq!(servers(&with(4, Some(1)), &with(2, Some(1))), (0.0, 0.0));
        assert_eq!(servers(&with(4, Some(4)), &with(2, Some(2))), (half, half));
        assert_eq!(servers(&with(4, None), &with(2, None)), (half, 0.0), "one address or four");
        assert_eq!(servers(&with(4, None), &with(4, None)), (0.0, 0.0));
    }
}
