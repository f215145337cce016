//! A comparison as JSON, with units in the names of fields or figures and nine digits.

use std::io::{self, Write};

use analysis::compare::figures::{FigureComparison, Verdict};
use analysis::compare::metric::{MetricContrast, MetricResult};
use analysis::compare::welch::Ratio;
use analysis::compare::{Comparison, Named, Pair};
use serde::Serialize;

use crate::json::estimate::{EstimateJson, estimate};
use crate::number::exported;
use crate::verdict::words;

/// Increased when a reader of the previous version would misread the new one.
const SCHEMA_VERSION: u32 = 2;

/// Writes the comparison, indented, with a line break at the end.
///
/// # Errors
/// Errors of `out`.
pub fn write(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let document = Document {
        schema_version: SCHEMA_VERSION,
        regressed: comparison.pairs.iter().any(Pair::regressed),
        main_tests: comparison.main_tests,
        other_tests: comparison.other_tests,
        allowed_to_differ: comparison.options.allowed.iter().map(|item| item.name()).collect(),
        run_to_run_fraction: comparison.options.run_to_run,
        resolution_fraction: comparison.options.resolution,
        sides: comparison.sides.iter().map(side).collect(),
        pairs: comparison.pairs.iter().map(|pair| pair_json(comparison, pair)).collect(),
        rankings: rankings(comparison),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    regressed: bool,
    main_tests: usize,
    other_tests: usize,
    allowed_to_differ: Vec<&'a str>,
    run_to_run_fraction: Option<f64>,
    resolution_fraction: f64,
    sides: Vec<SideJson<'a>>,
    pairs: Vec<PairJson<'a>>,
    rankings: Vec<RankingJson<'a>>,
}

#[derive(Serialize)]
struct SideJson<'a> {
    label: &'a str,
    id: &'a str,
    name: &'a str,
    target: &'a str,
    started_unix_ms: u64,
    plan_hash: &'a str,
    caveats: Vec<String>,
}

fn side(side: &Named) -> SideJson<'_> {
    SideJson {
        label: &side.label,
        id: &side.id,
        name: &side.name,
        target: &side.target,
        started_unix_ms: side.started_unix_ms,
        plan_hash: &side.plan_hash,
        caveats: side.caveats.iter().map(words::side_caveat).collect(),
    }
}

#[derive(Serialize)]
struct MetricJson<'a> {
    metric: &'a str,
    workload: &'a str,
    first: MetricResultJson,
    second: MetricResultJson,
    /// Of the second: `larger`, `smaller` or `cannot tell`.
    verdict: &'static str,
}

#[derive(Serialize)]
struct MetricResultJson {
    largest_passing: Option<f64>,
    first_failing: Option<f64>,
    overall_response_time_ns: Option<f64>,
}

fn metric(contrast: &MetricContrast) -> MetricJson<'_> {
    let result = |one: &MetricResult| MetricResultJson {
        largest_passing: one.largest,
        first_failing: one.fails_at,
        overall_response_time_ns: one.overall_response_ns.map(exported),
    };
    MetricJson {
        metric: &contrast.metric,
        workload: &contrast.series,
        first: result(&contrast.first),
        second: result(&contrast.other),
        verdict: contrast.verdict.name(),
    }
}

#[derive(Serialize)]
struct PairJson<'a> {
    first: &'a str,
    second: &'a str,
    verdict: &'static str,
    differences: Vec<DifferenceJson<'a>>,
    only_in_first: &'a [String],
    only_in_second: &'a [String],
    /// The largest passing values of a business metric.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    metrics: Vec<MetricJson<'a>>,
    caveats: Vec<CaveatJson<'a>>,
    figures: Vec<FigureJson<'a>>,
}

#[derive(Serialize)]
struct DifferenceJson<'a> {
    item: &'static str,
    key: &'a str,
    first: Option<&'a str>,
    second: Option<&'a str>,
    load_points: usize,
    prevents_verdict: bool,
}

#[derive(Serialize)]
struct CaveatJson<'a> {
    side: &'a str,
    kind: &'static str,
    load_points: &'a [String],
    observed: String,
}

