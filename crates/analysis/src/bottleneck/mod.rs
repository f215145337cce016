//! What limits the rate: which of the resources between the user and the data is full, with
//! evidence, how sure that is, and what to change.
//!
//! Every explanation predicts how the ceiling moves when something else is changed: more
//! connections, another transfer size, reads instead of writes. [`predict`] says what each
//! predicts, [`judge`] weighs the predictions against every load point by Bayes' rule, [`known`]
//! adds what the user or the plan knows beforehand, and [`words`] says it. Where what was measured
//! fits several explanations, the finding says so, and proposes the experiment that tells them
//! apart ([`scale`]).
//!
//! Not for: the shape of a curve (`curve`), nor for what a service ought to give.
//!
//! Sources: Lazowska, Zahorjan, Graham and Sevcik, "Quantitative System Performance", 1984, chapter
//! 5 (the bounds that a bottleneck puts on rate and response time); Kass and Raftery, "Bayes
//! Factors", J. American Statistical Association 90, 1995. `docs/method.md` has each signature.

pub mod explain;
mod groups;
mod judge;
pub mod known;
mod predict;
mod scale;
mod words;

pub use known::{Known, KnownLimit};

use crate::estimate::Estimate;
use crate::load_point::LoadPoint;

use groups::{Group, State};

/// Below this probability an explanation is not given as the answer.
pub const CLAIM_MIN: f64 = 0.90;
/// Candidates less probable than this are not listed.
const CANDIDATE_MIN: f64 = 0.02;

/// What bounds a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// The volume's throughput limit: bytes per second of reads and writes together.
    VolumeThroughput,
    /// What one connection carries.
    NetworkFlow,
    /// What the address carries at which the volume is reached, whatever volume is behind it.
    Endpoint,
    /// What a virtual machine may send: bounds writes and leaves reads alone.
    VmEgress,
    /// The link: each direction for itself, headers included.
    Link,
    /// The processors of this host.
    ClientCpu,
    /// The requests that are served at a time on one connection.
    ServerSlots,
    /// What the storage behind it can do: its media and processors.
    Disk,
    /// A limit on operations per second, whatever their size.
    OperationsPerSecond,
    /// None was reached: the rate is outstanding operations over response time, and still rises.
    NotReached,
    /// What was measured does not tell.
    Unknown,
}

impl Limit {
    /// Everything that can be full.
    pub const RESOURCES: [Limit; 9] = [
        Limit::VolumeThroughput,
        Limit::NetworkFlow,
        Limit::Endpoint,
        Limit::VmEgress,
        Limit::Link,
        Limit::ClientCpu,
        Limit::ServerSlots,
        Limit::Disk,
        Limit::OperationsPerSecond,
    ];

    /// The name in files: stable.
    pub const fn code(self) -> &'static str {
        match self {
            Limit::VolumeThroughput => "volume_throughput",
            Limit::NetworkFlow => "network_flow",
            Limit::Endpoint => "endpoint",
            Limit::VmEgress => "vm_egress",
            Limit::Link => "link",
            Limit::ClientCpu => "client_cpu",
            Limit::ServerSlots => "server_slots",
            Limit::Disk => "disk",
            Limit::OperationsPerSecond => "operations_per_second",
            Limit::NotReached => "not_reached",
            Limit::Unknown => "unknown",
        }
    }

    /// The name in sentences.
    pub const fn name(self) -> &'static str {
        match self {
            Limit::VolumeThroughput => "volume throughput limit",
            Limit::NetworkFlow => "network flow limit",
            Limit::Endpoint => "endpoint limit",
            Limit::VmEgress => "VM egress limit",
            Limit::Link => "link",
            Limit::ClientCpu => "this host's CPU",
            Limit::ServerSlots => "request slots",
            Limit::Disk => "the storage itself",
            Limit::OperationsPerSecond => "limit on operations per second",
            Limit::NotReached => "none reached",
            Limit::Unknown => "unknown",
        }
    }
}

