//! Who sends what to which volumes over which ways: what a prediction is made for.
//!
//! For: saying a system in groups of equals, so that a thousand hosts cost no more than one. Not
//! for: what any of it can do; that is [`crate::parameters`] and what is known of a single part
//! (its `limit`). [`crate::topology_file`] reads one from TOML.

use cloud::figure::{Access, Protocol};
use cloud::reason::Reason;
use cloud::service_level::VolumeKind;
use cloud::vm_size::VmSize;

use crate::facts;

/// A system to be predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// For titles.
    pub name: String,
    /// The response time of one operation at a time; `None` where it is not known, and published
    /// ones are taken.
    pub floor: Option<Floor>,
    /// How long a limit that paces lets everything pass after a pause: its burst, divided by its
    /// rate, in seconds. 0 where it is not known, which makes waits near a limit longer.
    pub burst_s: f64,
    /// The machines that send.
    pub hosts: Vec<HostGroup>,
    /// The addresses at which volumes are reached. May be empty: then all volumes that do not say
    /// otherwise share one.
    pub endpoints: Vec<EndpointGroup>,
    /// The volumes.
    pub volumes: Vec<VolumeGroup>,
    /// What is done.
    pub workloads: Vec<Workload>,
}

/// The response time of an operation that is alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor {
    /// Its mean, in seconds.
    pub mean_s: f64,
    /// The standard deviation of its logarithm: 0 where every operation takes the same, about 0.5
    /// on a network that others use too.
    pub spread: f64,
}

/// Equal machines.
#[derive(Clone, Debug, PartialEq)]
pub struct HostGroup {
    /// By which workloads name them.
    pub name: String,
    /// How many.
    pub count: u64,
    /// How they are connected.
    pub client: Client,
    /// The protocol they use. The model is fitted to NFSv3; for any other it says so first.
    pub protocol: Protocol,
    /// The size of each, where it is a virtual machine of a known one.
    pub vm: Option<VmSize>,
    /// Processors of each; `None` where processing does not limit them, or is not known.
    pub vcpu: Option<u64>,
    /// What each sends at most, in bytes per second.
    pub egress_bytes_per_s: Option<f64>,
    /// What each receives and sends at most, in bytes per second in each direction.
    pub link_bytes_per_s: Option<f64>,
    /// Connections of each to an endpoint; of VMware's hosts 1 to each volume, whatever stands
    /// here.
    pub nconnect: u64,
    /// Calls outstanding on a connection at most.
    pub slots: u64,
    /// rsize and wsize: operations that are larger are several calls.
    pub call_bytes: u64,
    /// A limit of each connection in bytes per second, where one is known.
    pub flow_bytes_per_s: Option<f64>,
    /// A limit of each connection in operations per second, where one is known.
    pub flow_ops_per_s: Option<f64>,
    /// Where its numbers come from.
    pub reasons: Vec<Reason>,
}

/// How a host is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// Linux's NFS client: `nconnect` connections to each endpoint, shared by all mounts of it.
    Linux,
    /// VMware's: one connection to each volume (datastore), with so many virtual machines behind
    /// it; `None` where there are enough not to limit.
    Esxi {
        /// Virtual machines on each host.
        guests: Option<u64>,
    },
}

/// Equal endpoints.
#[derive(Clone, Debug, PartialEq)]
pub struct EndpointGroup {
    /// By which volumes name them.
    pub name: String,
    /// How many; the volumes of a group are spread over them evenly.
    pub count: u64,
    /// A limit of each in bytes per second, where one is known.
    pub limit_bytes_per_s: Option<f64>,
}

/// Equal volumes.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeGroup {
    /// By which workloads name them.
    pub name: String,
    /// How many.
    pub count: u64,
    /// What they are built as.
    pub kind: VolumeKind,
    /// The throughput limit of each in bytes per second, reads and writes together; `None` where
    /// there is none.
    pub limit_bytes_per_s: Option<f64>,
    /// Where the limit comes from.
    pub reasons: Vec<Reason>,
    /// The endpoints, as an index; `None`: the kind's usual, one for all regular volumes and one of
    /// its own (or six) for each large one.
    pub endpoint: Option<usize>,
}

