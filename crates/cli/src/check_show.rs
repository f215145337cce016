//! A checkup as text, Markdown and JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;

use analysis::host_check::{About, Asked, Check, Checkup, Facts, Status, Subject};
use serde::Serialize;

use crate::terminal::wrapped;

/// Columns of the text.
const WIDTH: usize = 80;
/// Where the parts of a check begin.
const INDENT: usize = 10;

/// At most 80 columns; plain words first. With `all` every check in full, by subject; otherwise
/// what needs attention, the worst first, and the rest in a line each.
pub(crate) fn text(checkup: &Checkup, asked: &Asked, all: bool) -> String {
    let mut out = lines(&format!("{}: {}", subject(asked), summary(checkup)), 0, WIDTH);
    if all {
        for subject in Subject::ALL {
            let mut checks = checkup.checks.iter().filter(|check| check.subject == subject);
            let Some(first) = checks.next() else { continue };
            let _ = write!(out, "\n{}\n{}\n", subject.title(), "-".repeat(subject.title().len()));
            for check in std::iter::once(first).chain(checks) {
                full(check, &mut out);
            }
        }
    } else {
        for status in [Status::Problem, Status::Warning, Status::Hint] {
            for check in checkup.with(status) {
                full(check, &mut out);
            }
        }
        short(checkup, &mut out);
    }
    for one in &checkup.not_looked_at {
        out.push('\n');
        out.push_str(&lines(&format!("Not looked at: {one}."), 0, WIDTH));
    }
    out
}

fn full(check: &Check, out: &mut String) {
    let head = format!("{}: {} ({})", word(check.status), check.title, check.id);
    let _ = write!(out, "\n{}", lines(&head, 0, WIDTH));
    let change = check.change.as_deref().unwrap_or("");
    for (name, text) in [
        ("found", check.found.as_str()),
        ("wanted", check.wanted.as_str()),
        ("why", check.why.as_str()),
        ("change", change),
    ] {
        if !text.is_empty() {
            let said = lines(text, INDENT, WIDTH);
            let _ = write!(out, "  {name:<8}{}", said.trim_start());
        }
    }
}

/// What is not known with its reason, and what is fine by its name.
fn short(checkup: &Checkup, out: &mut String) {
    let unknown: Vec<&Check> = checkup.with(Status::NotKnown).collect();
    if !unknown.is_empty() {
        out.push_str("\nNot known:\n");
        for check in unknown {
            out.push_str(&lines(&format!("- {}: {}", check.title, check.found), 2, WIDTH));
        }
    }
    let fine: Vec<&str> = checkup.with(Status::Ok).map(|check| check.title).collect();
    if !fine.is_empty() {
        out.push('\n');
        let said = format!("Fine (--all shows them in full): {}.", fine.join("; "));
        out.push_str(&lines(&said, 0, WIDTH));
    }
}

/// Lines of at most `width` columns that begin at column `indent`, save for the bullet of a list.
fn lines(text: &str, indent: usize, width: usize) -> String {
    let blank = " ".repeat(indent);
    let (first, text) = match text.strip_prefix("- ") {
        Some(rest) => ("- ".to_owned(), rest),
        None => (blank.clone(), text),
    };
    let said = wrapped(text, width - indent).join(&format!("\n{blank}"));
    format!("{first}{said}\n")
}

/// `2 problems, 1 warning, 3 hints, 4 not known, 14 fine`; kinds that there are none of are left
/// out, but for problems and what is fine.
fn summary(checkup: &Checkup) -> String {
    let said = |status: Status| {
        let count = checkup.count(status);
        let ending = if count == 1 { "" } else { "s" };
        match (status, count) {
            (Status::Problem, 0) => Some("no problem".to_owned()),
            (Status::Ok, count) => Some(format!("{count} fine")),
            (_, 0) => None,
            (Status::NotKnown, count) => Some(format!("{count} not known")),
            (status, count) => Some(format!("{count} {}{ending}", word(status))),
        }
    };
    Status::ALL.into_iter().filter_map(said).collect::<Vec<_>>().join(", ")
}

fn subject(asked: &Asked) -> String {
    match &asked.about {
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
        Status::Ok => "fine",
    }
}

/// A table for each kind that there is, the worst first.
pub(crate) fn markdown(checkup: &Checkup, asked: &Asked) -> String {
    let mut out = format!("# Check of {}\n\n{}\n", cell(&subject(asked)), summary(checkup));
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
            Status::Ok => "Fine",
        };
        let _ = write!(out, "\n## {title}\n\n");
        out.push_str(
            "| check | found | wanted | why | change |\n| --- | --- | --- | --- | --- |\n",
        );
        for check in checks {
            let change = check.change.as_deref().map_or_else(String::new, cell);
            let _ = writeln!(
                out,
                "| {} (`{}`) | {} | {} | {} | {change} |",
                cell(check.title),
                check.id,
                cell(&check.found),
                cell(&check.wanted),
                cell(&check.why),
            );
        }
    }
    for one in &checkup.not_looked_at {
        let _ = write!(out, "\nNot looked at: {}.\n", cell(one));
    }
    out
}

/// Text that stays in its cell, whatever a host's names are.
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

/// Every check, and the facts by which it was judged. IDs and names of fields stay; more may come.
pub(crate) fn json(
    checkup: &Checkup,
    facts: &Facts,
    asked: &Asked,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    #[derive(Serialize)]
    struct Document<'a> {
        subject: String,
        captured: bool,
        want_bytes_per_s: Option<f64>,
        round_trip_s: Option<f64>,
        round_trip_how: Option<&'a str>,
        counts: BTreeMap<&'static str, usize>,
        checks: Vec<Row<'a>>,
        not_looked_at: &'a [String],
        facts: BTreeMap<&'a str, &'a str>,
    }
    #[derive(Serialize)]
    struct Row<'a> {
        id: &'a str,
        subject: &'a str,
        status: &'a str,
        title: &'a str,
        found: &'a str,
        wanted: &'a str,
        why: &'a str,
        change: Option<&'a str>,
    }
    let round_trip = asked.round_trip.as_ref();
    let document = Document {
        subject: subject(asked),
        captured: asked.is_captured,
        want_bytes_per_s: asked.want_bytes_per_s,
        round_trip_s: round_trip.map(|time| time.seconds),
        round_trip_how: round_trip.map(|time| time.how.as_str()),
        counts: Status::ALL.iter().map(|s| (s.name(), checkup.count(*s))).collect(),
        checks: checkup
            .checks
            .iter()
            .map(|check| Row {
                id: check.id,
                subject: check.subject.name(),
                status: check.status.name(),
                title: check.title,
                found: &check.found,
                wanted: &check.wanted,
                why: &check.why,
                change: check.change.as_deref(),
            })
            .collect(),
        not_looked_at: &checkup.not_looked_at,
        facts: facts.0.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}
