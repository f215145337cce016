//! All charts of one record, as many as a page can carry and a reader can use.

use analysis::Findings;
use analysis::curve::Curve;
use analysis::estimate::Estimate;
use analysis::load_point::{LoadPoint, RunSummary, Summary};

use super::{Shown, file_name, heat, of_curves, over_time, percentiles, tune};
use crate::chart::Chart;
use crate::number::{NONE, half_width, mib, plain, us};
use crate::rows::{TimeUnit, load_point_name, percentile};

/// Charts of curves that a page carries.
const CURVE_CHARTS_MAX: usize = 48;
/// Charts of percentiles that a page carries.
const PERCENTILE_CHARTS_MAX: usize = 24;
/// Runs that are all shown over time; of more, only those where a reader looks first.
const RUNS_MAX: usize = 90;
/// Load points whose first run is printed over time: about a page each.
const PAPER_MAX: usize = 4;
/// Cells of all heat maps together.
const CELLS_MAX: usize = 15_000;

/// The charts of a record, and what is left out of them.
#[derive(Default)]
pub(crate) struct RecordCharts {
    /// Of the curves.
    pub(crate) curves: Vec<Chart>,
    /// Of the response times' percentiles.
    pub(crate) percentiles: Vec<Chart>,
    /// Over time, by load point.
    pub(crate) time: Vec<TimeGroup>,
    /// What is not shown, in whole sentences.
    pub(crate) left_out: Vec<String>,
}

/// What a load point did over time.
pub(crate) struct TimeGroup {
    /// The load point.
    pub(crate) name: String,
    /// Its runs, and the heat map of the first.
    pub(crate) charts: Vec<Chart>,
    /// It is one of those that are printed.
    pub(crate) on_paper: bool,
}

impl TimeGroup {
    /// Whether one of its charts is printed: the first run, and the heat map of it.
    pub(crate) fn is_on_paper(&self, chart: &Chart) -> bool {
        let first = self.charts.first().is_some_and(|first| first.name == chart.name);
        self.on_paper && (first || chart.panels.len() == 1)
    }
}

impl RecordCharts {
    /// All charts that these findings have.
    pub(crate) fn of(findings: &Findings) -> RecordCharts {
        let shown = Shown::all(&[(None, findings)]);
        let mut left_out = Vec::new();
        let tuning = findings.tune.as_ref().and_then(tune::tune);
        let mut curves: Vec<Chart> = tuning.into_iter().chain(of_curves(&shown)).collect();
        cut(&mut curves, CURVE_CHARTS_MAX, "charts of curves", &mut left_out);
        let mut percentiles: Vec<Chart> =
            shown.iter().take(PERCENTILE_CHARTS_MAX + 1).map(percentiles).collect();
        percentiles.retain(Chart::shows_something);
        if shown.len() > PERCENTILE_CHARTS_MAX {
            percentiles.truncate(PERCENTILE_CHARTS_MAX);
            left_out.push(said_of(PERCENTILE_CHARTS_MAX, shown.len(), "charts of percentiles"));
        }
        RecordCharts { curves, percentiles, time: time(findings, &mut left_out), left_out }
    }

    /// All charts in the order of the page, for files of them.
    pub(crate) fn all(self) -> impl Iterator<Item = Chart> {
        let time = self.time.into_iter().flat_map(|group| group.charts);
        self.curves.into_iter().chain(self.percentiles).chain(time)
    }
}

fn said_of(shown: usize, all: usize, what: &str) -> String {
    format!("{shown} of {all} {what} are shown; the exports have all numbers.")
}

fn cut(charts: &mut Vec<Chart>, most: usize, what: &str, left_out: &mut Vec<String>) {
    if charts.len() > most {
        left_out.push(said_of(most, charts.len(), what));
        charts.truncate(most);
    }
}

fn time(findings: &Findings, left_out: &mut Vec<String>) -> Vec<TimeGroup> {
    let runs: usize = findings.load_points.iter().map(|point| point.runs.len()).sum();
    let places = match runs <= RUNS_MAX {
        true => (0..findings.load_points.len()).collect(),
        false => where_readers_look(findings),
    };
    if places.len() < findings.load_points.len() {
        let all = findings.load_points.len();
        left_out.push(said_of(places.len(), all, "load points over time"));
    }
    let paper = on_paper(findings);
    let mut cells = 0;
    let groups = places.into_iter().map(|place| {
        let load_point = &findings.load_points[place];
        let name = load_point_name(load_point);
        let mut charts: Vec<Chart> = load_point
            .runs
            .iter()
            .filter_map(|run| of_run(findings, load_point, run, &name))
            .collect();
        let found = findings.heats.iter().find(|heat| heat.load_point == place);
        let of_place = found.filter(|heat| cells + heat.cells.len() <= CELLS_MAX);
        if let Some(found) = of_place {
            cells += found.cells.len();
            let words = match load_point.runs.len() {
                1 => format!("{name}."),
                count => format!("{name}, repeat 1 of {count}."),
            };
            let title = format!("Response times over time: {name}");
            charts.push(heat(found, file_name(&format!("heat-{name}")), title, &words));
        }
        TimeGroup { name, charts, on_paper: paper.contains(&place) }
    });
    groups.collect()
}

/// The first load point of each curve and the one with its highest rate, in the order of the plan,
/// as many as have at most as many runs as are shown.
fn where_readers_look(findings: &Findings) -> Vec<usize> {
    let mut places: Vec<usize> = Vec::new();
    let mut runs = 0;
    let ends = findings.curves.iter().flat_map(|curve| {
        let most = curve.most.and_then(|most| curve.points.get(most));
        curve.points.first().into_iter().chain(most).map(|point| point.load_point)
    });
    for place in ends {
        let count = findings.load_points[place].runs.len();
        if !places.contains(&place) && runs + count <= RUNS_MAX {
            places.push(place);
            runs += count;
        }
    }
    places.sort_unstable();
    places
}

/// The load points whose runs over time are printed: the highest rate of each curve, and of an only
/// curve its beginning too.
fn on_paper(findings: &Findings) -> Vec<usize> {
    let highest = |curve: &Curve| Some(curve.points.get(curve.most?)?.load_point);
    let places = findings.curves.iter().filter_map(highest).take(PAPER_MAX);
    let beginning = match findings.curves.as_slice() {
        [only] => only.points.first().map(|point| point.load_point),
        _ => None,
    };
    places.chain(beginning).collect()
}

fn of_run(
    findings: &Findings,
    load_point: &LoadPoint,
    run: &RunSummary,
    name: &str,
) -> Option<Chart> {
    let series: Vec<_> = findings.series.iter().filter(|s| s.run_index == run.index).collect();
    if !series.iter().any(|s| !s.points.is_empty()) {
        return None;
    }
    let caption = run_in_words(load_point, run.repeat, &run.summary);
    let repeat = match load_point.runs.len() {
        1 => String::new(),
        _ => format!(", repeat {}", run.repeat + 1),
    };
    let file = file_name(&format!("over-time-{}-{name}{repeat}", run.index));
    Some(over_time(&series, file, format!("Over time: {name}{repeat}"), caption))
}

fn printed(estimate: Option<Estimate>, print: fn(f64) -> String) -> String {
    estimate.map_or(NONE.to_owned(), |e| print(e.value))
}

/// What a run's chart shows, for those who cannot see it.
fn run_in_words(load_point: &LoadPoint, repeat: u32, summary: &Summary) -> String {
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
