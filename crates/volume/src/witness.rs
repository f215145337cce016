//! What the service saw: the independent witness of every claim of the load generator.
//!
//! For: counting each request where it arrives and where its answer goes, per volume, network flow
//! and client: operations by procedure, bytes, instants of arrival, requests outstanding, delay
//! added by limits. Not for: text (`exposition.rs`) nor conclusions; and it shares no code with
//! what it is to check.

mod book;
mod counters;
mod lateness;
mod procedure;

pub use book::{Folded, Named, Subject};
pub(crate) use counters::DELAY_EDGES_NS;
pub use counters::{Answer, Counters, GAP_BUCKETS};
pub use lateness::Lateness;
pub(crate) use procedure::PROCEDURES;

pub use procedure::Procedure;

use std::borrow::Cow;

use book::Book;

/// Flows, clients and volumes that are listed when they are no longer there, of each kind.
pub const CLOSED_KEPT: usize = 1024;

/// Whose request it is. The numbers are those of [`Witness::volume`] and its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Which volume.
    pub volume: Subject,
    /// Which network flow.
    pub flow: Subject,
    /// Which client.
    pub client: Subject,
}

/// The book.
#[derive(Clone, Debug)]
pub struct Witness {
    volumes: Book,
    flows: Book,
    clients: Book,
    lateness: Lateness,
}

/// Everything that the book holds at one instant, as plain values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// By name.
    pub volumes: Vec<Named>,
    /// By name.
    pub flows: Vec<Named>,
    /// By name.
    pub clients: Vec<Named>,
    /// Volumes that were removed and are no longer listed.
    pub closed_volumes: Folded,
    /// Flows that were closed and are no longer listed.
    pub closed_flows: Folded,
    /// Clients that went and are no longer listed.
    pub closed_clients: Folded,
}

impl Default for Witness {
    fn default() -> Witness {
        Witness {
            volumes: Book::new(CLOSED_KEPT, true),
            flows: Book::new(CLOSED_KEPT, false),
            clients: Book::new(CLOSED_KEPT, false),
            lateness: Lateness::default(),
        }
    }
}

impl Witness {
    /// A volume of this name is there; it goes on counting if it is still listed.
    pub fn volume(&mut self, name: &str) -> Subject {
        self.volumes.open(name)
    }

    /// A flow of this name is there, such as `10.0.0.5:801-10.0.0.4:2049`.
    pub fn flow(&mut self, name: &str) -> Subject {
        self.flows.open(name)
    }

    /// A client of this name is there, such as its address; once for each of its flows.
    pub fn client(&mut self, name: &str) -> Subject {
        self.clients.open(name)
    }

    /// A volume was removed.
    pub fn close_volume(&mut self, volume: Subject) {
        self.volumes.close(volume);
    }

    /// A flow was closed.
    pub fn close_flow(&mut self, flow: Subject) {
        self.flows.close(flow);
    }

    /// A client has one flow less.
    pub fn close_client(&mut self, client: Subject) {
        self.clients.close(client);
    }

    /// Volumes that are listed, with their counters, by name.
    pub fn volumes(&self) -> impl Iterator<Item = (&str, &Counters)> {
        self.volumes.by_name()
    }

    /// Flows that are listed, with their counters, by name.
    pub fn flows(&self) -> impl Iterator<Item = (&str, &Counters)> {
        self.flows.by_name()
    }

    /// Clients that are listed, with their counters, by name.
    pub fn clients(&self) -> impl Iterator<Item = (&str, &Counters)> {
        self.clients.by_name()
    }

    /// The sum of the volumes that were removed and are no longer listed.
    pub const fn closed_volumes(&self) -> &Folded {
        self.volumes.folded()
    }

    /// The sum of the flows that were closed and are no longer listed.
    pub const fn closed_flows(&self) -> &Folded {
        self.flows.folded()
    }

    /// The sum of the clients that went and are no longer listed.
    pub const fn closed_clients(&self) -> &Folded {
        self.clients.folded()
    }

    /// A request came.
    pub fn arrived(&mut self, now_ns: u64, origin: Origin) {
        self.volumes.arrive(origin.volume, now_ns);
        self.flows.arrive(origin.flow, now_ns);
        self.clients.arrive(origin.client, now_ns);
    }

    /// A call came that is for no volume.
    pub fn without_volume(&mut self, flow: Subject, client: Subject) {
        self.flows.counters(flow).without_volume += 1;
        self.clients.counters(client).without_volume += 1;
    }

    /// Its answer goes.
    pub fn completed(&mut self, origin: Origin, answer: &Answer) {
        self.each(origin, |counters| counters.complete(answer));
    }

    /// A reply that was held left so late.
    pub fn left(&mut self, late_ns: u64) {
        self.lateness.add(late_ns);
    }

    /// How late replies that were held left, of all volumes together.
    pub const fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// A request that came gets no answer, because its connection is gone.
    pub fn dropped(&mut self, origin: Origin) {
        self.each(origin, Counters::drop_one);
    }

