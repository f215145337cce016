//! The whole way of an operation in virtual time: the engine's workers, our NFS client, a network,
//! our volume service with its limits and delays, and back; in one thread, from one seed.
//!
//! For: experiments on an export whose answer can be written down beforehand, and for what is rare
//! on real networks: connections lost in mid-run, pieces cut anywhere, a service that restarts and
//! forgets. Everything that decides is the product's own code; only sockets, threads and clocks are
//! replaced. Client and service take no time of their own: all of it is the network's and what the
//! service's description says.
//!
//! Every worker, every direction of a connection and the service have one next event; at one
//! moment they come in the order in which they were planned, so nothing depends on anything but the
//! run, the setup and the seed.

use files::Unstable;
use metrics::run_record::{ExperimentRecord, RunRecord};
use target::nfs::Policy;
use units::Bytes;
use volume::config::Config;
use volume::server::Server;
use volume::witness::Snapshot;
use workload::op::Op;
use workload::plan::{Plan, Run};

use crate::network::Network;
use crate::tap::{Tapped, Tapping};
use crate::wire::Wire;
use crate::world::{NotReturned, experiment_of};

/// What a run is simulated against.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The service; its seed is mixed with that of the simulation.
    pub config: Config,
    /// The volume of each stream, over and over where there are more streams.
    pub volumes: Vec<String>,
    /// The network.
    pub wire: Wire,
    /// The client.
    pub client: Client,
    /// What is in the files.
    pub data: Data,
    /// What a restart of the service does to what was not committed.
    pub unstable: Unstable,
    /// Of every volume, from the first operation on, in place of the account's.
    pub quota: Option<Bytes>,
    /// The length of every file, in place of the plan's.
    pub file_bytes: Option<u64>,
    /// What happens when, in nanoseconds from the run's start.
    pub happenings: Vec<(u64, Happening)>,
    /// Whether calls are counted between the network and the service, and cut.
    pub tapping: Option<Tapping>,
}

/// The client, as a URL would say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Connections of the whole process; one for each worker where it says nothing.
    pub nconnect: Option<u32>,
    /// Calls outstanding on a connection at most.
    pub slots: u32,
    /// How operations are dealt out to connections.
    pub policy: Policy,
    /// Most bytes of a READ.
    pub rsize_bytes: u32,
    /// Most bytes of a WRITE.
    pub wsize_bytes: u32,
    /// How long a connection with calls outstanding may say nothing.
    pub timeo_ns: u64,
}

/// What is in the files, and what of it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Nothing: they are holes, and zeros are written.
    None,
    /// The plan's data.
    Filled {
        /// Of the data.
        seed: u64,
    },
    /// The same, and whatever is read must be what was written last.
    Verified {
        /// Of the data.
        seed: u64,
    },
}

/// Something that happens to client and service.
#[derive(Clone, Debug)]
pub enum Happening {
    /// Connections are cut, and everything on its way over them is lost.
    Lose(Which),
    /// The service restarts: every connection is cut, and what was not committed is treated as
    /// [`Setup::unstable`] says. Its duplicate request cache stays, as if kept in safe memory.
    Restart,
    /// The service is given another description.
    Change(Box<Config>),
}

/// Which connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Of the whole process.
    All,
    /// The one with this number, from 0.
    One(u32),
}

/// A run that was simulated, and what is left of the service.
#[derive(Debug)]
pub struct Simulated {
    /// What the engine measured, with what the service counted as its witness.
    pub record: RunRecord,
    /// The service's book.
    pub snapshot: Snapshot,
    /// The service as it is in the end.
    pub server: Server,
    /// By worker: the writes that ended well, in that order.
    pub written: Vec<Vec<Op>>,
    /// What was read and should not have been, in words.
    pub mismatches: Vec<String>,
    /// What was seen between the network and the service.
    pub tapped: Tapped,
    /// The oldest of the operations that were outstanding longer than their deadline.
    pub overdue: Vec<NotReturned>,
    /// The oldest of those that had not come back a while after the run was ended.
    pub left_behind: Vec<NotReturned>,
}

impl Client {
    /// One connection for each worker, and what else a URL leaves to its defaults.
    pub fn new() -> Client {
        Client {
            nconnect: None,
            slots: 128,
            policy: Policy::RoundRobin,
            rsize_bytes: 1 << 20,
            wsize_bytes: 1 << 20,
            timeo_ns: 60_000_000_000,
        }
    }

    /// With so many connections.
    pub fn of(nconnect: u32) -> Client {
        Client { nconnect: Some(nconnect), ..Client::new() }
    }
}

impl Default for Client {
    fn default() -> Client {
        Client::new()
    }
}

impl Setup {
    /// All streams on one volume, with nothing that goes wrong, over a network of 10 us.
    pub fn new(config: Config, volume: &str) -> Setup {
        Setup {
            config,
            volumes: vec![volume.to_owned()],
            wire: Wire::of_delay(10_000),
            client: Client::new(),
            data: Data::None,
            unstable: Unstable::Kept,
            quota: None,
            file_bytes: None,
            happenings: Vec::new(),
            tapping: None,
        }
    }
}

/// Simulates a run on one host.
///
/// # Panics
/// The description breaks a rule of the account, or a stream's volume is not in it.
pub fn simulate(run: &Run, setup: &Setup, seed: u64) -> Simulated {
    Network::new(run, setup, seed).run(run)
}

/// Simulates a whole plan, run after run, each on volumes that are new.
pub fn experiment(plan: &Plan, setup: &Setup, seed: u64) -> ExperimentRecord {
    experiment_of(plan, seed, |run, seed| simulate(run, setup, seed).record)
}
