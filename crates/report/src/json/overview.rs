//! The summary and the heat maps as JSON.

use analysis::Findings;
use analysis::heat::Heat;
use analysis::summary::{Bend, Caveat, CurveSummary};
use schemars::JsonSchema;
use serde::Serialize;

use super::estimate::{EstimateJson, estimate};
use super::load_point::MissingHostsJson;
use super::verdicts::saturation_name;
use crate::number::exported;

/// The key results.
#[derive(Serialize, JsonSchema)]
pub(super) struct OverviewJson<'a> {
    /// The curves with the highest rates.
    curves: Vec<CurveOverviewJson>,
    /// Curves that are not listed here.
    curves_left_out: usize,
    /// Warnings that affect results, the most important first.
    caveats: Vec<CaveatJson<'a>>,
}

/// The key results of a curve.
#[derive(Serialize, JsonSchema)]
struct CurveOverviewJson {
    /// The curve, by its index in `curves`.
    curve: usize,
    /// The point with the highest rate, by its index in the curve.
    highest_point: usize,
    /// The rate there.
    rate_ops_per_sec: EstimateJson,
    /// Hosts that are missing from its totals, if some were lost at every load point of the curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing_hosts: Option<MissingHostsJson>,
    /// The throughput there.
    throughput_bytes_per_sec: Option<EstimateJson>,
    /// The mean response time there.
    response_mean_ns: Option<EstimateJson>,
    /// The latency floor.
    floor_ns: Option<EstimateJson>,
    /// Whether throughput has stopped rising: `reached`, `not_reached` or `inconclusive`.
    saturation: Option<&'static str>,
    /// The knee.
    knee: Option<BendJson>,
}

/// The knee of a curve and what exceeding it costs.
#[derive(Serialize, JsonSchema)]
struct BendJson {
    /// The method: `knee_power`, for example.
    method: &'static str,
    /// The point at the knee, by its index in the curve; null if the knee is between points.
    point: Option<usize>,
    /// The load at the knee.
    load: f64,
    /// The rate at the knee, as a share of the highest.
    rate_fraction: f64,
    /// The response time at the highest rate divided by that at the knee.
    response_time_factor: f64,
}

/// A warning that affects results.
#[derive(Serialize, JsonSchema)]
struct CaveatJson<'a> {
    /// The code of the warning in `warnings`.
    code: &'a str,
    /// The number of load points that it affects.
    load_points: usize,
}

/// How often which response time occurred over a run.
#[derive(Serialize, JsonSchema)]
pub(super) struct HeatJson<'a> {
    /// The load point, by its index in `load_points`.
    load_point: usize,
    /// The run, by its index in the plan.
    run_index: u32,
    /// Start and end of each column, from the start of the run.
    columns_ns: &'a [(u64, u64)],
    /// Lower and upper end of each row; the upper end belongs to the next row.
    rows_ns: Vec<[f64; 2]>,
    /// Column, row and number of operations of each cell that is not empty.
    cells: Vec<(usize, usize, u64)>,
}

/// The summary; `None` if nothing was measured.
pub(super) fn summary(findings: &Findings) -> Option<OverviewJson<'_>> {
    let summary = &findings.summary;
    let caveat = |caveat: &Caveat| CaveatJson {
        code: findings.warnings[caveat.warning].code,
        load_points: caveat.load_points,
    };
    (!summary.curves.is_empty()).then(|| OverviewJson {
        curves: summary.curves.iter().map(|one| curve(findings, one)).collect(),
        curves_left_out: summary.curves_left_out,
        caveats: summary.caveats.iter().map(caveat).collect(),
    })
}

fn curve(findings: &Findings, one: &CurveSummary) -> CurveOverviewJson {
    let curve = &findings.curves[one.curve];
    let latency_ns = curve.floor.as_ref().ok().and_then(|floor| floor.latency_ns());
    let state = curve.plateau.as_ref().ok().map(|plateau| plateau.state);
    CurveOverviewJson {
        curve: one.curve,
        highest_point: one.most,
        rate_ops_per_sec: estimate(one.rate),
        missing_hosts: findings.load_points[curve.points[one.most].load_point]
            .missing_hosts
            .map(MissingHostsJson::of),
        throughput_bytes_per_sec: one.throughput.map(estimate),
        response_mean_ns: one.response_mean_ns.map(estimate),
        floor_ns: latency_ns.map(estimate),
        saturation: state.map(saturation_name),
        knee: one.bend.map(bend),
    }
}

fn bend(bend: Bend) -> BendJson {
    BendJson {
        method: bend.knee.method.name(),
        point: bend.knee.point,
        load: exported(bend.knee.load),
        rate_fraction: exported(bend.rate_share),
        response_time_factor: exported(bend.response_factor),
    }
}

/// The heat map of a run.
pub(super) fn heat(heat: &Heat) -> HeatJson<'_> {
    HeatJson {
        load_point: heat.load_point,
        run_index: heat.run_index,
        columns_ns: &heat.columns,
        rows_ns: heat.rows.iter().map(|(low, high)| [exported(*low), exported(*high)]).collect(),
        cells: heat.cells.iter().map(|cell| (cell.column, cell.row, cell.operations)).collect(),
    }
}
