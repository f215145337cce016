//! What each of several hosts measured, when they started, and how they differ.

use analysis::Findings;
use analysis::common_window::CommonWindow;
use analysis::fleet::{FactDifference, FleetFindings, HostSummary};
use analysis::load_point::Summary;
use analysis::wire::{self, RunWire};
use units::{Nanos, counted};

use crate::document::{Block, Section};
use crate::number::{NONE, TimeUnit, mib, plain, us};
use crate::results::{load_point_name, percentile, printed};
use crate::table::{Column, Table};
use crate::warnings::counter_source;

/// More hosts with a value than this are counted, not named.
const NAMED_MAX: usize = 4;

/// The section; `None` if one host measured.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let fleet = findings.fleet.as_ref()?;
    let mut blocks = vec![Block::Paragraph(introduction(fleet))];
    let mut runs =
        fleet.load_points.iter().flat_map(|point| &point.hosts).flat_map(|one| &one.wire);
    let counted_at = runs.find_map(RunWire::believed).map(|check| counter_source(check.source));
    if let Some(source) = counted_at {
        blocks.push(Block::Paragraph(format!("Counted: at {source} of each host.")));
    }
    for (point, of_hosts) in findings.load_points.iter().zip(&fleet.load_points) {
        blocks.push(Block::Heading(load_point_name(point)));
        let mut columns = columns("host");
        columns.extend(counted_at.map(|_| Column::numbers("counted", "MiB/s").dispensable(1)));
        columns.push(Column::words("lost"));
        let rows = of_hosts.hosts.iter().map(|host| row(fleet, host, counted_at.is_some()));
        let rows = rows.collect();
        blocks.push(Block::Table(Table { caption: String::new(), columns, rows }));
    }
    if !fleet.differences.is_empty() {
        blocks.push(Block::Heading("Differences between hosts".to_owned()));
        blocks.push(Block::List(fleet.differences.iter().map(difference).collect()));
    }
    Some(Section { id: "hosts", title: "Hosts".to_owned(), blocks, method: vec!["Several hosts"] })
}

/// `3 hosts, started within 210 µs (at most 50 µs more or less). All measured together from t = 300 µs to
/// t = 7.00 s; totals are from t = 2.00 s to t = 7.00 s.`
pub(crate) fn introduction(fleet: &FleetFindings) -> String {
    let hosts = counted(fleet.hosts.len() as u64, "host");
    let started = match &fleet.start_spread {
        None if fleet.hosts.len() < 2 => format!("{hosts}."),
        None => format!("{hosts}; it is not known how far apart they started."),
        Some(spread) => format!(
            "{hosts}, started within {} (at most {} more or less).",
            Nanos(spread.spread_ns as f64),
            Nanos(spread.error_ns as f64)
        ),
    };
    [Some(started), fleet.window.as_ref().map(together)].into_iter().flatten().collect()
}

/// When all hosts measured, and what totals cover.
fn together(window: &CommonWindow) -> String {
    let span = |from_ns: u64, to_ns: u64| {
        format!("from t = {} to t = {}", Nanos(from_ns as f64), Nanos(to_ns as f64))
    };
    let totals = window.totals_ns.map_or_else(String::new, |(from_ns, to_ns)| {
        format!("; totals are {}", span(from_ns, to_ns))
    });
    let beyond = match window.runs_beyond {
        0 => "",
        _ if window.runs == 1 => ", which includes time without some of them",
        _ => ", in some runs with time without some of them",
    };
    let runs = window.runs;
    let measured = match (window.span_ns, runs - window.runs_without) {
        (None, _) if runs == 1 => "Not all of them measured".to_owned(),
        (None, _) => format!("In none of {runs} runs all of them measured"),
        (Some((from_ns, to_ns)), together) => {
            let common = span(from_ns, to_ns);
            match runs {
                1 => format!("All measured together {common}"),
                _ if together == runs => {
                    format!("In each of {runs} runs all measured together {common}")
                }
                _ => format!("In {together} of {runs} runs all measured together {common}"),
            }
        }
    };
    format!(" {measured}{totals}{beyond}.")
}

