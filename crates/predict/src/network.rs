//! A topology as a network of queues: stations in groups of equals, and classes of operations.
//!
//! For: [`crate::solve`]. Each operation visits one connection, its host, an endpoint and one
//! volume. The busy time at a part of the service is a service demand of a queue. A rate limit (a
//! volume's throughput limit, a VM's egress) adds no time until it is reached.

use cloud::figure::Access;
use cloud::service_level::VolumeKind;

use crate::facts;
use crate::parameter::{Group, Parameter};
use crate::parameters::Parameters;
use crate::resource::{Resource, ResourceKind};
use crate::topology::{Client, Floor, HostGroup, Load, SPREAD, Topology, Workload};

/// Equal stations, which operations visit with equal probability.
#[derive(Clone, Debug)]
pub(crate) struct Station {
    pub(crate) resource: Resource,
    /// Number of stations.
    pub(crate) count: f64,
    /// Whether it is a rate limit.
    pub(crate) paces: bool,
    /// Whether it serves only one host.
    pub(crate) is_private: bool,
    /// By class: the share of operations that visit it.
    pub(crate) visits: Vec<f64>,
    /// By class: busy time of one operation, over all its visits, in seconds.
    pub(crate) demands: Vec<f64>,
}

/// Equal operations of equal hosts.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub(crate) hosts: f64,
    /// Number of slots of all connections, over all hosts.
    pub(crate) slots: f64,
    /// Response time of a single operation, with its spread.
    pub(crate) floor: Floor,
    pub(crate) load: Load,
    pub(crate) transfer_bytes: f64,
}

/// A network of queues.
#[derive(Clone, Debug, Default)]
pub(crate) struct Network {
    pub(crate) classes: Vec<Class>,
    pub(crate) stations: Vec<Station>,
    /// Burst of rate limits after a pause, as a time.
    pub(crate) burst_s: f64,
}

/// Identity of the endpoint of a group of volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndpointIdentity {
    Named(usize),
    Shared,
    Own(usize),
}

impl Network {
    pub(crate) fn of(topology: &Topology, parameters: &Parameters) -> Network {
        let mut network = Network { burst_s: topology.burst_s, ..Network::default() };
        for (class, workload) in topology.workloads.iter().enumerate() {
            let host = &topology.hosts[workload.hosts];
            let slots = topology.flows(workload) as f64 * host.slots as f64;
            let own = Floor { mean_s: parameters.floor_s, spread: SPREAD };
            network.classes.push(Class {
                hosts: host.count as f64,
                slots: slots / workload.calls(host),
                floor: topology.floor.unwrap_or(own),
                load: workload.load,
                transfer_bytes: workload.transfer_bytes as f64,
            });
            let mut adding = Adding { network: &mut network, topology, parameters, class };
            adding.host(workload, host);
            adding.volumes(workload, host);
        }
        let classes = network.classes.len();
        for station in &mut network.stations {
            station.visits.resize(classes, 0.0);
            station.demands.resize(classes, 0.0);
        }
        network
    }
}

/// Adds the stations of one class.
struct Adding<'a> {
    network: &'a mut Network,
    topology: &'a Topology,
    parameters: &'a Parameters,
    class: usize,
}

/// Demands of one operation that differ between reads and writes.
struct Needs {
    calls: f64,
    bytes: f64,
    read: f64,
}

impl Needs {
    fn of(&self, read: (f64, f64), write: (f64, f64)) -> f64 {
        let one = |(call, byte): (f64, f64)| self.calls * call + self.bytes * byte;
        self.read * one(read) + (1.0 - self.read) * one(write)
    }
}

