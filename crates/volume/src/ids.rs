//! Identifiers of endpoints, volumes, flows, clients, connections and requests.
//!
//! Ids that contain a [`SlotId`] never refer to a later value in the same slot.

use crate::slots::SlotId;

/// An endpoint: its index in the configuration the service started with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointId(pub(crate) u32);

impl EndpointId {
    /// The endpoint with this index in the configuration.
    pub const fn new(index: usize) -> EndpointId {
        EndpointId(index as u32)
    }

    /// Its index in the configuration.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A volume. A later volume with the same name has another id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VolumeId(pub(crate) SlotId);

/// A volume at one endpoint, with separate throughput limits. Ids of removed ones are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServedVolumeId(pub(crate) u32);

/// A network flow: a connection as limits see it. Ids of closed flows are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowId(pub(crate) u32);

/// A client. Its flows share one turn when they wait for a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientId(pub(crate) u32);

impl ClientId {
    /// The client with this number. Numbers may be reused once a client has no flow.
    pub const fn new(number: u32) -> ClientId {
        ClientId(number)
    }
}

/// A connection of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub(crate) SlotId);

impl ConnectionId {
    /// An index into tables; reused after the connection is closed.
    pub const fn index(self) -> usize {
        self.0.index()
    }

    /// A number below 2^63 that identifies the connection in epoll events: [`ConnectionId::index`]
    /// in the lower 32 bits, the slot's generation above.
    pub const fn number(self) -> u64 {
        self.0.to_bits() & !(1 << 63)
    }
}

/// A request whose reply is deferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId(pub(crate) SlotId);
