//! The checks of a fleet as text and JSON: what is not reached, what differs, then each problem once with
//! the hosts that have it.

use std::io::Write;

use analysis::host_check::fleet::FleetCheckup;
use analysis::host_check::{About, Check, Status};
use serde::Serialize;
use units::{Nanos, counted};

use super::words::words;
use super::{Document, full};
use crate::prose::wrap;
use crate::table::{Column, Table, terminal};

/// Increased when a reader of the previous version would misread the new one.
const SCHEMA_VERSION: u32 = 1;
/// More hosts of one finding are counted, not named.
const NAMES_MAX: usize = 8;

/// * `all` - also hints
/// * `width` - the most columns
pub fn text(fleet: &FleetCheckup, about: &About, all: bool, width: usize) -> String {
    let mut out = String::new();
    wrap(&headline(fleet, about), "", "", width, &mut out);
    not_reached(fleet, width, &mut out);
    let table = differences(fleet);
    if !table.rows.is_empty() {
        out.push_str("\nDifferent on these hosts\n");
        terminal::write(&table, width, &mut out);
    }
    let shown: &[Status] = match all {
        true => &[Status::Problem, Status::Warning, Status::Hint],
        false => &[Status::Problem, Status::Warning],
    };
    let groups = grouped(fleet);
    for group in groups.iter().filter(|group| shown.contains(&group.check.status)) {
        full(group.check, &names(fleet, &group.hosts), width, &mut out);
    }
    if !all && groups.iter().any(|group| group.check.status == Status::Hint) {
        out.push_str("\nHints: --all shows them.\n");
    }
    out
}

/// Each reason once, with the hosts that it was given for.
fn not_reached(fleet: &FleetCheckup, width: usize, out: &mut String) {
    let mut reasons: Vec<(String, Vec<&str>, &str)> = Vec::new();
    for (name, why) in fleet.lost() {
        // Messages of ssh name the host.
        let same = why.replace(name, "{host}");
        match reasons.iter_mut().find(|(known, ..)| *known == same) {
            Some((_, names, _)) => names.push(name),
            None => reasons.push((same, vec![name], why)),
        }
    }
    if !reasons.is_empty() {
        out.push_str("\nNot reached\n");
    }
    for (_, names, why) in reasons {
        let mut lines = why.lines();
        let first = format!("{}: {}", listed(&names), lines.next().unwrap_or_default());
        wrap(&first, "  ", "    ", width, out);
        for remedy in lines {
            wrap(remedy, "    what to do: ", "    ", width, out);
        }
    }
}

/// `24 hosts, /mnt/vol1: 1 not reached; 2 settings differ; 3 hosts with problems`
fn headline(fleet: &FleetCheckup, about: &About) -> String {
    let hosts = counted(fleet.hosts.len() as u64, "host");
    let about = match about {
        About::Host => String::new(),
        About::Directory { path } => format!(", {path}"),
        About::Export(export) => format!(", {}", export.url),
    };
    let lost = fleet.lost().count();
    let differ = fleet.differences.len() as u64;
    let with_problems = fleet.answered().filter(|(_, host)| host.has_problems()).count();
    let off = fleet.answered().filter(|(_, host)| host.is_clock_off()).count();
    let mut parts = Vec::new();
    if lost > 0 {
        parts.push(format!("{lost} not reached"));
    }
    let answered = fleet.answered().count();
    match with_problems {
        0 if answered > 0 => parts.push("no problems".to_owned()),
        0 => {}
        some => parts.push(format!("problems on {}", counted(some as u64, "host"))),
    }
    match differ {
        // One host has nothing to differ from.
        0 if answered > 1 => parts.push("equal settings".to_owned()),
        0 => {}
        1 => parts.push("1 setting differs".to_owned()),
        several => parts.push(format!("{several} settings differ")),
    }
    if off > 0 {
        parts.push(format!("{} wrong", counted(off as u64, "clock")));
    }
    format!("{hosts}{about}: {}", parts.join("; "))
}

