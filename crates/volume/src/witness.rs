//! What the service saw: the independent witness of every claim of the load generator.
//!
//! For: counting each request where it arrives and where its answer goes, per volume, network flow
//! and client: operations by procedure, bytes, instants of arrival, requests outstanding, delay
//! added by limits. Not for: text (`exposition.rs`) nor conclusions; and it shares no code with
//! what it is to check.

use std::collections::BTreeMap;

macro_rules! procedures {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// The procedures of NFS version 3 in the order of RFC 1813, section 3.3.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Procedure { $($(#[$doc])* $variant,)* }

        impl Procedure {
            /// All of them, by their numbers.
            pub const ALL: &[Procedure] = &[$(Procedure::$variant,)*];

            /// In lower case.
            pub const fn name(self) -> &'static str {
                match self { $(Procedure::$variant => $name,)* }
            }
        }
    };
}

procedures! {
    /// Does nothing.
    Null = "null",
    /// Attributes of a file.
    Getattr = "getattr",
    /// Changes attributes.
    Setattr = "setattr",
    /// A name in a directory.
    Lookup = "lookup",
    /// What the caller may do.
    Access = "access",
    /// Text of a symbolic link.
    Readlink = "readlink",
    /// Data of a file.
    Read = "read",
    /// Changes data.
    Write = "write",
    /// Makes a file.
    Create = "create",
    /// Makes a directory.
    Mkdir = "mkdir",
    /// Makes a symbolic link.
    Symlink = "symlink",
    /// Makes a special file.
    Mknod = "mknod",
    /// Removes a file.
    Remove = "remove",
    /// Removes a directory.
    Rmdir = "rmdir",
    /// Moves a name.
    Rename = "rename",
    /// Adds a name.
    Link = "link",
    /// Names of a directory.
    Readdir = "readdir",
    /// Names with their attributes.
    Readdirplus = "readdirplus",
    /// Space of a file system.
    Fsstat = "fsstat",
    /// Properties of a file system.
    Fsinfo = "fsinfo",
    /// Properties of names.
    Pathconf = "pathconf",
    /// Makes written data stable.
    Commit = "commit",
}

/// How many procedures there are.
pub(crate) const PROCEDURES: usize = 22;

impl Procedure {
    /// The procedure of this number in RFC 1813.
    pub fn numbered(number: u32) -> Option<Procedure> {
        Procedure::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

/// Upper edges of the buckets of delays added by limits, in nanoseconds; one more is without edge.
pub(crate) const DELAY_EDGES_NS: [u64; 9] = [
    0,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
    1_000_000_000,
    10_000_000_000,
    100_000_000_000,
];

/// What was seen of one volume, flow or client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Requests that came.
    pub arrived: u64,
    /// When the first came.
    pub first_arrival_ns: Option<u64>,
    /// When the last came.
    pub last_arrival_ns: Option<u64>,
    /// Answers that went, by the number of the procedure.
    pub operations: [u64; PROCEDURES],
    /// Of these, with an error.
    pub failed: [u64; PROCEDURES],
    /// Data in answers to READ.
    pub read_bytes: u64,
    /// Data that WRITE brought and that was taken.
    pub written_bytes: u64,
    /// Requests whose answer has not gone.
    pub outstanding: u64,
    /// The most that were so at once.
    pub outstanding_max: u64,
    /// Sum of the delays that limits added.
    pub qos_delay_ns: u64,
    /// The longest of them.
    pub qos_delay_ns_max: u64,
    /// Requests by the delay that limits added; the edges are not cumulative here.
    pub qos_delays: [u64; DELAY_EDGES_NS.len() + 1],
}

impl Counters {
    /// Answers of all procedures.
    pub fn completed(&self) -> u64 {
        self.operations.iter().sum()
    }

    /// Answers of a procedure.
    pub const fn of(&self, procedure: Procedure) -> u64 {
        self.operations[procedure as usize]
    }

    /// Requests that a limit delayed at all.
    pub fn throttled(&self) -> u64 {
        self.qos_delays[1..].iter().sum()
    }

    fn arrive(&mut self, now_ns: u64) {
        self.arrived += 1;
        self.first_arrival_ns.get_or_insert(now_ns);
        self.last_arrival_ns = Some(now_ns);
        self.outstanding += 1;
        self.outstanding_max = self.outstanding_max.max(self.outstanding);
    }

