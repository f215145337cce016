//! The description of a run simulated by [`crate::nfs_world`]: service, network, client and
//! incidents.

use files::Unstable;
use target::nfs::Policy;
use units::Bytes;
use volume::config::Config;

use crate::tap::Tapping;
use crate::wire::Wire;

/// The environment of a simulated run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The service's configuration; its seed is mixed with that of the simulation.
    pub config: Config,
    /// The volume of each stream, repeated if there are more streams.
    pub volumes: Vec<String>,
    /// The network.
    pub wire: Wire,
    /// The client.
    pub client: Client,
    /// The data of the files.
    pub data: Data,
    /// What a restart of the service does to uncommitted data.
    pub unstable: Unstable,
    /// Quota of every volume from the first operation on; replaces the account's.
    pub quota: Option<Bytes>,
    /// Length of every file; replaces the plan's.
    pub file_bytes: Option<u64>,
    /// Incidents with their times, in nanoseconds from the run's start.
    pub incidents: Vec<(u64, Incident)>,
    /// Whether calls are counted between the network and the service, and connections cut.
    pub tapping: Option<Tapping>,
}

/// The settings of the client, as in a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Number of connections of the whole process; one for each worker if absent.
    pub nconnect: Option<u32>,
    /// Maximum number of outstanding calls per connection.
    pub slots: u32,
    /// How operations are distributed over connections.
    pub policy: Policy,
    /// Maximum data of a READ in bytes.
    pub rsize_bytes: u32,
    /// Maximum data of a WRITE in bytes.
    pub wsize_bytes: u32,
    /// How long a connection with outstanding calls may be silent.
    pub timeo_ns: u64,
}

/// The data of the files, and whether it is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// The files are holes; zeros are written.
    None,
    /// The plan's data.
    Filled {
        /// Seed of the data.
        seed: u64,
    },
    /// The plan's data; every read must return what was written last.
    Verified {
        /// Seed of the data.
        seed: u64,
    },
}

/// An incident at client or service.
#[derive(Clone, Debug)]
pub enum Incident {
    /// Connections are cut; everything in flight on them is lost.
    Lose(Connections),
    /// The service restarts: all connections are cut, and uncommitted data is treated according to
    /// [`Setup::unstable`]. Its duplicate request cache is kept, as if in persistent memory.
    Restart,
    /// The service gets another configuration.
    Change(Box<Config>),
}

/// A set of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connections {
    /// All of the process.
    All,
    /// The one with this number, from 0.
    One(u32),
}

impl Client {
    /// One connection for each worker, and the defaults of a URL.
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

    /// A client with this number of connections.
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
    /// All streams on one volume, without incidents, over a network with a delay of 10 us.
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
            incidents: Vec::new(),
            tapping: None,
        }
    }
}
