//! The table that ends a run, for a terminal of 80 columns: plain text without colour.

use analysis::Findings;
use analysis::warnings::{Sighting, WarningGroup};

use crate::connections::{self, COLUMNS};
use crate::document::terminal;
use crate::expect::published::Detail;
use crate::number::TOO_FEW;
use crate::record::Record;
use crate::rows::{self, Block, Cells, HEADINGS, TIMES, TIMES_FROM};
use crate::{emulated, sections};

/// Narrowest that the table can be laid out for.
const WIDTH_MIN: usize = 40;
/// More connections than this are counted, not listed.
const CONNECTIONS_MAX: usize = 16;
/// More places than this are counted, not listed.
const PLACES_MAX: usize = 6;

/// What a tuning found, in one line; nothing of other records.
pub fn tuned(findings: &Findings) -> Option<String> {
    findings.tune.as_ref().map(sections::tune::verdict::in_a_line)
}

/// The results as a table, then every warning in words, wrapped to `width` columns.
pub fn summary<'a>(record: impl Into<Record<'a>>, width: usize) -> String {
    let record = record.into();
    let findings = record.findings;
    let width = width.max(WIDTH_MIN);
    let blocks = rows::blocks(findings);
    let mut out = String::new();
    if blocks.is_empty() {
        out.push_str("No run was begun, so there are no results.\n");
    }
    if let Some(words) = overrides(findings) {
        out.push('\n');
        wrap(&words, "", "  ", width, &mut out);
    }
    table(&blocks, width, &mut out);
    let too_few = cells_of(&blocks).iter().flatten().flatten().any(|cell| cell == TOO_FEW);
    if too_few {
        let words =
            format!("{TOO_FEW}: too few samples (fewer than ten) lie above this percentile.");
        wrap(&words, "", "  ", width, &mut out);
    }
    emulated_volume(findings, width, &mut out);
    connections(findings, &mut out);
    let in_short = sections::summary::for_terminal(findings).into_iter();
    for section in in_short.chain(sections::of(record, Detail::Short)) {
        terminal::write(&section, width, &mut out);
    }
    if !findings.warnings.is_empty() {
        out.push_str("\nWarnings\n");
        for group in &findings.warnings {
            warning(findings, group, width, &mut out);
        }
    }
    if !findings.notes.is_empty() {
        out.push_str("\nNotes\n");
        for note in &findings.notes {
            let mut lines = note.lines();
            wrap(lines.next().unwrap_or_default(), "  ", "  ", width, &mut out);
            listed(lines, "    - ", "      ", width, &mut out);
        }
    }
    out
}

/// What the user laid over the experiment, for the head of every output.
pub(crate) fn overrides(findings: &Findings) -> Option<String> {
    let given = &findings.overrides;
    (!given.is_empty()).then(|| format!("Overrides of {}: {}", findings.source, given.join(", ")))
}

/// The cells of each row of each block.
fn cells_of(blocks: &[Block<'_>]) -> Vec<Vec<Cells>> {
    let of_block = |block: &Block<'_>| {
        let unit = block.time_unit();
        block.rows.iter().map(|row| row.cells(unit)).collect()
    };
    blocks.iter().map(of_block).collect()
}

/// Column widths are the widest cell's, the same for all blocks so that they can be compared by
/// eye.
fn table(blocks: &[Block<'_>], width: usize, out: &mut String) {
    let cells = cells_of(blocks);
    let mut widths: Vec<usize> =
        HEADINGS.iter().map(|(top, low)| top.chars().count().max(low.chars().count())).collect();
    for row in cells.iter().flatten() {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = (*widest).max(cell.chars().count());
        }
    }
    // The heading that the times share is as wide as `response time, us`.
    let times_width: usize =
        widths[TIMES_FROM..TIMES_FROM + TIMES].iter().sum::<usize>() + TIMES - 1;
    let shared = "response time, us".len();
    widths[TIMES_FROM] += shared.saturating_sub(times_width);
    let labels = blocks.iter().flat_map(|b| b.rows.iter().map(|r| r.label.chars().count()));
    let axes = blocks.iter().flat_map(|b| {
        let (top, low) = axis_heading(b.axis);
        [top.chars().count(), low.chars().count()]
    });
    let label_width = labels.chain(axes).max().unwrap_or(0);
    for (block, cells) in blocks.iter().zip(&cells) {
        out.push('\n');
        wrap(&block.name, "", "  ", width, out);
        let (top, low) = axis_heading(block.axis);
        let times = format!("response time, {}", block.time_unit().name());
        heading(&top, label_width, &times, &widths, out);
        line(&low, label_width, HEADINGS.iter().map(|h| h.1), &widths, out);
        for (row, cells) in block.rows.iter().zip(cells) {
            let start = out.len();
            line(&row.label, label_width, cells.iter().map(String::as_str), &widths, out);
            shorten(start, width, out);
        }
    }
    out.push('\n');
}

