//! One record as the template `record.html` takes it.

use analysis::Findings;
use analysis::curve::Curve;
use analysis::load_point::LoadPoint;
use metrics::environment::EXPERIMENT_TEXT;
use metrics::run_record::Outcome;
use minijinja::{Value, context};

use super::paper;
use crate::charts::RecordCharts;
use crate::document::page::{self, figure, figures};
use crate::drawing::Chart;
use crate::drawing::echarts::Charts;
use crate::drawing::theme::Theme;
use crate::expect::published::Detail;
use crate::number::{TimeUnit, date, mib, plain};
use crate::prose;
use crate::record::{Record, overrides};
use crate::results::{self, load_point_name, percentile, printed, time_unit};
use crate::table::{Table, html};
use crate::warnings::{Advice, group_advice, sightings};
use crate::{connections, emulated, sections};

/// Rows of results on a page.
const ROWS_MAX: usize = 1_200;
/// Load points whose connections a page lists.
const CONNECTION_GROUPS_MAX: usize = 40;
/// Sightings of a warning that a page lists.
const SIGHTINGS_MAX: usize = 40;
/// Locations of a sighting that a page lists.
const LOCATIONS_MAX: usize = 12;
/// Curves with a tile; the table of results has all.
const TILES_MAX: usize = 12;

/// The record's values. `prefix` makes its anchors unique; `label` is its name among several
/// records. A page for paper has only what is printed.
pub(super) fn record(
    record: Record<'_>,
    prefix: &str,
    label: Option<&str>,
    theme: Theme,
    charts: &mut Charts,
) -> Value {
    let findings = record.findings;
    let mut drawn = RecordCharts::of(findings);
    let for_paper = theme == Theme::Print;
    // Of one of several records, paper has the summary and the results only.
    let has_evidence = !for_paper || label.is_none();
    let not_printed = match label {
        None => paper::left_out(findings, &drawn),
        Some(_) => Some(paper::left_out_of_several(findings)),
    };
    if !has_evidence {
        drawn = RecordCharts::default();
    } else if for_paper {
        drawn.curves.truncate(paper::CURVE_CHARTS_MAX);
        drawn.percentiles.truncate(paper::PERCENTILE_CHARTS_MAX);
        drawn.time.retain(|group| group.on_paper);
    }
    let (results, rows_left_out) = results(findings);
    let mut left_out = drawn.left_out.clone();
    if rows_left_out > 0 {
        left_out.push(format!(
            "{rows_left_out} rows of results are not shown; `fourcorners export {} --format csv` \
             has all.",
            findings.id
        ));
    }
    let time_groups: Vec<Value> = drawn
        .time
        .iter()
        .map(|group| {
            let is_shown = |chart: &&Chart| !for_paper || group.is_on_paper(chart);
            let shown = group.charts.iter().filter(is_shown);
            context! {
                name => &group.name,
                on_paper => group.on_paper,
                charts => shown
                    .map(|chart| figure(chart, group.is_on_paper(chart), charts))
                    .collect::<Vec<_>>(),
            }
        })
        .collect();
    context! {
        prefix,
        label,
        evidence => has_evidence,
        name => &findings.name,
        id => &findings.id,
        target => &findings.target,
        source => &findings.source,
        overrides => overrides(findings),
        io_method => findings.io_method,
        seed => findings.seed.to_string(),
        started => date(findings.started_unix_ms),
        outcome => outcome(&findings.outcome),
        notes => findings.notes.iter().map(|note| lines_of(&crate::verdict::words::note(note))).collect::<Vec<_>>(),
        summary => sections::summary::section(findings)
            .map(|section| page::value(&section, charts)),
        tiles => tiles(findings),
        results => html::values(&results, &results_caption(has_evidence)),
        emulated => emulated::table(findings).map(|table| html::value(&table)),
        service_counters => emulated::service_counters(findings),
        sections => sections::of(record, Detail::Whole)
            .iter()
            .map(|section| page::value(section, charts))
            .collect::<Vec<_>>(),
        connection_groups => connection_groups(findings, for_paper),
        runs => paper::runs(findings).map(|table| html::value(&table)),
        not_printed => not_printed.map(|sentence| prose::html(&sentence)),
        warnings => warnings(findings),
        curve_charts => figures(&drawn.curves, paper::CURVE_CHARTS_MAX, charts),
        percentile_charts =>
            figures(&drawn.percentiles, paper::PERCENTILE_CHARTS_MAX, charts),
        time_groups,
        left_out => left_out.iter().map(|sentence| prose::html(sentence)).collect::<Vec<_>>(),
        environment => page::value(&sections::environment::section(findings), charts),
        experiment_text => findings
            .environment
            .iter()
            .find(|(name, _)| name == EXPERIMENT_TEXT)
            .map(|(_, text)| text.clone()),
        repeat_command => &findings.repeat_command,
    }
}

