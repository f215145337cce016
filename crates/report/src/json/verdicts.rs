//! The verdict on each curve as JSON.

use analysis::Findings;
use analysis::curve::plateau::{Growth, State};
use analysis::verdict::{Answer, Evidence, Gap, Limit, Observed, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

use super::estimate::{EstimateJson, estimate};
use crate::number::exported;
use crate::verdict;

/// What limits a curve.
#[derive(Serialize, JsonSchema)]
pub(super) struct VerdictJson<'a> {
    /// The curve's name.
    curve: &'a str,
    /// Its load points, by their index in `load_points`.
    load_points: &'a [usize],
    /// The load point with the highest rate.
    at_load_point: usize,
    /// `limited`, `not_reached`, `not_enough_data`, `undecided` or `cached`.
    answer: &'static str,
    /// The codes of the limits; several if the data cannot distinguish them.
    limits: Vec<&'static str>,
    /// The probability of this answer; null unless it is `limited`.
    probability: Option<f64>,
    /// The verdict in one sentence.
    sentence: String,
    /// Whether throughput has stopped rising: `reached`, `not_reached` or `inconclusive`.
    saturation: &'static str,
    /// The shape of the curve in words.
    shape: String,
    /// How much throughput grew at the end of the curve.
    growth: Option<GrowthJson>,
    /// Throughput is at a limit from the lowest load on.
    floor_is_pace: bool,
    /// All limits considered, the most probable first.
    candidates: Vec<CandidateJson>,
    /// The rate at the limit; null if it is not reached.
    ceiling_ops_per_sec: Option<EstimateJson>,
    /// The throughput at the limit; null if it is not reached.
    ceiling_bytes_per_sec: Option<EstimateJson>,
    /// The observations behind the verdict, the strongest first.
    evidence: Vec<EvidenceJson<'a>>,
    /// What to change, in sentences.
    recommendations: Vec<String>,
    /// The experiment that would decide; null if nothing is open.
    next_experiment: Option<NextExperimentJson>,
}

/// A possible limit.
#[derive(Serialize, JsonSchema)]
struct CandidateJson {
    /// The code of the limit.
    limit: &'static str,
    /// Its probability.
    probability: f64,
}

/// Growth of throughput per doubling of the load, at the end of a curve.
#[derive(Serialize, JsonSchema)]
pub(super) struct GrowthJson {
    /// The point from which it is measured, by its index in the curve.
    from_point: usize,
    /// Doublings of the load since then.
    doublings: f64,
    /// Growth of throughput since then, as a share.
    total_fraction: f64,
    /// The half-width of its 95 % confidence interval.
    total_uncertainty_fraction: Option<f64>,
    /// Growth per doubling.
    per_doubling_fraction: f64,
}

/// An observation behind a verdict.
#[derive(Serialize, JsonSchema)]
struct EvidenceJson<'a> {
    /// The kind of observation: `known_limit`, `host_processors`, `evenness`, ...
    kind: &'static str,
    /// The logarithm of the ratio by which it supports the verdict.
    strength: f64,
    /// The observation in one sentence; null where it tells a reader nothing.
    sentence: Option<String>,
    /// The load points that it comes from.
    load_points: &'a [usize],
}

/// The experiment that would decide between limits.
#[derive(Serialize, JsonSchema)]
struct NextExperimentJson {
    /// What it decides.
    why: String,
    /// The arguments to add to the command.
    arguments: String,
}

/// The verdicts on the workloads of the experiment.
pub(super) fn verdicts(findings: &Findings) -> Vec<VerdictJson<'_>> {
    findings.answers().map(|one| of(findings, one)).collect()
}

fn of<'a>(findings: &'a Findings, one: &'a Verdict) -> VerdictJson<'a> {
    let (limits, probability) = match &one.answer {
        Answer::Limited { by, probability } => (by.as_slice(), Some(exported(*probability))),
        _ => (&[][..], None),
    };
    let ceiling = one.plateau.is_reached().then_some(one.plateau.level);
    let codes = |limits: &[Limit]| limits.iter().map(|limit| limit.code()).collect::<Vec<_>>();
    let candidates = one.candidates.iter().map(|candidate| CandidateJson {
        limit: candidate.limit.code(),
        probability: exported(candidate.probability),
    });
    let next = verdict::next_step(one);
    VerdictJson {
        curve: &one.name,
        load_points: &one.load_points,
        at_load_point: one.top(),
        answer: answer_name(&one.answer),
        limits: codes(limits),
        probability,
        sentence: verdict::headline(one),
        saturation: saturation_name(one.plateau.state),
        shape: verdict::shape(findings, one),
        growth: one.plateau.growth.map(growth),
        floor_is_pace: one.plateau.floor_is_pace,
        candidates: candidates.collect(),
        ceiling_ops_per_sec: ceiling.map(estimate),
        ceiling_bytes_per_sec: ceiling.map(|rate| estimate(rate.scaled(one.bytes_per_op()))),
        evidence: one.evidence.iter().map(evidence).collect(),
        recommendations: verdict::advice(findings, one),
        next_experiment: next.map(|(why, arguments)| NextExperimentJson { why, arguments }),
    }
}

const fn answer_name(answer: &Answer) -> &'static str {
    match answer {
        Answer::Limited { .. } => "limited",
        Answer::NotReached => "not_reached",
        Answer::NotEnoughData(Gap::End(_)) => "not_enough_data",
        Answer::NotEnoughData(Gap::Undecided) => "undecided",
        Answer::NotEnoughData(Gap::Cached) => "cached",
    }
}

/// Whether throughput has stopped rising.
pub(crate) const fn saturation_name(state: State) -> &'static str {
    match state {
        State::Reached(_) => "reached",
        State::NotReached => "not_reached",
        State::Inconclusive(_) => "inconclusive",
    }
}

pub(super) fn growth(growth: Growth) -> GrowthJson {
    GrowthJson {
        from_point: growth.from,
        doublings: exported(growth.doublings),
        total_fraction: exported(growth.total),
        total_uncertainty_fraction: growth.half_width.map(exported),
        per_doubling_fraction: exported(growth.per_doubling()),
    }
}

fn evidence(observed: &Observed) -> EvidenceJson<'_> {
    EvidenceJson {
        kind: kind(&observed.evidence),
        strength: exported(observed.strength),
        sentence: verdict::evidence_sentence(&observed.evidence),
        load_points: &observed.load_points,
    }
}

const fn kind(evidence: &Evidence) -> &'static str {
    match evidence {
        Evidence::HostProcessors { .. } => "host_processors",
        Evidence::ServiceProcessor { .. } => "service_processor",
        Evidence::ClientSlots { .. } => "client_slots",
        Evidence::ServerSlots { .. } => "server_slots",
        Evidence::Known { .. } => "known_limit",
        Evidence::Evenness { .. } => "evenness",
        Evidence::Knee { .. } => "knee",
        Evidence::Compared { .. } => "compared",
    }
}
