//! A comparison at one glance: the verdict on each pair, what differs most, and a table of the load
//! points.

use analysis::compare::figure::Figure;
use analysis::compare::figures::{Basis, Verdict};
use analysis::compare::{Comparison, Overall, Pair};

use super::{Detail, tables, words};
use crate::document::Block;
use crate::glance::Layout;
use crate::look::Tone;
use crate::prose::wrap;
use crate::table::{Table, terminal};

/// Sentences about figures that differ; the tables have all.
const FINDINGS_MAX: usize = 2;
/// Caveats of each pair.
const CAVEATS_MAX: usize = 5;
/// Other differences of each pair.
const DIFFERENCES_MAX: usize = 3;
/// Rows of a table, where there is no room for all.
const ROWS: [usize; 6] = [usize::MAX, 16, 8, 4, 2, 1];

/// The comparison in as many lines as the layout has, if it has room for one row of each pair.
pub fn glance(comparison: &Comparison, layout: Layout) -> String {
    let mut text = String::new();
    for rows in ROWS {
        text.clear();
        for pair in &comparison.pairs {
            if !text.is_empty() {
                text.push('\n');
            }
            write(comparison, pair, rows, layout, &mut text);
        }
        if text.lines().count() <= layout.lines_max {
            break;
        }
    }
    text
}

fn write(comparison: &Comparison, pair: &Pair, rows: usize, layout: Layout, out: &mut String) {
    let Layout { width, look, .. } = layout;
    let mut verdict = String::new();
    wrap(&words::verdict(comparison, pair), "", "", width, &mut verdict);
    out.push_str(&look.verdict(tone(pair.verdict), &verdict));
    for metric in words::metrics(comparison, pair) {
        wrap(&capitalized(metric), "", "  ", width, out);
    }
    for finding in findings(comparison, pair) {
        wrap(&finding, "", "  ", width, out);
    }
    if pair.figures().any(|(_, _, figure)| figure.basis == Basis::Blocks) {
        wrap("Measured in alternating runs.", "", "  ", width, out);
    }
    let (table, left_out) = table(comparison, pair, rows);
    if !table.rows.is_empty() {
        out.push('\n');
        terminal::write(&table, width, out);
        if let Some(Block::List(meanings)) = tables::legend(pair, Detail::Main) {
            wrap(&meanings.join("; "), "  ", "  ", width, out);
        }
        if left_out > 0 {
            out.push_str(&format!("  + {}: --full\n", words::load_points(left_out)));
        }
    }
    let (a, b) = words::labels(comparison, pair);
    let differences = limited(tables::differences_in_words(pair), DIFFERENCES_MAX);
    let caveats = limited(words::caveats(comparison, pair), CAVEATS_MAX);
    if !differences.is_empty() || !caveats.is_empty() {
        out.push('\n');
    }
    if !differences.is_empty() {
        let sentence = format!("Other differences ({a} | {b}): {}", differences.join("; "));
        wrap(&sentence, "", "  ", width, out);
    }
    for caveat in caveats {
        wrap(&format!("Caveat: {caveat}"), "", "  ", width, out);
    }
}

const fn tone(verdict: Overall) -> Tone {
    match verdict {
        Overall::Faster | Overall::NoDifference => Tone::Good,
        Overall::Slower | Overall::Mixed => Tone::Bad,
        Overall::CannotTell | Overall::NotComparable => Tone::Warning,
    }
}

/// What differs most, and how many figures do not differ.
fn findings(comparison: &Comparison, pair: &Pair) -> Vec<String> {
    let all = words::findings(comparison, pair);
    let mut few: Vec<String> = all.iter().take(FINDINGS_MAX).cloned().collect();
    if all.len() > FINDINGS_MAX && pair_has_same(pair) {
        few.extend(all.last().cloned());
    }
    few.into_iter().map(capitalized).collect()
}

/// Whether the last of the findings is about figures without a difference.
fn pair_has_same(pair: &Pair) -> bool {
    pair.figures().any(|(_, _, figure)| figure.main && figure.verdict == Verdict::NoDifference)
}

fn capitalized(sentence: String) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    let stop = if sentence.ends_with('.') { "" } else { "." };
    format!("{}{}{stop}", first.unwrap_or_default(), letters.as_str())
}

fn limited(mut all: Vec<String>, max: usize) -> Vec<String> {
    if all.len() > max {
        let more = all.len() - max;
        all.truncate(max);
        all.push(format!("{more} more: --full"));
    }
    all
}

/// A row for each load point, and how many are left out: those that differ least.
pub(super) fn table(comparison: &Comparison, pair: &Pair, rows: usize) -> (Table, usize) {
    let is_headline = |figure: Figure| figure != Figure::ResponseP99;
    let shown = |figure: &analysis::compare::figures::FigureComparison| {
        figure.main && is_headline(figure.figure)
    };
    let mut table = tables::one_table(comparison, pair, shown);
    let differs: Vec<bool> = pair
        .figures()
        .filter(|(_, _, figure)| shown(figure))
        .map(|(_, _, figure)| matches!(figure.verdict, Verdict::Better | Verdict::Worse))
        .collect();
    let mut order: Vec<usize> = (0..table.rows.len()).collect();
    order.sort_by_key(|row| !differs[*row]);
    let left_out = order.len().saturating_sub(rows);
    order.truncate(rows);
    order.sort_unstable();
    table.rows = order.iter().map(|row| table.rows[*row].clone()).collect();
    // One figure for all rows is a caption.
    if let [first, rest @ ..] = &table.rows[..]
        && rest.iter().all(|row| row[FIGURE] == first[FIGURE])
    {
        table.caption = first[FIGURE].clone();
        table.columns.remove(FIGURE);
        table.rows.iter_mut().for_each(|row| drop(row.remove(FIGURE)));
    }
    for column in &mut table.columns {
        column.dispensable = u8::from(column.name == tables::INTERVAL);
    }
    (table, left_out)
}

/// The column of the figure's name.
const FIGURE: usize = 1;
