//! The basis of a comparison between a record and published figures: what is compared, the source of
//! each value, and what is assumed; and its sentences.

use analysis::verdict::known::Origin;
use cloud::figure::Protocol;
use cloud::service_level::VolumeKind;
use units::{BytesPerSec, counted};

use crate::verdict::words::origin;

/// What the comparison is based on.
#[derive(Clone, Debug, PartialEq)]
pub struct Basis {
    /// What was measured.
    pub target: TargetKind,
    /// Whether the measuring machine was on Azure.
    pub is_azure: bool,
    /// The machine's size.
    pub machine: MachineSize,
    /// The configuration; `None` if no load point has one.
    pub configuration: Option<ConfigurationBasis>,
}

/// The kind of storage behind a target, as far as published figures of a file service over a network
/// can be compared with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// NFS on another machine.
    Nfs,
    /// SMB, presumably on another machine.
    Smb,
    /// A server on this host.
    Loopback,
    /// The emulated volume, served by this process.
    Emulated,
    /// A file system on this host's disks.
    Disk,
    /// The null target.
    Null,
}

/// The size of the measuring machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MachineSize {
    /// A size with known limits.
    Known {
        /// Its name.
        name: String,
        /// Its source.
        source: MachineSource,
    },
    /// A size without known limits.
    NotListed(String),
    /// Several machines of different sizes, each named once.
    Mixed(Vec<String>),
    /// The record has no size.
    NotRecorded,
}

/// The source of a machine's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineSource {
    /// The user.
    Given,
    /// Azure's metadata during the measurement.
    Metadata,
    /// The known egress limit.
    KnownEgress,
}

/// The configuration that is compared. Lists are ascending and have the values of all load points.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigurationBasis {
    /// The mount's NFS version, if the figures are for another.
    pub other_version: Option<String>,
    /// The protocol.
    pub protocol: Protocol,
    /// Connections of each machine.
    pub connections: Vec<u64>,
    /// Numbers of machines.
    pub hosts: Counts,
    /// Numbers of volumes.
    pub volumes: Counts,
    /// The kind of the volumes, if the user gives it; otherwise regular volumes are assumed.
    pub kind: Option<VolumeKind>,
    /// The throughput limit of each volume.
    pub limit: LimitSource,
}

/// How many there are, and the source of the number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counts {
    /// The user gives it with the comparison.
    Given(Vec<u64>),
    /// It is in the record.
    Recorded(Vec<u64>),
}

/// The throughput limit of each volume, and its source.
#[derive(Clone, Debug, PartialEq)]
pub enum LimitSource {
    /// The user gives it with the comparison.
    Given(BytesPerSec),
    /// It is in the record. Unequal limits have a mean for each load point.
    Known(Vec<BytesPerSec>, Origin),
    /// It is unknown.
    NotKnown,
}

impl TargetKind {
    /// Whether the target may be a volume of the file service.
    pub fn is_network(self) -> bool {
        matches!(self, TargetKind::Nfs | TargetKind::Smb)
    }
}

/// The basis in sentences.
pub(crate) fn sentences(of: &Basis) -> Vec<String> {
    let mut all = vec![target(of), machine(&of.machine)];
    all.extend(of.configuration.iter().flat_map(configuration));
    all
}

/// What the published figures are compared with.
fn target(of: &Basis) -> String {
    let what = match of.target {
        TargetKind::Nfs | TargetKind::Smb => {
            let service = match of.is_azure {
                true => {
                    "The published figures are for Azure NetApp Files; the target is assumed to be \
                     one of its volumes."
                }
                false => {
                    "The published figures are for Azure NetApp Files; the record does not say \
                     whether the target is one of its volumes. For other storage they are a \
                     comparison, not an expectation."
                }
            };
            let location = match of.target {
                TargetKind::Smb => " The SMB server is assumed to be another machine.",
                _ => "",
            };
            return format!("{service}{location}");
        }
        TargetKind::Loopback => "a server on this host",
        TargetKind::Emulated => "an emulated volume, whose limits were chosen",
        TargetKind::Disk => "a file system on this host",
        TargetKind::Null => "the null target, which performs no I/O",
    };
    format!(
        "The target is {what}; the published figures are for Azure NetApp Files over a network. \
         They are shown because --published or --vm was given."
    )
}

fn machine(of: &MachineSize) -> String {
    let why = match of {
        MachineSize::Known { name, source } => {
            let source = match source {
                MachineSource::Given => "as given",
                MachineSource::Metadata => "from Azure's metadata during the measurement",
                MachineSource::KnownEgress => "from `--known egress=`",
            };
            return format!("Machine size: {name}, {source}.");
        }
        MachineSize::NotListed(name) => {
            format!("The machine size is {name}, whose limits are not known")
        }
        MachineSize::Mixed(names) => format!("The machines differ in size ({})", names.join(", ")),
        MachineSize::NotRecorded => "The machine size is not in the record".to_owned(),
    };
    format!("{why}, so no machine limit applies; set it with `--vm`.")
}

fn configuration(of: &ConfigurationBasis) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(version) = &of.other_version {
        all.push(format!("The mount uses NFS {version}; the published figures are for NFSv3."));
    }
    all.push(format!(
        "Protocol {}, connections of each machine: {}.",
        of.protocol.name(),
        listed(&of.connections)
    ));
    let (mut given, mut recorded, mut assumed) = (Vec::new(), Vec::new(), Vec::new());
    let kind = of.kind.map(|kind| format!("{} volume", kind.name()));
    match &of.hosts {
        Counts::Given(counts) => given.push(counted_each(counts, "machine")),
        Counts::Recorded(counts) => recorded.push(counted_each(counts, "machine")),
    }
    match (&of.volumes, &kind) {
        (Counts::Given(counts), _) => {
            given.push(counted_each(counts, kind.as_deref().unwrap_or("volume")));
        }
        (Counts::Recorded(counts), kind) => {
            recorded.push(counted_each(counts, "volume"));
            given.extend(kind.iter().map(|kind| format!("{kind}s")));
        }
    }
    if kind.is_none() {
        assumed.push(format!("{} volumes", VolumeKind::Regular.name()));
    }
    for (source, words) in [("As given", given), ("From the record", recorded)] {
        if !words.is_empty() {
            all.push(format!("{source}: {}.", words.join(", ")));
        }
    }
    match &of.limit {
        LimitSource::Given(rate) => {
            all.push(format!("Throughput limit of each volume: {rate}, as given."));
        }
        LimitSource::Known(rates, from) => {
            let rates = listed(rates);
            all.push(format!("Throughput limit of each volume: {rates} ({}).", origin(from)));
        }
        LimitSource::NotKnown => assumed.push(
            "no throughput limit, because none is known (set it with `run --known volume=` or \
             `expect --limit`)"
                .to_owned(),
        ),
    }
    if !assumed.is_empty() {
        all.push(format!("Assumed: {}.", assumed.join(", ")));
    }
    all
}

/// `1, 4`
fn listed(values: &[impl ToString]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// `2 machines`, or `1, 4 machines` if load points differ.
fn counted_each(counts: &[u64], noun: &str) -> String {
    match counts {
        [only] => counted(*only, noun),
        several => format!("{} {noun}s", listed(several)),
    }
}
