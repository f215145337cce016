//! Draws the live screen on stderr, below everything that is written there, and redraws it in place.
//!
//! It needs three control sequences of ECMA-48 (cursor up, erase to the end of the line, erase below)
//! and never hides the cursor, so that no end of the program leaves the terminal changed. Messages of
//! other threads go through [`write_above`], which keeps them above the screen.

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How a line is emphasised if messages are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Emphasis {
    Normal,
    Strong,
    Faint,
    Alert,
}

impl Emphasis {
    const fn sequence(self) -> &'static str {
        match self {
            Emphasis::Normal => "",
            Emphasis::Strong => "\x1b[1m",
            Emphasis::Faint => "\x1b[2m",
            Emphasis::Alert => "\x1b[33m",
        }
    }
}

/// A line of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) emphasis: Emphasis,
}

/// Columns and rows of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

/// What is drawn on stderr now.
struct Drawn {
    lines: Vec<Line>,
    is_colored: bool,
    /// Rows of an earlier screen above the first line: the terminal became narrower after its width
    /// was read and before the cursor moved.
    rows_left: usize,
}

static DRAWN: Mutex<Drawn> =
    Mutex::new(Drawn { lines: Vec::new(), is_colored: false, rows_left: 0 });

const RESET: &str = "\x1b[0m";
const ERASE_LINE_END: &str = "\x1b[K";
const ERASE_BELOW: &str = "\x1b[J";
/// Assumed if the terminal does not know its size.
const SIZE_DEFAULT: Size = Size { columns: 80, rows: 24 };

/// The terminal's size, read anew at each redraw because the user may resize it.
pub(super) fn size() -> Size {
    match rustix::termios::tcgetwinsize(std::io::stderr()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
            Size { columns: size.ws_col.into(), rows: size.ws_row.into() }
        }
        _ => SIZE_DEFAULT,
    }
}

/// Replaces the screen by `lines`. Rows that a terminal moved out of sight because it became lower
/// stay in its history.
pub(super) fn draw(lines: Vec<Line>, is_colored: bool) {
    let mut drawn = drawn();
    drawn.is_colored = is_colored;
    drawn.replace("", lines);
}

/// Removes the screen.
pub(crate) fn clear() {
    let mut drawn = drawn();
    if !drawn.lines.is_empty() {
        drawn.replace("", Vec::new());
    }
}

/// Writes whole lines to stderr, above the screen if there is one.
pub(crate) fn write_above(text: &str) {
    let mut drawn = drawn();
    if drawn.lines.is_empty() {
        write(text);
    } else {
        let lines = drawn.lines.clone();
        drawn.replace(&format!("{ERASE_BELOW}{text}"), lines);
    }
}

impl Drawn {
    /// Writes `above` and then `lines` over the screen.
    fn replace(&mut self, above: &str, lines: Vec<Line>) {
        let columns = size().columns;
        let mut out = self.to_top(columns);
        out.push_str(above);
        let before = std::mem::replace(&mut self.lines, lines);
        self.append_to(&mut out);
        write(&out);
        self.rows_left = rows(&before, size().columns).saturating_sub(rows(&before, columns));
    }

    /// Moves the cursor to the screen's first row.
    fn to_top(&self, columns: usize) -> String {
        match self.rows_left + rows(&self.lines, columns) {
            0 => "\r".to_owned(),
            rows => format!("\r\x1b[{rows}A"),
        }
    }

    fn append_to(&self, out: &mut String) {
        for Line { text, emphasis } in &self.lines {
            match emphasis {
                Emphasis::Normal => out.push_str(text),
                emphasis if self.is_colored => {
                    out.extend([emphasis.sequence(), text, RESET]);
                }
                _ => out.push_str(text),
            }
            out.extend([ERASE_LINE_END, "\n"]);
        }
        out.push_str(ERASE_BELOW);
    }
}

/// Rows of `lines`. Terminals break lines again when they become narrower, so a line may have become
/// several rows.
fn rows(lines: &[Line], columns: usize) -> usize {
    lines.iter().map(|line| line.text.chars().count().div_ceil(columns.max(1)).max(1)).sum()
}

fn drawn() -> MutexGuard<'static, Drawn> {
    DRAWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A failure is ignored: there is no other place to report it.
fn write(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, emphasis: Emphasis) -> Line {
        Line { text: text.to_owned(), emphasis }
    }

    #[test]
    fn the_cursor_moves_up_by_the_rows_that_the_lines_have_at_the_present_width() {
        let lines = vec![line(&"x".repeat(79), Emphasis::Normal), line("", Emphasis::Normal)];
        let mut drawn = Drawn { lines, is_colored: false, rows_left: 0 };
        assert_eq!(drawn.to_top(80), "\r\x1b[2A");
        assert_eq!(drawn.to_top(40), "\r\x1b[3A");
        drawn.rows_left = 1;
        assert_eq!(drawn.to_top(80), "\r\x1b[3A");
        let none = Drawn { lines: Vec::new(), is_colored: false, rows_left: 0 };
        assert_eq!(none.to_top(80), "\r");
    }

    #[test]
    fn without_colours_there_is_no_emphasis() {
        let lines = vec![line("head", Emphasis::Strong), line("row", Emphasis::Normal)];
        let drawn = |is_colored| {
            let mut out = String::new();
            Drawn { lines: lines.clone(), is_colored, rows_left: 0 }.append_to(&mut out);
            out
        };
        assert_eq!(drawn(false), "head\x1b[K\nrow\x1b[K\n\x1b[J");
        assert_eq!(drawn(true), "\x1b[1mhead\x1b[0m\x1b[K\nrow\x1b[K\n\x1b[J");
    }
}
