//! What of a record is printed: the summary, what was measured at each load point, and a table of
//! runs; of the runs over time, the connections and the percentiles only where a reader looks
//! first. A page that is printed from a screen hides the rest, one made for paper does not have it.

use analysis::Findings;
use analysis::load_point::{LoadPoint, RunSummary};
use metrics::run_record::Outcome;

use crate::charts::RecordCharts;
use crate::document::{Column, Table};
use crate::number::{NONE, half_width, mib, plain, us};
use crate::rows::{TimeUnit, load_point_name, percentile};

/// Charts of curves that are printed.
pub(super) const CURVE_CHARTS_MAX: usize = 15;
/// Charts of percentiles that are printed.
pub(super) const PERCENTILE_CHARTS_MAX: usize = 4;
/// Rows of the table of runs.
const RUNS_MAX: usize = 600;

/// What is not printed, and where it is, in a sentence; nothing where everything is.
pub(super) fn left_out(findings: &Findings, drawn: &RecordCharts) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut part = |shown: usize, all: usize, what: &str| {
        if shown < all {
            parts.push(format!("{} of {all} {what}", all - shown));
        }
    };
    part(drawn.curves.len().min(CURVE_CHARTS_MAX), drawn.curves.len(), "charts of curves");
    let percentiles = drawn.percentiles.len();
    part(percentiles.min(PERCENTILE_CHARTS_MAX), percentiles, "charts of percentiles");
    let charts = |on_paper: bool| {
        let groups = drawn.time.iter().filter(move |group| group.on_paper || !on_paper);
        groups.map(move |group| match on_paper {
            true => group.charts.iter().filter(|chart| group.is_on_paper(chart)).count(),
            false => group.charts.len(),
        })
    };
    part(charts(true).sum(), charts(false).sum(), "charts over time");
    let with = |point: &&LoadPoint| point.runs.iter().any(|run| !run.connections.is_empty());
    let connected = findings.load_points.iter().filter(with).count();
    part(connected.min(1), connected, "tables of connections");
    let list = match parts.split_last()? {
        (only, []) => only.clone(),
        (last, before) => format!("{} and {last}", before.join(", ")),
    };
    Some(format!(
        "Left out on paper: {list}. `fourcorners report {0}` shows them on the screen, \
         `fourcorners report {0} --format png` makes a picture of each chart, and `fourcorners \
         export {0} --format csv` has every number.",
        findings.id
    ))
}

/// What is not printed of a record that is beside others, and where it is.
pub(super) fn left_out_beside_others(findings: &Findings) -> String {
    format!(
        "Left out on paper: evidence, warnings, charts and environment. `fourcorners report {} \
         --theme print` prints this record alone.",
        findings.id
    )
}

/// A row for each run, in the order of the load points; nothing where each load point is one run
/// that ended as planned, because then the results say the same.
pub(super) fn runs(findings: &Findings) -> Option<Table> {
    let plain = |point: &LoadPoint| {
        point.runs.len() == 1 && point.runs.iter().all(|run| run.outcome == Outcome::Done)
    };
    if findings.load_points.iter().all(plain) {
        return None;
    }
    let all = findings.load_points.iter().flat_map(|point| {
        let name = load_point_name(point);
        point.runs.iter().map(move |run| row(&name, run))
    });
    let rows: Vec<Vec<String>> = all.take(RUNS_MAX).collect();
    let runs: usize = findings.load_points.iter().map(|point| point.runs.len()).sum();
    let caption = match rows.len() < runs {
        true => format!("The first {} of {runs} runs; the exports have all.", rows.len()),
        false => "Each run alone.".to_owned(),
    };
    let columns = vec![
        Column::words("load point"),
        Column::numbers("repeat", ""),
        Column::numbers("achieved rate", "ops/s"),
        Column::numbers("95 %", "±"),
        Column::numbers("throughput", "MiB/s"),
        Column::numbers("response mean", "µs"),
        Column::numbers("p99", "µs"),
        Column::numbers("outstanding", "mean"),
        Column::words("ended"),
    ];
    Some(Table { caption, columns, rows })
}

fn row(name: &str, run: &RunSummary) -> Vec<String> {
    let total = &run.summary.total;
    let rate = total.data.achieved_rate;
    let none = || NONE.to_owned();
    vec![
        name.to_owned(),
        (run.repeat + 1).to_string(),
        rate.map_or_else(none, |rate| plain(rate.value)),
        rate.and_then(|rate| rate.relative()).map_or_else(none, half_width),
        total.data.throughput.map_or_else(none, |throughput| mib(throughput.value)),
        total.data.response.mean_ns.map_or_else(none, |mean| us(mean.value)),
        percentile(total.data.response.percentile(0.99), TimeUnit::Us),
        total.outstanding_mean.map_or_else(none, |outstanding| plain(outstanding.value)),
        match &run.outcome {
            Outcome::Done => "as planned".to_owned(),
            Outcome::Interrupted => "interrupted".to_owned(),
            Outcome::Failed { .. } => "failed".to_owned(),
            Outcome::Aborted => "aborted".to_owned(),
        },
    ]
}
