//! The hosts of a fleet as JSON: how they started, when all measured, and which facts differ.

use analysis::common_window::CommonWindow;
use analysis::fleet::{FactDifference, FleetFindings};
use schemars::JsonSchema;
use serde::Serialize;

/// The hosts that measured together.
#[derive(Serialize, JsonSchema)]
pub(super) struct FleetJson<'a> {
    /// Their names.
    hosts: &'a [String],
    /// Between the first and the last start of a run, the longest of all runs; null if it is not known.
    start_spread_ns: Option<u64>,
    /// The spread is at most this much longer or shorter.
    start_spread_error_ns: Option<u64>,
    /// The host that started last in that run.
    last_started: Option<&'a str>,
    /// When all hosts measured together; null if it is not known, and for one host.
    window: Option<CommonWindowJson>,
    /// Facts that differ between the hosts.
    differences: Vec<FactDifferenceJson<'a>>,
}

/// When all hosts measured together. Times are from the start of a run.
#[derive(Serialize, JsonSchema)]
pub(super) struct CommonWindowJson {
    /// Runs of several hosts.
    runs: u32,
    /// Those in which not all hosts measured at the same time.
    runs_without: u32,
    /// The last host started, the latest of the other runs; null if there are none.
    from_ns: Option<u64>,
    /// The first host ended or was lost, the earliest of the other runs; at most the planned end.
    to_ns: Option<u64>,
    /// What totals cover, from the earliest of all runs; null without an interval.
    totals_from_ns: Option<u64>,
    /// What totals cover, to the latest of all runs; null without an interval.
    totals_to_ns: Option<u64>,
    /// Runs whose totals include time in which not all hosts measured.
    runs_beyond: u32,
}

/// A fact that differs between hosts.
#[derive(Serialize, JsonSchema)]
pub(super) struct FactDifferenceJson<'a> {
    /// The fact's name.
    name: &'a str,
    /// Its values, that of most hosts first.
    values: Vec<HostsWithValueJson<'a>>,
}

/// A value of a fact and the hosts that have it.
#[derive(Serialize, JsonSchema)]
pub(super) struct HostsWithValueJson<'a> {
    /// The value as text; null for hosts without the fact.
    value: Option<&'a str>,
    /// The names of the hosts.
    hosts: &'a [String],
}

pub(super) fn fleet(fleet: &FleetFindings) -> FleetJson<'_> {
    let spread = fleet.start_spread.as_ref();
    let last = spread.and_then(|spread| fleet.hosts.get(spread.last));
    FleetJson {
        hosts: &fleet.hosts,
        start_spread_ns: spread.map(|spread| spread.spread_ns),
        start_spread_error_ns: spread.map(|spread| spread.error_ns),
        last_started: last.map(String::as_str),
        window: fleet.window.map(window),
        differences: fleet.differences.iter().map(difference).collect(),
    }
}

fn window(window: CommonWindow) -> CommonWindowJson {
    CommonWindowJson {
        runs: window.runs,
        runs_without: window.runs_without,
        from_ns: window.span_ns.map(|(from_ns, _)| from_ns),
        to_ns: window.span_ns.map(|(_, to_ns)| to_ns),
        totals_from_ns: window.totals_ns.map(|(from_ns, _)| from_ns),
        totals_to_ns: window.totals_ns.map(|(_, to_ns)| to_ns),
        runs_beyond: window.runs_beyond,
    }
}

fn difference(one: &FactDifference) -> FactDifferenceJson<'_> {
    let values = one.values.iter();
    let values = values.map(|(value, hosts)| HostsWithValueJson { value: value.as_deref(), hosts });
    FactDifferenceJson { name: &one.name, values: values.collect() }
}
