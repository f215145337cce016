//! The experiment that tells explanations apart: the change of circumstances for which they predict
//! different ceilings.

use super::groups::{Group, State};
use super::predict::{self, Ratio};
use super::{Candidate, Experiment, Limit};
use crate::work::Order;

/// Predicted ceilings farther apart than this, as a logarithm, are told apart by a measurement.
const APART_MIN: f64 = 0.25;
/// Candidates less probable than this are not worth an experiment.
const WORTH_MIN: f64 = 0.03;

/// How far a ceiling may change of which nothing is predicted, as a logarithm.
const ANY: f64 = 4.0;

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
    /// As many reads as writes.
    Mix,
    /// One place after the other for places at random, or the other way round.
    Order,
    /// Twice the workers.
    Workers,
    /// Twice the volumes.
    Volumes,
}

impl Change {
    /// In the order of what they cost the user.
    pub(crate) const ALL: [Change; 7] = [
        Change::Connections,
        Change::TransferSize,
        Change::Order,
        Change::Workers,
        Change::Mix,
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
            Change::Mix => work.read_share = 0.5,
            Change::Order => {
                work.order = match work.order {
                    Order::Sequential => Order::Random,
                    Order::Random | Order::Both => Order::Sequential,
                }
            }
            Change::Workers => work.workers *= 2,
            Change::Direction => work.read_share = if work.read_share < 0.5 { 1.0 } else { 0.0 },
            Change::Volumes => work.volumes *= 2,
        }
        changed
    }
}

/// A size that is far enough from `bytes`: in whole blocks where it is, else in whole sectors.
pub(crate) fn other_size(bytes: f64) -> f64 {
    if bytes < 32768.0 {
        return bytes * 8.0;
    }
    let unit = if bytes % BLOCK_BYTES == 0.0 { BLOCK_BYTES } else { SECTOR_BYTES };
    (bytes / 8.0 / unit).round().max(1.0) * unit
}

const BLOCK_BYTES: f64 = 4096.0;
const SECTOR_BYTES: f64 = 512.0;

/// The first change for which two probable explanations predict different ceilings.
pub(crate) fn telling(group: &Group, candidates: &[Candidate]) -> Option<Change> {
    if group.state != State::Flat {
        return Some(Change::Deeper);
    }
    tellings(group, candidates).into_iter().next()
}

/// The changes for which the most probable explanation and another predict different ceilings.
pub(crate) fn tellings(group: &Group, candidates: &[Candidate]) -> Vec<Change> {
    let resources = candidates
        .iter()
        .filter(|c| c.probability >= WORTH_MIN && Limit::RESOURCES.contains(&c.limit));
    let limits: Vec<Limit> = resources.map(|candidate| candidate.limit).collect();
    let Some((first, rest)) = limits.split_first() else { return Vec::new() };
    let tells = |change: &Change| {
        let changed = change.of(group);
        let spans = |limit: Limit| span(limit, group, &changed);
        rest.iter().any(|other| match (spans(*first), spans(*other)) {
            (Some(a), Some(b)) => (a.0 - b.0).abs().max((a.1 - b.1).abs()) > APART_MIN,
            _ => false,
        })
    };
    Change::ALL.into_iter().filter(tells).collect()
}

/// The least and the most that an explanation predicts of the ceiling's change.
fn span(limit: Limit, group: &Group, changed: &Group) -> Option<(f64, f64)> {
    let ratios = predict::ratios(limit, group, changed, f64::INFINITY)?;
    let ends = |ratio: &Ratio| match *ratio {
        Ratio::Exactly(ratio) => (ratio, ratio),
        Ratio::Between(least, most) => (least, most),
        Ratio::Any => (-ANY, ANY),
    };
    let hull = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
    ratios.iter().map(ends).reduce(hull)
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
        Change::Order => (
            "A limit does not see in which order places are touched; the storage does.".to_owned(),
            "--set pattern=sequential,random".to_owned(),
        ),
        Change::Workers => (
            "More workers raise what one processor of this host limits, and nothing else."
                .to_owned(),
            format!("--set workers={},{}", group.work.workers, 2 * group.work.workers),
        ),
        Change::Mix | Change::Direction => (
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
