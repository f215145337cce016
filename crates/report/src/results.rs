//! The tables of results: one for each curve and stream, with a row for each load point and kind of
//! operation.

use std::ops::Range;
use std::time::Duration;

use analysis::Findings;
use analysis::curve::{Curve, CurvePoint, MIXED_LOAD};
use analysis::estimate::Estimate;
use analysis::fleet::MissingHosts;
use analysis::load_point::{LoadPoint, OpSummary, StreamSummary, Summary};
use analysis::percentile::Percentile;

use units::{Nanos, print_duration};

use crate::number::{NONE, TOO_FEW, TimeUnit, half_width, mib, plain, us};
use crate::table::{Column, Table};

/// One row: a stream (or all streams) and a kind of operation (or reads and writes) of a load
/// point.
pub(crate) struct Row<'a> {
    /// The value on the curve's axis, with the hosts that its totals have if some were lost; or the kind
    /// of operation.
    pub(crate) label: String,
    /// The operations counted in it.
    ops: &'a OpSummary,
    /// The stream, if the row is about the whole stream.
    stream: Option<&'a StreamSummary>,
    /// The window, if the row is about all streams and so has the numbers of the process.
    process: Option<&'a Summary>,
    /// Letters of its warnings.
    marks: String,
}

/// A number of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Figure {
    /// Operations per second.
    Rate,
    /// The half-width of the rate's confidence interval.
    HalfWidth,
    /// MiB/s.
    Throughput,
    /// Mean response time.
    Mean,
    /// A percentile of the response time, as a fraction.
    Percentile(f64),
    /// Mean service time.
    Service,
    /// Mean number of operations outstanding.
    Outstanding,
    /// Processor time of each operation, in microseconds.
    Cpu,
}

/// The heading of the throughput.
pub(crate) const THROUGHPUT: &str = "throughput";

/// The numbers in the tables of results.
const FIGURES: [Figure; 9] = [
    Figure::Rate,
    Figure::HalfWidth,
    Figure::Throughput,
    Figure::Mean,
    Figure::Percentile(0.5),
    Figure::Percentile(0.99),
    Figure::Percentile(0.999),
    Figure::Outstanding,
    Figure::Cpu,
];

/// What operations per second are called: IOPS, except of operations on names.
pub const fn rate_unit(is_on_names: bool) -> &'static str {
    if is_on_names { "ops/s" } else { "IOPS" }
}

/// The unit of response times everywhere in the report of one record or several.
pub(crate) fn time_unit(records: &[&Findings]) -> TimeUnit {
    TimeUnit::of(response_times_ns(records, &[0.999]))
}

/// Means and these percentiles of all response times.
pub(crate) fn response_times_ns(records: &[&Findings], percentiles: &[f64]) -> Vec<f64> {
    let points = records.iter().flat_map(|findings| &findings.load_points);
    let streams = points.flat_map(|point| {
        let Summary { total, streams, .. } = &point.merged;
        std::iter::once(total).chain(streams)
    });
    let ops = streams.flat_map(|stream| std::iter::once(&stream.data).chain(&stream.kinds));
    ops.flat_map(|ops| {
        let mean = ops.response.mean_ns.map(|mean| mean.value);
        let known = percentiles.iter().filter_map(|one| ops.response.percentile(*one)?.value_ns);
        mean.into_iter().chain(known.map(|ns| ns as f64))
    })
    .collect()
}

/// The tables of all curves, in their order. They have the same columns, except that the first is
/// named after the curve's axis.
///
/// Streams on names have no rows of kinds, which are a separate section, and no column of throughput
/// if no operation moved data.
pub fn tables(findings: &Findings) -> Vec<Table> {
    let unit = time_unit(&[findings]);
    let curves = findings.curves.iter();
    let mut tables: Vec<Table> = curves.flat_map(|curve| of_curve(findings, curve, unit)).collect();
    if findings.is_on_names() {
        without_empty(&mut tables, THROUGHPUT);
    }
    tables
}

