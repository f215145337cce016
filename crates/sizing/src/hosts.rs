//! The hosts of a design.

use cloud::throughput::KibPerSec;

use crate::need::Protocol;

/// Identical hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// The kind of each: `Standard_D32s_v5`, `AV36P`.
    pub vm: String,
    /// Processors of each.
    pub vcpu: u64,
    /// The nearest published number of processors, if `vcpu` is outside the published range.
    pub extrapolated_from: Option<u64>,
    /// Whether they are part of the cost. Otherwise they are the fewest clients that can carry the
    /// load.
    pub is_charged: bool,
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
    /// Order of hosts that are not charged: none larger than those with published figures, then the
    /// fewest, then the smallest.
    pub(crate) fn fewest_first(&self) -> (bool, u32, u64) {
        let is_beyond = self.extrapolated_from.is_some_and(|published| self.vcpu > published);
        (is_beyond, self.count, self.vcpu)
    }

    /// The share of each host in a throughput, rounded up.
    pub fn each_of(&self, throughput: KibPerSec) -> KibPerSec {
        KibPerSec::new(throughput.get().div_ceil(u64::from(self.count).max(1)))
    }

    /// Connections of all hosts.
    pub fn connections_total(&self) -> u64 {
        u64::from(self.count).saturating_mul(self.connections).saturating_mul(self.paths)
    }
}