/// What limits one curve, or one load point that belongs to no curve.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitFinding {
    /// What it is about: the variant, with the parameters that are equal all along.
    pub name: String,
    /// The load points that it is about, as places in `Findings::load_points`.
    pub load_points: Vec<usize>,
    /// The one of them with the highest rate.
    pub at: usize,
    /// The answer.
    pub limit: Limit,
    /// The probability of the answer, 0 to 1; for [`Limit::Unknown`] that of the best candidate,
    /// which was too low.
    pub confidence: f64,
    /// Every explanation that is left, the most probable first.
    pub candidates: Vec<Candidate>,
    /// The rate at which it is flat, in operations per second; `None` where it is not flat.
    pub ceiling_ops_per_s: Option<Estimate>,
    /// The same in bytes per second.
    pub ceiling_bytes_per_s: Option<Estimate>,
    /// What was seen, in numbers.
    pub evidence: Vec<Evidence>,
    /// What to change, in sentences; the first helps most.
    pub remedy: Vec<String>,
    /// What would tell the candidates apart, where there are several.
    pub experiment: Option<Experiment>,
}

/// An explanation, and how probable it is after what was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The explanation.
    pub limit: Limit,
    /// Its probability, 0 to 1.
    pub probability: f64,
}

/// Something that was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// In words, with its numbers.
    pub seen: String,
    /// The load points that show it, as places in `Findings::load_points`.
    pub load_points: Vec<usize>,
}

/// What would tell candidates apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Why, in a sentence.
    pub why: String,
    /// What to add to the command that was run: `--set run.nconnect=1,4,16`.
    pub arguments: String,
}

/// What limits each curve of these load points.
pub fn limits(load_points: &[LoadPoint], known: &Known) -> Vec<LimitFinding> {
    let groups = groups::groups(load_points);
    let worth = |group: &&Group| {
        group.points.len() > 1
            || !groups.iter().any(|other| other.variant == group.variant && other.points.len() > 1)
    };
    groups.iter().filter(worth).map(|group| finding(group, &groups, load_points, known)).collect()
}

/// Leaves out what limits a load point that was only changed for evidence, where that is unknown or
/// the same as what limits the workload itself.
pub(crate) fn without_evidence(
    found: &mut Vec<LimitFinding>,
    load_points: &[LoadPoint],
    is_changed: impl Fn(&LoadPoint) -> bool,
) {
    let of_workload: Vec<(String, Limit)> = found
        .iter()
        .filter(|one| !is_changed(&load_points[one.at]))
        .map(|one| (load_points[one.at].variant.clone(), one.limit))
        .collect();
    found.retain(|one| {
        let point = &load_points[one.at];
        let same = |(variant, limit): &(String, Limit)| {
            *variant == point.variant && (*limit == one.limit || one.limit == Limit::Unknown)
        };
        !is_changed(point) || !of_workload.iter().any(same)
    });
}

/// Takes back what was said of the storage, or of the way to it, by a rate that a cache of this
/// host made.
///
/// * `seen`: what the wire counted, in words
pub(crate) fn doubt_for_cache(found: &mut LimitFinding, seen: &str) {
    let of_this_host =
        |limit: Limit| matches!(limit, Limit::ClientCpu | Limit::NotReached | Limit::Unknown);
    let evidence = Evidence {
        seen: format!("a cache of this host answered: {seen}"),
        load_points: vec![found.at],
    };
    found.evidence.insert(found.evidence.len().min(1), evidence);
    found.candidates.retain(|candidate| of_this_host(candidate.limit));
    if !of_this_host(found.limit) {
        found.limit = Limit::Unknown;
    }
    if found.limit == Limit::Unknown {
        let possible = found.candidates.iter().filter(|one| one.limit != Limit::Unknown);
        found.confidence = possible.map(|one| one.probability).fold(0.0, f64::max);
        found.experiment = None;
        found.remedy = words::past_the_cache();
    }
}

fn finding(group: &Group, all: &[Group], load_points: &[LoadPoint], known: &Known) -> LimitFinding {
    let candidates = judge::candidates(group, all, known);
    let best = candidates[0];
    let limit = if best.probability >= CLAIM_MIN { best.limit } else { Limit::Unknown };
    let top = &group.points[group.top];
    let data = &load_points[top.load_point].merged.total.data;
    let flat = group.state == State::Flat;
    LimitFinding {
        name: group.name.clone(),
        load_points: group.points.iter().map(|point| point.load_point).collect(),
        at: top.load_point,
        limit,
        confidence: best.probability,
        ceiling_ops_per_s: data.achieved_rate.filter(|_| flat),
        ceiling_bytes_per_s: data.throughput.filter(|_| flat),
        evidence: words::evidence(limit, group, all, known),
        remedy: words::remedy(limit, group, known),
        experiment: words::experiment(limit, &candidates, group, known),
        candidates: candidates.into_iter().filter(|c| c.probability >= CANDIDATE_MIN).collect(),
    }
}
