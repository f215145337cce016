//! Metrics of other systems over the time of the runs, next to the load.
//!
//! Exporters serve thousands of series, most of them constant. Those that vary are ordered by how
//! closely they follow the load. That is an order for a reader, not evidence: what follows the load
//! need not be its cause or its effect.

use metrics::run_record::{ExperimentRecord, RunRecord};
use metrics::scraped::{Scrape, ScrapedSeries, ScrapedSource};
use statistics::correlation::correlation;
use units::Nanos;

use crate::fleet::MissingHosts;

/// Series of an exporter that a report shows.
const SHOWN_MAX: usize = 5;
/// Points of a series, approximately; of more scrapes every second, third and so on is used.
const POINTS_MAX: usize = 1_000;
/// Fewer pairs of load and value have no correlation: any three nearly lie on a line.
const PAIRS_MIN: usize = 5;

/// What an exporter served during the runs.
#[derive(Clone, Debug, PartialEq)]
pub struct ScrapedFindings {
    /// Its address.
    pub url: String,
    /// Successful scrapes.
    pub scrapes: usize,
    /// Failed ones.
    pub failed: u64,
    /// The most samples of a scrape that were not stored because there were too many.
    pub left_out: u64,
    /// Stored series.
    pub series: usize,
    /// Those that varied.
    pub varying: usize,
    /// Operations per second between scrapes.
    pub load: Vec<TimedValue>,
    /// From when on the load is that of fewer hosts, of each run that lost some.
    pub lost_hosts: Vec<(Nanos, MissingHosts)>,
    /// The varying series that follow the load most closely, the closest first.
    pub shown: Vec<ShownSeries>,
}

/// A series over time.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownSeries {
    /// Metric and labels.
    pub name: String,
    /// Whether the values are the rise of a counter per second.
    pub is_rate: bool,
    /// The values.
    pub values: Vec<TimedValue>,
    /// The smallest value.
    pub lowest: f64,
    /// The largest value.
    pub highest: f64,
    /// Correlation with the load, -1 to 1; `None` with too few values or a constant load.
    pub correlation: Option<f64>,
}

/// A value at the end of the time that it covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedValue {
    /// From the start of the first run.
    pub at: Nanos,
    /// `None` where there is none: between runs, or while the exporter did not serve the series.
    pub value: Option<f64>,
}

/// The findings of each exporter.
pub(crate) fn of_record(record: &ExperimentRecord) -> Vec<ScrapedFindings> {
    record.scraped.sources.iter().map(|source| of_source(source, &record.runs)).collect()
}

/// A scrape, and the load since the one before.
struct Sampled<'r> {
    /// Its index among all scrapes of the source.
    index: usize,
    scrape: Scrape,
    at: Nanos,
    run: &'r RunRecord,
    /// Operations per second since the scrape before; `None` at the start of a run.
    load: Option<f64>,
}

fn of_source(source: &ScrapedSource, runs: &[RunRecord]) -> ScrapedFindings {
    let sampled = sampled(source, runs);
    let mut varying: Vec<ShownSeries> =
        source.series.iter().filter_map(|series| varying(series, source, &sampled)).collect();
    let count = varying.len();
    varying.retain(|series| !is_redundant(&series.name));
    let strength = |series: &ShownSeries| series.correlation.map_or(0.0, f64::abs);
    varying.sort_by(|a, b| strength(b).total_cmp(&strength(a)));
    varying.truncate(SHOWN_MAX);
    ScrapedFindings {
        url: source.url.clone(),
        scrapes: source.scrapes.len(),
        failed: source.failed,
        left_out: source.left_out,
        series: source.series.len(),
        varying: count,
        load: sampled.iter().map(|one| TimedValue { at: one.at, value: one.load }).collect(),
        lost_hosts: lost_hosts(runs),
        shown: varying,
    }
}

/// Whether a series tells a reader nothing new: a cumulative count of a histogram, which also has a
/// sum and a count, or a counter of this run that came back through a textfile collector.
fn is_redundant(name: &str) -> bool {
    let of_this_run = ["fourcorners_run_", "fourcorners_stream_"];
    name.contains("_bucket{") || of_this_run.iter().any(|prefix| name.starts_with(prefix))
}

