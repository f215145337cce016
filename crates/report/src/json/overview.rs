//! The summary and the heat maps as JSON.

use analysis::Findings;
use analysis::heat::Heat;
use analysis::summary::{Bend, CurveSummary};
use serde_json::{Value, json};

use super::estimate::estimate;
use super::verdicts::saturation_name;
use crate::number::exported;

/// The summary; `None` if nothing was measured.
pub(super) fn summary(findings: &Findings) -> Option<Value> {
    let summary = &findings.summary;
    let caveat = |caveat: &analysis::summary::Caveat| {
        json!({
            "code": findings.warnings[caveat.warning].code,
            "load_points": caveat.load_points,
        })
    };
    (!summary.curves.is_empty()).then(|| {
        json!({
            "curves": summary.curves.iter().map(|one| curve(findings, one)).collect::<Vec<_>>(),
            "curves_left_out": summary.curves_left_out,
            "caveats": summary.caveats.iter().map(caveat).collect::<Vec<_>>(),
        })
    })
}

fn curve(findings: &Findings, one: &CurveSummary) -> Value {
    let curve = &findings.curves[one.curve];
    let latency_ns = curve.floor.as_ref().ok().and_then(|floor| floor.latency_ns());
    let state = curve.plateau.as_ref().ok().map(|plateau| plateau.state);
    json!({
        "curve": one.curve,
        "highest_point": one.most,
        "rate_ops_per_sec": estimate(one.rate),
        "throughput_bytes_per_sec": one.throughput.map(estimate),
        "response_mean_ns": one.response_mean_ns.map(estimate),
        "floor_ns": latency_ns.map(estimate),
        "saturation": state.map(saturation_name),
        "knee": one.bend.map(bend),
    })
}

fn bend(bend: Bend) -> Value {
    json!({
        "method": bend.knee.method.name(),
        "point": bend.knee.point,
        "load": exported(bend.knee.load),
        "rate_fraction": exported(bend.rate_share),
        "response_time_factor": exported(bend.response_factor),
    })
}

/// The heat maps; `None` if there are none.
pub(super) fn heats(heats: &[Heat]) -> Option<Value> {
    (!heats.is_empty()).then(|| Value::Array(heats.iter().map(heat).collect()))
}

/// Cells are `[column, row, operations]`; the upper end of a row belongs to the next row.
fn heat(heat: &Heat) -> Value {
    let cells = heat.cells.iter().map(|cell| json!([cell.column, cell.row, cell.operations]));
    json!({
        "load_point": heat.load_point,
        "run_index": heat.run_index,
        "columns_ns": heat.columns,
        "rows_ns": heat.rows.iter().map(|(low, high)| [exported(*low), exported(*high)])
            .collect::<Vec<_>>(),
        "cells": cells.collect::<Vec<_>>(),
    })
}
