//! The amounts of a testbed. `None` means unlimited.

/// Everything that can limit a run. Times are in nanoseconds, rates in bytes per second.
#[derive(Clone, Debug, Default)]
pub struct Amounts {
    /// Network round-trip time without queueing.
    pub wire_ns: f64,
    /// Time of a read in the server without queueing.
    pub service_ns: f64,
    /// Time of a write as a multiple of that.
    pub write_factor: f64,
    /// Standard deviation of the logarithm of this time.
    pub service_sigma: f64,
    /// Processors of each host.
    pub processors: u32,
    /// Number of that host's processors that other processes would use.
    pub other_load: f64,
    /// Client CPU time per operation, and per KiB moved.
    pub client_cpu_ns: (f64, f64),
    /// Share of reads served by the client's page cache (mounts only), 0 to 1.
    pub client_cache: f64,
    /// Maximum number of outstanding calls per connection in the client.
    pub client_slots: u32,
    /// Limit of each connection.
    pub flow: Option<f64>,
    /// Whether a connection's limit applies to each direction separately.
    pub flow_by_direction: bool,
    /// Egress limit of the virtual machine of each host.
    pub egress: Option<f64>,
    /// Bandwidth of each host's link, in each direction.
    pub link: Option<f64>,
    /// Maximum number of requests that the server processes concurrently per connection.
    pub slots_per_connection: Option<u32>,
    /// Maximum number of requests that the server processes concurrently in total.
    pub slots_per_server: Option<u32>,
    /// The server's processors.
    pub server_cpu: Option<ServerCpu>,
    /// Limit on operations per second.
    pub operations: Option<f64>,
    /// The throughput limit of each volume.
    pub volume: Option<f64>,
    /// Multiples of it, by the position of the volume; 1 for the others.
    pub volume_factors: Vec<f64>,
    /// Burst credit on top of the volume's limit.
    pub credit: Option<Credit>,
    /// The endpoint's throughput limit.
    pub endpoint: Option<f64>,
    /// The storage behind the server.
    pub disk: Option<Disk>,
    /// Another client that uses part of the server's limits.
    pub neighbour: Option<Neighbour>,
    /// A change of the server's limits during the session.
    pub change: Option<Change>,
}

/// Processors of a server.
#[derive(Clone, Copy, Debug)]
pub struct ServerCpu {
    /// Number of requests processed concurrently.
    pub processors: u32,
    /// Mean CPU time per request, and per KiB moved, in nanoseconds.
    pub work_ns: (f64, f64),
    /// Standard deviation of the logarithm of this time.
    pub sigma: f64,
}

/// Credit for exceeding the volume's limit, earned at the limit's rate.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    /// Maximum credit, in bytes.
    pub bytes: f64,
    /// Rate while there is credit, as a multiple of the limit.
    pub peak: f64,
}

/// A storage of several equal devices.
#[derive(Clone, Copy, Debug)]
pub struct Disk {
    /// Number of operations processed concurrently.
    pub devices: u32,
    /// Mean time per random operation, and per KiB moved, in nanoseconds; exponential.
    pub random_ns: (f64, f64),
    /// The same for a sequential operation.
    pub sequential_ns: (f64, f64),
    /// Time of a write as a multiple of that of a read.
    pub write_factor: f64,
    /// Share of reads served by the server's cache, 0 to 1.
    pub cache: f64,
}

/// Another client that is active intermittently, at random times.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour {
    /// Share of every server limit that it uses while active, 0 to 1.
    pub share: f64,
    /// Mean length of its active and idle periods, in nanoseconds.
    pub period_ns: f64,
}

/// A change of every server limit at one time.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// When, in nanoseconds from the session's start.
    pub at_ns: f64,
    /// The limits after the change as a multiple of those before.
    pub factor: f64,
}
