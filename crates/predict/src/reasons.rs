//! Why a prediction has its numbers, and what it assumes.

use cloud::figure::{Access, Protocol};
use cloud::reason::Reason;
use cloud::service_level::VolumeKind;
use units::Nanos;

use crate::network::Network;
use crate::parameters::{Group, Parameters};
use crate::topology::{Client, Topology};

/// The arithmetic of a prediction, with the rows it rests on.
pub(crate) fn of(topology: &Topology, parameters: &Parameters, network: &Network) -> Vec<Reason> {
    let mut all = Vec::new();
    match topology.floor {
        Some(floor) => all.push(Reason::asked(format!(
            "one operation at a time takes {}, as the topology says",
            Nanos(floor.mean_s * 1e9)
        ))),
        None => all.push(parameters.floor_reason.clone()),
    }
    for workload in &topology.workloads {
        let host = &topology.hosts[workload.hosts];
        let flows = topology.flows(workload);
        let volumes: u64 = workload.volumes.iter().map(|i| topology.volumes[*i].count).sum();
        let how = match host.client {
            Client::Esxi { .. } => format!("{} hosts x {volumes} volumes", host.count),
            Client::Linux => format!(
                "{} hosts x {} connections x {} endpoints",
                host.count,
                host.nconnect,
                topology.endpoints_of(workload)
            ),
        };
        all.push(Reason::asked(format!("{}: {how} = {flows} connections", workload.name)));
        all.push(Reason::asked(format!(
            "{}: {flows} connections x {} slots / {} calls of an operation = {:.0} operations \
             outstanding at most",
            workload.name,
            host.slots,
            workload.calls(host),
            flows as f64 * host.slots as f64 / workload.calls(host)
        )));
    }
    all.extend(topology.hosts.iter().flat_map(|host| host.reasons.iter().cloned()));
    all.extend(topology.volumes.iter().flat_map(|volume| volume.reasons.iter().cloned()));
    let mut said: Vec<Group> = Vec::new();
    for station in &network.stations {
        if let Some(group) = station.resource.group.filter(|group| !said.contains(group)) {
            said.push(group);
            all.extend(parameters.reason(group).cloned());
        }
    }
    all
}

/// What the topology asks for and the model does not have.
pub(crate) fn not_modelled(topology: &Topology) -> Vec<String> {
    let mut protocols: Vec<&str> = Vec::new();
    for host in topology.hosts.iter().filter(|host| host.protocol != Protocol::Nfsv3) {
        if !protocols.contains(&host.protocol.name()) {
            protocols.push(host.protocol.name());
        }
    }
    let words = |protocol: &str| {
        format!(
            "Not modelled: {}. The numbers below are those of NFSv3 on the same hosts and volumes, \
             with wider intervals; `fourcorners expect --protocol {protocol}` shows what was \
             published.",
            protocol.to_uppercase()
        )
    };
    protocols.into_iter().map(words).collect()
}

/// What nothing says and the model takes all the same.
pub(crate) fn assumptions(topology: &Topology) -> Vec<String> {
    let mut all = Vec::new();
    if topology.floor.is_none() {
        all.push(
            "The response time of one operation at a time is the middle of published ones; \
             measure yours (`tune`) and give it as `floor`."
                .to_owned(),
        );
    }
    if topology.hosts.iter().any(|h| h.client == Client::Linux && h.vcpu.is_some()) {
        all.push(
            "What a host can do grows with a power of its processors, fitted to machines with 4 to \
             104 of them; those with fewer than 32 were measured over SMB."
                .to_owned(),
        );
    }
    if topology.hosts.iter().any(|h| h.client == Client::Linux && h.vcpu.is_none()) {
        all.push("The hosts' processors do not limit, for their number is not given.".to_owned());
    }
    if topology.hosts.iter().any(|h| matches!(h.client, Client::Esxi { .. })) {
        all.push("VMware's hosts are like those that were measured, AV36.".to_owned());
    }
    let regular =
        |v: &&crate::topology::VolumeGroup| v.kind == VolumeKind::Regular && v.endpoint.is_none();
    let shared: u64 = topology.volumes.iter().filter(regular).map(|volume| volume.count).sum();
    if shared > 1 {
        all.push("All regular volumes without `endpoint` share one endpoint.".to_owned());
    }
    if topology.volumes.iter().any(|volume| volume.kind == VolumeKind::Breakthrough) {
        all.push(
            "A volume in breakthrough mode is what one document says of it: 30 machines, four \
             corners, 8 KiB and 256 KiB."
                .to_owned(),
        );
    }
    let writes_in_order = topology.workloads.iter().any(|workload| {
        let mut volumes = workload.volumes.iter().map(|index| &topology.volumes[*index]);
        workload.access == Access::Sequential
            && workload.read < 1.0
            && volumes.any(|volume| volume.kind == VolumeKind::Regular)
    });
    if writes_in_order {
        all.push(
            "Sequential writes to a regular volume go as fast as most figures say, which are the \
             older ones; newer ones are higher (`expect` shows them)."
                .to_owned(),
        );
    }
    all.push("Operations go to all volumes of a workload with the same probability.".to_owned());
    all.push("Data is found as warm in the service's caches as in the published tests.".to_owned());
    all
}
