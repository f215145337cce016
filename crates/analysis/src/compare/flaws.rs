//! What was wrong with the measurement of a load point: whoever compares it must know, and where a
//! cache of this host answered for one side only, the two were not asked the same.

use metrics::run_record::RunRecord;
use metrics::warning::Warning;

use super::PointComparison;
use super::host_use::HostContrast;
use super::side::PointSide;
use crate::overload;
use crate::steadiness;
use crate::wire::{self, HostCache, WireCheck};

/// Shares of bytes from a cache that lie closer together are the same circumstances.
const SHARE_APART: f64 = 0.10;

/// A way in which a measurement falls short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlawKind {
    /// More was offered than was taken, so that times depend on how long was measured.
    Overloaded,
    /// The window did not stand still, so that means depend on when it was.
    NotSteady,
    /// A cache of this host answered reads, or kept writes.
    Cached,
    /// The host was in another state than during the other side's runs.
    HostDiffers,
}

impl FlawKind {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            FlawKind::Overloaded => "overloaded",
            FlawKind::NotSteady => "not_steady",
            FlawKind::Cached => "cached",
            FlawKind::HostDiffers => "host_differs",
        }
    }
}

/// What was wrong with a load point's measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Flaw {
    /// What kind.
    pub kind: FlawKind,
    /// What was seen, with its numbers, in the first repeat that shows it.
    pub seen: String,
}

/// A flaw of one side in load points that both have.
#[derive(Clone, Debug, PartialEq)]
pub struct Caveat {
    /// The side, as a place in `Comparison::sides`.
    pub side: usize,
    /// What kind.
    pub kind: FlawKind,
    /// The load points that have it, in words; at least one.
    pub load_points: Vec<String>,
    /// What was seen in the first of them.
    pub seen: String,
}

/// The flaws of a load point, one of each kind.
pub(super) fn of_records(records: &[&RunRecord], cache: HostCache) -> Vec<Flaw> {
    let mut flaws: Vec<Flaw> = Vec::new();
    for record in records {
        for (kind, warning) in warnings(record, cache) {
            if flaws.iter().all(|known| known.kind != kind) {
                flaws.push(Flaw { kind, seen: warning.explain().seen });
            }
        }
    }
    flaws.sort_by_key(|flaw| flaw.kind);
    flaws
}

fn warnings(record: &RunRecord, cache: HostCache) -> Vec<(FlawKind, Warning)> {
    let mut found = Vec::new();
    for (place, stream) in steadiness::of_run(record).into_iter().enumerate() {
        match overload::of_run(record, place) {
            Some((overload, backlog)) => found.push((
                FlawKind::Overloaded,
                Warning::Overloaded {
                    offered_rate: overload.offered_rate,
                    achieved_rate: overload.achieved_rate,
                    backlog,
                },
            )),
            None => {
                let planned = &record.run.streams[place];
                let warnings = stream.warnings(planned.arrival.offered_rate().is_some());
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
    let cached = wire::of_run(record, cache).map_or_else(Vec::new, |run| run.warnings());
    found.extend(cached.into_iter().map(|warning| (FlawKind::Cached, warning)));
    found
}

/// The largest share of a load point's bytes, reads or writes, that a cache of this host answered,
/// 0 to 1; `None` where nobody counted.
pub(super) fn cached_share(records: &[&RunRecord], cache: HostCache) -> Option<f64> {
    let runs = records.iter().filter_map(|record| wire::of_run(record, cache));
    runs.filter_map(|run| run.believed().map(WireCheck::cached_share)).reduce(f64::max)
}

/// Caveats of the load points that both sides have: `sides` are their places.
pub(super) fn caveats(sides: (usize, usize), matched: &[(&PointSide, &PointSide)]) -> Vec<Caveat> {
    let mut found: Vec<Caveat> = Vec::new();
    for (a, b) in matched {
        for (side, point) in [(sides.0, a), (sides.1, b)] {
            for flaw in &point.flaws {
                let same = |known: &&mut Caveat| known.side == side && known.kind == flaw.kind;
                match found.iter_mut().find(same) {
                    Some(known) => known.load_points.push(point.in_words()),
                    None => found.push(Caveat {
                        side,
                        kind: flaw.kind,
                        load_points: vec![point.in_words()],
                        seen: flaw.seen.clone(),
                    }),
                }
            }
        }
    }
    found.sort_by_key(|caveat| (caveat.side, caveat.kind));
    found
}

/// The load points during which the host was in another state than during the first side's, as a
/// caveat of the side at place `other`.
pub(super) fn host_differs(other: usize, points: &[PointComparison]) -> Option<Caveat> {
    let apart: Vec<(&PointComparison, &HostContrast)> =
        points.iter().filter_map(|point| Some((point, point.host.as_ref()?))).collect();
    let (_, first) = apart.first()?;
    Some(Caveat {
        side: other,
        kind: FlawKind::HostDiffers,
        load_points: apart.iter().map(|(point, _)| point.name.clone()).collect(),
        seen: first.in_words(),
    })
}

/// Where a cache answered for the two sides to different shares: those of both in words, and the
/// number of such load points.
pub(super) fn cached_apart(
    matched: &[(&PointSide, &PointSide)],
) -> Option<(String, String, usize)> {
    let share = |point: &PointSide| point.cached_share.unwrap_or(0.0);
    let apart = |(a, b): &&(&PointSide, &PointSide)| (share(a) - share(b)).abs() > SHARE_APART;
    let apart: Vec<&(&PointSide, &PointSide)> = matched.iter().filter(apart).collect();
    let first: Vec<Option<f64>> = apart.iter().map(|(a, _)| a.cached_share).collect();
    let second: Vec<Option<f64>> = apart.iter().map(|(_, b)| b.cached_share).collect();
    (!apart.is_empty()).then(|| (in_words(&first), in_words(&second), apart.len()))
}

/// `97 %`, `12 to 97 %`, `none`, `not known`.
fn in_words(shares: &[Option<f64>]) -> String {
    let known: Vec<f64> = shares.iter().copied().flatten().map(|share| 100.0 * share).collect();
    let (low, high) = (
        known.iter().copied().fold(f64::INFINITY, f64::min),
        known.iter().copied().fold(0.0, f64::max),
    );
    match (known.is_empty(), high - low < 0.5) {
        (true, _) => "not known".to_owned(),
        (false, _) if high == 0.0 => "none".to_owned(),
        (false, true) => format!("{high:.0} %"),
        (false, false) => format!("{low:.0} to {high:.0} %"),
    }
}
