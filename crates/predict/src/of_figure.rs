//! A published figure as a topology, and what the model says of it.
//!
//! For: calibration, validation, and setting a topology beside what was published. What a source
//! does not say is taken so that it does not limit: many hosts, as many connections as a mount may
//! have, many volumes behind an endpoint's figure.

use cloud::figure::{Access, Figure, Mix, Protocol, Role, Scope, Value};
use cloud::service_level::VolumeKind;

use crate::curve::{Point, at, capacity};
use crate::expect::{Configuration, size_of};
use crate::facts;
use crate::interval::Interval;
use crate::model::Model;
use crate::parameters::{End, Parameters};
use crate::resource::ResourceKind;
use crate::topology::{EndpointGroup, Floor, HostGroup, Load, Topology, VolumeGroup, Workload};

/// Where a source says "many" or nothing: more than any resource behind them lets through.
pub(crate) const MANY: u64 = 1000;
/// Steps from all writes to all reads over which sources average.
const MIXES: u32 = 10;

/// A figure that the model can say something about.
#[derive(Clone, Debug)]
pub struct Case {
    /// The figure.
    pub figure: Figure,
    /// What it was measured on, with the mix at all reads where it does not say one.
    pub topology: Topology,
}

impl Case {
    /// The case of a figure; `None` where it is no rate, or context only.
    pub fn of(figure: &Figure) -> Option<Case> {
        if figure.role == Role::Context || matches!(figure.value, Value::Seconds(_)) {
            return None;
        }
        let access = figure.pattern?;
        let transfer_bytes = figure.transfer_bytes.or(match access {
            // Of large sequential transfers only the bytes count.
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
                    limit_bytes_per_s: figure.limit_bytes_per_s,
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
            Value::OpsPerSec(rate) => rate,
            Value::BytesPerSec(rate) => rate / bytes,
            Value::Seconds(_) => f64::NAN,
        }
    }

    /// What the model says in its place, in operations per second.
    pub fn predicted_ops_per_s(&self, parameters: &Parameters) -> f64 {
        self.over_mixes(|topology| {
            let Load::Closed { outstanding } = topology.workloads[0].load else { return f64::NAN };
            let all = (outstanding * topology.hosts[0].count) as f64;
            at(topology, parameters, all).map_or(f64::NAN, |point: Point| point.ops_per_s.value)
        })
    }

    /// What the model says in its place with its interval, in operations per second.
    pub fn predicted_interval(&self, parameters: &Parameters) -> Interval {
        let distance = parameters.distance_of(&self.configuration());
        let end = |end| self.predicted_ops_per_s(&parameters.at_end(end, distance));
        Interval::around(self.predicted_ops_per_s(parameters), end(End::Slow), end(End::Fast))
    }

    /// What bounds the prediction.
    pub(crate) fn bounded_by(&self, parameters: &Parameters) -> Option<ResourceKind> {
        capacity(&self.topology, parameters).ok().map(|bound| bound.resource.kind)
    }

    /// What it was measured on.
    pub(crate) fn configuration(&self) -> Configuration {
        Configuration::of(&self.topology, &self.topology.workloads[0])
    }

    /// Whether the model is of the figure's protocol. Figures of others only fit what a host does.
    pub(crate) fn is_modelled(&self) -> bool {
        self.figure.protocol == Protocol::Nfsv3
    }

    /// The asymptotic bound in its place, in operations per second.
    pub(crate) fn capacity_ops_per_s(&self, parameters: &Parameters) -> f64 {
        self.over_mixes(|topology| {
            Model::of_one(topology, parameters).map_or(f64::NAN, |model| model.least_bound())
        })
    }

    /// A number of the mix that is stated; of the best one; or the mean over mixes, which is how
    /// sources average and what is least wrong where they do not say.
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
        host.egress_bytes_per_s = Some(size.egress_bytes_per_s() as f64);
    }
    host.call_bytes = figure.call_bytes.unwrap_or(host.call_bytes);
    host
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_of_a_figure_is_a_known_one() {
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