/// The columns of [`figures`], after the name of what was measured.
pub(super) fn columns(name: &str) -> Vec<Column> {
    vec![
        Column::words(name),
        Column::numbers("rate", "ops/s"),
        Column::numbers("throughput", "MiB/s"),
        Column::numbers("mean", "µs"),
        Column::numbers("p99", "µs"),
        Column::numbers("CPU", "µs/op"),
    ]
}

/// Rate, throughput, times and processor time of one part of a load point.
pub(super) fn figures(summary: &Summary) -> [String; 5] {
    let data = &summary.total.data;
    [
        printed(data.achieved_rate, plain),
        printed(data.throughput_of_data(), mib),
        printed(data.response.mean_ns, us),
        percentile(data.response.percentile(0.99), TimeUnit::Micro),
        printed(summary.cpu_ns_per_op, us),
    ]
}

fn row(fleet: &FleetFindings, host: &HostSummary, has_counters: bool) -> Vec<String> {
    let name = fleet.hosts.get(host.host).cloned().unwrap_or_default();
    let lost = host
        .lost
        .as_ref()
        .map_or_else(String::new, |(at_ns, why)| format!("at t = {}: {why}", Nanos(*at_ns as f64)));
    let mut row = vec![name];
    row.extend(figures(&host.summary));
    if has_counters {
        row.push(wire::throughput(&host.wire).map_or_else(|| NONE.to_owned(), mib));
    }
    row.push(lost);
    row
}

/// `kernel.release: 6.8.0 (3 hosts), 6.1.0 (vm07)`
fn difference(one: &FactDifference) -> String {
    let value = |(value, hosts): &(Option<String>, Vec<String>)| {
        let hosts = match hosts.len() {
            ..=NAMED_MAX => hosts.join(", "),
            count => counted(count as u64, "host"),
        };
        format!("{} ({hosts})", value.as_deref().unwrap_or("not known"))
    };
    let values: Vec<String> = one.values.iter().map(value).collect();
    format!("{}: {}", one.name, values.join(", "))
}

#[cfg(test)]
mod tests {
    use analysis::fleet::StartSpread;

    use super::*;

    const MS: u64 = 1_000_000;

    fn fleet(runs: u32, runs_beyond: u32) -> FleetFindings {
        FleetFindings {
            hosts: vec!["a".to_owned(), "b".to_owned()],
            differences: Vec::new(),
            load_points: Vec::new(),
            start_spread: Some(StartSpread { spread_ns: MS / 5, error_ns: MS / 20, last: 1 }),
            window: Some(CommonWindow {
                runs,
                runs_without: 0,
                span_ns: Some((MS / 4, 7_000 * MS)),
                totals_ns: Some((2_000 * MS, 7_000 * MS)),
                runs_beyond,
            }),
        }
    }

    #[test]
    fn the_introduction_says_when_all_hosts_measured_and_what_totals_cover() {
        let started = "2 hosts, started within 200 µs (at most 50.0 µs more or less).";
        let span = "all measured together from t = 250 µs to t = 7.00 s; totals are from t = 2.00 s to \
                    t = 7.00 s";
        let all = span.replacen('a', "A", 1);
        assert_eq!(introduction(&fleet(1, 0)), format!("{started} {all}."));
        let without = "which includes time without some of them";
        assert_eq!(introduction(&fleet(1, 1)), format!("{started} {all}, {without}."));
        let several = format!("{started} In each of 5 runs {span}");
        assert_eq!(introduction(&fleet(5, 0)), format!("{several}."));
        let some = "in some runs with time without some of them";
        assert_eq!(introduction(&fleet(5, 2)), format!("{several}, {some}."));
        let mut lost = fleet(5, 4);
        let window = lost.window.as_mut().expect("it is known");
        window.runs_without = 4;
        let one = format!("{started} In 1 of 5 runs {span}, {some}.");
        assert_eq!(introduction(&lost), one);
        let window = lost.window.as_mut().expect("it is known");
        *window =
            CommonWindow { runs: 1, runs_without: 1, span_ns: None, runs_beyond: 1, ..*window };
        let totals = "totals are from t = 2.00 s to t = 7.00 s";
        let none = format!("{started} Not all of them measured; {totals}, {without}.");
        assert_eq!(introduction(&lost), none);
    }
}
