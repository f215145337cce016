//! Resources that can limit the rate.

use crate::parameter::Group;

/// A part of a system that can limit its rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Its kind.
    pub kind: ResourceKind,
    /// The parameters with its capability; `None` if the topology gives it.
    pub group: Option<Group>,
    /// Index among resources of its kind.
    pub(crate) index: usize,
    /// Name of the group of hosts, endpoints or volumes in the topology.
    pub name: String,
}

/// Kinds of resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceKind {
    /// None: too few operations are outstanding.
    Outstanding,
    /// Slots of the connections.
    Slots,
    /// Connections, by published figures.
    Flow,
    /// Connections, by a known throughput limit.
    FlowLimit,
    /// Connections, by a known limit of operations.
    FlowOpsLimit,
    /// Processing on the hosts.
    HostProcessing,
    /// Virtual machines on VMware hosts.
    Guest,
    /// Egress limit of the virtual machines.
    Egress,
    /// Network interfaces of the hosts, sending.
    LinkOut,
    /// Network interfaces of the hosts, receiving.
    LinkIn,
    /// Operations of an endpoint.
    EndpointOps,
    /// Throughput of an endpoint.
    EndpointThroughput,
    /// A known throughput limit of an endpoint.
    EndpointLimit,
    /// Throughput limit of the volumes.
    VolumeLimit,
    /// Random operations of a volume.
    VolumeRandom,
    /// Sequential reads of a volume.
    VolumeReads,
    /// Sequential writes of a volume.
    VolumeWrites,
    /// Operations on names of a volume.
    VolumeNames,
}

impl ResourceKind {
    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            ResourceKind::Outstanding => "outstanding",
            ResourceKind::Slots => "slots",
            ResourceKind::Flow => "flow",
            ResourceKind::FlowLimit => "flow_limit",
            ResourceKind::FlowOpsLimit => "flow_ops_limit",
            ResourceKind::HostProcessing => "host",
            ResourceKind::Guest => "guest",
            ResourceKind::Egress => "egress",
            ResourceKind::LinkOut => "link_out",
            ResourceKind::LinkIn => "link_in",
            ResourceKind::EndpointOps => "endpoint_ops",
            ResourceKind::EndpointThroughput => "endpoint_throughput",
            ResourceKind::EndpointLimit => "endpoint_limit",
            ResourceKind::VolumeLimit => "volume_limit",
            ResourceKind::VolumeRandom => "volume_random",
            ResourceKind::VolumeReads => "volume_reads",
            ResourceKind::VolumeWrites => "volume_writes",
            ResourceKind::VolumeNames => "volume_names",
        }
    }

    /// Whether each host has its own.
    pub(crate) const fn is_private(self) -> bool {
        matches!(
            self,
            ResourceKind::Flow
                | ResourceKind::FlowLimit
                | ResourceKind::FlowOpsLimit
                | ResourceKind::HostProcessing
                | ResourceKind::Guest
                | ResourceKind::Egress
                | ResourceKind::LinkOut
                | ResourceKind::LinkIn
        )
    }

    /// Its label in tables.
    pub const fn label(self) -> &'static str {
        match self {
            ResourceKind::Outstanding => "few outstanding",
            ResourceKind::Slots => "slots",
            ResourceKind::Flow => "connections",
            ResourceKind::FlowLimit | ResourceKind::FlowOpsLimit => "connection limit",
            ResourceKind::HostProcessing => "hosts",
            ResourceKind::Guest => "virtual machines",
            ResourceKind::Egress => "egress limit",
            ResourceKind::LinkOut => "link, sending",
            ResourceKind::LinkIn => "link, receiving",
            ResourceKind::EndpointOps => "endpoint, ops",
            ResourceKind::EndpointThroughput => "endpoint, bytes",
            ResourceKind::EndpointLimit => "endpoint limit",
            ResourceKind::VolumeLimit => "volume limit",
            ResourceKind::VolumeRandom => "volumes, random",
            ResourceKind::VolumeReads => "volumes, reads",
            ResourceKind::VolumeWrites => "volumes, writes",
            ResourceKind::VolumeNames => "volumes, names",
        }
    }
}

impl Resource {
    /// The resource if nothing else limits.
    pub(crate) fn outstanding() -> Resource {
        Resource { kind: ResourceKind::Outstanding, group: None, index: 0, name: String::new() }
    }

    pub(crate) fn slots(name: &str) -> Resource {
        Resource { kind: ResourceKind::Slots, group: None, index: 0, name: name.to_owned() }
    }
}
