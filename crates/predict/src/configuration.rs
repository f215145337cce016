//! A configuration to compare with published figures, and the configuration of a figure.
//!
//! For: distances ([`crate::distance`]) and expectations ([`crate::expect`]).

use cloud::figure::{Access, Figure, Mix, Protocol, Scope};
use cloud::service_level::VolumeKind;
use cloud::vm_size::VmSize;
use units::BytesPerSec;

use crate::facts;
use crate::topology::{
    Client, EndpointGroup, Floor, HostGroup, Load, SPREAD, Topology, VolumeGroup, Workload,
};

/// Number for "many" or unstated: more than any resource behind them can serve.
pub(crate) const MANY: u64 = 1000;
/// Assumed transfer size of a response time whose source states none.
const UNLOADED_BYTES: u64 = 8192;

/// A configuration to compare with published figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// The protocol.
    pub protocol: Protocol,
    /// Size of the virtual machines; `None` if unknown, which never limits.
    pub vm: Option<VmSize>,
    /// Processors of each host; `None` if unknown, which never limits.
    pub vcpu: Option<u64>,
    /// Whether the hosts are VMware hosts.
    pub esxi: bool,
    /// Number of hosts.
    pub hosts: u64,
    /// Connections of each host.
    pub nconnect: u64,
    /// Number of volumes that share the load.
    pub volumes: u64,
    /// Kind of the volumes.
    pub kind: VolumeKind,
    /// Number of endpoints.
    pub endpoints: u64,
    /// Throughput limit of each volume, if any.
    pub limit: Option<BytesPerSec>,
    /// Transfer size.
    pub transfer_bytes: u64,
    /// The share of reads, 0 to 1.
    pub read: f64,
    /// Access pattern.
    pub access: Access,
    /// Outstanding operations of all hosts; `None` for as many as help.
    pub outstanding: Option<u64>,
    /// Measured unloaded response time in seconds, if any.
    pub floor_s: Option<f64>,
}

impl Configuration {
    /// The configuration of one workload. Of several groups of volumes, the first gives the kind
    /// and the limit.
    pub fn of(topology: &Topology, workload: &Workload) -> Configuration {
        let host = &topology.hosts[workload.hosts];
        let volumes = workload.volumes.iter().map(|index| &topology.volumes[*index]);
        let first = &topology.volumes[workload.volumes[0]];
        let outstanding = match workload.load {
            Load::Closed { outstanding } => Some(outstanding * host.count),
            Load::Offered { .. } => None,
        };
        Configuration {
            protocol: host.protocol,
            vm: host.vm.clone(),
            vcpu: host.vcpu,
            esxi: matches!(host.client, Client::Esxi { .. }),
            hosts: host.count,
            nconnect: host.nconnect,
            volumes: volumes.map(|volume| volume.count).sum(),
            kind: first.kind,
            endpoints: topology.endpoints_of(workload),
            limit: first.limit,
            // An operation on a name is as far from the figures as a small random read.
            transfer_bytes: match workload.names {
                Some(_) => UNLOADED_BYTES,
                None => workload.transfer_bytes,
            },
            read: workload.read,
            access: workload.access,
            outstanding,
            floor_s: topology.floor.map(|floor| floor.mean_s),
        }
    }

    /// The configuration of a figure for the unloaded response time, as far as its source states
    /// it.
    pub(crate) fn unloaded(figure: &Figure) -> Configuration {
        let kind = figure.volume.unwrap_or(VolumeKind::Regular);
        Configuration {
            protocol: figure.protocol,
            vm: None,
            vcpu: None,
            esxi: false,
            hosts: 1,
            nconnect: 1,
            volumes: 1,
            kind,
            endpoints: usual_endpoints(kind, 1),
            limit: None,
            transfer_bytes: figure.transfer_bytes.unwrap_or(UNLOADED_BYTES),
            read: 1.0,
            access: figure.pattern.unwrap_or(Access::Random),
            outstanding: Some(1),
            floor_s: None,
        }
    }

    /// As a topology.
    pub fn topology(&self) -> Topology {
        let mut host = match self.esxi {
            true => HostGroup::esxi("host", self.hosts, None),
            false => HostGroup::linux("host", self.hosts, self.nconnect),
        };
        host.protocol = self.protocol;
        host.vcpu = self.vcpu;
        host.vm.clone_from(&self.vm);
        if let Some(size) = &self.vm {
            host.egress = Some(size.egress());
        }
        let usual = usual_endpoints(self.kind, self.volumes);
        let volume = VolumeGroup {
            limit: self.limit,
            endpoint: (self.endpoints != usual).then_some(0),
            ..VolumeGroup::of("volume", self.volumes, self.kind)
        };
        let endpoints = volume.endpoint.map(|_| EndpointGroup::of(self.endpoints));
        let most = host.slots * host.nconnect * if self.esxi { self.volumes } else { 1 };
        let outstanding = self.outstanding.map_or(most, |all| all.div_ceil(self.hosts.max(1)));
        Topology {
            name: "configuration".to_owned(),
            floor: self.floor_s.map(|mean_s| Floor { mean_s, spread: SPREAD }),
            burst_s: 0.0,
            hosts: vec![host],
            endpoints: endpoints.into_iter().collect(),
            volumes: vec![volume],
            workloads: vec![Workload {
                name: "load".to_owned(),
                hosts: 0,
                volumes: vec![0],
                transfer_bytes: self.transfer_bytes,
                read: self.read,
                access: self.access,
                load: Load::Closed { outstanding },
                names: None,
            }],
        }
    }
}

