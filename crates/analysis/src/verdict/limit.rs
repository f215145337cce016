//! What can limit throughput.

/// A resource that can be exhausted, or a limit that can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// The volume's throughput limit: bytes per second of reads and writes together.
    VolumeThroughput,
    /// What the address carries at which the volume is reached, whatever volume is behind it.
    Endpoint,
    /// What one connection carries.
    NetworkFlow,
    /// What a virtual machine may send: bounds writes and leaves reads alone.
    VmEgress,
    /// The link's bandwidth: each direction by itself, headers included.
    Link,
    /// The processors of this host, whichever processes use them.
    ClientCpu,
    /// The calls that this client keeps outstanding on a connection.
    ClientSlots,
    /// The requests that the server processes at a time, per connection or in all.
    ServerSlots,
    /// The server's processors.
    ServerCpu,
    /// The storage behind the server: its media.
    Disk,
    /// A limit on operations per second, whatever their size.
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

    /// Whether it is about requests (their number, or the work that each makes), not about bytes
    /// per second: larger transfers get more out of it.
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

    /// The name in files: stable.
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

    /// The name in sentences: `limited by ...`.
    pub const fn name(self) -> &'static str {
        match self {
            Limit::VolumeThroughput => "the volume's throughput limit",
            Limit::Endpoint => "the endpoint's throughput limit",
            Limit::NetworkFlow => "the limit of each network flow",
            Limit::VmEgress => "the VM's egress limit",
            Limit::Link => "the link's bandwidth",
            Limit::ClientCpu => "this host's processors",
            Limit::ClientSlots => "the client's request slots",
            Limit::ServerSlots => "the server's request slots",
            Limit::ServerCpu => "the server's processors",
            Limit::Disk => "the storage itself",
            Limit::OperationsPerSecond => "a limit on operations per second",
        }
    }
}
