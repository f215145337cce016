//! The published figures nearest to a configuration, adjusted to it by the model.
//!
//! For: expectations before measuring, and comparing a measurement with published figures. A figure
//! is adjusted one difference at a time, each with a factor from the model. The remaining ratio of
//! a measurement to the adjusted figure is unexplained. Not for: choosing between figures that
//! contradict each other; both are named.

use cloud::figure::{Figure, Protocol, Qualifier, Role, Value};
use units::{BytesPerSec, OpsPerSec};

use crate::configuration::Configuration;
use crate::curve::{Curve, at, curve};
use crate::distance::{self, Difference};
use crate::interval::Interval;
use crate::of_figure::Case;
use crate::parameters::Parameters;
use crate::topology::{HostGroup, Load, Topology};

/// Factors closer to 1 are ignored.
const NEGLIGIBLE: f64 = 0.005;
/// Number of changes, one per property of a topology.
const CHANGES: usize = 9;

/// A change of a figure's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// As many outstanding operations as the connections have slots for.
    FullSlots,
    /// The share of reads.
    Read,
    /// Transfer size and access pattern.
    TransferSizeAndPattern,
    /// Number and kind of volumes.
    Volumes,
    /// Endpoints.
    Endpoints,
    /// The number of hosts.
    Hosts,
    /// The hosts' machine.
    Machine,
    /// Connections of each host.
    Connections,
    /// The volumes' throughput limit.
    ThroughputLimit,
    /// The number of outstanding operations.
    Outstanding,
}

/// The effect of one change of a figure's configuration, by the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The change.
    pub change: Change,
    /// Factor on the rate when the configuration's value replaces the figure's.
    pub factor: f64,
}

/// A published figure near a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    /// The figure.
    pub figure: Figure,
    /// Distance: the sum of the weights of [`Near::differences`].
    pub distance: f64,
    /// The differences with their weights.
    pub differences: Vec<Difference>,
    /// The effects of the differences, in order; empty if the model does not cover the figure.
    pub steps: Vec<Step>,
    /// The figure adjusted to the configuration.
    pub here: Option<OpsPerSec>,
}

/// A rate and a published rate in the same unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rates {
    /// Of operations.
    Operations {
        /// Measured or adjusted.
        here: OpsPerSec,
        /// Published.
        published: OpsPerSec,
    },
    /// Of bytes.
    Bytes {
        /// Measured or adjusted.
        here: BytesPerSec,
        /// Published.
        published: BytesPerSec,
    },
}

impl Rates {
    /// The rate divided by the published one.
    pub fn ratio(self) -> f64 {
        match self {
            Rates::Operations { here, published } => here.get() / published.get(),
            Rates::Bytes { here, published } => here.get() / published.get(),
        }
    }
}

/// A measurement compared with a published figure: `measured = published x explained x
/// unexplained`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FigureComparison {
    /// Measured over published, in the figure's unit.
    pub of_published: f64,
    /// Effect of all differences, by the model.
    pub explained: f64,
    /// The remaining factor.
    pub unexplained: f64,
}

impl FigureComparison {
    /// Whether the remaining factor is within the model's interval.
    ///
    /// * `expected` - the predicted rate for the configuration
    pub fn is_within(&self, expected: Interval) -> bool {
        expected.holds(expected.value * self.unexplained)
    }
}

impl Near {
    /// Whether the number was derived from others, such as "twice A10", and no source prints it.
    pub fn is_derived(&self) -> bool {
        self.figure.qualifier == Qualifier::Derived
    }

    /// Compares a measured rate with the figure; `None` if the model does not cover the figure.
    ///
    /// * `rate` - the measured rate
    /// * `transfer_bytes` - transfer size of these operations
    pub fn compare(&self, rate: OpsPerSec, transfer_bytes: u64) -> Option<FigureComparison> {
        let of_published = self.rates(rate, transfer_bytes)?.ratio();
        let explained = self.rates(self.here?, transfer_bytes)?.ratio();
        Some(FigureComparison { of_published, explained, unexplained: of_published / explained })
    }

    /// A rate and the published one in the figure's unit; `None` if the figure is not a rate.
    ///
    /// * `rate`, `transfer_bytes` - as for [`Near::compare`]
    pub fn rates(&self, rate: OpsPerSec, transfer_bytes: u64) -> Option<Rates> {
        match self.figure.value {
            Value::Rate(published) => Some(Rates::Operations { here: rate, published }),
            Value::Throughput(published) => {
                let here = BytesPerSec::new(rate.get() * transfer_bytes as f64);
                Some(Rates::Bytes { here, published })
            }
            Value::Seconds(_) => None,
        }
    }
}

/// The figures nearest to a configuration: first printed ones by distance, then derived ones
/// ([`Near::is_derived`]).
///
/// * `year` - the current year, for the age of figures
/// * `top` - most figures to return; adjusting each takes time
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
                here: None,
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
        adjust(near, configuration, parameters);
    }
    all
}

/// The model's prediction for the configuration; `None` for protocols that it does not cover.
pub fn predicted(configuration: &Configuration, parameters: &Parameters) -> Option<Curve> {
    if configuration.protocol != Protocol::Nfsv3 {
        return None;
    }
    curve(&configuration.topology(), parameters).ok()
}

