//! Service-side counters: an independent check of what the load generator reports.
//!
//! For: counting each request when it arrives and when it is answered, per volume, network flow and
//! client: operations by procedure, bytes, arrival times, requests outstanding, delay added by
//! limits. Not for: text (`exposition.rs`) or conclusions. It shares no code with the load generator.

mod lateness;
mod procedure;
mod subject;
mod table;

pub use lateness::Lateness;
pub(crate) use procedure::PROCEDURES;
pub use procedure::Procedure;
pub(crate) use subject::DELAY_EDGES_NS;
pub use subject::{CountedReply, Counters, GAP_BUCKETS};
pub use table::{ClosedTotals, SubjectCounters, SubjectId};

use std::borrow::Cow;

use table::CounterTable;

/// How many closed volumes, flows and clients stay listed, of each kind.
const CLOSED_LISTED_MAX: usize = 1024;

/// What a request counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// As [`ServiceCounters::open_volume`] returned it.
    pub volume: SubjectId,
    /// As [`ServiceCounters::open_flow`] returned it.
    pub flow: SubjectId,
    /// As [`ServiceCounters::open_client`] returned it.
    pub client: SubjectId,
}

/// All counters of a service.
#[derive(Clone, Debug)]
pub struct ServiceCounters {
    volumes: CounterTable,
    flows: CounterTable,
    clients: CounterTable,
    lateness: Lateness,
}

/// All counters at one instant, as plain values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountersSnapshot {
    /// By name.
    pub volumes: Vec<SubjectCounters>,
    /// By name.
    pub flows: Vec<SubjectCounters>,
    /// By name.
    pub clients: Vec<SubjectCounters>,
    /// Removed volumes that are no longer listed.
    pub closed_volumes: ClosedTotals,
    /// Closed flows that are no longer listed.
    pub closed_flows: ClosedTotals,
    /// Clients without a flow that are no longer listed.
    pub closed_clients: ClosedTotals,
}

impl Default for ServiceCounters {
    fn default() -> ServiceCounters {
        let table = || CounterTable::new(CLOSED_LISTED_MAX);
        let lateness = Lateness::default();
        ServiceCounters { volumes: table(), flows: table(), clients: table(), lateness }
    }
}

impl ServiceCounters {
    /// Starts counting for a volume. If one of this name is still listed, its counters continue.
    pub fn open_volume(&mut self, name: &str) -> SubjectId {
        self.volumes.open(name)
    }

    /// The same for a flow. A name is for example `10.0.0.5:801-10.0.0.4:2049`.
    pub fn open_flow(&mut self, name: &str) -> SubjectId {
        self.flows.open(name)
    }

    /// The same for a client, named by its address. Called once for each of its flows.
    pub fn open_client(&mut self, name: &str) -> SubjectId {
        self.clients.open(name)
    }

    /// A volume was removed.
    pub fn close_volume(&mut self, volume: SubjectId) {
        self.volumes.close(volume);
    }

    /// A flow was closed.
    pub fn close_flow(&mut self, flow: SubjectId) {
        self.flows.close(flow);
    }

    /// One flow of a client was closed.
    pub fn close_client(&mut self, client: SubjectId) {
        self.clients.close(client);
    }

    /// Listed volumes with their counters, by name.
    pub fn volumes(&self) -> impl Iterator<Item = (&str, &Counters)> {
        self.volumes.by_name()
    }

    /// Listed flows with their counters, by name.
    pub fn flows(&self) -> impl Iterator<Item = (&str, &Counters)> {
        self.flows.by_name()
    }

    /// Listed clients with their counters, by name.
    pub fn clients(&self) -> impl Iterator<Item = (&str, &Counters)> {
        self.clients.by_name()
    }

    /// Totals of removed volumes that are no longer listed.
    pub const fn closed_volumes(&self) -> &ClosedTotals {
        self.volumes.unlisted()
    }

