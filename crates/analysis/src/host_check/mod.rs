//! Whether a host and a mount are set so that a measurement shows the store and not themselves.
//!
//! For: judging facts about a host, `(name, value)` as a run's environment record has them, and
//! what was seen besides (counters, a round-trip time, the generator's ceiling). Every check says
//! what was found, what is wanted, which figure it matters for, and the command that changes it.
//! Where a fact is missing the check says so: nothing is judged by a guess. Not for: reading the
//! facts (the crate `host`), nor for changing anything. Numbers of the service are rows of
//! `cloud`. The causes are those of section 11 of the NetApp white paper (2019) and of the
//! service's pages on Linux clients; `docs/method.md` has the formulas.

mod figures;
mod limits;
mod mount;
mod network;
mod own_client;
mod processor;
mod tcp;
pub mod window;

use cloud::catalog::Catalog;
use cloud::client::ClientFacts;
use cloud::vm_size::{self, VmSize};

/// What is judged: facts by name, from the environment and from a look at counters.
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

    fn is_azure(&self) -> bool {
        self.get("machine.cloud") == Some("azure")
    }

    fn vm_size(&self) -> Option<VmSize> {
        vm_size::named(self.get("vm.size")?)
    }
}

/// What the checks are for.
#[derive(Clone, Debug, PartialEq)]
pub enum About {
    /// The host alone.
    Host,
    /// A directory through the kernel's file system.
    Directory {
        /// As the user named it.
        path: String,
    },
    /// An NFS export through the client of this program.
    Export(Export),
}

/// How an export is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// As the user named it.
    pub url: String,
    /// Connections that the URL asks for; one for each worker where it does not say.
    pub connections: Option<u32>,
    /// Calls outstanding on a connection at most.
    pub slots: u32,
    /// Whether connections are to come from ports below 1024.
    pub privileged: bool,
}

/// A round-trip time between this host and the server, and where it is from.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundTrip {
    /// In seconds; above 0.
    pub seconds: f64,
    /// In words: "given", "the least of 5 connects to 10.0.0.4:2049".
    pub how: String,
    /// It has the server's own time in it, so that windows look smaller than they are.
    pub is_upper_bound: bool,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// What is looked at.
    pub about: About,
    /// The throughput that is wanted, in bytes per second, over all connections.
    pub want_bytes_per_s: Option<f64>,
    /// The network's part of a response time.
    pub round_trip: Option<RoundTrip>,
    /// The facts are copies: nothing could be tried.
    pub is_captured: bool,
}

/// How a check came out, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// A figure will be wrong, or clearly lower than what the store gives.
    Problem,
    /// A figure may be lower or noisier than what the store gives.
    Warning,
    /// Worth knowing; for some workloads worth changing.
    Hint,
    /// A fact is missing; `found` says which.
    NotKnown,
    /// As it should be.
    Ok,
}

impl Status {
    /// All of them, the worst first.
    pub const ALL: [Status; 5] =
        [Status::Problem, Status::Warning, Status::Hint, Status::NotKnown, Status::Ok];

    /// As JSON writes it.
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

/// What a check looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The mount, and the kernel's NFS client.
    Mount,
    /// Our own NFS client.
    OwnClient,
    /// The network interface and the virtual machine's share of the network.
    Network,
    /// Windows of TCP.
    Tcp,
    /// Processors and clocks.
    Processor,
    /// Limits of this process, and the generator.
    Process,
}

impl Subject {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Subject; 6] = [
        Subject::Mount,
        Subject::OwnClient,
        Subject::Network,
        Subject::Tcp,
        Subject::Processor,
        Subject::Process,
    ];

    /// As JSON writes it.
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

    /// As a heading.
    pub const fn title(self) -> &'static str {
        match self {
            Subject::Mount => "Mount",
            Subject::OwnClient => "Client of this program",
            Subject::Network => "Network",
            Subject::Tcp => "TCP",
            Subject::Processor => "Processors and clocks",
            Subject::Process => "Limits and generator",
        }
    }
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Never changes; programs go by it.
    pub id: &'static str,
    /// What it looks at.
    pub subject: Subject,
    /// How it came out.
    pub status: Status,
    /// What it is about, in a few words.
    pub title: &'static str,
    /// What is; of [`Status::NotKnown`] why that is not known.
    pub found: String,
    /// What should be.
    pub wanted: String,
    /// Which figure it matters for, and how.
    pub why: String,
    /// The command that changes it; absent where there is none, or nothing to change.
    pub change: Option<String>,
}