impl Adding<'_> {
    fn get(&self, parameter: Parameter) -> f64 {
        self.parameters.get(parameter)
    }

    fn needs(&self, workload: &Workload, host: &HostGroup) -> Needs {
        let bytes = workload.transfer_bytes as f64;
        Needs { calls: workload.calls(host), bytes, read: workload.read }
    }

    /// Adds a demand to a group of stations, creating the group if needed. A demand of 0 adds none.
    fn add(&mut self, resource: Resource, count: f64, paces: bool, visits: f64, demand: f64) {
        if demand <= 0.0 {
            return;
        }
        let is_private = resource.kind.is_private();
        let stations = &mut self.network.stations;
        let index = stations.iter().position(|station| station.resource == resource);
        let index = index.unwrap_or_else(|| {
            let (visits, demands) = (Vec::new(), Vec::new());
            stations.push(Station { resource, count, paces, is_private, visits, demands });
            stations.len() - 1
        });
        let station = &mut stations[index];
        station.visits.resize(self.class + 1, 0.0);
        station.demands.resize(self.class + 1, 0.0);
        station.visits[self.class] += visits;
        station.demands[self.class] += demand;
    }

    fn host(&mut self, workload: &Workload, host: &HostGroup) {
        let needs = self.needs(workload, host);
        let count = host.count as f64;
        let of = |kind: ResourceKind, group: Option<Group>| Resource {
            kind,
            group,
            index: workload.hosts,
            name: host.name.clone(),
        };
        match (host.client, host.vcpu) {
            (Client::Linux, Some(vcpu)) => {
                // A host is bounded by its calls or its bytes, whichever need more time. Measured,
                // the time for bytes is proportional to 1 / processors; that for calls is not.
                let vcpu = vcpu.max(1) as f64;
                let power = self.get(Parameter::VcpuPower);
                let calls = needs.calls * self.get(Parameter::Vcpu) / vcpu.powf(power);
                let either = |byte| calls.max(needs.bytes * self.get(byte) / vcpu);
                let read = either(Parameter::VcpuReadByte);
                let write = either(Parameter::VcpuWriteByte);
                let demand = needs.read * read + (1.0 - needs.read) * write;
                let resource = of(ResourceKind::HostProcessing, Some(Group::LinuxHost));
                self.add(resource, count, false, 1.0, demand);
            }
            (Client::Linux, None) => {}
            (Client::Esxi { guests }, _) => {
                let both = (self.get(Parameter::EsxiHost), self.get(Parameter::EsxiHostByte));
                let resource = of(ResourceKind::HostProcessing, Some(Group::EsxiHost));
                self.add(resource, count, false, 1.0, needs.of(both, both));
                if let Some(guests) = guests {
                    let both = (self.get(Parameter::Guest), 0.0);
                    let resource = of(ResourceKind::Guest, Some(Group::Guest));
                    let machines = count * guests as f64;
                    self.add(resource, machines, false, 1.0, needs.of(both, both));
                }
            }
        }
        let (sent, received) = ((1.0 - needs.read) * needs.bytes, needs.read * needs.bytes);
        if let Some(rate) = host.egress {
            self.add(of(ResourceKind::Egress, None), count, true, 1.0, sent / rate.get());
        }
        if let Some(rate) = host.link {
            self.add(of(ResourceKind::LinkOut, None), count, true, 1.0, sent / rate.get());
            self.add(of(ResourceKind::LinkIn, None), count, true, 1.0, received / rate.get());
        }
    }

    fn volumes(&mut self, workload: &Workload, host: &HostGroup) {
        let needs = self.needs(workload, host);
        let all: u64 = workload.volumes.iter().map(|i| self.topology.volumes[*i].count).sum();
        for index in &workload.volumes {
            let share = self.topology.volumes[*index].count as f64 / all.max(1) as f64;
            self.flows(workload, host, *index, share, &needs);
            self.endpoint(*index, share, &needs);
            self.volume(workload, *index, share, &needs);
        }
    }

    fn endpoint_identity(&self, volume: usize) -> (EndpointIdentity, u64, String) {
        let volumes = &self.topology.volumes[volume];
        match (volumes.endpoint, volumes.kind) {
            (Some(index), _) => {
                let endpoint = &self.topology.endpoints[index];
                (EndpointIdentity::Named(index), endpoint.count, endpoint.name.clone())
            }
            (None, VolumeKind::Regular) => (EndpointIdentity::Shared, 1, "shared".to_owned()),
            (None, kind) => {
                let count = volumes.count * facts::endpoints_of_one(kind);
                (EndpointIdentity::Own(volume), count, volumes.name.clone())
            }
        }
    }

    fn flows(
        &mut self,
        workload: &Workload,
        host: &HostGroup,
        volume: usize,
        share: f64,
        needs: &Needs,
    ) {
        let (endpoint_identity, endpoints, _) = self.endpoint_identity(volume);
        let endpoint_identity = match endpoint_identity {
            EndpointIdentity::Shared => 0,
            EndpointIdentity::Named(index) => 1 + index,
            EndpointIdentity::Own(index) => 1 + self.topology.endpoints.len() + index,
        };
        let (group, count, index, demand) = match host.client {
            Client::Linux => {
                let read = (self.get(Parameter::FlowRead), self.get(Parameter::FlowReadByte));
                let write = (self.get(Parameter::FlowWrite), self.get(Parameter::FlowWriteByte));
                let count = host.count * host.nconnect * endpoints;
                (Group::LinuxFlow, count, endpoint_identity, needs.of(read, write))
            }
            Client::Esxi { .. } => {
                let both = (self.get(Parameter::EsxiFlow), self.get(Parameter::EsxiFlowByte));
                let count = host.count * self.topology.volumes[volume].count;
                (Group::EsxiFlow, count, volume, needs.of(both, both))
            }
        };
        let identities = 1 + self.topology.endpoints.len() + self.topology.volumes.len();
        let resource = |kind, group| Resource {
            kind,
            group,
            index: workload.hosts * identities + index,
            name: host.name.clone(),
        };
        let count = count as f64;
        let own = resource(ResourceKind::Flow, Some(group));
        self.add(own, count, false, share, share * demand);
        if let Some(rate) = host.flow_throughput {
            let demand = share * needs.bytes / rate.get();
            self.add(resource(ResourceKind::FlowLimit, None), count, true, share, demand);
        }
        if let Some(rate) = host.flow_rate {
            let demand = share * needs.calls / rate.get();
            self.add(resource(ResourceKind::FlowOpsLimit, None), count, true, share, demand);
        }
    }

    fn endpoint(&mut self, volume: usize, share: f64, needs: &Needs) {
        let (endpoint_identity, count, name) = self.endpoint_identity(volume);
        let is_regular = self.topology.volumes[volume].kind == VolumeKind::Regular;
        let index = match endpoint_identity {
            EndpointIdentity::Shared => 0,
            EndpointIdentity::Named(index) => 1 + index,
            // A large volume's parameters include its own endpoint.
            EndpointIdentity::Own(_) => return,
        };
        let count = count as f64;
        let of = |kind, group| Resource { kind, group, index, name: name.clone() };
        if is_regular {
            let calls = share * needs.calls * self.get(Parameter::Endpoint);
            let bytes = share * needs.bytes * self.get(Parameter::EndpointByte);
            let group = Some(Group::Endpoint);
            self.add(of(ResourceKind::EndpointOps, group), count, false, share, calls);
            self.add(of(ResourceKind::EndpointThroughput, group), count, false, share, bytes);
        }
        if let EndpointIdentity::Named(index) = endpoint_identity
            && let Some(rate) = self.topology.endpoints[index].limit
        {
            let demand = share * needs.bytes / rate.get();
            self.add(of(ResourceKind::EndpointLimit, None), count, true, share, demand);
        }
    }

    fn volume(&mut self, workload: &Workload, index: usize, share: f64, needs: &Needs) {
        let (access, is_on_names) = (workload.access, workload.names.is_some());
        let volumes = &self.topology.volumes[index];
        let of = |kind, group| Resource { kind, group, index, name: volumes.name.clone() };
        if let Some(rate) = volumes.limit {
            let demand = share * needs.bytes / rate.get();
            let count = volumes.count as f64;
            self.add(of(ResourceKind::VolumeLimit, None), count, true, share, demand);
        }
        // The parameters of a volume in breakthrough mode are per endpoint.
        let count = (volumes.count * facts::endpoints_of_one(volumes.kind)) as f64;
        let kind = volumes.kind;
        let group = Some(match kind {
            VolumeKind::Regular => Group::Regular,
            VolumeKind::Large => Group::Large,
            VolumeKind::Breakthrough => Group::Breakthrough,
        });
        if is_on_names {
            let parameter = match kind {
                VolumeKind::Regular => Parameter::RegularName,
                VolumeKind::Large => Parameter::LargeName,
                VolumeKind::Breakthrough => Parameter::BreakthroughName,
            };
            let resource = of(ResourceKind::VolumeNames, Some(Group::Names));
            let demand = share * self.get(parameter);
            self.add(resource, volumes.count as f64, false, share, demand);
            return;
        }
        match access {
            Access::Random => {
                let (read, byte, write) = self.random(kind);
                let demand = share * needs.of((read, byte), (write, byte));
                self.add(of(ResourceKind::VolumeRandom, group), count, false, share, demand);
            }
            Access::Sequential => {
                use Parameter::{BreakthroughReadPath, BreakthroughWritePath};
                use Parameter::{LargeReadPath, LargeWritePath, RegularReadPath, RegularWritePath};
                let (read, write) = match kind {
                    VolumeKind::Regular => (RegularReadPath, RegularWritePath),
                    VolumeKind::Large => (LargeReadPath, LargeWritePath),
                    VolumeKind::Breakthrough => (BreakthroughReadPath, BreakthroughWritePath),
                };
                let read = share * needs.read * needs.bytes * self.get(read);
                let write = share * (1.0 - needs.read) * needs.bytes * self.get(write);
                self.add(of(ResourceKind::VolumeReads, group), count, false, share, read);
                self.add(of(ResourceKind::VolumeWrites, group), count, false, share, write);
            }
        }
    }

    /// Demands of a random read, a byte, and a random write. Figures of large volumes have one
    /// transfer size only, so the share of bytes in a read is taken from regular volumes.
    fn random(&self, kind: VolumeKind) -> (f64, f64, f64) {
        use Parameter::{BreakthroughRead, BreakthroughWrite, LargeRead, LargeWrite};
        let (read, byte) = (self.get(Parameter::RegularRead), self.get(Parameter::RegularByte));
        let (large, write) = match kind {
            VolumeKind::Regular => return (read, byte, self.get(Parameter::RegularWrite)),
            VolumeKind::Large => (self.get(LargeRead), self.get(LargeWrite)),
            VolumeKind::Breakthrough => (self.get(BreakthroughRead), self.get(BreakthroughWrite)),
        };
        let byte = if read > 0.0 { byte * large / read } else { 0.0 };
        (large, byte, write)
    }
}
