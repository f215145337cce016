//! What can limit throughput, and what is known about it before anything is measured.
//!
//! For: the plan of scaling experiments and the environment of a record, which both carry this
//! knowledge to the analysis. Not for: which of the limits applies (`analysis::verdict`).

use std::fmt;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// A resource that can be exhausted, or a limit that can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// The volume's throughput limit: bytes per second of reads and writes together.
    VolumeThroughput,
    /// The throughput limit of the address at which the volume is mounted, shared by all volumes
    /// behind it.
    Endpoint,
    /// The throughput limit of one connection.
    NetworkFlow,
    /// The egress limit of a virtual machine: bounds writes, not reads.
    VmEgress,
    /// The link's bandwidth in each direction, headers included.
    Link,
    /// The processors of this host, used by any process.
    ClientCpu,
    /// The calls that the client may keep outstanding on a connection.
    ClientSlots,
    /// The requests that the server processes concurrently, per connection or in total.
    ServerSlots,
    /// The server's processors.
    ServerCpu,
    /// The storage behind the server: its media.
    Disk,
    /// A limit on operations per second, of any size.
    OperationsPerSecond,
}

impl Limit {
    /// Every limit.
    pub const ALL: [Limit; 11] = [
        Limit::VolumeThroughput,
        Limit::Endpoint,
        Limit::NetworkFlow,
        Limit::VmEgress,
        Limit::Link,
        Limit::ClientCpu,
        Limit::ClientSlots,
        Limit::ServerSlots,
        Limit::ServerCpu,
        Limit::Disk,
        Limit::OperationsPerSecond,
    ];

    /// Whether it limits requests (their number, or the work per request) rather than bytes per
    /// second: larger transfers then raise throughput.
    pub const fn is_about_requests(self) -> bool {
        matches!(
            self,
            Limit::ClientCpu
                | Limit::ClientSlots
                | Limit::ServerSlots
                | Limit::ServerCpu
                | Limit::Disk
                | Limit::OperationsPerSecond
        )
    }

    /// The stable name in files.
    pub const fn code(self) -> &'static str {
        match self {
            Limit::VolumeThroughput => "volume_throughput",
            Limit::Endpoint => "endpoint",
            Limit::NetworkFlow => "network_flow",
            Limit::VmEgress => "vm_egress",
            Limit::Link => "link",
            Limit::ClientCpu => "client_cpu",
            Limit::ClientSlots => "client_slots",
            Limit::ServerSlots => "server_slots",
            Limit::ServerCpu => "server_cpu",
            Limit::Disk => "disk",
            Limit::OperationsPerSecond => "operations_per_second",
        }
    }
}

/// The name of a stated limit's entry begins with this: `known.vm_egress`.
const STATED: &str = "known.";
const PROCESSORS: &str = "cpu.count";
const FILESYSTEM: &str = "filesystem.type";
const NULL_ROUND_TRIP: &str = "target.null_round_trip_ns";

/// A limit as the user states it (`--known`): a hypothesis, which the measurement may refute.
#[derive(Clone, Debug, PartialEq)]
pub struct StatedLimit {
    /// The limited resource.
    pub limit: Limit,
    /// Its amount: bytes per second, operations per second, or for slots requests on a connection.
    /// Finite and above 0.
    pub value: f64,
    /// Where the amount is from: `as given`, `2 TiB x premium`, `Standard_D32s_v5`.
    pub origin: String,
}

impl StatedLimit {
    fn parse(name: &str, text: &str) -> Option<StatedLimit> {
        let code = name.strip_prefix(STATED)?;
        let limit = Limit::ALL.into_iter().find(|limit| limit.code() == code)?;
        let (amount, rest) = text.split_once(' ').unwrap_or((text, ""));
        let value = amount.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0)?;
        let origin = rest.split_once(", ").map_or("as given", |(_, origin)| origin).to_owned();
        Some(StatedLimit { limit, value, origin })
    }
}

/// `2000000000 bytes/s, Standard_D32s_v5`
impl fmt::Display for StatedLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.limit {
            Limit::ClientSlots | Limit::ServerSlots => "requests on a connection",
            Limit::OperationsPerSecond => "ops/s",
            _ => "bytes/s",
        };
        write!(f, "{} {unit}, {}", self.value, self.origin)
    }
}

