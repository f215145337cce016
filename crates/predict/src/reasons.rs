//! The reasons and assumptions of a prediction.

use cloud::figure::{Access, Protocol};
use cloud::service_level::VolumeKind;
use units::Nanos;

use crate::network::Network;
use crate::parameter::Group;
use crate::parameters::Parameters;
use crate::statement::{Assumption, Reason, Statement};
use crate::topology::{Client, NameLoad, Topology, VolumeGroup};

/// The arithmetic of a prediction.
pub(crate) fn reasons(
    topology: &Topology,
    parameters: &Parameters,
    network: &Network,
) -> Vec<Reason> {
    let mut all = Vec::new();
    match topology.floor {
        Some(floor) => all.push(Reason::given(Statement::FloorGiven(Nanos(floor.mean_s * 1e9)))),
        None => all.push(parameters.floor_reason.clone()),
    }
    for workload in &topology.workloads {
        let host = &topology.hosts[workload.hosts];
        let connections = topology.flows(workload);
        let volumes: u64 = workload.volumes.iter().map(|i| topology.volumes[*i].count).sum();
        let (each, paths) = match host.client {
            Client::Esxi { .. } => (None, volumes),
            Client::Linux => (Some(host.nconnect), topology.endpoints_of(workload)),
        };
        let (name, calls) = (workload.name.clone(), workload.calls(host));
        let hosts = host.count;
        all.push(Reason::given(Statement::Connections {
            workload: name.clone(),
            hosts,
            each,
            paths,
            connections,
        }));
        all.push(Reason::given(Statement::Outstanding {
            workload: name,
            connections,
            slots: host.slots,
            calls,
            outstanding: connections as f64 * host.slots as f64 / calls,
        }));
    }
    all.extend(topology.hosts.iter().flat_map(|host| host.reasons.iter().cloned()));
    all.extend(topology.volumes.iter().flat_map(|volume| volume.reasons.iter().cloned()));
    let mut seen: Vec<Group> = Vec::new();
    for station in &network.stations {
        if let Some(group) = station.resource.group.filter(|group| !seen.contains(group)) {
            seen.push(group);
            all.extend(parameters.reason(group).cloned());
        }
    }
    all
}

/// Protocols of the topology that the model does not cover.
pub(crate) fn not_modelled(topology: &Topology) -> Vec<Protocol> {
    let mut protocols: Vec<Protocol> = Vec::new();
    for host in topology.hosts.iter().filter(|host| host.protocol != Protocol::Nfsv3) {
        if !protocols.contains(&host.protocol) {
            protocols.push(host.protocol);
        }
    }
    protocols
}

/// Kinds of operations on names without a published rate.
pub(crate) fn not_counted(topology: &Topology) -> Vec<NameLoad> {
    let names = topology.workloads.iter().filter_map(|workload| workload.names.as_ref());
    let mut all: Vec<NameLoad> = Vec::new();
    for load in names.filter(|load| !load.not_counted.is_empty()) {
        if !all.contains(load) {
            all.push(load.clone());
        }
    }
    all
}

/// What the model assumes about a topology.
pub(crate) fn assumptions(topology: &Topology) -> Vec<Assumption> {
    let linux = || topology.hosts.iter().filter(|host| host.client == Client::Linux);
    let volumes = &topology.volumes;
    let shares_endpoint =
        |volume: &&VolumeGroup| volume.kind == VolumeKind::Regular && volume.endpoint.is_none();
    let sharing: u64 = volumes.iter().filter(shares_endpoint).map(|volume| volume.count).sum();
    let has_sequential_writes = topology.workloads.iter().any(|workload| {
        let mut kinds = workload.volumes.iter().map(|index| volumes[*index].kind);
        workload.access == Access::Sequential
            && workload.read < 1.0
            && kinds.any(|kind| kind == VolumeKind::Regular)
    });
    let esxi = |client| matches!(client, Client::Esxi { .. });
    [
        (Assumption::MedianFloor, topology.floor.is_none()),
        (Assumption::HostPower, linux().any(|host| host.vcpu.is_some())),
        (Assumption::HostsDoNotLimit, linux().any(|host| host.vcpu.is_none())),
        (Assumption::VmwareHosts, topology.hosts.iter().any(|host| esxi(host.client))),
        (Assumption::SharedEndpoint, sharing > 1),
        (
            Assumption::Breakthrough,
            volumes.iter().any(|volume| volume.kind == VolumeKind::Breakthrough),
        ),
        (Assumption::SequentialWrites, has_sequential_writes),
        (Assumption::EvenDistribution, true),
        (Assumption::WarmCaches, true),
        (
            Assumption::NamesAsEda,
            topology.workloads.iter().any(|workload| workload.names.is_some()),
        ),
    ]
    .into_iter()
    .filter_map(|(assumption, applies)| applies.then_some(assumption))
    .collect()
}
