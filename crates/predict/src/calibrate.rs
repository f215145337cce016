//! Fits the parameters to published figures.
//!
//! Fits the figures in `data/published.toml`, part by part, starting at the client: connections
//! from figures of one connection, volumes from figures of many hosts on one volume, hosts from
//! figures of one host with many connections, endpoints from figures of many volumes. A figure that
//! earlier parts explain contains no information on later parts and is left out there. Only figures
//! for calibration are used.

use cloud::figure::{Figure, Protocol, Role, Scope, Value, most_names};
use cloud::service_level::VolumeKind;
use statistics::average::sum_of_squares;
use statistics::positive_least_squares::minimize_positive;
use units::Nanos;

use crate::of_figure::Case;
use crate::parameter::{Group, Parameter, Per};
use crate::parameters::Parameters;
use crate::spread::Spread;
use crate::statement::{Reason, Statement};
use crate::topology::Client;

/// A figure with at most this error is explained.
const EXPLAINED: f64 = 0.2;
/// Start of searches, slower than every figure, so that every parameter has an effect at first.
/// Other starts give the same results.
pub(crate) const START_CALL_S: f64 = 1e-3;
/// The same for a byte.
pub(crate) const START_BYTE_S: f64 = 1e-7;

/// Cores of an AV36, the AVS host that was measured (Azure VMware Solution, introduction).
const AV36_CORES: f64 = 36.0;
/// Transfer size of the published random operations of an endpoint.
const ENDPOINT_BYTES: f64 = 8192.0;

/// Groups in the order in which they are fitted.
const ORDER: [Group; 9] = [
    Group::LinuxFlow,
    Group::EsxiFlow,
    Group::Regular,
    Group::Large,
    Group::Breakthrough,
    Group::LinuxHost,
    Group::EsxiHost,
    Group::Guest,
    Group::Endpoint,
];

/// The figures for a fit.
#[derive(Clone, Debug)]
pub(crate) struct Published<'a> {
    /// Rates that the model can predict.
    pub(crate) cases: Vec<&'a Case>,
    /// Response times of one operation at a time.
    pub(crate) anchors: Vec<&'a Figure>,
    /// Rates with operations on names.
    pub(crate) names: Vec<&'a Figure>,
}

impl<'a> Published<'a> {
    pub(crate) fn of(cases: &'a [Case], figures: &'a [Figure]) -> Published<'a> {
        let anchors = figures.iter().filter(|figure| figure.role == Role::Anchor);
        let names = figures.iter().filter(|figure| figure.names.is_some());
        Published {
            cases: cases.iter().collect(),
            anchors: anchors.collect(),
            names: names.collect(),
        }
    }

    /// All figures of a document, and all others.
    pub(crate) fn split(&self, document: &str) -> (Published<'a>, Published<'a>) {
        let is_its = |figure: &Figure| figure.document() == document;
        let (cases, others) = self.cases.iter().partition(|case| is_its(&case.figure));
        let (anchors, other_anchors) = self.anchors.iter().partition(|figure| is_its(figure));
        let (names, other_names) = self.names.iter().partition(|figure| is_its(figure));
        (
            Published { cases, anchors, names },
            Published { cases: others, anchors: other_anchors, names: other_names },
        )
    }

    /// The documents, in the order of the data.
    pub(crate) fn documents(&self) -> Vec<&'a str> {
        let of_cases = self.cases.iter().map(|case| case.figure.document());
        let mut all: Vec<&str> = Vec::new();
        for document in of_cases.chain(self.anchors.iter().map(|figure| figure.document())) {
            if !all.contains(&document) {
                all.push(document);
            }
        }
        all
    }
}

impl Parameters {
    /// Fits the parameters to the figures for calibration. Intervals are those of the embedded
    /// figures ([`Spread::PUBLISHED`]).
    pub fn calibrated(figures: &[Figure]) -> Parameters {
        let cases: Vec<Case> = figures.iter().filter_map(Case::of).collect();
        let fitted =
            Parameters::fitted(&Published::of(&cases, figures), START_CALL_S, START_BYTE_S);
        fitted.with_spread(Spread::PUBLISHED)
    }

    /// The fit without intervals.
    pub(crate) fn fitted(published: &Published<'_>, call_s: f64, byte_s: f64) -> Parameters {
        let is_fitted = |case: &&&Case| {
            case.figure.role == Role::Calibration && case.figure.outstanding.is_none()
        };
        let cases: Vec<&Case> = published.cases.iter().filter(is_fitted).copied().collect();
        let (floor_s, floor_reason) = floor(&published.anchors);
        let modelled = cases.iter().filter(|case| case.is_modelled());
        let known = modelled.map(|case| case.figure.clone()).collect();
        let mut all = Parameters { floor_s, floor_reason, known, ..Parameters::unbounded() };
        let mut used: Vec<(Group, Vec<&Case>)> = Vec::new();
        for group in ORDER {
            let of_group = |case: &&Case| {
                belongs(group, case) && !(needs_rest(group) && is_explained(case, &all))
            };
            let cases: Vec<&Case> = cases.iter().copied().filter(of_group).collect();
            fit(&mut all, group, &cases, (call_s, byte_s));
            used.push((group, cases));
            stand_in(&mut all, &used);
        }
        all.reasons = used.iter().map(|(group, cases)| reason(*group, cases, &all)).collect();
        all.set_names(&published.names);
        all
    }