/// Whether a figure was measured on VMware hosts.
pub(crate) fn is_esxi(figure: &Figure) -> bool {
    figure.esxi.is_some()
}

/// The known size of a figure's machines.
pub(crate) fn size_of(figure: &Figure) -> Option<&'static VmSize> {
    figure.vm.as_deref().and_then(facts::vm_size)
}

/// Default number of endpoints of some volumes of a kind: regular ones share one.
pub fn usual_endpoints(kind: VolumeKind, volumes: u64) -> u64 {
    match kind {
        VolumeKind::Regular => 1,
        VolumeKind::Large | VolumeKind::Breakthrough => volumes * facts::endpoints_of_one(kind),
    }
}

/// Endpoints of a figure's volumes.
pub(crate) fn endpoints_of(figure: &Figure) -> u64 {
    let kind = figure.volume.unwrap_or(VolumeKind::Regular);
    figure.endpoints.unwrap_or_else(|| usual_endpoints(kind, figure.volumes))
}

/// Number of hosts of a figure, if its source states it.
pub(crate) fn hosts_of(figure: &Figure) -> Option<u64> {
    figure.hosts.filter(|hosts| *hosts < MANY)
}

/// A figure's share of reads; `None` if it is a peak, a mean or not stated.
pub(crate) fn read_of(figure: &Figure) -> Option<f64> {
    match figure.read {
        Mix::Share(share) => Some(share),
        Mix::Peak | Mix::Average | Mix::NotStated => None,
    }
}

/// Whether a figure is for an endpoint, not for volumes.
pub(crate) fn is_of_endpoint(figure: &Figure) -> bool {
    figure.scope == Scope::Endpoint
}

#[cfg(test)]
mod tests {
    use cloud::figure;

    use super::*;

    /// Any figure, with other properties.
    fn figure(change: impl Fn(&mut Figure)) -> Figure {
        let mut figure = figure::all().into_iter().next().expect("there are figures");
        change(&mut figure);
        figure
    }

    #[test]
    fn regular_volumes_share_an_endpoint_and_others_have_their_own() {
        let large = facts::endpoints_of_one(VolumeKind::Large);
        let breakthrough = facts::endpoints_of_one(VolumeKind::Breakthrough);
        assert_eq!(usual_endpoints(VolumeKind::Regular, 5), 1);
        assert_eq!(usual_endpoints(VolumeKind::Large, 5), 5 * large);
        assert_eq!(usual_endpoints(VolumeKind::Breakthrough, 2), 2 * breakthrough);
        assert!(breakthrough > large, "{breakthrough} and {large}");
        let of = |endpoints, volume, volumes| {
            endpoints_of(&figure(|figure| {
                (figure.endpoints, figure.volume, figure.volumes) = (endpoints, volume, volumes);
            }))
        };
        assert_eq!(of(Some(3), None, 5), 3);
        assert_eq!(of(None, None, 5), 1);
        assert_eq!(of(None, Some(VolumeKind::Large), 5), 5 * large);
    }

    #[test]
    fn many_hosts_are_not_a_number_of_hosts() {
        let of = |hosts| hosts_of(&figure(|figure| figure.hosts = hosts));
        assert_eq!([of(None), of(Some(MANY - 1)), of(Some(MANY))], [None, Some(MANY - 1), None]);
    }

    #[test]
    fn only_a_stated_share_of_reads_is_one() {
        let of = |read| read_of(&figure(|figure| figure.read = read));
        assert_eq!(of(Mix::Share(0.7)), Some(0.7));
        assert_eq!([of(Mix::Peak), of(Mix::Average), of(Mix::NotStated)], [None; 3]);
    }

    #[test]
    fn the_unloaded_configuration_has_one_of_everything() {
        let of = |transfer_bytes| {
            Configuration::unloaded(&figure(|figure| figure.transfer_bytes = transfer_bytes))
        };
        let configuration = of(None);
        assert_eq!(configuration.transfer_bytes, UNLOADED_BYTES);
        assert_eq!(of(Some(4096)).transfer_bytes, 4096);
        let Configuration { hosts, nconnect, volumes, outstanding, .. } = configuration;
        assert_eq!((hosts, nconnect, volumes, outstanding), (1, 1, 1, Some(1)));
    }

    #[test]
    fn outstanding_operations_are_divided_among_the_hosts_rounded_up() {
        let of = |hosts, outstanding| {
            let one = Configuration::unloaded(&figure(|_| {}));
            let topology = Configuration { hosts, outstanding, nconnect: 4, ..one }.topology();
            let Load::Closed { outstanding } = topology.workloads[0].load else {
                panic!("the load is closed")
            };
            (outstanding, topology.hosts[0].slots)
        };
        assert_eq!([of(3, Some(7)).0, of(3, Some(6)).0, of(0, Some(6)).0], [3, 2, 6]);
        let (all, slots) = of(2, None);
        assert_eq!(all, 4 * slots, "as many as the connections of a host carry");
    }
}
