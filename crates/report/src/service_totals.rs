//! The counters of a service of emulated volumes: totals, or rates between two readings.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cloud::throughput::KibPerSec;
use serde::Deserialize;
use units::{counted, thousands};

use crate::number::{NONE, TimeUnit, mib};
use crate::table::{Column, Table};

/// Rows of a table at most: each run brings new network flows. The JSON has all.
const ROWS_MAX: usize = 24;

/// The counters of a service that are shown; the service sends more as `/stat.json`.
#[derive(Clone, Debug, Deserialize)]
pub struct ServiceTotals {
    now_ns: u64,
    connections: u64,
    volumes: Vec<SubjectTotals>,
    flows: Vec<SubjectTotals>,
    clients: Vec<SubjectTotals>,
}

/// Counters of one volume, flow or client.
#[derive(Clone, Debug, Deserialize)]
struct SubjectTotals {
    name: String,
    #[serde(default)]
    throughput_limit_bytes_per_s: Option<u64>,
    completed: u64,
    read_bytes: u64,
    written_bytes: u64,
    outstanding: u64,
    outstanding_max: u64,
    throttled: u64,
    qos_delay_ns: u64,
    operations: BTreeMap<String, u64>,
    failed: BTreeMap<String, u64>,
}

impl SubjectTotals {
    /// The counters since an earlier reading; what is outstanding is that of now.
    fn since(&self, past: Option<&SubjectTotals>) -> SubjectTotals {
        let since =
            |read: fn(&SubjectTotals) -> u64| read(self).saturating_sub(past.map_or(0, read));
        SubjectTotals {
            completed: since(|seen| seen.completed),
            read_bytes: since(|seen| seen.read_bytes),
            written_bytes: since(|seen| seen.written_bytes),
            throttled: since(|seen| seen.throttled),
            qos_delay_ns: since(|seen| seen.qos_delay_ns),
            ..self.clone()
        }
    }
}

/// Totals for a terminal of `columns`; with `before`, rates since then.
pub fn text(now: &ServiceTotals, before: Option<&ServiceTotals>, columns: usize) -> String {
    let since_ns = before.map_or(0, |before| before.now_ns);
    let elapsed_s = now.now_ns.saturating_sub(since_ns) as f64 / 1e9;
    let span = match before {
        Some(_) => format!("in {elapsed_s:.1} s"),
        None => format!("since {elapsed_s:.1} s ago"),
    };
    let mut out = format!("{span}, {}\n", counted(now.connections, "connection"));
    let groups = [
        ("VOLUME", &now.volumes, before.map(|before| &before.volumes)),
        ("CLIENT", &now.clients, before.map(|before| &before.clients)),
        ("NETWORK FLOW", &now.flows, before.map(|before| &before.flows)),
    ];
    let over_s = before.map(|_| elapsed_s);
    let tables =
        groups.map(|(title, seen, old)| table(title, seen, old.map(Vec::as_slice), over_s));
    out.push_str(&Table::aligned_text(&tables, columns));
    for volume in &now.volumes {
        writeln!(out, "\n{}: {}", volume.name, procedures(volume))
            .expect("writing to a string cannot fail");
    }
    out
}

/// Counters of volumes, clients or flows; with `over_s`, rates over that many seconds.
fn table(
    title: &str,
    seen: &[SubjectTotals],
    old: Option<&[SubjectTotals]>,
    over_s: Option<f64>,
) -> Table {
    let (rows, left_out) = busiest(seen, old);
    let counters: Vec<SubjectTotals> = rows.iter().map(|(one, past)| one.since(*past)).collect();
    let delay_ns =
        |one: &SubjectTotals| one.qos_delay_ns.checked_div(one.throttled).map(|ns| ns as f64);
    let unit = TimeUnit::of(counters.iter().filter_map(delay_ns));
    let per_second = |count: u64| over_s.map_or(count as f64, |over_s| count as f64 / over_s);
    let row = |one: &SubjectTotals| {
        vec![
            one.name.clone(),
            thousands(per_second(one.completed) as u64),
            mib(per_second(one.read_bytes)),
            mib(per_second(one.written_bytes)),
            format!("{}/{}", one.outstanding, one.outstanding_max),
            thousands(one.throttled),
            delay_ns(one).map_or_else(|| NONE.to_owned(), |ns| unit.print(ns)),
        ]
    };
    let (operations, bytes) = match over_s {
        Some(_) => ("ops/s", "MiB/s"),
        None => ("", "MiB"),
    };
    let shown = counters.len();
    Table {
        caption: match left_out {
            0 => String::new(),
            more => format!("The busiest {shown} of {}; --format json has all.", shown + more),
        },
        columns: vec![
            Column::words(title),
            Column::numbers("OPS", operations),
            Column::numbers("READ", bytes),
            Column::numbers("WRITTEN", bytes),
            Column::numbers("OUTSTANDING", "now/max"),
            Column::numbers("THROTTLED", ""),
            Column::numbers("QOS DELAY", unit.symbol()),
        ],
        rows: counters.iter().map(row).collect(),
    }
}