    /// Demands of operations on names: the largest published rate of one volume is its capability,
    /// because no figure states what limited it.
    fn set_names(&mut self, figures: &[&Figure]) {
        let figures: Vec<Figure> = figures.iter().map(|figure| (*figure).clone()).collect();
        let (mut parameters, mut rows) = (Vec::new(), Vec::new());
        for (kind, parameter) in [
            (VolumeKind::Regular, Parameter::RegularName),
            (VolumeKind::Large, Parameter::LargeName),
            (VolumeKind::Breakthrough, Parameter::BreakthroughName),
        ] {
            let Some((rate, figure)) = most_names(&figures, kind) else { continue };
            self.values[parameter as usize] = 1.0 / rate.get();
            parameters.push((parameter, 1.0 / rate.get()));
            rows.push(figure.row_ref());
        }
        let statement = Statement::NamesPublished { parameters };
        self.reasons.push((Group::Names, Reason { statement, rows }));
    }

    /// The same fit with other intervals.
    pub(crate) fn with_spread(mut self, spread: Spread) -> Parameters {
        for (off, parameter) in self.off.iter_mut().zip(Parameter::ALL) {
            *off = parameter.bounding().map_or(0.0, |bounding| spread.of_rate(bounding));
        }
        self.spread = spread;
        self
    }
}

/// Logarithm of the predicted over the published number.
pub(crate) fn residual(case: &Case, parameters: &Parameters) -> f64 {
    (case.capacity_ops_per_s(parameters) / case.published_ops_per_s()).ln()
}

fn is_explained(case: &Case, parameters: &Parameters) -> bool {
    residual(case, parameters) <= (1.0 + EXPLAINED).ln()
}

/// Whether a group is fitted only to figures that earlier groups do not explain.
fn needs_rest(group: Group) -> bool {
    matches!(group, Group::Guest | Group::LinuxHost | Group::EsxiHost | Group::Endpoint)
}

/// Whether a figure contains information on the group.
fn belongs(group: Group, case: &Case) -> bool {
    let figure = &case.figure;
    let is_esxi = matches!(case.topology.hosts[0].client, Client::Esxi { .. });
    let one_host = figure.hosts == Some(1);
    let one_volume = figure.scope == Scope::Volume && figure.volumes == 1;
    let flows = case.topology.flows(&case.topology.workloads[0]);
    let many_on_one = one_volume && (!one_host || figure.vm.is_none() && !is_esxi);
    match group {
        Group::LinuxFlow => !is_esxi && flows == 1,
        Group::EsxiFlow => is_esxi && flows == 1,
        Group::Regular => many_on_one && flows > 1 && figure.volume == Some(VolumeKind::Regular),
        Group::Large => many_on_one && flows > 1 && figure.volume == Some(VolumeKind::Large),
        Group::Breakthrough => {
            many_on_one && flows > 1 && figure.volume == Some(VolumeKind::Breakthrough)
        }
        Group::LinuxHost => !is_esxi && one_host && flows > 1 && figure.vm.is_some(),
        Group::Guest => is_esxi && one_host && flows > 1 && figure.guests == Some(1),
        Group::EsxiHost => is_esxi && one_host && flows > 1 && figure.guests != Some(1),
        Group::Endpoint => !one_volume && !one_host,
        // Fitted to figures that are no cases: `set_names`.
        Group::Names => false,
    }
}

fn fit(all: &mut Parameters, group: Group, cases: &[&Case], start: (f64, f64)) {
    let own: Vec<Parameter> =
        Parameter::ALL.iter().copied().filter(|one| one.group() == group).collect();
    if cases.is_empty() {
        return;
    }
    let begin: Vec<f64> = own
        .iter()
        .map(|parameter| match parameter.per() {
            Per::Call => start.0,
            Per::Byte => start.1,
            Per::Power => 1.0,
        })
        .collect();
    let with = |values: &[f64]| {
        let mut tried = all.clone();
        for (parameter, value) in own.iter().zip(values) {
            tried.values[*parameter as usize] = *value;
        }
        tried
    };
    let found = minimize_positive(&begin, |values| {
        let tried = with(values);
        cases.iter().map(|case| residual(case, &tried)).collect()
    });
    *all = with(&found);
}