/// Cuts the row that begins at byte `start` to `width`: only the marks at its end can be too many,
/// and `+` says so.
fn shorten(start: usize, width: usize, out: &mut String) {
    let row = out[start..].trim_end();
    let marks = row.len() - row.trim_end_matches(|c: char| c.is_ascii_lowercase()).len();
    let over = row.chars().count().saturating_sub(width);
    if over > 0 && marks > over + 1 {
        let end = start + row.len() - over - 1;
        out.truncate(end);
        out.push_str("+\n");
    }
}

/// The upper line of the headings, in which the times share one.
fn heading(label: &str, label_width: usize, times: &str, widths: &[usize], out: &mut String) {
    let tops: Vec<&str> = HEADINGS.iter().map(|h| h.0).collect();
    let (times_end, shared) = (TIMES_FROM + TIMES, &widths[TIMES_FROM..TIMES_FROM + TIMES]);
    let mut cells: Vec<&str> = tops[..TIMES_FROM].to_vec();
    cells.push(times);
    cells.extend(&tops[times_end..]);
    let mut spans: Vec<usize> = widths[..TIMES_FROM].to_vec();
    spans.push(shared.iter().sum::<usize>() + TIMES - 1);
    spans.extend(&widths[times_end..]);
    let middle = format!("{times:^width$}", width = spans[TIMES_FROM]);
    cells[TIMES_FROM] = &middle;
    line(label, label_width, cells.into_iter(), &spans, out);
}

/// `queue depth` as two lines.
fn axis_heading(axis: &str) -> (String, String) {
    match axis.rsplit_once([' ', '.']) {
        Some((top, low)) => (top.to_owned(), low.to_owned()),
        None => (String::new(), axis.to_owned()),
    }
}

fn line<'a>(
    label: &str,
    label_width: usize,
    cells: impl Iterator<Item = &'a str>,
    widths: &[usize],
    out: &mut String,
) {
    let mut text = format!("{label:>label_width$}");
    for (place, (cell, width)) in cells.zip(widths).enumerate() {
        // The marks, which are last, stand under each other by their beginning.
        match place + 1 == widths.len() {
            true => text.push_str(&format!(" {cell}")),
            false => text.push_str(&format!(" {cell:>width$}")),
        }
    }
    out.push_str(text.trim_end());
    out.push('\n');
}

/// What the emulated volume was set to, and what was measured of it.
fn emulated_volume(findings: &Findings, width: usize, out: &mut String) {
    let rows = emulated::rows(findings);
    if rows.is_empty() {
        return;
    }
    out.push_str("\nEmulated volume            configured  measured\n");
    for row in rows {
        let lead = format!("  {:<23} {:>11} {:>9}  ", row.name, row.configured, row.measured);
        let indent = " ".repeat(lead.chars().count());
        wrap(&row.place, &lead, &indent, width, out);
    }
    if let Some(words) = emulated::witness(findings) {
        wrap(&words, "  ", "  ", width, out);
    }
}

