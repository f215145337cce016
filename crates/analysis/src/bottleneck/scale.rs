//! The experiment that tells explanations apart: the change of circumstances for which they predict
//! different ceilings.

use super::groups::{Group, State};
use super::predict::{self, Ratio};
use super::{Candidate, Experiment, Limit};

/// Predicted ceilings farther apart than this, as a logarithm, are told apart by a measurement.
const APART_MIN: f64 = 0.25;
/// Candidates less probable than this are not worth an experiment.
const WORTH_MIN: f64 = 0.03;

/// A change of circumstances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// More outstanding operations.
    Deeper,
    /// Four times the connections.
    Connections,
    /// Eight times or an eighth of the transfer size.
    TransferSize,
    /// Reads for writes.
    Direction,
    /// Twice the workers.
    Workers,
    /// Twice the volumes.
    Volumes,
}

impl Change {
    /// In the order of what they cost the user.
    pub(crate) const ALL: [Change; 5] = [
        Change::Connections,
        Change::TransferSize,
        Change::Workers,
        Change::Direction,
        Change::Volumes,
    ];

    /// The same group under changed circumstances.
    pub(crate) fn of(self, group: &Group) -> Group {
        let mut changed = group.clone();
        let work = &mut changed.work;
        match self {
            Change::Deeper => {}
            Change::Connections => {
                work.connections = Some(4 * work.connections.unwrap_or(1).max(1));
            }
            Change::TransferSize => {
                work.transfer_bytes = other_size(work.transfer_bytes);
            }
            Change::Workers => work.workers *= 2,
            Change::Direction => work.read_share = if work.read_share < 0.5 { 1.0 } else { 0.0 },
            Change::Volumes => work.volumes *= 2,
        }
        changed
    }
}

/// A size that is far enough from `bytes`.
pub(crate) fn other_size(bytes: f64) -> f64 {
    if bytes >= 32768.0 { bytes / 8.0 } else { bytes * 8.0 }
}

/// The first change for which two probable explanations predict different ceilings.
pub(crate) fn telling(group: &Group, candidates: &[Candidate]) -> Option<Change> {
    let resources = candidates
        .iter()
        .filter(|c| c.probability >= WORTH_MIN && Limit::RESOURCES.contains(&c.limit));
    let limits: Vec<Limit> = resources.map(|candidate| candidate.limit).collect();
    if group.state != State::Flat {
        return Some(Change::Deeper);
    }
    let (first, rest) = limits.split_first()?;
    Change::ALL.into_iter().find(|change| {
        let changed = change.of(group);
        let spans = |limit: Limit| span(limit, group, &changed);
        rest.iter().any(|other| match (spans(*first), spans(*other)) {
            (Some(a), Some(b)) => a.0 > b.1 + APART_MIN || b.0 > a.1 + APART_MIN,
            _ => false,
        })
    })
}

/// The least and the most that an explanation predicts of the ceiling's change.
fn span(limit: Limit, group: &Group, changed: &Group) -> Option<(f64, f64)> {
    let ratios = predict::ratios(limit, group, changed, f64::INFINITY)?;
    let ends = |ratio: &Ratio| match *ratio {
        Ratio::Exactly(ratio) => (ratio, ratio),
        Ratio::Between(least, most) => (least, most),
        Ratio::Any => (f64::NEG_INFINITY, f64::INFINITY),
    };
    // The first form is the most probable.
    ratios.first().map(ends)
}

/// The change as a command and a reason.
pub(crate) fn experiment(
    group: &Group,
    candidates: &[Candidate],
    own_client: bool,
) -> Option<Experiment> {
    let change = telling(group, candidates)?;
    let depth = (group.last().depth * 4.0).min(4096.0) as u64;
    let (why, arguments) = match change {
        Change::Deeper => (
            "The rate is not flat yet: more outstanding operations show where it ends.".to_owned(),
            format!("--set queue_depth={}", (depth / u64::from(group.work.workers.max(1))).max(1)),
        ),
        Change::Connections if !own_client => (
            "More connections raise what each of them limits, and nothing else. The number of a \
             mount is set when it is mounted: mount it anew with `nconnect=8`, or measure the \
             export itself (`nfs://SERVER/EXPORT?nconnect=8`)."
                .to_owned(),
            String::new(),
        ),
        Change::Connections => (
            "More connections raise what each of them limits, and nothing else.".to_owned(),
            "--set run.nconnect=1,4,16".to_owned(),
        ),
        Change::TransferSize => (
            "A limit on bytes stays where it is when transfers change their size; a limit on \
             operations does not."
                .to_owned(),
            format!(
                "--set transfer_size={},{}",
                group.work.transfer_bytes.round(),
                other_size(group.work.transfer_bytes).round()
            ),
        ),
        Change::Workers => (
            "More workers raise what one processor of this host limits, and nothing else."
                .to_owned(),
            format!("--set workers={},{}", group.work.workers, 2 * group.work.workers),
        ),
        Change::Direction => (
            "A volume's limit counts reads and writes together, a link each direction for itself, \
             and a VM's egress limit writes only."
                .to_owned(),
            "--set read=0%,50%,100%".to_owned(),
        ),
        Change::Volumes => (
            "A second volume at the same address raises the volumes' limits, and leaves the \
             address's: run the same on both at the same time, and add the rates."
                .to_owned(),
            String::new(),
        ),
    };
    Some(Experiment { why, arguments })
}
