//! Published figures nearest to a configuration, how they differ from it, and what they mean for
//! it.
//!
//! For: what to expect before measuring, and setting a measurement beside what others saw. A
//! figure is brought to the configuration step by step, one difference after the other, each with
//! the factor that the model gives it; what is left when a measurement is set beside it is not
//! explained by any of them. Not for: choosing which figure is right; those that contradict each
//! other are both named.

use cloud::figure::{Access, Figure, Mix, Protocol, Qualifier, Role, Scope, Value};
use cloud::service_level::VolumeKind;
use cloud::vm_size::VmSize;
use units::{BytesPerSec, OpsPerSec};

use crate::curve::{Curve, at, curve};
use crate::distance::{self, Difference};
use crate::facts;
use crate::interval::Interval;
use crate::of_figure::{Case, MANY};
use crate::parameters::Parameters;
use crate::topology::{
    Client, EndpointGroup, Floor, HostGroup, Load, Topology, VolumeGroup, Workload,
};

/// The transfer size of a response time whose source says none.
const UNLOADED_BYTES: u64 = 8192;
/// Factors nearer to 1 are no difference.
const FELT: f64 = 0.005;

/// What is to be expected something of.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// How the store is reached.
    pub protocol: Protocol,
    /// The size of the machines; `None` where it is not known, and then it does not limit.
    pub vm: Option<VmSize>,
    /// Processors of each machine; `None` where they are not known, and then they do not limit.
    pub vcpu: Option<u64>,
    /// Whether they are hosts of VMware's.
    pub esxi: bool,
    /// Machines.
    pub hosts: u64,
    /// Connections of each machine.
    pub nconnect: u64,
    /// Volumes that share the load.
    pub volumes: u64,
    /// What they are built as.
    pub kind: VolumeKind,
    /// Endpoints at which they are reached.
    pub endpoints: u64,
    /// The throughput limit of each, in bytes per second, where there is one.
    pub limit_bytes_per_s: Option<f64>,
    /// Bytes of an operation.
    pub transfer_bytes: u64,
    /// The share of reads, 0 to 1.
    pub read: f64,
    /// Where operations go.
    pub access: Access,
    /// Operations outstanding over all machines; `None` for as many as help.
    pub outstanding: Option<u64>,
    /// The response time of one operation at a time, in seconds, if it was measured.
    pub floor_s: Option<f64>,
}

/// One difference between a figure and a configuration, as the model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What differs: `connections`.
    pub what: &'static str,
    /// What the rate is multiplied by when the configuration's takes the place of the figure's.
    pub factor: f64,
}

/// A published figure near a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    /// The figure.
    pub figure: Figure,
    /// How far it is: the sum over [`Near::differences`].
    pub distance: f64,
    /// What differs, with what each counts.
    pub differences: Vec<Difference>,
    /// What the model makes of the differences, in order; none where it says nothing of the figure.
    pub steps: Vec<Step>,
    /// The figure brought to the configuration, in operations per second.
    pub here_ops_per_s: Option<f64>,
}

/// A rate and a published one, in one unit: rates of different units cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rates {
    /// Of operations.
    Operations {
        /// What was measured, or is expected.
        here: OpsPerSec,
        /// What was published.
        published: OpsPerSec,
    },
    /// Of bytes.
    Bytes {
        /// What was measured, or is expected.
        here: BytesPerSec,
        /// What was published.
        published: BytesPerSec,
    },
}

impl Rates {
    /// The one over the published one.
    pub fn ratio(self) -> f64 {
        match self {
            Rates::Operations { here, published } => here.get() / published.get(),
            Rates::Bytes { here, published } => here.get() / published.get(),
        }
    }
}

/// A measurement beside a published figure, as shares: `published x explained x unexplained` is
/// what was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beside {
    /// What was measured over what was published, in the figure's own unit.
    pub of_published: f64,
    /// What the differences make of the figure, by the model.
    pub explained: f64,
    /// What is left.
    pub unexplained: f64,
}

impl Beside {
    /// Whether what is left is no more than the model may be off by.
    ///
    /// * `expected` - the model's rate for the configuration
    pub fn is_within(&self, expected: Interval) -> bool {
        expected.holds(expected.value * self.unexplained)
    }
}

impl Near {
    /// Whether no source prints this number: it was derived from others, such as "twice A10".
    pub fn is_derived(&self) -> bool {
        self.figure.qualifier == Qualifier::Derived
    }

    /// A measured rate beside the figure; none where the model says nothing of it.
    ///
    /// * `ops_per_s` - what was measured
    /// * `transfer_bytes` - of one of these operations
    pub fn beside(&self, ops_per_s: f64, transfer_bytes: u64) -> Option<Beside> {
        let of_published = self.rates(ops_per_s, transfer_bytes)?.ratio();
        let explained = self.rates(self.here_ops_per_s?, transfer_bytes)?.ratio();
        Some(Beside { of_published, explained, unexplained: of_published / explained })
    }

