//! The printed part of a record: the first screen, results and evidence; of the charts and the
//! connections only those that a reader needs first. The rest is hidden when a
//! page is printed from a screen, and absent from a page made for paper.

use analysis::Findings;
use analysis::load_point::{LoadPoint, RunSummary};
use metrics::run_record::Outcome;

use crate::charts::RecordCharts;
use crate::document::{Column, Table};
use crate::number::{TimeUnit, mib, plain};
use crate::results::{load_point_name, percentile, printed, relative, time_unit};

/// Charts of curves that are printed.
pub(super) const CURVE_CHARTS_MAX: usize = 1;
/// Charts of percentiles that are printed.
pub(super) const PERCENTILE_CHARTS_MAX: usize = 4;
/// Curves whose runs are printed over time.
pub(super) const TIME_CHARTS_MAX: usize = 4;
/// Rows of the table of runs.
const RUNS_MAX: usize = 600;

/// What is not printed, and how to see it; `None` if everything is printed.
pub(super) fn left_out(findings: &Findings, drawn: &RecordCharts) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut part = |printed: usize, all: usize, plural: &str| {
        if printed < all {
            parts.push(format!("{} of {all} {plural}", all - printed));
        }
    };
    part(drawn.curves.len().min(CURVE_CHARTS_MAX), drawn.curves.len(), "charts of curves");
    let percentiles = drawn.percentiles.len();
    part(percentiles.min(PERCENTILE_CHARTS_MAX), percentiles, "charts of percentiles");
    let time = drawn.time.iter().map(|group| group.charts.len()).sum();
    part(printed_over_time(drawn), time, "charts over time");
    let has_connections =
        |point: &&LoadPoint| point.runs.iter().any(|run| !run.connections.is_empty());
    let connected = findings.load_points.iter().filter(has_connections).count();
    part(connected.min(1), connected, "tables of connections");
    if runs(findings).is_some() {
        parts.push("the table of runs".to_owned());
    }
    let list = match parts.split_last()? {
        (only, []) => only.clone(),
        (last, before) => format!("{} and {last}", before.join(", ")),
    };
    Some(format!(
        "Not printed: {list}. `fourcorners report {0}` shows them on the screen, `fourcorners \
         report {0} --format png` writes a picture of each chart, and `fourcorners export {0} \
         --format csv` exports every number.",
        findings.id
    ))
}

/// The number of charts over time that are printed.
fn printed_over_time(drawn: &RecordCharts) -> usize {
    let groups = drawn.time.iter().take(TIME_CHARTS_MAX);
    groups.flat_map(|group| &group.charts).filter(|chart| chart.is_over_time()).count()
}

/// What is not printed of one of several records, and how to print it.
pub(super) fn left_out_of_several(findings: &Findings) -> String {
    format!(
        "Not printed: evidence, warnings, charts and environment. `fourcorners report {} \
         --theme print` prints this record by itself.",
        findings.id
    )
}

/// A row for each run, in the order of the load points; `None` if each load point is one run that
/// ended as planned, because the results then contain the same numbers.
pub(super) fn runs(findings: &Findings) -> Option<Table> {
    let is_single = |point: &LoadPoint| {
        point.runs.len() == 1 && point.runs.iter().all(|run| run.outcome == Outcome::Done)
    };
    if findings.load_points.iter().all(is_single) {
        return None;
    }
    let unit = time_unit(&[findings]);
    let all = findings.load_points.iter().flat_map(|point| {
        let name = load_point_name(point);
        point.runs.iter().map(move |run| row(&name, run, unit))
    });
    let rows: Vec<Vec<String>> = all.take(RUNS_MAX).collect();
    let runs: usize = findings.load_points.iter().map(|point| point.runs.len()).sum();
    let caption = match rows.len() < runs {
        true => format!("The first {} of {runs} runs; the exports have all.", rows.len()),
        false => "Each run by itself.".to_owned(),
    };
    let columns = vec![
        Column::words("load point"),
        Column::numbers("repeat", ""),
        Column::numbers("achieved rate", "ops/s"),
        Column::numbers("95 % CI", "±"),
        Column::numbers("throughput", "MiB/s"),
        Column::numbers("mean", unit.symbol()).grouped("response time"),
        Column::numbers("p99", unit.symbol()).grouped("response time"),
        Column::numbers("outstanding", ""),
        Column::words("outcome"),
    ];
    Some(Table { caption, columns, rows })
}

fn row(name: &str, run: &RunSummary, unit: TimeUnit) -> Vec<String> {
    let total = &run.summary.total;
    let response = &total.data.response;
    vec![
        name.to_owned(),
        (run.repeat + 1).to_string(),
        printed(total.data.achieved_rate, plain),
        relative(total.data.achieved_rate),
        printed(total.data.throughput_of_data(), mib),
        printed(response.mean_ns, |ns| unit.print(ns)),
        percentile(response.percentile(0.99), unit),
        printed(total.outstanding_mean, plain),
        match &run.outcome {
            Outcome::Done => "as planned".to_owned(),
            Outcome::Interrupted => "interrupted".to_owned(),
            Outcome::Failed { .. } => "failed".to_owned(),
            Outcome::Aborted => "aborted".to_owned(),
        },
    ]
}
