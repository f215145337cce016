//! Problems in the measurement of a load point that matter for comparisons.

use metrics::fleet::FleetHost;
use metrics::run_record::RunRecord;
use metrics::warning::Warning;

use crate::fleet;
use crate::overload;
use crate::steadiness;
use crate::wire::{RunWire, WireCheck};

/// Kinds of problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlawKind {
    /// The offered rate exceeded the achieved rate, so response times depend on the length of the
    /// window.
    Overloaded,
    /// Not in steady state, so means depend on the position of the window.
    NotSteady,
    /// A client's cache served reads or absorbed writes.
    Cached,
    /// The host state differed from that of the other side.
    HostDiffers,
    /// Hosts were lost while the others continued, so totals are those of fewer hosts.
    HostsLost,
}

impl FlawKind {
    /// All of them.
    pub const ALL: [FlawKind; 5] = [
        FlawKind::Overloaded,
        FlawKind::NotSteady,
        FlawKind::Cached,
        FlawKind::HostDiffers,
        FlawKind::HostsLost,
    ];

    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            FlawKind::Overloaded => "overloaded",
            FlawKind::NotSteady => "not_steady",
            FlawKind::Cached => "cached",
            FlawKind::HostDiffers => "host_differs",
            FlawKind::HostsLost => "hosts_lost",
        }
    }
}

/// A problem in a load point's measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Flaw {
    /// Its kind.
    pub kind: FlawKind,
    /// The warning of the first repeat that shows it.
    pub warning: Warning,
}

/// The flaws of a load point, one of each kind.
///
/// * `wires` - the counters of each run
/// * `hosts` - those of the experiment
pub(super) fn of_records(
    records: &[&RunRecord],
    wires: &[Vec<RunWire>],
    hosts: &[FleetHost],
) -> Vec<Flaw> {
    let mut flaws: Vec<Flaw> = Vec::new();
    for (record, wires) in records.iter().zip(wires) {
        let lost = fleet::hosts_lost(record, hosts);
        let lost = lost.map(|warning| (FlawKind::HostsLost, warning));
        for (kind, warning) in warnings(record, wires).into_iter().chain(lost) {
            if flaws.iter().all(|known| known.kind != kind) {
                flaws.push(Flaw { kind, warning });
            }
        }
    }
    flaws.sort_by_key(|flaw| flaw.kind);
    flaws
}

fn warnings(record: &RunRecord, wires: &[RunWire]) -> Vec<(FlawKind, Warning)> {
    let mut found = Vec::new();
    for (index, stream) in steadiness::of_run(record).into_iter().enumerate() {
        match overload::of_run(record, index) {
            Some((overload, backlog)) => found.push((
                FlawKind::Overloaded,
                Warning::Overloaded {
                    offered_rate: overload.offered_rate.get(),
                    achieved_rate: overload.achieved_rate.get(),
                    backlog,
                },
            )),
            None => {
                let planned = &record.run.streams[index];
                let warnings = stream.warnings(planned.arrival.is_open());
                let moves = |warning: &Warning| {
                    matches!(
                        warning,
                        Warning::NotSteady { .. }
                            | Warning::RoundsDiffer { .. }
                            | Warning::WarmUpTooShort { .. }
                    )
                };
                let moving = warnings.into_iter().filter(moves);
                found.extend(moving.map(|warning| (FlawKind::NotSteady, warning)));
            }
        }
    }
    let cached = wires.iter().flat_map(RunWire::warnings);
    found.extend(cached.map(|warning| (FlawKind::Cached, warning)));
    found
}

/// The largest share of a load point's bytes, read or written, served by a cache of all hosts or of one of
/// them, 0 to 1; `None` without counters.
///
/// * `wires` - the counters of each run
pub(super) fn cached_share(wires: &[Vec<RunWire>]) -> Option<f64> {
    let believed = wires.iter().flatten().filter_map(RunWire::believed);
    believed.map(WireCheck::cached_share).reduce(f64::max)
}