/// A row for each value of each setting that differs, and for each clock that is wrong.
fn differences(fleet: &FleetCheckup) -> Table {
    let mut rows = Vec::new();
    for difference in &fleet.differences {
        for (index, one) in difference.values.iter().enumerate() {
            let fact = if index == 0 { difference.fact } else { "" };
            let value = one.value.as_deref().unwrap_or("not known");
            rows.push(vec![fact.to_owned(), value.to_owned(), names(fleet, &one.hosts)]);
        }
    }
    for (index, host) in fleet.answered().filter(|(_, host)| host.is_clock_off()) {
        let ahead = Nanos(host.clock_ahead_ns.unsigned_abs() as f64);
        let word = if host.clock_ahead_ns < 0 { "behind" } else { "ahead" };
        rows.push(vec!["clock".to_owned(), format!("{ahead} {word}"), names(fleet, &[index])]);
    }
    let columns = ["setting", "value", "hosts"].map(Column::words).to_vec();
    Table { caption: String::new(), columns, rows }
}

/// A result, and the hosts that have it.
struct Group<'a> {
    check: &'a Check,
    found: String,
    hosts: Vec<usize>,
}

/// Equal results of all hosts, each once with the hosts that have it, the worst first.
fn grouped(fleet: &FleetCheckup) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (index, host) in fleet.answered() {
        for check in &host.checkup.checks {
            let found = words(check).found;
            let is_same = |known: &&mut Group<'_>| {
                known.check.status == check.status
                    && known.check.finding.id() == check.finding.id()
                    && known.found == found
            };
            match groups.iter_mut().find(is_same) {
                Some(known) => known.hosts.push(index),
                None => groups.push(Group { check, found, hosts: vec![index] }),
            }
        }
    }
    groups.sort_by_key(|group| group.check.status);
    groups
}

/// `all 24`, or the names as in [`listed`].
fn names(fleet: &FleetCheckup, hosts: &[usize]) -> String {
    if hosts.len() == fleet.answered().count() && hosts.len() > 1 {
        return format!("all {}", hosts.len());
    }
    listed(&hosts.iter().map(|host| fleet.hosts[*host].name.as_str()).collect::<Vec<_>>())
}

/// `vm01, vm02`, or the first of many and the number of the others.
fn listed(names: &[&str]) -> String {
    let shown = names[..names.len().min(NAMES_MAX)].join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Every host with its checks and facts, and what differs.
///
/// # Errors
/// `out` cannot be written.
pub fn json(fleet: &FleetCheckup, out: &mut dyn Write) -> std::io::Result<()> {
    #[derive(Serialize)]
    struct Fleet<'a> {
        schema_version: u32,
        hosts: Vec<Host<'a>>,
        differences: Vec<Difference<'a>>,
    }
    #[derive(Serialize)]
    struct Host<'a> {
        name: &'a str,
        error: Option<&'a str>,
        clock_ahead_s: Option<f64>,
        clock_error_s: Option<f64>,
        check: Option<Document<'a>>,
    }
    #[derive(Serialize)]
    struct Difference<'a> {
        fact: &'static str,
        values: Vec<Value<'a>>,
    }
    #[derive(Serialize)]
    struct Value<'a> {
        value: Option<&'a str>,
        hosts: Vec<&'a str>,
    }
    let seconds = |ns: f64| ns / 1e9;
    let hosts = fleet.hosts.iter().map(|host| {
        let checked = host.checked.as_ref().ok();
        Host {
            name: &host.name,
            error: host.checked.as_ref().err().map(String::as_str),
            clock_ahead_s: checked.map(|one| seconds(one.clock_ahead_ns as f64)),
            clock_error_s: checked.map(|one| seconds(one.clock_error_ns as f64)),
            check: checked.map(|one| Document::of(&one.checkup, &one.facts, &one.options)),
        }
    });
    let differences = fleet.differences.iter().map(|difference| Difference {
        fact: difference.fact,
        values: difference
            .values
            .iter()
            .map(|one| Value {
                value: one.value.as_deref(),
                hosts: one.hosts.iter().map(|host| fleet.hosts[*host].name.as_str()).collect(),
            })
            .collect(),
    });
    let document = Fleet {
        schema_version: SCHEMA_VERSION,
        hosts: hosts.collect(),
        differences: differences.collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}
