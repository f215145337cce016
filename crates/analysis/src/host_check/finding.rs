//! What each check found and what it compared it with, as values; `report` words them.

use units::{BytesPerSec, OpsPerSec};

use super::{RoundTrip, Subject};

/// The finding of one check. Where a fact is missing, its value is `None`.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// The measured file system.
    FileSystem(FileSystem),
    /// The NFS version, as in the mount options.
    NfsVersion(Option<String>),
    /// The mount's connections to the server.
    MountConnections(MountConnections),
    /// The largest read or write of the mount.
    TransferSize(TransferSize),
    /// What the mount does when the server does not respond.
    NoResponse(Option<NoResponse>),
    /// When a write through the mount completes.
    WriteCompletion {
        /// Whether each write waits for stable storage.
        is_sync: bool,
    },
    /// The attribute cache.
    AttributeCache(AttributeCache),
    /// The mount option for access times, if the mount options show one.
    AccessTimes(Option<&'static str>),
    /// The security flavour.
    Security(Option<Security>),
    /// Other mounts that share the connections and request a different number, with their options.
    OtherMounts(String),
    /// The mount caches on a local disk.
    LocalCache,
    /// Locks are visible on this host only: the kinds, as in the mount options.
    LocalLocks(String),
    /// Request slots per connection.
    RequestSlots(RequestSlots),
    /// Calls that waited for a slot.
    SlotWait(SlotWait),
    /// Slots of the NFSv4.1 session.
    SessionSlots {
        /// The maximum of the service.
        recommended: u64,
        /// The module's maximum.
        found: Option<u64>,
    },
    /// Read-ahead of the mount.
    ReadAhead {
        /// The recommended read-ahead, in KiB.
        recommended_kib: u64,
        /// The mount's read-ahead, in KiB.
        found_kib: Option<u64>,
        /// The mount point.
        mount_point: Option<String>,
    },
    /// Whether the kernel supports several connections per mount.
    Kernel {
        /// The first version of Linux that does: major and minor number.
        needed: (u32, u32),
        /// This host's kernel.
        found: Option<Kernel>,
    },

    /// Connections of the built-in client.
    ExportConnections {
        /// The recommended number.
        recommended: u64,
        /// Published throughput of one network flow.
        flow: BytesPerSec,
        /// The number in the URL; `None` for one per worker.
        connections: Option<u64>,
    },
    /// Outstanding calls of the built-in client.
    ExportSlots(ExportSlots),
    /// Open files of a process.
    OpenFiles {
        /// Files that a run needs.
        needed: u64,
        /// The limit.
        limit: ProcessLimit,
    },
    /// Whether this process may use ports below 1024.
    PrivilegedPorts(PortPermission),

    /// The interface to the server.
    Interface(Interface),
    /// The speed of the interface.
    InterfaceSpeed {
        /// In 10^6 bit/s.
        mbit_s: Option<u64>,
        /// The required throughput, if it exceeds the speed.
        exceeded_by: Option<BytesPerSec>,
    },
    /// The largest packet (MTU).
    Mtu {
        /// The interface.
        interface: String,
        /// The recommended size, in bytes.
        recommended_bytes: u64,
        /// The interface's size, in bytes.
        found_bytes: Option<u64>,
    },
    /// Packets lost on this host.
    PacketLosses(PacketLosses),
    /// The NUMA node of the interface, on a host with several.
    Numa {
        /// The host's nodes, as the kernel lists them.
        nodes: String,
        /// The interface's node.
        node: Option<u64>,
    },
    /// Accelerated networking of an Azure virtual machine.
    AcceleratedNetworking(AcceleratedNetworking),
    /// The egress limit of an Azure virtual machine.
    Egress(Egress),

    /// The TCP window for reads or for writes.
    TcpWindow(TcpWindow),
    /// The sysctl `tcp_window_scaling`.
    WindowScaling(Option<String>),
    /// The sysctl `tcp_moderate_rcvbuf`.
    ReceiveBufferGrowth(Option<String>),
    /// The congestion control.
    CongestionControl(Option<String>),
    /// The sysctl `tcp_slow_start_after_idle`.
    SlowStartAfterIdle(Option<String>),
    /// Buffer limits for programs.
    ProgramBuffers(Option<ProgramBuffers>),

    /// The clock rate of the processors.
    Governor(Governor),
    /// Processor time taken by the hypervisor.
    Steal(Option<Steal>),
    /// The processors.
    Processors {
        /// Their number.
        count: Option<u64>,
        /// Whether several share a core, if known.
        share_cores: Option<bool>,
    },
    /// A control group with fewer processors than the host.
    ProcessorQuota {
        /// Processors of the control group.
        quota: f64,
        /// Processors of the host.
        processors: u64,
    },
    /// The clock source.
    ClockSource {
        /// The clock source in use.
        found: Option<String>,
        /// An available one that needs no call into the kernel or hypervisor.
        better: Option<&'static str>,
    },
    /// The running program that synchronizes the clock.
    ClockKeeper(Option<String>),

    /// Whether io_uring works.
    IoUring(IoUring),
    /// The limit of locked memory.
    LockedMemory {
        /// Bytes to register all buffers.
        needed: u64,
        /// The limit, in bytes.
        limit: ProcessLimit,
        /// Whether the kernel enforces the limit for this user.
        is_enforced: bool,
    },
    /// The ceiling of the generator.
    Generator {
        /// The measured ceiling.
        ceiling: Option<GeneratorCeiling>,
        /// The required throughput in operations of 8 KiB.
        required: Option<OpsPerSec>,
        /// Whether the facts are copies from another host.
        is_captured: bool,
    },
}

