//! Kinds of host: sizes of virtual machines, or hosts of Azure VMware Solution.

use cloud::avs::{self, AvsLimit};
use cloud::reason::RowRef;
use cloud::row::Status;
use cloud::vm_size::VmSize;

use crate::facts::Facts;
use crate::need::Protocol;

/// A kind of host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostKind {
    /// `Standard_D32s_v5`, `AV36P`.
    pub name: String,
    /// Processors of each.
    pub vcpu: u64,
    /// Egress limit of each, in 10^6 bit/s; `None` if unknown.
    pub egress_mbit_s: Option<u64>,
    /// Fewest hosts of a cluster.
    pub fewest: u64,
    /// Most hosts; `None` if no limit is stated.
    pub most: Option<u64>,
    /// Its row in `data/`.
    pub row: RowRef,
}

impl HostKind {
    /// Egress limit of each in KiB/s, rounded down.
    pub fn egress_kib_s(&self) -> Option<u64> {
        Some((self.egress_mbit_s?.saturating_mul(1_000_000 / 8) / 1024).max(1))
    }

    fn of_vm(vm: &VmSize) -> HostKind {
        HostKind {
            name: vm.name.clone(),
            vcpu: vm.vcpu,
            egress_mbit_s: Some(vm.egress_mbit_s),
            fewest: 1,
            most: None,
            row: vm.row(),
        }
    }

    fn of_avs(host: &avs::Host, facts: &Facts) -> HostKind {
        HostKind {
            name: host.name.clone(),
            vcpu: host.cores,
            egress_mbit_s: None,
            fewest: facts.avs.limit(AvsLimit::HostsPerClusterMin),
            most: Some(facts.avs.limit(AvsLimit::HostsPerCloudMax)),
            row: host.row(),
        }
    }
}

/// All kinds of host for a protocol.
pub fn all(protocol: Protocol, facts: &Facts) -> Vec<HostKind> {
    match protocol {
        Protocol::Nfs3 | Protocol::Nfs41 | Protocol::Smb => {
            facts.vms.iter().map(HostKind::of_vm).collect()
        }
        Protocol::Datastores => {
            let current = |host: &&avs::Host| host.origin.status == Status::Current;
            let hosts = facts.avs.hosts.iter().filter(current);
            hosts.map(|host| HostKind::of_avs(host, facts)).collect()
        }
    }
}

/// The kind with this name, case-insensitive, with or without `Standard_`.
pub fn named(name: &str, protocol: Protocol, facts: &Facts) -> Option<HostKind> {
    match protocol {
        Protocol::Nfs3 | Protocol::Nfs41 | Protocol::Smb => facts.vm(name).map(HostKind::of_vm),
        Protocol::Datastores => facts.avs.host(name).map(|host| HostKind::of_avs(host, facts)),
    }
}
