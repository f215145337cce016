//! A report as one HTML file: opens from disk, needs no network, prints.
//!
//! The page is a template with escaping on, because names come from users; charts are options for
//! ECharts made in [`crate::charts`], carried as JSON; the bundle is vendored under
//! `assets/echarts`.

use analysis::Findings;
use analysis::curve::Curve;
use analysis::estimate::Estimate;
use analysis::load_point::LoadPoint;
use analysis::times::FRACTIONS;
use metrics::run_record::Outcome;
use minijinja::{Environment, Value, context};

use crate::charts::{self, Charts};
use crate::document::page::{self, marked_up};
use crate::method;
use crate::number::{NONE, date, half_width, mib, percentile_name, plain, thousands, us};
use crate::rows::{self, TimeUnit, load_point_name, percentile};
use crate::text::sightings_by_words;
use crate::{connections, emulated, sections};

const TEMPLATE: &str = include_str!("../assets/report.html");
const STYLE: &str = include_str!("../assets/report.css");
const ECHARTS: &str = include_str!("../assets/echarts/echarts.min.js");
const CHARTS_JS: &str = include_str!("../assets/charts.js");

/// The environment's entry that holds the experiment as it was written. It has its own place on the
/// page, so that a report that was passed on can be repeated.
pub const EXPERIMENT_TEXT: &str = "experiment.text";