/// Adjusts a figure to the configuration, one difference at a time.
fn adjust(near: &mut Near, configuration: &Configuration, parameters: &Parameters) {
    if configuration.protocol != Protocol::Nfsv3 {
        return;
    }
    let Some(case) = Case::of(&near.figure).filter(Case::is_modelled) else { return };
    let target = configuration.topology();
    let mut now = case.topology.clone();
    let mut rate = case.predicted_ops_per_s(parameters);
    let first = rate;
    let mut steps = Vec::new();
    let changes: [(Change, Apply); CHANGES] = [
        (Change::Read, |now, to| now.workloads[0].read = to.workloads[0].read),
        (Change::TransferSizeAndPattern, |now, to| {
            now.workloads[0].transfer_bytes = to.workloads[0].transfer_bytes;
            now.workloads[0].access = to.workloads[0].access;
            now.hosts[0].call_bytes = to.hosts[0].call_bytes;
        }),
        (Change::Volumes, |now, to| {
            now.volumes[0].count = to.volumes[0].count;
            now.volumes[0].kind = to.volumes[0].kind;
        }),
        (Change::Endpoints, |now, to| {
            now.endpoints.clone_from(&to.endpoints);
            now.volumes[0].endpoint = to.volumes[0].endpoint;
        }),
        (Change::Hosts, |now, to| now.hosts[0].count = to.hosts[0].count),
        (Change::Machine, |now, to| {
            let (nconnect, count) = (now.hosts[0].nconnect, now.hosts[0].count);
            now.hosts[0] = HostGroup { nconnect, count, ..to.hosts[0].clone() };
        }),
        (Change::Connections, |now, to| now.hosts[0].nconnect = to.hosts[0].nconnect),
        (Change::ThroughputLimit, |now, to| {
            now.volumes[0].limit = to.volumes[0].limit;
        }),
        (Change::Outstanding, |_, _| {}),
    ];
    let full = |topology: &Topology| {
        let hosts = &topology.hosts[0];
        let flows = topology.flows(&topology.workloads[0]);
        let Ok(point) = at(topology, parameters, (flows * hosts.slots) as f64) else {
            return f64::NAN;
        };
        point.ops_per_s.value
    };
    // The other predictions use all slots of the connections.
    if near.figure.outstanding.is_some() {
        let next = full(&now);
        steps.push(Step { change: Change::FullSlots, factor: next / rate });
        rate = next;
    }
    for (index, (change, apply)) in changes.into_iter().enumerate() {
        apply(&mut now, &target);
        let is_last = index + 1 == CHANGES;
        let next = match (is_last, target.workloads[0].load) {
            (true, Load::Closed { outstanding }) => {
                now.floor = target.floor;
                let all = (outstanding * target.hosts[0].count) as f64;
                at(&now, parameters, all).map_or(f64::NAN, |point| point.ops_per_s.value)
            }
            _ => full(&now),
        };
        let factor = next / rate;
        if (factor - 1.0).abs() > NEGLIGIBLE {
            steps.push(Step { change, factor });
        }
        rate = next;
    }
    let published = case.published_ops_per_s();
    near.here = Some(published * rate / first).filter(|rate| rate.is_finite()).map(OpsPerSec::new);
    near.steps = steps;
}

/// Gives the first topology a property of the second.
type Apply = fn(&mut Topology, &Topology);

#[cfg(test)]
mod tests {
    use cloud::figure::Access;
    use cloud::service_level::VolumeKind;

    use super::*;
    use crate::facts;

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
                limit: None,
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

    #[test]
    fn steps_lead_from_the_published_figure_to_this_configuration() {
        let figures = cloud::figure::all();
        let parameters = Parameters::calibrated(&figures);
        let configuration = Configuration {
            protocol: Protocol::Nfsv3,
            vcpu: None,
            vm: None,
            esxi: false,
            hosts: 2,
            nconnect: 4,
            volumes: 1,
            kind: VolumeKind::Regular,
            endpoints: 1,
            limit: None,
            transfer_bytes: 16 << 10,
            read: 0.7,
            access: Access::Random,
            outstanding: None,
            floor_s: None,
        };
        let all = nearest(&configuration, &figures, &parameters, 2026, usize::MAX);
        let with_steps: Vec<&Near> = all.iter().filter(|near| !near.steps.is_empty()).collect();
        assert!(with_steps.len() > all.len() / 2, "{} of {}", with_steps.len(), all.len());
        for near in with_steps {
            let is_shown = |step: &&Step| step.change != Change::FullSlots;
            for step in near.steps.iter().filter(is_shown) {
                assert!((step.factor - 1.0).abs() > NEGLIGIBLE, "{:?}", near.steps);
            }
            let Some(here) = near.here else { continue };
            // Each of the changes that are not shown has a factor of nearly 1.
            let shown: f64 = near.steps.iter().map(|step| step.factor).product();
            let case = Case::of(&near.figure).expect("a figure with steps is modelled");
            let left = here.get() / case.published_ops_per_s() / shown;
            let most = (1.0 + NEGLIGIBLE).powi(CHANGES as i32);
            assert!((1.0 / most..most).contains(&left), "{left} of {:?}", near.steps);
        }
    }
}
