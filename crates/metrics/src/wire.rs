//! What the kernel counted on the way to the storage, beside what operations moved: the wire part
//! of an interval.

/// What one place counted in an interval; absent where there is no such place or it does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireInterval {
    /// Which place.
    pub place: WirePlace,
    /// Bytes that came towards this host, or from the device: what reads bring.
    pub received_bytes: u64,
    /// Bytes that left it, or went to the device: what writes bring.
    pub sent_bytes: u64,
}

/// A place that bytes pass on their way to the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WirePlace {
    /// The kernel's NFS mount that the target lies on: data of READ and WRITE calls, no headers.
    NfsMount,
    /// The block device below the target's file system, whoever uses it.
    BlockDevice,
    /// The network interface that carries packets to the server, whoever uses it: with headers.
    Interface,
    /// The same where the server is on this host: each packet is sent and received here, so that
    /// both numbers hold what went either way.
    Loopback,
}

impl WirePlace {
    /// All of them, the one that tells most about a target first.
    pub const ALL: [WirePlace; 4] =
        [WirePlace::NfsMount, WirePlace::BlockDevice, WirePlace::Interface, WirePlace::Loopback];

    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            WirePlace::NfsMount => "nfs_mount",
            WirePlace::BlockDevice => "block_device",
            WirePlace::Interface => "interface",
            WirePlace::Loopback => "loopback",
        }
    }

    /// The name in sentences.
    pub const fn in_words(self) -> &'static str {
        match self {
            WirePlace::NfsMount => "the NFS mount",
            WirePlace::BlockDevice => "the block device",
            WirePlace::Interface => "the network interface",
            WirePlace::Loopback => "the loopback interface",
        }
    }
}