/// The report could not be laid out: a mistake of ours, in the template.
#[derive(Debug, thiserror::Error)]
#[error("lay out the report: {0}")]
pub struct RenderError(#[from] minijinja::Error);

/// The whole page.
///
/// # Errors
/// Only where the template is wrong.
pub fn render(findings: &Findings) -> Result<String, RenderError> {
    let mut environment = Environment::new();
    // The name's ending turns escaping on.
    environment.add_template("report.html", TEMPLATE)?;
    let mut charts = Charts::default();
    let curve_charts = curve_charts(findings, &mut charts);
    let percentile_charts = percentile_charts(findings, &mut charts);
    let time_groups = time_groups(findings, &mut charts);
    let page = environment.get_template("report.html")?.render(context! {
        name => &findings.name,
        id => &findings.id,
        target => &findings.target,
        source => &findings.source,
        engine => findings.engine,
        engine_reason => marked_up(&findings.engine_reason),
        plan_hash => &findings.plan_hash,
        seed => findings.seed.to_string(),
        started => date(findings.started_unix_ms),
        outcome => outcome_in_words(&findings.outcome),
        notes => findings.notes.iter().map(|note| lines_of(note)).collect::<Vec<_>>(),
        tiles => findings.curves.iter().filter_map(|c| tile(findings, c)).collect::<Vec<_>>(),
        blocks => blocks(findings),
        emulated => emulated_volume(findings),
        witness => emulated::witness(findings),
        connection_groups => connection_groups(findings),
        sections => sections::of(findings).iter().map(page::value).collect::<Vec<_>>(),
        warnings => warnings(findings),
        curve_charts,
        percentile_charts,
        percentile_names => FRACTIONS.map(percentile_name),
        time_groups,
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
        method => method::definitions(),
        repeat_command => &findings.repeat_command,
        style => Value::from_safe_string(STYLE.to_owned()),
        echarts => Value::from_safe_string(ECHARTS.to_owned()),
        charts_js => Value::from_safe_string(CHARTS_JS.to_owned()),
        charts => Value::from_safe_string(charts.into_script_json()),
    })?;
    Ok(page)
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

fn blocks(findings: &Findings) -> Vec<Value> {
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
    let block = |block: rows::Block<'_>| {
        context! {
            name => &block.name,
            axis => block.axis,
            rows => block.rows.iter().map(row).collect::<Vec<_>>(),
        }
    };
    rows::blocks(findings).into_iter().map(block).collect()
}

fn warnings(findings: &Findings) -> Vec<Value> {
    let groups = findings.warnings.iter().map(|group| {
        let sightings = sightings_by_words(findings, group).into_iter().map(|(seen, places)| {
            context! { seen => lines_of(seen), places => places.join("; ") }
        });
        context! {
            mark => group.mark.to_string(),
            code => group.code,
            matters => marked_up(group.matters),
            remedy => marked_up(group.remedy),
            sightings => sightings.collect::<Vec<_>>(),
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

/// The connections of each load point, a row for each connection of each repeat.
fn connection_groups(findings: &Findings) -> Vec<Value> {
    let with =
        findings.load_points.iter().filter(|p| p.runs.iter().any(|r| !r.connections.is_empty()));
    let groups = with.map(|point| {
        let rows = point.runs.iter().flat_map(|run| {
            run.connections.iter().map(|connection| {
                context! { repeat => run.repeat + 1, cells => connections::cells(connection) }
            })
        });
        let name = load_point_name(point);
        context! { name, repeats => point.runs.len(), rows => rows.collect::<Vec<_>>() }
    });
    groups.collect()
}

/// Charts of the curves: one set for each thing that was swept.
fn curve_charts(findings: &Findings, charts: &mut Charts) -> Vec<Value> {
    let mut axes: Vec<&str> = Vec::new();
    for curve in &findings.curves {
        if !axes.contains(&curve.axis.as_str()) {
            axes.push(&curve.axis);
        }
    }
    let mut figures = Vec::new();
    for axis in axes {
        let curves: Vec<&Curve> = findings.curves.iter().filter(|c| c.axis == axis).collect();
        let names: Vec<&str> = curves.iter().map(|c| c.name.as_str()).collect();
        let names = names.join("; ");
        let [limit, delays] = emulated::in_captions(findings);
        let captions = [
            format!("Throughput in MiB/s by {axis}: {names}.{limit}"),
            format!(
                "Mean (solid) and p99 (dashed) response time in µs by {axis}: {names}.{delays}"
            ),
            format!(
                "Mean response time in µs by achieved rate in ops/s, along the {axis}: {names}."
            ),
        ];
        let options = [
            charts::throughput(findings, &curves, &captions[0]),
            charts::response_time(findings, &curves, &captions[1]),
            charts::response_by_rate(findings, &curves, &captions[2]),
        ];
        for (option, caption) in options.into_iter().zip(captions) {
            figures.push(context! { chart => charts.add(option), caption });
        }
    }
    figures
}

fn percentile_charts(findings: &Findings, charts: &mut Charts) -> Vec<Value> {
    let figures = findings.curves.iter().map(|curve| {
        let caption =
            format!("Response time by percentile: {}, a line for each {}.", curve.name, curve.axis);
        let rows = curve.points.iter().map(|point| {
            let times = &findings.load_points[point.load_point].merged.total.data.response;
            let mut cells = vec![thousands(i128::from(times.samples))];
            cells.extend(times.percentiles.iter().map(|p| percentile(Some(p), TimeUnit::Us)));
            cells.push(times.max_ns.map_or(NONE.to_owned(), |ns| us(ns as f64)));
            context! { label => &point.label, cells }
        });
        context! {
            axis => &curve.axis,
            rows => rows.collect::<Vec<_>>(),
            chart => charts.add(charts::percentiles(findings, curve, &caption)),
            caption,
        }
    });
    figures.collect()
}

fn time_groups(findings: &Findings, charts: &mut Charts) -> Vec<Value> {
    let groups = findings.load_points.iter().map(|load_point| {
        let figures = load_point.runs.iter().filter_map(|run| {
            let series: Vec<_> =
                findings.series.iter().filter(|s| s.run_index == run.index).collect();
            let drawable = series.iter().any(|s| !s.points.is_empty());
            let caption = run_in_words(load_point, run.repeat, &run.summary);
            drawable.then(|| {
                let option = charts::over_time(&series, &caption);
                context! { chart => charts.add(option), caption }
            })
        });
        context! { name => load_point_name(load_point), charts => figures.collect::<Vec<_>>() }
    });
    groups.collect()
}

/// What a run's chart shows, for those who cannot see it.
fn run_in_words(
    load_point: &LoadPoint,
    repeat: u32,
    summary: &analysis::load_point::Summary,
) -> String {
    let mut words = match load_point.runs.len() {
        1 => "Window: ".to_owned(),
        count => format!("Repeat {} of {count}, window: ", repeat + 1),
    };
    let streams = summary.streams.iter().map(|stream| {
        let name =
            if summary.streams.len() > 1 { format!("{}: ", stream.name) } else { String::new() };
        let plus_minus = stream
            .data
            .achieved_rate
            .and_then(|r| r.relative())
            .map_or(String::new(), |share| format!(" ± {}", half_width(share)));
        format!(
            "{name}{} ops/s{plus_minus}, {} MiB/s, response time mean {} µs, p99 {} µs, \
             outstanding {}",
            printed(stream.data.achieved_rate, plain),
            printed(stream.data.throughput, mib),
            printed(stream.data.response.mean_ns, us),
            percentile(stream.data.response.percentile(0.99), TimeUnit::Us),
            printed(stream.outstanding_mean, plain),
        )
    });
    words.push_str(&streams.collect::<Vec<_>>().join("; "));
    words.push_str(&format!("; processors used {}.", printed(summary.cpu_used, plain)));
    words
}
