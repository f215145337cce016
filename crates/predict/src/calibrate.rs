//! Parameters from published figures.
//!
//! For: the one way from `data/published.toml` to the numbers of the model. Parts are fitted one
//! after the other, the nearest to the client first: a connection from what one connection was seen
//! to do, volumes from many hosts on one volume, hosts from one host with many connections,
//! endpoints from many volumes. A figure that the parts before it explain says nothing of the part
//! behind them and is left out there. Only figures for calibration are looked at.

use cloud::figure::{Figure, Protocol, Role, Scope, Value};
use cloud::reason::Reason;
use cloud::service_level::VolumeKind;
use units::Nanos;

use crate::fit::{least_squares, squares};
use crate::interval::Interval;
use crate::of_figure::Case;
use crate::parameters::{Group, Parameter, Parameters, Per};
use crate::topology::Client;

/// A figure that is missed by no more is explained.
const EXPLAINED: f64 = 0.2;
/// Where searches begin, on the slow side of everything seen, so that every parameter is felt at
/// first: they end at the same numbers from others.
const START_CALL_S: f64 = 1e-3;
/// The same for a byte.
const START_BYTE_S: f64 = 1e-7;

/// Groups in the order in which they are fitted.
const ORDER: [Group; 8] = [
    Group::LinuxFlow,
    Group::EsxiFlow,
    Group::Regular,
    Group::Large,
    Group::LinuxHost,
    Group::EsxiHost,
    Group::Guest,
    Group::Endpoint,
];

impl Parameters {
    /// The parameters that published figures give; figures that are not for calibration are not
    /// looked at.
    pub fn calibrated(figures: &[Figure]) -> Parameters {
        Parameters::calibrated_from(figures, START_CALL_S, START_BYTE_S)
    }

    pub(crate) fn calibrated_from(figures: &[Figure], call_s: f64, byte_s: f64) -> Parameters {
        let cases: Vec<Case> = figures
            .iter()
            .filter(|figure| figure.role == Role::Calibration && figure.outstanding.is_none())
            .filter_map(Case::of)
            .collect();
        let (floor_s, floor_reason) = floor(figures);
        let mut all = Parameters { floor_s, floor_reason, ..Parameters::unbounded() };
        let mut used: Vec<(Group, Vec<&Case>)> = Vec::new();
        for group in ORDER {
            let of_group = |case: &&Case| {
                belongs(group, case) && !(needs_rest(group) && is_explained(case, &all))
            };
            let cases: Vec<&Case> = cases.iter().filter(of_group).collect();
            fit(&mut all, group, &cases, (call_s, byte_s));
            used.push((group, cases));
        }
        let off = crate::doubt::off(&all, &used);
        for (place, parameter) in Parameter::ALL.iter().enumerate() {
            let of = off.iter().find(|(group, _)| *group == parameter.group());
            all.off[place] = of.map_or(0.0, |(_, off)| *off);
        }
        all.reasons = used.iter().map(|(group, cases)| reason(*group, cases, &all)).collect();
        all
    }
}

/// Logarithm of what the model says over what was published.
pub(crate) fn residual(case: &Case, parameters: &Parameters) -> f64 {
    (case.capacity_ops_per_s(parameters) / case.published_ops_per_s()).ln()
}

fn is_explained(case: &Case, parameters: &Parameters) -> bool {
    residual(case, parameters) <= (1.0 + EXPLAINED).ln()
}

/// Whether a group explains only what groups before it leave over.
fn needs_rest(group: Group) -> bool {
    matches!(group, Group::Guest | Group::LinuxHost | Group::EsxiHost | Group::Endpoint)
}

/// Whether what a figure was measured on shows the group.
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
        Group::LinuxHost => !is_esxi && one_host && flows > 1 && figure.vm.is_some(),
        Group::Guest => is_esxi && one_host && flows > 1 && figure.guests == Some(1),
        Group::EsxiHost => is_esxi && one_host && flows > 1 && figure.guests != Some(1),
        Group::Endpoint => !one_volume && !one_host,
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
        })
        .collect();
    let with = |values: &[f64]| {
        let mut tried = all.clone();
        for (parameter, value) in own.iter().zip(values) {
            tried.values[*parameter as usize] = *value;
        }
        tried
    };
    let found = least_squares(&begin, |values| {
        let tried = with(values);
        cases.iter().map(|case| residual(case, &tried)).collect()
    });
    *all = with(&found);
}

/// The middle of the published response times of one operation at a time, and their range.
fn floor(figures: &[Figure]) -> (Interval, Reason) {
    let anchors = figures.iter().filter(|figure| figure.role == Role::Anchor);
    let mut times: Vec<(f64, &Figure)> = anchors
        .filter_map(|figure| match figure.value {
            Value::Seconds(s) if figure.protocol == Protocol::Nfsv3 => Some((s, figure)),
            _ => None,
        })
        .collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return (Interval::exactly(0.0), Reason::asked("no response time is published"));
    };
    let value = times[times.len() / 2].0;
    let text = format!(
        "one operation at a time takes {}, the middle of {} published values from {} to {}",
        Nanos(value * 1e9),
        times.len(),
        Nanos(first.0 * 1e9),
        Nanos(last.0 * 1e9)
    );
    let rows = times.iter().map(|(_, figure)| figure.row_ref());
    (Interval { low: first.0, value, high: last.0 }, Reason::from_rows(text, rows))
}

fn reason(group: Group, cases: &[&Case], all: &Parameters) -> (Group, Reason) {
    let numbers: Vec<String> = Parameter::ALL
        .iter()
        .filter(|parameter| parameter.group() == group)
        .map(|parameter| {
            let value = all.get(*parameter);
            match parameter.per() {
                Per::Call => format!("{}: {:.2} us", parameter.words(), value * 1e6),
                Per::Byte => {
                    format!("{}: {:.3} ns", parameter.words(), value * 1e9)
                }
            }
        })
        .collect();
    let rms = (squares(&cases.iter().map(|case| residual(case, all)).collect::<Vec<_>>())
        / cases.len().max(1) as f64)
        .sqrt();
    let text = format!(
        "{}; fitted to {} published figures, which it meets within {:.0} % (root mean square)",
        numbers.join(", "),
        cases.len(),
        100.0 * rms
    );
    (group, Reason::from_rows(text, cases.iter().map(|case| case.figure.row_ref())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fit_does_not_depend_on_where_it_begins() {
        let figures = cloud::figure::all();
        let one = Parameters::calibrated(&figures);
        let other = Parameters::calibrated_from(&figures, 3e-4, 3e-8);
        for parameter in Parameter::ALL {
            let (a, b) = (one.get(*parameter), other.get(*parameter));
            // Where another part bounds a figure first, it says only that this one is faster.
            assert!((a / b).ln().abs() < 0.03, "{parameter:?}: {a:e} and {b:e}");
        }
        assert_eq!(one, Parameters::calibrated(&figures), "the same figures, the same bits");
    }

    #[test]
    fn figures_for_validation_change_nothing() {
        let figures = cloud::figure::all();
        let kept: Vec<Figure> =
            figures.iter().filter(|f| f.role != Role::Validation).cloned().collect();
        assert_eq!(Parameters::calibrated(&figures), Parameters::calibrated(&kept));
    }
}