fn lost_hosts(runs: &[RunRecord]) -> Vec<(Nanos, MissingHosts)> {
    let first_ms = runs.first().map_or(0, |run| run.started_unix_ms);
    let of_run = |run: &RunRecord| {
        let missing = MissingHosts::of(&run.hosts)?;
        let started_ms = run.started_unix_ms.saturating_sub(first_ms);
        Some((Nanos(started_ms as f64 * 1e6 + missing.from_ns as f64), missing))
    };
    runs.iter().filter_map(of_run).collect()
}

/// The scrapes that are evaluated.
fn sampled<'r>(source: &ScrapedSource, runs: &'r [RunRecord]) -> Vec<Sampled<'r>> {
    let step = source.scrapes.len().div_ceil(POINTS_MAX).max(1);
    let first_ms = runs.first().map_or(0, |run| run.started_unix_ms);
    let mut sampled: Vec<Sampled<'_>> = Vec::new();
    for (index, scrape) in source.scrapes.iter().enumerate().step_by(step) {
        let Some(run) = runs.iter().find(|run| run.run.index == scrape.run_index) else { continue };
        let Some(end_ns) = end_ns(run, scrape.after_interval) else { continue };
        let started_ms = run.started_unix_ms.saturating_sub(first_ms);
        let before = sampled.last().filter(|before| before.scrape.run_index == scrape.run_index);
        sampled.push(Sampled {
            index,
            scrape: *scrape,
            at: Nanos(started_ms as f64 * 1e6 + end_ns as f64),
            run,
            load: before.and_then(|before| load(before, scrape)),
        });
    }
    sampled
}

/// The end of an interval of a run, or the start of the run.
fn end_ns(run: &RunRecord, interval: Option<u32>) -> Option<u64> {
    let Some(index) = interval else { return Some(0) };
    run.intervals.get(index as usize).map(|interval| interval.end_ns)
}

/// Completed operations per second from one scrape of a run to the next.
fn load(before: &Sampled<'_>, scrape: &Scrape) -> Option<f64> {
    let first = before.scrape.after_interval.map_or(0, |index| index as usize + 1);
    let last = scrape.after_interval? as usize;
    let intervals = before.run.intervals.get(first..=last)?;
    let length_ns = intervals.last()?.end_ns - intervals.first()?.start_ns;
    let streams = intervals.iter().flat_map(|interval| &interval.streams);
    let completed: u64 = streams.map(|stream| stream.completed()).sum();
    (length_ns > 0).then(|| completed as f64 * 1e9 / length_ns as f64)
}

/// The series, if it varies.
fn varying(
    series: &ScrapedSeries,
    source: &ScrapedSource,
    sampled: &[Sampled<'_>],
) -> Option<ShownSeries> {
    // Most series of an exporter have one value.
    if series.changes.len() < 2 {
        return None;
    }
    let stored: Vec<Option<f64>> = series.values(source.scrapes.len()).collect();
    let value = |index: usize| stored[index].filter(|value| value.is_finite());
    let values: Vec<Option<f64>> = match series.is_counter {
        false => sampled.iter().map(|one| value(one.index)).collect(),
        true => {
            let rises = sampled.windows(2).map(|pair| rate(&pair[0], &pair[1], value));
            std::iter::once(None).chain(rises).collect()
        }
    };
    let known = || values.iter().flatten().copied();
    let lowest = known().fold(f64::INFINITY, f64::min);
    let highest = known().fold(f64::NEG_INFINITY, f64::max);
    if lowest >= highest {
        return None;
    }
    let pairs: Vec<(f64, f64)> =
        sampled.iter().zip(&values).filter_map(|(one, value)| one.load.zip(*value)).collect();
    let correlation = if pairs.len() < PAIRS_MIN { None } else { correlation(&pairs) };
    let timed =
        |(one, value): (&Sampled<'_>, &Option<f64>)| TimedValue { at: one.at, value: *value };
    Some(ShownSeries {
        name: series.full_name(),
        is_rate: series.is_counter,
        values: sampled.iter().zip(&values).map(timed).collect(),
        lowest,
        highest,
        correlation,
    })
}

/// The rise of a counter per second; `None` between runs and after a reset.
fn rate(
    before: &Sampled<'_>,
    after: &Sampled<'_>,
    value: impl Fn(usize) -> Option<f64>,
) -> Option<f64> {
    if before.scrape.run_index != after.scrape.run_index {
        return None;
    }
    let rise = value(after.index)? - value(before.index)?;
    let elapsed_ms = after.scrape.unix_ms.checked_sub(before.scrape.unix_ms)?;
    (rise >= 0.0 && elapsed_ms > 0).then(|| rise * 1e3 / elapsed_ms as f64)
}