/// Removes the column of this name from tables with the same columns if no cell has a number.
pub(crate) fn without_empty(tables: &mut [Table], name: &str) {
    let Some(at) = tables
        .first()
        .and_then(|table| table.columns.iter().position(|column| column.name == name))
    else {
        return;
    };
    let mut cells = tables.iter().flat_map(|table| &table.rows).map(|row| row[at].as_str());
    if cells.all(|cell| cell.is_empty() || cell == NONE) {
        for table in tables {
            table.columns.remove(at);
            table.rows.iter_mut().for_each(|row| drop(row.remove(at)));
        }
    }
}

/// The kinds of operations: on names the most frequent first, otherwise in the order of their
/// numbers.
pub(crate) fn by_share(stream: &StreamSummary) -> Vec<&OpSummary> {
    let mut kinds: Vec<&OpSummary> = stream.kinds.iter().collect();
    if kinds.iter().any(|ops| ops.is_on_names()) {
        kinds.sort_by_key(|ops| std::cmp::Reverse(ops.completed + ops.failed));
    }
    kinds
}

/// Whether a table has a percentile with too few samples.
pub(crate) fn has_too_few(tables: &[Table]) -> bool {
    tables.iter().flat_map(|table| &table.rows).flatten().any(|cell| cell == TOO_FEW)
}

/// A table of all streams together, and one for each of several streams.
fn of_curve(findings: &Findings, curve: &Curve, unit: TimeUnit) -> Vec<Table> {
    let points = || curve.points.iter().map(|point| &findings.load_points[point.load_point]);
    let has_several = points().any(|point| point.merged.streams.len() > 1);
    let Some(first) = points().next().filter(|_| has_several) else {
        return vec![table(findings, curve, &curve.name, None, unit)];
    };
    let of_stream = |stream: &StreamSummary, index: Option<usize>| {
        let mut caption = format!("{}: {}", curve.name, stream.name);
        let summaries = points().map(|point| match index {
            None => Some(&point.merged.total),
            Some(index) => point.merged.streams.get(index),
        });
        let mut covers = summaries.map(|summary| summary.and_then(|one| one.covers.clone()));
        // In a sweep of starts or ends each load point has its own.
        if let Some(time) = covers.next().flatten()
            && covers.all(|other| other.as_ref() == Some(&time))
        {
            caption.push_str(&match time.is_empty() {
                true => " (never active together)".to_owned(),
                false => format!(" ({})", time_words(&time)),
            });
        }
        table(findings, curve, &caption, index, unit)
    };
    let mut tables = vec![of_stream(&first.merged.total, None)];
    let streams = first.merged.streams.iter().enumerate();
    tables.extend(streams.map(|(index, stream)| of_stream(stream, Some(index))));
    tables
}

/// The table of one stream, or of all together.
fn table(
    findings: &Findings,
    curve: &Curve,
    caption: &str,
    stream: Option<usize>,
    unit: TimeUnit,
) -> Table {
    let points = in_reading_order(curve);
    let rows = points.into_iter().flat_map(|point| {
        let mut rows = rows(findings, point, stream);
        let of_all = rows.first().and_then(|row| row.stream);
        if of_all.is_some_and(|stream| stream.kinds.iter().any(OpSummary::is_on_names)) {
            rows.retain(|row| row.stream.is_some() || row.ops.name == "all");
        }
        rows
    });
    Table {
        caption: caption.to_owned(),
        columns: columns(&curve.axis, unit),
        rows: rows.map(|row| row.cells(unit)).collect(),
    }
}

/// Whether a curve goes from all writes to all reads, in ascending share of reads.
pub(crate) fn is_along_mix(axis: &str) -> bool {
    axis.rsplit(['.', ' ']).next() == Some("read")
}

/// The points of a curve as tables and charts list them: from the lowest load, and mixes from all
/// reads to all writes, as they are published.
pub(crate) fn in_reading_order(curve: &Curve) -> Vec<&CurvePoint> {
    let mut points: Vec<&CurvePoint> = curve.points.iter().collect();
    if is_along_mix(&curve.axis) {
        points.reverse();
    }
    points
}

