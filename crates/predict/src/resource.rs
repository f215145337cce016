//! What can bound a rate, and its words.

use std::fmt;

use crate::parameters::Group;

/// A part of a system that can bound its rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// What it is.
    pub kind: ResourceKind,
    /// The parameters that say what it can do; `None` where the topology itself says it.
    pub group: Option<Group>,
    /// Tells it from others of its kind.
    pub(crate) place: usize,
    /// Of the group of hosts, endpoints or volumes in the topology.
    pub name: String,
}

/// Kinds of resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceKind {
    /// Nothing: too few operations are outstanding.
    Outstanding,
    /// Slots of the connections.
    Slots,
    /// Connections, by what was measured of them.
    Flow,
    /// Connections, by a throughput limit that is known.
    FlowLimit,
    /// Connections, by a limit of operations that is known.
    FlowOpsLimit,
    /// The hosts' processors and what else a host has.
    HostProcessing,
    /// Virtual machines on hosts of VMware's.
    Guest,
    /// What the virtual machines may send.
    Egress,
    /// The hosts' network interface, sending.
    LinkOut,
    /// The hosts' network interface, receiving.
    LinkIn,
    /// Operations of an endpoint.
    EndpointOps,
    /// Throughput of an endpoint.
    EndpointThroughput,
    /// An endpoint's throughput limit that is known.
    EndpointLimit,
    /// The volumes' throughput limit.
    VolumeLimit,
    /// Random operations of a volume.
    VolumeRandom,
    /// Sequential reads of a volume.
    VolumeReads,
    /// Sequential writes of a volume.
    VolumeWrites,
}

impl ResourceKind {
    /// For programs.
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
        }
    }

    /// Whether the operations of one host meet no others there.
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

    /// In few words, for tables.
    pub const fn short(self) -> &'static str {
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
        }
    }

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            ResourceKind::Outstanding => "operations outstanding: more bring more",
            ResourceKind::Slots => "slots of the connections",
            ResourceKind::Flow => "connections",
            ResourceKind::FlowLimit => "throughput limit of the connections",
            ResourceKind::FlowOpsLimit => "operation limit of the connections",
            ResourceKind::HostProcessing => "hosts",
            ResourceKind::Guest => "virtual machines",
            ResourceKind::Egress => "egress limit of the hosts",
            ResourceKind::LinkOut => "network interface of the hosts, sending",
            ResourceKind::LinkIn => "network interface of the hosts, receiving",
            ResourceKind::EndpointOps => "endpoint, operations",
            ResourceKind::EndpointThroughput => "endpoint, throughput",
            ResourceKind::EndpointLimit => "throughput limit of the endpoint",
            ResourceKind::VolumeLimit => "throughput limit of the volumes",
            ResourceKind::VolumeRandom => "volumes, random operations",
            ResourceKind::VolumeReads => "volumes, sequential reads",
            ResourceKind::VolumeWrites => "volumes, sequential writes",
        }
    }
}

impl Resource {
    /// What holds while nothing else bounds.
    pub(crate) fn outstanding() -> Resource {
        Resource { kind: ResourceKind::Outstanding, group: None, place: 0, name: String::new() }
    }

    pub(crate) fn slots(name: &str) -> Resource {
        Resource { kind: ResourceKind::Slots, group: None, place: 0, name: name.to_owned() }
    }
}

impl Resource {
    /// In few words with its name, for tables.
    pub fn short(&self) -> String {
        match self.name.as_str() {
            "" => self.kind.short().to_owned(),
            name => format!("{}: {name}", self.kind.short()),
        }
    }
}

impl fmt::Display for Resource {
    /// `volumes, random operations (data)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.words())?;
        if self.name.is_empty() { Ok(()) } else { write!(f, " ({})", self.name) }
    }
}
