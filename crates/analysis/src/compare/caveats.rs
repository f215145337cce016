//! Caveats of a comparison: problems in the measurement of common load points.

use metrics::warning::Warning;

use super::PointComparison;
use super::flaws::FlawKind;
use super::host_use::HostContrast;
use super::side::PointSide;

/// Shares of cached bytes closer than this count as equal.
const SHARE_DIFFERENCE_MAX: f64 = 0.10;

/// A problem of one side in common load points.
#[derive(Clone, Debug, PartialEq)]
pub struct Caveat {
    /// The index of the side in `Comparison::sides`.
    pub side: usize,
    /// Its kind.
    pub kind: FlawKind,
    /// Names of the load points that have it; at least one.
    pub load_points: Vec<String>,
    /// The evidence from the first of them.
    pub observed: CaveatEvidence,
}

/// The evidence of a problem.
#[derive(Clone, Debug, PartialEq)]
pub enum CaveatEvidence {
    /// A warning about the measurement itself.
    Warning(Warning),
    /// Host states that differ between the sides.
    Host(HostContrast),
}

/// Caveats about common load points; `sides` are the indices of the sides.
pub(super) fn of_points(
    sides: (usize, usize),
    matched: &[(&PointSide, &PointSide)],
) -> Vec<Caveat> {
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
                        observed: CaveatEvidence::Warning(flaw.warning.clone()),
                    }),
                }
            }
        }
    }
    found.sort_by_key(|caveat| (caveat.side, caveat.kind));
    found
}

/// A caveat about the side with index `other`, with the load points whose host state differed from
/// the first side's.
pub(super) fn host_differs(other: usize, points: &[PointComparison]) -> Option<Caveat> {
    let apart: Vec<(&PointComparison, &HostContrast)> =
        points.iter().filter_map(|point| Some((point, point.host.as_ref()?))).collect();
    let (_, first) = apart.first()?;
    Some(Caveat {
        side: other,
        kind: FlawKind::HostDiffers,
        load_points: apart.iter().map(|(point, _)| point.name.clone()).collect(),
        observed: CaveatEvidence::Host(**first),
    })
}

/// If the cached shares of the sides differ: both shares as text, and the number of such load
/// points.
pub(super) fn cached_apart(
    matched: &[(&PointSide, &PointSide)],
) -> Option<(String, String, usize)> {
    let share = |point: &PointSide| point.cached_share.unwrap_or(0.0);
    let apart =
        |(a, b): &&(&PointSide, &PointSide)| (share(a) - share(b)).abs() > SHARE_DIFFERENCE_MAX;
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
