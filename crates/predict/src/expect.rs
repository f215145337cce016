//! Published figures nearest to a configuration, how they differ from it, and what they mean for
//! it.
//!
//! For: what to expect before measuring, and setting a measurement beside what others saw. A
//! figure is brought to the configuration step by step, one difference after the other, each with
//! the factor that the model gives it; what is left when a measurement is set beside it is not
//! explained by any of them. Not for: choosing which figure is right; those that contradict each
//! other are both named.

use cloud::figure::{Access, Figure, Mix, Protocol, Role, Scope, Value};
use cloud::service_level::VolumeKind;
use cloud::vm_size::{self, VmSize};
use units::{BytesPerSec, OpsPerSec};

use crate::curve::{Curve, at, curve};
use crate::distance::{self, Difference};
use crate::interval::Interval;
use crate::of_figure::{Case, MANY};
use crate::parameters::Parameters;
use crate::topology::{Client, Floor, HostGroup, Load, Topology, VolumeGroup, Workload};

/// Factors nearer to 1 are no difference.
const FELT: f64 = 0.005;

/// What is to be expected something of.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// How the store is reached.
    pub protocol: Protocol,
    /// The size of the machines; `None` where it is not known, and then it does not limit.
    pub vm: Option<VmSize>,
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
            protocol: Protocol::Nfsv3,
            vm: host.vm.clone(),
            esxi: matches!(host.client, Client::Esxi { .. }),
            hosts: host.count,
            nconnect: host.nconnect,
            volumes: volumes.map(|volume| volume.count).sum(),
            kind: first.kind,
            limit_bytes_per_s: first.limit_bytes_per_s,
            transfer_bytes: workload.transfer_bytes,
            read: workload.read,
            access: workload.access,
            outstanding,
            floor_s: topology.floor.map(|floor| floor.mean_s),
        }
    }

    /// As a topology.
    pub fn topology(&self) -> Topology {
        let mut host = match self.esxi {
            true => HostGroup::esxi("host", self.hosts, None),
            false => HostGroup::linux("host", self.hosts, self.nconnect),
        };
        if let Some(size) = &self.vm {
            host.vcpu = Some(size.vcpu);
            host.egress_bytes_per_s = Some(size.egress_bytes_per_s() as f64);
        }
        let volume = VolumeGroup {
            limit_bytes_per_s: self.limit_bytes_per_s,
            ..VolumeGroup::of("volume", self.volumes, self.kind)
        };
        let most = host.slots * host.nconnect * if self.esxi { self.volumes } else { 1 };
        let outstanding = self.outstanding.map_or(most, |all| all.div_ceil(self.hosts.max(1)));
        Topology {
            name: "configuration".to_owned(),
            floor: self.floor_s.map(|mean_s| Floor { mean_s, spread: crate::topology::SPREAD }),
            burst_s: 0.0,
            hosts: vec![host],
            endpoints: Vec::new(),
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

/// The figures nearest to a configuration, the nearest first.
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
    all.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.figure.id.cmp(&b.figure.id)));
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
    let Some(case) = Case::of(&near.figure) else { return };
    let target = configuration.topology();
    let mut now = case.topology.clone();
    let mut rate = case.predicted_ops_per_s(parameters);
    let first = rate;
    let mut steps = Vec::new();
    let changes: [(&'static str, Change); 8] = [
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
pub(crate) fn size_of(figure: &Figure) -> Option<VmSize> {
    figure.vm.as_deref().and_then(vm_size::named)
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