impl Finding {
    /// A stable identifier for programs.
    pub const fn id(&self) -> &'static str {
        self.identity().0
    }

    /// The group.
    pub const fn subject(&self) -> Subject {
        self.identity().1
    }

    const fn identity(&self) -> (&'static str, Subject) {
        use Subject::{Mount, Network, OwnClient, Process, Processor, Tcp};
        match self {
            Finding::FileSystem(_) => ("mount.filesystem", Mount),
            Finding::NfsVersion(_) => ("mount.version", Mount),
            Finding::MountConnections(_) => ("mount.nconnect", Mount),
            Finding::TransferSize(size) => match size.direction {
                Direction::Read => ("mount.rsize", Mount),
                Direction::Write => ("mount.wsize", Mount),
            },
            Finding::NoResponse(_) => ("mount.hard", Mount),
            Finding::WriteCompletion { .. } => ("mount.sync", Mount),
            Finding::AttributeCache(_) => ("mount.attributes", Mount),
            Finding::AccessTimes(_) => ("mount.atime", Mount),
            Finding::Security(_) => ("mount.security", Mount),
            Finding::OtherMounts(_) => ("mount.shared", Mount),
            Finding::LocalCache => ("mount.fscache", Mount),
            Finding::LocalLocks(_) => ("mount.locks", Mount),
            Finding::RequestSlots(_) => ("mount.slots", Mount),
            Finding::SlotWait(_) => ("mount.slots_seen", Mount),
            Finding::SessionSlots { .. } => ("mount.session_slots", Mount),
            Finding::ReadAhead { .. } => ("mount.read_ahead", Mount),
            Finding::Kernel { .. } => ("mount.kernel", Mount),
            Finding::ExportConnections { .. } => ("export.nconnect", OwnClient),
            Finding::ExportSlots(_) => ("export.slots", OwnClient),
            Finding::OpenFiles { .. } => ("export.open_files", OwnClient),
            Finding::PrivilegedPorts(_) => ("export.privileged", OwnClient),
            Finding::Interface(_) => ("net.interface", Network),
            Finding::InterfaceSpeed { .. } => ("net.speed", Network),
            Finding::Mtu { .. } => ("net.mtu", Network),
            Finding::PacketLosses(_) => ("net.losses", Network),
            Finding::Numa { .. } => ("net.numa", Network),
            Finding::AcceleratedNetworking(_) => ("net.accelerated", Network),
            Finding::Egress(_) => ("vm.egress", Network),
            Finding::TcpWindow(window) => match window.direction {
                Direction::Read => ("tcp.receive_window", Tcp),
                Direction::Write => ("tcp.send_window", Tcp),
            },
            Finding::WindowScaling(_) => ("tcp.window_scaling", Tcp),
            Finding::ReceiveBufferGrowth(_) => ("tcp.receive_growth", Tcp),
            Finding::CongestionControl(_) => ("tcp.congestion", Tcp),
            Finding::SlowStartAfterIdle(_) => ("tcp.after_idle", Tcp),
            Finding::ProgramBuffers(_) => ("tcp.core_buffers", Tcp),
            Finding::Governor(_) => ("cpu.governor", Processor),
            Finding::Steal(_) => ("cpu.steal", Processor),
            Finding::Processors { .. } => ("cpu.siblings", Processor),
            Finding::ProcessorQuota { .. } => ("cpu.quota", Processor),
            Finding::ClockSource { .. } => ("clock.source", Processor),
            Finding::ClockKeeper(_) => ("clock.keeper", Processor),
            Finding::IoUring(_) => ("io_uring", Process),
            Finding::LockedMemory { .. } => ("limit.locked_memory", Process),
            Finding::Generator { .. } => ("generator.ceiling", Process),
        }
    }
}

