//! All results as text, for `--full`: the answer first, then the tables, the evidence and the warnings.
//!
//! Not for: the end of a run, which is a [`crate::glance`].

use analysis::Findings;
use analysis::warnings::WarningGroup;

use crate::document::{Section, terminal};
use crate::expect::published::Detail;
use crate::glance::{self, Glance};
use crate::look::Look;
use crate::number::TOO_FEW;
use crate::prose::wrap;
use crate::record::Record;
use crate::results::load_point_name;
use crate::warnings::{Advice, group_advice, sightings};
use crate::{connections, emulated, results, sections, table};

/// The narrowest width that the tables are laid out for.
const WIDTH_MIN: usize = 40;
/// More sightings of a warning, or locations of a sighting, are counted, not listed.
const LISTED_MAX: usize = 6;

/// The results without colour, wrapped to `width` columns.
pub fn summary<'a>(record: impl Into<Record<'a>>, width: usize) -> String {
    colored(record, width, Look::default())
}

/// The verdict, the answers, the tables, the evidence, and the warnings in words, wrapped to `width`
/// columns.
pub fn colored<'a>(record: impl Into<Record<'a>>, width: usize, look: Look) -> String {
    let record = record.into();
    let findings = record.findings;
    let width = width.max(WIDTH_MIN);
    let tables = results::tables(findings);
    let mut out = String::new();
    match Glance::of(record) {
        Some(glance) => glance::head(&glance, width, look, &mut out),
        None => out.push_str("No run was started, so there are no results.\n"),
    }
    let (answers, evidence): (Vec<Section>, Vec<Section>) =
        sections::of(record, Detail::Short).into_iter().partition(sections::is_answer);
    let summary = sections::summary::for_terminal(findings);
    for section in answers.iter().chain(&summary) {
        terminal::write(section, width, &mut out);
    }
    table::terminal::write_results(&tables, width, &mut out);
    out.push('\n');
    if results::has_too_few(&tables) {
        let note = format!("{TOO_FEW}: too few samples (fewer than ten above this percentile).");
        wrap(&note, "", "  ", width, &mut out);
    }
    emulated_volume(findings, width, &mut out);
    trees(findings, width, &mut out);
    connections(findings, width, &mut out);
    for section in &evidence {
        terminal::write(section, width, &mut out);
    }
    if !findings.warnings.is_empty() {
        out.push_str("\nWarnings\n");
        for group in &findings.warnings {
            warning(findings, group, width, &mut out);
        }
    }
    if !findings.notes.is_empty() {
        out.push_str("\nNotes\n");
        for note in findings.notes.iter().map(crate::verdict::words::note) {
            let mut lines = note.lines();
            wrap(lines.next().unwrap_or_default(), "  ", "  ", width, &mut out);
            list(lines, "    - ", "      ", width, &mut out);
        }
    }
    out
}

fn emulated_volume(findings: &Findings, width: usize, out: &mut String) {
    let Some(table) = emulated::table(findings) else { return };
    out.push_str("\nEmulated volume\n");
    table::terminal::write(&table, width, out);
    if let Some(sentence) = emulated::service_counters(findings) {
        wrap(&sentence, "  ", "  ", width, out);
    }
}

/// Whether the trees of names are what their operations must have left.
fn trees(findings: &Findings, width: usize, out: &mut String) {
    let sentences = crate::trees::sentences(findings);
    if !sentences.is_empty() {
        out.push_str("\nTrees of names\n");
        for sentence in sentences {
            wrap(&sentence, "  ", "  ", width, out);
        }
    }
}

/// The connections of the load point with the highest rate, if it has several.
fn connections(findings: &Findings, width: usize, out: &mut String) {
    let Some(point) = connections::most_loaded(findings) else { return };
    let Some(run) = point.runs.iter().find(|run| run.connections.len() > 1) else { return };
    out.push_str(&format!("\nConnections at {}\n", load_point_name(point)));
    let (table, left_out) = connections::short_table(findings, run);
    table::terminal::write(&table, width, out);
    if left_out > 0 {
        out.push_str(&format!("  and {left_out} more; the report has all\n"));
    }
}

fn warning(findings: &Findings, group: &WarningGroup, width: usize, out: &mut String) {
    wrap(group.code, &format!("  {}  ", group.mark), "     ", width, out);
    let seen = sightings(findings, group);
    for (text, locations) in seen.iter().take(LISTED_MAX) {
        let mut listed: Vec<String> = locations.iter().take(LISTED_MAX).cloned().collect();
        if locations.len() > LISTED_MAX {
            listed.push(format!("and {} more", locations.len() - LISTED_MAX));
        }
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let first = format!("{first} ({})", listed.join("; "));
        wrap(&first, "     - ", "       ", width, out);
        list(lines, "         . ", "           ", width, out);
    }
    if seen.len() > LISTED_MAX {
        let more = format!("and {} more; the report has all", seen.len() - LISTED_MAX);
        wrap(&more, "     - ", "       ", width, out);
    }
    let Advice { effect, remedy } = group_advice(group);
    wrap(effect, "     ", "     ", width, out);
    wrap(remedy, "     -> ", "        ", width, out);
}

/// The further lines of a message, one item each.
fn list<'a>(
    lines: impl Iterator<Item = &'a str>,
    lead: &str,
    indent: &str,
    width: usize,
    out: &mut String,
) {
    for line in lines.filter(|line| !line.trim().is_empty()) {
        wrap(line, lead, indent, width, out);
    }
}
