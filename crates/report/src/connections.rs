//! The connections of each run, as rows that every output lays out.

use std::io::{self, Write};

use analysis::Findings;
use analysis::connections::ConnectionSummary;
use analysis::estimate::Estimate;
use analysis::load_point::LoadPoint;

use crate::csv::quoted;
use crate::number::{NONE, exported, mib, plain, thousands, us};

/// Cells of a row.
pub(crate) const COLUMNS: usize = 8;
/// Which of them is our own end.
pub(crate) const LOCAL: usize = 1;

/// Headings of [`cells`], each in two lines.
pub(crate) const HEADINGS: [(&str, &str); COLUMNS] = [
    ("worker", ""),
    ("local", ""),
    ("remote", ""),
    ("rate", "ops/s"),
    ("through-", "put MiB/s"),
    ("out-", "standing"),
    ("RTT", "us"),
    ("sent", "again"),
];

/// A connection in a row: whose it is, its ends, its rate, throughput, outstanding and round-trip
/// time, and what was sent again (by TCP, by the client over a new connection, at the server's
/// wish).
pub(crate) fn cells(connection: &ConnectionSummary) -> [String; COLUMNS] {
    let printed = |estimate: Option<Estimate>, print: fn(f64) -> String| {
        estimate.map_or(NONE.to_owned(), |estimate| print(estimate.value))
    };
    let again = [connection.retransmits, connection.replays, connection.retries];
    let again = again.map(|count| thousands(i128::from(count))).join("/");
    [
        format!("{} {}.{}", connection.stream, connection.lane, connection.number),
        connection.local.clone(),
        connection.remote.clone(),
        printed(connection.rate, plain),
        printed(connection.throughput, mib),
        printed(connection.outstanding_mean, plain),
        printed(connection.rtt_mean_ns, us),
        again,
    ]
}

/// The load point with the highest rate of those that have several connections: where a limit of
/// each connection would show.
pub(crate) fn most_loaded(findings: &Findings) -> Option<&LoadPoint> {
    let several = |point: &&LoadPoint| point.runs.iter().any(|run| run.connections.len() > 1);
    let rate = |point: &LoadPoint| {
        point.merged.total.data.achieved_rate.map_or(0.0, |estimate| estimate.value)
    };
    findings.load_points.iter().filter(several).max_by(|a, b| rate(a).total_cmp(&rate(b)))
}

const CSV_COLUMNS: [&str; 26] = [
    "experiment_id",
    "load_point",
    "variant",
    "parameters",
    "repeat",
    "stream",
    "lane",
    "number",
    "local",
    "remote",
    "operations",
    "calls",
    "moved_bytes",
    "rate_ops_per_sec",
    "throughput_bytes_per_sec",
    "outstanding_mean_calls",
    "outstanding_mean_uncertainty_calls",
    "rtt_mean_ns",
    "rtt_mean_uncertainty_ns",
    "retransmits",
    "reconnects",
    "replays",
    "retries",
    "rewritten_bytes",
    "verifier_changes",
    "down_ns",
];

/// Writes the connections as CSV, a line for each connection of each run.
///
/// # Errors
/// What `out` says.
pub fn write_csv(findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", CSV_COLUMNS.join(","))?;
    for (index, point) in findings.load_points.iter().enumerate() {
        let parameters: Vec<String> =
            point.parameters.iter().map(|(key, value)| format!("{key}={value}")).collect();
        for run in &point.runs {
            for connection in &run.connections {
                let number = |value: Option<f64>| {
                    value.map_or(String::new(), |value| exported(value).to_string())
                };
                let value = |estimate: Option<Estimate>| number(estimate.map(|e| e.value));
                let outstanding = connection.outstanding_mean;
                let line = [
                    quoted(&findings.id),
                    index.to_string(),
                    quoted(&point.variant),
                    quoted(&parameters.join(";")),
                    (run.repeat + 1).to_string(),
                    quoted(&connection.stream),
                    connection.lane.to_string(),
                    connection.number.to_string(),
                    connection.local.clone(),
                    connection.remote.clone(),
                    connection.operations.to_string(),
                    connection.calls.to_string(),
                    connection.bytes.to_string(),
                    value(connection.rate),
                    value(connection.throughput),
                    value(outstanding),
                    number(outstanding.and_then(|estimate| estimate.uncertainty)),
                    value(connection.rtt_mean_ns),
                    number(connection.rtt_mean_ns.and_then(|estimate| estimate.uncertainty)),
                    connection.retransmits.to_string(),
                    connection.reconnects.to_string(),
                    connection.replays.to_string(),
                    connection.retries.to_string(),
                    connection.rewritten_bytes.to_string(),
                    connection.verifier_changes.to_string(),
                    connection.down_ns.to_string(),
                ];
                writeln!(out, "{}", line.join(","))?;
            }
        }
    }
    Ok(())
}
