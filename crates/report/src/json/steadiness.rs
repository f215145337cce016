//! Steady state, outliers and repeatability of each load point as JSON.

use analysis::agreement::Agreement;
use analysis::steadiness::{Judgement, RepeatSteadiness, Steadiness, StreamSteadiness};
use analysis::steady::Rounds;
use metrics::warning::Figure;
use schemars::JsonSchema;
use serde::Serialize;

use crate::number::exported;

/// Steady state of a load point.
#[derive(Serialize, JsonSchema)]
pub(super) struct SteadinessJson<'a> {
    /// Each stream of each repeat.
    streams: Vec<StreamSteadinessJson<'a>>,
    /// The agreement of the repeats; null for a single one.
    repeats: Option<RepeatsJson<'a>>,
}

/// Steady state of a stream in one repeat.
#[derive(Serialize, JsonSchema)]
struct StreamSteadinessJson<'a> {
    /// The repeat, from 0.
    repeat: u32,
    /// The stream's name.
    stream: &'a str,
    /// Whether the warm-up was long enough; null with too few intervals.
    warm_up: Option<WarmUpJson>,
    /// Whether the rate was steady.
    achieved_rate: Option<JudgementJson>,
    /// Whether the mean response time was steady.
    response_mean: Option<JudgementJson>,
    /// Intervals far from the median.
    outliers: Vec<OutlierJson>,
}

/// The planned warm-up, compared with the end of start-up behaviour.
#[derive(Serialize, JsonSchema)]
struct WarmUpJson {
    /// The figure that took longer to settle: `achieved_rate` or `response_mean`.
    figure: &'static str,
    /// The planned warm-up.
    planned_ns: u64,
    /// The end of start-up behaviour by the rule MSER.
    mser_cut_ns: u64,
    /// Intervals per batch of that rule.
    intervals_per_batch: u32,
    /// Start-up behaviour did not end within the run.
    no_end: bool,
    /// The bias of the mean by start-up behaviour inside the window, as a share of it.
    bias_fraction: Option<f64>,
}

/// Whether a figure was steady over the window.
#[derive(Serialize, JsonSchema)]
struct JudgementJson {
    /// The figure was steady.
    steady: bool,
    /// The change from the first to the last third of the window, as a share of the mean.
    drift_fraction: Option<f64>,
    /// That change is significant and large enough to matter.
    drifts: bool,
    /// The criterion of SNIA; null with too few rounds.
    rounds: Option<RoundsJson>,
}

/// The steady state criterion of SNIA.
#[derive(Serialize, JsonSchema)]
struct RoundsJson {
    /// The range of the rounds, as a share of their mean.
    excursion_fraction: f64,
    /// The change along the fitted line, as a share of the mean.
    slope_fraction: f64,
    /// The probability of at least this change without a trend.
    chance: Option<f64>,
    /// Both are within the criterion's bounds.
    meets_snia: bool,
}

/// An interval far from the median.
#[derive(Serialize, JsonSchema)]
struct OutlierJson {
    /// The figure: `achieved_rate` or `response_mean`.
    figure: &'static str,
    /// The interval's start, from the start of the run.
    start_ns: u64,
    /// Its value, in ops/s or ns.
    value: f64,
    /// The median of all intervals.
    median: f64,
}

/// The agreement of repeats.
#[derive(Serialize, JsonSchema)]
struct RepeatsJson<'a> {
    /// The repeats, from 0.
    repeats: &'a [u32],
    /// The rate of each.
    achieved_rates_ops_per_sec: Vec<f64>,
    /// The test whether they agree; null with too few intervals.
    agreement: Option<AgreementJson>,
    /// The repeat whose rate is an outlier.
    outlier_repeat: Option<u32>,
    /// The criterion of SNIA over the repeats.
    rounds: Option<RoundsJson>,
}

/// The test whether repeats agree.
#[derive(Serialize, JsonSchema)]
struct AgreementJson {
    /// The range of the rates, as a share of their mean.
    spread_fraction: f64,
    /// The statistic of Welch's analysis of variance.
    welch_f: f64,
    /// The probability of at least this value if all repeats had the same mean.
    chance: f64,
    /// The repeats differ significantly, and by enough to matter.
    disagree: bool,
    /// The repeat that differs from the others.
    repeat_that_differs: Option<u32>,
}

/// The steadiness of a load point.
pub(super) fn steadiness(point: &Steadiness) -> SteadinessJson<'_> {
    SteadinessJson {
        streams: point.streams.iter().map(stream).collect(),
        repeats: point.repeats.as_ref().map(repeats),
    }
}

fn stream(stream: &StreamSteadiness) -> StreamSteadinessJson<'_> {
    let outliers = stream.outliers.iter().map(|outlier| OutlierJson {
        figure: name(outlier.figure),
        start_ns: outlier.start_ns,
        value: exported(outlier.value),
        median: exported(outlier.median),
    });
    StreamSteadinessJson {
        repeat: stream.repeat,
        stream: &stream.stream,
        warm_up: stream.warm_up.map(|warm_up| WarmUpJson {
            figure: name(warm_up.figure),
            planned_ns: warm_up.planned_ns,
            mser_cut_ns: warm_up.cut_ns,
            intervals_per_batch: warm_up.batch,
            no_end: warm_up.no_end,
            bias_fraction: warm_up.bias.map(exported),
        }),
        achieved_rate: stream.rate.map(judgement),
        response_mean: stream.response.map(judgement),
        outliers: outliers.collect(),
    }
}

fn judgement(judgement: Judgement) -> JudgementJson {
    JudgementJson {
        steady: judgement.is_steady(),
        drift_fraction: judgement.drift.map(exported),
        drifts: judgement.drifts,
        rounds: judgement.rounds.map(rounds),
    }
}

fn rounds(rounds: Rounds) -> RoundsJson {
    RoundsJson {
        excursion_fraction: exported(rounds.excursion),
        slope_fraction: exported(rounds.slope),
        chance: rounds.chance.map(exported),
        meets_snia: rounds.meets(),
    }
}

fn repeats(repeats: &RepeatSteadiness) -> RepeatsJson<'_> {
    let agreement = |found: Agreement| AgreementJson {
        spread_fraction: exported(found.spread),
        welch_f: exported(found.f),
        chance: exported(found.chance),
        disagree: found.disagree(),
        repeat_that_differs: found.differs.map(|index| repeats.repeats[index]),
    };
    RepeatsJson {
        repeats: &repeats.repeats,
        achieved_rates_ops_per_sec: repeats.rates.iter().map(|rate| exported(*rate)).collect(),
        agreement: repeats.agreement.map(agreement),
        outlier_repeat: repeats.outlier.map(|index| repeats.repeats[index]),
        rounds: repeats.rounds.map(rounds),
    }
}

const fn name(figure: Figure) -> &'static str {
    match figure {
        Figure::AchievedRate => "achieved_rate",
        Figure::ResponseTime => "response_mean",
    }
}
