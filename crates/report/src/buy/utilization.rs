//! Used shares of resources as bars with their values: characters in a terminal, a table in
//! Markdown, and a table with drawn bars on a page.

use minijinja::{Value, context};

use crate::number::percent;
use crate::prose::wrap;
use crate::table::{Column, Table};

/// Columns of a bar in a terminal, the widest that fit.
const BAR_COLUMNS: [usize; 2] = [20, 10];

/// The used share of one resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The resource.
    pub resource: String,
    /// The used share; may exceed 1 if more is required than there is.
    pub used: f64,
    /// Used amount and limit, with the unit: `950 of 1,520 MiB/s`.
    pub amount: String,
}

impl Bar {
    /// The used share, from 0 to 1, if it is a number.
    fn filled(&self) -> f64 {
        if self.used.is_finite() { self.used.clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// The bars by used share, the highest first.
pub(crate) fn highest_first(mut bars: Vec<Bar>) -> Vec<Bar> {
    bars.sort_by(|a, b| b.used.total_cmp(&a.used));
    bars
}

/// As a table, for Markdown.
pub(crate) fn table(bars: &[Bar]) -> Table {
    let row = |bar: &Bar| vec![bar.resource.clone(), percent(bar.used), bar.amount.clone()];
    Table {
        caption: String::new(),
        columns: vec![
            Column::words("resource"),
            Column::numbers("used", ""),
            Column::words("amount"),
        ],
        rows: bars.iter().map(row).collect(),
    }
}

/// As the macro `show_blocks` takes a bar.
pub(crate) fn page_value(bar: &Bar) -> Value {
    context! {
        resource => &bar.resource,
        used => percent(bar.used),
        length => format!("{:.1}", 100.0 * bar.filled()),
        amount => &bar.amount,
    }
}

/// Appends a line for each bar: `quotas  █████░░░░░  26 %  4,096 of 15,360 GiB`. Without room for
/// bars there are only the numbers.
pub(crate) fn write(bars: &[Bar], width: usize, out: &mut String) {
    let wide = |text: &str| text.chars().count();
    let name_width = bars.iter().map(|bar| wide(&bar.resource)).max().unwrap_or(0);
    let shares: Vec<String> = bars.iter().map(|bar| percent(bar.used)).collect();
    let share_width = shares.iter().map(|share| wide(share)).max().unwrap_or(0);
    let lines = |columns: usize| -> Vec<String> {
        let line = |(bar, share): (&Bar, &String)| {
            let Bar { resource, amount, .. } = bar;
            let drawn = drawn(bar.filled(), columns);
            format!("  {resource:<name_width$}  {drawn}  {share:>share_width$}  {amount}\n")
        };
        bars.iter().zip(&shares).map(line).collect()
    };
    let fits = |lines: &Vec<String>| lines.iter().all(|line| wide(line) <= width + 1);
    match BAR_COLUMNS.map(lines).into_iter().find(fits) {
        Some(lines) => out.push_str(&lines.concat()),
        None => {
            for (bar, share) in bars.iter().zip(&shares) {
                let text = format!("{}: {share}, {}", bar.resource, bar.amount);
                wrap(&text, "  ", "    ", width, out);
            }
        }
    }
}

/// `████████░░`; a used resource has at least one full column.
fn drawn(filled: f64, columns: usize) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to columns")]
    let full = (filled * columns as f64).round() as usize;
    let full = if filled > 0.0 { full.max(1) } else { full };
    format!("{}{}", "█".repeat(full), "░".repeat(columns - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(resource: &str, used: f64, amount: &str) -> Bar {
        Bar { resource: resource.to_owned(), used, amount: amount.to_owned() }
    }

    #[test]
    fn bars_have_the_length_of_their_share_and_its_value() {
        let bars = [bar("quotas", 0.25, "1 of 4 GiB"), bar("limits", 1.0, "9 of 9 MiB/s")];
        let bars = highest_first(bars.to_vec());
        let mut out = String::new();
        write(&bars, 80, &mut out);
        let expected = "  limits  ████████████████████  100 %  9 of 9 MiB/s\n  \
                        quotas  █████░░░░░░░░░░░░░░░   25 %  1 of 4 GiB\n";
        assert_eq!(out, expected);
    }

    #[test]
    fn a_share_that_is_tiny_or_above_all_stays_inside_the_bar() {
        assert_eq!(drawn(0.0, 20).matches('█').count(), 0);
        assert_eq!(drawn(0.001, 20).matches('█').count(), 1);
        assert_eq!(bar("x", 3.0, "").filled(), 1.0);
        assert_eq!(bar("x", f64::NAN, "").filled(), 0.0);
    }

    #[test]
    fn a_narrow_terminal_has_no_bars_and_no_line_that_is_too_wide() {
        let mut out = String::new();
        let long = "throughput limits of the volumes";
        write(&[bar(long, 0.5, "4,750 of 9,500 MiB/s")], 40, &mut out);
        assert!(!out.contains('█') && out.contains("50 %"), "{out}");
        assert!(out.lines().all(|line| line.chars().count() <= 40), "{out}");
    }
}