    fn complete(&mut self, answer: &Answer) {
        let procedure = answer.procedure as usize;
        self.outstanding = self.outstanding.saturating_sub(1);
        self.operations[procedure] += 1;
        self.failed[procedure] += u64::from(answer.failed);
        match answer.procedure {
            Procedure::Read => self.read_bytes += answer.bytes,
            Procedure::Write => self.written_bytes += answer.bytes,
            _ => {}
        }
        self.qos_delay_ns += answer.qos_delay_ns;
        self.qos_delay_ns_max = self.qos_delay_ns_max.max(answer.qos_delay_ns);
        let bucket = DELAY_EDGES_NS.partition_point(|edge_ns| *edge_ns < answer.qos_delay_ns);
        self.qos_delays[bucket] += 1;
    }
}

/// An answer that goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// To what.
    pub procedure: Procedure,
    /// Data that was read, or written and taken.
    pub bytes: u64,
    /// Whether its status is an error.
    pub failed: bool,
    /// From arrival to release by all limits.
    pub qos_delay_ns: u64,
}

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

/// A volume, flow or client in the witness' book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject(usize);

/// The book.
#[derive(Clone, Debug, Default)]
pub struct Witness {
    volumes: Book,
    flows: Book,
    clients: Book,
}

/// Counters by name, in the order in which the names came.
#[derive(Clone, Debug, Default)]
struct Book {
    names: BTreeMap<String, usize>,
    counters: Vec<Counters>,
}

impl Book {
    fn subject(&mut self, name: &str) -> Subject {
        if let Some(index) = self.names.get(name) {
            return Subject(*index);
        }
        self.names.insert(name.to_owned(), self.counters.len());
        self.counters.push(Counters::default());
        Subject(self.counters.len() - 1)
    }

    fn by_name(&self) -> impl Iterator<Item = (&str, &Counters)> {
        self.names.iter().map(|(name, index)| (name.as_str(), &self.counters[*index]))
    }
}

impl Witness {
    /// The volume of this name; new if it was not known.
    pub fn volume(&mut self, name: &str) -> Subject {
        self.volumes.subject(name)
    }

    /// The flow of this name, such as `10.0.0.5:801-10.0.0.4:2049`.
    pub fn flow(&mut self, name: &str) -> Subject {
        self.flows.subject(name)
    }

    /// The client of this name, such as its address.
    pub fn client(&mut self, name: &str) -> Subject {
        self.clients.subject(name)
    }

    /// Volumes with their counters, by name.
    pub fn volumes(&self) -> impl Iterator<Item = (&str, &Counters)> {
        self.volumes.by_name()
    }

    /// Flows with their counters, by name.
    pub fn flows(&self) -> impl Iterator<Item = (&str, &Counters)> {
        self.flows.by_name()
    }

    /// Clients with their counters, by name.
    pub fn clients(&self) -> impl Iterator<Item = (&str, &Counters)> {
        self.clients.by_name()
    }

    /// A request came.
    pub fn arrived(&mut self, now_ns: u64, origin: Origin) {
        self.each(origin, |counters| counters.arrive(now_ns));
    }

    /// Its answer goes.
    pub fn completed(&mut self, origin: Origin, answer: &Answer) {
        self.each(origin, |counters| counters.complete(answer));
    }

    /// A request that came gets no answer, because its connection is gone.
    pub fn dropped(&mut self, origin: Origin) {
        self.each(origin, |counters| {
            counters.outstanding = counters.outstanding.saturating_sub(1);
        });
    }

    fn each(&mut self, origin: Origin, mut count: impl FnMut(&mut Counters)) {
        count(&mut self.volumes.counters[origin.volume.0]);
        count(&mut self.flows.counters[origin.flow.0]);
        count(&mut self.clients.counters[origin.client.0]);
    }

    /// `(label, name, counters)` of everything.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, &str, &Counters)> {
        let volumes = self.volumes.by_name().map(|(name, counters)| ("volume", name, counters));
        let flows = self.flows.by_name().map(|(name, counters)| ("flow", name, counters));
        let clients = self.clients.by_name().map(|(name, counters)| ("client", name, counters));
        volumes.chain(flows).chain(clients)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(procedure: Procedure, bytes: u64, qos_delay_ns: u64) -> Answer {
        Answer { procedure, bytes, failed: false, qos_delay_ns }
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
    fn procedures_have_the_numbers_of_the_standard() {
        assert_eq!(Procedure::ALL.len(), PROCEDURES);
        for (number, name) in [(0, "null"), (6, "read"), (7, "write"), (17, "readdirplus")] {
            assert_eq!(Procedure::numbered(number).unwrap().name(), name);
        }
        assert_eq!(Procedure::numbered(21), Some(Procedure::Commit));
        assert_eq!(Procedure::numbered(22), None);
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
    }
}