/// Of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the storage to this host.
    Read,
    /// From this host to the storage.
    Write,
}

/// The file system that a directory is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileSystem {
    /// A mount that is configured but not mounted, by its mount point.
    NotMounted(String),
    /// No known mount covers the directory.
    NotKnown,
    /// A mounted file system.
    Mounted {
        /// The type, as in /proc/self/mountinfo.
        kind: String,
        /// The device or export.
        source: Option<String>,
        /// The mount point.
        point: Option<String>,
        /// What to change.
        fault: Option<FileSystemFault>,
    },
}

/// Why a mounted file system may not be the intended one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSystemFault {
    /// It is a network file system, mounted read-only.
    ReadOnly,
    /// It is on this host.
    Local,
}

/// Connections of a mount, and their recommended number.
#[derive(Clone, Debug, PartialEq)]
pub struct MountConnections {
    /// The recommended number.
    pub recommended: u64,
    /// The most that the service supports.
    pub most: u64,
    /// Published throughput of one network flow.
    pub flow: BytesPerSec,
    /// Calls per connection that the service processes at a time.
    pub calls_per_connection: u64,
    /// The mount's connections.
    pub found: Option<ConnectionCounts>,
}

/// Connections of a mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionCounts {
    /// In force.
    pub count: u64,
    /// Requested by the mount.
    pub requested: u64,
    /// Used so far; `None` if the kernel does not count them.
    pub used: Option<u64>,
}

/// The largest read or write of a mount, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferSize {
    /// Of reads or of writes.
    pub direction: Direction,
    /// The recommended size.
    pub recommended: u64,
    /// The size above which the vendor measured no difference.
    pub enough: u64,
    /// The mount's size.
    pub found: Option<u64>,
}

/// What a mount does when the server does not respond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoResponse {
    /// It waits.
    Hard,
    /// Calls fail: `soft`.
    Soft,
    /// Calls fail: `softerr`.
    SoftErr,
}

/// How long a mount caches attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeCache {
    /// Not at all, and writes are synchronous.
    Noac,
    /// For 0 s.
    Zero,
    /// Those of files for at most these seconds, as in the mount options.
    UpTo(String),
    /// For the default time.
    Default,
}

/// A security flavour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Security {
    /// As in the mount options.
    pub flavour: String,
    /// The vendor's measured losses of sequential throughput and of random reads against `sys`, in
    /// percent.
    pub loss_percent: Option<(u64, u64)>,
}

/// Request slots per connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestSlots {
    /// The calls per connection that the service processes at a time.
    pub recommended: u64,
    /// Calls of all clients that an endpoint processes at a time.
    pub per_endpoint: u64,
    /// The kernel's maximum.
    pub found: Option<u64>,
    /// The number at the start of a connection.
    pub initial: Option<u64>,
}

/// Calls that waited for a slot since mounting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SlotWait {
    /// The kernel has no counters of the mount.
    NotCounted,
    /// No call was sent.
    NoCalls,
    /// Counted.
    Counted {
        /// Mean number of waiting calls when a call was sent.
        waiting_mean: f64,
        /// Calls sent.
        calls: u64,
        /// Most slots in use.
        slots_used_max: Option<u64>,
    },
}

/// A kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its release.
    pub release: String,
    /// The distribution that has backported the support to it.
    pub backport: Option<Backport>,
}

/// A distribution that has backported support.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backport {
    /// Its name, if known.
    pub distribution: Option<String>,
}

/// Outstanding calls of the built-in client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportSlots {
    /// The calls per connection that the service processes at a time.
    pub recommended: u64,
    /// Calls of all clients that an endpoint processes at a time.
    pub per_endpoint: u64,
    /// Most outstanding calls per connection.
    pub per_connection: u64,
    /// Connections in the URL; `None` for one per worker.
    pub connections: Option<u64>,
}

impl ExportSlots {
    /// Over all connections, if their number is known.
    pub fn total(&self) -> Option<u64> {
        self.connections.map(|count| self.per_connection.saturating_mul(count))
    }
}

/// A limit of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessLimit {
    /// /proc/self/limits is missing.
    Missing,
    /// /proc/self/limits has this text instead of a number.
    Unreadable(String),
    /// No limit.
    Unlimited,
    /// This limit.
    At(u64),
}

/// Whether this process may use ports below 1024.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortPermission {
    /// All processes may use ports from this one.
    AllFrom(u64),
    /// This process may.
    Permitted,
    /// This process may not.
    Denied,
    /// /proc/self/status is missing.
    NotKnown,
}

