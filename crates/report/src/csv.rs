//! Results as CSV: one line for each load point, repeat (and all combined), stream (and all
//! combined) and kind of operation. `docs/reference/csv.md` describes the columns.
//!
//! Numbers are those of the findings, with nine digits; unknown values are empty.

use std::io::{self, Write};

use analysis::Findings;
use analysis::estimate::Estimate;
use analysis::host_state::HostSummary;
use analysis::load_point::{OpSummary, StreamSummary, Summary};
use analysis::times::Times;
use analysis::users::{UserTimes, UsersSummary};

use crate::number::{exported, percentile_name};

/// Names of the columns, in order, also of an export without results.
const COLUMNS: [&str; 117] = [
    "experiment_id",
    "load_point",
    "variant",
    "parameters",
    "repeat",
    "stream",
    "operation",
    "queue_depth_total",
    "workers",
    "offered_rate_ops_per_sec",
    "achieved_rate_all_kinds_ops_per_sec",
    "intervals",
    "window_ns",
    "completed",
    "failed",
    "moved_bytes",
    "achieved_rate_ops_per_sec",
    "achieved_rate_uncertainty_ops_per_sec",
    "throughput_bytes_per_sec",
    "throughput_uncertainty_bytes_per_sec",
    "uncertainty_method",
    "response_samples",
    "response_mean_ns",
    "response_mean_uncertainty_ns",
    "response_min_ns",
    "response_p50_ns",
    "response_p50_low_ns",
    "response_p50_high_ns",
    "response_p90_ns",
    "response_p90_low_ns",
    "response_p90_high_ns",
    "response_p99_ns",
    "response_p99_low_ns",
    "response_p99_high_ns",
    "response_p99_9_ns",
    "response_p99_9_low_ns",
    "response_p99_9_high_ns",
    "response_p99_99_ns",
    "response_p99_99_low_ns",
    "response_p99_99_high_ns",
    "response_max_ns",
    "service_samples",
    "service_mean_ns",
    "service_mean_uncertainty_ns",
    "service_min_ns",
    "service_p50_ns",
    "service_p50_low_ns",
    "service_p50_high_ns",
    "service_p90_ns",
    "service_p90_low_ns",
    "service_p90_high_ns",
    "service_p99_ns",
    "service_p99_low_ns",
    "service_p99_high_ns",
    "service_p99_9_ns",
    "service_p99_9_low_ns",
    "service_p99_9_high_ns",
    "service_p99_99_ns",
    "service_p99_99_low_ns",
    "service_p99_99_high_ns",
    "service_max_ns",
    "outstanding_mean_ops",
    "outstanding_mean_uncertainty_ops",
    "backlog_mean_ops",
    "backlog_mean_uncertainty_ops",
    "backlog_end_ops",
    "schedule_delay_mean_ns",
    "schedule_delay_mean_uncertainty_ns",
    "overloaded",
    "process_cpu_ns_per_op",
    "process_cpu_uncertainty_ns_per_op",
    "worker_cpu_ns_per_op",
    "worker_cpu_uncertainty_ns_per_op",
    "worker_busy_max_fraction",
    "worker_busy_max_uncertainty_fraction",
    "little_service_mismatch_fraction",
    "little_response_mismatch_fraction",
    "errors",
    "warnings",
    "host_span_ns",
    "host_late_readings",
    "host_processors",
    "host_quota_processors",
    "host_busy_fraction",
    "host_busy_uncertainty_fraction",
    "host_process_fraction",
    "host_process_uncertainty_fraction",
    "host_others_fraction",
    "host_others_uncertainty_fraction",
    "host_steal_fraction",
    "host_steal_uncertainty_fraction",
    "host_run_queue_delay_ns_per_sec",
    "host_run_queue_delay_uncertainty_ns_per_sec",
    "host_run_queue_delay_ns_per_op",
    "host_run_queue_delay_uncertainty_ns_per_op",
    "host_pressure_fraction",
    "host_pressure_uncertainty_fraction",
    "host_runnable_mean_tasks",
    "host_runnable_mean_uncertainty_tasks",
    "host_service_cpu_fraction",
    "host_service_cpu_uncertainty_fraction",
    "remaining_hosts",
    "planned_hosts",
    "missing_hosts_from_ns",
    "users",
    "scenarios_started",
    "scenarios_completed",
    "scenarios_due",
    "scenarios_late",
    "scenarios_per_sec",
    "scenarios_uncertainty_per_sec",
    "overload_fraction",
    "overload_uncertainty_fraction",
    "scenario_duration_mean_ns",
    "scenario_duration_mean_uncertainty_ns",
    "scenario_duration_p99_ns",
    "user_delay_p99_ns",
];

