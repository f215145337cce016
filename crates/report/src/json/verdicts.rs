//! The verdict on each curve as JSON.

use analysis::Findings;
use analysis::curve::plateau::{Growth, State};
use analysis::verdict::{Answer, Evidence, Gap, Limit, Observed, Verdict};
use serde_json::{Value, json};

use super::estimate::estimate;
use crate::number::exported;
use crate::verdict;

/// The verdicts on the workloads of the experiment; `None` if there are none.
pub(super) fn verdicts(findings: &Findings) -> Option<Value> {
    let all: Vec<Value> = findings.answers().map(|one| of(findings, one)).collect();
    (!all.is_empty()).then_some(Value::Array(all))
}

fn of(findings: &Findings, one: &Verdict) -> Value {
    let (limits, probability) = match &one.answer {
        Answer::Limited { by, probability } => (by.as_slice(), Some(exported(*probability))),
        _ => (&[][..], None),
    };
    let ceiling = one.plateau.is_reached().then_some(one.plateau.level);
    let codes = |limits: &[Limit]| limits.iter().map(|limit| limit.code()).collect::<Vec<_>>();
    let (why, arguments) = verdict::next_step(one).unzip();
    json!({
        "curve": one.name,
        "load_points": one.load_points,
        "at_load_point": one.top(),
        "answer": answer_name(&one.answer),
        "limits": codes(limits),
        "probability": probability,
        "sentence": verdict::headline(one),
        "saturation": saturation_name(one.plateau.state),
        "shape": verdict::shape(findings, one),
        "growth": one.plateau.growth.map(growth),
        "floor_is_pace": one.plateau.floor_is_pace,
        "candidates": one.candidates.iter().map(|candidate| json!({
            "limit": candidate.limit.code(),
            "probability": exported(candidate.probability),
        })).collect::<Vec<_>>(),
        "ceiling_ops_per_sec": ceiling.map(estimate),
        "ceiling_bytes_per_sec": ceiling.map(|rate| estimate(rate.scaled(one.bytes_per_op()))),
        "evidence": one.evidence.iter().map(evidence).collect::<Vec<_>>(),
        "recommendations": verdict::advice(findings, one),
        "next_experiment": why.map(|why| json!({ "why": why, "arguments": arguments })),
    })
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

/// Growth of throughput per doubling of the load, at the end of a curve.
pub(super) fn growth(growth: Growth) -> Value {
    json!({
        "from_point": growth.from,
        "doublings": exported(growth.doublings),
        "total_fraction": exported(growth.total),
        "total_uncertainty_fraction": growth.half_width.map(exported),
        "per_doubling_fraction": exported(growth.per_doubling()),
    })
}

fn evidence(observed: &Observed) -> Value {
    json!({
        "kind": kind(&observed.evidence),
        "strength": exported(observed.strength),
        "sentence": verdict::evidence_sentence(&observed.evidence),
        "load_points": observed.load_points,
    })
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
