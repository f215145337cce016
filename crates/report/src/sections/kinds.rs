//! Operations by kind, for streams on names: the results have a row for each load point only,
//! because a mix can have 22 kinds.

use analysis::Findings;
use analysis::load_point::{OpSummary, StreamSummary};

use crate::document::{Block, Column, Section, Table};
use crate::number::{NONE, TimeUnit, mib, percent, plain, thousands};
use crate::results::{self, load_point_name, percentile, printed, relative, time_unit};

/// More tables are counted, not listed; JSON and CSV have all kinds.
const TABLES_MAX: usize = 24;

/// The section; `None` without operations on names.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let unit = time_unit(&[findings]);
    let mut tables = Vec::new();
    for point in findings.curves.iter().flat_map(|curve| results::in_reading_order(curve)) {
        let load_point = &findings.load_points[point.load_point];
        let streams = &load_point.merged.streams;
        for stream in streams.iter().filter(|stream| has_kinds_on_names(stream)) {
            let mut caption = load_point_name(load_point);
            if streams.len() > 1 {
                caption.push_str(&format!(": {}", stream.name));
            }
            tables.push(table(stream, caption, unit));
        }
    }
    if tables.is_empty() {
        return None;
    }
    results::without_empty(&mut tables, results::THROUGHPUT);
    let left_out = tables.len().saturating_sub(TABLES_MAX);
    tables.truncate(TABLES_MAX);
    let mut blocks = vec![Block::Paragraph(
        "Kinds of operations by their share of the completed operations, the largest first. Response \
         times include the time spent waiting to be sent. Errors: operations that failed, which \
         no other figure contains."
            .to_owned(),
    )];
    blocks.extend(tables.into_iter().map(Block::Table));
    if left_out > 0 {
        blocks.push(Block::Paragraph(format!(
            "{left_out} more load points; `export --format csv` has all."
        )));
    }
    Some(Section {
        id: "kinds",
        title: "Operations by kind".to_owned(),
        blocks,
        method: vec!["Achieved rate", "Response time", "Percentiles"],
    })
}

/// Whether the stream has operations on names.
pub(crate) fn has_kinds_on_names(stream: &StreamSummary) -> bool {
    stream.kinds.iter().any(OpSummary::is_on_names)
}

fn table(stream: &StreamSummary, caption: String, unit: TimeUnit) -> Table {
    let time = |name: &str| Column::numbers(name, unit.symbol()).grouped("response time");
    let columns = vec![
        Column::words("kind"),
        Column::numbers("share", "").narrow("", "share"),
        Column::numbers("rate", "ops/s"),
        Column::numbers("95 % CI", "±").narrow("95 %", "CI ±").dispensable(3),
        time("mean"),
        time("p50").dispensable(5),
        time("p99"),
        time("p99.9").dispensable(4),
        time("max").dispensable(1),
        Column::numbers(results::THROUGHPUT, "MiB/s").narrow("", "MiB/s").dispensable(2),
        Column::numbers("errors", "").narrow("", "errors"),
    ];
    let completed: u64 = stream.kinds.iter().map(|ops| ops.completed).sum();
    let row = |ops: &OpSummary, name: &str| {
        let times = &ops.response;
        vec![
            name.to_owned(),
            percent(ops.completed as f64 / completed.max(1) as f64),
            printed(ops.achieved_rate, plain),
            relative(ops.achieved_rate),
            printed(times.mean_ns, |ns| unit.print(ns)),
            percentile(times.percentile(0.5), unit),
            percentile(times.percentile(0.99), unit),
            percentile(times.percentile(0.999), unit),
            times.max_ns.map_or(NONE.to_owned(), |ns| unit.print(ns as f64)),
            printed(ops.throughput_of_data(), mib),
            thousands(i128::from(ops.failed)),
        ]
    };
    let mut rows: Vec<Vec<String>> =
        results::by_share(stream).into_iter().map(|ops| row(ops, ops.name)).collect();
    rows.push(row(stream.all_kinds.as_ref().unwrap_or(&stream.data), "all"));
    Table { caption, columns, rows }
}
