//! The most informative experiment: the change of circumstances under which probable hypotheses
//! predict different ceilings.

use super::hypothesis::{self, HYPOTHESES, Hypothesis, Ratio};
use super::known::Known;
use super::likelihood::{self, Circumstances};
use super::series::Series;
use super::{Limit, Weighed};
use crate::curve::plateau::{Inconclusive, State};
use crate::workload_signature::WorkloadSignature;

/// Least expected rise of the true limit's probability that makes an experiment worthwhile.
const WORTH_MIN: f64 = 0.008;
/// Assumed relative standard error of a future measurement of a ceiling.
const ERROR: f64 = 0.01;
/// Range of outcomes without a prediction, as logarithms of the ratio.
const ANY: [f64; 3] = [-1.0, 0.0, 0.7];

/// What to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Four times the connections.
    Connections,
    /// Larger transfers.
    LargerTransfers,
    /// Smaller transfers.
    SmallerTransfers,
    /// Reads for writes.
    Direction,
    /// As many reads as writes.
    Mix,
    /// Sequential access for random access, or the other way round.
    Order,
    /// Twice the workers.
    Workers,
    /// Fewer volumes with the same workers; of a single volume, twice as many at the same endpoint.
    Volumes,
    /// Fewer hosts with the same workers.
    Hosts,
}

/// A recommended next measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Experiment {
    /// More load: up to this number of outstanding operations.
    MoreLoad {
        /// Operations outstanding.
        queue_depth: u64,
        /// Workers that issue them.
        workers: u32,
    },
    /// Longer runs and more repeats, to narrow the intervals.
    Repeat,
    /// This change, to compare the ceilings.
    Change {
        /// What to change.
        change: Change,
        /// Present transfer size, in bytes.
        transfer_size: u64,
        /// Present workers.
        workers: u32,
        /// Present volumes.
        volumes: u32,
        /// Present hosts.
        hosts: u32,
        /// Whether this program can set the number of connections.
        own_client: bool,
    },
}

impl Change {
    /// In order of their cost to the user.
    pub(crate) const ALL: [Change; 9] = [
        Change::Connections,
        Change::LargerTransfers,
        Change::SmallerTransfers,
        Change::Order,
        Change::Workers,
        Change::Mix,
        Change::Direction,
        Change::Volumes,
        Change::Hosts,
    ];

    /// Whether it changes how reads and writes transfer data, which operations on names do not follow.
    const fn is_of_transfers(self) -> bool {
        matches!(
            self,
            Change::LargerTransfers
                | Change::SmallerTransfers
                | Change::Order
                | Change::Mix
                | Change::Direction
        )
    }

    /// The same series under changed circumstances, without measurements.
    pub(crate) fn of(self, series: &Series) -> Series {
        let mut changed = series.clone();
        let work = &mut changed.signature;
        match self {
            Change::Connections => {
                work.connections = Some(4 * work.connections.unwrap_or(1).max(1));
            }
            Change::LargerTransfers => work.transfer_bytes = larger(work.transfer_bytes),
            Change::SmallerTransfers => work.transfer_bytes = smaller(work.transfer_bytes),
            Change::Mix => work.read_share = 0.5,
            Change::Order => work.order = hypothesis::other_order(work.order),
            Change::Workers => {
                work.workers *= 2;
                // Each worker needs its own connection.
                work.connections = work.connections.map(|count| count.max(work.workers));
            }
            Change::Direction => work.read_share = if work.read_share < 0.5 { 1.0 } else { 0.0 },
            Change::Volumes => change_volumes(work),
            Change::Hosts => work.hosts = fewer(work.hosts).unwrap_or(work.hosts),
        }
        changed
    }
}

/// Fewer volumes, which are the first ones; of a single volume, twice as many.
fn change_volumes(work: &mut WorkloadSignature) {
    let Some(volumes) = fewer(work.volumes) else {
        work.volumes *= 2;
        return;
    };
    // Volumes share one address, or each has its own, or it is unknown.
    work.addresses = match work.addresses {
        Some(1) => Some(1),
        Some(all) if all == work.volumes => Some(volumes),
        _ => None,
    };
    work.volumes = volumes;
    work.targets.truncate(volumes as usize);
}

/// The largest smaller number of hosts or targets that can have as many workers together.
pub fn fewer(count: u32) -> Option<u32> {
    (1..count).rev().find(|few| count.is_multiple_of(*few))
}

/// Four or eight times the size: at least 64 KiB.
pub(crate) fn larger(bytes: f64) -> f64 {
    if bytes < 32768.0 { bytes * 8.0 } else { bytes * 4.0 }
}