    /// A rate and the published one, in the figure's own unit: of a figure in bytes per second the
    /// bytes, else the operations. None of a figure that is no rate.
    ///
    /// * `ops_per_s`, `transfer_bytes` - as for [`Near::beside`]
    pub fn rates(&self, ops_per_s: f64, transfer_bytes: u64) -> Option<Rates> {
        match self.figure.value {
            Value::OpsPerSec(rate) => Some(Rates::Operations {
                here: OpsPerSec::new(ops_per_s),
                published: OpsPerSec::new(rate),
            }),
            Value::BytesPerSec(rate) => Some(Rates::Bytes {
                here: BytesPerSec::new(ops_per_s * transfer_bytes as f64),
                published: BytesPerSec::new(rate),
            }),
            Value::Seconds(_) => None,
        }
    }
}

impl Configuration {
    /// What one workload of a topology does, as far as figures can be compared with it: of several
    /// groups of volumes the first says what they are.
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
            limit_bytes_per_s: first.limit_bytes_per_s,
            transfer_bytes: workload.transfer_bytes,
            read: workload.read,
            access: workload.access,
            outstanding,
            floor_s: topology.floor.map(|floor| floor.mean_s),
        }
    }

    /// What a figure of one operation at a time was measured on, as far as its source says.
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
            limit_bytes_per_s: None,
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
            host.egress_bytes_per_s = Some(size.egress_bytes_per_s() as f64);
        }
        let usual = usual_endpoints(self.kind, self.volumes);
        let volume = VolumeGroup {
            limit_bytes_per_s: self.limit_bytes_per_s,
            endpoint: (self.endpoints != usual).then_some(0),
            ..VolumeGroup::of("volume", self.volumes, self.kind)
        };
        let endpoints = volume.endpoint.map(|_| EndpointGroup::of(self.endpoints));
        let most = host.slots * host.nconnect * if self.esxi { self.volumes } else { 1 };
        let outstanding = self.outstanding.map_or(most, |all| all.div_ceil(self.hosts.max(1)));
        Topology {
            name: "configuration".to_owned(),
            floor: self.floor_s.map(|mean_s| Floor { mean_s, spread: crate::topology::SPREAD }),
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
            }],
        }
    }
}

/// The figures nearest to a configuration: those that a source prints, the nearest first, then
/// those that follow from them ([`Near::is_derived`]).
///
/// * `year` - of today, from which the age of figures is counted
/// * `top` - most of them: each is brought to the configuration, which takes time
pub fn nearest(
    configuration: &Configuration,
    figures: &[Figure],
    parameters: &Parameters,
    year: u64,
    top: usize,
) -> Vec<Near> {
    let rates = figures.iter().filter(|figure| figure.role != Role::Anchor);
    let mut all: Vec<Near> = rates
        .filter(|figure| figure.pattern.is_some())
        .map(|figure| {
            let differences = distance::differences(configuration, figure, year);
            Near {
                figure: figure.clone(),
                distance: differences.iter().map(|one| one.weight).sum(),
                differences,
                steps: Vec::new(),
                here_ops_per_s: None,
            }
        })
        .collect();
    let order = |a: &Near, b: &Near| {
        let by_distance = a.distance.total_cmp(&b.distance);
        a.is_derived().cmp(&b.is_derived()).then(by_distance).then(a.figure.id.cmp(&b.figure.id))
    };
    all.sort_by(order);
    all.truncate(top);
    for near in &mut all {
        bring(near, configuration, parameters);
    }
    all
}

/// What the model itself expects of the configuration; `None` of protocols that it does not know.
pub fn predicted(configuration: &Configuration, parameters: &Parameters) -> Option<Curve> {
    if configuration.protocol != Protocol::Nfsv3 {
        return None;
    }
    curve(&configuration.topology(), parameters).ok()
}