/// The interface to the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interface {
    /// There is no route.
    NoRoute,
    /// The server is on this host.
    Loopback,
    /// An interface.
    Named {
        /// Its name.
        name: String,
        /// Its driver.
        driver: Option<String>,
        /// Whether it is on the route to the server; otherwise on the default route.
        is_to_server: bool,
    },
}

/// Packets lost on this host since the interface came up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PacketLosses {
    /// The kernel has no counters of the interface.
    NotCounted,
    /// This number of packets gives no reliable share.
    TooFew(u64),
    /// Counted.
    Counted {
        /// Dropped packets and errors.
        lost: u64,
        /// All packets.
        packets: u64,
        /// The interface.
        interface: String,
    },
}

/// The virtual function of an interface, and its share of the packets.
#[derive(Clone, Debug, PartialEq)]
pub enum AcceleratedNetworking {
    /// Interfaces cannot be listed.
    NotKnown,
    /// There is no virtual function.
    Off,
    /// The virtual function has no counters.
    NotCounted(VirtualFunction),
    /// This number of packets gives no reliable share.
    TooFew(u64),
    /// Counted.
    Counted {
        /// The virtual function.
        function: VirtualFunction,
        /// Its share of the packets, in percent.
        percent: f64,
        /// All packets.
        packets: u64,
    },
}

/// A virtual function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualFunction {
    /// Its name.
    pub name: String,
    /// Its driver.
    pub driver: Option<String>,
}

/// The egress limit of a virtual machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Egress {
    /// The machine's size is unknown.
    SizeNotKnown {
        /// Whether the facts are copies from another host.
        is_captured: bool,
    },
    /// The size is not in `data/vm_sizes.toml`.
    NotListed {
        /// The size.
        size: String,
    },
    /// A limit.
    Limit {
        /// The size.
        size: String,
        /// The limit in 10^6 bit/s.
        mbit_s: u64,
        /// The limit.
        limit: BytesPerSec,
        /// The required throughput, if it exceeds the limit.
        exceeded_by: Option<BytesPerSec>,
    },
}

/// A TCP window, its throughput, and the window that is needed.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpWindow {
    /// Of the receive window (reads) or the send buffer (writes).
    pub direction: Direction,
    /// The kernel's largest buffer.
    pub buffer: Option<TcpBuffer>,
    /// What its window carries, if the round-trip time is known.
    pub throughput: Option<WindowThroughput>,
    /// The window that is needed, if the required throughput is known too.
    pub needed: Option<NeededWindow>,
}

/// The kernel's largest buffer of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpBuffer {
    /// Its size.
    pub buffer_bytes: u64,
    /// The part of it that is the window.
    pub window_bytes: u64,
}

/// The throughput of a window.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowThroughput {
    /// The round-trip time.
    pub round_trip: RoundTrip,
    /// One window per round trip.
    pub per_connection: BytesPerSec,
}

/// A window for a required throughput.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeededWindow {
    /// The required throughput of all connections.
    pub total: BytesPerSec,
    /// Its origin.
    pub origin: RateOrigin,
    /// Connections that share it.
    pub connections: u64,
    /// The window of one connection.
    pub window_bytes: u64,
    /// The buffer for it.
    pub buffer_bytes: u64,
}

/// The origin of a required throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateOrigin {
    /// The user requires it.
    Required,
    /// Published for one network flow.
    PublishedFlow,
    /// The speed of the interface.
    InterfaceSpeed,
}

/// Buffer limits for programs that set their buffers, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramBuffers {
    /// `net.core.rmem_max`.
    pub read: u64,
    /// `net.core.wmem_max`.
    pub write: u64,
}

/// What sets the clock rate of the processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Governor {
    /// A governor of the kernel.
    Named(String),
    /// The hypervisor.
    Hypervisor,
    /// Unknown.
    NotKnown,
}

/// Processor time taken by the hypervisor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steal {
    /// Its share, 0 to 1.
    pub share: f64,
    /// Whether since boot; otherwise during the check.
    pub is_since_boot: bool,
}

/// Whether io_uring works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IoUring {
    /// A trial worked.
    Works,
    /// A trial failed.
    Failed {
        /// Its result: `refused: Operation not permitted`.
        result: String,
        /// Whether `kernel.io_uring_disabled` is the reason.
        is_by_sysctl: bool,
    },
    /// Not tried; the value of `kernel.io_uring_disabled`.
    Sysctl(String),
    /// Neither tried nor known.
    NotKnown,
}

/// The measured ceiling of the generator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeneratorCeiling {
    /// Without storage.
    pub rate: OpsPerSec,
    /// Workers of the measurement.
    pub workers: u64,
}