impl Check {
    fn new(id: &'static str, subject: Subject, title: &'static str) -> Check {
        Check {
            id,
            subject,
            status: Status::Ok,
            title,
            found: String::new(),
            wanted: String::new(),
            why: String::new(),
            change: None,
        }
    }

    fn found(mut self, found: impl Into<String>) -> Check {
        self.found = found.into();
        self
    }

    fn wanted(mut self, wanted: impl Into<String>) -> Check {
        self.wanted = wanted.into();
        self
    }

    fn why(mut self, why: impl Into<String>) -> Check {
        self.why = why.into();
        self
    }

    /// Its status, and what to do where that is not fine.
    fn status(mut self, status: Status, change: impl Into<String>) -> Check {
        self.status = status;
        let change = change.into();
        let is_needed = !matches!(status, Status::Ok | Status::NotKnown) && !change.is_empty();
        self.change = is_needed.then_some(change);
        self
    }

    fn ok(self) -> Check {
        self.status(Status::Ok, "")
    }

    fn not_known(self, why: impl Into<String>) -> Check {
        self.found(why).status(Status::NotKnown, "")
    }
}

/// All checks, and what was left out on purpose.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkup {
    /// In the order of their subjects.
    pub checks: Vec<Check>,
    /// What does not apply here, in words.
    pub not_looked_at: Vec<String>,
}

impl Checkup {
    /// How many came out so.
    pub fn count(&self, status: Status) -> usize {
        self.checks.iter().filter(|check| check.status == status).count()
    }

    /// Those that came out so, in order.
    pub fn with(&self, status: Status) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(move |check| check.status == status)
    }

    /// Whether a figure will be wrong or clearly too low.
    pub fn has_problems(&self) -> bool {
        self.count(Status::Problem) > 0
    }
}

/// What every check is given.
struct Look<'a> {
    facts: &'a Facts,
    asked: &'a Asked,
    catalog: Catalog,
    client: ClientFacts,
}

/// Judges the facts.
pub fn judge(facts: &Facts, asked: &Asked) -> Checkup {
    let look = Look { facts, asked, catalog: Catalog::embedded(), client: ClientFacts::embedded() };
    let mut checks = Vec::new();
    let mut not_looked_at = Vec::new();
    match &asked.about {
        About::Host => not_looked_at
            .push("a mount: name a directory or nfs://host/export to look at that too".to_owned()),
        About::Directory { .. } => checks.extend(mount::checks(&look)),
        About::Export(export) => {
            checks.extend(own_client::checks(&look, export));
            not_looked_at.push(
                "mount options, slot tables and read-ahead: they are of the kernel's NFS client, \
                 and nfs:// is measured with a client of this program"
                    .to_owned(),
            );
        }
    }
    checks.extend(network::checks(&look));
    checks.extend(tcp::checks(&look));
    checks.extend(processor::checks(&look));
    checks.extend(limits::checks(&look));
    checks.sort_by_key(|check| check.subject);
    Checkup { checks, not_looked_at }
}

impl Look<'_> {
    /// Whether the store is reached over the network, as far as that is known.
    fn is_over_network(&self) -> bool {
        match &self.asked.about {
            About::Host | About::Export(_) => true,
            About::Directory { .. } => self.facts.get("filesystem.type").is_none_or(is_remote),
        }
    }

    /// Whether the kernel's NFS client is what is measured.
    fn is_nfs_mount(&self) -> bool {
        matches!(self.asked.about, About::Directory { .. })
            && self.facts.get("filesystem.type").is_some_and(|kind| kind.starts_with("nfs"))
    }

    /// Connections over which the wanted throughput is spread, where that is known.
    fn connections(&self) -> Option<u64> {
        match &self.asked.about {
            About::Host => None,
            About::Directory { .. } => self.facts.number("mount.nconnect"),
            About::Export(export) => export.connections.map(u64::from),
        }
        .filter(|count| *count > 0)
    }
}

/// Whether a file system of this type is another host's.
fn is_remote(filesystem: &str) -> bool {
    ["nfs", "nfs4", "cifs", "smb3", "ceph", "lustre", "9p", "fuse.sshfs"].contains(&filesystem)
}