fn outcome(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "Completed as planned.",
        Outcome::Interrupted => "Interrupted by the user.",
        Outcome::Failed { .. } => "Ended by a failure.",
        Outcome::Aborted => "Aborted.",
    }
}

/// The first line of a message, and its further lines as a list: the details of a failure.
fn lines_of(text: &str) -> Value {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = prose::html(lines.next().unwrap_or_default());
    context! { first, more => lines.map(|line| prose::html(line.trim())).collect::<Vec<_>>() }
}

fn tiles(findings: &Findings) -> Vec<Value> {
    let unit = time_unit(&[findings]);
    findings.curves.iter().filter_map(|c| tile(findings, c, unit)).take(TILES_MAX).collect()
}

fn tile(findings: &Findings, curve: &Curve, unit: TimeUnit) -> Option<Value> {
    let most = &curve.points[curve.most?];
    let first = &curve.points[0];
    let data = |load_point: usize| &findings.load_points[load_point].merged.total.data;
    let time = |ns: f64| unit.with_symbol(ns);
    let p99 = data(most.load_point).response.percentile(0.99);
    Some(context! {
        name => &curve.name,
        axis => &curve.axis,
        label => &most.label,
        achieved_rate => printed(data(most.load_point).achieved_rate, plain),
        throughput => printed(data(most.load_point).throughput, mib),
        mean => printed(data(most.load_point).response.mean_ns, time),
        p99 => p99.and_then(|p| p.value_ns).map_or_else(|| percentile(p99, unit), |ns| time(ns as f64)),
        first_label => &first.label,
        first_mean => printed(data(first.load_point).response.mean_ns, time),
    })
}

/// The tables of results, and how many rows are left out.
fn results(findings: &Findings) -> (Vec<Table>, usize) {
    let mut room = ROWS_MAX;
    let mut left_out = 0;
    let mut tables = results::tables(findings);
    for table in &mut tables {
        let count = table.rows.len().min(room);
        room -= count;
        left_out += table.rows.len() - count;
        table.rows.truncate(count);
    }
    tables.retain(|table| !table.rows.is_empty());
    (tables, left_out)
}

fn results_caption(has_evidence: bool) -> String {
    let letters = match has_evidence {
        true => "see the warnings below",
        false => "the record's own report has them in words",
    };
    format!(
        "All load points, repeats combined. n/a: fewer than ten samples above this percentile. \
         Letters in the last column are warnings: {letters}."
    )
}

fn warnings(findings: &Findings) -> Vec<Value> {
    let groups = findings.warnings.iter().map(|group| {
        let Advice { effect, remedy } = group_advice(group);
        let seen = sightings(findings, group);
        let more = seen.len().saturating_sub(SIGHTINGS_MAX);
        let sightings = seen.into_iter().take(SIGHTINGS_MAX).map(|(seen, mut locations)| {
            let left_out = locations.len().saturating_sub(LOCATIONS_MAX);
            if left_out > 0 {
                locations.truncate(LOCATIONS_MAX);
                locations.push(format!("and {left_out} more"));
            }
            context! { seen => lines_of(&seen), locations => locations.join("; ") }
        });
        context! {
            mark => group.mark.to_string(),
            code => group.code,
            matters => prose::html(effect),
            remedy => prose::html(remedy),
            sightings => sightings.collect::<Vec<_>>(),
            more,
        }
    });
    groups.collect()
}

/// The connections of each load point; on paper those of the load point with the highest rate.
fn connection_groups(findings: &Findings, for_paper: bool) -> Vec<Value> {
    let has_connections =
        |point: &&LoadPoint| point.runs.iter().any(|run| !run.connections.is_empty());
    let most = connections::most_loaded(findings);
    let is_most = |point: &LoadPoint| most.is_some_and(|most| std::ptr::eq(most, point));
    let all = findings.load_points.iter().filter(has_connections);
    let groups = all.filter(|point| !for_paper || is_most(point)).take(CONNECTION_GROUPS_MAX);
    let groups = groups.map(|point| {
        context! {
            name => load_point_name(point),
            on_paper => is_most(point),
            table => html::value(&connections::table(point)),
        }
    });
    groups.collect()
}
