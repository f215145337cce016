//! Checks whether host and mount settings let a measurement show the storage.
//!
//! For: evaluating facts about a host, `(name, value)` as in a run's environment, with counters, a
//! round-trip time and the generator's ceiling. Each check has a result and a [`Finding`]: what was
//! found, with the numbers that it was compared with. A missing fact is reported as unknown. Not
//! for: reading facts (crate `host`), changing settings, or words (crate `report`). Numbers of the
//! service are rows of `cloud`. Sources: section 11 of the NetApp white paper (2019) and the
//! service's pages on Linux clients; `docs/method.md` has the formulas.

pub mod finding;
pub mod fleet;
mod limits;
mod mount;
mod network;
mod own_client;
mod processor;
mod tcp;
pub mod window;

use cloud::catalog::Catalog;
use cloud::client::ClientFacts;
use cloud::row::LimitName;
use cloud::vm_size::{self, VmSize};
use units::BytesPerSec;

use finding::{Finding, ProcessLimit};

/// Facts by name, from the environment and from counters.
#[derive(Clone, Debug, Default)]
pub struct Facts(pub Vec<(String, String)>);

impl Facts {
    /// The value of this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// A whole number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }

    /// A number that is finite and not negative.
    pub fn real(&self, name: &str) -> Option<f64> {
        let number: f64 = self.get(name)?.parse().ok()?;
        (number.is_finite() && number >= 0.0).then_some(number)
    }

    /// The last of several numbers: the largest size of `4096 131072 6291456`.
    fn last_number(&self, name: &str) -> Option<u64> {
        self.get(name)?.split_ascii_whitespace().last()?.parse().ok()
    }

    /// Whether this process has a capability, by its number in capability.h.
    fn has_capability(&self, number: u32) -> Option<bool> {
        let mask = u64::from_str_radix(self.get("process.capabilities")?, 16).ok()?;
        Some(mask >> number & 1 == 1)
    }

    fn is_azure(&self) -> bool {
        self.get("machine.cloud") == Some("azure")
    }

    fn vm_size(&self) -> Option<VmSize> {
        vm_size::named(self.get("vm.size")?)
    }
}

/// The subject of the checks.
#[derive(Clone, Debug, PartialEq)]
pub enum About {
    /// The host only.
    Host,
    /// A directory through the kernel's file system.
    Directory {
        /// As the user named it.
        path: String,
    },
    /// An NFS export through the built-in client.
    Export(Export),
}

/// An NFS export with the options of its URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// As the user named it.
    pub url: String,
    /// Connections given in the URL; `None` for one per worker.
    pub connections: Option<u32>,
    /// Most outstanding calls per connection.
    pub slots: u32,
    /// Whether to use source ports below 1024.
    pub privileged: bool,
}

/// A round-trip time between this host and the server, with its source.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundTrip {
    /// In seconds; above 0.
    pub seconds: f64,
    /// Its source.
    pub source: RoundTripSource,
}

/// The source of a round-trip time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoundTripSource {
    /// The user gives it.
    Given,
    /// The shortest time to establish a connection, or to have it refused.
    Connects {
        /// Number of connections.
        count: usize,
        /// The server's address and port.
        address: String,
    },
    /// The mean of the mount's GETATTR calls.
    GetattrMean {
        /// Number of calls.
        calls: u64,
    },
}

impl RoundTrip {
    /// Whether it includes time in the server, which makes windows look too small.
    pub const fn is_upper_bound(&self) -> bool {
        matches!(self.source, RoundTripSource::GetattrMean { .. })
    }
}

/// The options of the checks.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The subject.
    pub about: About,
    /// Required throughput over all connections.
    pub required: Option<BytesPerSec>,
    /// The round-trip time of the network.
    pub round_trip: Option<RoundTrip>,
    /// Whether the facts are copies from another host, on which nothing could be tried.
    pub is_captured: bool,
}

/// The result of a check, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// A figure will be wrong, or clearly lower than what the storage delivers.
    Problem,
    /// A figure may be lower or noisier than what the storage delivers.
    Warning,
    /// Useful to know, and to change for some workloads.
    Hint,
    /// A fact is missing.
    NotKnown,
    /// As recommended.
    Ok,
}

impl Status {
    /// All results, worst first.
    pub const ALL: [Status; 5] =
        [Status::Problem, Status::Warning, Status::Hint, Status::NotKnown, Status::Ok];

    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Problem => "problem",
            Status::Warning => "warning",
            Status::Hint => "hint",
            Status::NotKnown => "not_known",
            Status::Ok => "ok",
        }
    }
}

/// Groups of checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The mount, and the kernel's NFS client.
    Mount,
    /// The built-in NFS client.
    OwnClient,
    /// The network interface and the limits of the virtual machine.
    Network,
    /// TCP windows.
    Tcp,
    /// Processors and clocks.
    Processor,
    /// Limits of this process, and the generator.
    Process,
}