/// The connections of the load point with the highest rate, where there are several.
fn connections(findings: &Findings, out: &mut String) {
    let Some(point) = connections::most_loaded(findings) else { return };
    let Some(run) = point.runs.iter().find(|run| run.connections.len() > 1) else { return };
    out.push_str(&format!("\nConnections at {}\n", rows::load_point_name(point)));
    let shown = run.connections.iter().take(CONNECTIONS_MAX);
    let cells: Vec<[String; COLUMNS]> = shown.map(connections::cells).collect();
    let width_of = |column: usize| {
        let (top, low) = connections::HEADINGS[column];
        let widths = cells.iter().map(|row| row[column].chars().count());
        widths.chain([top.len(), low.len()]).max().unwrap_or(0)
    };
    let mut row = |cells: [&str; COLUMNS]| {
        let mut line = String::new();
        for (column, cell) in cells.into_iter().enumerate() {
            let width = width_of(column);
            // Names stand at the left, numbers at the right; our own end is in the report only,
            // because both do not fit a terminal.
            line.push_str(&match column {
                connections::LOCAL => continue,
                0..=2 => format!("{cell:<width$} "),
                _ => format!("{cell:>width$} "),
            });
        }
        out.push_str(line.trim_end());
        out.push('\n');
    };
    row(connections::HEADINGS.map(|(top, _)| top));
    row(connections::HEADINGS.map(|(_, low)| low));
    for cells in &cells {
        row(cells.each_ref().map(String::as_str));
    }
    let more = run.connections.len().saturating_sub(CONNECTIONS_MAX);
    if more > 0 {
        out.push_str(&format!("and {more} more, all in the report\n"));
    }
}

fn warning(findings: &Findings, group: &WarningGroup, width: usize, out: &mut String) {
    let lead = format!("  {}  ", group.mark);
    let seen = sightings_by_words(findings, group);
    wrap(group.code, &lead, "     ", width, out);
    for (words, places) in seen.iter().take(PLACES_MAX) {
        let mut places_listed: Vec<String> = places.iter().take(PLACES_MAX).cloned().collect();
        if places.len() > PLACES_MAX {
            places_listed.push(format!("and {} more", places.len() - PLACES_MAX));
        }
        let mut lines = words.lines();
        let first = lines.next().unwrap_or_default();
        let text = format!("{first} ({})", places_listed.join("; "));
        wrap(&text, "     - ", "       ", width, out);
        listed(lines, "         . ", "           ", width, out);
    }
    if seen.len() > PLACES_MAX {
        let text = format!("and {} more, all in the report", seen.len() - PLACES_MAX);
        wrap(&text, "     - ", "       ", width, out);
    }
    wrap(group.matters, "     ", "     ", width, out);
    wrap(group.remedy, "     -> ", "        ", width, out);
}

/// The particulars of a failure, one below the other as they came.
fn listed<'a>(
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

/// What was seen, each once, with all the places where it was.
pub(crate) fn sightings_by_words<'a>(
    findings: &Findings,
    group: &'a WarningGroup,
) -> Vec<(&'a str, Vec<String>)> {
    let mut seen: Vec<(&str, Vec<String>)> = Vec::new();
    for sighting in &group.sightings {
        let place = place(findings, sighting);
        match seen.iter_mut().find(|(words, _)| *words == sighting.seen) {
            Some((_, places)) => places.push(place),
            None => seen.push((&sighting.seen, vec![place])),
        }
    }
    seen
}

/// Where a warning was seen: `random read 8 KiB, queue_depth=4, stream log, repeats 1 and 2`.
fn place(findings: &Findings, sighting: &Sighting) -> String {
    let Some(load_point) = sighting.load_point.map(|index| &findings.load_points[index]) else {
        return "the whole experiment".to_owned();
    };
    let mut words = rows::load_point_name(load_point);
    if let Some(stream) = &sighting.stream {
        words.push_str(&format!(", stream {stream}"));
    }
    // Where there is one run only, its number tells nothing.
    if load_point.runs.len() > 1 && !sighting.repeats.is_empty() {
        let numbers: Vec<String> = sighting.repeats.iter().map(|r| (r + 1).to_string()).collect();
        let noun = if numbers.len() > 1 { "repeats" } else { "repeat" };
        words.push_str(&format!(", {noun} {}", numbers.join(", ")));
    }
    words
}

/// Breaks `text` at spaces so that no line is wider than `width`, unless one word is.
pub(crate) fn wrap(text: &str, lead: &str, indent: &str, width: usize, out: &mut String) {
    let mut line = lead.to_owned();
    let mut fresh = true;
    for word in text.split_whitespace() {
        if !fresh && line.chars().count() + 1 + word.chars().count() > width {
            out.push_str(line.trim_end());
            out.push('\n');
            line = indent.to_owned();
            fresh = true;
        }
        if !fresh {
            line.push(' ');
        }
        line.push_str(word);
        fresh = false;
    }
    out.push_str(line.trim_end());
    out.push('\n');
}
