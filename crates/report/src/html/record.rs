//! What the template shows of one record.

use analysis::Findings;
use analysis::curve::Curve;
use analysis::estimate::Estimate;
use analysis::load_point::LoadPoint;
use metrics::run_record::Outcome;
use minijinja::{Value, context};

use super::{EXPERIMENT_TEXT, paper};
use crate::chart::Chart;
use crate::chart::echarts::Charts;
use crate::chart::theme::Theme;
use crate::charts::RecordCharts;
use crate::document::figures::{figure, figures};
use crate::document::page::{self, marked_up};
use crate::expect::published::Detail;
use crate::number::{NONE, date, mib, plain, us};
use crate::record::Record;
use crate::rows::{self, TimeUnit, load_point_name, percentile};
use crate::text::{overrides, sightings_by_words};
use crate::{connections, emulated, sections};

/// Rows of results that a page carries.
const ROWS_MAX: usize = 1_200;
/// Load points whose connections a page lists.
const CONNECTION_GROUPS_MAX: usize = 40;
/// Sightings of a warning that a page lists.
const SIGHTINGS_MAX: usize = 40;
/// Places of a sighting that a page lists.
const PLACES_MAX: usize = 12;

/// The record as the template's `record` takes it. `prefix` keeps its anchors apart from those of
/// other records; `label` is what it is called among several. A page for paper lacks what is not
/// printed.
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
    // Beside others a record has its summary and its results on paper.
    let evidence = !for_paper || label.is_none();
    let not_printed = match label {
        None => paper::left_out(findings, &drawn),
        Some(_) => Some(paper::left_out_beside_others(findings)),
    };
    if !evidence {
        drawn = RecordCharts::default();
    } else if for_paper {
        drawn.curves.truncate(paper::CURVE_CHARTS_MAX);
        drawn.percentiles.truncate(paper::PERCENTILE_CHARTS_MAX);
        drawn.time.retain(|group| group.on_paper);
    }
    let (blocks, rows_left_out) = blocks(findings);
    let mut left_out = drawn.left_out.clone();
    if rows_left_out > 0 {
        left_out.push(format!(
            "{rows_left_out} more rows of results are left out here; `fourcorners export {} \
             --format csv` has all.",
            findings.id
        ));
    }
    let time_groups: Vec<Value> = drawn
        .time
        .iter()
        .map(|group| {
            let wanted = |chart: &&Chart| !for_paper || group.is_on_paper(chart);
            let each = group.charts.iter().filter(wanted);
            context! {
                name => &group.name,
                on_paper => group.on_paper,
                charts => each
                    .map(|chart| figure(chart, group.is_on_paper(chart), charts))
                    .collect::<Vec<_>>(),
            }
        })
        .collect();
    context! {
        prefix,
        label,
        evidence,
        name => &findings.name,
        id => &findings.id,
        target => &findings.target,
        source => &findings.source,
        overrides => overrides(findings),
        engine => findings.engine,
        engine_reason => marked_up(&findings.engine_reason),
        plan_hash => &findings.plan_hash,
        seed => findings.seed.to_string(),
        started => date(findings.started_unix_ms),
        outcome => outcome_in_words(&findings.outcome),
        notes => findings.notes.iter().map(|note| lines_of(note)).collect::<Vec<_>>(),
        summary => sections::summary::section(findings)
            .map(|section| page::value(&section, charts)),
        tiles => tiles(findings),
        blocks,
        emulated => emulated_volume(findings),
        witness => emulated::witness(findings),
        sections => sections::of(record, Detail::Whole)
            .iter()
            .map(|section| page::value(section, charts))
            .collect::<Vec<_>>(),
        connection_groups => connection_groups(findings, for_paper),
        runs => paper::runs(findings).map(|table| page::table_value(&table)),
        not_printed => not_printed.map(|words| marked_up(&words)),
        warnings => warnings(findings),
        curve_charts => figures(&drawn.curves, paper::CURVE_CHARTS_MAX, charts),
        percentile_charts =>
            figures(&drawn.percentiles, paper::PERCENTILE_CHARTS_MAX, charts),
        time_groups,
        left_out => left_out.iter().map(|words| marked_up(words)).collect::<Vec<_>>(),
        environment => findings
            .environment
            .iter()
            .filter(|(name, _)| name != EXPERIMENT_TEXT)
            .cloned()
            .collect::<Vec<_>>(),
        experiment_text => findings
            .environment
            .iter()
            .find(|(name, _)| name == EXPERIMENT_TEXT)
            .map(|(_, text)| text.clone()),
        repeat_command => &findings.repeat_command,
    }
}

