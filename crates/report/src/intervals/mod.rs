//! The intervals of records as rows for other programs, as CSV or Parquet.
//!
//! [`COLUMNS`] is the one list of columns, for both formats and for `docs/reference/intervals.md`.
//! Parquet files also have the histogram of each row ([`HISTOGRAMS`]).

mod csv;
#[cfg(feature = "parquet")]
mod parquet;

use std::borrow::Cow;
use std::io::{self, Write};

use analysis::interval_rows::{IntervalRow, IntervalTimes};
use metrics::run_record::ExperimentRecord;

use crate::number::exported;

/// A format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Lines of text.
    Csv,
    /// Apache Parquet, with histograms; only in programs built with the feature `parquet`.
    Parquet,
}

impl Format {
    /// Whether this program can write it.
    pub const fn is_available(self) -> bool {
        match self {
            Format::Csv => true,
            Format::Parquet => cfg!(feature = "parquet"),
        }
    }

    /// The extension of a file.
    pub const fn extension(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Parquet => "parquet",
        }
    }
}

/// Writes the intervals of all records into one file.
///
/// # Errors
/// Errors of `out`; [`io::ErrorKind::Unsupported`] if the format is not available.
pub fn write(
    records: &mut dyn Iterator<Item = ExperimentRecord>,
    format: Format,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Csv => csv::write(records, out),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::write(records, out),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// A column of an export of intervals.
#[derive(Debug)]
pub struct Column {
    /// Its name, with the unit.
    pub name: &'static str,
    /// What it contains.
    pub meaning: &'static str,
    value: Value,
}

/// How a column's value is found in a row.
#[derive(Clone, Copy, Debug)]
enum Value {
    Text(for<'r> fn(&'r IntervalRow<'r>) -> Cow<'r, str>),
    Integer(fn(&IntervalRow<'_>) -> Option<u64>),
    Number(fn(&IntervalRow<'_>) -> Option<f64>),
}

impl Column {
    /// The type of its values: `text`, `integer` or `number`.
    pub const fn type_name(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "text",
            Value::Integer(_) => "integer",
            Value::Number(_) => "number",
        }
    }
}

const fn text(
    name: &'static str,
    meaning: &'static str,
    value: for<'r> fn(&'r IntervalRow<'r>) -> Cow<'r, str>,
) -> Column {
    Column { name, meaning, value: Value::Text(value) }
}

const fn integer(
    name: &'static str,
    meaning: &'static str,
    value: fn(&IntervalRow<'_>) -> Option<u64>,
) -> Column {
    Column { name, meaning, value: Value::Integer(value) }
}

const fn number(
    name: &'static str,
    meaning: &'static str,
    value: fn(&IntervalRow<'_>) -> Option<f64>,
) -> Column {
    Column { name, meaning, value: Value::Number(value) }
}

/// A time of day in milliseconds since 1970, `ns` after the run's start.
fn unix_ms(row: &IntervalRow<'_>, ns: u64) -> u64 {
    row.run.started_unix_ms + ns / 1_000_000
}

fn parameters(row: &IntervalRow<'_>) -> String {
    let pairs = row.run.run.parameters.iter().map(|(key, value)| format!("{key}={value}"));
    pairs.collect::<Vec<_>>().join(";")
}

/// The columns, in order.
pub const COLUMNS: &[Column] = &[
    text("experiment_id", "the record's name in the store", |row| row.record.id.as_str().into()),
    text("experiment", "the experiment's name", |row| row.record.plan.name.as_str().into()),
    text("target", "the target, as the user wrote it", |row| {
        row.record.plan.target().in_words().into()
    }),
    integer("load_point", "number of the load point in the experiment, from 0", |row| {
        Some(row.load_point as u64)
    }),
    text("variant", "the variant's name", |row| row.run.run.variant.as_str().into()),
    text("parameters", "parameters of the load point: `key=value`, separated by `;`", |row| {
        parameters(row).into()
    }),
    integer("run_index", "number of the run in the plan, from 0", |row| {
        Some(row.run.run.index.into())
    }),
    integer("repeat", "number of the repeat of the load point, from 1", |row| {
        Some(u64::from(row.run.run.repeat) + 1)
    }),
    integer("interval", "number of the interval in the run, from 0", |row| {
        Some(row.interval.index.into())
    }),
    integer("start_unix_ms", "start of the interval by the clock, since 1970 (UTC)", |row| {
        Some(unix_ms(row, row.interval.start_ns))
    }),
    integer("start_ns", "start of the interval, from the start of the run", |row| {
        Some(row.interval.start_ns)
    }),
    integer("end_ns", "end of the interval, from the start of the run", |row| {
        Some(row.interval.end_ns)
    }),
    text(
        "phase",
        "`warm_up`, `measure` or `cool_down`; results are those of `measure`, the part of the window \
         in which the stream is active",
        |row| row.phase.name().into(),
    ),
    text("stream", "the stream's name", |row| row.stream.name.as_str().into()),
    text("operation", "`read`, `write` or `fsync`", |row| row.kind.name().into()),
    integer("queue_depth_total", "limit on operations in flight, over all workers", |row| {
        Some(u64::from(row.stream.queue_depth) * u64::from(row.stream.workers))
    }),
    integer("completed", "operations that succeeded in the interval", |row| Some(row.completed)),
    integer("failed", "operations that failed", |row| Some(row.failed)),
    integer("moved_bytes", "bytes moved by those that succeeded", |row| Some(row.bytes)),
    number(
        "offered_rate_ops_per_sec",
        "mean offered rate in the interval, of the whole stream; empty in a closed loop",
        |row| row.offered_rate.map(|rate| rate.get()),
    ),
    number("achieved_rate_ops_per_sec", "operations completed per second", |row| {
        row.achieved_rate.map(|rate| rate.get())
    }),
    number("throughput_bytes_per_sec", "bytes moved per second", |row| {
        row.throughput.map(|rate| rate.get())
    }),
    number(
        "response_mean_ns",
        "mean response time (includes time spent waiting to be sent); empty without operations",
        |row| row.response.mean_ns,
    ),
    integer("response_min_ns", "exact minimum response time", |row| row.response.min_ns),
    integer(
        "response_p50_ns",
        "p50 of the response time; empty if fewer than ten samples are above it",
        |row| row.response.percentiles_ns[0],
    ),
    integer("response_p90_ns", "p90 of the response time", |row| row.response.percentiles_ns[1]),
    integer("response_p99_ns", "p99 of the response time", |row| row.response.percentiles_ns[2]),
    integer("response_p99_9_ns", "p99.9 of the response time", |row| {
        row.response.percentiles_ns[3]
    }),
    integer("response_p99_99_ns", "p99.99 of the response time", |row| {
        row.response.percentiles_ns[4]
    }),
    integer("response_max_ns", "exact maximum response time", |row| row.response.max_ns),
    number("service_mean_ns", "mean service time (latency from sending to completion)", |row| {
        row.service.mean_ns
    }),
    integer("service_min_ns", "exact minimum service time", |row| row.service.min_ns),
    integer(
        "service_p50_ns",
        "p50 of the service time; empty if fewer than ten samples are above it",
        |row| row.service.percentiles_ns[0],
    ),
    integer("service_p90_ns", "p90 of the service time", |row| row.service.percentiles_ns[1]),
    integer("service_p99_ns", "p99 of the service time", |row| row.service.percentiles_ns[2]),
    integer("service_p99_9_ns", "p99.9 of the service time", |row| row.service.percentiles_ns[3]),
    integer("service_p99_99_ns", "p99.99 of the service time", |row| row.service.percentiles_ns[4]),
    integer("service_max_ns", "exact maximum service time", |row| row.service.max_ns),
    number(
        "outstanding_mean_ops",
        "mean number of operations in flight, of the whole stream",
        |row| row.outstanding_mean,
    ),
    number(
        "backlog_mean_ops",
        "mean number of operations due but not sent, of the whole stream",
        |row| row.backlog_mean,
    ),
    number(
        "process_cpu_used_processors",
        "processors used by the process, for all streams",
        |row| row.cpu_used,
    ),
    integer(
        "hosts",
        "hosts whose interval is in the numbers, fewer than `planned_hosts` if some were lost or have \
         ended; empty if only one host measured",
        |row| row.hosts.map(|hosts| hosts as u64),
    ),
    integer("planned_hosts", "hosts of the run; empty if only one host measured", |row| {
        row.hosts.map(|_| row.run.hosts.len() as u64)
    }),
];

/// A pair of lists in a Parquet file: the histogram of a row.
#[derive(Debug)]
pub struct Histogram {
    /// The column of the buckets' upper edges.
    pub edges: &'static str,
    /// The column of the operations in each bucket.
    pub counts: &'static str,
    /// What is counted.
    pub meaning: &'static str,
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only Parquet has lists"))]
    times: for<'r> fn(&'r IntervalRow<'_>) -> &'r IntervalTimes<'r>,
}

/// The histograms, in order.
pub const HISTOGRAMS: &[Histogram] = &[
    Histogram {
        edges: "response_bucket_ns",
        counts: "response_bucket_ops",
        meaning: "response times",
        times: |row| &row.response,
    },
    Histogram {
        edges: "service_bucket_ns",
        counts: "service_bucket_ops",
        meaning: "service times",
        times: |row| &row.service,
    },
];
