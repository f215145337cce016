//! One record as the template `record.html` takes it.

use std::collections::BTreeSet;

use analysis::Findings;
use analysis::curve::Curve;
use analysis::load_point::LoadPoint;
use metrics::environment::EXPERIMENT_TEXT;
use metrics::run_record::Outcome;
use minijinja::{Value, context};

use super::{first_screen, paper};
use crate::charts::{RecordCharts, TimeGroup};
use crate::document::Section;
use crate::document::page::{self, figure, figures};
use crate::drawing::Chart;
use crate::drawing::echarts::Charts;
use crate::drawing::theme::Theme;
use crate::expect::published::Detail;
use crate::glance::Glance;
use crate::number::date;
use crate::prose;
use crate::record::{Record, overrides};
use crate::results::{self, load_point_name};
use crate::sections::bottleneck::BOTTLENECK;
use crate::table::{Table, html};
use crate::warnings::{Advice, group_advice, sightings};
use crate::{connections, emulated, sections};

/// Rows of results on a page.
const ROWS_MAX: usize = 1_200;
/// Load points whose connections a page lists.
const CONNECTION_TABLES_MAX: usize = 40;
/// Sightings of a warning that a page lists.
const SIGHTINGS_MAX: usize = 40;
/// Locations of a sighting that a page lists.
const LOCATIONS_MAX: usize = 12;

/// The record's values. A page for paper has only what is printed.
///
/// * `prefix` - makes its anchors unique
/// * `label` - its name among several records
/// * `used` - receives the definitions that its sections link to
pub(super) fn record(
    record: Record<'_>,
    (prefix, label): (&str, Option<&str>),
    theme: Theme,
    charts: &mut Charts,
    used: &mut BTreeSet<&'static str>,
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
        drawn.time.truncate(paper::TIME_CHARTS_MAX);
        drawn.time.iter_mut().for_each(|group| group.charts.retain(Chart::is_over_time));
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
    let glance = Glance::of(record);
    let (answers, evidence): (Vec<Section>, Vec<Section>) =
        sections::of(record, Detail::Whole).into_iter().partition(sections::is_answer);
    used.extend(answers.iter().chain(&evidence).flat_map(|section| &section.method));
    let screen = glance.as_ref().map(|glance| first_screen::screen(findings, glance, charts));
    context! {
        prefix,
        label,
        has_evidence,
        for_paper,
        id => &findings.id,
        user_label => record.remarks.label,
        note => record.remarks.note,
        title => glance.as_ref().map_or(&findings.name, |glance| &glance.title),
        context => glance.as_ref().map(|glance| &glance.context),
        target => &findings.target,
        source => &findings.source,
        overrides => overrides(findings),
        io_method => findings.io_method,
        seed => findings.seed.to_string(),
        started => date(findings.started_unix_ms),
        outcome => outcome(findings),
        notes => findings
            .notes
            .iter()
            .map(|note| lines_of(&crate::verdict::words::note(note)))
            .collect::<Vec<_>>(),
        screen,
        answers => answers.iter().map(|section| page::value(section, charts)).collect::<Vec<_>>(),
        results => html::values(&results, &results_caption(has_evidence)),
        emulated => emulated::table(findings).map(|table| html::value(&table)),
        service_counters => emulated::service_counters(findings),
        trees => crate::trees::sentences(findings),
        sections => evidence
            .into_iter()
            .map(|section| page::value(&folded(section), charts))
            .collect::<Vec<_>>(),
        connection_groups => connection_groups(findings, for_paper),
        runs => paper::runs(findings).map(|table| html::value(&table)),
        not_printed => not_printed.map(|sentence| prose::html(&sentence)),
        warnings => warnings(findings),
        curve_charts => figures(&drawn.curves, paper::CURVE_CHARTS_MAX, charts),
        percentile_charts => figures(&drawn.percentiles, paper::PERCENTILE_CHARTS_MAX, charts),
        time_groups => time_groups(&drawn.time, charts),
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

/// A folded section. The first screen has the bottlenecks already, and links to their evidence.
fn folded(section: Section) -> Section {
    match section.id {
        BOTTLENECK => {
            Section { id: "evidence", title: "Evidence for the bottleneck".to_owned(), ..section }
        }
        _ => section,
    }
}

/// The charts over time of each curve, of which those of the first curves are printed, without heat maps.
fn time_groups(groups: &[TimeGroup], charts: &mut Charts) -> Vec<Value> {
    let group = |(index, group): (usize, &TimeGroup)| {
        let on_paper = index < paper::TIME_CHARTS_MAX;
        let shown = group.charts.iter();
        context! {
            name => &group.name,
            on_paper,
            charts => shown
                .map(|chart| figure(chart, on_paper && chart.is_over_time(), charts))
                .collect::<Vec<_>>(),
        }
    };
    groups.iter().enumerate().map(group).collect()
}

fn outcome(findings: &Findings) -> &'static str {
    match &findings.outcome {
        // A note says what is missing.
        Outcome::Done if !findings.notes.is_empty() => "Completed, but not as planned.",
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

/// The connections of each curve's load points; on paper those of the load point with the highest
/// rate.
fn connection_groups(findings: &Findings, for_paper: bool) -> Vec<Value> {
    let has_connections =
        |point: &&LoadPoint| point.runs.iter().any(|run| !run.connections.is_empty());
    let most = connections::most_loaded(findings);
    let is_most = |point: &LoadPoint| most.is_some_and(|most| std::ptr::eq(most, point));
    let mut room = CONNECTION_TABLES_MAX;
    let group = |curve: &Curve| {
        let all = curve.points.iter().map(|point| &findings.load_points[point.load_point]);
        let shown = all.filter(has_connections).filter(|point| !for_paper || is_most(point));
        let shown: Vec<&LoadPoint> = shown.take(room).collect();
        room -= shown.len();
        let table = |point: &&LoadPoint| {
            let table = html::value(&connections::table(findings, point));
            context! { name => load_point_name(point), on_paper => is_most(point), table }
        };
        (!shown.is_empty()).then(|| {
            context! {
                name => &curve.name,
                on_paper => shown.iter().any(|point| is_most(point)),
                tables => shown.iter().map(table).collect::<Vec<_>>(),
            }
        })
    };
    findings.curves.iter().filter_map(group).collect()
}
