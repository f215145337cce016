//! What a testbed is made of. What is `None` has no limit.

/// Everything that can limit a run. Times are in nanoseconds, rates in bytes per second.
#[derive(Clone, Debug, Default)]
pub struct Amounts {
    /// Network round-trip time without queueing.
    pub wire_ns: f64,
    /// Time that each read spends in the server apart from queues.
    pub service_ns: f64,
    /// The same for a write, as a factor.
    pub write_factor: f64,
    /// Standard deviation of the logarithm of that time.
    pub service_sigma: f64,
    /// Processors of the client's host.
    pub processors: u32,
    /// Processors of that host that other processes try to keep busy.
    pub other_load: f64,
    /// Client processor time of an operation, and of each KiB it moves.
    pub client_cpu_ns: (f64, f64),
    /// Share of reads that the client's page cache answers (mounts only), 0 to 1.
    pub client_cache: f64,
    /// Calls that the client keeps outstanding on a connection.
    pub client_slots: u32,
    /// Limit of each connection.
    pub flow: Option<f64>,
    /// Whether a connection's limit counts each direction by itself.
    pub flow_by_direction: bool,
    /// What the client's virtual machine may send.
    pub egress: Option<f64>,
    /// Bandwidth of the link, in each direction.
    pub link: Option<f64>,
    /// Requests that the server processes at a time for each connection.
    pub slots_per_connection: Option<u32>,
    /// Requests that the server processes at a time in all.
    pub slots_per_server: Option<u32>,
    /// The server's processors.
    pub server_cpu: Option<ServerCpu>,
    /// Operations per second.
    pub operations: Option<f64>,
    /// The volume's throughput limit.
    pub volume: Option<f64>,
    /// Burst credit on top of the volume's limit.
    pub credit: Option<Credit>,
    /// The endpoint's throughput limit.
    pub endpoint: Option<f64>,
    /// The storage behind it.
    pub disk: Option<Disk>,
    /// Another client that takes part of what the server's limits allow.
    pub neighbour: Option<Neighbour>,
    /// A change of the server's limits during the session.
    pub change: Option<Change>,
}

/// Processors of a server.
#[derive(Clone, Copy, Debug)]
pub struct ServerCpu {
    /// How many requests are worked on at a time.
    pub processors: u32,
    /// Mean work of a request, and of each KiB it moves, in nanoseconds.
    pub work_ns: (f64, f64),
    /// Standard deviation of the logarithm of that work.
    pub sigma: f64,
}

/// Bytes that may pass faster than the volume's limit; they are earned at the limit's rate.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    /// The most that can be saved up.
    pub bytes: f64,
    /// Rate while there is credit, as a multiple of the limit.
    pub peak: f64,
}

/// A storage of several equal devices.
#[derive(Clone, Copy, Debug)]
pub struct Disk {
    /// Operations that are worked on at a time.
    pub devices: u32,
    /// Mean work of a random operation, and of each KiB it moves, in nanoseconds; exponential.
    pub random_ns: (f64, f64),
    /// The same for a sequential operation.
    pub sequential_ns: (f64, f64),
    /// Work of a write over that of a read.
    pub write_factor: f64,
    /// Share of reads that the server's cache answers, 0 to 1.
    pub cache: f64,
}

/// Another client, on and off at random.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour {
    /// Share of every server limit that it takes while it is on, 0 to 1.
    pub share: f64,
    /// Mean length of its on and off periods, in nanoseconds.
    pub period_ns: f64,
}

/// A change of every server limit at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// When, in nanoseconds from the session's start.
    pub at_ns: f64,
    /// The limits afterwards over those before.
    pub factor: f64,
}