#[derive(Serialize)]
struct FigureJson<'a> {
    load_point: &'a str,
    operations: &'a str,
    figure: &'static str,
    unit: &'static str,
    main: bool,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    basis: &'static str,
    first: Option<EstimateJson>,
    second: Option<EstimateJson>,
    difference: Option<EstimateJson>,
    ratio: Option<RatioJson>,
    p: Option<f64>,
    p_if_independent: Option<f64>,
    p_adjusted: Option<f64>,
    ranks: Option<RanksJson>,
    detectable_fraction: Option<f64>,
    change_at_most_fraction: Option<f64>,
}

#[derive(Serialize)]
struct RatioJson {
    value: f64,
    low: f64,
    high: f64,
}

#[derive(Serialize)]
struct RanksJson {
    u: f64,
    p: f64,
    cliffs_delta: f64,
    shift: f64,
}

#[derive(Serialize)]
struct RankingJson<'a> {
    load_point: &'a str,
    figure: &'static str,
    ranks: Vec<RankedSideJson<'a>>,
}

#[derive(Serialize)]
struct RankedSideJson<'a> {
    side: &'a str,
    rank: usize,
    value: f64,
}

fn pair_json<'a>(comparison: &'a Comparison, pair: &'a Pair) -> PairJson<'a> {
    let differences = pair.differences.iter().map(|difference| DifferenceJson {
        item: difference.item.name(),
        key: &difference.key,
        first: difference.first.as_deref(),
        second: difference.second.as_deref(),
        load_points: difference.load_points,
        prevents_verdict: difference.prevents_verdict,
    });
    PairJson {
        first: &comparison.sides[0].label,
        second: &comparison.sides[pair.side].label,
        verdict: pair.verdict.name(),
        differences: differences.collect(),
        only_in_first: &pair.only_in_first,
        only_in_second: &pair.only_in_other,
        metrics: pair.metrics.iter().map(metric).collect(),
        caveats: pair
            .caveats
            .iter()
            .map(|caveat| CaveatJson {
                side: &comparison.sides[caveat.side].label,
                kind: caveat.kind.name(),
                load_points: &caveat.load_points,
                observed: words::caveat_evidence(&caveat.observed),
            })
            .collect(),
        figures: pair
            .figures()
            .map(|(point, subject, f)| figure(&point.name, &subject.name, f))
            .collect(),
    }
}

fn figure<'a>(
    load_point: &'a str,
    operations: &'a str,
    figure: &FigureComparison,
) -> FigureJson<'a> {
    let ratio = |ratio: Ratio| RatioJson {
        value: exported(ratio.value),
        low: exported(ratio.low),
        high: exported(ratio.high),
    };
    FigureJson {
        load_point,
        operations,
        figure: figure.figure.name(),
        unit: figure.figure.unit(),
        main: figure.main,
        verdict: figure.verdict.name(),
        reason: match figure.verdict {
            Verdict::CannotTell(cause) => Some(words::inconclusive_cause(cause)),
            _ => None,
        },
        basis: figure.basis.name(),
        first: figure.first.map(estimate),
        second: figure.second.map(estimate),
        difference: figure.difference.map(estimate),
        ratio: figure.ratio.map(ratio),
        p: figure.p.map(exported),
        p_if_independent: figure.p_independent.map(exported),
        p_adjusted: figure.p_adjusted.map(exported),
        ranks: figure.ranks.map(|ranks| RanksJson {
            u: exported(ranks.u),
            p: exported(ranks.p),
            cliffs_delta: exported(ranks.cliffs_delta),
            shift: exported(ranks.shift),
        }),
        detectable_fraction: figure.detectable.map(exported),
        change_at_most_fraction: figure.at_most.map(exported),
    }
}

fn rankings(comparison: &Comparison) -> Vec<RankingJson<'_>> {
    let each = comparison.rankings.iter().map(|ranking| {
        let ranked = ranking.ranks.iter().map(|ranked| RankedSideJson {
            side: &comparison.sides[ranked.side].label,
            rank: ranked.rank,
            value: exported(ranked.value),
        });
        RankingJson {
            load_point: &ranking.load_point,
            figure: ranking.figure.name(),
            ranks: ranked.collect(),
        }
    });
    each.collect()
}