impl Subject {
    /// All groups, in display order.
    pub const ALL: [Subject; 6] = [
        Subject::Mount,
        Subject::OwnClient,
        Subject::Network,
        Subject::Tcp,
        Subject::Processor,
        Subject::Process,
    ];

    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Subject::Mount => "mount",
            Subject::OwnClient => "own_client",
            Subject::Network => "network",
            Subject::Tcp => "tcp",
            Subject::Processor => "processor",
            Subject::Process => "process",
        }
    }
}

/// One check.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Its result.
    pub status: Status,
    /// What was found.
    pub finding: Finding,
}

impl Check {
    const fn new(status: Status, finding: Finding) -> Check {
        Check { status, finding }
    }
}

/// What is not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotChecked {
    /// A mount: no target is named.
    Mount,
    /// The kernel's NFS client: the target is accessed by the built-in client.
    KernelClient,
}

/// All checks, and what does not apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkup {
    /// Ordered by group.
    pub checks: Vec<Check>,
    /// What does not apply.
    pub not_checked: Vec<NotChecked>,
}

impl Checkup {
    /// Number of checks with a result.
    pub fn count(&self, status: Status) -> usize {
        self.checks.iter().filter(|check| check.status == status).count()
    }

    /// Checks with a result, in order.
    pub fn with(&self, status: Status) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(move |check| check.status == status)
    }

    /// Whether a figure will be wrong or clearly too low.
    pub fn has_problems(&self) -> bool {
        self.count(Status::Problem) > 0
    }
}

/// The input of each check.
struct Look<'a> {
    facts: &'a Facts,
    options: &'a Options,
    catalog: Catalog,
    client: ClientFacts,
}

/// Runs all checks.
pub fn judge(facts: &Facts, options: &Options) -> Checkup {
    let look =
        Look { facts, options, catalog: Catalog::embedded(), client: ClientFacts::embedded() };
    let mut checks = Vec::new();
    let mut not_checked = Vec::new();
    match &options.about {
        About::Host => not_checked.push(NotChecked::Mount),
        About::Directory { .. } => checks.extend(mount::checks(&look)),
        About::Export(export) => {
            checks.extend(own_client::checks(&look, export));
            not_checked.push(NotChecked::KernelClient);
        }
    }
    checks.extend(network::checks(&look));
    checks.extend(tcp::checks(&look));
    checks.extend(processor::checks(&look));
    checks.extend(limits::checks(&look));
    checks.sort_by_key(|check| check.finding.subject());
    Checkup { checks, not_checked }
}

impl Look<'_> {
    /// Published throughput of one network flow of Azure.
    fn flow(&self) -> BytesPerSec {
        BytesPerSec::new(self.catalog.limit(LimitName::FlowThroughput) as f64 * 1024.0)
    }

    /// The required throughput, if it exceeds `limit`.
    fn required_above(&self, limit: BytesPerSec) -> Option<BytesPerSec> {
        self.options.required.filter(|required| required.get() > limit.get())
    }

    /// The text of a fact.
    fn text(&self, name: &str) -> Option<String> {
        self.facts.get(name).map(str::to_owned)
    }

    /// A limit of this process.
    fn process_limit(&self, name: &str) -> ProcessLimit {
        match self.facts.get(name) {
            None => ProcessLimit::Missing,
            Some("unlimited") => ProcessLimit::Unlimited,
            Some(limit) => match limit.parse() {
                Ok(limit) => ProcessLimit::At(limit),
                Err(_) => ProcessLimit::Unreadable(limit.to_owned()),
            },
        }
    }

    /// Whether the storage is accessed over the network; true if unknown.
    fn is_over_network(&self) -> bool {
        match &self.options.about {
            About::Host | About::Export(_) => true,
            About::Directory { .. } => self.facts.get("filesystem.type").is_none_or(is_remote),
        }
    }

    /// Whether the target is mounted with the kernel's NFS client.
    fn is_nfs_mount(&self) -> bool {
        matches!(self.options.about, About::Directory { .. })
            && self.facts.get("filesystem.type").is_some_and(|kind| kind.starts_with("nfs"))
    }

    /// Connections that share the required throughput, if known.
    fn connections(&self) -> Option<u64> {
        match &self.options.about {
            About::Host => None,
            About::Directory { .. } => self.facts.number("mount.nconnect"),
            About::Export(export) => export.connections.map(u64::from),
        }
        .filter(|count| *count > 0)
    }
}

/// Whether a file system of this type is remote.
pub(crate) fn is_remote(filesystem: &str) -> bool {
    ["nfs", "nfs4", "cifs", "smb3", "ceph", "lustre", "9p", "fuse.sshfs"].contains(&filesystem)
}