/// What is known about limits before anything is measured.
///
/// Stored as a list of `(name, value)`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<(String, String)>", into = "Vec<(String, String)>")]
pub struct PriorKnowledge {
    /// Limits that the user states.
    pub stated_limits: Vec<StatedLimit>,
    /// The host's processors.
    pub processors: Option<NonZeroU32>,
    /// The file system of a target that is a directory, as the kernel names it: `ext4`, `nfs`.
    pub filesystem: Option<String>,
    /// Shortest round-trip time of a NULL call to the server, in nanoseconds: the network without
    /// the storage.
    pub null_round_trip_ns: Option<u64>,
}

impl PriorKnowledge {
    /// Takes in an entry of the stored list. Returns false if it is about something else, is
    /// malformed, or repeats an entry of which there is only one.
    pub fn add(&mut self, name: &str, value: &str) -> bool {
        match name {
            PROCESSORS => fill(&mut self.processors, value),
            FILESYSTEM => fill(&mut self.filesystem, value),
            NULL_ROUND_TRIP => fill(&mut self.null_round_trip_ns, value),
            _ => {
                let stated = StatedLimit::parse(name, value);
                let is_stated = stated.is_some();
                self.stated_limits.extend(stated);
                is_stated
            }
        }
    }

    /// The entries of the stored list.
    pub fn pairs(&self) -> Vec<(String, String)> {
        let stated = self
            .stated_limits
            .iter()
            .map(|one| (format!("{STATED}{}", one.limit.code()), one.to_string()));
        let facts = [
            (PROCESSORS, self.processors.map(|count| count.to_string())),
            (FILESYSTEM, self.filesystem.clone()),
            (NULL_ROUND_TRIP, self.null_round_trip_ns.map(|ns| ns.to_string())),
        ];
        let facts = facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        stated.chain(facts).collect()
    }

    /// Takes from `other` what is not known yet, except for stated limits.
    pub fn complete_from(&mut self, other: &PriorKnowledge) {
        self.processors = self.processors.or(other.processors);
        self.null_round_trip_ns = self.null_round_trip_ns.or(other.null_round_trip_ns);
        if self.filesystem.is_none() {
            self.filesystem.clone_from(&other.filesystem);
        }
    }
}

impl From<Vec<(String, String)>> for PriorKnowledge {
    fn from(pairs: Vec<(String, String)>) -> PriorKnowledge {
        let mut prior = PriorKnowledge::default();
        for (name, value) in &pairs {
            prior.add(name, value);
        }
        prior
    }
}

impl From<PriorKnowledge> for Vec<(String, String)> {
    fn from(prior: PriorKnowledge) -> Vec<(String, String)> {
        prior.pairs()
    }
}

/// Sets an empty `field` from `text`. Returns false if it has a value already, or if `text` is not
/// the printed form of a value: such an entry is kept as text.
pub fn fill<T: std::str::FromStr + ToString>(field: &mut Option<T>, text: &str) -> bool {
    let parsed = text.parse().ok().filter(|value: &T| value.to_string() == text);
    let fills = field.is_none() && parsed.is_some();
    if fills {
        *field = parsed;
    }
    fills
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn prior_knowledge_reads_back_as_it_was_stored() {
        let stored = vec![
            pair("known.volume_throughput", "134217728 bytes/s, 2 TiB x premium"),
            pair("known.server_slots", "128 requests on a connection, as given"),
            pair("known.operations_per_second", "50000 ops/s, as given"),
            pair("cpu.count", "8"),
            pair("filesystem.type", "nfs"),
            pair("target.null_round_trip_ns", "250000"),
        ];
        let prior = PriorKnowledge::from(stored.clone());
        assert_eq!(prior.stated_limits[0].value, 134_217_728.0);
        assert_eq!(prior.stated_limits[0].origin, "2 TiB x premium");
        assert_eq!(prior.pairs(), stored);
        let json = serde_json::to_string(&prior).unwrap();
        assert_eq!(json, serde_json::to_string(&stored).unwrap());
        assert_eq!(serde_json::from_str::<PriorKnowledge>(&json).unwrap(), prior);
    }

    #[test]
    fn malformed_and_repeated_entries_are_refused() {
        let mut prior = PriorKnowledge::default();
        for (name, value) in [
            ("cpu.count", "0"),
            ("cpu.count", "eight"),
            ("known.link", "-1 bytes/s, as given"),
            ("known.link", "fast"),
            ("known.weather", "1 bytes/s, as given"),
            ("cpu.model", "EPYC"),
        ] {
            assert!(!prior.add(name, value), "{name} {value}");
        }
        assert_eq!(prior, PriorKnowledge::default());
        assert!(prior.add("cpu.count", "8"));
        assert!(!prior.add("cpu.count", "2"));
        assert_eq!(prior.processors, NonZeroU32::new(8));
    }
}