/// Writes all results.
///
/// # Errors
/// Errors of `out`.
pub fn write(findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", COLUMNS.join(","))?;
    for line in lines(findings) {
        let names = line.0.iter().map(|(name, _)| name.as_str());
        assert!(names.eq(COLUMNS), "a line has a cell for each column");
        let cells: Vec<String> = line.0.iter().map(|(_, cell)| quoted(cell)).collect();
        writeln!(out, "{}", cells.join(","))?;
    }
    Ok(())
}

/// Cells with the names of their columns.
#[derive(Default)]
struct Line(Vec<(String, String)>);

impl Line {
    fn text(&mut self, name: &str, value: impl ToString) {
        self.0.push((name.to_owned(), value.to_string()));
    }

    fn maybe(&mut self, name: &str, value: Option<impl ToString>) {
        let value = value.map_or(String::new(), |v| v.to_string());
        self.0.push((name.to_owned(), value));
    }

    fn number(&mut self, name: &str, value: Option<f64>) {
        self.maybe(name, value.map(exported));
    }

    /// A value and its uncertainty, in the columns `name_unit` and `name_uncertainty_unit`.
    fn estimate(&mut self, name: &str, unit: &str, estimate: Option<Estimate>) {
        self.number(&format!("{name}{unit}"), estimate.map(|e| e.value));
        self.number(&format!("{name}_uncertainty{unit}"), estimate.and_then(|e| e.uncertainty));
    }

    fn times(&mut self, name: &str, times: &Times) {
        self.text(&format!("{name}_samples"), times.samples);
        self.estimate(&format!("{name}_mean"), "_ns", times.mean_ns);
        self.maybe(&format!("{name}_min_ns"), times.min_ns);
        for percentile in &times.percentiles {
            let fraction = percentile_name(percentile.fraction).replace('.', "_");
            self.maybe(&format!("{name}_{fraction}_ns"), percentile.value_ns);
            let [low, high] = percentile.interval_ns.map_or([None; 2], |ends| ends.map(Some));
            self.number(&format!("{name}_{fraction}_low_ns"), low);
            self.number(&format!("{name}_{fraction}_high_ns"), high);
        }
        self.maybe(&format!("{name}_max_ns"), times.max_ns);
    }
}

fn lines(findings: &Findings) -> Vec<Line> {
    let mut lines = Vec::new();
    for (index, load_point) in findings.load_points.iter().enumerate() {
        let runs = load_point.runs.iter().map(|r| ((r.repeat + 1).to_string(), &r.summary));
        for (repeat, summary) in std::iter::once(("all".to_owned(), &load_point.merged)).chain(runs)
        {
            let all = (summary.streams.len() > 1).then_some(&summary.total);
            for stream in all.into_iter().chain(&summary.streams) {
                for ops in
                    std::iter::once(&stream.data).chain(&stream.kinds).chain(&stream.all_kinds)
                {
                    let origin = Origin { findings, load_point: index, repeat: &repeat };
                    lines.push(line(&origin, summary, stream, ops));
                }
            }
        }
    }
    lines
}

/// What a line is about.
struct Origin<'a> {
    findings: &'a Findings,
    load_point: usize,
    repeat: &'a str,
}