/// Gives groups without figures the parameters of the most similar group with figures; without one
/// they do not limit.
fn stand_in(all: &mut Parameters, used: &[(Group, Vec<&Case>)]) {
    use Parameter as P;
    let has_figures = |group| used.iter().any(|(of, cases)| *of == group && !cases.is_empty());
    let cores = AV36_CORES;
    let power = cores.powf(all.get(P::VcpuPower));
    // A large volume's parameters include its own endpoint, with 8 KiB per read.
    let (call, byte) = (all.get(P::RegularRead), all.get(P::RegularByte));
    let call_only = call / (call + byte * ENDPOINT_BYTES);
    for (parameter, relatives) in [
        (P::EsxiFlow, [(P::FlowRead, 1.0), (P::FlowRead, 1.0)]),
        (P::EsxiFlowByte, [(P::FlowReadByte, 1.0), (P::FlowReadByte, 1.0)]),
        (P::EsxiHost, [(P::Vcpu, power), (P::Vcpu, power)]),
        (P::EsxiHostByte, [(P::VcpuReadByte, cores), (P::VcpuReadByte, cores)]),
        (P::Endpoint, [(P::LargeRead, call_only), (P::BreakthroughRead, call_only)]),
        (P::EndpointByte, [(P::LargeReadPath, 1.0), (P::BreakthroughReadPath, 1.0)]),
        (P::Guest, [(P::Vcpu, power), (P::Vcpu, power)]),
        (P::LargeRead, [(P::BreakthroughRead, 1.0), (P::RegularRead, 1.0)]),
        (P::LargeWrite, [(P::BreakthroughWrite, 1.0), (P::RegularWrite, 1.0)]),
        (P::LargeReadPath, [(P::BreakthroughReadPath, 1.0), (P::RegularReadPath, 1.0)]),
        (P::LargeWritePath, [(P::BreakthroughWritePath, 1.0), (P::RegularWritePath, 1.0)]),
        (P::BreakthroughRead, [(P::LargeRead, 1.0), (P::RegularRead, 1.0)]),
        (P::BreakthroughWrite, [(P::LargeWrite, 1.0), (P::RegularWrite, 1.0)]),
        (P::BreakthroughReadPath, [(P::LargeReadPath, 1.0), (P::RegularReadPath, 1.0)]),
        (P::BreakthroughWritePath, [(P::LargeWritePath, 1.0), (P::RegularWritePath, 1.0)]),
    ] {
        let own = parameter.group();
        let is_fitted = used.iter().all(|(group, _)| *group != own) || has_figures(own);
        let relative = relatives.iter().find(|(other, _)| has_figures(other.group()));
        if let (false, Some((other, share))) = (is_fitted, relative) {
            all.values[parameter as usize] = all.get(*other) / share;
        }
    }
}

/// Median of the published response times of one operation at a time.
fn floor(anchors: &[&Figure]) -> (f64, Reason) {
    let mut times: Vec<(f64, &Figure)> = anchors
        .iter()
        .filter_map(|figure| match figure.value {
            Value::Seconds(s) if figure.protocol == Protocol::Nfsv3 => Some((s, *figure)),
            _ => None,
        })
        .collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return (0.0, Reason::given(Statement::FloorNotPublished));
    };
    let value = times[times.len() / 2].0;
    let statement = Statement::FloorPublished {
        median: Nanos(value * 1e9),
        count: times.len() as u64,
        low: Nanos(first.0 * 1e9),
        high: Nanos(last.0 * 1e9),
    };
    let rows = times.iter().map(|(_, figure)| figure.row_ref()).collect();
    (value, Reason { statement, rows })
}

fn reason(group: Group, cases: &[&Case], all: &Parameters) -> (Group, Reason) {
    let own = Parameter::ALL.iter().copied().filter(|parameter| parameter.group() == group);
    let residuals: Vec<f64> = cases.iter().map(|case| residual(case, all)).collect();
    let statement = Statement::Calibration {
        parameters: own.map(|parameter| (parameter, all.get(parameter))).collect(),
        figures: cases.len() as u64,
        error: (sum_of_squares(&residuals) / cases.len().max(1) as f64).sqrt(),
    };
    let rows = cases.iter().map(|case| case.figure.row_ref()).collect();
    (group, Reason { statement, rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fit_does_not_depend_on_its_start() {
        let figures = cloud::figure::all();
        let cases: Vec<Case> = figures.iter().filter_map(Case::of).collect();
        let published = Published::of(&cases, &figures);
        let one = Parameters::calibrated(&figures);
        let other = Parameters::fitted(&published, 3e-4, 3e-8);
        for parameter in Parameter::ALL {
            let (a, b) = (one.get(*parameter), other.get(*parameter));
            // If another part bounds a figure, the figure is only a lower bound for this part.
            assert!((a / b).ln().abs() < 0.03, "{parameter:?}: {a:e} and {b:e}");
        }
        assert_eq!(one, Parameters::calibrated(&figures), "the same figures, the same bits");
    }

    #[test]
    fn figures_for_validation_change_no_parameter() {
        let figures = cloud::figure::all();
        let kept: Vec<Figure> =
            figures.iter().filter(|f| f.role != Role::Validation).cloned().collect();
        let (all, without) = (Parameters::calibrated(&figures), Parameters::calibrated(&kept));
        assert_eq!((all.values, all.floor_s), (without.values, without.floor_s));
    }

    #[test]
    fn a_kind_of_volume_without_figures_uses_the_most_similar_kind() {
        let mut figures = cloud::figure::all();
        figures.retain(|figure| figure.volume != Some(VolumeKind::Breakthrough));
        let all = Parameters::calibrated(&figures);
        assert_eq!(all.get(Parameter::BreakthroughRead), all.get(Parameter::LargeRead));
    }
}
