//! All charts of one record, within the limits of a page.

use analysis::Findings;
use analysis::curve::{Curve, CurvePoint};
use analysis::load_point::{LoadPoint, Summary};

use super::heat::heat;
use super::over_time::{Segment, moves_data, over_time};
use super::percentiles::percentiles;
use super::shown_curve::{ShownCurve, chart_unit, colours, file_name, load_label};
use super::{host_heat, kinds, metric, of_curves, parts, tune};
use crate::drawing::Chart;
use crate::number::{TimeUnit, mib, plain};
use crate::results::{self, load_point_name, missing_hosts, percentile, plus_minus, printed};

/// Charts of curves on a page.
const CURVE_CHARTS_MAX: usize = 48;
/// Charts of percentiles on a page.
const PERCENTILE_CHARTS_MAX: usize = 24;
/// Records with more runs show only the load points that a reader needs first over time.
const RUNS_MAX: usize = 90;
/// Cells of all heat maps together.
const CELLS_MAX: usize = 15_000;
/// Cells of the heat maps of kinds of operations.
const KIND_CELLS_MAX: usize = 15_000;

/// The charts of a record, and what is left out of them.
#[derive(Default)]
pub(crate) struct RecordCharts {
    pub(crate) curves: Vec<Chart>,
    /// Charts of percentiles of the response time.
    pub(crate) percentiles: Vec<Chart>,
    /// Charts over time, by curve.
    pub(crate) time: Vec<TimeGroup>,
    /// What is left out, in whole sentences.
    pub(crate) left_out: Vec<String>,
}

/// A curve over time.
pub(crate) struct TimeGroup {
    /// The name of the curve.
    pub(crate) name: String,
    /// The chart of all its runs, and heat maps of some.
    pub(crate) charts: Vec<Chart>,
}

impl RecordCharts {
    /// All charts that these findings have.
    pub(crate) fn of(findings: &Findings) -> RecordCharts {
        let shown = ShownCurve::of(findings);
        let mut left_out = Vec::new();
        let tuning = findings.tune.as_ref().and_then(tune::tune);
        let metric = findings.metric.as_ref().map(metric::metric);
        let answers = tuning.into_iter().chain(metric).filter(Chart::has_measurements);
        let mut curves: Vec<Chart> =
            answers.chain(parts::charts(findings)).chain(of_curves(&shown)).collect();
        cut(&mut curves, CURVE_CHARTS_MAX, "charts of curves", &mut left_out);
        let mut percentiles: Vec<Chart> = shown
            .iter()
            .take(PERCENTILE_CHARTS_MAX + 1)
            .map(|one| percentiles(one, colours(&shown)))
            .collect();
        percentiles.retain(Chart::has_measurements);
        if shown.len() > PERCENTILE_CHARTS_MAX {
            percentiles.truncate(PERCENTILE_CHARTS_MAX);
            left_out.push(shown_of(PERCENTILE_CHARTS_MAX, shown.len(), "charts of percentiles"));
        }
        RecordCharts { curves, percentiles, time: time(findings, &mut left_out), left_out }
    }

    /// All charts in the order of the page, for files of them.
    pub(crate) fn all(self) -> impl Iterator<Item = Chart> {
        let time = self.time.into_iter().flat_map(|group| group.charts);
        self.curves.into_iter().chain(self.percentiles).chain(time)
    }
}

fn shown_of(shown: usize, all: usize, plural: &str) -> String {
    format!("{shown} of {all} {plural} are shown; the exports have all numbers.")
}

fn cut(charts: &mut Vec<Chart>, max: usize, plural: &str, left_out: &mut Vec<String>) {
    if charts.len() > max {
        left_out.push(shown_of(max, charts.len(), plural));
        charts.truncate(max);
    }
}

fn time(findings: &Findings, left_out: &mut Vec<String>) -> Vec<TimeGroup> {
    let runs: usize = findings.load_points.iter().map(|point| point.runs.len()).sum();
    let indices = match runs <= RUNS_MAX {
        true => (0..findings.load_points.len()).collect(),
        false => most_important(findings),
    };
    if indices.len() < findings.load_points.len() {
        let all = findings.load_points.len();
        left_out.push(shown_of(indices.len(), all, "load points over time"));
    }
    let unit = chart_unit(&[findings]);
    let mut cells = 0;
    let mut kind_cells = 0;
    let groups = findings.curves.iter().enumerate().filter_map(|(number, curve)| {
        let points = || curve.points.iter().filter(|point| indices.contains(&point.load_point));
        let drawn = of_curve(findings, (number, curve), points(), unit);
        let mut charts: Vec<Chart> = drawn.into_iter().collect();
        for point in points() {
            let load_point = &findings.load_points[point.load_point];
            let found = findings.heats.iter().find(|heat| heat.load_point == point.load_point);
            if let Some(found) = found.filter(|heat| cells + heat.cells.len() <= CELLS_MAX) {
                cells += found.cells.len();
                let name = load_point_name(load_point);
                let subject = format!("{}.", run_name(load_point));
                let title = format!("Response times over time: {name}");
                charts.push(heat(
                    found,
                    [file_name(&format!("heat-{name}")), title, subject],
                    unit,
                ));
            }
            let found =
                findings.kinds_over_time.iter().find(|one| one.load_point == point.load_point);
            if let Some(found) = found {
                let room = KIND_CELLS_MAX - kind_cells;
                kind_cells += found.kinds.iter().map(|one| one.heat.cells.len()).sum::<usize>();
                kind_cells = kind_cells.min(KIND_CELLS_MAX);
                charts.extend(kinds::charts(found, &run_name(load_point), unit, room));
            }
            let hosts = findings.fleet.as_ref().map_or(&[][..], |fleet| &fleet.hosts);
            let found = findings.host_heats.iter().find(|heat| heat.load_point == point.load_point);
            if let Some(found) = found {
                charts.extend(host_heat::charts(found, hosts, &load_point_name(load_point), unit));
            }
        }
        (!charts.is_empty()).then(|| TimeGroup { name: curve.name.clone(), charts })
    });
    groups.collect()
}