fn line(origin: &Origin<'_>, summary: &Summary, stream: &StreamSummary, ops: &OpSummary) -> Line {
    let load_point = &origin.findings.load_points[origin.load_point];
    let parameters: Vec<String> =
        load_point.parameters.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let mut line = Line::default();
    line.text("experiment_id", &origin.findings.id);
    line.text("load_point", origin.load_point);
    line.text("variant", &load_point.variant);
    line.text("parameters", parameters.join(";"));
    line.text("repeat", origin.repeat);
    line.text("stream", &stream.name);
    line.text("operation", ops.name);
    line.text("queue_depth_total", stream.queue_depth_total);
    line.text("workers", stream.workers);
    line.number("offered_rate_ops_per_sec", stream.offered_rate.map(|rate| rate.get()));
    let all_kinds = stream.achieved_rate_all_kinds().map(|rate| rate.value);
    line.number("achieved_rate_all_kinds_ops_per_sec", all_kinds);
    line.text("intervals", stream.intervals);
    line.text("window_ns", stream.window_ns);
    line.text("completed", ops.completed);
    line.text("failed", ops.failed);
    line.text("moved_bytes", ops.bytes);
    line.estimate("achieved_rate", "_ops_per_sec", ops.achieved_rate);
    line.estimate("throughput", "_bytes_per_sec", ops.throughput);
    line.text("uncertainty_method", ops.achieved_rate.map_or("unknown", |r| r.method.name()));
    line.times("response", &ops.response);
    line.times("service", &ops.service);
    line.estimate("outstanding_mean", "_ops", stream.outstanding_mean);
    line.estimate("backlog_mean", "_ops", stream.backlog_mean);
    line.text("backlog_end_ops", stream.backlog_end);
    line.estimate("schedule_delay_mean", "_ns", stream.schedule_delay_mean_ns);
    line.text("overloaded", stream.overload.is_some());
    line.estimate("process_cpu", "_ns_per_op", summary.cpu_ns_per_op);
    line.estimate("worker_cpu", "_ns_per_op", stream.worker_cpu_ns_per_op);
    line.estimate("worker_busy_max", "_fraction", stream.worker_busy_max);
    line.number("little_service_mismatch_fraction", stream.little_service.map(|l| l.mismatch));
    line.number("little_response_mismatch_fraction", stream.little_response.map(|l| l.mismatch));
    let errors = stream.errors.iter().filter(|(kind, _, _)| match ops.name {
        "all" => true,
        "data" => kind.name() != "fsync",
        name => name == kind.name(),
    });
    let errors: Vec<String> = errors
        .map(|(kind, error, count)| format!("{}:{}={count}", kind.name(), error.name()))
        .collect();
    line.text("errors", errors.join(";"));
    let several = summary.streams.len() > 1 && stream.name != summary.total.name;
    let marks = origin.findings.marks(origin.load_point, several.then_some(stream.name.as_str()));
    let groups = origin.findings.warnings.iter().filter(|g| marks.contains(g.mark));
    let codes: Vec<&str> = groups.map(|g| g.code).collect();
    line.text("warnings", codes.join(";"));
    host(&mut line, summary.host.as_ref());
    let missing = load_point.missing_hosts;
    line.maybe("remaining_hosts", missing.map(|missing| missing.remaining));
    line.maybe("planned_hosts", missing.map(|missing| missing.of));
    line.maybe("missing_hosts_from_ns", missing.map(|missing| missing.from_ns));
    users(&mut line, stream.users.as_ref());
    line
}

/// The state of the host; empty in records without it.
fn host(line: &mut Line, host: Option<&HostSummary>) {
    let of = |pick: fn(&HostSummary) -> Option<Estimate>| host.and_then(pick);
    line.maybe("host_span_ns", host.map(|host| host.span_ns));
    line.maybe("host_late_readings", host.map(|host| host.late_readings));
    line.number("host_processors", host.and_then(|host| host.processors));
    line.number("host_quota_processors", host.and_then(|host| host.quota));
    line.estimate("host_busy", "_fraction", of(|host| host.busy));
    line.estimate("host_process", "_fraction", of(|host| host.process));
    line.estimate("host_others", "_fraction", of(|host| host.others));
    line.estimate("host_steal", "_fraction", of(|host| host.steal));
    let delay_ns = of(|host| host.run_queue_delay).map(|share| share.scaled(1e9));
    line.estimate("host_run_queue_delay", "_ns_per_sec", delay_ns);
    let delay_ns = of(|host| host.run_queue_delay_ns_per_op);
    line.estimate("host_run_queue_delay", "_ns_per_op", delay_ns);
    line.estimate("host_pressure", "_fraction", of(|host| host.pressure));
    line.estimate("host_runnable_mean", "_tasks", of(|host| host.runnable_mean));
    line.estimate("host_service_cpu", "_fraction", of(|host| host.service_cpu));
}

fn users(line: &mut Line, users: Option<&UsersSummary>) {
    line.maybe("users", users.map(|all| all.users));
    line.maybe("scenarios_started", users.map(|all| all.started));
    line.maybe("scenarios_completed", users.map(|all| all.completed));
    line.maybe("scenarios_due", users.map(|all| all.due));
    line.maybe("scenarios_late", users.map(|all| all.late));
    line.estimate("scenarios", "_per_sec", users.and_then(|all| all.scenarios_per_s));
    line.estimate("overload", "_fraction", users.and_then(|all| all.overload));
    line.estimate("scenario_duration_mean", "_ns", users.and_then(|all| all.duration.mean_ns));
    let p99 = |times: &UserTimes| times.percentile(0.99).and_then(|p| p.value_ns);
    line.maybe("scenario_duration_p99_ns", users.and_then(|all| p99(&all.duration)));
    line.maybe("user_delay_p99_ns", users.and_then(|all| p99(&all.delay)));
}

/// A cell with quotes if it contains a comma, a quote or a line break (RFC 4180).
pub(crate) fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}
