//! Names of the enums of a sizing, the same in text and in JSON.

use sizing::claim::ClaimKind;
use sizing::cost::Item;
use sizing::pool::PoolSizedBy;
use sizing::resource_use::Resource;
use sizing::shortfall::Constraint;

pub(super) const fn claim_kind(of: ClaimKind) -> &'static str {
    match of {
        ClaimKind::DocumentedLimit => "documented limit",
        ClaimKind::Published => "published",
        ClaimKind::Derived => "derived",
        ClaimKind::Extrapolated => "extrapolated",
    }
}

/// Its meaning, for a legend.
pub(super) const fn claim_kind_meaning(of: ClaimKind) -> &'static str {
    match of {
        ClaimKind::DocumentedLimit => "stated by the service's documentation",
        ClaimKind::Published => "measured for this configuration and published",
        ClaimKind::Derived => "calculated from those, within the range that they cover",
        ClaimKind::Extrapolated => "calculated beyond what was published; measure before you buy",
    }
}

pub(super) const fn resource(of: Resource) -> &'static str {
    match of {
        Resource::VolumeLimits => "throughput limits of the volumes",
        Resource::VolumeCapability => "capability of the volumes",
        Resource::VolumeNames => "operations on names of the volumes",
        Resource::Inodes => "inodes of the volumes",
        Resource::HostCapability => "capability of the hosts",
        Resource::Capacity => "quotas",
        Resource::Egress => "VM egress",
        Resource::Flows => "network flows",
        Resource::Slots => "slots",
        Resource::Endpoints => "endpoints",
        Resource::RegionalQuota => "regional capacity quota",
    }
}

/// The same in a chart.
pub(super) const fn short_resource(of: Resource) -> &'static str {
    match of {
        Resource::VolumeLimits => "volume limits",
        Resource::VolumeCapability => "volume capability",
        Resource::VolumeNames => "operations on names",
        Resource::Inodes => "inodes",
        Resource::HostCapability => "host capability",
        Resource::RegionalQuota => "regional quota",
        other => resource(other),
    }
}

/// The requirement that sets the size of the pools, in JSON.
pub(super) const fn sized_by(of: PoolSizedBy) -> &'static str {
    match of {
        PoolSizedBy::Capacity => "capacity",
        PoolSizedBy::Throughput => "throughput",
        PoolSizedBy::Minimum => "smallest size",
    }
}

/// The same in a sentence.
pub(super) const fn pool_size_set_by(of: PoolSizedBy) -> &'static str {
    match of {
        PoolSizedBy::Capacity => "the capacity",
        PoolSizedBy::Throughput => "the throughput",
        PoolSizedBy::Minimum => "the smallest pool size",
    }
}

pub(super) const fn item(of: Item) -> &'static str {
    match of {
        Item::Capacity => "pool capacity",
        Item::Reserved => "reserved capacity",
        Item::Snapshots => "snapshots",
        Item::Throughput => "Flexible throughput",
        Item::Hosts => "hosts",
        Item::CoolCapacity => "cool tier",
        Item::CoolTraffic => "cool tier traffic",
        Item::Backup => "backups",
        Item::Replication => "replication",
        Item::Replicas => "replica capacity",
        Item::Traffic => "peering traffic",
    }
}

pub(super) const fn constraint(of: Constraint) -> &'static str {
    match of {
        Constraint::VolumeCount => "number of volumes",
        Constraint::PoolCount => "number and size of pools",
        Constraint::Egress => "VM egress",
        Constraint::Connections => "connections of the hosts",
        Constraint::Endpoints => "throughput of an endpoint",
        Constraint::Outstanding => "requests outstanding at an endpoint",
        Constraint::Hosts => "what the hosts can do",
        Constraint::ResponseTime => "response time",
    }
}