fn outcome_in_words(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "Done as planned.",
        Outcome::Interrupted => "Interrupted by the user.",
        Outcome::Failed { .. } => "Ended by a failure.",
        Outcome::Aborted => "Aborted.",
    }
}

/// The first line of a text, and the further ones, which are a list: the particulars of a failure.
fn lines_of(text: &str) -> Value {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = marked_up(lines.next().unwrap_or_default());
    context! { first, more => lines.map(|line| marked_up(line.trim())).collect::<Vec<_>>() }
}

fn printed(estimate: Option<Estimate>, print: fn(f64) -> String) -> String {
    estimate.map_or(NONE.to_owned(), |e| print(e.value))
}

/// More curves than this are read in the table.
const TILES_MAX: usize = 12;

fn tiles(findings: &Findings) -> Vec<Value> {
    findings.curves.iter().filter_map(|c| tile(findings, c)).take(TILES_MAX).collect()
}

fn tile(findings: &Findings, curve: &Curve) -> Option<Value> {
    let most = &curve.points[curve.most?];
    let first = &curve.points[0];
    let data = &findings.load_points[most.load_point].merged.total.data;
    let first_data = &findings.load_points[first.load_point].merged.total.data;
    Some(context! {
        name => &curve.name,
        axis => &curve.axis,
        label => &most.label,
        achieved_rate => printed(data.achieved_rate, plain),
        throughput => printed(data.throughput, mib),
        mean => printed(data.response.mean_ns, us),
        p99 => percentile(data.response.percentile(0.99), TimeUnit::Us),
        first_label => &first.label,
        first_mean => printed(first_data.response.mean_ns, us),
    })
}

/// The blocks of the results, and how many rows have no room.
fn blocks(findings: &Findings) -> (Vec<Value>, usize) {
    let row = |row: &rows::Row<'_>| {
        context! {
            label => &row.label,
            load_point => row.load_point,
            stream => &row.stream.name,
            operation => row.ops.name,
            kind => !row.whole_stream,
            cells => row.cells(TimeUnit::Us),
        }
    };
    let mut room = ROWS_MAX;
    let mut left_out = 0;
    let mut shown = Vec::new();
    for block in rows::blocks(findings) {
        let count = block.rows.len().min(room);
        room -= count;
        left_out += block.rows.len() - count;
        if count > 0 {
            shown.push(context! {
                name => &block.name,
                axis => block.axis,
                rows => block.rows.iter().take(count).map(row).collect::<Vec<_>>(),
            });
        }
    }
    (shown, left_out)
}

fn warnings(findings: &Findings) -> Vec<Value> {
    let groups = findings.warnings.iter().map(|group| {
        let seen = sightings_by_words(findings, group);
        let more = seen.len().saturating_sub(SIGHTINGS_MAX);
        let sightings = seen.into_iter().take(SIGHTINGS_MAX).map(|(seen, mut places)| {
            let left_out = places.len().saturating_sub(PLACES_MAX);
            if left_out > 0 {
                places.truncate(PLACES_MAX);
                places.push(format!("and {left_out} more"));
            }
            context! { seen => lines_of(seen), places => places.join("; ") }
        });
        context! {
            mark => group.mark.to_string(),
            code => group.code,
            matters => marked_up(group.matters),
            remedy => marked_up(group.remedy),
            sightings => sightings.collect::<Vec<_>>(),
            more,
        }
    });
    groups.collect()
}

fn emulated_volume(findings: &Findings) -> Vec<Value> {
    let row = |row: emulated::Row| {
        let emulated::Row { name, configured, measured, place } = row;
        context! { name, configured, measured, place }
    };
    emulated::rows(findings).into_iter().map(row).collect()
}

/// The connections of each load point, a row for each connection of each repeat; on paper those of
/// the load point with the highest rate.
fn connection_groups(findings: &Findings, for_paper: bool) -> Vec<Value> {
    let with = |point: &&LoadPoint| point.runs.iter().any(|run| !run.connections.is_empty());
    let most = connections::most_loaded(findings);
    let is_most = |point: &LoadPoint| most.is_some_and(|most| std::ptr::eq(most, point));
    let all = findings.load_points.iter().filter(with);
    let groups = all.filter(|point| !for_paper || is_most(point)).take(CONNECTION_GROUPS_MAX);
    let groups = groups.map(|point| {
        let rows = point.runs.iter().flat_map(|run| {
            run.connections.iter().map(|connection| {
                context! { repeat => run.repeat + 1, cells => connections::cells(connection) }
            })
        });
        context! {
            name => load_point_name(point),
            on_paper => is_most(point),
            repeats => point.runs.len(),
            rows => rows.collect::<Vec<_>>(),
        }
    });
    groups.collect()
}