    /// Totals of closed flows that are no longer listed.
    pub const fn closed_flows(&self) -> &ClosedTotals {
        self.flows.unlisted()
    }

    /// Totals of clients without a flow that are no longer listed.
    pub const fn closed_clients(&self) -> &ClosedTotals {
        self.clients.unlisted()
    }

    /// Counts a request when it arrives.
    pub fn count_arrival(&mut self, now_ns: u64, origin: Origin) {
        self.each(origin, |counters| counters.arrive(now_ns));
    }

    /// Counts a call that is for no volume.
    pub fn count_without_volume(&mut self, flow: SubjectId, client: SubjectId) {
        self.flows.counters(flow).calls_without_volume += 1;
        self.clients.counters(client).calls_without_volume += 1;
    }

    /// Counts the reply to a request.
    pub fn count_reply(&mut self, origin: Origin, reply: &CountedReply) {
        self.each(origin, |counters| counters.complete(reply));
    }

    /// Counts how late a deferred reply was sent.
    pub fn count_lateness(&mut self, late_ns: u64) {
        self.lateness.add(late_ns);
    }

    /// How late deferred replies were sent, of all volumes together.
    pub const fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// Counts a request that gets no reply because its connection closed.
    pub fn count_dropped(&mut self, origin: Origin) {
        self.each(origin, Counters::drop_one);
    }

    /// All counters now.
    pub fn snapshot(&self) -> CountersSnapshot {
        CountersSnapshot {
            volumes: self.volumes.snapshot(),
            flows: self.flows.snapshot(),
            clients: self.clients.snapshot(),
            closed_volumes: self.volumes.unlisted().clone(),
            closed_flows: self.flows.unlisted().clone(),
            closed_clients: self.clients.unlisted().clone(),
        }
    }

    fn each(&mut self, origin: Origin, mut count: impl FnMut(&mut Counters)) {
        count(self.volumes.counters(origin.volume));
        count(self.flows.counters(origin.flow));
        count(self.clients.counters(origin.client));
    }

    /// The subjects of one kind for `/metrics`, whose size must stay bounded: flows are listed while
    /// they are open, and closed ones are one sum; volumes and clients as in the snapshot.
    pub(crate) fn metrics_of(&self, kind: SubjectKind) -> MetricsOfKind<'_> {
        let table = match kind {
            SubjectKind::Volume => &self.volumes,
            SubjectKind::Flow => &self.flows,
            SubjectKind::Client => &self.clients,
        };
        let (mut subjects, closed): (Vec<_>, _) = if kind == SubjectKind::Flow {
            let open = table.open_by_name();
            (open.map(|(name, counters)| (name, Cow::Owned(counters))).collect(), table.closed())
        } else {
            let all = table.by_name().map(|(name, counters)| (name, Cow::Borrowed(counters)));
            (all.collect(), table.unlisted().clone())
        };
        let count = closed.count;
        if count > 0 {
            subjects.push((CLOSED_NAME, Cow::Owned(closed.counters)));
        }
        MetricsOfKind { subjects, closed: count }
    }
}

/// The name of the sum of closed subjects in `/metrics`.
const CLOSED_NAME: &str = "(closed)";

/// See [`ServiceCounters::metrics_of`].
pub(crate) struct MetricsOfKind<'w> {
    /// By name; the last is the sum of closed subjects, if there are any.
    pub(crate) subjects: Vec<(&'w str, Cow<'w, Counters>)>,
    /// How many closed subjects are in the sum.
    pub(crate) closed: u64,
}

/// What has counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubjectKind {
    Volume,
    Flow,
    Client,
}

impl SubjectKind {
    pub(crate) const ALL: [SubjectKind; 3] =
        [SubjectKind::Volume, SubjectKind::Flow, SubjectKind::Client];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            SubjectKind::Volume => "volume",
            SubjectKind::Flow => "flow",
            SubjectKind::Client => "client",
        }
    }
}

