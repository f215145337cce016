//! The glance on a terminal: at most as many lines as fit on a screen, the verdict first.
//!
//! Where there is no room for everything, blank lines are left out first, then rows of the table; the
//! verdict and the caveats never.

use units::counted;

use super::rows::{self, Detail};
use super::{Glance, curves};
use crate::look::{Look, Tone};
use crate::prose::wrap;
use crate::record::Record;
use crate::sections::tune;

/// Where the glance is printed.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Columns.
    pub width: usize,
    /// Lines, if the verdict, one row for each curve and the caveats need no more.
    pub lines_max: usize,
    /// Colours.
    pub look: Look,
}

/// Blank lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spacing {
    /// Also between the curves of the table.
    Wide,
    /// Between parts.
    Normal,
    /// Around the table only.
    Tight,
}

/// From the most to the least room.
const SPACINGS: [Spacing; 3] = [Spacing::Wide, Spacing::Normal, Spacing::Tight];
const DETAILS: [Detail; 4] =
    [Detail::Everything, Detail::LoadPoints, Detail::Decisive, Detail::Peaks];

/// The glance at a record as text; `None` if nothing was measured.
pub fn text<'a>(record: impl Into<Record<'a>>, layout: Layout) -> Option<String> {
    let record = record.into();
    let glance = Glance::of(record)?;
    let attempts = DETAILS.iter().flat_map(|detail| SPACINGS.map(|spacing| (*detail, spacing)));
    let mut shortest: Option<String> = None;
    for (detail, spacing) in attempts {
        let text = laid_out(record, &glance, detail, spacing, layout);
        let lines = text.lines().count();
        if shortest.as_ref().is_none_or(|known| lines < known.lines().count()) {
            shortest = Some(text);
        }
        if lines <= layout.lines_max {
            break;
        }
    }
    shortest
}

/// The first lines: what was measured, when, and the verdict.
pub(crate) fn head(glance: &Glance, width: usize, look: Look, out: &mut String) {
    const GAP_MIN: usize = 2;
    let used = glance.title.chars().count() + glance.context.chars().count();
    if used + GAP_MIN <= width {
        let gap = " ".repeat(width - used);
        out.push_str(&format!("{}{gap}{}\n", glance.title, glance.context));
    } else {
        wrap(&glance.title, "", "  ", width, out);
        wrap(&glance.context, "", "  ", width, out);
    }
    if let Some(overrides) = &glance.overrides {
        wrap(overrides, "", "  ", width, out);
    }
    out.push('\n');
    let of_notes = if glance.tone == Tone::Bad { Tone::Bad } else { Tone::Warning };
    let verdict = glance.verdict.iter().map(|sentence| (glance.tone, sentence));
    for (tone, sentence) in verdict.chain(glance.notes.iter().map(|note| (of_notes, note))) {
        let mut lines = String::new();
        wrap(sentence, "", "", width, &mut lines);
        out.push_str(&look.verdict(tone, &lines));
    }
}

fn laid_out(
    record: Record<'_>,
    glance: &Glance,
    detail: Detail,
    spacing: Spacing,
    layout: Layout,
) -> String {
    let Layout { width, look, .. } = layout;
    let findings = record.findings;
    let mut out = String::new();
    head(glance, width, look, &mut out);
    out.push('\n');
    match &findings.tune {
        Some(tuned) => tune::glance::write(findings, tuned, width, &mut out),
        None => {
            let mut table = String::new();
            let marks: Vec<char> = glance.caveats.iter().map(|caveat| caveat.mark).collect();
            rows::write(findings, &marks, detail, width, &mut table);
            let is_kept = |line: &&str| spacing == Spacing::Wide || !line.is_empty();
            let lines = table.trim_start_matches('\n').lines().filter(is_kept);
            out.extend(lines.flat_map(|line| [line, "\n"]));
            out.push('\n');
            curves::lines(&glance.curves, width, &mut out);
            if glance.curves_left_out > 0 {
                let more = counted(glance.curves_left_out as u64, "curve");
                out.push_str(&format!("+ {more}: --full\n"));
            }
        }
    }
    for sentence in &glance.recommendations {
        wrap(sentence, "", "  ", width, &mut out);
    }
    if spacing != Spacing::Tight {
        out.push('\n');
    }
    caveats(glance, width, &mut out);
    for sentence in glance.hosts.iter().chain(&glance.service_counters).chain(&glance.trees) {
        wrap(sentence, "", "  ", width, &mut out);
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    // Of an empty part both blank lines around it remain.
    while out.contains("\n\n\n") {
        out = out.replace("\n\n\n", "\n\n");
    }
    out
}

/// A line for each caveat.
fn caveats(glance: &Glance, width: usize, out: &mut String) {
    const HEADING: &str = "Caveats  ";
    let last = glance.caveats.len().saturating_sub(1);
    for (index, caveat) in glance.caveats.iter().enumerate() {
        let heading = if index == 0 { HEADING } else { &" ".repeat(HEADING.len()) };
        let lead = format!("{heading}{}  ", caveat.mark);
        let indent = " ".repeat(lead.len());
        let more = match glance.caveats_left_out {
            more if more > 0 && index == last => format!("; {more} more: --full"),
            _ => String::new(),
        };
        wrap(&format!("{}{more}", caveat.line), &lead, &indent, width, out);
    }
}