/// The rows of a load point: one stream, or all together, and each kind of operation if there are
/// several.
pub(crate) fn rows<'a>(
    findings: &'a Findings,
    point: &CurvePoint,
    stream: Option<usize>,
) -> Vec<Row<'a>> {
    let window = &findings.load_points[point.load_point].merged;
    let summary = match stream {
        None => Some(&window.total),
        Some(stream) => window.streams.get(stream),
    };
    let Some(summary) = summary else { return Vec::new() };
    let name = stream.map(|_| summary.name.as_str());
    // Where nothing was swept, the label is the load of all streams.
    let of_all = load_label(&window.total, window.is_mixed());
    let mut rows = vec![Row {
        label: match stream {
            Some(_) => point.label.replacen(&of_all, &load_label(summary, false), 1),
            None => point.label.clone(),
        },
        ops: &summary.data,
        stream: Some(summary),
        process: stream.is_none().then_some(window),
        marks: findings.marks(point.load_point, name),
    }];
    if summary.kinds.len() > 1 {
        rows.extend(by_share(summary).into_iter().map(Row::of_kind));
    }
    // An offered rate is offered to all kinds together.
    rows.extend(
        summary.all_kinds.iter().filter(|_| summary.offered_rate.is_some()).map(Row::of_kind),
    );
    rows
}

/// The offered rate as in the label of a point of an unswept curve; `mixed`, or `closed` without one.
fn load_label(stream: &StreamSummary, is_mixed: bool) -> String {
    if let Some(users) = stream.users.as_ref().filter(|_| !is_mixed) {
        return users.users.to_string();
    }
    match stream.offered_rate {
        Some(offered) if stream.rate_varies => format!("{offered} (mean)"),
        Some(offered) => offered.to_string(),
        None if is_mixed => "mixed".to_owned(),
        None => "closed".to_owned(),
    }
}

fn columns(axis: &str, unit: TimeUnit) -> Vec<Column> {
    let (upper, lower) = axis.rsplit_once([' ', '.']).unwrap_or(("", axis));
    let time = |name: &str| Column::numbers(name, unit.symbol()).grouped("response time");
    vec![
        Column::numbers(axis, "").narrow(upper, lower),
        Column::numbers("achieved rate", "ops/s").narrow("achieved", "ops/s"),
        Column::numbers("95 % CI", "±").narrow("95 %", "CI ±").dispensable(3),
        Column::numbers(THROUGHPUT, "MiB/s").dispensable(2),
        time("mean"),
        time("p50").dispensable(5),
        time("p99").dispensable(1),
        time("p99.9").dispensable(4),
        Column::numbers("outstanding", "").narrow("out-", "standing").dispensable(6),
        Column::numbers("CPU", "µs/op").dispensable(7),
        Column::marks("warnings").narrow("", "!"),
    ]
}