/// Two flows of one client on one volume, for tests.
#[cfg(test)]
pub(crate) fn sample() -> ServiceCounters {
    let reply = |procedure, bytes, qos_delay_ns| CountedReply {
        procedure,
        bytes,
        failed: false,
        qos_delay_ns,
        storage_delay_ns: 0,
    };
    let mut counters = ServiceCounters::default();
    let (volume, client) = (counters.open_volume("vol1"), counters.open_client("10.0.0.5"));
    let flows = [counters.open_flow("a"), counters.open_flow("b")];
    let origin = flows.map(|flow| Origin { volume, flow, client });
    counters.count_arrival(1_500_000_000, origin[0]);
    counters.count_arrival(1_600_000_000, origin[1]);
    counters.count_arrival(1_700_000_000, origin[1]);
    counters.count_reply(origin[0], &reply(Procedure::Read, 8192, 0));
    counters.count_reply(origin[1], &reply(Procedure::Write, 65_536, 2_500_000));
    let failed = CountedReply { failed: true, ..reply(Procedure::Lookup, 0, 10_001) };
    counters.count_reply(origin[1], &failed);
    counters.count_arrival(1_800_000_000, origin[0]);
    counters
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'a>(mut all: impl Iterator<Item = (&'a str, &'a Counters)>, name: &str) -> Counters {
        all.find(|(other, _)| *other == name).unwrap().1.clone()
    }

    #[test]
    fn a_request_counts_for_its_volume_its_flow_and_its_client() {
        let counters = sample();
        let volume = of(counters.volumes(), "vol1");
        assert_eq!(volume, of(counters.clients(), "10.0.0.5"));
        assert_eq!((volume.arrived, volume.completed(), volume.outstanding), (4, 3, 1));
        assert_eq!(volume.outstanding_max, 3);
        assert_eq!((volume.read_bytes, volume.written_bytes), (8192, 65_536));
        assert_eq!(volume.of(Procedure::Write), 1);
        assert_eq!(volume.failed[Procedure::Lookup as usize], 1);
        assert_eq!(volume.first_arrival_ns, Some(1_500_000_000));
        assert_eq!(volume.last_arrival_ns, Some(1_800_000_000));
        assert_eq!((volume.qos_delay_ns, volume.qos_delay_ns_max), (2_510_001, 2_500_000));
        assert_eq!(volume.throttled(), 2);
        let flow = of(counters.flows(), "b");
        assert_eq!((flow.arrived, flow.completed(), flow.outstanding_max), (2, 2, 2));
    }

    #[test]
    fn a_snapshot_has_all_counters_and_calls_without_a_volume() {
        let mut counters = sample();
        let (flow, client) = (counters.open_flow("a"), counters.open_client("10.0.0.5"));
        counters.count_without_volume(flow, client);
        let snapshot = counters.snapshot();
        let volume = &snapshot.volumes[0];
        assert_eq!((&*volume.name, volume.open), ("vol1", true));
        assert_eq!(volume.counters, of(counters.volumes(), "vol1"));
        let without = snapshot.flows.iter().map(|flow| flow.counters.calls_without_volume);
        assert_eq!(without.collect::<Vec<u64>>(), [1, 0]);
        assert_eq!(snapshot.clients[0].counters.calls_without_volume, 1);
        assert_eq!(snapshot.closed_flows, ClosedTotals::default());
    }

    #[test]
    fn a_dropped_request_is_neither_outstanding_nor_completed() {
        let mut counters = sample();
        let origin = Origin {
            volume: counters.open_volume("vol1"),
            flow: counters.open_flow("a"),
            client: counters.open_client("10.0.0.5"),
        };
        counters.count_dropped(origin);
        let volume = of(counters.volumes(), "vol1");
        assert_eq!((volume.outstanding, volume.arrived, volume.completed()), (0, 4, 3));
        assert_eq!(volume.dropped, 1);
    }
}
