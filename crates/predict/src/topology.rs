//! The system to predict: hosts, endpoints, volumes and workloads in groups of equals.
//!
//! For: describing a system so that a thousand hosts cost no more than one. Not for: the capability
//! of its parts, which is in [`crate::parameters`], except limits that the topology gives itself.
//! [`crate::topology_file`] reads one from TOML.

use cloud::figure::{Access, Protocol};
use cloud::service_level::VolumeKind;
use cloud::vm_size::VmSize;
use units::{BytesPerSec, OpsPerSec};

use crate::facts;
use crate::statement::Reason;

/// A system.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// Its name, for titles.
    pub name: String,
    /// Unloaded response time; `None` to use published ones.
    pub floor: Option<Floor>,
    /// Burst of a throughput limit divided by its rate, in seconds. 0 if unknown, which makes waits
    /// near a limit longer.
    pub burst_s: f64,
    /// The hosts.
    pub hosts: Vec<HostGroup>,
    /// The endpoints. If empty, all regular volumes share one.
    pub endpoints: Vec<EndpointGroup>,
    /// The volumes.
    pub volumes: Vec<VolumeGroup>,
    /// The workloads.
    pub workloads: Vec<Workload>,
}

/// The unloaded response time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor {
    /// Its mean, in seconds.
    pub mean_s: f64,
    /// Standard deviation of its logarithm: 0 if constant, about 0.5 on a shared network.
    pub spread: f64,
}

/// Identical hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct HostGroup {
    /// Name that workloads refer to.
    pub name: String,
    /// How many.
    pub count: u64,
    /// The NFS client.
    pub client: Client,
    /// The protocol. The model covers NFSv3 only; [`crate::Curve::not_modelled`] lists others.
    pub protocol: Protocol,
    /// Size of the virtual machine, if known.
    pub vm: Option<VmSize>,
    /// Processors of each; `None` if unknown or never limiting.
    pub vcpu: Option<u64>,
    /// Egress limit of each.
    pub egress: Option<BytesPerSec>,
    /// Bandwidth of the network interface in each direction.
    pub link: Option<BytesPerSec>,
    /// Connections of each host to each endpoint. Ignored for VMware, whose hosts have one to each
    /// volume.
    pub nconnect: u64,
    /// Most outstanding calls per connection.
    pub slots: u64,
    /// rsize and wsize; larger operations take several calls.
    pub call_bytes: u64,
    /// Throughput limit of each connection, if known.
    pub flow_throughput: Option<BytesPerSec>,
    /// Limit of each connection in operations, if known.
    pub flow_rate: Option<OpsPerSec>,
    /// The source of its numbers.
    pub reasons: Vec<Reason>,
}

/// Kinds of NFS client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// Linux: `nconnect` connections to each endpoint, shared by all mounts.
    Linux,
    /// VMware ESXi: one connection to each volume (datastore).
    Esxi {
        /// Virtual machines on each host; `None` for enough not to limit.
        guests: Option<u64>,
    },
}

/// Identical endpoints.
#[derive(Clone, Debug, PartialEq)]
pub struct EndpointGroup {
    /// Name that volumes refer to.
    pub name: String,
    /// How many; the volumes of a group are distributed evenly over them.
    pub count: u64,
    /// Throughput limit of each, if known.
    pub limit: Option<BytesPerSec>,
}

/// Identical volumes.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeGroup {
    /// Name that workloads refer to.
    pub name: String,
    /// How many.
    pub count: u64,
    /// Their kind.
    pub kind: VolumeKind,
    /// Throughput limit of each, for reads and writes together; `None` for no limit.
    pub limit: Option<BytesPerSec>,
    /// The source of the limit.
    pub reasons: Vec<Reason>,
    /// Index of the endpoint group; `None` for the usual one of the kind: one for all regular
    /// volumes, separate ones for each large volume.
    pub endpoint: Option<usize>,
}

/// The load of a group of hosts on groups of volumes, distributed evenly over the volumes.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// For tables.
    pub name: String,
    /// Index of the host group.
    pub hosts: usize,
    /// Indices of the volume groups.
    pub volumes: Vec<usize>,
    /// Transfer size.
    pub transfer_bytes: u64,
    /// The share of reads, 0 to 1.
    pub read: f64,
    /// Access pattern.
    pub access: Access,
    /// Amount of load.
    pub load: Load,
    /// Operations on names instead of reads and writes; then the transfer size is 0.
    pub names: Option<NameLoad>,
}

/// Operations on names that move no data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NameLoad {
    /// Kinds without a published rate, which are not predicted.
    pub not_counted: Vec<String>,
    /// Their share of the operations on names, 0 to 1.
    pub not_counted_share: f64,
}

/// Amount of load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// Closed: a new operation starts when one completes.
    Closed {
        /// Outstanding operations per host.
        outstanding: u64,
    },
    /// Open: operations arrive at a rate, independent of completions.
    Offered {
        /// Of all hosts together.
        rate: OpsPerSec,
    },
}

impl EndpointGroup {
    /// `count` endpoints without a limit.
    pub fn of(count: u64) -> EndpointGroup {
        EndpointGroup { name: "endpoint".to_owned(), count, limit: None }
    }
}

impl HostGroup {
    /// `count` Linux hosts without limits.
    pub fn linux(name: &str, count: u64, nconnect: u64) -> HostGroup {
        HostGroup {
            name: name.to_owned(),
            count,
            client: Client::Linux,
            protocol: Protocol::Nfsv3,
            vm: None,
            vcpu: None,
            egress: None,
            link: None,
            nconnect,
            slots: facts::of().slots,
            call_bytes: facts::of().call_bytes,
            flow_throughput: None,
            flow_rate: None,
            reasons: Vec::new(),
        }
    }

    /// `count` VMware hosts.
    pub fn esxi(name: &str, count: u64, guests: Option<u64>) -> HostGroup {
        HostGroup { client: Client::Esxi { guests }, ..HostGroup::linux(name, count, 1) }
    }
}

impl VolumeGroup {
    /// `count` volumes without a throughput limit, on the usual endpoint.
    pub fn of(name: &str, count: u64, kind: VolumeKind) -> VolumeGroup {
        VolumeGroup {
            name: name.to_owned(),
            count,
            kind,
            limit: None,
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
    /// Number of hosts.
    pub fn host_count(&self) -> u64 {
        self.hosts.iter().map(|hosts| hosts.count).sum()
    }

    /// Connections of a workload: hosts x nconnect x endpoints, for VMware hosts x volumes.
    pub fn flows(&self, workload: &Workload) -> u64 {
        let hosts = &self.hosts[workload.hosts];
        let volumes: u64 = workload.volumes.iter().map(|index| self.volumes[*index].count).sum();
        match hosts.client {
            Client::Esxi { .. } => hosts.count * volumes,
            Client::Linux => hosts.count * hosts.nconnect * self.endpoints_of(workload),
        }
    }

    /// Number of endpoints of the volumes of a workload.
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

/// Default spread of response times: that of a shared network.
pub const SPREAD: f64 = 0.5;
