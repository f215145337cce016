//! A published figure as a topology, with its prediction.
//!
//! For: calibration, validation, and comparison of a topology with published figures. Properties
//! that a source does not state are assumed not to limit: many hosts, as many connections as a
//! mount can have, many volumes behind an endpoint's figure.

use cloud::figure::{Access, Figure, Mix, Protocol, Role, Scope, Value};
use cloud::service_level::VolumeKind;

use crate::configuration::{Configuration, MANY, size_of};
use crate::curve::{at, capacity};
use crate::facts;
use crate::interval::Interval;
use crate::model::Model;
use crate::parameters::{End, Parameters};
use crate::point::Point;
use crate::resource::ResourceKind;
use crate::topology::{EndpointGroup, Floor, HostGroup, Load, Topology, VolumeGroup, Workload};

/// Steps from only writes to only reads for averages over mixes.
const MIXES: u32 = 10;

/// A figure that the model covers.
#[derive(Clone, Debug)]
pub struct Case {
    /// The figure.
    pub figure: Figure,
    /// Its configuration, with only reads if it states no mix.
    pub topology: Topology,
}

impl Case {
    /// The case of a figure; `None` if it is not a rate, or is context only.
    pub fn of(figure: &Figure) -> Option<Case> {
        if figure.role == Role::Context || matches!(figure.value, Value::Seconds(_)) {
            return None;
        }
        let access = figure.pattern?;
        let transfer_bytes = figure.transfer_bytes.or(match access {
            // For large sequential transfers only bytes count.
            Access::Sequential => Some(facts::of().call_bytes),
            Access::Random => None,
        })?;
        let hosts = host(figure);
        let endpoints: Vec<EndpointGroup> =
            figure.endpoints.map(EndpointGroup::of).into_iter().collect();
        let volumes = match figure.scope {
            Scope::Endpoint => VolumeGroup::of("volumes", MANY, VolumeKind::Regular),
            Scope::Volume => {
                let kind = figure.volume.unwrap_or(VolumeKind::Regular);
                let volumes = VolumeGroup::of("volume", figure.volumes, kind);
                VolumeGroup {
                    limit: figure.limit,
                    endpoint: figure.endpoints.map(|_| 0),
                    ..volumes
                }
            }
        };
        let outstanding = match figure.outstanding {
            Some(all) => all.div_ceil(hosts.count),
            None => hosts.slots * hosts.nconnect * figure.volumes,
        };
        let read = match figure.read {
            Mix::Share(share) => share,
            Mix::Peak | Mix::Average | Mix::NotStated => 1.0,
        };
        let workload = Workload {
            name: figure.id.clone(),
            hosts: 0,
            volumes: vec![0],
            transfer_bytes,
            read,
            access,
            load: Load::Closed { outstanding },
            names: None,
        };
        let topology = Topology {
            name: figure.id.clone(),
            floor: figure.floor_s.map(|mean_s| Floor { mean_s, spread: 0.0 }),
            burst_s: 0.0,
            hosts: vec![hosts],
            endpoints,
            volumes: vec![volumes],
            workloads: vec![workload],
        };
        Some(Case { figure: figure.clone(), topology })
    }

    /// The published number in operations per second.
    pub fn published_ops_per_s(&self) -> f64 {
        let bytes = self.topology.workloads[0].transfer_bytes as f64;
        match self.figure.value {
            Value::Rate(rate) => rate.get(),
            Value::Throughput(rate) => rate.get() / bytes,
            Value::Seconds(_) => f64::NAN,
        }
    }

    /// The prediction, in operations per second.
    pub fn predicted_ops_per_s(&self, parameters: &Parameters) -> f64 {
        self.over_mixes(|topology| {
            let Load::Closed { outstanding } = topology.workloads[0].load else { return f64::NAN };
            let all = (outstanding * topology.hosts[0].count) as f64;
            at(topology, parameters, all).map_or(f64::NAN, |point: Point| point.ops_per_s.value)
        })
    }

    /// The prediction with its interval, in operations per second.
    pub fn predicted_interval(&self, parameters: &Parameters) -> Interval {
        let distance = parameters.distance_of(&self.configuration());
        let end = |end| self.predicted_ops_per_s(&parameters.at_end(end, distance));
        Interval::around(self.predicted_ops_per_s(parameters), end(End::Slow), end(End::Fast))
    }

    /// The resource that bounds the prediction.
    pub(crate) fn bounded_by(&self, parameters: &Parameters) -> Option<ResourceKind> {
        capacity(&self.topology, parameters).ok().map(|bound| bound.resource.kind)
    }

    pub(crate) fn configuration(&self) -> Configuration {
        Configuration::of(&self.topology, &self.topology.workloads[0])
    }

    /// Whether the model covers the figure's protocol. Figures of other protocols are used for the
    /// fit of hosts only.
    pub(crate) fn is_modelled(&self) -> bool {
        self.figure.protocol == Protocol::Nfsv3
    }

    /// The asymptotic bound, in operations per second.
    pub(crate) fn capacity_ops_per_s(&self, parameters: &Parameters) -> f64 {
        self.over_mixes(|topology| {
            Model::of_one(topology, parameters).map_or(f64::NAN, |model| model.least_bound())
        })
    }

    /// A number for the stated mix, for the best mix, or the mean over mixes, which is how sources
    /// average and the best estimate for an unstated mix.
    fn over_mixes(&self, of: impl Fn(&Topology) -> f64) -> f64 {
        let mixes = (0..=MIXES).map(|step| {
            let mut topology = self.topology.clone();
            topology.workloads[0].read = f64::from(step) / f64::from(MIXES);
            of(&topology)
        });
        match self.figure.read {
            Mix::Share(_) => of(&self.topology),
            Mix::Peak => mixes.fold(f64::NAN, f64::max),
            Mix::Average | Mix::NotStated => mixes.sum::<f64>() / f64::from(MIXES + 1),
        }
    }
}

fn host(figure: &Figure) -> HostGroup {
    let count = figure.hosts.unwrap_or(MANY);
    if figure.esxi.is_some() {
        return HostGroup::esxi("host", count, figure.guests);
    }
    let nconnect = figure.nconnect.unwrap_or(facts::of().nconnect_max);
    let mut host = HostGroup::linux("host", count, nconnect);
    host.protocol = figure.protocol;
    if let Some(size) = size_of(figure) {
        host.vm = Some(size.clone());
        host.vcpu = Some(size.vcpu);
        host.egress = Some(size.egress());
    }
    host.call_bytes = figure.call_bytes.unwrap_or(host.call_bytes);
    host
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_of_a_figure_is_known() {
        for figure in cloud::figure::all() {
            if let Some(vm) = &figure.vm {
                assert!(facts::vm_size(vm).is_some(), "{}: {vm}", figure.id);
            }
        }
    }

    #[test]
    fn a_figure_of_four_hosts_and_four_datastores_has_sixteen_connections() {
        let all = cloud::figure::all();
        let figure = all.iter().find(|figure| figure.id == "A33").unwrap();
        let case = Case::of(figure).unwrap();
        assert_eq!(case.topology.flows(&case.topology.workloads[0]), 16);
    }
}
