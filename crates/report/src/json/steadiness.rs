//! Steady state, outliers and repeatability of each load point as JSON.

use analysis::Findings;
use analysis::agreement::Agreement;
use analysis::steadiness::{Judgement, RepeatSteadiness, StreamSteadiness};
use analysis::steady::Rounds;
use metrics::warning::Figure;
use serde_json::{Value, json};

use crate::number::exported;

/// An entry for each load point, in order; `None` if there is none.
pub(super) fn steadiness(findings: &Findings) -> Option<Value> {
    let points = findings.steadiness.iter().map(|point| {
        json!({
            "streams": point.streams.iter().map(stream).collect::<Vec<_>>(),
            "repeats": point.repeats.as_ref().map(repeats),
        })
    });
    let points: Vec<Value> = points.collect();
    (!points.is_empty()).then_some(Value::Array(points))
}

fn stream(stream: &StreamSteadiness) -> Value {
    let warm_up = stream.warm_up.map(|warm_up| {
        json!({
            "figure": name(warm_up.figure),
            "planned_ns": warm_up.planned_ns,
            "mser_cut_ns": warm_up.cut_ns,
            "intervals_per_batch": warm_up.batch,
            "no_end": warm_up.no_end,
            "bias_fraction": warm_up.bias.map(exported),
        })
    });
    let outliers = stream.outliers.iter().map(|outlier| {
        json!({
            "figure": name(outlier.figure),
            "start_ns": outlier.start_ns,
            "value": exported(outlier.value),
            "median": exported(outlier.median),
        })
    });
    json!({
        "repeat": stream.repeat,
        "stream": stream.stream,
        "warm_up": warm_up,
        "achieved_rate": stream.rate.map(judgement),
        "response_mean": stream.response.map(judgement),
        "outliers": outliers.collect::<Vec<_>>(),
    })
}

fn judgement(judgement: Judgement) -> Value {
    json!({
        "steady": judgement.is_steady(),
        "drift_fraction": judgement.drift.map(exported),
        "drifts": judgement.drifts,
        "rounds": judgement.rounds.map(rounds),
    })
}

fn rounds(rounds: Rounds) -> Value {
    json!({
        "excursion_fraction": exported(rounds.excursion),
        "slope_fraction": exported(rounds.slope),
        "chance": rounds.chance.map(exported),
        "meets_snia": rounds.meets(),
    })
}

fn repeats(repeats: &RepeatSteadiness) -> Value {
    let agreement = |found: Agreement| {
        json!({
            "spread_fraction": exported(found.spread),
            "welch_f": exported(found.f),
            "chance": exported(found.chance),
            "disagree": found.disagree(),
            "repeat_that_differs": found.differs.map(|index| repeats.repeats[index]),
        })
    };
    let rates: Vec<f64> = repeats.rates.iter().map(|rate| exported(*rate)).collect();
    json!({
        "repeats": repeats.repeats,
        "achieved_rates_ops_per_sec": rates,
        "agreement": repeats.agreement.map(agreement),
        "outlier_repeat": repeats.outlier.map(|index| repeats.repeats[index]),
        "rounds": repeats.rounds.map(rounds),
    })
}

const fn name(figure: Figure) -> &'static str {
    match figure {
        Figure::AchievedRate => "achieved_rate",
        Figure::ResponseTime => "response_mean",
    }
}