/// Counters with their previous values, in their order, and how many are left out. If there are too
/// many, those with the most operations since then come first.
fn busiest<'a>(
    seen: &'a [SubjectTotals],
    old: Option<&'a [SubjectTotals]>,
) -> (Vec<(&'a SubjectTotals, Option<&'a SubjectTotals>)>, usize) {
    let past = |one: &SubjectTotals| old?.iter().find(|other| other.name == one.name);
    let mut rows: Vec<_> = seen.iter().map(|one| (one, past(one))).collect();
    let left = rows.len().saturating_sub(ROWS_MAX);
    if left > 0 {
        let done = |(one, past): &(&SubjectTotals, Option<&SubjectTotals>)| {
            one.completed.saturating_sub(past.map_or(0, |past| past.completed))
        };
        rows.sort_by_key(|row| std::cmp::Reverse(done(row)));
        rows.truncate(ROWS_MAX);
    }
    (rows, left)
}

/// Operations by procedure, the most frequent first.
fn procedures(volume: &SubjectTotals) -> String {
    let mut all: Vec<(&String, &u64)> = volume.operations.iter().collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let one = |(name, count): (&String, &u64)| match volume.failed.get(name) {
        Some(failed) => format!("{name} {} ({} failed)", thousands(*count), thousands(*failed)),
        None => format!("{name} {}", thousands(*count)),
    };
    let limit = volume.throughput_limit_bytes_per_s;
    let limit = limit.map_or_else(
        || "no limit".to_owned(),
        |limit| format!("limit {}", KibPerSec::new(limit / 1024)),
    );
    let all: Vec<String> = all.into_iter().map(one).collect();
    if all.is_empty() {
        format!("{limit}; no operations yet")
    } else {
        format!("{limit}; {}", all.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_the_busiest_rows_and_the_number_of_the_others() {
        let seen = |name: usize, completed: u64| SubjectTotals {
            name: format!("flow {name}"),
            throughput_limit_bytes_per_s: None,
            completed,
            read_bytes: 0,
            written_bytes: 0,
            outstanding: 0,
            outstanding_max: 0,
            throttled: 0,
            qos_delay_ns: 0,
            operations: BTreeMap::new(),
            failed: BTreeMap::new(),
        };
        let names = |rows: Vec<(&SubjectTotals, Option<&SubjectTotals>)>| -> Vec<String> {
            rows.into_iter().map(|(one, _)| one.name.clone()).collect()
        };
        let few: Vec<SubjectTotals> = (0..3).map(|name| seen(name, name as u64)).collect();
        let (rows, left) = busiest(&few, None);
        assert_eq!((names(rows).join(", "), left), ("flow 0, flow 1, flow 2".to_owned(), 0));

        let many: Vec<SubjectTotals> =
            (0..ROWS_MAX + 5).map(|name| seen(name, 100 + name as u64)).collect();
        let (rows, left) = busiest(&many, None);
        assert_eq!((names(rows)[0].as_str(), left), ("flow 28", 5));
        // What the first one did since is more than what any other did.
        let mut before = vec![seen(0, 0)];
        before
            .extend(many[1..].iter().enumerate().map(|(name, one)| seen(name + 1, one.completed)));
        let (rows, _) = busiest(&many, Some(&before));
        assert_eq!(names(rows)[0], "flow 0");
    }
}