    /// All of it as it is now.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            volumes: self.volumes.snapshot(),
            flows: self.flows.snapshot(),
            clients: self.clients.snapshot(),
            closed_volumes: self.volumes.folded().clone(),
            closed_flows: self.flows.folded().clone(),
            closed_clients: self.clients.folded().clone(),
        }
    }

    fn each(&mut self, origin: Origin, mut count: impl FnMut(&mut Counters)) {
        count(self.volumes.counters(origin.volume));
        count(self.flows.counters(origin.flow));
        count(self.clients.counters(origin.client));
    }

    /// Everything of one kind with its name, for a text that must not grow for ever: connections
    /// are listed while they are open, and what closed ones counted is one sum; volumes and clients
    /// are listed until there are too many that are gone.
    pub(crate) fn exposed(&self, kind: Kind) -> Exposed<'_> {
        let book = self.book(kind);
        let (mut listed, closed): (Vec<_>, _) = if kind == Kind::Flow {
            let open = book.open_by_name();
            (open.map(|(name, counters)| (name, Cow::Owned(counters))).collect(), book.closed_sum())
        } else {
            let all = book.by_name().map(|(name, counters)| (name, Cow::Borrowed(counters)));
            (all.collect(), book.folded().clone())
        };
        let count = closed.count;
        if count > 0 {
            listed.push((CLOSED_NAME, Cow::Owned(closed.counters)));
        }
        Exposed { listed, closed: count }
    }

    const fn book(&self, kind: Kind) -> &Book {
        match kind {
            Kind::Volume => &self.volumes,
            Kind::Flow => &self.flows,
            Kind::Client => &self.clients,
        }
    }
}

/// What the sum of all that are no longer listed is called in texts.
const CLOSED_NAME: &str = "(closed)";

/// See [`Witness::exposed`].
pub(crate) struct Exposed<'w> {
    /// By name; the last is the sum of those that are not listed, if there were any.
    pub(crate) listed: Vec<(&'w str, Cow<'w, Counters>)>,
    /// How many are not listed.
    pub(crate) closed: u64,
}

/// Of what there are counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Volume,
    Flow,
    Client,
}

impl Kind {
    pub(crate) const ALL: [Kind; 3] = [Kind::Volume, Kind::Flow, Kind::Client];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Kind::Volume => "volume",
            Kind::Flow => "flow",
            Kind::Client => "client",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(procedure: Procedure, bytes: u64, qos_delay_ns: u64) -> Answer {
        Answer { procedure, bytes, failed: false, qos_delay_ns, storage_delay_ns: 0 }
    }

    /// Two flows of one client on one volume.
    fn seen() -> Witness {
        let mut witness = Witness::default();
        let (volume, client) = (witness.volume("vol1"), witness.client("10.0.0.5"));
        let flows = [witness.flow("a"), witness.flow("b")];
        let origin = flows.map(|flow| Origin { volume, flow, client });
        witness.arrived(1_500_000_000, origin[0]);
        witness.arrived(1_600_000_000, origin[1]);
        witness.arrived(1_700_000_000, origin[1]);
        witness.completed(origin[0], &answer(Procedure::Read, 8192, 0));
        witness.completed(origin[1], &answer(Procedure::Write, 65_536, 2_500_000));
        let failed = Answer { failed: true, ..answer(Procedure::Lookup, 0, 10_001) };
        witness.completed(origin[1], &failed);
        witness.arrived(1_800_000_000, origin[0]);
        witness
    }

    fn of<'a>(mut all: impl Iterator<Item = (&'a str, &'a Counters)>, name: &str) -> Counters {
        all.find(|(other, _)| *other == name).unwrap().1.clone()
    }

    #[test]
    fn a_request_counts_for_its_volume_its_flow_and_its_client() {
        let witness = seen();
        let volume = of(witness.volumes(), "vol1");
        assert_eq!(volume, of(witness.clients(), "10.0.0.5"));
        assert_eq!((volume.arrived, volume.completed(), volume.outstanding), (4, 3, 1));
        assert_eq!(volume.outstanding_max, 3);
        assert_eq!((volume.read_bytes, volume.written_bytes), (8192, 65_536));
        assert_eq!(volume.of(Procedure::Write), 1);
        assert_eq!(volume.failed[Procedure::Lookup as usize], 1);
        assert_eq!(volume.first_arrival_ns, Some(1_500_000_000));
        assert_eq!(volume.last_arrival_ns, Some(1_800_000_000));
        assert_eq!((volume.qos_delay_ns, volume.qos_delay_ns_max), (2_510_001, 2_500_000));
        assert_eq!(volume.throttled(), 2);
        let flow = of(witness.flows(), "b");
        assert_eq!((flow.arrived, flow.completed(), flow.outstanding_max), (2, 2, 2));
    }

    #[test]
    fn a_snapshot_holds_what_the_book_does_and_calls_without_a_volume() {
        let mut witness = seen();
        let (flow, client) = (witness.flow("a"), witness.client("10.0.0.5"));
        witness.without_volume(flow, client);
        let snapshot = witness.snapshot();
        let volume = &snapshot.volumes[0];
        assert_eq!((&*volume.name, volume.open), ("vol1", true));
        assert_eq!(volume.counters, of(witness.volumes(), "vol1"));
        let instants = [1_500_000_000, 1_600_000_000, 1_700_000_000, 1_800_000_000];
        assert_eq!(volume.recent_arrivals_ns, instants);
        let without = snapshot.flows.iter().map(|flow| flow.counters.without_volume);
        assert_eq!(without.collect::<Vec<u64>>(), [1, 0]);
        assert_eq!(snapshot.clients[0].counters.without_volume, 1);
        assert_eq!(snapshot.closed_flows, Folded::default());
    }

    #[test]
    fn a_dropped_request_is_no_longer_outstanding_and_was_no_operation() {
        let mut witness = seen();
        let origin = Origin {
            volume: witness.volume("vol1"),
            flow: witness.flow("a"),
            client: witness.client("10.0.0.5"),
        };
        witness.dropped(origin);
        let volume = of(witness.volumes(), "vol1");
        assert_eq!((volume.outstanding, volume.arrived, volume.completed()), (0, 4, 3));
        assert_eq!(volume.dropped, 1);
    }
}