impl<'a> Row<'a> {
    /// A row below that of its stream.
    fn of_kind(ops: &'a OpSummary) -> Row<'a> {
        Row { label: ops.name.to_owned(), ops, stream: None, process: None, marks: String::new() }
    }

    /// The cells below [`columns`].
    fn cells(&self, unit: TimeUnit) -> Vec<String> {
        let mut cells = vec![self.label.clone()];
        cells.extend(FIGURES.iter().map(|figure| self.cell(*figure, unit)));
        cells.push(self.marks.clone());
        cells
    }

    /// A number as printed; empty where it does not apply to the row.
    pub(crate) fn cell(&self, figure: Figure, unit: TimeUnit) -> String {
        let OpSummary { achieved_rate: rate, response, service, .. } = self.ops;
        let time = |ns: f64| unit.print(ns);
        match figure {
            Figure::Rate => printed(*rate, plain),
            Figure::HalfWidth => relative(*rate),
            Figure::Throughput => printed(self.ops.throughput_of_data(), mib),
            Figure::Mean => printed(response.mean_ns, time),
            Figure::Percentile(fraction) => percentile(response.percentile(fraction), unit),
            Figure::Service => printed(service.mean_ns, time),
            Figure::Outstanding => {
                self.stream.map_or(String::new(), |stream| printed(stream.outstanding_mean, plain))
            }
            Figure::Cpu => {
                self.process.map_or(String::new(), |process| printed(process.cpu_ns_per_op, us))
            }
        }
    }
}

/// A number, or a dash where there is none.
pub(crate) fn printed(estimate: Option<Estimate>, print: impl Fn(f64) -> String) -> String {
    estimate.map_or(NONE.to_owned(), |estimate| print(estimate.value))
}

/// The half-width of a number's confidence interval as a share of the number.
pub(crate) fn relative(estimate: Option<Estimate>) -> String {
    estimate.and_then(|estimate| estimate.relative()).map_or(NONE.to_owned(), half_width)
}

/// ` ± 0.4 %`, or nothing where the confidence interval is unknown.
pub(crate) fn plus_minus(estimate: Estimate) -> String {
    estimate.relative().map_or(String::new(), |share| format!(" ± {}", half_width(share)))
}

/// A percentile, unless it has too few samples.
pub(crate) fn percentile(percentile: Option<&Percentile>, unit: TimeUnit) -> String {
    match percentile.and_then(|p| p.value_ns) {
        Some(ns) => unit.print(ns as f64),
        None => TOO_FEW.to_owned(),
    }
}

/// A percentile with the ends of its 95 % confidence interval, if known: `812 (790 to 901)`; an
/// interval wider than the value is `>50 %`, as a half-width is.
pub(crate) fn percentile_with_interval(of: &Percentile, unit: TimeUnit) -> String {
    let value = percentile(Some(of), unit);
    match (of.value_ns, of.interval_ns) {
        (Some(ns), Some([low, high])) if high - low > ns as f64 => format!("{value} (± >50 %)"),
        (_, Some([low, high])) => {
            format!("{value} ({} to {})", unit.print(low), unit.print(high))
        }
        (_, None) => value,
    }
}

/// A load point in words: `random read 8 KiB, queue_depth=4`.
pub fn load_point_name(load_point: &LoadPoint) -> String {
    let mut name = load_point.variant.clone();
    for (key, value) in &load_point.parameters {
        name.push_str(&format!(", {key}={value}"));
    }
    if let Some(missing) = load_point.missing_hosts {
        name.push_str(&format!(" ({})", missing_hosts(missing)));
    }
    name
}

/// The load of a curve's point: `queue depth 16`, `offered rate 500 ops/s`, or `mixed load`.
pub(crate) fn load_in_words(curve: &Curve, point: usize) -> String {
    let label = &curve.points[point].label;
    match curve.axis.as_str() {
        MIXED_LOAD => format!("{label} load"),
        USERS if label == "1" => "1 user".to_owned(),
        USERS => format!("{label} users"),
        axis => format!("{axis} {label}"),
    }
}

/// The axis of a curve along which the number of users rises.
pub(crate) const USERS: &str = "users";

/// A part of a run: `10s to 40s`.
pub(crate) fn time_words(time: &Range<u64>) -> String {
    let shown = |ns: u64| print_duration(Duration::from_nanos(ns));
    format!("{} to {}", shown(time.start), shown(time.end))
}

/// The load of a latency floor.
pub(crate) fn unloaded(load_point: &LoadPoint) -> &'static str {
    match load_point.queue_depth_total {
        1 => "queue depth 1",
        _ => "queue depth 1 for each host and target",
    }
}

/// `23 of 24 hosts from t = 312 s`
pub fn missing_hosts(missing: MissingHosts) -> String {
    let MissingHosts { remaining, of, from_ns } = missing;
    match from_ns {
        0 => format!("{remaining} of {of} hosts"),
        _ => format!("{remaining} of {of} hosts from t = {}", Nanos(from_ns as f64)),
    }
}