/// The first run of a load point in words.
fn run_name(load_point: &LoadPoint) -> String {
    let name = load_point_name(load_point);
    match load_point.runs.len() {
        1 => name,
        count => format!("{name}, repeat 1 of {count}"),
    }
}

/// The first load point of each curve and the one with its highest rate, in the order of the plan,
/// within [`RUNS_MAX`].
fn most_important(findings: &Findings) -> Vec<usize> {
    let mut indices: Vec<usize> = Vec::new();
    let mut runs = 0;
    let ends = findings.curves.iter().flat_map(|curve| {
        let most = curve.most.and_then(|most| curve.points.get(most));
        curve.points.first().into_iter().chain(most).map(|point| point.load_point)
    });
    for index in ends {
        let count = findings.load_points[index].runs.len();
        if !indices.contains(&index) && runs + count <= RUNS_MAX {
            indices.push(index);
            runs += count;
        }
    }
    indices.sort_unstable();
    indices
}

/// The runs of a curve at these points over time, in one chart.
fn of_curve<'a>(
    findings: &Findings,
    (number, curve): (usize, &Curve),
    points: impl Iterator<Item = &'a CurvePoint>,
    unit: TimeUnit,
) -> Option<Chart> {
    let mut runs: Vec<Segment<'_>> = Vec::new();
    let mut only = None;
    for point in points {
        let load_point = &findings.load_points[point.load_point];
        for run in &load_point.runs {
            let series = findings.series.iter().filter(|one| one.run_index == run.index);
            let streams: Vec<_> = series.filter(|one| !one.points.is_empty()).collect();
            let is_first = run.index == load_point.runs[0].index;
            if !streams.is_empty() {
                let start_s = runs.last().map_or(0.0, Segment::end_s);
                let label = if is_first { load_label(curve, point) } else { String::new() };
                runs.push(Segment { start_s, label, streams });
                only = Some((load_point, run));
            }
        }
    }
    let (load_point, run) = only?;
    let caption = match runs.len() {
        1 => caption(load_point, run.repeat, &run.summary, unit),
        count => format!(
            "{count} runs one after another, by {}: achieved rate, {}response time in {} (p99 thin), \
             operations outstanding with processors used. Their numbers are in the table of all \
             load points.",
            curve.axis,
            if moves_data(&runs) { "throughput, " } else { "" },
            unit.symbol()
        ),
    };
    if runs.len() == 1 {
        runs[0].label.clear();
    }
    let file = file_name(&format!("over-time-{}", curve.name));
    let rate_unit = results::rate_unit(load_point.merged.total.is_on_names());
    let words = [file, format!("Over time: {}", curve.name), caption];
    Some(over_time(&runs, words, unit, (number, rate_unit)))
}

/// The numbers of a run's chart, for readers who cannot see it.
fn caption(load_point: &LoadPoint, repeat: u32, summary: &Summary, unit: TimeUnit) -> String {
    let mut caption = match load_point.runs.len() {
        1 => "Window".to_owned(),
        count => format!("Repeat {} of {count}, window", repeat + 1),
    };
    if let Some(missing) = load_point.missing_hosts {
        caption.push_str(&format!(" ({})", missing_hosts(missing)));
    }
    caption.push_str(": ");
    let streams = summary.streams.iter().map(|stream| {
        let name =
            if summary.streams.len() > 1 { format!("{}: ", stream.name) } else { String::new() };
        let data = &stream.data;
        format!(
            "{name}{} ops/s{}{}, response time in {}: mean {}, p99 {}; outstanding {}",
            printed(data.achieved_rate, plain),
            data.achieved_rate.map_or(String::new(), plus_minus),
            data.throughput_of_data()
                .map_or(String::new(), |one| format!(", {} MiB/s", mib(one.value))),
            unit.symbol(),
            printed(data.response.mean_ns, |ns| unit.print(ns)),
            percentile(data.response.percentile(0.99), unit),
            printed(stream.outstanding_mean, plain),
        )
    });
    caption.push_str(&streams.collect::<Vec<_>>().join("; "));
    caption.push_str(&format!("; processors used {}.", printed(summary.cpu_used, plain)));
    caption
}