/// An eighth of the size, in whole blocks if the size is, otherwise in whole sectors.
pub(crate) fn smaller(bytes: f64) -> f64 {
    let unit = if bytes % BLOCK_BYTES == 0.0 { BLOCK_BYTES } else { SECTOR_BYTES };
    (bytes / 8.0 / unit).round().max(1.0) * unit
}

const BLOCK_BYTES: f64 = 4096.0;
const SECTOR_BYTES: f64 = 512.0;

/// The worthwhile changes, the most informative first.
pub(crate) fn telling(series: &Series, weighed: &Weighed, known: &Known) -> Vec<Change> {
    let mut found: Vec<(Change, f64)> = Change::ALL
        .into_iter()
        .map(|change| (change, worth(change, series, weighed, known)))
        .filter(|(_, worth)| *worth >= WORTH_MIN)
        .collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found.into_iter().map(|(change, _)| change).collect()
}

/// Expected rise of the true limit's probability from this measurement.
fn worth(change: Change, series: &Series, weighed: &Weighed, known: &Known) -> f64 {
    if series.signature.on_names && change.is_of_transfers() {
        return 0.0;
    }
    let changed = change.of(series);
    if likelihood::differences(series, &changed).is_empty() {
        return 0.0;
    }
    let circumstances = Circumstances::of(series, &changed, known);
    let ratios: Vec<Ratio> = HYPOTHESES.iter().map(|one| circumstances.ratio(one)).collect();
    let mut worth = 0.0;
    for (hypothesis, (probability, ratio)) in
        HYPOTHESES.iter().zip(weighed.posterior.iter().zip(&ratios))
    {
        for (outcome, share) in outcomes(*ratio, &circumstances) {
            let right = right_after(outcome, hypothesis.limit, &ratios, weighed, &circumstances);
            worth += probability * share * (right - weighed.probability(hypothesis.limit));
        }
    }
    worth
}

/// Outcomes that a hypothesis predicts, with their probabilities.
fn outcomes(ratio: Ratio, circumstances: &Circumstances) -> Vec<(f64, f64)> {
    let thirds = |outcomes: [f64; 3]| outcomes.map(|outcome| (outcome, 1.0 / 3.0)).to_vec();
    match ratio {
        Ratio::Exactly(ratio, _) => {
            let (from, lower) = circumstances.next_limit(ratio);
            let between = |at: f64| (from + at * (ratio - from), lower / 2.0);
            vec![(ratio, 1.0 - lower), between(0.25), between(0.6)]
        }
        Ratio::Between(least, most) => {
            thirds([0.2, 0.5, 0.8].map(|at| least + at * (most - least)))
        }
        Ratio::Any => thirds(ANY),
    }
}

/// Probability of `limit` after measuring this ratio.
fn right_after(
    outcome: f64,
    limit: Limit,
    ratios: &[Ratio],
    weighed: &Weighed,
    circumstances: &Circumstances,
) -> f64 {
    let (mut right, mut all) = (0.0, 0.0);
    let of = |(one, ratio): (&Hypothesis, &Ratio)| {
        (one.limit, circumstances.likelihood(*ratio, outcome, ERROR))
    };
    for ((one, likelihood), probability) in
        HYPOTHESES.iter().zip(ratios).map(of).zip(&weighed.posterior)
    {
        all += probability * likelihood;
        if one == limit {
            right += probability * likelihood;
        }
    }
    right / all.max(f64::MIN_POSITIVE)
}

/// Recommended measurements for this series.
pub(crate) fn next(series: &Series, weighed: &Weighed, known: &Known) -> Option<Experiment> {
    match series.plateau.state {
        State::NotReached => None,
        State::Inconclusive(Inconclusive::Precision(_) | Inconclusive::Stability(_)) => {
            Some(Experiment::Repeat)
        }
        State::Inconclusive(_) => Some(more_load(series)),
        State::Reached(_) if series.is_at_certain_limit() || known.is_null() => None,
        State::Reached(_) => {
            let change = telling(series, weighed, known).into_iter().next()?;
            let size = series.signature.transfer_bytes;
            Some(Experiment::Change {
                change,
                transfer_size: size.round() as u64,
                workers: series.signature.workers,
                volumes: series.signature.volumes,
                hosts: series.signature.hosts,
                own_client: known.own_client,
            })
        }
    }
}

/// A shorter ladder rarely has two flat doublings.
const LADDER_MIN: f64 = 64.0;

fn more_load(series: &Series) -> Experiment {
    let workers = series.signature.workers.max(1);
    let queue_depth = (series.deepest() * 4.0).clamp(LADDER_MIN, 4096.0) as u64;
    Experiment::MoreLoad { queue_depth, workers }
}
