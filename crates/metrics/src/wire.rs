//! What the kernel counted between this host and the storage, for comparison with what operations
//! moved.

use serde::{Deserialize, Serialize};

/// The bytes that one source counted in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireInterval {
    /// The source.
    pub source: CounterSource,
    /// Bytes received by this host, or read from the device: the result of reads.
    pub received_bytes: u64,
    /// Bytes sent by this host, or written to the device: the result of writes.
    pub sent_bytes: u64,
}

/// A source of the kernel's byte counters between this host and the storage. Journals
/// store its position here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CounterSource {
    /// The kernel's NFS mount of the target: data of READ and WRITE calls without headers.
    NfsMount,
    /// The block device below the target's file system, for all its users.
    BlockDevice,
    /// The network interface to the server, for all its users, with headers.
    Interface,
    /// The network interface to a server on this host: each packet is both sent and received here,
    /// so that both counters include both directions.
    Loopback,
}

impl CounterSource {
    /// All sources, the most specific first.
    pub const ALL: [CounterSource; 4] = [
        CounterSource::NfsMount,
        CounterSource::BlockDevice,
        CounterSource::Interface,
        CounterSource::Loopback,
    ];

    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            CounterSource::NfsMount => "nfs_mount",
            CounterSource::BlockDevice => "block_device",
            CounterSource::Interface => "interface",
            CounterSource::Loopback => "loopback",
        }
    }
}
