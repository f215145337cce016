//! The connections of each run, as a table and as CSV.

use std::io::{self, Write};

use analysis::Findings;
use analysis::connections::ConnectionSummary;
use analysis::estimate::Estimate;
use analysis::load_point::{LoadPoint, RunSummary};

use crate::csv::quoted;
use crate::number::{exported, mib, plain, thousands, us};
use crate::results::printed;
use crate::table::{Column, Table};

/// More connections than this are counted, not listed, in a terminal.
const LISTED_MAX: usize = 16;

/// The names of the hosts and of the targets that have connections; none where there is only one.
#[derive(Clone, Copy)]
pub(crate) struct Owners<'a> {
    hosts: &'a [String],
    targets: &'a [String],
}

impl<'a> Owners<'a> {
    pub(crate) fn of(findings: &'a Findings) -> Owners<'a> {
        let several = |names: &'a Vec<String>| if names.len() > 1 { &names[..] } else { &[] };
        Owners {
            hosts: findings.fleet.as_ref().map_or(&[], |fleet| several(&fleet.hosts)),
            targets: findings.targets.as_ref().map_or(&[], |targets| several(&targets.names)),
        }
    }

    /// The host whose worker owns the connection; `None` if there is only one host.
    pub(crate) fn host(self, connection: &ConnectionSummary) -> Option<&'a str> {
        self.hosts.get(connection.host as usize).map(String::as_str)
    }

    /// The target that the connection leads to; `None` if there is only one.
    pub(crate) fn target(self, connection: &ConnectionSummary) -> Option<&'a str> {
        self.targets.get(connection.target as usize).map(String::as_str)
    }

    fn columns(self) -> impl Iterator<Item = Column> {
        let named = |name: &str, all: &[String]| (all.len() > 1).then(|| Column::words(name));
        [named("host", self.hosts), named("target", self.targets)].into_iter().flatten()
    }

    fn cells(self, connection: &ConnectionSummary) -> impl Iterator<Item = String> {
        let names = [self.host(connection), self.target(connection)];
        names.into_iter().flatten().map(str::to_owned)
    }
}

/// The connections of a load point's runs, with a row for each connection of each repeat.
pub(crate) fn table(findings: &Findings, point: &LoadPoint) -> Table {
    let owners = Owners::of(findings);
    let has_repeats = point.runs.len() > 1;
    let repeat = has_repeats.then(|| Column::numbers("repeat", ""));
    let row = |run: &RunSummary, connection: &ConnectionSummary| {
        let repeat = has_repeats.then(|| (run.repeat + 1).to_string());
        repeat.into_iter().chain(owners.cells(connection)).chain(cells(connection)).collect()
    };
    let rows = point
        .runs
        .iter()
        .flat_map(|run| run.connections.iter().map(move |connection| row(run, connection)));
    Table {
        caption: String::new(),
        columns: repeat.into_iter().chain(owners.columns()).chain(columns()).collect(),
        rows: rows.collect(),
    }
}

/// The connections of one run for a terminal, without their local ends, for which there is no room;
/// and how many are left out.
pub(crate) fn short_table(findings: &Findings, run: &RunSummary) -> (Table, usize) {
    let owners = Owners::of(findings);
    let [worker, _, remote, others @ ..] = columns();
    // A narrow terminal has no room for the address of the server next to the names.
    let remote = remote.dispensable(u8::from(owners.columns().count() > 0));
    let columns = owners.columns().chain([worker, remote]).chain(others).collect();
    let row = |connection: &ConnectionSummary| {
        let [worker, _, others @ ..] = cells(connection);
        owners.cells(connection).chain([worker]).chain(others).collect()
    };
    let rows = run.connections.iter().take(LISTED_MAX).map(row).collect();
    let left_out = run.connections.len().saturating_sub(LISTED_MAX);
    (Table { caption: String::new(), columns, rows }, left_out)
}

fn columns() -> [Column; 8] {
    [
        Column::words("worker"),
        Column::words("local"),
        Column::words("remote"),
        Column::numbers("rate", "ops/s"),
        Column::numbers("throughput", "MiB/s"),
        Column::numbers("outstanding", "").narrow("out-", "standing"),
        Column::numbers("RTT", "µs"),
        Column::numbers("retransmissions", "").narrow("retrans-", "missions"),
    ]
}

/// A connection below [`columns`]. Retransmissions are segments by TCP, calls repeated on a new
/// connection, and calls that the server asked to repeat.
fn cells(connection: &ConnectionSummary) -> [String; 8] {
    let repeated = [connection.retransmits, connection.replays, connection.retries];
    [
        format!("{} {}.{}", connection.stream, connection.lane, connection.number),
        connection.local.clone(),
        connection.remote.clone(),
        printed(connection.rate, plain),
        printed(connection.throughput, mib),
        printed(connection.outstanding_mean, plain),
        printed(connection.rtt_mean_ns, us),
        repeated.map(|count| thousands(i128::from(count))).join("/"),
    ]
}

/// The load point with the highest rate of those with several connections: a limit of each
/// connection would show there.
pub(crate) fn most_loaded(findings: &Findings) -> Option<&LoadPoint> {
    let several = |point: &&LoadPoint| point.runs.iter().any(|run| run.connections.len() > 1);
    let rate = |point: &LoadPoint| {
        point.merged.total.data.achieved_rate.map_or(0.0, |estimate| estimate.value)
    };
    findings.load_points.iter().filter(several).max_by(|a, b| rate(a).total_cmp(&rate(b)))
}

const CSV_COLUMNS: [&str; 28] = [
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
    "host",
    "target",
];

/// Writes the connections as CSV, a line for each connection of each run.
///
/// # Errors
/// Errors of `out`.
pub fn write_csv(findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", CSV_COLUMNS.join(","))?;
    let owners = Owners::of(findings);
    let name = |name: Option<&str>| name.map_or_else(String::new, quoted);
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
                    name(owners.host(connection)),
                    name(owners.target(connection)),
                ];
                writeln!(out, "{}", line.join(","))?;
            }
        }
    }
    Ok(())
}
