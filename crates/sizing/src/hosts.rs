//! The hosts of a design.

use crate::need::Protocol;

/// Identical hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// The kind of each: `Standard_D32s_v5`, `AV36P`.
    pub vm: String,
    /// Processors of each.
    pub vcpu: u64,
    /// How they access the volumes.
    pub attached: Protocol,
    /// How many.
    pub count: u32,
    /// Connections of each host on each path: nconnect, or Multichannel connections.
    pub connections: u64,
    /// Fewest endpoints of the volumes.
    pub endpoints: u64,
    /// Endpoints or datastores, each with separate connections.
    pub paths: u64,
    /// Slots of all connections; `None` for SMB, which has credits.
    pub slots: Option<u64>,
    /// Outstanding operations per host, by Little's law at the predicted response time; `None` if
    /// the model does not reach the throughput.
    pub outstanding: Option<u64>,
}

impl Hosts {
    /// Connections of all hosts.
    pub fn connections_total(&self) -> u64 {
        u64::from(self.count).saturating_mul(self.connections).saturating_mul(self.paths)
    }
}
