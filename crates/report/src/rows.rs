//! What a table of results shows: findings as rows, the same for text, CSV and HTML.

use analysis::Findings;
use analysis::curve::Curve;
use analysis::estimate::Estimate;
use analysis::load_point::{LoadPoint, OpSummary, StreamSummary, Summary};
use analysis::percentile::Percentile;

use crate::number::{NONE, TOO_FEW, half_width, mib, ms, plain, us};

/// The rows of one curve and one stream, under one heading.
pub struct Block<'a> {
    /// The curve's name, and the stream's where there are several.
    pub name: String,
    /// What the first column holds.
    pub axis: &'a str,
    /// Its rows, in the curve's order; kinds of operation below the row they belong to.
    pub rows: Vec<Row<'a>>,
}

/// One row: one stream (or all) and one kind of operation (or reads and writes) of a load point.
pub struct Row<'a> {
    /// The first cell: a place on the axis, or a kind of operation.
    pub label: String,
    /// The load point, as a place in `Findings::load_points`.
    pub load_point: usize,
    /// The stream it is about.
    pub stream: &'a StreamSummary,
    /// The operations it is about.
    pub ops: &'a OpSummary,
    /// The window it comes from.
    pub summary: &'a Summary,
    /// It is about reads and writes together, and so carries the numbers of the whole stream.
    pub whole_stream: bool,
    /// It is about all streams, and so carries the numbers of the whole process.
    pub whole_process: bool,
    /// Marks of the warnings.
    pub marks: String,
}

/// The numbers of a row as printed, in the order of [`HEADINGS`].
pub type Cells = [String; 10];

/// Headings of [`Row::cells`] under each other: what, and its unit or part. The four cells from
/// [`TIMES_FROM`] on are response times in the block's unit.
pub const HEADINGS: [(&str, &str); 10] = [
    ("achieved", "ops/s"),
    ("95 %", "+-"),
    ("through-", "MiB/s"),
    ("", "mean"),
    ("", "p50"),
    ("", "p99"),
    ("", "p99.9"),
    ("out-", "standing"),
    ("CPU", "us/op"),
    ("", "!"),
];
/// The first of the response times among the cells.
pub const TIMES_FROM: usize = 3;
/// How many of them there are.
pub const TIMES: usize = 4;
/// A block with a time as long as this is printed in milliseconds in narrow tables.
const LONG_NS: f64 = 1e9;

/// The unit of the response times in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
}

impl TimeUnit {
    /// The name in ASCII.
    pub const fn name(self) -> &'static str {
        match self {
            TimeUnit::Us => "us",
            TimeUnit::Ms => "ms",
        }
    }

    fn print(self, ns: f64) -> String {
        match self {
            TimeUnit::Us => us(ns),
            TimeUnit::Ms => ms(ns),
        }
    }
}

/// All blocks of the findings, in the order of the curves.
pub fn blocks(findings: &Findings) -> Vec<Block<'_>> {
    findings.curves.iter().flat_map(|curve| blocks_of(findings, curve)).collect()
}

fn blocks_of<'a>(findings: &'a Findings, curve: &'a Curve) -> Vec<Block<'a>> {
    let several = curve
        .points
        .iter()
        .any(|point| findings.load_points[point.load_point].merged.streams.len() > 1);
    let mut blocks = vec![block(findings, curve, None)];
    if several {
        let first = &findings.load_points[curve.points[0].load_point];
        blocks[0].name = format!("{}: {}", curve.name, first.merged.total.name);
        for stream in 0..first.merged.streams.len() {
            blocks.push(block(findings, curve, Some(stream)));
        }
    }
    blocks
}

fn block<'a>(findings: &'a Findings, curve: &'a Curve, stream: Option<usize>) -> Block<'a> {
    let mut name = curve.name.clone();
    let mut rows = Vec::new();
    for point in &curve.points {
        let load_point = &findings.load_points[point.load_point];
        let summary = match stream {
            None => &load_point.merged.total,
            Some(stream) => match load_point.merged.streams.get(stream) {
                Some(summary) => summary,
                None => continue,
            },
        };
        if stream.is_some() {
            name = format!("{}: {}", curve.name, summary.name);
        }
        let row = |label: String, ops: &'a OpSummary, whole_stream: bool| Row {
            label,
            load_point: point.load_point,
            stream: summary,
            ops,
            summary: &load_point.merged,
            whole_stream,
            whole_process: whole_stream && stream.is_none(),
            marks: match whole_stream {
                true => findings.marks(point.load_point, stream.map(|_| summary.name.as_str())),
                false => String::new(),
            },
        };
        rows.push(row(point.label.clone(), &summary.data, true));
        if summary.kinds.len() > 1 {
            rows.extend(summary.kinds.iter().map(|ops| row(ops.name.to_owned(), ops, false)));
        }
        // What was offered is offered to all kinds together.
        if let (Some(_), Some(all)) = (summary.offered_rate, &summary.all_kinds) {
            rows.push(row(all.name.to_owned(), all, false));
        }
    }
    Block { name, axis: &curve.axis, rows }
}

impl Block<'_> {
    /// The unit in which all times of the block have few digits.
    pub fn time_unit(&self) -> TimeUnit {
        let response = self.rows.iter().map(|row| &row.ops.response);
        let long = |ns: f64| ns >= LONG_NS;
        let any_long = response.into_iter().any(|times| {
            let p999 = times.percentile(0.999).and_then(|p| p.value_ns);
            times.mean_ns.is_some_and(|m| long(m.value)) || p999.is_some_and(|ns| long(ns as f64))
        });
        if any_long { TimeUnit::Ms } else { TimeUnit::Us }
    }
}

impl Row<'_> {
    /// The row's numbers as printed, times in `unit`.
    pub fn cells(&self, unit: TimeUnit) -> Cells {
        let response = &self.ops.response;
        let of = |estimate: Option<Estimate>, print: fn(f64) -> String| match estimate {
            Some(estimate) => print(estimate.value),
            None => NONE.to_owned(),
        };
        let stream_only = |estimate: Option<Estimate>| match self.whole_stream {
            true => of(estimate, plain),
            false => String::new(),
        };
        [
            of(self.ops.achieved_rate, plain),
            self.ops.achieved_rate.and_then(|r| r.relative()).map_or(NONE.to_owned(), half_width),
            of(self.ops.throughput, mib),
            response.mean_ns.map_or(NONE.to_owned(), |mean| unit.print(mean.value)),
            percentile(response.percentile(0.5), unit),
            percentile(response.percentile(0.99), unit),
            percentile(response.percentile(0.999), unit),
            stream_only(self.stream.outstanding_mean),
            match self.whole_process {
                true => of(self.summary.cpu_ns_per_op, us),
                false => String::new(),
            },
            self.marks.clone(),
        ]
    }
}

/// A percentile, or that too few samples stand behind it.
pub fn percentile(percentile: Option<&Percentile>, unit: TimeUnit) -> String {
    match percentile.and_then(|p| p.value_ns) {
        Some(ns) => unit.print(ns as f64),
        None => TOO_FEW.to_owned(),
    }
}

/// A percentile with the ends of its 95 % interval, where they are known: `812 (790 to 901)`; an
/// interval wider than the value is `>50 %`, as a half-width is.
pub fn percentile_with_interval(of: &Percentile, unit: TimeUnit) -> String {
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
    name
}
