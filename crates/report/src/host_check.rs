//! The results of a host check as text, Markdown and JSON.

pub mod fleet;
mod mount;
mod network;
mod own_client;
mod process;
mod processor;
mod tcp;
mod words;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;

use analysis::host_check::{About, Check, Checkup, Facts, Options, Status, Subject};
use serde::Serialize;
use units::BytesPerSec;

use crate::prose::wrap;
use words::{Words, group, not_checked, source, words};

/// Increased when a reader of the previous version would misread the new one. Version 1 had no
/// such field.
const SCHEMA_VERSION: u32 = 2;
/// The column at which the parts of a check begin.
const INDENT: usize = 12;

/// With `all` every check in full, by subject; otherwise problems, warnings and hints in full, and
/// the rest in a line each.
///
/// * `width` - the most columns
pub fn text(checkup: &Checkup, options: &Options, all: bool, width: usize) -> String {
    let mut out = String::new();
    wrap(&format!("{}: {}", subject(options), summary(checkup)), "", "", width, &mut out);
    if all {
        for subject in Subject::ALL {
            let mut checks =
                checkup.checks.iter().filter(|check| check.finding.subject() == subject);
            let Some(first) = checks.next() else { continue };
            let title = group(subject);
            let _ = write!(out, "\n{title}\n{}\n", "-".repeat(title.len()));
            for check in std::iter::once(first).chain(checks) {
                full(check, "", width, &mut out);
            }
        }
    } else {
        for status in [Status::Problem, Status::Warning, Status::Hint] {
            for check in checkup.with(status) {
                full(check, "", width, &mut out);
            }
        }
        short(checkup, width, &mut out);
    }
    for one in &checkup.not_checked {
        out.push('\n');
        wrap(&format!("Not checked: {}.", not_checked(*one)), "", "", width, &mut out);
    }
    out
}

/// * `hosts` - the hosts it was found on, if there are several
fn full(check: &Check, hosts: &str, width: usize, out: &mut String) {
    out.push('\n');
    let words = words(check);
    let head = format!("{}: {} ({})", word(check.status), words.title, check.finding.id());
    wrap(&head, "", "", width, out);
    for (name, text) in [
        ("hosts", hosts),
        ("found", words.found.as_str()),
        ("expected", words.recommended.as_str()),
        ("why", words.why.as_str()),
        ("change", words.change.as_deref().unwrap_or("")),
    ] {
        if !text.is_empty() {
            wrap(text, &format!("  {name:<10}"), &" ".repeat(INDENT), width, out);
        }
    }
}

/// Unknown checks with the reason, and passed checks by name.
fn short(checkup: &Checkup, width: usize, out: &mut String) {
    let mut unknown = checkup.with(Status::NotKnown).peekable();
    if unknown.peek().is_some() {
        out.push_str("\nNot known:\n");
    }
    for check in unknown {
        let Words { title, found, .. } = words(check);
        wrap(&format!("{title}: {found}"), "- ", "  ", width, out);
    }
    let passed: Vec<&str> = checkup.with(Status::Ok).map(|check| words(check).title).collect();
    if !passed.is_empty() {
        out.push('\n');
        let text = format!("Passed (--all shows them in full): {}.", passed.join("; "));
        wrap(&text, "", "", width, out);
    }
}

/// `2 problems, 1 warning, 3 hints, 4 not known, 14 passed`; zero counts are left out, except those
/// of problems and passed checks.
fn summary(checkup: &Checkup) -> String {
    let count_of = |status: Status| {
        let count = checkup.count(status);
        let ending = if count == 1 { "" } else { "s" };
        match (status, count) {
            (Status::Problem, 0) => Some("no problems".to_owned()),
            (Status::Ok, count) => Some(format!("{count} passed")),
            (_, 0) => None,
            (Status::NotKnown, count) => Some(format!("{count} not known")),
            (status, count) => Some(format!("{count} {}{ending}", word(status))),
        }
    };
    Status::ALL.into_iter().filter_map(count_of).collect::<Vec<_>>().join(", ")
}

fn subject(options: &Options) -> String {
    match &options.about {
        About::Host => "this host".to_owned(),
        About::Directory { path } => path.clone(),
        About::Export(export) => export.url.clone(),
    }
}

const fn word(status: Status) -> &'static str {
    match status {
        Status::Problem => "problem",
        Status::Warning => "warning",
        Status::Hint => "hint",
        Status::NotKnown => "not known",
        Status::Ok => "passed",
    }
}

/// A Markdown table per status, the worst first.
pub fn markdown(checkup: &Checkup, options: &Options) -> String {
    let mut out = format!("# Check of {}\n\n{}\n", cell(&subject(options)), summary(checkup));
    for status in Status::ALL {
        let checks: Vec<&Check> = checkup.with(status).collect();
        if checks.is_empty() {
            continue;
        }
        let title = match status {
            Status::Problem => "Problems",
            Status::Warning => "Warnings",
            Status::Hint => "Hints",
            Status::NotKnown => "Not known",
            Status::Ok => "Passed",
        };
        let _ = write!(out, "\n## {title}\n\n");
        out.push_str(
            "| check | found | expected | why | change |\n| --- | --- | --- | --- | --- |\n",
        );
        for check in checks {
            let words = words(check);
            let change = words.change.as_deref().map_or_else(String::new, cell);
            let _ = writeln!(
                out,
                "| {} (`{}`) | {} | {} | {} | {change} |",
                cell(words.title),
                check.finding.id(),
                cell(&words.found),
                cell(&words.recommended),
                cell(&words.why),
            );
        }
    }
    for one in &checkup.not_checked {
        let _ = write!(out, "\nNot checked: {}.\n", cell(not_checked(*one)));
    }
    out
}

/// Escapes text for a Markdown table cell.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Every check, and the facts it is based on. IDs and field names are stable; more may be added.
pub fn json(
    checkup: &Checkup,
    facts: &Facts,
    options: &Options,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Document::of(checkup, facts, options))?;
    writeln!(out)
}

/// The checks of a host as JSON.
#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    subject: String,
    captured: bool,
    required_bytes_per_s: Option<f64>,
    round_trip_s: Option<f64>,
    round_trip_how: Option<String>,
    counts: BTreeMap<&'static str, usize>,
    checks: Vec<Row>,
    not_checked: Vec<&'static str>,
    facts: BTreeMap<&'a str, &'a str>,
}

#[derive(Serialize)]
struct Row {
    id: &'static str,
    subject: &'static str,
    status: &'static str,
    title: &'static str,
    found: String,
    recommended: String,
    why: String,
    change: Option<String>,
}

impl<'a> Document<'a> {
    fn of(checkup: &Checkup, facts: &'a Facts, options: &Options) -> Document<'a> {
        let row = |check: &Check| {
            let Words { title, found, recommended, why, change } = words(check);
            let (id, subject) = (check.finding.id(), check.finding.subject().name());
            Row { id, subject, status: check.status.name(), title, found, recommended, why, change }
        };
        let round_trip = options.round_trip.as_ref();
        Document {
            schema_version: SCHEMA_VERSION,
            subject: subject(options),
            captured: options.is_captured,
            required_bytes_per_s: options.required.map(BytesPerSec::get),
            round_trip_s: round_trip.map(|time| time.seconds),
            round_trip_how: round_trip.map(|time| source(&time.source)),
            counts: Status::ALL.iter().map(|s| (s.name(), checkup.count(*s))).collect(),
            checks: checkup.checks.iter().map(row).collect(),
            not_checked: checkup.not_checked.iter().map(|one| not_checked(*one)).collect(),
            facts: facts.0.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect(),
        }
    }
}