/// Brings a figure to the configuration, one difference after the other.
fn bring(near: &mut Near, configuration: &Configuration, parameters: &Parameters) {
    if configuration.protocol != Protocol::Nfsv3 {
        return;
    }
    let Some(case) = Case::of(&near.figure).filter(Case::is_modelled) else { return };
    let target = configuration.topology();
    let mut now = case.topology.clone();
    let mut rate = case.predicted_ops_per_s(parameters);
    let first = rate;
    let mut steps = Vec::new();
    let changes: [(&'static str, Change); 9] = [
        ("share of reads", |now, to| now.workloads[0].read = to.workloads[0].read),
        ("transfer size and pattern", |now, to| {
            now.workloads[0].transfer_bytes = to.workloads[0].transfer_bytes;
            now.workloads[0].access = to.workloads[0].access;
            now.hosts[0].call_bytes = to.hosts[0].call_bytes;
        }),
        ("volumes", |now, to| {
            now.volumes[0].count = to.volumes[0].count;
            now.volumes[0].kind = to.volumes[0].kind;
        }),
        ("endpoints", |now, to| {
            now.endpoints.clone_from(&to.endpoints);
            now.volumes[0].endpoint = to.volumes[0].endpoint;
        }),
        ("hosts", |now, to| now.hosts[0].count = to.hosts[0].count),
        ("machine", |now, to| {
            let (nconnect, count) = (now.hosts[0].nconnect, now.hosts[0].count);
            now.hosts[0] = HostGroup { nconnect, count, ..to.hosts[0].clone() };
        }),
        ("connections", |now, to| now.hosts[0].nconnect = to.hosts[0].nconnect),
        ("throughput limit", |now, to| {
            now.volumes[0].limit_bytes_per_s = to.volumes[0].limit_bytes_per_s;
        }),
        ("operations outstanding", |_, _| {}),
    ];
    let full = |topology: &Topology| {
        let hosts = &topology.hosts[0];
        let flows = topology.flows(&topology.workloads[0]);
        let Ok(point) = at(topology, parameters, (flows * hosts.slots) as f64) else {
            return f64::NAN;
        };
        point.ops_per_s.value
    };
    // All others are at as many as their connections have slots for.
    if near.figure.outstanding.is_some() {
        let next = full(&now);
        steps.push(Step { what: "as many outstanding as help", factor: next / rate });
        rate = next;
    }
    for (place, (what, change)) in changes.iter().enumerate() {
        change(&mut now, &target);
        let is_last = place + 1 == changes.len();
        let next = match (is_last, target.workloads[0].load) {
            (true, Load::Closed { outstanding }) => {
                now.floor = target.floor;
                let all = (outstanding * target.hosts[0].count) as f64;
                at(&now, parameters, all).map_or(f64::NAN, |point| point.ops_per_s.value)
            }
            _ => full(&now),
        };
        let factor = next / rate;
        if (factor - 1.0).abs() > FELT {
            steps.push(Step { what, factor });
        }
        rate = next;
    }
    let published = case.published_ops_per_s();
    near.here_ops_per_s = Some(published * rate / first).filter(|rate| rate.is_finite());
    near.steps = steps;
}

type Change = fn(&mut Topology, &Topology);

/// Whether a figure was measured on hosts of VMware's.
pub(crate) fn is_esxi(figure: &Figure) -> bool {
    figure.esxi.is_some()
}

/// The known size of a figure's machines.
pub(crate) fn size_of(figure: &Figure) -> Option<&'static VmSize> {
    figure.vm.as_deref().and_then(facts::vm_size)
}

/// Endpoints of so many volumes of a kind where nothing else is said: regular ones share one.
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

/// Hosts of a figure, if its source says how many.
pub(crate) fn hosts_of(figure: &Figure) -> Option<u64> {
    figure.hosts.filter(|hosts| *hosts < MANY)
}

/// A figure's share of reads; none where it is a peak, a mean or not stated.
pub(crate) fn read_of(figure: &Figure) -> Option<f64> {
    match figure.read {
        Mix::Share(share) => Some(share),
        Mix::Peak | Mix::Average | Mix::NotStated => None,
    }
}

/// Whether a figure is of an endpoint and not of volumes.
pub(crate) fn is_of_endpoint(figure: &Figure) -> bool {
    figure.scope == Scope::Endpoint
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_figures_come_after_every_published_one() {
        let figures = cloud::figure::all();
        let parameters = Parameters::calibrated(&figures);
        // A71 and A72, both derived, are nearest to one D32s_v3 with one connection.
        let size = facts::vm_size("Standard_D32s_v3").cloned();
        for read in [0.0, 1.0] {
            let configuration = Configuration {
                protocol: Protocol::Nfsv3,
                vcpu: size.as_ref().map(|size| size.vcpu),
                vm: size.clone(),
                esxi: false,
                hosts: 1,
                nconnect: 1,
                volumes: 1,
                kind: VolumeKind::Regular,
                endpoints: 1,
                limit_bytes_per_s: None,
                transfer_bytes: 4096,
                read,
                access: Access::Random,
                outstanding: None,
                floor_s: None,
            };
            let all = nearest(&configuration, &figures, &parameters, 2026, usize::MAX);
            let first = all.iter().position(Near::is_derived).unwrap();
            assert!(all[first..].iter().all(Near::is_derived));
            let distances = all[..first].windows(2);
            assert!(distances.clone().all(|pair| pair[0].distance <= pair[1].distance));
        }
    }
}