/// What a group of hosts does to groups of volumes, each operation to any of the volumes with the
/// same probability.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// For tables.
    pub name: String,
    /// The hosts, as an index.
    pub hosts: usize,
    /// The volumes, as indices.
    pub volumes: Vec<usize>,
    /// Bytes of an operation.
    pub transfer_bytes: u64,
    /// The share of reads, 0 to 1.
    pub read: f64,
    /// Where operations go.
    pub access: Access,
    /// How many.
    pub load: Load,
}

/// How many operations come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// The next when one finishes.
    Closed {
        /// Operations outstanding on each host.
        outstanding: u64,
    },
    /// At a rate, whatever the completions do.
    Offered {
        /// Of all hosts together.
        ops_per_s: f64,
    },
}

impl EndpointGroup {
    /// `count` endpoints of which nothing else is known.
    pub fn of(count: u64) -> EndpointGroup {
        EndpointGroup { name: "endpoint".to_owned(), count, limit_bytes_per_s: None }
    }
}

impl HostGroup {
    /// `count` hosts with Linux's client of which nothing else is known.
    pub fn linux(name: &str, count: u64, nconnect: u64) -> HostGroup {
        HostGroup {
            name: name.to_owned(),
            count,
            client: Client::Linux,
            protocol: Protocol::Nfsv3,
            vm: None,
            vcpu: None,
            egress_bytes_per_s: None,
            link_bytes_per_s: None,
            nconnect,
            slots: facts::of().slots,
            call_bytes: facts::of().call_bytes,
            flow_bytes_per_s: None,
            flow_ops_per_s: None,
            reasons: Vec::new(),
        }
    }

    /// `count` of VMware's hosts.
    pub fn esxi(name: &str, count: u64, guests: Option<u64>) -> HostGroup {
        HostGroup { client: Client::Esxi { guests }, ..HostGroup::linux(name, count, 1) }
    }
}

impl VolumeGroup {
    /// `count` volumes without a throughput limit behind their usual endpoint.
    pub fn of(name: &str, count: u64, kind: VolumeKind) -> VolumeGroup {
        VolumeGroup {
            name: name.to_owned(),
            count,
            kind,
            limit_bytes_per_s: None,
            reasons: Vec::new(),
            endpoint: None,
        }
    }
}

impl Workload {
    /// Calls of one operation.
    pub(crate) fn calls(&self, host: &HostGroup) -> f64 {
        self.transfer_bytes.div_ceil(host.call_bytes.max(1)).max(1) as f64
    }
}

impl Topology {
    /// Hosts that send.
    pub fn host_count(&self) -> u64 {
        self.hosts.iter().map(|hosts| hosts.count).sum()
    }

    /// Connections of a group of hosts to all volumes of a workload: hosts x nconnect x endpoints,
    /// or of VMware's hosts x volumes.
    pub fn flows(&self, workload: &Workload) -> u64 {
        let hosts = &self.hosts[workload.hosts];
        let volumes: u64 = workload.volumes.iter().map(|index| self.volumes[*index].count).sum();
        match hosts.client {
            Client::Esxi { .. } => hosts.count * volumes,
            Client::Linux => hosts.count * hosts.nconnect * self.endpoints_of(workload),
        }
    }

    /// Different endpoints of the volumes of a workload.
    pub fn endpoints_of(&self, workload: &Workload) -> u64 {
        let mut named: Vec<usize> = Vec::new();
        let (mut shared, mut own) = (0, 0);
        for index in &workload.volumes {
            let volumes = &self.volumes[*index];
            match (volumes.endpoint, volumes.kind) {
                (Some(endpoint), _) if !named.contains(&endpoint) => named.push(endpoint),
                (Some(_), _) => {}
                (None, VolumeKind::Regular) => shared = 1,
                (None, kind) => own += volumes.count * facts::endpoints_of_one(kind),
            }
        }
        named.iter().map(|index| self.endpoints[*index].count).sum::<u64>() + shared + own
    }
}

/// The spread of response times where nothing else is said: as on a network that others use too.
pub const SPREAD: f64 = 0.5;
